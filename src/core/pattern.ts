// Places in a rows x columns matrix where there is something, and products with values at those places.

import { wholeNumber } from "./check.ts";
import type { Core } from "./core.ts";
import { ArgumentError } from "./errors.ts";
import { type Integers, integers, type Matrix } from "./matrix.ts";
import { alike, apart, areStarts, hasShape, isOf, isVector } from "./shapes.ts";

/** Which columns count in each row: entries rowStart[i] to rowStart[i + 1] of labelIndex. */
export interface Lists {
  rowStart: Int32Array;
  labelIndex: Int32Array;
}

/** Lists of columns in the memory of a core. */
export class Pattern {
  readonly rows: number;
  readonly columns: number;
  readonly entries: number;
  readonly start: Integers;
  readonly column: Integers;

  constructor(core: Core, columns: number, { rowStart, labelIndex }: Lists) {
    this.rows = wholeNumber("rowStart", rowStart.length - 1, 0);
    this.columns = wholeNumber("columns", columns, 0);
    this.entries = labelIndex.length;
    areStarts("rowStart", rowStart, this.rows, this.entries);
    for (const label of labelIndex) wholeNumber("labelIndex", label, 0, columns - 1);
    this.start = integers(core, rowStart);
    this.column = integers(core, labelIndex);
  }

  free(): void {
    this.start.free();
    this.column.free();
  }
}

/** Refuses what is no pattern, or one of another core. */
export function isPattern(argument: string, value: Pattern, core: Core): void {
  if (!(value instanceof Pattern))
    throw new ArgumentError(argument, "found something else, expected a pattern");
  isOf(core, { [argument]: value.start, [`${argument}.column`]: value.column });
}

/** out_e = a_i . b_k for each entry e = (i, k). */
export function sampledProducts(pattern: Pattern, a: Matrix, b: Matrix, out: Matrix): Matrix {
  alike({ a, b, out });
  isPattern("pattern", pattern, a.core);
  apart("out", out, { a, b });
  hasShape("a", a, pattern.rows, a.columns);
  hasShape("b", b, pattern.columns, a.columns);
  isVector("out", out, pattern.entries);
  a.core.kernels[a.precision].sampledProducts(
    pattern.rows,
    pattern.start.address,
    pattern.column.address,
    a.columns,
    a.address,
    a.stride,
    b.address,
    b.stride,
    out.address,
  );
  return out;
}

/** Where the entries of a sparse matrix stand. */
export interface Entries {
  rows: number;
  start: { readonly address: number };
  column: Integers;
}

/** out = V B (or += where accumulate) for all rows of V or the chosen ones. Shapes are the caller's to check. */
export function entriesTimes(
  { rows, start, column }: Entries,
  values: Matrix,
  b: Matrix,
  out: Matrix,
  chosen?: Integers,
  accumulate = false,
): Matrix {
  b.core.kernels[b.precision].sparseTimes(
    chosen?.length ?? rows,
    start.address,
    column.address,
    values.address,
    chosen?.address ?? 0,
    b.columns,
    b.address,
    b.stride,
    accumulate,
    out.address,
    out.stride,
  );
  return out;
}

/** out += V' B over all rows of V or the chosen ones. Shapes are the caller's to check. */
export function entriesTransposeTimes(
  { rows, start, column }: Entries,
  values: Matrix,
  b: Matrix,
  out: Matrix,
  chosen?: Integers,
): Matrix {
  b.core.kernels[b.precision].sparseTransposeTimes(
    chosen?.length ?? rows,
    start.address,
    column.address,
    values.address,
    chosen?.address ?? 0,
    b.columns,
    b.address,
    b.stride,
    out.address,
    out.stride,
  );
  return out;
}

/** out = V B, V having the values at the entries. */
export function patternTimes(pattern: Pattern, values: Matrix, b: Matrix, out: Matrix): Matrix {
  alike({ values, b, out });
  isPattern("pattern", pattern, b.core);
  apart("out", out, { values, b });
  isVector("values", values, pattern.entries);
  hasShape("b", b, pattern.columns, b.columns);
  hasShape("out", out, pattern.rows, b.columns);
  return entriesTimes(pattern, values, b, out);
}

/** out += V' B, V having the values at the entries. */
export function patternTransposeTimes(pattern: Pattern, values: Matrix, b: Matrix, out: Matrix): Matrix {
  alike({ values, b, out });
  isPattern("pattern", pattern, b.core);
  apart("out", out, { values, b });
  isVector("values", values, pattern.entries);
  hasShape("b", b, pattern.rows, b.columns);
  hasShape("out", out, pattern.columns, b.columns);
  return entriesTransposeTimes(pattern, values, b, out);
}
