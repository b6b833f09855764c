// How little a linear part knows at a point. Its posterior variance without the noise, v(x) = lam x'Cx with
// C = inverse(A + lam I), takes D^2 numbers. One of each feature stands for them:
//
//     v(x) ~ sum_j r_j x_j^2,      r_j = lam / (share A_jj + lam),      A_jj = sum over the training points of x_j^2
//
// With a share of 1 it is exact where no point has two features. Words come together, and of each less is learned than its squares
// say: the share is such that v is right on average over points the model has not seen (text: about 0.7). A power of r, a factor before
// it or a constant beside it come as near and no nearer.

import { keptColumns } from "../data/columns.ts";
import type { SparseRows } from "../data/dataset.ts";
import { type FeatureTransform, wholeSquares } from "../data/transform.ts";
import type { Evidence, LinearPart } from "../model/model.ts";
import type { Change, Documents } from "./documents.ts";
import type { Probed } from "./ridge.ts";
import type { KnownPart } from "./variance.ts";

/** The share lies between 0, where nothing is known, and this. */
const MOST = 16;
/** Each step halves where it can be: the last is beyond what single precision tells apart. */
const HALVINGS = 40;

/** r, the part of the variance of each feature that is not known. */
function unknownParts(noise: number, { squares, share }: Evidence): Float64Array {
  return Float64Array.from(squares, (square) => noise / (share * square + noise));
}

/** sum_j w_j x_j^2 of each row; without weights |x|^2. */
function weightedSquares(
  { rows, rowStart, columnIndex, values }: SparseRows,
  weights?: ArrayLike<number>,
): Float64Array {
  return Float64Array.from({ length: rows }, (_, i) => {
    let sum = 0;
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++) {
      const value = values[e] as number;
      sum += (weights ? (weights[columnIndex[e] as number] as number) : 1) * value * value;
    }
    return sum;
  });
}

/** Adds the squares of these rows to those of the features; each row as often as it counts. */
function addSquares(
  sums: Float64Array,
  { features: { rows, rowStart, columnIndex, values }, weights }: Pick<Documents, "features" | "weights">,
  sign: 1 | -1 = 1,
): void {
  for (let i = 0; i < rows; i++) {
    const count = sign * (weights?.[i] ?? 1);
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++) {
      const [column, value] = [columnIndex[e] as number, values[e] as number];
      sums[column] = (sums[column] as number) + count * value * value;
    }
  }
}

/** A_jj with the share that makes v right on average over `probes`, whose leverages h = x'Cx are known. */
export function fitEvidence(probes: SparseRows, { squares, leverages }: Probed, noise: number): Evidence {
  const seen = new Float64Array(probes.columns);
  addSquares(seen, { features: probes });
  const variance = noise * leverages.reduce((sum, leverage) => sum + leverage, 0);
  const evidence = (share: number): Evidence => ({ squares: Float32Array.from(squares), share });
  const excess = (share: number): number =>
    unknownParts(noise, evidence(share)).reduce((sum, part, j) => sum + part * (seen[j] as number), 0) -
    variance;
  let [low, high] = [0, MOST];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (excess(middle) > 0) low = middle;
    else high = middle;
  }
  return evidence(variance > 0 ? high : 1);
}

/** What is known when documents have come and gone; the share stays as it is. */
export function changedEvidence({ squares, share }: Evidence, change: Pick<Change, "in" | "out">): Evidence {
  const sums = Float64Array.from(squares);
  addSquares(sums, change.in);
  addSquares(sums, change.out, -1);
  return { squares: Float32Array.from(sums, (sum) => Math.max(0, sum)), share };
}

/** The same of a linear part as knownPart has of an exact one; undefined where the model does not say it. */
export function knownByFeatures(
  { columns, noise, evidence }: LinearPart,
  transform: FeatureTransform,
): Pick<KnownPart, "unknown" | "free"> | undefined {
  if (evidence === undefined) return undefined;
  const known = unknownParts(noise, evidence).map((part) => 1 - part);
  return {
    unknown(rows) {
      const own = wholeSquares(rows, transform) ?? weightedSquares(rows);
      // What has no weights is at right angles to all that is known.
      return weightedSquares(keptColumns(rows, columns), known).map((sum, i) => {
        const square = own[i] as number;
        return Math.max(0, square - sum) / (square + noise);
      });
    },
    free() {},
  };
}
