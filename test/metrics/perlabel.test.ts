import { describe, expect, test } from "vitest";
import { LabelMeter } from "../../src/metrics/perlabel.ts";
import { generator } from "../support/numbers.ts";
import { setsOf } from "./support.ts";

const ROWS = 60;
const LABELS = 9;

/** Scores with many ties, and labels of which some are everywhere and one is nowhere. */
function problem(seed: number) {
  const next = generator(seed);
  const scores = Array.from({ length: ROWS }, () =>
    Array.from({ length: LABELS }, () => Math.floor(8 * next())),
  );
  const truth = Array.from({ length: ROWS }, () =>
    Array.from({ length: LABELS - 1 }, (_, label) => label).filter((label) => next() < (label + 1) / 12),
  );
  return { scores, truth };
}

/** The definition, point by point. */
function expectedPrecision(scores: number[][], truth: number[][], label: number): number {
  const of = (row: number): number => scores[row]?.[label] as number;
  const having = truth.flatMap((labels, row) => (labels.includes(label) ? [row] : []));
  const terms = having.map((row) => {
    const right = having.filter((other) => of(other) >= of(row)).length;
    const all = scores.filter((_, other) => of(other) >= of(row)).length;
    return right / all;
  });
  return terms.reduce((sum, term) => sum + term, 0) / having.length;
}

/** Whether a label is among the three best of a point, the smaller id first among equals. */
function expectedFound(scores: number[][], truth: number[][], label: number): number {
  return truth.filter((labels, row) => {
    const own = scores[row] as number[];
    const order = own
      .map((_, other) => other)
      .sort((a, b) => (own[b] as number) - (own[a] as number) || a - b);
    return labels.includes(label) && order.slice(0, 3).includes(label);
  }).length;
}

function measure(scores: number[][], truth: number[][], block: number) {
  const meter = new LabelMeter(LABELS, 3);
  const sets = setsOf(truth, LABELS);
  for (const pass of ["collect", "count"] as const) {
    for (let row = 0; row < ROWS; row += block) meter[pass](scores.slice(row, row + block).flat(), sets, row);
  }
  return meter.report();
}

describe("figures of each label", () => {
  test("average precision and found follow their definitions, ties and all", () => {
    for (const seed of [1, 2, 3]) {
      const { scores, truth } = problem(seed);
      const report = measure(scores, truth, ROWS);
      const having = truth.flat();
      expect(report.map(({ label }) => label)).toEqual([...new Set(having)].sort((a, b) => a - b));
      for (const { label, averagePrecision, found, positives } of report) {
        expect(Math.abs(averagePrecision - expectedPrecision(scores, truth, label))).toBeLessThan(1e-12);
        expect(found).toBe(expectedFound(scores, truth, label));
        expect(positives).toBe(having.filter((other) => other === label).length);
      }
    }
  });

  test("how rows are cut into blocks does not matter", () => {
    const { scores, truth } = problem(4);
    expect(measure(scores, truth, 7)).toEqual(measure(scores, truth, ROWS));
  });

  test("a label whose points all stand first has 1", () => {
    const meter = new LabelMeter(2);
    const truth = setsOf([[0], [0], [1]], 2);
    for (const pass of ["collect", "count"] as const) meter[pass]([5, 0, 4, 0, 3, 0], truth);
    expect(meter.report().map(({ averagePrecision }) => averagePrecision)).toEqual([1, 1 / 3]);
  });

  test("labels that training never saw are left out, and wrong sizes refused", () => {
    const meter = new LabelMeter(2);
    meter.collect([1, 2], setsOf([[0, 5]], 6));
    expect(meter.report().length).toBe(1);
    expect(() => meter.count([1, 2, 3], setsOf([[0]], 2))).toThrow(
      "found 3 scores from row 0, expected rows of 2",
    );
  });
});
