// The backend that runs everywhere: the numeric core. Operations run at once; only the interface is asynchronous.

import { adam } from "../core/adam.ts";
import type { Core, Precision } from "../core/core.ts";
import { covariance, covarianceGradient } from "../core/covariance.ts";
import { type Csr, csr, sparseTimes, sparseTransposeTimes } from "../core/csr.ts";
import * as dense from "../core/dense.ts";
import { drawColumns } from "../core/draw.ts";
import { cholesky, FACTORED, inverseFromFactor, logDeterminant } from "../core/factor.ts";
import { type Integers, integers, type Matrix, matrix, type RealArray } from "../core/matrix.ts";
import { Pattern, patternTimes, patternTransposeTimes, sampledProducts } from "../core/pattern.ts";
import {
  expectedLogLikelihood,
  listedLogLikelihood,
  predictiveProbability,
  Quadrature,
} from "../core/quadrature.ts";
import { RowSteps as CoreRowSteps, type RowSchedule } from "../core/rowsteps.ts";
import { topK } from "../core/select.ts";
import type {
  AdamStep,
  Backend,
  ColumnDraw,
  CovarianceInputs,
  DrawnColumns,
  FactorisationReport,
  IndexTensor,
  LabelLists,
  LikelihoodInputs,
  LikelihoodOutputs,
  ListedLikelihoodInputs,
  ListedLikelihoodOutputs,
  PatternTensor,
  ProductOptions,
  RowSteps,
  SparseTensor,
  SymmetricProductOptions,
  Tensor,
  TopScores,
} from "./backend.ts";

/** The tensors of this backend are matrices of the core. */
const m = (tensor: Tensor): Matrix => tensor as Matrix;
const x = (tensor: SparseTensor): Csr => tensor as Csr;
const list = (tensor: IndexTensor): Integers => tensor as Integers;
const entries = (tensor: PatternTensor): Pattern => tensor as Pattern;

/** Shares of its mean that are added to a diagonal whose matrix could not be factored. */
const JITTERS = [1e-6, 1e-5, 1e-4];

export class WasmBackend implements Backend {
  readonly name = "wasm";
  readonly onCore = true;
  readonly core: Core;
  readonly precision: Precision;
  readonly #quadratures = new Map<number | "closed", Quadrature>();
  #raised = 0;
  #failed = -1;

  constructor(core: Core, precision: Precision) {
    this.core = core;
    this.precision = precision;
  }

  tensor(rows: number, columns: number, values?: ArrayLike<number>): Tensor {
    const made = matrix(this.core, rows, columns, this.precision);
    return values === undefined ? made : made.set(values);
  }
  sparse(
    rows: number,
    columns: number,
    rowStart: Int32Array,
    columnIndex: Int32Array,
    values: RealArray,
  ): SparseTensor {
    return csr(this.core, { rows, columns, rowStart, columnIndex, values }, this.precision);
  }
  indices(length: number): IndexTensor {
    return integers(this.core, length);
  }
  write(tensor: Tensor, values: ArrayLike<number>): void {
    m(tensor).set(values);
  }
  writeIndices(indices: IndexTensor, values: Int32Array): void {
    list(indices).set(values);
  }
  async read(tensor: Tensor): Promise<RealArray> {
    return m(tensor).toArray();
  }
  free(...tensors: (Tensor | SparseTensor | IndexTensor | PatternTensor)[]): void {
    for (const tensor of tensors) (tensor as Matrix | Csr | Integers | Pattern).free();
  }
  rowRange(tensor: Tensor, from: number, to: number): Tensor {
    return m(tensor).rowRange(from, to);
  }
  reshape(tensor: Tensor, rows: number, columns: number): Tensor {
    return m(tensor).reshape(rows, columns);
  }

  gemm(a: Tensor, b: Tensor, out: Tensor, options: ProductOptions = {}): void {
    dense.gemm(m(a), m(b), m(out), options);
  }
  syrk(a: Tensor, out: Tensor, options: SymmetricProductOptions = {}): void {
    const { weights, ...rest } = options;
    dense.syrk(m(a), m(out), weights === undefined ? rest : { ...rest, weights: m(weights) });
  }
  sparseTimes(data: SparseTensor, rows: IndexTensor, b: Tensor, out: Tensor): void {
    sparseTimes(x(data), m(b), m(out), { rows: list(rows) });
  }
  sparseTransposeTimes(data: SparseTensor, rows: IndexTensor, b: Tensor, out: Tensor): void {
    sparseTransposeTimes(x(data), m(b), m(out), { rows: list(rows), accumulate: true });
  }
  gatherRows(data: Tensor, rows: IndexTensor, out: Tensor): void {
    dense.gatherRows(m(data), list(rows), m(out));
  }

  combine(op: "add" | "subtract" | "multiply" | "divide", a: Tensor, b: Tensor, out: Tensor): void {
    dense.combine(op, m(a), m(b), m(out));
  }
  blend(alpha: number, a: Tensor, beta: number, b: Tensor, out: Tensor): void {
    dense.blend(alpha, m(a), beta, m(b), m(out));
  }
  map(op: "exp" | "log" | "square" | "reciprocal", a: Tensor, out: Tensor): void {
    dense.map(op, m(a), m(out));
  }
  fill(out: Tensor, value: number): void {
    dense.fill(m(out), value);
  }
  rowSums(a: Tensor, out: Tensor, b?: Tensor): void {
    dense.rowSums(m(a), m(out), b && m(b));
  }
  columnSums(a: Tensor, out: Tensor, b?: Tensor): void {
    dense.columnSums(m(a), m(out), b && m(b));
  }
  transpose(a: Tensor, out: Tensor): void {
    dense.transpose(m(a), m(out));
  }
  diagonal(a: Tensor, out: Tensor): void {
    dense.diagonal(m(a), m(out));
  }
  addDiagonal(a: Tensor, values: Tensor): void {
    dense.addDiagonal(m(a), m(values));
  }

  factorise(a: Tensor, count: number): void {
    const stack = m(a);
    const n = stack.columns;
    const start = matrix(this.core, stack.rows, n, this.precision);
    try {
      dense.scale(1, stack, start);
      cholesky(stack, count).forEach((status, i) => {
        if (status === FACTORED) return;
        const rows = [i * n, (i + 1) * n] as const;
        this.#factoriseWithJitter(start.rowRange(...rows), stack.rowRange(...rows), i);
      });
    } finally {
      start.free();
    }
  }

  #factoriseWithJitter(start: Matrix, out: Matrix, index: number): void {
    const n = start.columns;
    const jitter = matrix(this.core, 1, n, this.precision);
    const values = start.toArray();
    let mean = 0;
    for (let i = 0; i < n; i++) mean += (values[i * (n + 1)] as number) / n;
    const factored = JITTERS.some((share) => {
      dense.scale(1, start, out);
      dense.addDiagonal(out, dense.fill(jitter, share * mean));
      return cholesky(out)[0] === FACTORED;
    });
    jitter.free();
    if (factored) this.#raised++;
    else this.#failed = index;
  }

  async factorisationReport(): Promise<FactorisationReport> {
    const report = { raised: this.#raised, failed: this.#failed };
    this.#raised = 0;
    this.#failed = -1;
    return report;
  }
  inverseFromFactor(factor: Tensor, out: Tensor, count: number): void {
    inverseFromFactor(m(factor), m(out), count);
  }
  logDeterminant(factor: Tensor, out: Tensor, count: number): void {
    logDeterminant(m(factor), m(out), count);
  }

  #matrices(inputs: CovarianceInputs): Parameters<typeof covariance>[0] {
    const { terms, products, rowSquares, columnSquares, hyper } = inputs;
    return {
      terms,
      products: m(products),
      rowSquares: m(rowSquares),
      columnSquares: m(columnSquares),
      hyper: m(hyper),
    };
  }
  covariance(inputs: CovarianceInputs, out: Tensor): void {
    covariance(this.#matrices(inputs), m(out));
  }
  covarianceGradient(inputs: CovarianceInputs, d: Tensor, stationaryPart: Tensor, sums: Tensor): void {
    covarianceGradient(this.#matrices(inputs), m(d), m(stationaryPart), m(sums));
  }

  #quadrature(rule: number | "closed"): Quadrature {
    let made = this.#quadratures.get(rule);
    if (made === undefined) {
      made = new Quadrature(this.core, this.precision, rule);
      this.#quadratures.set(rule, made);
    }
    return made;
  }
  expectedLogLikelihood(inputs: LikelihoodInputs, out: LikelihoodOutputs): void {
    const { mean, variance, positives, scale } = inputs;
    const spread =
      "ofRow" in variance ? { ofRow: m(variance.ofRow), ofLabel: m(variance.ofLabel) } : m(variance);
    expectedLogLikelihood({
      mean: m(mean),
      variance: spread,
      positives,
      scale,
      quadrature: this.#quadrature(inputs.quadrature),
      rowValue: m(out.rowValue),
      dMean: m(out.dMean),
      dVariance: m(out.dVariance),
    });
  }
  listedLogLikelihood(inputs: ListedLikelihoodInputs, out: ListedLikelihoodOutputs): void {
    const { mean, variance, signedWeight, scale } = inputs;
    listedLogLikelihood({
      mean: m(mean),
      variance: m(variance),
      signedWeight: m(signedWeight),
      scale,
      quadrature: this.#quadrature(inputs.quadrature),
      value: m(out.value),
      dMean: m(out.dMean),
      dVariance: m(out.dVariance),
    });
  }
  probability(mean: Tensor, variance: Tensor, out: Tensor): void {
    predictiveProbability(m(mean), m(variance), m(out), this.#quadrature("closed"));
  }
  async topScores(scores: Tensor, k: number): Promise<TopScores> {
    return topK(m(scores), k);
  }

  pattern(columns: number, lists: LabelLists): PatternTensor {
    return new Pattern(this.core, columns, lists);
  }
  sampledProducts(pattern: PatternTensor, a: Tensor, b: Tensor, out: Tensor): void {
    sampledProducts(entries(pattern), m(a), m(b), m(out));
  }
  patternTimes(pattern: PatternTensor, values: Tensor, b: Tensor, out: Tensor): void {
    patternTimes(entries(pattern), m(values), m(b), m(out));
  }
  patternTransposeTimes(pattern: PatternTensor, values: Tensor, b: Tensor, out: Tensor): void {
    patternTransposeTimes(entries(pattern), m(values), m(b), m(out));
  }

  adam(parameter: Tensor, gradient: Tensor, first: Tensor, second: Tensor, step: AdamStep): void {
    adam(m(parameter), m(gradient), { first: m(first), second: m(second) }, step);
  }
  drawColumns(from: Tensor, sizes: Tensor, draw: ColumnDraw): DrawnColumns {
    return drawColumns(m(from), m(sizes), draw);
  }
  rowSteps(
    data: SparseTensor,
    weights: Tensor,
    moments: { first: Tensor; second: Tensor },
    inverse: Tensor,
    schedule: RowSchedule,
  ): RowSteps {
    const state = { first: m(moments.first), second: m(moments.second) };
    const steps = new CoreRowSteps(x(data), m(weights), state, m(inverse), schedule);
    return {
      enter: (rows, step) => steps.enter(list(rows), step),
      step: (g, step) => steps.step(m(g), step),
      settle: (count) => steps.settle(count),
      restart: (count) => steps.restart(count),
      free: () => steps.free(),
    };
  }
  dispose(): void {
    for (const quadrature of this.#quadratures.values()) quadrature.free();
    this.#quadratures.clear();
  }
}
