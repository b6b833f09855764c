// Covariances, expected log-likelihoods, probabilities and rankings on the GPU.

import { wholeNumber } from "../../core/check.ts";
import { ArgumentError } from "../../core/errors.ts";
import { type CovarianceTerms, termsCode } from "../../core/stationary.ts";
import type { LabelLists, TopScores } from "../backend.ts";
import { hermiteRule } from "./hermite.ts";
import type { Block } from "./memory.ts";
import type { Recorder } from "./recorder.ts";
import { hasShape, isVector } from "./shapes.ts";
import type { GpuTensor, Operand } from "./tensors.ts";

export interface CovarianceTensors {
  products: GpuTensor;
  rowSquares: GpuTensor;
  columnSquares: GpuTensor;
  hyper: GpuTensor;
}

function kindOf(terms: CovarianceTerms, { products, rowSquares, columnSquares, hyper }: CovarianceTensors) {
  isVector("rowSquares", rowSquares, products.rows);
  isVector("columnSquares", columnSquares, products.columns);
  isVector("hyper", hyper, 3);
  return { rows: products.rows, columns: products.columns, kind: termsCode(terms) };
}

export function covariance(
  recorder: Recorder,
  terms: CovarianceTerms,
  tensors: CovarianceTensors,
  out: GpuTensor,
): void {
  const sizes = kindOf(terms, tensors);
  hasShape("out", out, sizes.rows, sizes.columns);
  const grid = recorder.grid(out.length, recorder.constant("covariance", "SIZE"));
  recorder.run("covariance", grid, { ...tensors, out }, sizes);
}

export function covarianceGradient(
  recorder: Recorder,
  terms: CovarianceTerms,
  tensors: CovarianceTensors,
  gradients: { d: GpuTensor; stationaryPart: GpuTensor; sums: GpuTensor },
): void {
  const sizes = kindOf(terms, tensors);
  hasShape("d", gradients.d, sizes.rows, sizes.columns);
  hasShape("stationaryPart", gradients.stationaryPart, sizes.rows, sizes.columns);
  hasShape("sums", gradients.sums, sizes.rows, 3);
  recorder.run("covarianceGradient", recorder.grid(sizes.rows), { ...tensors, ...gradients }, sizes);
}

/** Quadrature rules on the device, each made once. */
export class Rules {
  readonly #recorder: Recorder;
  readonly #blocks = new Map<number, Block>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /** Nodes and weights, or nothing for the closed form. */
  of(quadrature: number | "closed"): { nodes: number; rule: Operand | undefined } {
    if (quadrature === "closed") return { nodes: 0, rule: undefined };
    const nodes = wholeNumber("quadrature", quadrature, 1, 256);
    const block =
      this.#blocks.get(nodes) ?? this.#recorder.upload(hermiteRule(nodes), `a rule of ${nodes} nodes`);
    this.#blocks.set(nodes, block);
    const rule = { block, offset: 0, length: 2 * nodes };
    return { nodes, rule };
  }
}

export interface LikelihoodTensors {
  mean: GpuTensor;
  /** In full, or of each label where there is a factor of each row. */
  variance: GpuTensor;
  rowVariance: GpuTensor | undefined;
  rowValue: GpuTensor;
  dMean: GpuTensor;
  dVariance: GpuTensor;
}

function joined({ rowStart, labelIndex }: LabelLists, rows: number, columns: number): Int32Array {
  if (rowStart.length !== rows + 1 || rowStart[0] !== 0 || rowStart[rows] !== labelIndex.length)
    throw new ArgumentError(
      "positives",
      `found lists for ${rowStart.length - 1} rows, expected ${rows} with an end at ${labelIndex.length}`,
    );
  for (const label of labelIndex) wholeNumber("positives", label, 0, columns - 1);
  const all = new Int32Array(rowStart.length + labelIndex.length);
  all.set(rowStart);
  all.set(labelIndex, rowStart.length);
  return all;
}

export function expectedLogLikelihood(
  recorder: Recorder,
  rules: Rules,
  tensors: LikelihoodTensors,
  { positives, scale, quadrature }: { positives: LabelLists; scale: number; quadrature: number | "closed" },
): void {
  const { rows, columns } = tensors.mean;
  if (tensors.rowVariance) {
    isVector("variance.ofRow", tensors.rowVariance, rows);
    isVector("variance.ofLabel", tensors.variance, columns);
  } else hasShape("variance", tensors.variance, rows, columns);
  hasShape("dMean", tensors.dMean, rows, columns);
  hasShape("dVariance", tensors.dVariance, rows, columns);
  isVector("rowValue", tensors.rowValue, rows);
  const numbers = joined(positives, rows, columns);
  const { nodes, rule } = rules.of(quadrature);
  const block = recorder.upload(numbers, "labels of a batch");
  const lists = { block, offset: 0, length: numbers.length };
  recorder.run(
    "likelihood",
    recorder.grid(rows),
    { ...tensors, lists, rule },
    { rows, columns, outer: tensors.rowVariance ? 1 : 0, nodes, scale },
  );
  recorder.release(block);
}

export function listedLogLikelihood(
  recorder: Recorder,
  rules: Rules,
  tensors: Record<"mean" | "variance" | "signedWeight" | "value" | "dMean" | "dVariance", GpuTensor>,
  { scale, quadrature }: { scale: number; quadrature: number | "closed" },
): void {
  const count = tensors.mean.length;
  for (const [name, tensor] of Object.entries(tensors)) isVector(name, tensor, count);
  const { nodes, rule } = rules.of(quadrature);
  const grid = recorder.grid(count, recorder.constant("listedLikelihood", "SIZE"));
  recorder.run("listedLikelihood", grid, { ...tensors, rule }, { count, nodes, scale });
}

/** out = E sigmoid(f), f ~ N(mean, variance) */
export function probability(recorder: Recorder, mean: GpuTensor, variance: GpuTensor, out: GpuTensor): void {
  hasShape("variance", variance, mean.rows, mean.columns);
  hasShape("out", out, mean.rows, mean.columns);
  const grid = recorder.grid(out.length, recorder.constant("probability", "SIZE"));
  recorder.run("probability", grid, { mean, variance, out }, { count: out.length });
}

/** What the shader has for NaN: the least number there is. */
const LEAST = -3.4028234663852886e38;

export async function topScores(recorder: Recorder, scores: GpuTensor, k: number): Promise<TopScores> {
  const { rows, columns } = scores;
  wholeNumber("k", k, 0, columns);
  const length = rows * k;
  if (length === 0) return { indices: new Int32Array(0), values: new Float32Array(0) };
  const blocks = [0, 1].map(() => recorder.allocate(length, `the ${k} greatest of ${rows} rows`));
  const [places, values] = blocks.map((block) => ({ block, offset: 0, length })) as [Operand, Operand];
  recorder.run("topScores", recorder.grid(rows), { scores, columns: places, values }, { rows, columns, k });
  // Waited for together: when a device is lost, neither failure is left to nobody.
  const reading = Promise.all([recorder.read(places), recorder.read(values)]);
  for (const block of blocks) recorder.release(block);
  const [foundPlaces, foundValues] = await reading;
  return {
    indices: new Int32Array(foundPlaces),
    values: new Float32Array(foundValues).map((value) =>
      value === LEAST ? Number.NEGATIVE_INFINITY : value,
    ),
  };
}
