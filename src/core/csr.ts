// Sparse matrices by rows, and what is computed with them.

import { sameSize, wholeNumber } from "./check.ts";
import type { Core, Precision } from "./core.ts";
import { fill } from "./dense.ts";
import { ArgumentError, NotFiniteError } from "./errors.ts";
import { Integers, integers, type Matrix, matrix, matrixFrom, scoped } from "./matrix.ts";
import { type Entries, entriesTimes, entriesTransposeTimes } from "./pattern.ts";
import { alike, apart, areStarts, hasShape, isOf, isVector } from "./shapes.ts";

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
  if (!(x instanceof Csr))
    throw new ArgumentError(argument, "found something else, expected a sparse matrix");
  isOf(x.core, { [argument]: x.start, [`${argument}.column`]: x.column });
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
    const begin = rowStart[i] as number;
    const end = rowStart[i + 1] as number;
    let previous = -1;
    for (let e = begin; e < end; e++) {
      const column = columnIndex[e] as number;
      if (!Number.isInteger(column) || column < 0 || column >= columns) {
        throw new ArgumentError(
          "columnIndex",
          `found ${column} in row ${i}, expected a whole number from 0 to ${columns - 1}`,
        );
      }
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
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++) {
      const column = columnIndex[e] as number;
      sums.set(column, (sums.get(column) ?? 0) + (values[e] as number));
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

function checkProduct(x: Csr, b: Matrix, out: Matrix, chosen: Integers | undefined): void {
  alike({ x: valuesOf("x", x), b, out });
  apart("out", out, { b });
  isOf(x.core, { rows: chosen });
  if (chosen) for (const row of chosen.view()) wholeNumber("rows", row, 0, x.rows - 1);
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

/** Of sums over the rows of a sparse matrix. */
export interface PartOptions extends RowRange {
  /** Add to out instead of overwriting it. */
  accumulate?: boolean;
}

/** Of products with a sparse matrix. */
export interface SparseOptions extends PartOptions {
  /** Rows of X to take, in this order, instead of a range. */
  rows?: Integers;
}

/** The rows asked for as entries of their own: chosen ones are numbered among all. */
function entriesOf(x: Csr, { rows: chosen, ...range }: SparseOptions): { entries: Entries; rows: number } {
  if (chosen) return { entries: x, rows: chosen.length };
  const { from, to } = rowRange(x.rows, range);
  const start = { address: x.start.address + 4 * from };
  return { entries: { rows: to - from, start, column: x.column }, rows: to - from };
}

/** out = X B, for all rows of X or for some. */
export function sparseTimes(x: Csr, b: Matrix, out: Matrix, options: SparseOptions = {}): Matrix {
  const { rows: chosen, accumulate = false } = options;
  checkProduct(x, b, out, chosen);
  const { entries, rows } = entriesOf(x, options);
  sameSize("b", "rows", b.rows, x.columns);
  hasShape("out", out, rows, b.columns);
  return entriesTimes(entries, x.value, b, out, chosen, accumulate);
}

/** out = X' B, for all rows of X or for some; B has a row for each of them. */
export function sparseTransposeTimes(x: Csr, b: Matrix, out: Matrix, options: SparseOptions = {}): Matrix {
  const { rows: chosen, accumulate = false } = options;
  checkProduct(x, b, out, chosen);
  const { entries, rows } = entriesOf(x, options);
  sameSize("b", "rows", b.rows, rows);
  hasShape("out", out, x.columns, b.columns);
  if (!accumulate) fill(out, 0);
  return entriesTransposeTimes(entries, x.value, b, out, chosen);
}

/** out = X' (X B), without the product in between, for all rows of X or for some. */
export function gramTimes(x: Csr, b: Matrix, out: Matrix, options: PartOptions = {}): Matrix {
  checkProduct(x, b, out, undefined);
  sameSize("b", "rows", b.rows, x.columns);
  hasShape("out", out, x.columns, b.columns);
  const { entries, rows } = entriesOf(x, options);
  if (!options.accumulate) fill(out, 0);
  x.core.kernels[x.precision].sparseGramTimes(
    rows,
    entries.start.address,
    x.column.address,
    x.value.address,
    b.columns,
    b.address,
    b.stride,
    out.address,
    out.stride,
  );
  return out;
}

/** out = X' X, dense, for all rows of X or for some. */
export function gram(x: Csr, out: Matrix, options: PartOptions = {}): Matrix {
  alike({ x: valuesOf("x", x), out });
  hasShape("out", out, x.columns, x.columns);
  const { entries, rows } = entriesOf(x, options);
  if (!options.accumulate) fill(out, 0);
  x.core.kernels[x.precision].sparseGram(
    rows,
    x.columns,
    entries.start.address,
    x.column.address,
    x.value.address,
    out.address,
    out.stride,
  );
  return out;
}

/** out_i = squared length of row i. */
export function rowSquares(x: Csr, out: Matrix): Matrix {
  alike({ x: valuesOf("x", x), out });
  isVector("out", out, x.rows);
  x.core.kernels[x.precision].sparseRowSquares(x.rows, x.start.address, x.value.address, out.address);
  return out;
}

/** Row i of X times factors[i], in place. */
export function scaleRows(x: Csr, factors: Matrix): Csr {
  alike({ x: valuesOf("x", x), factors });
  isVector("factors", factors, x.rows);
  x.core.kernels[x.precision].sparseScaleRows(x.rows, x.start.address, x.value.address, factors.address);
  return x;
}

/** Column j of X times factors[j], in place. */
export function scaleColumns(x: Csr, factors: Matrix): Csr {
  alike({ x: valuesOf("x", x), factors });
  isVector("factors", factors, x.columns);
  x.core.kernels[x.precision].sparseScaleColumns(
    x.nonzeros,
    x.column.address,
    x.value.address,
    factors.address,
  );
  return x;
}

/** Of each column of a sparse matrix. */
export interface ColumnStatistics {
  sums: Float64Array;
  /** In how many rows the column is not zero. */
  documentFrequencies: Int32Array;
}

/** Sums of the columns, and in how many rows each is not zero. */
export function columnStatistics(x: Csr): ColumnStatistics {
  valuesOf("x", x);
  return scoped((scope) => {
    const sums = scope.keep(matrix(x.core, 1, x.columns, "f64"));
    const frequencies = scope.keep(new Integers(x.core, x.columns));
    x.core.kernels[x.precision].sparseColumnSums(
      x.nonzeros,
      x.column.address,
      x.value.address,
      sums.address,
      frequencies.address,
    );
    return { sums: sums.toArray() as Float64Array, documentFrequencies: frequencies.toArray() };
  });
}
