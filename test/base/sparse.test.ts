// Operations on sparse rows, beside the same on dense ones.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  denseRow,
  dot,
  onColumns,
  type SparseRows,
  selectFeatures,
  selectLabels,
  sliceRows,
  squaredNorms,
  transpose,
  weighRow,
} from "../../src/base/sparse.ts";

type Dense = number[][];

const COLUMNS = 6;
const dense: fc.Arbitrary<Dense> = fc.array(
  fc.array(fc.constantFrom(0, 0, 0, 1, -2, 0.5), { minLength: COLUMNS, maxLength: COLUMNS }),
  { maxLength: 8 },
);

function sparse<V extends Float32Array | Float64Array>(rows: Dense, make: (values: number[]) => V): SparseRows<V> {
  const entries = rows.map((row) => row.flatMap((value, column) => (value === 0 ? [] : [[column, value]])));
  const rowStart = Int32Array.of(0, ...rows.map(() => 0));
  entries.forEach((own, i) => {
    rowStart[i + 1] = rowStart[i] + own.length;
  });
  const flat = entries.flat();
  return {
    rows: rows.length,
    columns: COLUMNS,
    rowStart,
    columnIndex: Int32Array.from(flat, ([column]) => column),
    values: make(flat.map(([, value]) => value)),
  };
}

const single = (values: number[]): Float32Array => Float32Array.from(values);
const double = (values: number[]): Float64Array => Float64Array.from(values);
const back = (features: SparseRows<Float32Array | Float64Array>): Dense =>
  Array.from({ length: features.rows }, (_, row) => Array.from(denseRow(features, row)));

describe("sparse rows", () => {
  test("are selected, sliced and transposed as dense ones are, in either precision", () => {
    fc.assert(
      fc.property(dense, fc.array(fc.nat(), { maxLength: 9 }), fc.nat(), fc.nat(), (rows, some, a, b) => {
        for (const make of [single, double]) {
          const features = sparse<Float32Array | Float64Array>(rows, make);
          expect(back(features)).toEqual(rows);
          const chosen = rows.length === 0 ? [] : some.map((row) => row % rows.length);
          const selected = selectFeatures(features, chosen);
          expect(back(selected)).toEqual(chosen.map((row) => rows[row]));
          expect(selected.values.constructor).toBe(features.values.constructor);
          const first = a % (rows.length + 1);
          const count = b % (rows.length - first + 1);
          expect(back(sliceRows(features, first, count))).toEqual(rows.slice(first, first + count));
          const turned = transpose(features);
          expect(turned.columns).toBe(rows.length);
          expect(back(turned)).toEqual(Array.from({ length: COLUMNS }, (_, j) => rows.map((row) => row[j])));
          const labels = { ...features, labels: COLUMNS, labelIndex: features.columnIndex };
          expect(Array.from(selectLabels(labels, chosen).rowStart)).toEqual(Array.from(selected.rowStart));
          expect(selectLabels(labels, chosen).labelIndex).toEqual(selected.columnIndex);
        }
      }),
    );
  });
  test("have norms, weighted or not, and products with dense vectors", () => {
    const vector = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: COLUMNS, maxLength: COLUMNS });
    fc.assert(
      fc.property(dense, vector, (rows, weights) => {
        const features = sparse(rows, single);
        const sum = (terms: number[]): number => terms.reduce((all, term) => all + term, 0);
        const close = (found: ArrayLike<number>, expected: number[]): void =>
          Array.from(found).forEach((value, i) => {
            expect(value).toBeCloseTo(expected[i], 10);
          });
        close(
          squaredNorms(features),
          rows.map((row) => sum(row.map((x) => x * x))),
        );
        close(
          squaredNorms(features, weights),
          rows.map((row) => sum(row.map((x, j) => weights[j] * x * x))),
        );
        close(
          rows.map((_, row) => dot(features, row, weights)),
          rows.map((row) => sum(row.map((x, j) => x * weights[j]))),
        );
      }),
    );
  });
  test("keep some of their columns", () => {
    const kept = onColumns(Int32Array.of(1, 4));
    const features = sparse(
      [
        [1, 2, 0, 0, 3, 0],
        [1, 0, 0, 0, 0, 9],
        [0, 0, 0, 0, 0, 0],
      ],
      single,
    );
    const found = kept({ ...features, columns: COLUMNS });
    expect(found.columns).toBe(2);
    expect(back(found)).toEqual([
      [2, 3],
      [0, 0],
      [0, 0],
    ]);
    expect(kept(found)).toBe(found);
  });
  test("are weighed and scaled in place, in single precision", () => {
    const columns = Int32Array.of(0, 2, 5);
    for (const values of [Float32Array.of(9, 3, 4), Float64Array.of(9, 3, 4)]) {
      weighRow(columns, values, 1, 3, Float32Array.of(7, 1, 1, 7, 7, 0.5), true);
      const length = Math.sqrt(3 * 3 + 2 * 2);
      expect(Array.from(values)).toEqual([9, Math.fround(3 * (1 / length)), Math.fround(2 * (1 / length))]);
      weighRow(columns, values, 0, 1, undefined, false);
      expect(values[0]).toBe(9);
    }
    const nothing = Float32Array.of(0);
    weighRow(Int32Array.of(0), nothing, 0, 1, undefined, true);
    expect(nothing[0]).toBe(0);
  });
  test("that are not there are refused", () => {
    expect(() => selectFeatures(sparse([[1, 0, 0, 0, 0, 0]], single), [1])).toThrow("rows: found row 1, expected a");
  });
});
