// Expected log-likelihood of labels under Gaussian utilities, with its derivatives, and predictive probabilities.

import { finiteNumber, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { addresses, integers, Matrix, matrixFrom, type Scope, scoped } from "./matrix.ts";
import type { Lists } from "./pattern.ts";
import { areContiguous, areStarts, compatible, hasShape, isVector } from "./shapes.ts";

/**
 * How E over N(mean, variance) is taken. "closed" is the default: a mixture of normal distribution functions that is
 * exact in the variance, and the exponential series in the tails. A number is that many Gauss-Hermite nodes (1 to 256).
 */
export type Quadrature = number | "closed";

const rules = new Map<number, Float64Array>();

/** Nodes of a rule, ascending, then their weights; nothing for the closed form. */
export function hermiteRule(quadrature: Quadrature): Float64Array {
  if (quadrature === "closed") return new Float64Array(0);
  const n = wholeNumber("quadrature", quadrature, 1, 256);
  const rule = rules.get(n) ?? makeRule(n);
  rules.set(n, rule);
  return rule;
}

/** Roots below x of the n-th Hermite polynomial: Sturm's count of eigenvalues of its Jacobi matrix. */
function rootsBelow(n: number, x: number): number {
  let d = -x;
  let below = d < 0 ? 1 : 0;
  for (let i = 1; i < n; i++) {
    // A pivot of 0 stands for one that is positive and tiny.
    d = -x - i / (d === 0 ? 1e-300 : d);
    if (d < 0) below++;
  }
  return below;
}

/**
 * For E g(x), x ~ N(0, 1): roots of the Hermite polynomial h_n, orthonormal, by bisection on Sturm's count and Newton steps
 * with h_n' = sqrt(n) h_{n-1}; the weights are 1 / (n h_{n-1}^2).
 */
function makeRule(n: number): Float64Array {
  const rule = new Float64Array(2 * n);
  for (let i = 0; i < Math.ceil(n / 2); i++) {
    // Root i from the top; the middle one of an odd rule is 0.
    const isMiddle = 2 * i + 1 === n;
    let [low, high, x, before] = [0, 2 * Math.sqrt(n), 0, 0];
    for (let step = 0; step < 32 && !isMiddle; step++) {
      x = 0.5 * (low + high);
      if (rootsBelow(n, x) >= n - i) high = x;
      else low = x;
    }
    for (let step = 0; step < 4; step++) {
      let h = 1;
      before = 0;
      for (let k = 1; k <= n; k++) [before, h] = [h, (x * h - Math.sqrt(k - 1) * before) / Math.sqrt(k)];
      if (!isMiddle) x -= h / (Math.sqrt(n) * before);
    }
    const weight = 1 / (n * before * before);
    rule[n - 1 - i] = x;
    rule[i] = -x;
    rule[2 * n - 1 - i] = weight;
    rule[n + i] = weight;
  }
  return rule;
}

/** The rule in the memory of a core, as kernels take it. */
function placeRule(quadrature: Quadrature | undefined, { core, precision }: Matrix, scope: Scope) {
  const rule = hermiteRule(quadrature ?? "closed");
  const count = rule.length / 2;
  const held = scope.keep(matrixFrom(core, 2, count, rule, precision));
  return [count, ...addresses(held, held.rowRange(1, 2))] as const;
}

/** Inputs of expectedLogLikelihood(). */
export interface LikelihoodInputs<T = Matrix> {
  /** The utilities' means [rows,labels]. */
  mean: T;
  /** In full, or as an outer product of one factor a row and one a label. */
  variance: T | { ofRow: T; ofLabel: T };
  /** Labels that are present in each row (y = 1), each once; all others are absent (y = -1). */
  positives: Lists;
  /** Factor of both derivatives. */
  scale?: number;
  quadrature?: Quadrature;
}

/** Where expectedLogLikelihood() writes. */
export interface LikelihoodOutputs<T = Matrix> {
  /** 1 x rows: sum over the labels of E log(1 + exp(-y f)). */
  rowValue: T;
  /** scale d/dmean and scale d/dvariance; they may be the memory of mean and variance. */
  dMean: T;
  dVariance: T;
}

/** Value and both derivatives in one pass; the derivatives are those of the value computed. */
export function expectedLogLikelihood(inputs: LikelihoodInputs, out: LikelihoodOutputs): void {
  const { mean, variance, positives, scale = 1, quadrature } = inputs;
  const { rowValue, dMean, dVariance } = out;
  const { core, rows, columns } = mean;
  const { ofRow, ofLabel } = variance instanceof Matrix ? { ofRow: undefined, ofLabel: variance } : variance;
  if (!(ofLabel instanceof Matrix))
    throw new ArgumentError("variance", "found something else, expected a matrix, or ofRow and ofLabel");
  compatible({ mean, rowValue, dMean, dVariance, variance: ofLabel, "variance.ofRow": ofRow });
  finiteNumber("scale", scale);
  checkLikelihood(mean, ofLabel, ofRow, positives, out);
  areContiguous({ mean, dMean, dVariance, variance: ofLabel });
  scoped((scope) => {
    const start = scope.keep(integers(core, positives.rowStart));
    const column = scope.keep(integers(core, positives.labelIndex));
    const rule = placeRule(quadrature, mean, scope);
    const given = addresses(mean, ofLabel, ofRow, start, column);
    const written = addresses(rowValue, dMean, dVariance);
    mean.kernels.expectedLogLikelihood(rows, columns, ...given, ...rule, scale, ...written);
  });
}

/** Shapes and lists that fit the means, on any device. */
export function checkLikelihood<T extends { rows: number; columns: number }>(
  { rows, columns }: T,
  variance: T,
  ofRow: T | undefined,
  { rowStart, labelIndex }: Lists,
  { rowValue, dMean, dVariance }: LikelihoodOutputs<T>,
): void {
  if (ofRow) {
    isVector("variance.ofRow", ofRow, rows);
    isVector("variance.ofLabel", variance, columns);
  } else hasShape({ variance, dMean, dVariance }, rows, columns);
  isVector("rowValue", rowValue, rows);
  areStarts("positives", rowStart, rows, labelIndex.length);
  for (const label of labelIndex) wholeNumber("positives", label, 0, columns - 1);
}

/** out = E sigmoid(f), f ~ N(mean, variance). out may be mean or variance. */
export function predictiveProbability(mean: Matrix, variance: Matrix, out: Matrix, quadrature?: Quadrature): Matrix {
  compatible({ mean, variance, out });
  hasShape({ variance, out }, mean.rows, mean.columns);
  areContiguous({ mean, variance, out });
  return scoped((scope) => {
    const rule = placeRule(quadrature, mean, scope);
    const count = mean.rows * mean.columns;
    mean.kernels.predictiveProbability(count, ...addresses(mean, variance), ...rule, out.address);
    return out;
  });
}
