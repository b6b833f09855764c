// How long a row may be before a number that a prediction passes through could leave single precision. A model that can be given
// no row of unit length is refused, and so is a row that is too long for its model: between them no finite input gives a NaN.
//
// Everything grows with |x|, so that a bound at some length holds for all shorter rows. With z the longest of the points that
// carry the model, |k(x, z)| <= a |x| |z| + v, and sums are bounded by norms (Cauchy-Schwarz), whatever their order.

import { ArgumentError } from "../base/errors.ts";
import { type KernelName, termsOf } from "../base/kernels.ts";
import { type SparseRows, squaredNorms } from "../base/sparse.ts";
import type { RealArray } from "../core/matrix.ts";

/** Numbers up to it are safe: single precision ends at 3.4e38, and roundings are left some room. */
const LARGEST = 1e36;
/** Longer than a unit row by its rounding. */
const UNIT = 1.001;
const LENGTHS = [...Array.from({ length: 18 }, (_, i) => 10 ** (18 - i)), UNIT];

/** The largest |k(x, z)|, and the largest of what it is made from, for rows of these lengths. */
export function largestCovariance(
  kernel: KernelName,
  [a, v, l]: readonly [a: number, v: number, l: number],
  x: number,
  z: number,
): [number, number] {
  const { linear, stationary } = termsOf(kernel);
  const value = (linear ? a * x * z : 0) + (stationary ? v : 0);
  const square = (x + z) * (x + z);
  return [value, stationary ? Math.max(square, square / (l * l)) : square];
}

/** The largest numbers that a part passes through for rows of a length, its score last; `before` has the scores of parts before it. */
export type Bounds = (length: number, before: readonly number[]) => number[];

/** The longest row for which every number of all parts is safe; 0 where there is none. */
export function maxNorm(parts: readonly Bounds[]): number {
  const isSafe = (length: number): boolean => {
    const scores: number[] = [];
    return parts.every((bounds) => {
      const worst = bounds(length, scores);
      scores.push(worst.at(-1) as number);
      return worst.every((number) => number <= LARGEST);
    });
  };
  return LENGTHS.find(isSafe) ?? 0;
}

/** The largest column of a matrix [rows,columns]: of its magnitudes added up, or of its squares. */
export function largestColumn(values: RealArray, columns: number, power: 1 | 2): number {
  const sums = new Float64Array(columns);
  for (let start = 0; start < values.length; start += columns) {
    for (let j = 0; j < columns; j++) {
      const size = Math.abs(values[start + j]);
      sums[j] += power === 1 ? size : size * size;
    }
  }
  return largest(sums);
}

/** The same of rows. */
export function largestRow(values: RealArray, columns: number, power: 1 | 2): number {
  let most = 0;
  for (let start = 0; start < values.length; start += columns) {
    let sum = 0;
    for (let i = start; i < start + columns; i++) {
      const size = Math.abs(values[i]);
      sum += power === 1 ? size : size * size;
    }
    most = Math.max(most, sum);
  }
  return most;
}

/** The largest magnitude; NaN where there is one. */
export function largest(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]));
  return most;
}

/** The length of the longest row. */
export const longestRow = (rows: SparseRows): number => Math.sqrt(largest(squaredNorms(rows)));

/** |x|^2 of each row; refuses numbers that are not finite and rows longer than `most`. */
export function checkNorms(most: number, rows: SparseRows, firstRow = 0): Float64Array {
  const squares = squaredNorms(rows);
  const wrong = squares.findIndex((square) => !(square <= most * most));
  if (wrong < 0) return squares;
  throw new ArgumentError(
    "features",
    `found values too large to compute with in row ${firstRow + wrong}, expected a row of length ${most} at most`,
  );
}
