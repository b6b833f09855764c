// The lower triangle of a symmetric matrix, row after row, outside of the core: half of the numbers, and they never change. What is
// done with it takes it through the core a block of rows at a time.

import { sameSize } from "../../base/check.ts";
import type { SparseRows } from "../../base/sparse.ts";
import type { Core, Precision } from "../../core/core.ts";
import { type Csr, csr, sparseTimes } from "../../core/csr.ts";
import { fill, gemm, transpose } from "../../core/dense.ts";
import { type Matrix, matrix, matrixFrom, type RealArray, scoped } from "../../core/matrix.ts";
import { isSquare } from "../../core/shapes.ts";
import type { Sign } from "../../core/sums.ts";
import { allPoints, blocksOf } from "./leaveoneout.ts";

/** Rows that are in the core together. */
const ROWS_AT_ONCE = 256;

/** Numbers in a lower triangle of n rows. */
export const packedLength = (n: number): number => (n * (n + 1)) / 2;

export const precisionOf = (data: RealArray): Precision => (data instanceof Float32Array ? "f32" : "f64");

const emptyLike = (precision: Precision, length: number): RealArray =>
  precision === "f32" ? new Float32Array(length) : new Float64Array(length);

/** The lower triangle of a matrix. */
export function packLower(m: Matrix): RealArray {
  const n = isSquare("m", m);
  const out = emptyLike(m.precision, packedLength(n));
  for (let i = 0; i < n; i++) out.set(m.block(i, 0, 1, i + 1).view(), packedLength(i));
  return out;
}

/** Puts numbers into the lower triangle of a matrix, or of its rows from `first` on. */
export function unpackLower(packed: RealArray, m: Matrix, first = 0): Matrix {
  for (let i = 0; i < m.rows; i++)
    m.block(i, 0, 1, first + i + 1)
      .view()
      .set(packed.subarray(packedLength(first + i), packedLength(first + i + 1)));
  return m;
}

/** The entries of rows, whose columns rise, in some columns; these are numbered anew. */
function columnsWithin(
  { rows, rowStart, columnIndex, values }: SparseRows<RealArray>,
  from: number,
  to: number,
): SparseRows<RealArray> {
  const bounds = Array.from({ length: rows }, (_, i) => {
    const own = columnIndex.subarray(rowStart[i], rowStart[i + 1]);
    return [rowStart[i] + firstFrom(from, own), rowStart[i] + firstFrom(to, own)] as const;
  });
  const starts = new Int32Array(rows + 1);
  bounds.forEach(([begin, end], i) => {
    starts[i + 1] = starts[i] + end - begin;
  });
  const kept = { columnIndex: new Int32Array(starts[rows]), values: emptyLike(precisionOf(values), starts[rows]) };
  bounds.forEach(([begin, end], i) => {
    kept.columnIndex.set(columnIndex.subarray(begin, end), starts[i]);
    kept.values.set(values.subarray(begin, end), starts[i]);
  });
  for (let e = 0; e < starts[rows]; e++) kept.columnIndex[e] -= from;
  return { rows, columns: to - from, rowStart: starts, ...kept };
}

/** The place of the first number of a rising list that is not below this. */
function firstFrom(least: number, rising: Int32Array): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** out [n,P] = u S for sparse rows u and the symmetric matrix S of a triangle. */
export function packedTimes(u: SparseRows<RealArray>, packed: RealArray, out: Matrix): Matrix {
  const { core, precision, columns: size } = out;
  sameSize("packed", "numbers", packed.length, packedLength(size));
  fill(out, 0);
  for (const { from, to } of blocksOf(allPoints(size), ROWS_AT_ONCE))
    scoped((scope) => {
      const make = (m: number, n: number): Matrix => scope.keep(matrix(core, m, n, precision));
      const within = (first: number): Csr => scope.keep(csr(core, columnsWithin(u, first, to), precision));
      const rows = unpackLower(packed, make(to - from, to), from);
      sparseTimes(within(from), rows, out.block(0, 0, u.rows, to), { accumulate: true });
      // The diagonal has been counted.
      for (let i = 0; i < rows.rows; i++) fill(rows.block(i, from + i, 1, 1), 0);
      const columns = transpose(rows, make(to, to - from));
      sparseTimes(within(0), columns, out.block(0, from, u.rows, to - from), { accumulate: true });
    });
  return out;
}

/** Directions F [n,P], and whether their squares are to be taken from a matrix or added to it. */
export interface Directions {
  readonly factors: RealArray;
  readonly sign: Sign;
}

/** S - sum of sign F'F, as a triangle of its own. */
export function packedLess(core: Core, packed: RealArray, size: number, all: readonly Directions[]): RealArray {
  const precision = precisionOf(packed);
  const out = emptyLike(precision, packed.length);
  return scoped((scope) => {
    const placed = all.map(({ factors, sign }) => ({
      factor: scope.keep(matrixFrom(core, factors.length / size, size, factors, precision)),
      sign,
    }));
    for (const { from, to } of blocksOf(allPoints(size), ROWS_AT_ONCE))
      scoped((inner) => {
        const rows = unpackLower(packed, inner.keep(matrix(core, to - from, to, precision)), from);
        for (const { factor, sign } of placed) {
          const [left, right] = [factor.block(0, from, factor.rows, to - from), factor.block(0, 0, factor.rows, to)];
          gemm(left, right, rows, { transposeA: true, alpha: -sign, beta: 1 });
        }
        for (let i = 0; i < rows.rows; i++) out.set(rows.block(i, 0, 1, from + i + 1).view(), packedLength(from + i));
      });
    return out;
  });
}
