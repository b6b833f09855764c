// A matrix most of whose elements are 0, as it lies in the file: the columns of each row as gaps of a byte, and a number for each
// of them. A gap of 1 to 254 leads from one column to the next (the first counts from -1), 255 goes 254 on and has no
// number, 0 ends the row.

import type { RowMatrix } from "./matrix.ts";

/** The longest step of one byte, and the byte that says that there is no number at its end. */
export const LONGEST_GAP = 254;
const STEP = 255;

export interface SparseBytes {
  gaps: Uint8Array;
  values: Int8Array | Float32Array;
  /** Of each row, for whole numbers. */
  scale: Float32Array | undefined;
}

/** The matrix; whatever is wrong with its bytes is told to `refuse`. */
export function sparseMatrix(
  { gaps, values, scale }: SparseBytes,
  rows: number,
  columns: number,
  refuse: (found: string, expected: string) => never,
): RowMatrix {
  // Every row has a byte for its end.
  if (rows > gaps.length) refuse(`${gaps.length} bytes for ${rows} rows`, "at least one each");
  const firstGap = new Int32Array(rows);
  const firstValue = new Int32Array(rows);
  let at = 0;
  let count = 0;
  for (let row = 0; row < rows; row++) {
    firstGap[row] = at;
    firstValue[row] = count;
    let column = -1;
    for (let gap = gaps[at++]; gap !== 0; gap = gaps[at++]) {
      if (gap === undefined) return refuse("a row that does not end", "a 0 behind each row");
      column += gap === STEP ? LONGEST_GAP : gap;
      if (gap !== STEP) count++;
    }
    if (column >= columns) refuse(`column ${column}`, `columns up to ${columns - 1}`);
  }
  if (at !== gaps.length) refuse(`${gaps.length - at} bytes behind the last row`, "the end");
  if (count !== values.length) refuse(`${values.length} numbers for ${count} columns`, "one each");
  return {
    rows,
    columns,
    add(which, factors, wanted, into) {
      for (let e = 0; e < wanted; e++) {
        const row = which[e] as number;
        const factor = (factors[e] as number) * (scale ? (scale[row] as number) : 1);
        let from = firstGap[row] as number;
        let value = firstValue[row] as number;
        let column = -1;
        for (let gap = gaps[from++] as number; gap !== 0; gap = gaps[from++] as number) {
          if (gap === STEP) {
            column += LONGEST_GAP;
            continue;
          }
          column += gap;
          into[column] = (into[column] as number) + factor * (values[value++] as number);
        }
      }
    },
  };
}
