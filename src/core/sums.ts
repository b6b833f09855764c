// Sums over points in double precision, whatever the precision of the points: what is added for a point is also
// taken away again with sign -1. Lower triangles where a sum is symmetric.

import { oneOf, sameSize, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import type { Core } from "./core.ts";
import { Csr, type RowRange, rowRange, valuesOf } from "./csr.ts";
import type { Matrix } from "./matrix.ts";
import { isPattern, type Pattern } from "./pattern.ts";
import { compatible, hasShape, inCore, isSquare, isVector } from "./shapes.ts";

/** 1 adds, -1 takes away. */
export type Sign = 1 | -1;

/** Options of sums over a range of sparse rows. */
export interface SumOptions extends RowRange {
  sign?: Sign;
}

/** In double precision, in the memory of this core. */
function isDouble(argument: string, value: Matrix, core: Core): void {
  compatible({ [argument]: value });
  inCore(core, { [argument]: value });
  if (value.precision !== "f64") throw new ArgumentError(argument, `found ${value.precision}, expected f64`);
}

function signOf({ sign = 1 }: { sign?: Sign }): Sign {
  if (sign === 1 || sign === -1) return sign;
  throw new ArgumentError("sign", `found ${String(sign)}, expected 1 or -1`);
}

/** Options of X'X. */
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
  hasShape({ out }, wanted, x.columns);
  const sign = signOf(options);
  x.kernels.addSparseGram(sign, to - from, ...x.entries(from), first, out.rows, ...out.strided);
  return out;
}

/** out += sign X'B, X a range of sparse rows or of lists (whose entries count 1), B dense with a row for each. */
export function addTransposeTimes(x: Csr | Pattern, b: Matrix, out: Matrix, options: SumOptions = {}): Matrix {
  const { from, to } = rowRange(x.rows, options);
  compatible({ b });
  if (x instanceof Csr) compatible({ b, x: valuesOf("x", x) });
  else isPattern("x", x, b.core);
  isDouble("out", out, b.core);
  sameSize("b", "rows", b.rows, to - from);
  hasShape({ out }, x.columns, b.columns);
  const [sign, values] = [signOf(options), x instanceof Csr ? x.value.address : 0];
  const entries = [...x.places(from), values] as const;
  b.kernels.addTransposeTimes(sign, to - from, ...entries, b.columns, ...b.strided, ...out.strided);
  return out;
}

/** out += sign Y'X over a range of rows: for each label the sum of the sparse rows that have it. */
export function addLabelSums(labels: Pattern, x: Csr, out: Matrix, options: SumOptions = {}): Matrix {
  valuesOf("x", x);
  isPattern("labels", labels, x.core);
  sameSize("labels", "rows", labels.rows, x.rows);
  const { from, to } = rowRange(x.rows, options);
  isDouble("out", out, x.core);
  hasShape({ out }, labels.columns, x.columns);
  const [sign, lists, entries] = [signOf(options), labels.places(from), x.entries(from)];
  x.kernels.addLabelSums(sign, to - from, ...lists, ...entries, x.columns, ...out.strided);
  return out;
}

/** out += sign X, all of it or its lower triangle. */
export function addMatrix(x: Matrix, out: Matrix, options: { sign?: Sign; part?: "full" | "lower" } = {}): Matrix {
  compatible({ x });
  oneOf("part", options.part ?? "full", ["full", "lower"]);
  isDouble("out", out, x.core);
  hasShape({ out }, x.rows, x.columns);
  const lower = options.part === "lower" && isSquare("x", x) >= 0;
  x.kernels.addMatrix(signOf(options), x.rows, x.columns, ...x.strided, ...out.strided, lower ? 1 : 0);
  return out;
}

/** out += sign times the column sums of a dense matrix, or of a range of sparse rows. */
export function addColumnSums(x: Matrix | Csr, out: Matrix, options: SumOptions = {}): Matrix {
  compatible({ x: x instanceof Csr ? valuesOf("x", x) : x });
  isDouble("out", out, x.core);
  isVector("out", out, x.columns);
  const { from, to } = rowRange(x.rows, options);
  const sign = signOf(options);
  if (x instanceof Csr) {
    const starts = x.start.view();
    x.kernels.addEntrySums(sign, starts[from], starts[to], x.column.address, x.value.address, out.address);
  } else x.kernels.addColumnSums(sign, to - from, x.columns, ...x.rowRange(from, to).strided, out.address);
  return out;
}

/** out_i = x_i' C x_i for a range of sparse rows, from the lower triangle of C; summed in double precision. */
export function sparseQuadratic(x: Csr, c: Matrix, out: Matrix, range: RowRange = {}): Matrix {
  const { from, to } = rowRange(x.rows, range);
  compatible({ x: valuesOf("x", x), c, out });
  hasShape({ c }, x.columns, x.columns);
  isVector("out", out, to - from);
  x.kernels.sparseQuadratic(to - from, ...x.entries(from), ...c.strided, out.address);
  return out;
}
