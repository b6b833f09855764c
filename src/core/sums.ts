// Sums over points in double precision, whatever the precision of the points: what is added for a point is also
// taken away again with sign -1. Lower triangles where a sum is symmetric.

import { sameSize, wholeNumber } from "./check.ts";
import { type Csr, type RowRange, rowRange } from "./csr.ts";
import { ArgumentError } from "./errors.ts";
import type { Matrix } from "./matrix.ts";
import type { Pattern } from "./pattern.ts";
import { alike, hasShape, isSquare, isVector } from "./shapes.ts";

/** 1 adds, -1 takes away. */
export type Sign = 1 | -1;

/** Of sums over a range of sparse rows. */
export interface SumOptions extends RowRange {
  sign?: Sign;
}

function isDouble(argument: string, value: Matrix): void {
  void value.address;
  if (value.precision !== "f64") throw new ArgumentError(argument, `found ${value.precision}, expected f64`);
}

/** Where the row starts of a range begin. */
const startOf = (x: { start: { address: number } }, from: number): number => x.start.address + 4 * from;

/** Of X'X. */
export interface GramOptions extends SumOptions {
  /** The row of X'X that the first row of out stands for; out has as many rows as are wanted from there on. */
  firstColumn?: number;
}

/** out += sign X'X over a range of rows, up to the diagonal: all rows of X'X, or as many as out has. */
export function addSparseGram(x: Csr, out: Matrix, options: GramOptions = {}): Matrix {
  const { from, to } = rowRange(x.rows, options);
  const first = wholeNumber("firstColumn", options.firstColumn ?? 0, 0, x.columns);
  isDouble("out", out);
  const wanted = options.firstColumn === undefined ? x.columns : Math.min(out.rows, x.columns - first);
  hasShape("out", out, wanted, x.columns);
  x.core.kernels[x.precision].addSparseGram(
    options.sign ?? 1,
    to - from,
    startOf(x, from),
    x.column.address,
    x.value.address,
    first,
    out.rows,
    out.address,
    out.stride,
  );
  return out;
}

/** out += sign X'B, X a range of sparse rows or of lists (whose entries count 1), B dense with a row for each. */
export function addTransposeTimes(
  x: Csr | Pattern,
  b: Matrix,
  out: Matrix,
  options: SumOptions = {},
): Matrix {
  const { from, to } = rowRange(x.rows, options);
  const values = "value" in x ? x.value : undefined;
  alike({ b, x: values });
  isDouble("out", out);
  sameSize("b", "rows", b.rows, to - from);
  hasShape("out", out, x.columns, b.columns);
  b.core.kernels[b.precision].addTransposeTimes(
    options.sign ?? 1,
    to - from,
    startOf(x, from),
    x.column.address,
    values?.address ?? 0,
    b.columns,
    b.address,
    b.stride,
    out.address,
    out.stride,
  );
  return out;
}

/** out += sign Y'X over a range of rows: for each label the sum of the sparse rows that have it. */
export function addLabelSums(labels: Pattern, x: Csr, out: Matrix, options: SumOptions = {}): Matrix {
  sameSize("labels", "rows", labels.rows, x.rows);
  const { from, to } = rowRange(x.rows, options);
  isDouble("out", out);
  hasShape("out", out, labels.columns, x.columns);
  x.core.kernels[x.precision].addLabelSums(
    options.sign ?? 1,
    to - from,
    startOf(labels, from),
    labels.column.address,
    startOf(x, from),
    x.column.address,
    x.value.address,
    x.columns,
    out.address,
    out.stride,
  );
  return out;
}

/** out += sign X, all of it or its lower triangle. */
export function addMatrix(
  x: Matrix,
  out: Matrix,
  options: { sign?: Sign; part?: "full" | "lower" } = {},
): Matrix {
  isDouble("out", out);
  hasShape("out", out, x.rows, x.columns);
  const lower = options.part === "lower" && isSquare("x", x) >= 0;
  x.core.kernels[x.precision].addMatrix(
    options.sign ?? 1,
    x.rows,
    x.columns,
    x.address,
    x.stride,
    out.address,
    out.stride,
    lower ? 1 : 0,
  );
  return out;
}

/** out += sign times the column sums of a dense matrix, or of a range of sparse rows. */
export function addColumnSums(x: Matrix | Csr, out: Matrix, options: SumOptions = {}): Matrix {
  isDouble("out", out);
  isVector("out", out, x.columns);
  const { from, to } = rowRange(x.rows, options);
  const sign = options.sign ?? 1;
  const kernel = x.core.kernels[x.precision];
  if ("stride" in x) {
    const rows = x.rowRange(from, to);
    kernel.addColumnSums(sign, rows.rows, x.columns, rows.address, x.stride, out.address);
  } else {
    const starts = x.start.view();
    const [begin, end] = [starts[from] as number, starts[to] as number];
    kernel.addEntrySums(sign, begin, end, x.column.address, x.value.address, out.address);
  }
  return out;
}

/** out_i = x_i' C x_i for a range of sparse rows, from the lower triangle of C; summed in double precision. */
export function sparseQuadratic(x: Csr, c: Matrix, out: Matrix, range: RowRange = {}): Matrix {
  const { from, to } = rowRange(x.rows, range);
  alike({ x: x.value, c, out });
  hasShape("c", c, x.columns, x.columns);
  isVector("out", out, to - from);
  x.core.kernels[x.precision].sparseQuadratic(
    to - from,
    startOf(x, from),
    x.column.address,
    x.value.address,
    c.address,
    c.stride,
    out.address,
  );
  return out;
}
