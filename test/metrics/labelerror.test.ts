// Calibration error by label beside its definition written out, and which labels are measured where they are too many.

import { describe, expect, test } from "vitest";
import { LabelErrorMeter } from "../../src/metrics/labelerror.ts";
import { generator } from "../support/numbers.ts";
import { eachWhole, meanOf, setsOf } from "./support.ts";

const LABELS = 6;

function problem(rows: number, seed: number) {
  const next = generator(seed);
  const probabilities = Array.from({ length: rows }, () =>
    Array.from({ length: LABELS }, (_, label) => Math.fround(next() ** (1 + label))),
  );
  const truth = probabilities.map((row) => row.flatMap((p, label) => (next() < 0.7 * p + 0.1 ? [label] : [])));
  return { probabilities, truth };
}

/** The definition, with sorted lists; no two probabilities are equal. */
function definition(probabilities: number[][], truth: number[][], label: number): number | undefined {
  const points = probabilities.map((row, i) => [row[label], truth[i].includes(label) ? 1 : 0] as const);
  const errors = [points.filter(([p]) => p >= 0.5), points.filter(([p]) => p < 0.5)].flatMap((side) => {
    const sorted = [...side].sort(([a], [b]) => a - b);
    const bins = Math.min(10, Math.floor(sorted.length / 5));
    const sizeOf = (b: number): number => Math.floor(sorted.length / bins) + (b < sorted.length % bins ? 1 : 0);
    let at = 0;
    return Array.from({ length: bins }, (_, b) => {
      const bin = sorted.slice(at, at + sizeOf(b));
      at += bin.length;
      expect(bin.length).toBeGreaterThanOrEqual(5);
      return Math.abs(meanOf(bin.map(([p]) => p)) - meanOf(bin.map(([, y]) => y)));
    });
  });
  return errors.length === 0 ? undefined : meanOf(errors);
}

function measured(rows: number, seed: number, counts?: number[], most?: number) {
  const { probabilities, truth } = problem(rows, seed);
  const meter = new LabelErrorMeter(LABELS, rows, counts, most);
  const sets = setsOf(truth, LABELS + 1);
  const cut = Math.floor(rows / 3);
  eachWhole((row) => meter.add(row), probabilities.slice(0, cut).flat(), LABELS, sets);
  eachWhole((row) => meter.add(row), probabilities.slice(cut).flat(), LABELS, sets, cut);
  const wanted = probabilities[0].map((_, label) => definition(probabilities, truth, label));
  return { ...meter.report(), wanted };
}

const meanOfSome = (values: readonly (number | undefined)[]): number =>
  meanOf(values.filter((value) => value !== undefined));

describe("calibration error by label", () => {
  test("is that of the definition, few points or many", () => {
    for (const rows of [3, 7, 24, 61, 300]) {
      const { error, labels, wanted, byFrequency } = measured(rows, rows);
      expect(error).toBeCloseTo(meanOfSome(wanted), 10);
      expect(labels).toBe(wanted.filter((each) => each !== undefined).length);
      expect(byFrequency).toEqual([]);
    }
  });

  test("is given by frequency of the label in training", () => {
    const { byFrequency, wanted } = measured(200, 5, [0, 5, 2000, 7, 50, 60]);
    expect(byFrequency.map(({ from, to, labels }) => [from, to, labels])).toEqual([
      [0, 0, 1],
      [1, 9, 2],
      [10, 99, 2],
      [1000, undefined, 1],
    ]);
    expect(byFrequency[1].error).toBeCloseTo(meanOfSome([wanted[1], wanted[3]]), 10);
  });

  test("is that of some labels, evenly by frequency, where not all can be kept", () => {
    const { labels, error, wanted } = measured(100, 6, [60, 10, 50, 20, 40, 30], 300);
    expect(labels).toBe(3);
    // By frequency 0, 2, 4, 5, 3, 1: every second one.
    expect(error).toBeCloseTo(meanOfSome([wanted[0], wanted[4], wanted[3]]), 10);
  });
});
