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

export interface SparseMatrix extends RowMatrix {
  readonly bytes: SparseBytes;
  /** Where the numbers of each row begin, and at the end how many there are. */
  readonly starts: Int32Array; // [rows + 1]
  /** The columns of all numbers, row after row. */
  columnsInto<A extends Uint16Array | Int32Array>(out: A): A;
  element(row: number, column: number): number;
}

/** Columns up to this many have numbers of 16 bits. */
export const SHORT_COLUMNS = 65536;

/** The matrix; whatever is wrong with its bytes is told to `refuse`. */
export function sparseMatrix(
  bytes: SparseBytes,
  rows: number,
  columns: number,
  refuse: (found: string, expected: string) => never,
): SparseMatrix {
  const { gaps, values, scale } = bytes;
  // Every row has a byte for its end.
  if (rows > gaps.length) refuse(`${gaps.length} bytes for ${rows} rows`, "at least one each");
  const starts = new Int32Array(rows + 1);
  let at = 0;
  let count = 0;
  for (let row = 0; row < rows; row++) {
    starts[row] = count;
    let column = -1;
    for (let gap = gaps[at++]; gap !== 0; gap = gaps[at++]) {
      if (gap === undefined) return refuse("a row that does not end", "a 0 behind each row");
      column += gap === STEP ? LONGEST_GAP : gap;
      if (gap !== STEP) count++;
    }
    if (column >= columns) refuse(`column ${column}`, `columns up to ${columns - 1}`);
  }
  starts[rows] = count;
  if (at !== gaps.length) refuse(`${gaps.length - at} bytes behind the last row`, "the end");
  if (count !== values.length) refuse(`${values.length} numbers for ${count} columns`, "one each");
  const columnsInto = <A extends Uint16Array | Int32Array>(out: A): A => columnsOf(gaps, out);
  /** Made when they are first needed: adding up goes twice as fast than by gaps. */
  let where: Uint16Array | Int32Array | undefined;
  const columnsAt = (): Uint16Array | Int32Array => {
    where ??= columnsInto(columns > SHORT_COLUMNS ? new Int32Array(count) : new Uint16Array(count));
    return where;
  };
  return {
    rows,
    columns,
    bytes,
    starts,
    columnsInto,
    element(row, column) {
      const places = columnsAt();
      let [low, high] = [starts[row] as number, (starts[row + 1] as number) - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((places[middle] as number) < column) low = middle + 1;
        else high = middle;
      }
      if (low !== high || places[low] !== column) return 0;
      return (values[low] as number) * (scale ? (scale[row] as number) : 1);
    },
    add(which, factors, wanted, into) {
      const places = columnsAt();
      for (let e = 0; e < wanted; e++) {
        const row = which[e] as number;
        const factor = (factors[e] as number) * (scale ? (scale[row] as number) : 1);
        addRow(places, values, starts[row] as number, starts[row + 1] as number, factor, into);
      }
    },
  };
}

function columnsOf<A extends Uint16Array | Int32Array>(gaps: Uint8Array, out: A): A {
  let column = -1;
  let count = 0;
  for (let at = 0; at < gaps.length; at++) {
    const gap = gaps[at] as number;
    if (gap === 0) column = -1;
    else if (gap === STEP) column += LONGEST_GAP;
    else {
      column += gap;
      out[count++] = column;
    }
  }
  return out;
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
    const [a, b] = [columns[i] as number, columns[i + 1] as number];
    const [c, d] = [columns[i + 2] as number, columns[i + 3] as number];
    into[a] = (into[a] as number) + factor * (values[i] as number);
    into[b] = (into[b] as number) + factor * (values[i + 1] as number);
    into[c] = (into[c] as number) + factor * (values[i + 2] as number);
    into[d] = (into[d] as number) + factor * (values[i + 3] as number);
  }
  for (; i < to; i++) {
    const column = columns[i] as number;
    into[column] = (into[column] as number) + factor * (values[i] as number);
  }
}
