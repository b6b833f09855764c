// Places in a rows x columns matrix where there is something, and products with values at those places.

import { wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import type { Core } from "./core.ts";
import { type Integers, integers, type Matrix } from "./matrix.ts";
import { areStarts, compatible, disjoint, hasShape, inCore, isVector } from "./shapes.ts";

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

  /** Addresses as kernels take them: starts of the rows from one on, columns of all entries. */
  places(from = 0): [start: number, column: number] {
    return [this.start.address + 4 * from, this.column.address];
  }

  free(): void {
    this.start.free();
    this.column.free();
  }
}

/** Refuses what is no pattern, or one of another core. */
export function isPattern(argument: string, value: Pattern, core: Core): void {
  if (!(value instanceof Pattern)) throw new ArgumentError(argument, "found something else, expected a pattern");
  inCore(core, { [argument]: value.start, [`${argument}.column`]: value.column });
}

/** out_e = a_i . b_k for each entry e = (i, k). */
export function sampledProducts(pattern: Pattern, a: Matrix, b: Matrix, out: Matrix): Matrix {
  compatible({ a, b, out });
  isPattern("pattern", pattern, a.core);
  disjoint("out", out, { a, b });
  hasShape({ a }, pattern.rows, a.columns);
  hasShape({ b }, pattern.columns, a.columns);
  isVector("out", out, pattern.entries);
  const { rows } = pattern;
  a.kernels.sampledProducts(rows, ...pattern.places(), a.columns, ...a.strided, ...b.strided, out.address);
  return out;
}

function checkProduct(pattern: Pattern, values: Matrix, b: Matrix, out: Matrix): void {
  compatible({ values, b, out });
  isPattern("pattern", pattern, b.core);
  disjoint("out", out, { values, b });
  isVector("values", values, pattern.entries);
}

/** out = V B, V having the values at the entries. */
export function patternTimes(pattern: Pattern, values: Matrix, b: Matrix, out: Matrix): Matrix {
  checkProduct(pattern, values, b, out);
  const { rows, columns } = pattern;
  hasShape({ b }, columns, b.columns);
  hasShape({ out }, rows, b.columns);
  const entries = [...pattern.places(), values.address] as const;
  b.kernels.sparseTimes(rows, ...entries, 0, b.columns, ...b.strided, false, ...out.strided);
  return out;
}

/** out += V' B, V having the values at the entries. */
export function patternTransposeTimes(pattern: Pattern, values: Matrix, b: Matrix, out: Matrix): Matrix {
  checkProduct(pattern, values, b, out);
  const { rows, columns } = pattern;
  hasShape({ b }, rows, b.columns);
  hasShape({ out }, columns, b.columns);
  const entries = [...pattern.places(), values.address] as const;
  b.kernels.sparseTransposeTimes(rows, ...entries, 0, b.columns, ...b.strided, ...out.strided);
  return out;
}
