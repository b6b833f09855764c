// Drawing without replacement in proportion to sizes, so that weighted sums over what was drawn are right on average.

import { finiteNumber, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { type Matrix, matrix } from "./matrix.ts";
import { Pattern } from "./pattern.ts";
import { areContiguous, compatible, isVector } from "./shapes.ts";

/** The places drawn, rising, and for how many each counts: 1 / (its probability to be drawn). */
export interface Drawn {
  chosen: Int32Array;
  weight: Float64Array;
}

/**
 * `count` different places of `sizes`, drawn with probabilities in proportion to their sizes; those whose share would be more than
 * one are drawn for certain, and those of size 0 never. `taken` places (not 0 there) are left out. Systematic sampling: the
 * probabilities are laid end to end, and what the teeth of a comb of unit spacing meet is drawn; `start` in [0, 1) is where the
 * comb begins. Fewer than `count` are drawn where there are not so many.
 */
export function drawInProportion(
  sizes: ArrayLike<number>,
  count: number,
  start: number,
  taken: ArrayLike<number>,
): Drawn {
  wholeNumber("count", count, 0);
  finiteNumber("start", start);
  if (taken.length !== sizes.length)
    throw new ArgumentError("taken", `found ${taken.length} numbers, expected ${sizes.length}`);
  const open = openPlaces(sizes, taken);
  const room = Math.min(count, open.length);
  const { certain, unit } = shares(sizes, open, room);
  const chosen = new Int32Array(room);
  const weight = new Float64Array(room).fill(1);
  let [to, reached, tooth, last] = [0, 0, start, -1];
  for (const place of open) {
    if (to === room) break;
    const size = sizes[place];
    if (size >= certain) {
      chosen[to++] = place;
      continue;
    }
    last = place;
    reached += size / unit;
    if (reached <= tooth) continue;
    chosen[to] = place;
    weight[to++] = unit / size;
    tooth++;
  }
  // The last tooth may be missed by a rounding: it is the last place's.
  if (to < room && last >= 0 && chosen[to - 1] !== last) {
    chosen[to] = last;
    weight[to++] = unit / sizes[last];
  }
  return { chosen: chosen.subarray(0, to), weight: weight.subarray(0, to) };
}

function openPlaces(sizes: ArrayLike<number>, taken: ArrayLike<number>): Int32Array {
  const open = new Int32Array(sizes.length);
  let count = 0;
  for (let place = 0; place < sizes.length; place++) {
    const size = sizes[place];
    if (!(size >= 0 && size < Number.POSITIVE_INFINITY))
      throw new ArgumentError("sizes", `found ${size}, expected finite numbers from 0 on`);
    if (taken[place] === 0 && size > 0) open[count++] = place;
  }
  return open.subarray(0, count);
}

/** From which size on a place is drawn for certain, and the size of a probability of 1 for the others. */
function shares(sizes: ArrayLike<number>, open: Int32Array, room: number): { certain: number; unit: number } {
  let certain = Number.POSITIVE_INFINITY;
  // Every pass finds those too large beside the rest; what is left gets smaller shares, so that others may follow.
  for (;;) {
    let [rest, left] = [0, room];
    for (const place of open) {
      if (sizes[place] >= certain) left--;
      else rest += sizes[place];
    }
    const unit = left > 0 ? rest / left : Number.POSITIVE_INFINITY;
    let least = certain;
    for (const place of open) {
      const size = sizes[place];
      if (size >= unit && size < least) least = size;
    }
    if (least === certain) return { certain, unit };
    certain = least;
  }
}

/** Which columns are drawn for certain, how many in all, and a random number in [0, 1). */
export interface ColumnDraw {
  always: Int32Array;
  count: number;
  start: number;
}

/**
 * Columns of x, those that are `always` drawn and others in proportion to the absolute value of their `sizes`, times their weights.
 * Where there are many `always`, half as many as `count` are drawn all the same.
 */
export function drawColumns(
  x: Matrix,
  sizes: Matrix,
  { always, count, start }: ColumnDraw,
): { columns: Pattern; weighted: Matrix } {
  compatible({ x, sizes });
  areContiguous({ x, sizes });
  isVector("sizes", sizes, x.columns);
  const taken = new Uint8Array(x.columns);
  for (const column of always) taken[wholeNumber("always", column, 0, x.columns - 1)] = 1;
  const certain = Int32Array.from(taken.keys()).filter((column) => taken[column] === 1);
  const room = Math.max(wholeNumber("count", count, 0) - certain.length, Math.ceil(count / 2));
  const { chosen, weight } = drawInProportion(sizes.view().map(Math.abs), room, start, taken);
  const labelIndex = Int32Array.from([...certain, ...chosen]);
  const rowStart = Int32Array.from({ length: labelIndex.length + 1 }, (_, i) => i);
  const columns = new Pattern(x.core, x.columns, { rowStart, labelIndex });
  const weighted = matrix(x.core, x.rows, labelIndex.length, x.precision);
  const [from, to] = [x.view(), weighted.view()];
  const weights = Float64Array.from([...certain.map(() => 1), ...weight]);
  for (let i = 0, at = 0; i < x.rows; i++) {
    const row = i * x.columns;
    for (let j = 0; j < labelIndex.length; j++) to[at++] = from[row + labelIndex[j]] * weights[j];
  }
  return { columns, weighted };
}
