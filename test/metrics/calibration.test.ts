import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CalibrationMeter } from "../../src/metrics/calibration.ts";
import { eachWhole, meanOf, rankingOf, setsOf } from "./support.ts";

describe("by hand", () => {
  // Three points, two labels: probabilities .75 .5 / .25 .0 / .9 .9, truth {0} / {1} / nothing.
  const meter = new CalibrationMeter(2, [5, 50]);
  eachWhole((row) => meter.add(row), [0.75, 0.5, 0.25, 0, 0.9, 0.9], 2, setsOf([[0], [1], []], 2));
  const report = meter.report();
  test("a point without labels counts, and is said", () => {
    expect([report.points, report.pointsWithoutLabels, report.allPairs.predictions]).toEqual([3, 1, 6]);
  });
  test("log loss a point; a certainty that is wrong costs -ln 1e-7", () => {
    const sum = -(Math.log(0.75) + Math.log(0.5) + Math.log(0.75) + Math.log(1e-7) + 2 * Math.log(0.1));
    expect(report.logLoss).toBeCloseTo(sum / 3, 12);
    expect(report.allPairs.logLoss).toBeCloseTo(sum / 6, 12);
  });
  test("Brier score a point", () => {
    expect(report.brier).toBeCloseTo((0.0625 + 0.25 + 0.0625 + 1 + 2 * 0.81) / 3, 12);
    expect(report.allPairs.brier).toBeCloseTo((0.0625 + 0.25 + 0.0625 + 1 + 2 * 0.81) / 6, 12);
  });
  test("calibration of the best, and of what is at least 5 %: the zero is not", () => {
    expect([report.top1.predictions, report.top3.predictions, report.top5.predictions]).toEqual([3, 6, 6]);
    expect(report.top1.ece).toBeCloseTo((0.25 + 0.25 + 0.9) / 3, 12);
    expect(report.top5.ece).toBeCloseTo((0.25 + 0.5 + 0.25 + 1 + 1.8) / 6, 12);
    // Too sure of .5, .25, .9 and .9, not sure enough of .75 and of 0.
    expect(report.top5.overconfidence).toBeCloseTo((0.5 + 0.25 + 1.8) / 6, 12);
    expect(report.top5.underconfidence).toBeCloseTo((0.25 + 1) / 6, 12);
    expect(report.overFivePercent.predictions).toBe(5);
    expect(report.overFivePercent.ece).toBeCloseTo((0.25 + 0.5 + 0.25 + 1.8) / 5, 12);
    expect(report.overFivePercent.bias).toBeCloseTo((0.75 + 0.5 + 0.25 + 1.8 - 1) / 5, 12);
    expect(report.allPairs.ece).toBeCloseTo((0.25 + 0.5 + 0.25 + 1 + 1.8) / 6, 12);
  });
  test("by frequency of the label, with the number of positives", () => {
    const [rare, common] = report.byFrequency;
    expect(report.byFrequency.length).toBe(2);
    expect([rare?.from, rare?.to, rare?.labels, rare?.positives]).toEqual([1, 9, 1, 1]);
    expect([common?.from, common?.to, common?.labels, common?.positives]).toEqual([10, 99, 1, 1]);
    expect(rare?.brier).toBeCloseTo((0.0625 + 0.0625 + 0.81) / 3, 12);
    expect(common?.logLoss).toBeCloseTo(-(Math.log(0.5) + Math.log(1e-7) + Math.log(0.1)) / 3, 12);
    expect([rare?.overFivePercent.predictions, common?.overFivePercent.predictions]).toEqual([3, 2]);
  });
});

describe("always", () => {
  const labels = 7;
  const matrix = fc.array(
    fc.tuple(
      fc.array(fc.float({ min: 0, max: 1, noNaN: true }), { minLength: labels, maxLength: labels }),
      fc.uniqueArray(fc.nat(labels - 1)),
    ),
    { minLength: 1, maxLength: 12 },
  );
  const trainingCounts = [0, 20, 3000, 5, 50, 500, 1];

  test("agrees with plain sums, and does not depend on the cut into blocks", () => {
    fc.assert(
      fc.property(matrix, fc.nat(), (points, cut) => {
        const truth = setsOf(
          points.map(([, row]) => row),
          labels,
        );
        const all = Float32Array.from(points.flatMap(([row]) => row));
        const whole = new CalibrationMeter(labels, trainingCounts);
        eachWhole((row) => whole.add(row), all, labels, truth);
        const at = cut % (points.length + 1);
        const parts = new CalibrationMeter(labels, trainingCounts);
        eachWhole((row) => parts.add(row), all.slice(0, at * labels), labels, truth, 0);
        eachWhole((row) => parts.add(row), all.slice(at * labels), labels, truth, at);
        const report = whole.report();
        expect(parts.report()).toEqual(report);

        const y = (positives: number[], label: number): number => (positives.includes(label) ? 1 : 0);
        const clipped = (p: number): number => Math.min(Math.max(p, 1e-7), 1 - 1e-7);
        const losses = points.map(([row, positives]) =>
          row.reduce((sum, p, label) => sum - Math.log(y(positives, label) ? clipped(p) : 1 - clipped(p)), 0),
        );
        const briers = points.map(([row, positives]) =>
          row.reduce((sum, p, label) => sum + (p - y(positives, label)) ** 2, 0),
        );
        expect(report.logLoss).toBeCloseTo(meanOf(losses), 8);
        expect(report.brier).toBeCloseTo(meanOf(briers), 8);

        const likely = points.flatMap(([row, positives]) =>
          row.flatMap((p, label) => (p >= 0.05 ? [[p, y(positives, label)] as const] : [])),
        );
        expect(report.overFivePercent.predictions).toBe(likely.length);
        expect(report.overFivePercent.confidence).toBeCloseTo(meanOf(likely.map(([p]) => p)), 10);
        expect(report.overFivePercent.accuracy).toBeCloseTo(meanOf(likely.map(([, hit]) => hit)), 10);
        const best = points.flatMap(([row, positives]) =>
          rankingOf(row)
            .slice(0, 5)
            .map((label) => [row[label], y(positives, label)] as const),
        );
        expect(report.top5.predictions).toBe(best.length);
        expect(report.top5.bias).toBeCloseTo(meanOf(best.map(([p]) => p)) - meanOf(best.map(([, hit]) => hit)), 10);
        const over = (of: (group: (typeof report.byFrequency)[number]) => number): number =>
          report.byFrequency.reduce((sum, group) => sum + of(group), 0);
        expect(report.byFrequency.map(({ from }) => from)).toEqual([0, 1, 10, 100, 1000]);
        expect(over((group) => group.logLoss)).toBeCloseTo(report.logLoss, 8);
        expect(over((group) => group.positives)).toBe(report.positives);
        expect(over((group) => group.top5.predictions)).toBe(best.length);
        expect(over((group) => group.overFivePercent.predictions)).toBe(likely.length);
      }),
      { numRuns: 100 },
    );
  });

  test("thousands of labels that are rightly near zero do not hide that the likely ones are off", () => {
    // Every point has label 0, which is given 60 %; 2000 others are never true and given 0.01 %.
    const others = 2000;
    const meter = new CalibrationMeter(others + 1);
    const rows = Array.from({ length: 40 }, () => [0]);
    const row = [0.6, ...new Array(others).fill(1e-4)];
    eachWhole(
      (each) => meter.add(each),
      rows.flatMap(() => row),
      others + 1,
      setsOf(rows, others + 1),
    );
    const { overFivePercent, allPairs, logLoss } = meter.report();
    expect(allPairs.ece).toBeLessThan(0.0004);
    expect(overFivePercent.ece).toBeCloseTo(0.4, 10);
    expect(overFivePercent.bias).toBeCloseTo(-0.4, 10);
    expect(logLoss).toBeGreaterThan(0.7);
  });

  test("the top five are those of the order that is used", () => {
    const meter = new CalibrationMeter(3);
    meter.add({ own: Int32Array.of(0), probabilities: [0.2, 0.5, 0.3], ranked: [0, 2], confidence: [0.2, 0.3] });
    const { top5 } = meter.report();
    expect([top5.predictions, top5.confidence, top5.accuracy]).toEqual([2, 0.25, 0.5]);
  });
});

describe("edges", () => {
  test("labels the model does not know are counted and left out", () => {
    const meter = new CalibrationMeter(1);
    eachWhole((row) => meter.add(row), [0.5], 1, setsOf([[0, 5]], 6));
    const { positives, unknownLabels, byFrequency } = meter.report();
    expect([positives, unknownLabels]).toEqual([1, 1]);
    expect(byFrequency).toEqual([]);
  });
  test("what is no probability, and shapes that do not fit", () => {
    const meter = new CalibrationMeter(2);
    const give = (probabilities: number[]): void =>
      eachWhole((row) => meter.add(row), probabilities, 2, setsOf([[0]], 2));
    expect(() => give([0.5, NaN])).toThrow("probabilities: found NaN for label 1");
    expect(() => give([0.5, 1.5])).toThrow("found 1.5 for label 1");
    expect(() => give([0.5])).toThrow("probabilities: found 1 from row 0");
    expect(() => new CalibrationMeter(3, [1])).toThrow("trainingCounts: found 1, expected");
  });
});
