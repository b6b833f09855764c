// The backend on a GPU: every operation is recorded as dispatches of shaders, and everything stays on the device until
// it is read. The device is the caller's: it is never destroyed here.

import { sameSize, wholeNumber } from "../../core/check.ts";
import { ArgumentError } from "../../core/errors.ts";
import type { RealArray } from "../../core/matrix.ts";
import type {
  AdamStep,
  Backend,
  CovarianceInputs,
  FactorisationReport,
  IndexTensor,
  LabelLists,
  LikelihoodInputs,
  LikelihoodOutputs,
  ListedLikelihoodInputs,
  ListedLikelihoodOutputs,
  PatternTensor,
  ProductOptions,
  SparseTensor,
  SymmetricProductOptions,
  Tensor,
  TopScores,
} from "../backend.ts";
import * as dense from "./dense.ts";
import { Factorisation, inverseFromFactor, logDeterminant } from "./factor.ts";
import * as likelihood from "./likelihood.ts";
import type { WebGpuStatistics } from "./memory.ts";
import { Recorder, type Sources } from "./recorder.ts";
import * as sparse from "./sparse.ts";
import { alive, GpuIndices, type GpuPattern, GpuSparse, GpuTensor } from "./tensors.ts";

export type { WebGpuStatistics } from "./memory.ts";

/** The tensors of this backend. */
const t = (tensor: Tensor, argument = "tensor"): GpuTensor => alive(argument, tensor as GpuTensor);
const maybe = (tensor: Tensor | undefined): GpuTensor | undefined => tensor && t(tensor);
const list = (tensor: IndexTensor): GpuIndices => alive("indices", tensor as GpuIndices);
const entries = (tensor: PatternTensor): GpuPattern => alive("pattern", tensor as GpuPattern);
const x = (tensor: SparseTensor): GpuSparse => tensor as GpuSparse;

const floats = (values: ArrayLike<number>): Float32Array =>
  values instanceof Float32Array ? values : Float32Array.from(values);

export class WebGpuBackend implements Backend {
  readonly name = "webgpu";
  readonly onCore = false;
  readonly precision = "f32";
  readonly device: GPUDevice;
  readonly statistics: WebGpuStatistics;
  readonly #recorder: Recorder;
  readonly #factorisation: Factorisation;
  readonly #rules: likelihood.Rules;

  private constructor(recorder: Recorder) {
    this.device = recorder.device;
    this.statistics = recorder.statistics;
    this.#recorder = recorder;
    this.#factorisation = new Factorisation(recorder);
    this.#rules = new likelihood.Rules(recorder);
  }

  /** Compiles the shaders; `changed` replaces the text of some (to see that faults are found). */
  static async create(device: GPUDevice, changed: Sources = {}): Promise<WebGpuBackend> {
    return new WebGpuBackend(await Recorder.create(device, changed));
  }

  tensor(rows: number, columns: number, values?: ArrayLike<number>): Tensor {
    wholeNumber("rows", rows, 0);
    wholeNumber("columns", columns, 0);
    const what = `a ${rows} x ${columns} matrix of f32`;
    if (values !== undefined) {
      sameSize("values", "elements", values.length, rows * columns);
      return new GpuTensor(this.#recorder.upload(floats(values), what), rows, columns, 0, true);
    }
    const made = new GpuTensor(this.#recorder.allocate(rows * columns, what), rows, columns, 0, true);
    if (!made.block.fresh) dense.fill(this.#recorder, made, 0);
    return made;
  }
  sparse(
    rows: number,
    columns: number,
    rowStart: Int32Array,
    columnIndex: Int32Array,
    values: RealArray,
  ): SparseTensor {
    return sparse.sparse(this.#recorder, rows, columns, rowStart, columnIndex, values);
  }
  indices(length: number): IndexTensor {
    wholeNumber("length", length, 0);
    return new GpuIndices(this.#recorder.upload(new Int32Array(length), `${length} whole numbers`), length);
  }
  write(tensor: Tensor, values: ArrayLike<number>): void {
    sameSize("values", "elements", values.length, tensor.rows * tensor.columns);
    this.#recorder.write(t(tensor), floats(values));
  }
  writeIndices(indices: IndexTensor, values: Int32Array): void {
    const target = list(indices);
    sameSize("values", "elements", values.length, target.length);
    let greatest = 0;
    for (const value of values) greatest = Math.max(greatest, wholeNumber("values", value, 0));
    target.greatest = greatest;
    this.#recorder.write(target, values);
  }
  async read(tensor: Tensor): Promise<RealArray> {
    const source = t(tensor);
    return source.length === 0 ? new Float32Array(0) : new Float32Array(await this.#recorder.read(source));
  }
  free(...tensors: (Tensor | SparseTensor | IndexTensor | PatternTensor)[]): void {
    for (const tensor of tensors) {
      if (tensor instanceof GpuTensor && !tensor.owner)
        throw new ArgumentError("tensor", "found a view, expected the tensor that it looks into");
      const blocks =
        tensor instanceof GpuSparse
          ? tensor.blocks()
          : [(tensor as GpuTensor | GpuIndices | GpuPattern).block];
      for (const block of blocks) this.#recorder.release(block);
    }
  }
  rowRange(tensor: Tensor, from: number, to: number): Tensor {
    return t(tensor).rowRange(from, to);
  }
  reshape(tensor: Tensor, rows: number, columns: number): Tensor {
    return t(tensor).reshape(rows, columns);
  }

  gemm(a: Tensor, b: Tensor, out: Tensor, options: ProductOptions = {}): void {
    dense.gemm(this.#recorder, t(a, "a"), t(b, "b"), t(out, "out"), options);
  }
  syrk(a: Tensor, out: Tensor, options: SymmetricProductOptions = {}): void {
    dense.syrk(this.#recorder, t(a, "a"), t(out, "out"), { ...options, weights: maybe(options.weights) });
  }
  sparseTimes(data: SparseTensor, rows: IndexTensor, b: Tensor, out: Tensor): void {
    sparse.sparseTimes(this.#recorder, x(data), list(rows), t(b), t(out));
  }
  sparseTransposeTimes(data: SparseTensor, rows: IndexTensor, b: Tensor, out: Tensor): void {
    sparse.sparseTransposeTimes(this.#recorder, x(data), list(rows), t(b), t(out));
  }
  gatherRows(data: Tensor, rows: IndexTensor, out: Tensor): void {
    dense.gatherRows(this.#recorder, t(data), list(rows), t(out));
  }

  combine(op: "add" | "subtract" | "multiply" | "divide", a: Tensor, b: Tensor, out: Tensor): void {
    dense.combine(this.#recorder, op, t(a), t(b), t(out));
  }
  blend(alpha: number, a: Tensor, beta: number, b: Tensor, out: Tensor): void {
    dense.blend(this.#recorder, alpha, t(a), beta, t(b), t(out));
  }
  map(op: "exp" | "log" | "square" | "reciprocal", a: Tensor, out: Tensor): void {
    dense.map(this.#recorder, op, t(a), t(out));
  }
  fill(out: Tensor, value: number): void {
    dense.fill(this.#recorder, t(out), value);
  }
  rowSums(a: Tensor, out: Tensor, b?: Tensor): void {
    dense.rowSums(this.#recorder, t(a), t(out), maybe(b));
  }
  columnSums(a: Tensor, out: Tensor, b?: Tensor): void {
    dense.columnSums(this.#recorder, t(a), t(out), maybe(b));
  }
  transpose(a: Tensor, out: Tensor): void {
    dense.transpose(this.#recorder, t(a), t(out));
  }
  diagonal(a: Tensor, out: Tensor): void {
    dense.diagonal(this.#recorder, t(a), t(out));
  }
  addDiagonal(a: Tensor, values: Tensor): void {
    dense.addDiagonal(this.#recorder, t(a), t(values));
  }

  factorise(a: Tensor, count: number): void {
    this.#factorisation.factorise(t(a), count);
  }
  factorisationReport(): Promise<FactorisationReport> {
    return this.#factorisation.report();
  }
  inverseFromFactor(factor: Tensor, out: Tensor, count: number): void {
    inverseFromFactor(this.#recorder, t(factor), t(out), count);
  }
  logDeterminant(factor: Tensor, out: Tensor, count: number): void {
    logDeterminant(this.#recorder, t(factor), t(out), count);
  }

  covariance(inputs: CovarianceInputs, out: Tensor): void {
    likelihood.covariance(this.#recorder, inputs.terms, covarianceTensors(inputs), t(out));
  }
  covarianceGradient(inputs: CovarianceInputs, d: Tensor, stationaryPart: Tensor, sums: Tensor): void {
    const gradients = { d: t(d), stationaryPart: t(stationaryPart), sums: t(sums) };
    likelihood.covarianceGradient(this.#recorder, inputs.terms, covarianceTensors(inputs), gradients);
  }
  expectedLogLikelihood(inputs: LikelihoodInputs, out: LikelihoodOutputs): void {
    const { mean, variance } = inputs;
    const [whole, ofRow] = "ofRow" in variance ? [variance.ofLabel, variance.ofRow] : [variance, undefined];
    likelihood.expectedLogLikelihood(
      this.#recorder,
      this.#rules,
      {
        mean: t(mean),
        variance: t(whole),
        rowVariance: maybe(ofRow),
        rowValue: t(out.rowValue),
        dMean: t(out.dMean),
        dVariance: t(out.dVariance),
      },
      inputs,
    );
  }
  listedLogLikelihood(inputs: ListedLikelihoodInputs, out: ListedLikelihoodOutputs): void {
    likelihood.listedLogLikelihood(
      this.#recorder,
      this.#rules,
      {
        mean: t(inputs.mean),
        variance: t(inputs.variance),
        signedWeight: t(inputs.signedWeight),
        value: t(out.value),
        dMean: t(out.dMean),
        dVariance: t(out.dVariance),
      },
      inputs,
    );
  }
  probability(mean: Tensor, variance: Tensor, out: Tensor): void {
    likelihood.probability(this.#recorder, t(mean), t(variance), t(out));
  }
  topScores(scores: Tensor, k: number): Promise<TopScores> {
    return likelihood.topScores(this.#recorder, t(scores), k);
  }

  pattern(columns: number, lists: LabelLists): PatternTensor {
    return sparse.pattern(this.#recorder, columns, lists);
  }
  sampledProducts(pattern: PatternTensor, a: Tensor, b: Tensor, out: Tensor): void {
    sparse.sampledProducts(this.#recorder, entries(pattern), t(a), t(b), t(out));
  }
  patternTimes(pattern: PatternTensor, values: Tensor, b: Tensor, out: Tensor): void {
    sparse.patternTimes(this.#recorder, entries(pattern), t(values), t(b), t(out));
  }
  patternTransposeTimes(pattern: PatternTensor, values: Tensor, b: Tensor, out: Tensor): void {
    sparse.patternTransposeTimes(this.#recorder, entries(pattern), t(values), t(b), t(out));
  }

  adam(parameter: Tensor, gradient: Tensor, first: Tensor, second: Tensor, step: AdamStep): void {
    const tensors = { parameter: t(parameter), gradient: t(gradient), first: t(first), second: t(second) };
    dense.adam(this.#recorder, tensors, step);
  }
  flush(): void {
    this.#recorder.flush();
  }
  dispose(): void {
    this.#recorder.dispose();
  }
}

function covarianceTensors(inputs: CovarianceInputs): likelihood.CovarianceTensors {
  const { products, rowSquares, columnSquares, hyper } = inputs;
  return {
    products: t(products),
    rowSquares: t(rowSquares),
    columnSquares: t(columnSquares),
    hyper: t(hyper),
  };
}
