// The best labels of a row beside a plain sort, where many more labels pass than are wanted.

import { describe, expect, test } from "vitest";
import { topLabels } from "../../src/base/top.ts";
import { randomNumbers } from "../support/numbers.ts";

describe("top labels", () => {
  test("agree with sorting: rising, falling, with ties, NaN and infinities", () => {
    const strange = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 1];
    const rows = [
      Float64Array.from({ length: 500 }, (_, i) => i),
      Float64Array.from({ length: 500 }, (_, i) => -i),
      Float64Array.from({ length: 500 }, (_, i) => Math.abs(250 - i)),
      Float64Array.from({ length: 500 }, (_, i) => (i * 7919) % 13),
      Float64Array.from({ length: 500 }, (_, i) => strange[(i * 31) % 5]),
      randomNumbers(500, 5),
    ];
    for (const k of [1, 2, 3, 17, 249, 250, 251, 499, 500, 501])
      for (const row of rows) {
        const of = (label: number): number => (Number.isNaN(row[label]) ? Number.NEGATIVE_INFINITY : row[label]);
        const sorted = Array.from(row.keys()).sort((a, b) => (of(a) === of(b) ? a - b : of(b) - of(a)));
        const expected = Array.from({ length: k }, (_, i) => sorted[i] ?? -1);
        expect(Array.from(topLabels(row, 1, 500, k))).toEqual(expected);
      }
  });

  // Shifting each label into its place would take a quarter of an hour.
  test("a million labels in rising order, all of them wanted, are no more than a sort", () => {
    const scores = Float64Array.from({ length: 1e6 }, (_, i) => i);
    for (const k of [1e6, 3e5])
      expect(topLabels(scores, 1, 1e6, k).every((label, i) => label === 1e6 - 1 - i)).toBe(true);
  });
});
