// Factorisations of symmetric positive definite matrices, and solves with their factors. A stack is `count` matrices
// of one size, one below the other.

import { oneOf, sameSize } from "../base/check.ts";
import { byParts, type WorkOptions } from "../base/progress.ts";
import { BYTES, integers, type Matrix, matrix, scoped } from "./matrix.ts";
import { allFinite, compatible, disjoint, hasShape, isSquare, isStack, isVector } from "./shapes.ts";

/** Status of a matrix that was factored. Any other status is the index of the first pivot that was not positive. */
export const FACTORED = -1;

/**
 * A = L L' for each matrix of the stack, from its lower triangle, in its place; what is above the diagonal becomes
 * zero. Returns a status for each matrix. A matrix that is not positive definite stays finite and must not be used.
 */
export function cholesky(a: Matrix, count = 1): Int32Array {
  compatible({ a });
  const n = isStack("a", a, count);
  for (let i = 0; i < count; i++) allFinite("a", a.rowRange(i * n, (i + 1) * n), "lower");
  return scoped((scope) => {
    const status = scope.keep(integers(a.core, count));
    a.kernels.cholesky(count, n, ...a.strided, n * a.stride, status.address);
    return status.toArray();
  });
}

/** Options of a triangular solve: left, lower and not transposed if not given. */
export interface SolveOptions {
  /** Which side of X the triangle stands on: T X = B ("left") or X T = B ("right"). */
  side?: "left" | "right";
  triangle?: "lower" | "upper";
  transpose?: boolean;
}

/** Solves T X = B or X T = B, with T or its transpose, in place of B. T's other triangle is not read. */
export function solveTriangular(t: Matrix, b: Matrix, options: SolveOptions = {}): Matrix {
  solverOf(t, b, options)(0, t.rows);
  return b;
}

/** Rows of T that the kernel takes at once (KC). */
const ROWS_AT_ONCE = 256;

/** solveTriangular for a large T and from the left, giving way to signals. */
export async function solveInTurns(
  t: Matrix,
  b: Matrix,
  options: Omit<SolveOptions, "side"> & WorkOptions = {},
): Promise<Matrix> {
  const solve = solverOf(t, b, options);
  const blocks = Math.ceil(t.rows / ROWS_AT_ONCE);
  await byParts(options, blocks, ROWS_AT_ONCE * t.rows * b.columns, (from, to) =>
    solve(from * ROWS_AT_ONCE, Math.min(t.rows, to * ROWS_AT_ONCE)),
  );
  return b;
}

/** Solves for some rows, once it has for those before: of an upper triangle they are counted from its end. */
function solverOf(t: Matrix, b: Matrix, options: SolveOptions): (from: number, to: number) => void {
  const { side = "left", triangle = "lower", transpose = false } = options;
  oneOf("side", side, ["left", "right"]);
  oneOf("triangle", triangle, ["lower", "upper"]);
  compatible({ t, b });
  disjoint("b", b, { t });
  const n = isSquare("t", t);
  sameSize("b", side === "left" ? "rows" : "columns", side === "left" ? b.rows : b.columns, n);
  // From the right it is the transposed problem, T' X' = B'.
  const transposed = transpose !== (side === "right");
  let [tRow, tColumn] = transposed ? [1, t.stride] : [t.stride, 1];
  let [xRow, xColumn] = side === "left" ? [b.stride, 1] : [1, b.stride];
  let [tAddress, bAddress] = [t.address, b.address];
  const lower = (triangle === "lower") !== transposed;
  if (!lower && n > 0) {
    // An upper triangle read from its last element backwards is a lower one.
    const size = BYTES[t.precision];
    tAddress += (n - 1) * (t.stride + 1) * size;
    bAddress += (n - 1) * xRow * size;
    [tRow, tColumn, xRow] = [-tRow, -tColumn, -xRow];
  }
  const columns = side === "left" ? b.columns : b.rows;
  return (from, to) => t.kernels.solveLower(n, columns, tAddress, tRow, tColumn, bAddress, xRow, xColumn, from, to);
}

/** inverse(L L'), both triangles, for each factor of the stack. out may be the factors themselves. */
export function inverseFromFactor(factor: Matrix, out: Matrix, count = 1): Matrix {
  compatible({ factor, out });
  const n = isStack("factor", factor, count);
  hasShape({ out }, factor.rows, factor.columns);
  const { core, precision } = factor;
  const used = Math.max(1, Math.min(core.threads, count));
  return scoped((scope) => {
    const work = scope.keep(matrix(core, used === 1 ? n : core.threads * n, n, precision));
    const [from, to] = [factor, out].map((x) => [...x.strided, n * x.stride] as const);
    factor.kernels.inverseFromFactor(count, n, ...from, ...to, work.address);
    return out;
  });
}

/** log|L L'| of each factor of the stack. */
export function logDeterminant(factor: Matrix, out: Matrix, count = 1): Matrix {
  compatible({ factor, out });
  const n = isStack("factor", factor, count);
  isVector("out", out, count);
  factor.kernels.logDeterminant(count, n, ...factor.strided, n * factor.stride, out.address);
  return out;
}
