// Dense algebra: products, maps and reductions. `out` is always given by the caller and returned.

import { finiteNumber, oneOf, sameSize, wholeNumber } from "./check.ts";
import { ArgumentError } from "./errors.ts";
import type { Integers, Matrix } from "./matrix.ts";
import { alike, apart, hasShape, isOf, isSquare, isVector } from "./shapes.ts";

/** Of a product: what is transposed, and the factors alpha, beta and w. */
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
  const { transposeA = false, transposeB = false, weights } = options;
  const alpha = finiteNumber("alpha", options.alpha ?? 1);
  const beta = finiteNumber("beta", options.beta ?? 0);
  alike({ a, b, out, weights });
  const [m, k] = transposeA ? [a.columns, a.rows] : [a.rows, a.columns];
  const [depth, n] = transposeB ? [b.columns, b.rows] : [b.rows, b.columns];
  sameSize("b", transposeB ? "columns" : "rows", depth, k);
  hasShape("out", out, m, n);
  if (weights) isVector("weights", weights, k);
  apart("out", out, { a, b, weights });
  const [aRow, aColumn] = transposeA ? [1, a.stride] : [a.stride, 1];
  const [bRow, bColumn] = transposeB ? [1, b.stride] : [b.stride, 1];
  const kernel = a.core.kernels[a.precision];
  kernel.gemm(
    m,
    n,
    k,
    alpha,
    a.address,
    aRow,
    aColumn,
    b.address,
    bRow,
    bColumn,
    weights?.address ?? 0,
    beta,
    out.address,
    out.stride,
    FULL,
  );
  return out;
}

/** Of a product of a matrix with its own transpose. */
export interface SyrkOptions {
  /** A' diag(w) A instead of A diag(w) A'. */
  transpose?: boolean;
  alpha?: number;
  beta?: number;
  weights?: Matrix;
  /** "lower" leaves what is above the diagonal alone. */
  part?: "full" | "lower";
}

/** out = beta out + alpha A diag(w) A'; out is symmetric, and with `part: "full"` so is what it held before. */
export function syrk(a: Matrix, out: Matrix, options: SyrkOptions = {}): Matrix {
  const { transpose: transposed = false, weights } = options;
  const alpha = finiteNumber("alpha", options.alpha ?? 1);
  const beta = finiteNumber("beta", options.beta ?? 0);
  const part = oneOf("part", options.part ?? "full", ["full", "lower"]);
  alike({ a, out, weights });
  const [n, k] = transposed ? [a.columns, a.rows] : [a.rows, a.columns];
  hasShape("out", out, n, n);
  if (weights) isVector("weights", weights, k);
  apart("out", out, { a, weights });
  const [row, column] = transposed ? [1, a.stride] : [a.stride, 1];
  const kernel = a.core.kernels[a.precision];
  kernel.gemm(
    n,
    n,
    k,
    alpha,
    a.address,
    row,
    column,
    a.address,
    column,
    row,
    weights?.address ?? 0,
    beta,
    out.address,
    out.stride,
    LOWER,
  );
  if (part === "full") kernel.mirrorLower(n, out.address, out.stride);
  return out;
}

const COMBINATIONS = { add: 0, subtract: 1, multiply: 2, divide: 3, maximum: 4, minimum: 5 } as const;
/** What combine() does with two elements. */
export type Combination = keyof typeof COMBINATIONS;

/** out = x op y. y may also be a row (1 x n), a column (m x 1) or one value (1 x 1) for all. out may be x or y. */
export function combine(op: Combination, x: Matrix, y: Matrix, out: Matrix): Matrix {
  oneOf("op", op, Object.keys(COMBINATIONS) as Combination[]);
  alike({ x, y, out });
  hasShape("out", out, x.rows, x.columns);
  const rowsFit = y.rows === x.rows || y.rows === 1;
  const columnsFit = y.columns === x.columns || y.columns === 1;
  if (!rowsFit || !columnsFit) {
    throw new ArgumentError(
      "y",
      `found ${y.rows} x ${y.columns}, expected ${x.rows} x ${x.columns}, a row, a column or one value`,
    );
  }
  const yRow = y.rows === 1 && x.rows !== 1 ? 0 : y.stride;
  const yColumn = y.columns === 1 && x.columns !== 1 ? 0 : 1;
  const kernel = x.core.kernels[x.precision];
  kernel.combine(
    COMBINATIONS[op],
    x.rows,
    x.columns,
    x.address,
    x.stride,
    y.address,
    yRow,
    yColumn,
    out.address,
    out.stride,
  );
  return out;
}

/** out = alpha x + beta y. */
export function blend(alpha: number, x: Matrix, beta: number, y: Matrix, out: Matrix): Matrix {
  finiteNumber("alpha", alpha);
  finiteNumber("beta", beta);
  alike({ x, y, out });
  hasShape("y", y, x.rows, x.columns);
  hasShape("out", out, x.rows, x.columns);
  const kernel = x.core.kernels[x.precision];
  kernel.blend(
    x.rows,
    x.columns,
    alpha,
    x.address,
    x.stride,
    beta,
    y.address,
    y.stride,
    out.address,
    out.stride,
  );
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
/** What map() does with an element. */
export type MapName = keyof typeof MAPS;

/** out = f(x), element by element. out may be x. */
export function map(op: MapName, x: Matrix, out: Matrix): Matrix {
  oneOf("op", op, Object.keys(MAPS) as MapName[]);
  alike({ x, out });
  hasShape("out", out, x.rows, x.columns);
  const kernel = x.core.kernels[x.precision];
  if (x.contiguous && out.contiguous) kernel.mapArray(MAPS[op], x.rows * x.columns, x.address, out.address);
  else for (let i = 0; i < x.rows; i++) map(op, x.rowRange(i, i + 1), out.rowRange(i, i + 1));
  return out;
}

/** Every element of out becomes the value. */
export function fill(out: Matrix, value: number): Matrix {
  finiteNumber("value", value);
  alike({ out });
  out.core.kernels[out.precision].fill(out.rows, out.columns, value, out.address, out.stride);
  return out;
}

/** out = x' */
export function transpose(x: Matrix, out: Matrix): Matrix {
  alike({ x, out });
  hasShape("out", out, x.columns, x.rows);
  apart("out", out, { x });
  x.core.kernels[x.precision].transpose(x.rows, x.columns, x.address, x.stride, out.address, out.stride);
  return out;
}

/** out = x in out's precision. */
export function convert(x: Matrix, out: Matrix): Matrix {
  alike({ x });
  alike({ out });
  isOf(x.core, { out });
  hasShape("out", out, x.rows, x.columns);
  const { kernels } = x.core;
  if (x.precision === out.precision) return scale(1, x, out);
  const kernel = x.precision === "f32" ? kernels.toDouble : kernels.toSingle;
  kernel(x.rows, x.columns, x.address, x.stride, out.address, out.stride);
  return out;
}

/** out_i = sum_j x_ij y_ij; without y the row sums, with a row y (1 x n) the products with it. Carried in double precision. */
export function rowSums(x: Matrix, out: Matrix, y?: Matrix): Matrix {
  alike({ x, out, y });
  if (y) hasShape("y", y, y.rows === 1 ? 1 : x.rows, x.columns);
  isVector("out", out, x.rows);
  const yRow = y === undefined || y.rows === 1 ? 0 : y.stride;
  x.core.kernels[x.precision].rowDots(
    x.rows,
    x.columns,
    x.address,
    x.stride,
    y?.address ?? 0,
    yRow,
    out.address,
  );
  return out;
}

/** out_j = sum_i x_ij y_ij; without y the column sums; y may be a column (m x 1). Carried in double precision. */
export function columnSums(x: Matrix, out: Matrix, y?: Matrix): Matrix {
  alike({ x, out, y });
  if (y) hasShape("y", y, x.rows, y.columns === 1 ? 1 : x.columns);
  isVector("out", out, x.columns);
  const yColumn = y?.columns === 1 ? 0 : 1;
  x.core.kernels[x.precision].columnDots(
    x.rows,
    x.columns,
    x.address,
    x.stride,
    y?.address ?? 0,
    y?.stride ?? 0,
    yColumn,
    out.address,
  );
  return out;
}

/** The diagonal of a square matrix as a vector. */
export function diagonal(x: Matrix, out: Matrix): Matrix {
  const n = isSquare("x", x);
  alike({ x, out });
  isVector("out", out, n);
  x.core.kernels[x.precision].getDiagonal(n, x.address, x.stride, out.address);
  return out;
}

/** Adds a vector to the diagonal of a square matrix. */
export function addDiagonal(x: Matrix, values: Matrix): Matrix {
  const n = isSquare("x", x);
  alike({ x, values });
  isVector("values", values, n);
  x.core.kernels[x.precision].addDiagonal(n, x.address, x.stride, values.address);
  return x;
}

/** out_i = the rows[i]-th row of x. */
export function gatherRows(x: Matrix, rows: Integers, out: Matrix): Matrix {
  alike({ x, out });
  isOf(x.core, { rows });
  hasShape("out", out, rows.length, x.columns);
  apart("out", out, { x });
  for (const row of rows.view()) wholeNumber("rows", row, 0, x.rows - 1);
  x.core.kernels[x.precision].gatherRows(
    rows.length,
    x.columns,
    x.address,
    x.stride,
    rows.address,
    out.address,
    out.stride,
  );
  return out;
}
