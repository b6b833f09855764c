// What is held out: every point once over the folds, the part that was asked for, points with labels alone.

import { describe, expect, test } from "vitest";
import { spreadOf, validationOf } from "../../src/cli/train.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import { readDataset } from "../../src/io/dataset.ts";
import { folds, holdOut, type Read, readAlready } from "../../src/train/holdout.ts";
import { topicData } from "../support/problems.ts";

const topics = topicData({ points: 103, features: 40, labels: 12 }, 3);
/** Points are told apart by their ids. */
const data: Dataset = { ...topics, ids: Array.from({ length: 103 }, (_, i) => `${i}`) };
const every = new Set(data.ids);
const read = readAlready(data);
const idsOf = ({ ids, features }: Dataset): string[] => {
  expect(ids?.length).toBe(features.rows);
  return [...(ids ?? [])];
};

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("points that are held out", () => {
  test("are the part that was asked for", async () => {
    const { kept, held } = await holdOut(read, 0.1, 5);
    expect(held.features.rows).toBe(10);
    expect(new Set([...idsOf(kept), ...idsOf(held)])).toEqual(every);
    expect(kept.features.rows).toBe(93);
    expect(idsOf((await holdOut(read, 0.1, 5)).held)).toEqual(idsOf(held));
    expect(idsOf((await holdOut(read, 0.1, 6)).held)).not.toEqual(idsOf(held));
    await expect(holdOut(read, 0.001, 5)).rejects.toThrow("expected enough to split");
  });

  test("are each point once over the folds", async () => {
    for (const count of [2, 5, 103]) {
      const parts = await all(folds(read, count, 0));
      expect(parts.length).toBe(count);
      expect(parts.flatMap(({ held }) => idsOf(held)).sort()).toEqual([...every].sort());
      for (const { kept, held } of parts) {
        expect(Math.abs(held.features.rows - 103 / count)).toBeLessThan(1);
        expect(kept.features.rows + held.features.rows).toBe(103);
      }
    }
    await expect(all(folds(read, 104, 0))).rejects.toThrow("found 103 different rows");
  });

  test("are on one side with their copies, and give no words or labels to the other", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => ({
      text: `word${i % 20} common`,
      labels: [`l${i % 20}`],
    }));
    const texts: Read = async (options) =>
      (await readDataset(rows, { tfidf: { minDocuments: 1 }, ...options })).dataset;
    const { kept, held } = await holdOut(texts, 0.3, 1);
    expect(held.features.rows).toBe(12);
    const terms = kept.vectoriser?.terms ?? [];
    const labelsOf = ({ labelNames = [], labels }: Dataset) =>
      new Set([...labels.labelIndex].map((id) => labelNames[id]));
    for (const label of labelsOf(held)) {
      expect(kept.labelNames?.slice(0, kept.labels.labels)).not.toContain(label);
      expect(terms).not.toContain(label.replace("l", "word"));
    }
    expect(held.features.columns).toBe(kept.features.columns);
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
