// Dense algebra: products, maps, reductions, the steps of Adam. backend.ts says what the operations are.

import { finiteNumber, wholeNumber } from "../../base/check.ts";
import { correctedStep } from "../../core/adam.ts";
import { broadcast } from "../../core/dense.ts";
import { disjoint, hasShape, isSquare, isVector, productSizes } from "../../core/shapes.ts";
import type { Operation, Recorder } from "./recorder.ts";
import { GpuTensor } from "./tensors.ts";

/**
 * Runs an operation over rows of these tensors: all of them at once, or where one is larger than the device can bind,
 * block by block. Tensors of one row, where others have more, stay whole.
 */
function overRows<T extends Record<string, GpuTensor | undefined>>(
  gpu: Recorder,
  tensors: T,
  run: (tensors: T) => void,
): void {
  const given = Object.values(tensors).filter((tensor) => tensor !== undefined);
  const widest = Math.max(1, ...given.map(({ columns }) => columns));
  const rows = Math.max(...given.map((tensor) => tensor.rows));
  // A block's first element need not be where a binding may begin.
  const most = Math.floor(gpu.mostBound / 4) - 64;
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

/** A product; strides are those of A and B as they are multiplied. */
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
  stack?: Record<"count" | "aStack" | "bStack" | "weightsStack" | "outStack" | "totalDepth", number>;
  triangle?: boolean;
}

function dispatchProduct(gpu: Recorder, a: GpuTensor, b: GpuTensor, out: GpuTensor, of: Product): void {
  const { symmetric = false, weights, stack, triangle = false, ...sizes } = of;
  const tile = gpu.constant("gemm", "TILE");
  const one = { count: 1, aStack: 0, bStack: 0, weightsStack: 0, outStack: 0, totalDepth: of.depth };
  const { count, ...strides } = stack ?? one;
  gpu.run(
    "gemm",
    [Math.ceil(of.columns / tile), Math.ceil(of.rows / tile), count],
    { a, b, weights, out },
    {
      ...sizes,
      ...strides,
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

function partsOf(gpu: Recorder, { rows, columns, depth, stack }: Product): number {
  const tile = gpu.constant("gemm", "TILE");
  const tiles = Math.ceil(rows / tile) * Math.ceil(columns / tile);
  if (stack || tiles === 0) return 1;
  return Math.min(MOST_PARTS, Math.ceil(ENOUGH_TILES / tiles), Math.floor(depth / TERMS_A_PART));
}

/** out = beta out + alpha A diag(w) B. */
export function product(gpu: Recorder, a: GpuTensor, b: GpuTensor, out: GpuTensor, of: Product): void {
  const parts = partsOf(gpu, of);
  if (parts <= 1) {
    dispatchProduct(gpu, a, b, out, of);
    return;
  }
  const { alpha, beta, depth } = of;
  const terms = Math.ceil(depth / parts);
  const count = Math.ceil(depth / terms);
  const block = gpu.allocate(count * out.length, "parts of a product");
  const partial = new GpuTensor(block, count, out.length, 0, false);
  const [aStack, bStack] = [terms * of.aColumn, terms * of.bRow];
  const stack = { count, aStack, bStack, weightsStack: terms, outStack: out.length, totalDepth: depth };
  dispatchProduct(gpu, a, b, partial, { ...of, depth: terms, alpha: 1, beta: 0, stack });
  const total = new GpuTensor(gpu.allocate(out.length, "a product"), out.rows, out.columns, 0, false);
  columnSums(gpu, partial, total.reshape(1, out.length), undefined);
  blend(gpu, alpha, total, beta, out, out);
  gpu.release(block);
  gpu.release(total.block);
}

export const gemm: Operation<"gemm"> = (gpu, a, b, out, options = {}) => {
  const { transposeA = false, transposeB = false } = options;
  const { m: rows, n: columns, k: depth, alpha, beta } = productSizes(a, b, out, options);
  const [aRow, aColumn] = transposeA ? [1, a.columns] : [a.columns, 1];
  const [bRow, bColumn] = transposeB ? [1, b.columns] : [b.columns, 1];
  const of = { columns, depth, alpha, beta, aRow, aColumn, bRow, bColumn };
  if (transposeA) product(gpu, a, b, out, { rows, ...of });
  else overRows(gpu, { a, out }, (part) => product(gpu, part.a, b, part.out, { rows: part.out.rows, ...of }));
};

/** out = beta out + alpha A diag(w) A', or A' diag(w) A. */
export const syrk: Operation<"syrk"> = (gpu, a, out, options = {}) => {
  const { transpose = false, weights } = options;
  const transposes = { transposeA: transpose, transposeB: !transpose };
  const { m: size, k: depth, alpha, beta } = productSizes(a, a, out, { ...options, ...transposes });
  const [row, column] = transpose ? [1, a.columns] : [a.columns, 1];
  const of = { rows: size, columns: size, depth, alpha, beta, symmetric: true, weights };
  product(gpu, a, a, out, { ...of, aRow: row, aColumn: column, bRow: column, bColumn: row });
};

const COMBINATIONS = { add: 0, subtract: 1, multiply: 2, divide: 3 } as const;

export const combine: Operation<"combine"> = (gpu, op, x, y, out) => {
  const { columns } = x;
  hasShape({ out }, x.rows, columns);
  const operation = COMBINATIONS[op];
  const [yRow, yColumn] = broadcast(x, y, y.columns);
  overRows(gpu, { x, y, out }, (part) => {
    gpu.each("combine", part.out.length, part, { rows: part.out.rows, columns, operation, yRow, yColumn });
  });
};

export const blend: Operation<"blend"> = (gpu, alpha, x, beta, y, out) => {
  finiteNumber("alpha", alpha);
  finiteNumber("beta", beta);
  hasShape({ y, out }, x.rows, x.columns);
  overRows(gpu, { x, y, out }, (part) => {
    const count = part.out.length;
    gpu.each("blend", count, part, { count, alpha, beta });
  });
};

const MAPS = { exp: 0, log: 1, square: 2, reciprocal: 3 } as const;

export const map: Operation<"map"> = (gpu, op, x, out) => {
  hasShape({ out }, x.rows, x.columns);
  overRows(gpu, { x, out }, (part) => {
    const count = part.out.length;
    gpu.each("map", count, part, { count, operation: MAPS[op] });
  });
};

export const fill: Operation<"fill"> = (gpu, out, value) => {
  finiteNumber("value", value);
  overRows(gpu, { out }, (part) => {
    const count = part.out.length;
    gpu.each("fill", count, part, { count, value });
  });
};

/** Terms that are worth an invocation of their own. */
const TERMS_A_LANE = 8;

export const rowSums: Operation<"rowSums"> = (gpu, x, out, y) => {
  if (y) hasShape({ y }, y.rows === 1 ? 1 : x.rows, x.columns);
  isVector("out", out, x.rows);
  const size = gpu.constant("rowSums", "SIZE");
  let lanes = 1;
  while (lanes < size && lanes * TERMS_A_LANE < x.columns) lanes *= 2;
  const { columns } = x;
  const yRow = y === undefined || y.rows === 1 ? 0 : y.columns;
  overRows(gpu, { x, y, out: out.reshape(x.rows, 1) }, (part) => {
    const { rows } = part.x;
    const grid = gpu.grid(rows, size / lanes);
    gpu.run("rowSums", grid, part, { rows, columns, lanes, weighted: y ? 1 : 0, yRow });
  });
};

export const columnSums: Operation<"columnSums"> = (gpu, x, out, y) => {
  if (y) hasShape({ y }, x.rows, y.columns === 1 ? 1 : x.columns);
  isVector("out", out, x.columns);
  const { rows, columns } = x;
  const grid = gpu.grid(columns, gpu.constant("columnSums", "STRIP"));
  const strides = { yRow: y?.columns ?? 0, yColumn: y?.columns === 1 ? 0 : 1 };
  gpu.run("columnSums", grid, { x, y, out }, { rows, columns, weighted: y ? 1 : 0, ...strides });
};

export const transpose: Operation<"transpose"> = (gpu, x, out) => {
  hasShape({ out }, x.columns, x.rows);
  disjoint("out", out, { x });
  const tile = gpu.constant("transpose", "TILE");
  const grid = [Math.ceil(x.columns / tile), Math.ceil(x.rows / tile), 1] as const;
  gpu.run("transpose", grid, { x, out }, { rows: x.rows, columns: x.columns });
};

export const diagonal: Operation<"diagonal"> = (gpu, x, out) => {
  const size = isSquare("x", x);
  isVector("out", out, size);
  gpu.each("diagonal", size, { x, out }, { size });
};

export const addDiagonal: Operation<"addDiagonal"> = (gpu, out, values) => {
  const size = isSquare("x", out);
  isVector("values", values, size);
  gpu.each("addDiagonal", size, { x: values, out }, { size });
};

export const gatherRows: Operation<"gatherRows"> = (gpu, x, rows, out) => {
  hasShape({ out }, rows.length, x.columns);
  disjoint("out", out, { x });
  wholeNumber("rows", rows.greatest, 0, x.rows - 1);
  gpu.each("gatherRows", out.length, { x, chosen: rows, out }, { rows: rows.length, columns: x.columns });
};

export const adam: Operation<"adam"> = (gpu, parameter, gradient, { first, second }, options) => {
  const tensors = { parameter, gradient, first, second };
  const { rows, columns } = parameter;
  hasShape(tensors, rows, columns);
  const { length: rate, beta1, beta2, epsilon } = correctedStep(options);
  const constants = { rate, beta1, beta2, rest1: 1 - beta1, rest2: 1 - beta2, epsilon };
  overRows(gpu, tensors, (part) => {
    const count = part.parameter.length;
    gpu.each("adam", count, part, { count, ...constants });
  });
};
