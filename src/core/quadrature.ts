// Expected log-likelihood of labels under Gaussian utilities, with its derivatives, and predictive probabilities.

import { finiteNumber, wholeNumber } from "./check.ts";
import type { Core, Precision } from "./core.ts";
import { ArgumentError } from "./errors.ts";
import { integers, Matrix, matrix, scoped } from "./matrix.ts";
import type { Lists } from "./pattern.ts";
import { alike, areStarts, hasShape, isContiguous, isVector } from "./shapes.ts";

/**
 * How E over N(mean, variance) is taken. "closed" is the default: a mixture of normal distribution functions that is
 * exact in the variance, and the exponential series in the tails. A number is that many Gauss-Hermite nodes (1 to 256).
 */
export class Quadrature {
  readonly count: number;
  readonly nodes: Matrix | undefined;
  readonly weights: Matrix | undefined;

  constructor(core: Core, precision: Precision, rule: number | "closed" = "closed") {
    this.count = rule === "closed" ? 0 : wholeNumber("quadrature", rule, 1, 256);
    if (rule === "closed") return;
    this.nodes = matrix(core, 1, rule, precision);
    this.weights = matrix(core, 1, rule, precision);
    core.kernels[precision].hermiteRule(rule, this.nodes.address, this.weights.address);
  }

  free(): void {
    this.nodes?.free();
    this.weights?.free();
  }
}

/** What expectedLogLikelihood() reads, and where it writes. */
export interface LikelihoodArguments {
  /** Of the utilities f [rows,labels]. */
  mean: Matrix;
  /** In full, or as an outer product of one factor a row and one a label. */
  variance: Matrix | { ofRow: Matrix; ofLabel: Matrix };
  /** Labels that are present in each row (y = 1), each once; all others are absent (y = -1). */
  positives: Lists;
  /** Factor of both derivatives. */
  scale?: number;
  quadrature?: Quadrature;
  /** 1 x rows: sum over the labels of E log(1 + exp(-y f)). */
  rowValue: Matrix;
  /** scale d/dmean and scale d/dvariance; they may be the memory of mean and variance. */
  dMean: Matrix;
  dVariance: Matrix;
}

const contiguous = (named: Record<string, Matrix>): void => {
  for (const [name, value] of Object.entries(named)) isContiguous(name, value);
};

/** The rule is of the same core and precision as the matrices. */
function checkRule(quadrature: Quadrature | undefined, mean: Matrix): void {
  if (quadrature === undefined) return;
  if (!(quadrature instanceof Quadrature))
    throw new ArgumentError("quadrature", "found something else, expected a Quadrature");
  alike({ mean, quadrature: quadrature.nodes, "quadrature.weights": quadrature.weights });
}

/** Value and both derivatives in one pass; the derivatives are those of the value computed. */
export function expectedLogLikelihood(given: LikelihoodArguments): void {
  const { mean, variance, positives, scale = 1, quadrature, rowValue, dMean, dVariance } = given;
  const { core, precision, rows, columns } = mean;
  const spread = variance instanceof Matrix ? { ofRow: undefined, ofLabel: variance } : variance;
  if (!(spread.ofLabel instanceof Matrix))
    throw new ArgumentError("variance", "found something else, expected a matrix, or ofRow and ofLabel");
  alike({ mean, rowValue, dMean, dVariance, variance: spread.ofLabel, "variance.ofRow": spread.ofRow });
  checkRule(quadrature, mean);
  finiteNumber("scale", scale);
  if (spread.ofRow) {
    isVector("variance.ofRow", spread.ofRow, rows);
    isVector("variance.ofLabel", spread.ofLabel, columns);
  } else hasShape("variance", spread.ofLabel, rows, columns);
  hasShape("dMean", dMean, rows, columns);
  hasShape("dVariance", dVariance, rows, columns);
  isVector("rowValue", rowValue, rows);
  contiguous({ mean, dMean, dVariance, variance: spread.ofLabel });
  checkLists(positives, rows, columns);
  scoped((scope) => {
    const start = scope.keep(integers(core, positives.rowStart));
    const column = scope.keep(integers(core, positives.labelIndex));
    core.kernels[precision].expectedLogLikelihood(
      rows,
      columns,
      mean.address,
      spread.ofLabel.address,
      spread.ofRow?.address ?? 0,
      start.address,
      column.address,
      quadrature?.count ?? 0,
      quadrature?.nodes?.address ?? 0,
      quadrature?.weights?.address ?? 0,
      scale,
      rowValue.address,
      dMean.address,
      dVariance.address,
    );
  });
}

function checkLists({ rowStart, labelIndex }: Lists, rows: number, columns: number): void {
  areStarts("positives", rowStart, rows, labelIndex.length);
  for (const label of labelIndex) wholeNumber("positives", label, 0, columns - 1);
}

/** What listedLogLikelihood() reads, and where it writes. */
export interface ListedLikelihoodArguments {
  /** All 1 x entries. */
  mean: Matrix;
  variance: Matrix;
  /** How much each entry counts: positive for a label that is present, negative for one that is absent. */
  signedWeight: Matrix;
  scale?: number;
  quadrature?: Quadrature;
  /** Weighted E log(1 + exp(-y f)), and scale times its derivatives. */
  value: Matrix;
  dMean: Matrix;
  dVariance: Matrix;
}

/** The same for listed labels, each with a weight. */
export function listedLogLikelihood(given: ListedLikelihoodArguments): void {
  const { mean, variance, signedWeight, value, dMean, dVariance, ...rest } = given;
  alike({ mean, variance, signedWeight, value, dMean, dVariance });
  const entries = mean.columns;
  for (const [name, each] of Object.entries({ mean, variance, signedWeight, value, dMean, dVariance }))
    hasShape(name, each, 1, entries);
  const weights = signedWeight.view();
  const rowStart = new Int32Array(entries + 1);
  for (let e = 0; e < entries; e++)
    rowStart[e + 1] = (rowStart[e] as number) + ((weights[e] as number) > 0 ? 1 : 0);
  const positives = { rowStart, labelIndex: new Int32Array(rowStart[entries] as number) };
  // Every entry is a row with one label.
  expectedLogLikelihood({
    mean: mean.reshape(entries, 1),
    variance: variance.reshape(entries, 1),
    positives,
    ...rest,
    rowValue: value,
    dMean: dMean.reshape(entries, 1),
    dVariance: dVariance.reshape(entries, 1),
  });
  for (const out of [value, dMean, dVariance]) {
    const elements = out.view();
    const held = signedWeight.view();
    for (let e = 0; e < entries; e++) elements[e] = (elements[e] as number) * Math.abs(held[e] as number);
  }
}

/** out = E sigmoid(f), f ~ N(mean, variance). out may be mean or variance. */
export function predictiveProbability(
  mean: Matrix,
  variance: Matrix,
  out: Matrix,
  quadrature?: Quadrature,
): Matrix {
  alike({ mean, variance, out });
  checkRule(quadrature, mean);
  hasShape("variance", variance, mean.rows, mean.columns);
  hasShape("out", out, mean.rows, mean.columns);
  contiguous({ mean, variance, out });
  mean.core.kernels[mean.precision].predictiveProbability(
    mean.rows * mean.columns,
    mean.address,
    variance.address,
    quadrature?.count ?? 0,
    quadrature?.nodes?.address ?? 0,
    quadrature?.weights?.address ?? 0,
    out.address,
  );
  return out;
}
