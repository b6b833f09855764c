// The posterior of a linear function of the features, s(x) = x W + mu, and its variance. That is, without the noise,
// v(x) = lam x'Cx with C = inverse(A + lam I), which takes D^2 numbers. One number a feature stands for them:
//
//     v(x) ~ sum_j r_j x_j^2,      r_j = lam / (share A_jj + lam),      A_jj = sum over the training points of x_j^2
//
// With a share of 1 it is exact where no point has two features. Words come together, and of each less is learned than its squares
// say: the share is such that v is right on average over points the model has not seen (text: about 0.7). A power of r, a factor
// before it or a constant beside it come as near and no nearer.

import { onColumns, type SparseRows, squaredNorms } from "../../base/sparse.ts";
import { type FeatureTransform, wholeSquares } from "../../data/transform.ts";
import type { Change, Documents } from "../regression/documents.ts";
import type { Probed } from "../regression/ridge.ts";

/** The variance of a linear part: lam / (share squares + lam) of each feature is not explained. */
export interface FeaturePrecision {
  /** A_jj [columns], the sum over the training points of the feature's squares. */
  readonly squares: Float32Array;
  /** The part of them that counts. */
  readonly share: number;
}

export interface LinearPart {
  readonly family: "linear";
  /** lam */
  readonly noise: number;
  /** Features that have weights, rising. */
  readonly columns: Int32Array;
  /** W [columns,K], mu [K] */
  readonly weights: Float32Array;
  readonly mean: Float32Array;
  /** How much is known of each feature. */
  readonly precision: FeaturePrecision;
}

/** The share lies between 0, where nothing is known, and this. */
const MOST = 16;
/** Each step halves where it can be: the last is beyond what single precision tells apart. */
const HALVINGS = 40;

/** r, the part of the variance of each feature that is not explained. */
function unexplainedParts(noise: number, { squares, share }: FeaturePrecision): Float64Array {
  return Float64Array.from(squares, (square) => noise / (share * square + noise));
}

/** Adds the squares of these rows to those of the features; each row as often as it counts. */
function addSquares(
  sums: Float64Array,
  { features: { rows, rowStart, columnIndex, values }, weights }: Pick<Documents, "features" | "weights">,
  sign: 1 | -1 = 1,
): void {
  for (let i = 0; i < rows; i++) {
    const count = sign * (weights?.[i] ?? 1);
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
      const [column, value] = [columnIndex[e], values[e]];
      sums[column] = sums[column] + count * value * value;
    }
  }
}

/** A_jj with the share that makes v right on average over `probes`, whose leverages h = x'Cx are known. */
export function fitPrecision(probes: SparseRows, { squares, leverages }: Probed, noise: number): FeaturePrecision {
  const seen = new Float64Array(probes.columns);
  addSquares(seen, { features: probes });
  const variance = noise * leverages.reduce((sum, leverage) => sum + leverage, 0);
  const precision = (share: number): FeaturePrecision => ({ squares: Float32Array.from(squares), share });
  const excess = (share: number): number =>
    unexplainedParts(noise, precision(share)).reduce((sum, part, j) => sum + part * seen[j], 0) - variance;
  let [low, high] = [0, MOST];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (excess(middle) > 0) low = middle;
    else high = middle;
  }
  return precision(variance > 0 ? high : 1);
}

/** The precision after documents have come and gone; the share stays as it is. */
export function changedPrecision(
  { squares, share }: FeaturePrecision,
  change: Pick<Change, "in" | "out">,
): FeaturePrecision {
  const sums = Float64Array.from(squares);
  addSquares(sums, change.in);
  addSquares(sums, change.out, -1);
  return { squares: Float32Array.from(sums, (sum) => Math.max(0, sum)), share };
}

/** v / (|x|^2 + lam) of rows that are weighted and scaled: the part of their variance that is not explained. */
export function unexplainedByFeatures(
  { columns, noise, precision }: Pick<LinearPart, "columns" | "noise" | "precision">,
  transform: FeatureTransform,
): (rows: SparseRows) => Float64Array {
  const explained = unexplainedParts(noise, precision).map((part) => 1 - part);
  const kept = onColumns(columns);
  return (rows) => {
    const own = wholeSquares(rows, transform);
    // A feature without weights is orthogonal to all that is known.
    return squaredNorms(kept(rows), explained).map((sum, i) => {
      const square = own[i];
      return Math.max(0, square - sum) / (square + noise);
    });
  };
}
