// Sums over points in double precision, whatever the precision of the points: what is added for a point is also
// taken away again with sign -1. Lower triangles where a sum is symmetric.

import { oneOf, sameSize, wholeNumber } from "./check.ts";
import type { Core } from "./core.ts";
import { Csr, type RowRange, rowRange, valuesOf } from "./csr.ts";
import { ArgumentError } from "./errors.ts";
import type { Matrix } from "./matrix.ts";
import { isPattern, type Pattern } from "./pattern.ts";
import { alike, hasShape, isOf, isSquare, isVector } from "./shapes.ts";

/** 1 adds, -1 takes away. */
export type Sign = 1 | -1;

/** Of sums over a range of sparse rows. */
export interface SumOptions extends RowRange {
  sign?: Sign;
}

/** In double precision, in the memory of this core. */
function isDouble(argument: string, value: Matrix, core: Core): void {
  alike({ [argument]: value });
  isOf(core, { [argument]: value });
  if (value.precision !== "f64") throw new ArgumentError(argument, `found ${value.precision}, expected f64`);
}

function signOf({ sign = 1 }: { sign?: Sign }): Sign {
  if (sign === 1 || sign === -1) return sign;
  throw new ArgumentError("sign", `found ${String(sign)}, expected 1 or -1`);
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
  valuesOf("x", x);
  const { from, to } = rowRange(x.rows, options);
  const first = wholeNumber("firstColumn", options.firstColumn ?? 0, 0, x.columns);
  isDouble("out", out, x.core);
  const wanted = options.firstColumn === undefined ? x.columns : Math.min(out.rows, x.columns - first);
  hasShape("out", out, wanted, x.columns);
  x.core.kernels[x.precision].addSparseGram(
    signOf(options),
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
  alike({ b });
  const values = x instanceof Csr ? valuesOf("x", x) : undefined;
  if (x instanceof Csr) alike({ b, x: values });
  else isPattern("x", x, b.core);
  isDouble("out", out, b.core);
  sameSize("b", "rows", b.rows, to - from);
  hasShape("out", out, x.columns, b.columns);
  b.core.kernels[b.precision].addTransposeTimes(
    signOf(options),
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
  valuesOf("x", x);
  isPattern("labels", labels, x.core);
  sameSize("labels", "rows", labels.rows, x.rows);
  const { from, to } = rowRange(x.rows, options);
  isDouble("out", out, x.core);
  hasShape("out", out, labels.columns, x.columns);
  x.core.kernels[x.precision].addLabelSums(
    signOf(options),
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
  alike({ x });
  oneOf("part", options.part ?? "full", ["full", "lower"]);
  isDouble("out", out, x.core);
  hasShape("out", out, x.rows, x.columns);
  const lower = options.part === "lower" && isSquare("x", x) >= 0;
  x.core.kernels[x.precision].addMatrix(
    signOf(options),
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
  alike({ x: x instanceof Csr ? valuesOf("x", x) : x });
  isDouble("out", out, x.core);
  isVector("out", out, x.columns);
  const { from, to } = rowRange(x.rows, options);
  const sign = signOf(options);
  const kernel = x.core.kernels[x.precision];
  if (!(x instanceof Csr)) {
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
  alike({ x: valuesOf("x", x), c, out });
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
