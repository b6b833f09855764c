// Some of the points with their labels, as a problem of its own: choices are tried on it.

import { csr } from "../core/csr.ts";
import { Scope } from "../core/matrix.ts";
import { Pattern } from "../core/pattern.ts";
import { Points } from "./points.ts";

/** Points with their labels; yours to free. */
export interface Subset {
  readonly points: Points;
  readonly labels: Pattern;
  free(): void;
}

/** Entries of the chosen rows, one after another. */
function entriesOf(
  starts: Int32Array,
  rows: readonly number[],
): { rowStart: Int32Array; places: Int32Array } {
  const rowStart = new Int32Array(rows.length + 1);
  const places: number[] = [];
  for (const [i, row] of rows.entries()) {
    for (let e = starts[row] as number; e < (starts[row + 1] as number); e++) places.push(e);
    rowStart[i + 1] = places.length;
  }
  return { rowStart, places: Int32Array.from(places) };
}

/** The points with these numbers, in this order. */
export function subsetOf(points: Points, labels: Pattern, rows: readonly number[]): Subset {
  const { core, precision, columns, start, column, value } = points.x;
  const entries = entriesOf(start.view(), rows);
  const own = entriesOf(labels.start.view(), rows);
  const pick = (from: ArrayLike<number>, places: Int32Array): Float64Array =>
    Float64Array.from(places, (place) => from[place] as number);
  const arrays = {
    rows: rows.length,
    columns,
    rowStart: entries.rowStart,
    columnIndex: pick(column.view(), entries.places),
    values: pick(value.view(), entries.places),
  };
  const lists = {
    rowStart: own.rowStart,
    labelIndex: Int32Array.from(pick(labels.column.view(), own.places)),
  };
  const squares = rows.map((row) => points.squares.view()[row] as number);
  const scope = new Scope();
  try {
    const x = scope.keep(csr(core, arrays, precision));
    return {
      points: scope.keep(new Points(x, squares)),
      labels: scope.keep(new Pattern(core, labels.columns, lists)),
      free: () => scope.free(),
    };
  } catch (error) {
    scope.free();
    throw error;
  }
}

/** `wanted` numbers of 0 ... points - 1, spread evenly; all where there are no more. */
export function spreadOver(points: number, wanted: number): number[] {
  const count = Math.min(points, wanted);
  return Array.from({ length: count }, (_, i) => Math.floor((i * points) / count));
}
