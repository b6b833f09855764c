// Dense algebra: products, maps, reductions and the greatest of each row. `out` is always given by the caller and returned.

import { finiteNumber, oneOf, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { type Integers, integers, type Matrix, matrix, type RealArray, scoped } from "./matrix.ts";
import { compatible, disjoint, hasShape, inCore, isSquare, isVector, productSizes } from "./shapes.ts";

/** Options of a product: transposes, and the factors alpha, beta and w. */
export interface GemmOptions {
  transposeA?: boolean;
  transposeB?: boolean;
  alpha?: number;
  beta?: number;
  /** w of A diag(w) B: a factor for each term of the sums. */
  weights?: Matrix;
}

const FULL = 0;
const LOWER = 1;

/** out = beta out + alpha A diag(w) B, each of A and B transposed on request. */
export function gemm(a: Matrix, b: Matrix, out: Matrix, options: GemmOptions = {}): Matrix {
  multiply(a, b, out, options, FULL);
  return out;
}

function multiply(a: Matrix, b: Matrix, out: Matrix, options: GemmOptions, part: typeof FULL | typeof LOWER): void {
  const { transposeA = false, transposeB = false, weights } = options;
  compatible({ a, b, out, weights });
  const { m, n, k, alpha, beta } = productSizes(a, b, out, options);
  const [left, right] = [bothStrides(a, transposeA), bothStrides(b, transposeB)];
  a.kernels.gemm(m, n, k, alpha, ...left, ...right, weights?.address ?? 0, beta, ...out.strided, part);
}

/** Address, and the elements from one row and from one column to the next, of a matrix or its transpose. */
function bothStrides(x: Matrix, transposed: boolean): [address: number, row: number, column: number] {
  return transposed ? [x.address, 1, x.stride] : [x.address, x.stride, 1];
}

/** Options of a product of a matrix with its own transpose. */
export interface SyrkOptions<T = Matrix> {
  /** A' diag(w) A instead of A diag(w) A'. */
  transpose?: boolean;
  alpha?: number;
  beta?: number;
  weights?: T;
  /** "lower" leaves what is above the diagonal alone. */
  part?: "full" | "lower";
}

/** out = beta out + alpha A diag(w) A'; out is symmetric, and with `part: "full"` so is what it held before. */
export function syrk(a: Matrix, out: Matrix, options: SyrkOptions = {}): Matrix {
  const { transpose: transposed = false, part = "full", ...rest } = options;
  oneOf("part", part, ["full", "lower"]);
  multiply(a, a, out, { ...rest, transposeA: transposed, transposeB: !transposed }, LOWER);
  if (part === "full") a.kernels.mirrorLower(out.rows, ...out.strided);
  return out;
}

const COMBINATIONS = { add: 0, subtract: 1, multiply: 2, divide: 3, maximum: 4, minimum: 5 } as const;
/** Operations of combine() on two elements. */
export type Combination = keyof typeof COMBINATIONS;

/** out = x op y. y may also be a row (1 x n), a column (m x 1) or one value (1 x 1) for all. out may be x or y. */
export function combine(op: Combination, x: Matrix, y: Matrix, out: Matrix): Matrix {
  oneOf("op", op, Object.keys(COMBINATIONS) as Combination[]);
  compatible({ x, y, out });
  hasShape({ out }, x.rows, x.columns);
  const [yRow, yColumn] = broadcast(x, y, y.stride);
  const code = COMBINATIONS[op];
  x.kernels.combine(code, x.rows, x.columns, ...x.strided, y.address, yRow, yColumn, ...out.strided);
  return out;
}

/** Elements from one row and one column of y to the next, where y counts for all of x's: 0 along what it has one of. */
export function broadcast(
  x: { rows: number; columns: number },
  y: { rows: number; columns: number },
  stride: number,
): [row: number, column: number] {
  const { rows, columns } = x;
  if ((y.rows !== rows && y.rows !== 1) || (y.columns !== columns && y.columns !== 1)) {
    const expected = `${rows} x ${columns}, a row, a column or one value`;
    throw new ArgumentError("y", `found ${y.rows} x ${y.columns}, expected ${expected}`);
  }
  return [y.rows === 1 && rows !== 1 ? 0 : stride, y.columns === 1 && columns !== 1 ? 0 : 1];
}

/** out = alpha x + beta y. */
export function blend(alpha: number, x: Matrix, beta: number, y: Matrix, out: Matrix): Matrix {
  finiteNumber("alpha", alpha);
  finiteNumber("beta", beta);
  compatible({ x, y, out });
  hasShape({ y, out }, x.rows, x.columns);
  x.kernels.blend(x.rows, x.columns, alpha, ...x.strided, beta, ...y.strided, ...out.strided);
  return out;
}

/** out = alpha x; with alpha = 1 a copy. */
export function scale(alpha: number, x: Matrix, out: Matrix): Matrix {
  return blend(alpha, x, 0, x, out);
}

const MAPS = {
  exp: 0,
  log: 1,
  log1p: 2,
  softplus: 3,
  sigmoid: 4,
  sqrt: 5,
  square: 6,
  reciprocal: 7,
  negate: 8,
  abs: 9,
} as const;
/** Functions of map(). */
export type MapName = keyof typeof MAPS;

/** out = f(x), element by element. out may be x. */
export function map(op: MapName, x: Matrix, out: Matrix): Matrix {
  oneOf("op", op, Object.keys(MAPS) as MapName[]);
  compatible({ x, out });
  hasShape({ out }, x.rows, x.columns);
  if (x.contiguous && out.contiguous) x.kernels.mapArray(MAPS[op], x.rows * x.columns, x.address, out.address);
  else for (let i = 0; i < x.rows; i++) map(op, x.rowRange(i, i + 1), out.rowRange(i, i + 1));
  return out;
}

/** Every element of out becomes the value. */
export function fill(out: Matrix, value: number): Matrix {
  finiteNumber("value", value);
  compatible({ out });
  out.kernels.fill(out.rows, out.columns, value, ...out.strided);
  return out;
}

/** out = x' */
export function transpose(x: Matrix, out: Matrix): Matrix {
  compatible({ x, out });
  hasShape({ out }, x.columns, x.rows);
  disjoint("out", out, { x });
  x.kernels.transpose(x.rows, x.columns, ...x.strided, ...out.strided);
  return out;
}

/** out = x in out's precision. */
export function convert(x: Matrix, out: Matrix): Matrix {
  compatible({ x });
  compatible({ out });
  inCore(x.core, { out });
  hasShape({ out }, x.rows, x.columns);
  if (x.precision === out.precision) return scale(1, x, out);
  const { toDouble, toSingle } = x.core.kernels;
  (x.precision === "f32" ? toDouble : toSingle)(x.rows, x.columns, ...x.strided, ...out.strided);
  return out;
}

/** out_i = sum_j x_ij y_ij; without y the row sums, with a row y (1 x n) the products with it. Carried in double precision. */
export function rowSums(x: Matrix, out: Matrix, y?: Matrix): Matrix {
  compatible({ x, out, y });
  if (y) hasShape({ y }, y.rows === 1 ? 1 : x.rows, x.columns);
  isVector("out", out, x.rows);
  const yRow = y === undefined || y.rows === 1 ? 0 : y.stride;
  x.kernels.rowDots(x.rows, x.columns, ...x.strided, y?.address ?? 0, yRow, out.address);
  return out;
}

/** out_j = sum_i x_ij y_ij; without y the column sums; y may be a column (m x 1). Carried in double precision. */
export function columnSums(x: Matrix, out: Matrix, y?: Matrix): Matrix {
  compatible({ x, out, y });
  if (y) hasShape({ y }, x.rows, y.columns === 1 ? 1 : x.columns);
  isVector("out", out, x.columns);
  const yColumn = y?.columns === 1 ? 0 : 1;
  x.kernels.columnDots(x.rows, x.columns, ...x.strided, ...(y?.strided ?? [0, 0]), yColumn, out.address);
  return out;
}

/** The diagonal of a square matrix as a vector. */
export function diagonal(x: Matrix, out: Matrix): Matrix {
  const n = isSquare("x", x);
  compatible({ x, out });
  isVector("out", out, n);
  x.kernels.getDiagonal(n, ...x.strided, out.address);
  return out;
}

/** Adds a vector to the diagonal of a square matrix. */
export function addDiagonal(x: Matrix, values: Matrix): Matrix {
  const n = isSquare("x", x);
  compatible({ x, values });
  isVector("values", values, n);
  x.kernels.addDiagonal(n, ...x.strided, values.address);
  return x;
}

/** out_i = the rows[i]-th row of x. */
export function gatherRows(x: Matrix, rows: Integers, out: Matrix): Matrix {
  compatible({ x, out });
  inCore(x.core, { rows });
  hasShape({ out }, rows.length, x.columns);
  disjoint("out", out, { x });
  for (const row of rows.view()) wholeNumber("rows", row, 0, x.rows - 1);
  x.kernels.gatherRows(rows.length, x.columns, ...x.strided, rows.address, ...out.strided);
  return out;
}

/** The greatest of each row, row after row. */
export interface TopK {
  /** Columns of the k greatest of each row, greatest first; of equals the smaller column first. */
  indices: Int32Array;
  values: RealArray;
}

/** The k greatest of each row, k at most the number of columns. NaN counts as the least. */
export function topK(scores: Matrix, k: number): TopK {
  compatible({ scores });
  wholeNumber("k", k, 0, scores.columns);
  const { core, precision, rows, columns } = scores;
  return scoped((scope) => {
    const indices = scope.keep(integers(core, rows * k));
    const values = scope.keep(matrix(core, rows, k, precision));
    scores.kernels.topK(rows, columns, ...scores.strided, k, indices.address, values.address);
    return { indices: indices.toArray(), values: values.toArray() };
  });
}
