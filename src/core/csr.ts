// Sparse matrices by rows, and what is computed with them.

import { sameSize, wholeNumber } from "../base/check.ts";
import { ArgumentError, NotFiniteError } from "../base/errors.ts";
import { type SparseRows, selectFeatures } from "../base/sparse.ts";
import type { PrecisionKernels } from "../generated/kernels.ts";
import type { Core, Precision } from "./core.ts";
import { fill } from "./dense.ts";
import { type Integers, integers, type Matrix, matrixFrom, type RealArray } from "./matrix.ts";
import { areStarts, compatible, disjoint, hasShape, inCore, isVector } from "./shapes.ts";

/** Entries of row i are columnIndex and values from rowStart[i] to rowStart[i + 1]. */
export interface CsrArrays {
  rows: number;
  columns: number;
  rowStart: ArrayLike<number>;
  columnIndex: ArrayLike<number>;
  values: ArrayLike<number>;
}

/** A sparse matrix in the memory of a core; the columns of each row rise, each stands once. */
export class Csr {
  readonly core: Core;
  readonly precision: Precision;
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  readonly start: Integers;
  readonly column: Integers;
  readonly value: Matrix;

  /** Entries of a row may come in any order; repeated ones are added up. */
  constructor(core: Core, precision: Precision, given: CsrArrays) {
    const arrays = checkArrays(given) ? given : putInOrder(given);
    this.core = core;
    this.precision = precision;
    this.rows = arrays.rows;
    this.columns = arrays.columns;
    this.nonzeros = arrays.values.length;
    this.start = integers(core, arrays.rowStart);
    this.column = integers(core, arrays.columnIndex);
    this.value = matrixFrom(core, 1, this.nonzeros, arrays.values, precision);
  }

  /** The kernels of its precision. */
  get kernels(): PrecisionKernels {
    return this.value.kernels;
  }

  /** Addresses as kernels take them: starts of the rows from one on, and columns of all entries. */
  places(from = 0): [start: number, column: number] {
    return [this.start.address + 4 * from, this.column.address];
  }

  /** The same with the values of all entries. */
  entries(from = 0): [start: number, column: number, value: number] {
    return [...this.places(from), this.value.address];
  }

  /** A copy of the rows. */
  toArrays(): SparseRows<RealArray> {
    const [rowStart, columnIndex, values] = [this.start.toArray(), this.column.toArray(), this.value.toArray()];
    return { rows: this.rows, columns: this.columns, rowStart, columnIndex, values };
  }

  free(): void {
    this.start.free();
    this.column.free();
    this.value.free();
  }

  [Symbol.dispose](): void {
    this.free();
  }
}

/** The values of a sparse matrix; refuses what is none, or was freed. */
export function valuesOf(argument: string, x: Csr): Matrix {
  if (!(x instanceof Csr)) throw new ArgumentError(argument, "found something else, expected a sparse matrix");
  inCore(x.core, { [argument]: x.start, [`${argument}.column`]: x.column });
  return x.value;
}

/** Checks the arrays and says whether every row is in order without repeats. */
function checkArrays({ rows, columns, rowStart, columnIndex, values }: CsrArrays): boolean {
  wholeNumber("rows", rows, 0);
  wholeNumber("columns", columns, 0);
  sameSize("values", "elements", values.length, columnIndex.length);
  areStarts("rowStart", rowStart, rows, columnIndex.length);
  let inOrder = true;
  for (let i = 0; i < rows; i++) {
    const begin = rowStart[i];
    const end = rowStart[i + 1];
    let previous = -1;
    for (let e = begin; e < end; e++) {
      const column = columnIndex[e];
      if (!Number.isInteger(column) || column < 0 || column >= columns)
        throw new ArgumentError(
          "columnIndex",
          `found ${column} in row ${i}, expected a whole number from 0 to ${columns - 1}`,
        );
      if (!Number.isFinite(values[e]))
        throw new NotFiniteError("values", `found ${values[e]} in row ${i}, expected a finite number`);
      if (column <= previous) inOrder = false;
      previous = column;
    }
  }
  return inOrder;
}

/** Each row sorted by column; repeated entries are added up in the order they came. */
function putInOrder({ rows, columns, rowStart, columnIndex, values }: CsrArrays): CsrArrays {
  const newStart = new Int32Array(rows + 1);
  const newColumns: number[] = [];
  const newValues: number[] = [];
  for (let i = 0; i < rows; i++) {
    const sums = new Map<number, number>();
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
      const column = columnIndex[e];
      sums.set(column, (sums.get(column) ?? 0) + values[e]);
    }
    for (const [column, sum] of [...sums].sort(([a], [b]) => a - b)) {
      newColumns.push(column);
      newValues.push(sum);
    }
    newStart[i + 1] = newColumns.length;
  }
  return { rows, columns, rowStart: newStart, columnIndex: newColumns, values: newValues };
}

/** A new sparse matrix. Entries of a row may come in any order; repeated ones are added up. */
export function csr(core: Core, arrays: CsrArrays, precision: Precision = "f32"): Csr {
  return new Csr(core, precision, arrays);
}

/** The chosen rows, in the order given; yours to free. */
export function selectRows(x: Csr, rows: Int32Array): Csr {
  return csr(x.core, selectFeatures(x.toArrays(), rows), x.precision);
}

/** Which rows of a sparse matrix: from (inclusive) to (exclusive); all of them if not given. */
export interface RowRange {
  from?: number;
  to?: number;
}

/** The range, checked against the rows there are. */
export function rowRange(rows: number, { from = 0, to = rows }: RowRange): { from: number; to: number } {
  wholeNumber("to", to, 0, rows);
  return { from: wholeNumber("from", from, 0, to), to };
}

/** Options of sums over the rows of a sparse matrix. */
export interface PartOptions extends RowRange {
  /** Add to out instead of overwriting it. */
  accumulate?: boolean;
}

/** Options of products with a sparse matrix. */
export interface SparseOptions extends PartOptions {
  /** Rows of X to take, in this order, instead of a range. */
  rows?: Integers;
}

/** How many rows a product takes, and addresses: the entries from the first on, and the chosen rows' numbers or 0. */
function productRows(x: Csr, b: Matrix, out: Matrix, { rows: chosen, ...range }: SparseOptions) {
  compatible({ x: valuesOf("x", x), b, out });
  disjoint("out", out, { b });
  inCore(x.core, { rows: chosen });
  if (chosen) {
    for (const row of chosen.view()) wholeNumber("rows", row, 0, x.rows - 1);
    return { count: chosen.length, entries: x.entries(), chosen: chosen.address };
  }
  const { from, to } = rowRange(x.rows, range);
  return { count: to - from, entries: x.entries(from), chosen: 0 };
}

/** out = X B, for all rows of X or for some. */
export function sparseTimes(x: Csr, b: Matrix, out: Matrix, options: SparseOptions = {}): Matrix {
  const { count, entries, chosen } = productRows(x, b, out, options);
  const { accumulate = false } = options;
  sameSize("b", "rows", b.rows, x.columns);
  hasShape({ out }, count, b.columns);
  x.kernels.sparseTimes(count, ...entries, chosen, b.columns, ...b.strided, accumulate, ...out.strided);
  return out;
}

/** out = X' B, for all rows of X or for some; B has a row for each of them. */
export function sparseTransposeTimes(x: Csr, b: Matrix, out: Matrix, options: SparseOptions = {}): Matrix {
  const { count, entries, chosen } = productRows(x, b, out, options);
  sameSize("b", "rows", b.rows, count);
  hasShape({ out }, x.columns, b.columns);
  if (!options.accumulate) fill(out, 0);
  x.kernels.sparseTransposeTimes(count, ...entries, chosen, b.columns, ...b.strided, ...out.strided);
  return out;
}

/** out = X' (X B), without the product in between, for all rows of X or for some. */
export function gramTimes(x: Csr, b: Matrix, out: Matrix, options: PartOptions = {}): Matrix {
  const { count, entries } = productRows(x, b, out, options);
  sameSize("b", "rows", b.rows, x.columns);
  hasShape({ out }, x.columns, b.columns);
  if (!options.accumulate) fill(out, 0);
  x.kernels.sparseGramTimes(count, ...entries, b.columns, ...b.strided, ...out.strided);
  return out;
}

/** out = X' X, dense, for all rows of X or for some. */
export function gram(x: Csr, out: Matrix, options: PartOptions = {}): Matrix {
  compatible({ x: valuesOf("x", x), out });
  hasShape({ out }, x.columns, x.columns);
  const { from, to } = rowRange(x.rows, options);
  if (!options.accumulate) fill(out, 0);
  x.kernels.sparseGram(to - from, x.columns, ...x.entries(from), ...out.strided);
  return out;
}

/** out_i = squared length of row i. */
export function rowSquares(x: Csr, out: Matrix): Matrix {
  compatible({ x: valuesOf("x", x), out });
  isVector("out", out, x.rows);
  x.kernels.sparseRowSquares(x.rows, x.start.address, x.value.address, out.address);
  return out;
}

/** Row i of X times factors[i], in place. */
export function scaleRows(x: Csr, factors: Matrix): Csr {
  compatible({ x: valuesOf("x", x), factors });
  isVector("factors", factors, x.rows);
  x.kernels.sparseScaleRows(x.rows, x.start.address, x.value.address, factors.address);
  return x;
}
