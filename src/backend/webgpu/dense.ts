// Dense algebra: products, maps, reductions, the steps of Adam.

import { finiteNumber, wholeNumber } from "../../core/check.ts";
import { ArgumentError } from "../../core/errors.ts";
import type { AdamStep, ProductOptions } from "../backend.ts";
import type { Recorder } from "./recorder.ts";
import { apart, hasShape, isSquare, isVector } from "./shapes.ts";
import { type GpuIndices, GpuTensor } from "./tensors.ts";

/**
 * Runs an operation over rows of these tensors: all of them at once, or where one is larger than the device can bind,
 * block by block. Tensors of one row, where others have more, stay whole.
 */
function overRows<T extends Record<string, GpuTensor | undefined>>(
  recorder: Recorder,
  tensors: T,
  run: (tensors: T) => void,
): void {
  const given = Object.values(tensors).filter((tensor) => tensor !== undefined);
  const widest = Math.max(1, ...given.map(({ columns }) => columns));
  const rows = Math.max(...given.map((tensor) => tensor.rows));
  // A block's first element need not be where a binding may begin.
  const most = Math.floor(recorder.mostBound / 4) - 64;
  const fits = given.every(({ length }) => length <= most);
  const step = fits ? Math.max(1, rows) : Math.max(1, Math.floor(most / widest));
  if (step >= rows) {
    run(tensors);
    return;
  }
  for (let from = 0; from < rows; from += step) {
    const to = Math.min(rows, from + step);
    const part = ([name, tensor]: [string, GpuTensor | undefined]) =>
      [name, tensor?.rows === rows ? tensor.rowRange(from, to) : tensor] as const;
    run(Object.fromEntries(Object.entries(tensors).map(part)) as T);
  }
}

/** What a product is made of; strides are those of A and B as they are multiplied. */
interface Product {
  rows: number;
  columns: number;
  depth: number;
  alpha: number;
  beta: number;
  aRow: number;
  aColumn: number;
  bRow: number;
  bColumn: number;
  symmetric?: boolean;
  weights?: GpuTensor | undefined;
  /** Problems one behind the other in the same tensors, and whether A' A is of a lower triangle. */
  stack?: { count: number; a: number; b: number; weights: number; out: number; totalDepth: number };
  triangle?: boolean;
}

function dispatchProduct(recorder: Recorder, a: GpuTensor, b: GpuTensor, out: GpuTensor, of: Product): void {
  const { symmetric = false, weights, stack, triangle = false, ...sizes } = of;
  const tile = recorder.constant("gemm", "TILE");
  recorder.run(
    "gemm",
    [Math.ceil(of.columns / tile), Math.ceil(of.rows / tile), stack?.count ?? 1],
    { a, b, weights, out },
    {
      ...sizes,
      totalDepth: stack?.totalDepth ?? of.depth,
      aStack: stack?.a ?? 0,
      bStack: stack?.b ?? 0,
      weightsStack: stack?.weights ?? 0,
      outStack: stack?.out ?? 0,
      weighted: weights ? 1 : 0,
      symmetric: symmetric ? 1 : 0,
      fromRow: triangle ? 1 : 0,
    },
  );
}

/** Tiles of out that keep a GPU busy; with fewer, and a long sum, the sum is made in parts of at least so many terms. */
const ENOUGH_TILES = 256;
const TERMS_A_PART = 256;
const MOST_PARTS = 16;

function partsOf(recorder: Recorder, { rows, columns, depth, stack }: Product): number {
  const tile = recorder.constant("gemm", "TILE");
  const tiles = Math.ceil(rows / tile) * Math.ceil(columns / tile);
  if (stack || tiles === 0) return 1;
  return Math.min(MOST_PARTS, Math.ceil(ENOUGH_TILES / tiles), Math.floor(depth / TERMS_A_PART));
}

/** out = beta out + alpha A diag(w) B. */
export function product(recorder: Recorder, a: GpuTensor, b: GpuTensor, out: GpuTensor, of: Product): void {
  const parts = partsOf(recorder, of);
  if (parts <= 1) {
    dispatchProduct(recorder, a, b, out, of);
    return;
  }
  const { alpha, beta, depth } = of;
  const terms = Math.ceil(depth / parts);
  const count = Math.ceil(depth / terms);
  const block = recorder.allocate(count * out.length, "parts of a product");
  const partial = new GpuTensor(block, count, out.length, 0, false);
  const stack = {
    count,
    a: terms * of.aColumn,
    b: terms * of.bRow,
    weights: terms,
    out: out.length,
    totalDepth: depth,
  };
  dispatchProduct(recorder, a, b, partial, { ...of, depth: terms, alpha: 1, beta: 0, stack });
  const total = new GpuTensor(recorder.allocate(out.length, "a product"), out.rows, out.columns, 0, false);
  columnSums(recorder, partial, total.reshape(1, out.length), undefined);
  blend(recorder, alpha, total, beta, out, out);
  recorder.release(block);
  recorder.release(total.block);
}

/** out = beta out + alpha A B, each transposed on request. */
export function gemm(
  recorder: Recorder,
  a: GpuTensor,
  b: GpuTensor,
  out: GpuTensor,
  options: ProductOptions,
): void {
  const { transposeA = false, transposeB = false } = options;
  const alpha = finiteNumber("alpha", options.alpha ?? 1);
  const beta = finiteNumber("beta", options.beta ?? 0);
  const [rows, depth] = transposeA ? [a.columns, a.rows] : [a.rows, a.columns];
  const [found, columns] = transposeB ? [b.columns, b.rows] : [b.rows, b.columns];
  if (found !== depth)
    throw new ArgumentError("b", `found ${found} ${transposeB ? "columns" : "rows"}, expected ${depth}`);
  hasShape("out", out, rows, columns);
  apart("out", out, { a, b });
  const [aRow, aColumn] = transposeA ? [1, a.columns] : [a.columns, 1];
  const [bRow, bColumn] = transposeB ? [1, b.columns] : [b.columns, 1];
  const of = { columns, depth, alpha, beta, aRow, aColumn, bRow, bColumn };
  if (transposeA) product(recorder, a, b, out, { rows, ...of });
  else
    overRows(recorder, { a, out }, (part) =>
      product(recorder, part.a, b, part.out, { rows: part.out.rows, ...of }),
    );
}

/** out = beta out + alpha A diag(w) A', or A' diag(w) A. */
export function syrk(
  recorder: Recorder,
  a: GpuTensor,
  out: GpuTensor,
  options: { transpose?: boolean; alpha?: number; beta?: number; weights: GpuTensor | undefined },
): void {
  const { transpose = false, weights } = options;
  const alpha = finiteNumber("alpha", options.alpha ?? 1);
  const beta = finiteNumber("beta", options.beta ?? 0);
  const [size, depth] = transpose ? [a.columns, a.rows] : [a.rows, a.columns];
  hasShape("out", out, size, size);
  if (weights) isVector("weights", weights, depth);
  apart("out", out, { a, weights });
  const [row, column] = transpose ? [1, a.columns] : [a.columns, 1];
  const strides = { aRow: row, aColumn: column, bRow: column, bColumn: row };
  product(recorder, a, a, out, {
    rows: size,
    columns: size,
    depth,
    alpha,
    beta,
    ...strides,
    symmetric: true,
    weights,
  });
}

const COMBINATIONS = { add: 0, subtract: 1, multiply: 2, divide: 3 } as const;

/** out = x op y; y may be a row, a column or one value for all. */
export function combine(
  recorder: Recorder,
  op: keyof typeof COMBINATIONS,
  x: GpuTensor,
  y: GpuTensor,
  out: GpuTensor,
): void {
  const { rows, columns } = x;
  hasShape("out", out, rows, columns);
  const fits = (y.rows === rows || y.rows === 1) && (y.columns === columns || y.columns === 1);
  if (!fits)
    throw new ArgumentError(
      "y",
      `found ${y.rows} x ${y.columns}, expected ${rows} x ${columns}, a row, a column or one value`,
    );
  const operation = COMBINATIONS[op];
  const yRow = y.rows === 1 && rows !== 1 ? 0 : y.columns;
  const yColumn = y.columns === 1 && columns !== 1 ? 0 : 1;
  overRows(recorder, { x, y, out }, (part) => {
    const grid = recorder.grid(part.out.length, recorder.constant("combine", "SIZE"));
    recorder.run("combine", grid, part, { rows: part.out.rows, columns, operation, yRow, yColumn });
  });
}

/** out = alpha x + beta y */
export function blend(
  recorder: Recorder,
  alpha: number,
  x: GpuTensor,
  beta: number,
  y: GpuTensor,
  out: GpuTensor,
): void {
  finiteNumber("alpha", alpha);
  finiteNumber("beta", beta);
  hasShape("y", y, x.rows, x.columns);
  hasShape("out", out, x.rows, x.columns);
  overRows(recorder, { x, y, out }, (part) => {
    const count = part.out.length;
    const grid = recorder.grid(count, recorder.constant("blend", "SIZE"));
    recorder.run("blend", grid, part, { count, alpha, beta });
  });
}

const MAPS = { exp: 0, log: 1, square: 2, reciprocal: 3 } as const;

/** out = f(x) */
export function map(recorder: Recorder, op: keyof typeof MAPS, x: GpuTensor, out: GpuTensor): void {
  hasShape("out", out, x.rows, x.columns);
  overRows(recorder, { x, out }, (part) => {
    const count = part.out.length;
    const grid = recorder.grid(count, recorder.constant("map", "SIZE"));
    recorder.run("map", grid, part, { count, operation: MAPS[op] });
  });
}

export function fill(recorder: Recorder, out: GpuTensor, value: number): void {
  finiteNumber("value", value);
  overRows(recorder, { out }, (part) => {
    const count = part.out.length;
    recorder.run("fill", recorder.grid(count, recorder.constant("fill", "SIZE")), part, { count, value });
  });
}

/** Terms that are worth an invocation of their own. */
const TERMS_A_LANE = 8;

/** out_i = sum_j x_ij y_ij; y may be a row. */
export function rowSums(recorder: Recorder, x: GpuTensor, out: GpuTensor, y: GpuTensor | undefined): void {
  if (y) hasShape("y", y, y.rows === 1 ? 1 : x.rows, x.columns);
  isVector("out", out, x.rows);
  const size = recorder.constant("rowSums", "SIZE");
  let lanes = 1;
  while (lanes < size && lanes * TERMS_A_LANE < x.columns) lanes *= 2;
  const { columns } = x;
  const yRow = y === undefined || y.rows === 1 ? 0 : y.columns;
  overRows(recorder, { x, y, out: out.reshape(x.rows, 1) }, (part) => {
    const { rows } = part.x;
    const grid = recorder.grid(rows, size / lanes);
    recorder.run("rowSums", grid, part, { rows, columns, lanes, weighted: y ? 1 : 0, yRow });
  });
}

/** out_j = sum_i x_ij y_ij; y may be a column. */
export function columnSums(recorder: Recorder, x: GpuTensor, out: GpuTensor, y: GpuTensor | undefined): void {
  if (y) hasShape("y", y, x.rows, y.columns === 1 ? 1 : x.columns);
  isVector("out", out, x.columns);
  recorder.run(
    "columnSums",
    recorder.grid(x.columns, recorder.constant("columnSums", "STRIP")),
    { x, y, out },
    {
      rows: x.rows,
      columns: x.columns,
      weighted: y ? 1 : 0,
      yRow: y?.columns ?? 0,
      yColumn: y?.columns === 1 ? 0 : 1,
    },
  );
}

/** out = x' */
export function transpose(recorder: Recorder, x: GpuTensor, out: GpuTensor): void {
  hasShape("out", out, x.columns, x.rows);
  apart("out", out, { x });
  const tile = recorder.constant("transpose", "TILE");
  const grid = [Math.ceil(x.columns / tile), Math.ceil(x.rows / tile), 1] as const;
  recorder.run("transpose", grid, { x, out }, { rows: x.rows, columns: x.columns });
}

export function diagonal(recorder: Recorder, x: GpuTensor, out: GpuTensor): void {
  const size = isSquare("x", x);
  isVector("out", out, size);
  const grid = recorder.grid(size, recorder.constant("diagonal", "SIZE"));
  recorder.run("diagonal", grid, { x, out }, { size });
}

export function addDiagonal(recorder: Recorder, out: GpuTensor, values: GpuTensor): void {
  const size = isSquare("x", out);
  isVector("values", values, size);
  const grid = recorder.grid(size, recorder.constant("addDiagonal", "SIZE"));
  recorder.run("addDiagonal", grid, { x: values, out }, { size });
}

/** out_i = x[rows[i]] */
export function gatherRows(recorder: Recorder, x: GpuTensor, rows: GpuIndices, out: GpuTensor): void {
  hasShape("out", out, rows.length, x.columns);
  apart("out", out, { x });
  wholeNumber("rows", rows.greatest, 0, x.rows - 1);
  const grid = recorder.grid(out.length, recorder.constant("gatherRows", "SIZE"));
  recorder.run("gatherRows", grid, { x, chosen: rows, out }, { rows: rows.length, columns: x.columns });
}

/** beta^n by repeated squaring, as the numeric core does it. */
function power(beta: number, n: number): number {
  let result = 1;
  for (let square = beta, rest = n; rest > 0; rest = Math.floor(rest / 2), square *= square) {
    if (rest % 2 === 1) result *= square;
  }
  return result;
}

/** One step up the gradient. Where the gradient is not finite nothing moves. */
export function adam(
  recorder: Recorder,
  tensors: { parameter: GpuTensor; gradient: GpuTensor; first: GpuTensor; second: GpuTensor },
  { rate, step, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 }: AdamStep,
): void {
  finiteNumber("rate", rate);
  wholeNumber("step", step, 1);
  const { rows, columns } = tensors.parameter;
  for (const [name, value] of Object.entries(tensors)) hasShape(name, value, rows, columns);
  const correction = Math.sqrt(1 - power(beta2, step));
  const constants = {
    rate: (rate * correction) / (1 - power(beta1, step)),
    beta1,
    beta2,
    rest1: 1 - beta1,
    rest2: 1 - beta2,
    epsilon: epsilon * correction,
  };
  overRows(recorder, tensors, (part) => {
    const count = part.parameter.length;
    const grid = recorder.grid(count, recorder.constant("adam", "SIZE"));
    recorder.run("adam", grid, part, { count, ...constants });
  });
}
