// What all meters share: the rows of a block, and the true labels of a row.

import type { LabelSets } from "../data/dataset.ts";

/** How many rows a block of `length` numbers has, `width` in each; they are rows of `truth` from `firstRow` on. */
export function rowsOfBlock(
  what: string,
  length: number,
  width: number,
  truth: LabelSets,
  firstRow: number,
): number {
  const rows = width > 0 ? length / width : truth.rows - firstRow;
  if (!Number.isInteger(rows) || firstRow + rows > truth.rows) {
    throw new RangeError(
      `found ${length} ${what} from row ${firstRow}, expected rows of ${width} up to ${truth.rows}`,
    );
  }
  return rows;
}

/** The true labels of a row, rising. */
export const labelsOfRow = ({ rowStart, labelIndex }: LabelSets, row: number): Int32Array =>
  labelIndex.subarray(rowStart[row], rowStart[row + 1]);

/** sums[at] += amount */
export function addAt(sums: Float64Array | Int32Array, at: number, amount: number): void {
  sums[at] = (sums[at] as number) + amount;
}

/** part / whole, or `otherwise` where there is nothing to divide by. */
export const ratio = (part: number, whole: number, otherwise = 0): number =>
  whole > 0 ? part / whole : otherwise;
