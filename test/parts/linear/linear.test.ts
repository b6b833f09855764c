// The rows that a linear part learns from, beside those of each row by itself.

import { expect, test } from "vitest";
import type { SparseRows } from "../../../src/base/sparse.ts";
import { transformedRows } from "../../../src/data/transform.ts";
import { GRID, linearRows } from "../../../src/parts/linear/fit.ts";
import { randomNumbers } from "../../support/numbers.ts";

const ROWS = 20_000;
const features: SparseRows = {
  rows: ROWS,
  columns: 9,
  rowStart: Int32Array.from({ length: ROWS + 1 }, (_, i) => 3 * i),
  columnIndex: Int32Array.from({ length: 3 * ROWS }, (_, e) => (e % 3) * 3 + (Math.floor(e / 3) % 3)),
  values: Float32Array.from(randomNumbers(3 * ROWS, 1)),
};
const columns = Int32Array.of(0, 4, 5, 8);

test.each([true, false])("with rows of unit length: %s", (normalise) => {
  const transform = { normalise, columnWeights: Float32Array.from({ length: 9 }, (_, j) => 1 + j / 7) };
  const found = linearRows(features, { transform }, columns);
  expect(found.columns).toBe(columns.length);
  for (let i = 0; i < ROWS; i += 17) {
    const row = transformedRows(features, transform, i, 1);
    const wanted: [number, number][] = [];
    row.columnIndex.forEach((column, e) => {
      const value = row.values[e];
      if (columns.includes(column))
        wanted.push([columns.indexOf(column), normalise ? Math.round(value * GRID) / GRID : value]);
    });
    const [begin, end] = [found.rowStart[i], found.rowStart[i + 1]];
    const own = Array.from({ length: end - begin }, (_, e) => [found.columnIndex[begin + e], found.values[begin + e]]);
    expect(own).toEqual(wanted);
  }
});
