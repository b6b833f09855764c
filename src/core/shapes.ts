// Checks that matrices fit together, before any memory is touched.

import { sameSize, wholeNumber } from "./check.ts";
import type { Core } from "./core.ts";
import { ArgumentError, NotFiniteError } from "./errors.ts";
import { Integers, Matrix } from "./matrix.ts";

/** Arguments by name: all alive, of one core and one precision. */
export function alike(named: Record<string, Matrix | undefined>): void {
  let first: Matrix | undefined;
  for (const [argument, value] of Object.entries(named)) {
    if (value === undefined) continue;
    if (!(value instanceof Matrix))
      throw new ArgumentError(argument, "found something else, expected a matrix");
    void value.address;
    first ??= value;
    isOf(first.core, { [argument]: value });
    if (value.precision !== first.precision) {
      throw new ArgumentError(
        argument,
        `found ${value.precision}, expected ${first.precision} as the other matrices`,
      );
    }
  }
}

/** Arguments by name: matrices or whole numbers, alive, in the memory of this core. */
export function isOf(core: Core, named: Record<string, Matrix | Integers | undefined>): void {
  for (const [argument, value] of Object.entries(named)) {
    if (value === undefined) continue;
    if (!(value instanceof Matrix || value instanceof Integers))
      throw new ArgumentError(argument, "found something else, expected whole numbers in a core");
    void value.address;
    if (value.core !== core)
      throw new ArgumentError(argument, "found memory of another core, expected the same core");
  }
}

/** Rows one after another, without gaps. */
export function isContiguous(argument: string, value: Matrix): void {
  if (!value.contiguous)
    throw new ArgumentError(argument, "found rows with gaps between them, expected a contiguous matrix");
}

/** Starts of so many lists, one after another: from 0 to `entries`, never falling. */
export function areStarts(argument: string, starts: ArrayLike<number>, lists: number, entries: number): void {
  sameSize(argument, "elements", starts.length, lists + 1);
  let before = 0;
  for (let i = 0; i <= lists; i++) {
    const start = wholeNumber(argument, starts[i] as number, before);
    if (i === 0 && start !== 0) throw new ArgumentError(argument, `found ${start} at its start, expected 0`);
    before = start;
  }
  sameSize(argument, "entries at its end", before, entries);
}

export function hasShape(argument: string, value: Matrix, rows: number, columns: number): void {
  if (value.rows !== rows || value.columns !== columns) {
    throw new ArgumentError(
      argument,
      `found ${value.rows} x ${value.columns}, expected ${rows} x ${columns}`,
    );
  }
}

export function isSquare(argument: string, value: Matrix): number {
  if (value.rows !== value.columns) {
    throw new ArgumentError(argument, `found ${value.rows} x ${value.columns}, expected a square matrix`);
  }
  return value.rows;
}

/** `count` square matrices one below the other: (count n) x n. */
export function isStack(argument: string, value: Matrix, count: number): number {
  if (count * value.columns !== value.rows) {
    throw new ArgumentError(
      argument,
      `found ${value.rows} x ${value.columns}, expected ${count} square matrices one below the other`,
    );
  }
  return value.columns;
}

/** A row or column vector of the given length, contiguous. */
export function isVector(argument: string, value: Matrix, length: number): void {
  const vector = (value.rows === 1 || (value.columns === 1 && value.stride === 1)) as boolean;
  if (!vector && value.rows * value.columns !== 0) {
    throw new ArgumentError(
      argument,
      `found ${value.rows} x ${value.columns}, expected a vector of ${length}`,
    );
  }
  sameSize(argument, "elements", value.rows * value.columns, length);
}

export function apart(argument: string, out: Matrix, inputs: Record<string, Matrix | undefined>): void {
  for (const [name, input] of Object.entries(inputs)) {
    if (input !== undefined && out.overlaps(input)) {
      throw new ArgumentError(argument, `found the same memory as ${name}, expected a matrix of its own`);
    }
  }
}

/** Finite in all its elements, or in those of its lower triangle. */
export function allFinite(argument: string, value: Matrix, part: "full" | "lower" = "full"): void {
  const kernel = value.core.kernels[value.precision];
  if (!kernel.allFinite(value.rows, value.columns, value.address, value.stride, part === "lower" ? 1 : 0)) {
    throw new NotFiniteError(argument, "found NaN or Infinity, expected finite numbers");
  }
}
