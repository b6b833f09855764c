// A matrix most of whose elements are 0, as it lies in the file: the columns of each row as gaps, and a number for each of them. A
// gap leads from one column to the next (the first counts from -1) and is a byte below 192, or two: 192 + 256 (first - 192) +
// second. The longest one leads one column less far and has no number at its end; 0 ends the row.

import type { RowMatrix } from "../parts/row.ts";

/** The first gap of two bytes, and the longest, which has no number. */
export const WIDE_GAP = 192;
export const STEP: number = WIDE_GAP + 0x3fff;

export interface SparseBytes {
  gaps: Uint8Array;
  values: Int8Array | Float32Array;
  /** Scale of each row, for whole numbers. */
  scale: Float32Array | undefined;
}

/** Columns up to this many have numbers of 16 bits. */
export const SHORT_COLUMNS = 65536;

/** The matrix; whatever is wrong with its bytes is told to `refuse`. */
export function sparseMatrix(
  { gaps, values, scale }: SparseBytes,
  rows: number,
  columns: number,
  refuse: (found: string, expected: string) => never,
): RowMatrix {
  // Every row has a byte for its end.
  if (rows > gaps.length) refuse(`${gaps.length} bytes for ${rows} rows`, "at least one each");
  // Where the numbers of each row begin, and their columns.
  const starts = new Int32Array(rows + 1);
  const places = new (columns > SHORT_COLUMNS ? Int32Array : Uint16Array)(values.length);
  let at = 0;
  let count = 0;
  for (let row = 0; row < rows; row++) {
    let column = -1;
    for (let gap = gaps[at++]; gap !== 0; gap = gaps[at++]) {
      if (gap >= WIDE_GAP) gap = WIDE_GAP + ((gap - WIDE_GAP) << 8) + gaps[at++];
      if (!(gap > 0)) return refuse("a row that does not end", "a 0 behind each row");
      column += gap;
      if (gap === STEP) column--;
      else places[count++] = column;
    }
    if (column >= columns) refuse(`column ${column}`, `columns up to ${columns - 1}`);
    starts[row + 1] = count;
  }
  if (at !== gaps.length) refuse(`${gaps.length - at} bytes behind the last row`, "the end");
  if (count !== values.length) refuse(`${values.length} numbers for ${count} columns`, "one each");
  return {
    rows,
    columns,
    add(which, factors, wanted, into) {
      for (let e = 0; e < wanted; e++) {
        const row = which[e];
        const factor = factors[e] * (scale ? scale[row] : 1);
        addRow(places, values, starts[row], starts[row + 1], factor, into);
      }
    },
  };
}

/** into[columns[i]] += factor values[i]; no column is there twice, so that four can go together. */
function addRow(
  columns: ArrayLike<number>,
  values: ArrayLike<number>,
  from: number,
  to: number,
  factor: number,
  into: Float64Array,
): void {
  let i = from;
  for (; i + 4 <= to; i += 4) {
    const [a, b] = [columns[i], columns[i + 1]];
    const [c, d] = [columns[i + 2], columns[i + 3]];
    into[a] = into[a] + factor * values[i];
    into[b] = into[b] + factor * values[i + 1];
    into[c] = into[c] + factor * values[i + 2];
    into[d] = into[d] + factor * values[i + 3];
  }
  for (; i < to; i++) {
    const column = columns[i];
    into[column] = into[column] + factor * values[i];
  }
}
