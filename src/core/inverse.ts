// The inverse of a symmetric positive definite matrix in its own place, one sweep over blocks of rows (symmetric
// block Gauss-Jordan; Bientinesi, Gunter and van de Geijn 2008 call it the one-sweep algorithm). With P = S_kk = L L':
//
//     H = S_:k inverse(L')      S -= H H'      S_:k = H inverse(L)      S_kk = -inverse(P)
//
// After all k, S = -inverse(A). n^3 multiplications and additions, nearly all in H H' of the lower triangle; the
// second triangle is only written at the end, and beside A there is one column of blocks. The same sweep over
// inverse(A) takes away rows and columns that A loses, n^2 operations each.

import { wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { type WorkOptions, yieldToHost } from "../base/progress.ts";
import type { Precision } from "./core.ts";
import { addDiagonal, fill, gemm, scale, syrk, transpose } from "./dense.ts";
import { cholesky, FACTORED, inverseFromFactor, solveInTurns, solveTriangular } from "./factor.ts";
import { BYTES, type Matrix, matrix, scoped } from "./matrix.ts";
import { allFinite, compatible, isSquare } from "./shapes.ts";

/** Rows of a block: the depth that the product kernel takes at once. */
const BLOCK = 256;
/** Multiplications between two looks at the signal. */
const WORK_AT_ONCE = 5e8;

/** A matrix that has no Cholesky factor: not positive definite, at least not in its precision. */
export class NotPositiveError extends ArgumentError {
  override name = "NotPositiveError";
}

/** Bytes that inverseInPlace needs beside the matrix. */
export function inverseBytes(n: number, precision: Precision): number {
  return (n + 3 * BLOCK) * BLOCK * BYTES[precision];
}

/** L L' = A in place of A's lower triangle, as cholesky() does it, giving way to signals. */
export async function factorInPlace(a: Matrix, options: WorkOptions = {}): Promise<Matrix> {
  compatible({ a });
  const n = isSquare("a", a);
  allFinite("a", a, "lower");
  for (let k = 0; k < n; k += BLOCK) {
    await yieldToHost(options, "factor", k / n);
    const size = Math.min(BLOCK, n - k);
    const rest = n - k - size;
    const pivot = a.block(k, k, size, size);
    factorPivot(pivot, k);
    fill(a.block(k, k + size, size, rest), 0);
    const below = a.block(k + size, k, rest, size);
    solveTriangular(pivot, below, { side: "right", transpose: true });
    await addSquare(-1, below, a.block(k + size, k + size, rest, rest), options, k / n);
  }
  return a;
}

function factorPivot(pivot: Matrix, row: number): void {
  if (cholesky(pivot)[0] === FACTORED) return;
  throw new NotPositiveError(
    "a",
    `found a matrix that is not positive definite in ${pivot.precision} (near row ${row}), expected one that is: ` +
      "give it a greater diagonal",
  );
}

/** A becomes inverse(A), both triangles, from its lower triangle. */
export async function inverseInPlace(a: Matrix, options: WorkOptions = {}): Promise<Matrix> {
  compatible({ a });
  allFinite("a", a, "lower");
  await sweep(a, 0, options);
  scale(-1, a, a);
  return mirrored(a);
}

/**
 * A has grown: `a` holds the old C = inverse(A), both triangles, in its first rows and columns, and in the lower triangle of its last
 * rows those of A that are new, B and D. It becomes the new inverse(A), both triangles: with L L' = D - B C B' and W = inverse(L) B C
 * it is C + W'W, -inverse(L') W below, and inverse(L L').
 */
export async function growInverse(a: Matrix, first: number, options: WorkOptions = {}): Promise<Matrix> {
  compatible({ a });
  const added = isSquare("a", a) - wholeNumber("first", first, 0, a.rows);
  if (added === 0) return a;
  const old = a.block(0, 0, first, first);
  const below = a.block(first, 0, added, first);
  const l = a.block(first, first, added, added);
  allFinite("a", below);
  allFinite("a", l, "lower");
  await scoped(async (scope) => {
    const w = scope.keep(matrix(a.core, added, first, a.precision));
    const width = Math.max(64, Math.floor(WORK_AT_ONCE / (added * first)));
    for (let from = 0; from < first; from += width) {
      await yieldToHost(options, "inverse", 0);
      const columns = Math.min(width, first - from);
      gemm(below, a.block(0, from, first, columns), w.block(0, from, added, columns));
    }
    gemm(w, below, l, { transposeB: true, alpha: -1, beta: 1 });
    factorPivot(l, first);
    solveTriangular(l, w);
    const columns = scope.keep(matrix(a.core, first, added, a.precision));
    await addSquare(1, transpose(w, columns), old, options, 0);
    solveTriangular(l, w, { transpose: true });
    scale(-1, w, below);
    inverseFromFactor(l, l);
  });
  return mirrored(a);
}

/** A loses its last rows and columns: the first ones of inverse(A) become the inverse of what is left, both triangles; returns them. */
export async function shrinkInverse(a: Matrix, left: number, options: WorkOptions = {}): Promise<Matrix> {
  compatible({ a });
  wholeNumber("left", left, 0, isSquare("a", a));
  allFinite("a", a, "lower");
  await sweep(a, left, options);
  return mirrored(a.block(0, 0, left, left));
}

/** The upper triangle becomes the mirror image of the lower one. */
export function mirrored(a: Matrix): Matrix {
  compatible({ a });
  isSquare("a", a);
  a.kernels.mirrorLower(a.rows, ...a.strided);
  return a;
}

/** Sweeps the rows of a lower triangle from `first` on. */
async function sweep(a: Matrix, first: number, options: WorkOptions): Promise<void> {
  const { core, precision, rows: n } = a;
  await scoped(async (scope) => {
    const width = Math.min(BLOCK, n - first);
    const panel = scope.keep(matrix(core, n, width, precision));
    const pivot = scope.keep(matrix(core, width, width, precision));
    for (let k = first; k < n; k += BLOCK) {
      await yieldToHost(options, "inverse", (k - first) / (n - first));
      const size = Math.min(BLOCK, n - k);
      const h = panel.block(0, 0, n, size);
      const l = pivot.block(0, 0, size, size);
      takePanel(a, k, h, l);
      factorPivot(l, k);
      solveTriangular(l, h, { side: "right", transpose: true });
      await addSquare(-1, h, a, options, (k - first) / (n - first));
      solveTriangular(l, h, { side: "right" });
      inverseFromFactor(l, l);
      putPanel(a, k, h, l);
    }
  });
}

/** h = S_:k with zeros in place of S_kk, which goes to l. Left of k it is the mirror image of row k. */
function takePanel(s: Matrix, k: number, h: Matrix, l: Matrix): void {
  const n = s.rows;
  const size = h.columns;
  transpose(s.block(k, 0, size, k), h.block(0, 0, k, size));
  scale(1, s.block(k, k, size, size), l);
  fill(h.block(k, 0, size, size), 0);
  scale(1, s.block(k + size, k, n - k - size, size), h.block(k + size, 0, n - k - size, size));
}

/** S_:k = h, S_kk = -inverse. */
function putPanel(s: Matrix, k: number, h: Matrix, inverse: Matrix): void {
  const n = s.rows;
  const size = h.columns;
  transpose(h.block(0, 0, k, size), s.block(k, 0, size, k));
  scale(-1, inverse, s.block(k, k, size, size));
  scale(1, h.block(k + size, 0, n - k - size, size), s.block(k + size, k, n - k - size, size));
}

/** S += alpha H H' in the lower triangle, some rows at a time. */
async function addSquare(alpha: 1 | -1, h: Matrix, s: Matrix, options: WorkOptions, fraction: number): Promise<void> {
  const n = s.rows;
  const size = h.columns;
  let spent = 0;
  for (let from = 0; from < n; ) {
    // So that size rows (from + rows) are about the work at once.
    const wanted = (Math.sqrt(from * from + (4 * WORK_AT_ONCE) / size) - from) / 2;
    const rows = Math.min(n - from, Math.max(BLOCK / 2, Math.floor(wanted)));
    const own = h.rowRange(from, from + rows);
    const onto = { alpha, beta: 1 };
    if (from > 0) gemm(own, h.rowRange(0, from), s.block(from, 0, rows, from), { transposeB: true, ...onto });
    syrk(own, s.block(from, from, rows, rows), { part: "lower", ...onto });
    spent += rows * (from + rows) * size;
    from += rows;
    if (spent > WORK_AT_ONCE / 2 && from < n) {
      await yieldToHost(options, "inverse", fraction);
      spent = 0;
    }
  }
}

/** Columns of inverse(L) that are made together. */
const COLUMNS_AT_ONCE = 512;

/**
 * The columns of inverse(L), L lower triangular, some at a time: `work` gets rows `from` to n of columns `from` on (what
 * is above is zero) in a matrix that is freed afterwards.
 */
export async function lowerInverseColumns(
  l: Matrix,
  work: (columns: Matrix, from: number) => void,
  options: WorkOptions = {},
): Promise<void> {
  compatible({ l });
  const n = isSquare("l", l);
  const { core, precision } = l;
  for (let from = 0; from < n; from += COLUMNS_AT_ONCE) {
    await yieldToHost(options, "triangle", from / n);
    const width = Math.min(COLUMNS_AT_ONCE, n - from);
    await scoped(async (scope) => {
      const columns = scope.keep(matrix(core, n - from, width, precision));
      addDiagonal(columns.rowRange(0, width), fill(scope.keep(matrix(core, 1, width, precision)), 1));
      work(await solveInTurns(l.block(from, from, n - from, n - from), columns, options), from);
    });
  }
}
