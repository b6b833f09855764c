// The pairs a calibrator is fitted on: which are sure, and that the others stand for all.

import { describe, expect, test } from "vitest";
import { calibrationRows, type HeldOutPairs, PairCollector } from "../../src/calibrate/pairs.ts";
import { matrixFrom } from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { generator } from "../support/numbers.ts";

const [points, labels] = [400, 300];
const next = generator(11);
const scores = [0, 1].map(() => Float32Array.from({ length: points * labels }, () => next() ** 4 - 0.05));
const lists = Array.from({ length: points }, () => [3, 17, 120, 299, 512].filter(() => next() < 0.5));
const rowStart = new Int32Array(points + 1);
lists.forEach((list, i) => {
  rowStart[i + 1] = rowStart[i] + list.length;
});
const truth = { rowStart, labelIndex: Int32Array.from(lists.flat()) };

async function collected(): Promise<HeldOutPairs> {
  const collector = new PairCollector(["gaussian", "stack"], truth, labels);
  await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
    for (let first = 0; first < points; first += 100) {
      const block = scores.map((all) =>
        matrixFrom(core, 100, labels, all.subarray(first * labels, (first + 100) * labels)),
      );
      collector.add({ scores: block, rows: Int32Array.from({ length: 100 }, (_, i) => first + i) });
      for (const one of block) one.free();
    }
  });
  return collector.finish();
}

describe("the pairs of a fit", () => {
  test("have every positive and the best of each score once, with their scores", async () => {
    const { row, label, signedWeight, scores: found, labelStart } = await collected();
    const taken = new Map<number, number>();
    row.forEach((i, e) => {
      const k = label[e];
      expect(taken.has(i * labels + k)).toBe(false);
      taken.set(i * labels + k, signedWeight[e]);
      found.forEach((values, j) => {
        expect(values[e]).toBe(scores[j]?.[i * labels + k]);
      });
      expect(e >= labelStart[k] && e < labelStart[k + 1]).toBe(true);
    });
    for (let i = 0; i < points; i++) {
      const own = lists[i].filter((k) => k < labels);
      for (const k of own) expect(taken.get(i * labels + k)).toBe(1);
      for (const all of scores) {
        const order = Array.from({ length: labels }, (_, k) => k).sort(
          (a, b) => all[i * labels + b] - all[i * labels + a] || a - b,
        );
        for (const k of order.slice(0, 20)) expect(taken.get(i * labels + k)).toBe(own.includes(k) ? 1 : -1);
      }
    }
  });

  test("stand for all: sums over them are those over every pair", async () => {
    const { row, label, signedWeight } = await collected();
    const leading = scores[0];
    const sums: [(score: number) => number, tolerance: number][] = [
      [(s) => s, 0.02],
      [(s) => s * s, 0.02],
      [(s) => Math.max(0.002, s), 0.02],
      // Pairs with nothing to say are sampled thinly.
      [() => 1, 0.2],
      [(s) => (s < 0 ? 1 : 0), 0.3],
    ];
    for (const [f, tolerance] of sums) {
      let estimate = 0;
      row.forEach((i, e) => {
        estimate += Math.abs(signedWeight[e]) * f(leading[i * labels + label[e]]);
      });
      const exact = leading.reduce((sum, s) => sum + f(s), 0);
      expect(Math.abs(estimate / exact - 1)).toBeLessThan(tolerance);
    }
    // Few have a weight at all: what is left out is cheap to leave out.
    expect(row.length / points).toBeLessThan(65);
  });

  test("the strength of a row is the mean of its ten best first scores", async () => {
    const { strengths } = await collected();
    for (const i of [0, 57, 399]) {
      const best = Array.from(scores[0].subarray(i * labels, (i + 1) * labels))
        .sort((a, b) => b - a)
        .slice(0, 10);
      expect(strengths[i]).toBeCloseTo(best.reduce((sum, s) => sum + s, 0) / 10, 12);
    }
  });

  test("come from all points, or from a part of many", () => {
    expect(Array.from(calibrationRows(5))).toEqual([0, 1, 2, 3, 4]);
    const some = calibrationRows(100_000, 400_000);
    expect(Math.abs(some.length / 10_000 - 1)).toBeLessThan(0.05);
    expect(some.every((row, i) => i === 0 || row > some[i - 1])).toBe(true);
  });

  test("are refused where a score is no number", async () => {
    const collector = new PairCollector(["gaussian"], truth, labels);
    await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
      const block = matrixFrom(core, 1, labels, scores[0].slice(0, labels));
      block.set(block.toArray().fill(Number.NaN, 5, 6));
      expect(() => collector.add({ scores: [block], rows: [0] })).toThrow(/scores.*NaN|scores.*finite/);
      block.free();
    });
  });
});
