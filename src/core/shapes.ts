// Checks that matrices fit together, before any memory is touched. Tensors of a GPU have the same checks of their shapes.

import { finiteNumber, sameSize, wholeNumber } from "../base/check.ts";
import { ArgumentError, NotFiniteError } from "../base/errors.ts";
import type { Core } from "./core.ts";
import { Integers, Matrix } from "./matrix.ts";

/** A matrix of any kind; `contiguous` where its rows may have gaps between them. */
interface Shape {
  readonly rows: number;
  readonly columns: number;
  readonly contiguous?: boolean;
}

const sizeOf = ({ rows, columns }: Shape): string => `${rows} x ${columns}`;

/** Arguments by name: all alive, of one core and one precision. */
export function compatible(named: Record<string, Matrix | undefined>): void {
  let first: Matrix | undefined;
  for (const [argument, value] of Object.entries(named)) {
    if (value === undefined) continue;
    if (!(value instanceof Matrix)) throw new ArgumentError(argument, "found something else, expected a matrix");
    first ??= value;
    inCore(first.core, { [argument]: value });
    if (value.precision !== first.precision) {
      const expected = `${first.precision} as the other matrices`;
      throw new ArgumentError(argument, `found ${value.precision}, expected ${expected}`);
    }
  }
}

/** Arguments by name: matrices or whole numbers, alive, in the memory of this core. */
export function inCore(core: Core, named: Record<string, Matrix | Integers | undefined>): void {
  for (const [argument, value] of Object.entries(named)) {
    if (value === undefined) continue;
    if (!(value instanceof Matrix || value instanceof Integers))
      throw new ArgumentError(argument, "found something else, expected whole numbers in a core");
    void value.address;
    if (value.core !== core) throw new ArgumentError(argument, "found memory of another core, expected the same core");
  }
}

/** Arguments by name: rows one after another, without gaps. */
export function areContiguous(named: Record<string, Matrix>): void {
  for (const [argument, value] of Object.entries(named))
    if (!value.contiguous)
      throw new ArgumentError(argument, "found rows with gaps between them, expected a contiguous matrix");
}

/** Starts of so many lists, one after another: from 0 to `entries`, never falling. */
export function areStarts(argument: string, starts: ArrayLike<number>, lists: number, entries: number): void {
  sameSize(argument, "elements", starts.length, lists + 1);
  let before = 0;
  for (let i = 0; i <= lists; i++) {
    const start = wholeNumber(argument, starts[i], before);
    if (i === 0 && start !== 0) throw new ArgumentError(argument, `found ${start} at its start, expected 0`);
    before = start;
  }
  sameSize(argument, "entries at its end", before, entries);
}

/** Arguments by name: matrices of this shape. */
export function hasShape(named: Record<string, Shape>, rows: number, columns: number): void {
  for (const [argument, value] of Object.entries(named))
    if (value.rows !== rows || value.columns !== columns)
      throw new ArgumentError(argument, `found ${sizeOf(value)}, expected ${rows} x ${columns}`);
}

export function isSquare(argument: string, value: Shape): number {
  if (value.rows !== value.columns)
    throw new ArgumentError(argument, `found ${sizeOf(value)}, expected a square matrix`);
  return value.rows;
}

/** `count` square matrices one below the other: (count n) x n. */
export function isStack(argument: string, value: Shape, count: number): number {
  if (wholeNumber("count", count, 0) * value.columns !== value.rows) {
    const expected = `${count} square matrices one below the other`;
    throw new ArgumentError(argument, `found ${sizeOf(value)}, expected ${expected}`);
  }
  return value.columns;
}

/** A row or column vector of the given length, contiguous. */
export function isVector(argument: string, value: Shape, length: number): void {
  const vector = value.rows === 1 || (value.columns === 1 && value.contiguous !== false);
  if (!vector && value.rows * value.columns !== 0)
    throw new ArgumentError(argument, `found ${sizeOf(value)}, expected a vector of ${length}`);
  sameSize(argument, "elements", value.rows * value.columns, length);
}

/** `out` shares no memory with the others. */
export function disjoint<T extends { overlaps(other: T): boolean }>(
  argument: string,
  out: T,
  inputs: Record<string, T | undefined>,
): void {
  for (const [name, input] of Object.entries(inputs))
    if (input !== undefined && out.overlaps(input))
      throw new ArgumentError(argument, `found the same memory as ${name}, expected a matrix of its own`);
}

interface Factors<T> {
  transposeA?: boolean;
  transposeB?: boolean;
  alpha?: number;
  beta?: number;
  weights?: T | undefined;
}

/** Checks out [m,n] = beta out + alpha A diag(w) B, sums of k terms, and gives its sizes and factors. */
export function productSizes<T extends Shape & { overlaps(other: T): boolean }>(
  a: T,
  b: T,
  out: T,
  { transposeA = false, transposeB = false, alpha = 1, beta = 0, weights }: Factors<T>,
): Record<"m" | "n" | "k" | "alpha" | "beta", number> {
  finiteNumber("alpha", alpha);
  finiteNumber("beta", beta);
  const [m, k] = transposeA ? [a.columns, a.rows] : [a.rows, a.columns];
  const [depth, n] = transposeB ? [b.columns, b.rows] : [b.rows, b.columns];
  sameSize("b", transposeB ? "columns" : "rows", depth, k);
  hasShape({ out }, m, n);
  if (weights) isVector("weights", weights, k);
  disjoint("out", out, { a, b, weights });
  return { m, n, k, alpha, beta };
}

/** Finite in all its elements, or in those of its lower triangle. */
export function allFinite(argument: string, value: Matrix, part: "full" | "lower" = "full"): void {
  if (!value.kernels.allFinite(value.rows, value.columns, ...value.strided, part === "lower" ? 1 : 0))
    throw new NotFiniteError(argument, "found NaN or Infinity, expected finite numbers");
}
