// What is held out: every point once over the folds, the part that was asked for, points with labels alone.

import { describe, expect, test } from "vitest";
import { folds, holdOut, spreadOf, validationOf } from "../../src/cli/holdout.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import { topicData } from "../support/problems.ts";

const topics = topicData({ points: 103, features: 40, labels: 12 }, 3);
/** Points are told apart by their ids; the first two have no label. */
const { labels } = topics;
const data: Dataset = {
  ...topics,
  labels: {
    ...labels,
    rowStart: labels.rowStart.map((start, row) => (row < 3 ? 0 : start - (labels.rowStart[2] as number))),
    labelIndex: labels.labelIndex.subarray(labels.rowStart[2]),
  },
  ids: Array.from({ length: 103 }, (_, i) => `${i}`),
};
const labelled = new Set((data.ids ?? []).slice(2));
const idsOf = ({ ids, features }: Dataset): string[] => {
  expect(ids?.length).toBe(features.rows);
  return [...(ids ?? [])];
};

describe("points that are held out", () => {
  test("are the part that was asked for, of those with labels", () => {
    const { kept, held } = holdOut(data, 0.1, 5);
    expect(held.features.rows).toBe(10);
    expect(new Set([...idsOf(kept), ...idsOf(held)])).toEqual(labelled);
    expect(kept.features.rows).toBe(91);
    expect(idsOf(holdOut(data, 0.1, 5).held)).toEqual(idsOf(held));
    expect(idsOf(holdOut(data, 0.1, 6).held)).not.toEqual(idsOf(held));
    expect(() => holdOut(data, 0.001, 5)).toThrow("expected enough to split");
  });

  test("are each point once over the folds", () => {
    for (const count of [2, 5, 101]) {
      const parts = [...folds(data, count, 0)];
      expect(parts.length).toBe(count);
      expect(parts.flatMap(({ held }) => idsOf(held)).sort()).toEqual([...labelled].sort());
      for (const { kept, held } of parts) {
        expect(Math.abs(held.features.rows - 101 / count)).toBeLessThan(1);
        expect(new Set([...idsOf(kept), ...idsOf(held)])).toEqual(labelled);
        expect(kept.features.rows + held.features.rows).toBe(101);
      }
    }
    expect(() => [...folds(data, 102, 0)]).toThrow("--cross-validate: found 101 points with labels");
  });

  test("are a file or a part", () => {
    expect(validationOf("test.txt")).toEqual({ file: "test.txt" });
    expect(validationOf("12.5%")).toEqual({ part: 0.125 });
    for (const wrong of ["0%", "100%", "1.2.3%"])
      expect(() => validationOf(wrong)).toThrow(`--valid: found ${wrong}, expected`);
  });
});

test("mean and spread over the folds", () => {
  const { a, b } = spreadOf([
    { a: 1, b: 5 },
    { a: 2, b: 5 },
    { a: 6, b: 5 },
  ]);
  // Squares of -2, -1, 3 over two degrees of freedom.
  expect(a).toEqual({ mean: 3, spread: Math.sqrt(7) });
  expect(b).toEqual({ mean: 5, spread: 0 });
});
