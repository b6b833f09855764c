import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashInteger } from "../../src/data/hash.ts";
import { calibrationError, ReliabilityBins } from "../../src/metrics/bins.ts";
import { CalibrationMeter } from "../../src/metrics/calibration.ts";
import { setsOf } from "./support.ts";

describe("by hand", () => {
  // Two points, two labels: probabilities .75 .5 / .25 .0, truth {0} / {1}.
  const meter = new CalibrationMeter(2, { bins: 4, trainingCounts: [5, 50] });
  meter.update(Float32Array.of(0.75, 0.5, 0.25, 0), setsOf([[0], [1]], 2));
  const report = meter.report();
  test("log loss; a certainty that is wrong costs -ln 1e-7", () => {
    expect(report.logLoss).toBeCloseTo(
      -(Math.log(0.75) + Math.log(0.5) + Math.log(0.75) + Math.log(1e-7)) / 4,
      12,
    );
  });
  test("Brier score", () => {
    expect(report.brier).toBeCloseTo((0.0625 + 0.25 + 0.0625 + 1) / 4, 12);
  });
  test("expected calibration error: |.75-1|, |.5-0|, |.25-0|, |0-1| in bins of their own", () => {
    expect(report.ece).toBeCloseTo((0.25 + 0.5 + 0.25 + 1) / 4, 12);
    expect(report.reliability).toEqual([
      { from: 0, to: 0.25, count: 1, meanProbability: 0, frequency: 1 },
      { from: 0.25, to: 0.5, count: 1, meanProbability: 0.25, frequency: 0 },
      { from: 0.5, to: 0.75, count: 1, meanProbability: 0.5, frequency: 0 },
      { from: 0.75, to: 1, count: 1, meanProbability: 0.75, frequency: 1 },
    ]);
  });
  test("by frequency of the label", () => {
    const [rare, common] = report.byFrequency;
    expect(report.byFrequency.length).toBe(2);
    expect([rare?.from, rare?.to, rare?.labels, rare?.predictions, rare?.positives]).toEqual([0, 9, 1, 2, 1]);
    expect([common?.from, common?.to, common?.labels]).toEqual([10, 99, 1]);
    expect(rare?.brier).toBeCloseTo((0.0625 + 0.0625) / 2, 12);
    expect(common?.logLoss).toBeCloseTo(-(Math.log(0.5) + Math.log(1e-7)) / 2, 12);
  });
});

describe("bins", () => {
  test("of equal mass hold about as many each", () => {
    const bins = new ReliabilityBins(10);
    for (let i = 0; i < 5000; i++) bins.add((hashInteger(i) / 2 ** 32) ** 3);
    const equal = bins.equalMass();
    expect(equal.length).toBe(10);
    for (const { count, from, to, meanProbability } of equal) {
      expect(Math.abs(count - 500)).toBeLessThan(40);
      expect(meanProbability).toBeGreaterThanOrEqual(from);
      expect(meanProbability).toBeLessThanOrEqual(to);
    }
    expect(equal.reduce((sum, { count }) => sum + count, 0)).toBe(5000);
  });
  test("never part equal probabilities", () => {
    const bins = new ReliabilityBins(15);
    for (let i = 0; i < 100; i++) bins.add(0.25);
    bins.add(1);
    expect(bins.equalMass().map(({ count }) => count)).toEqual([100, 1]);
    expect(bins.equalWidth().map(({ count }) => count)).toEqual([100, 1]);
  });
  test("of nothing", () => {
    expect(new ReliabilityBins(15).equalMass()).toEqual([]);
    expect(calibrationError([])).toBe(0);
  });
});

describe("always", () => {
  const labels = 3;
  const matrix = fc.array(
    fc.tuple(
      fc.array(fc.float({ min: 0, max: 1, noNaN: true }), { minLength: labels, maxLength: labels }),
      fc.uniqueArray(fc.nat(labels - 1)),
    ),
    { minLength: 1, maxLength: 12 },
  );
  test("agrees with plain sums, and does not depend on the cut into blocks", () => {
    fc.assert(
      fc.property(matrix, fc.nat(), (points, cut) => {
        const truth = setsOf(
          points.map(([, row]) => row),
          labels,
        );
        const whole = new CalibrationMeter(labels, { trainingCounts: [0, 20, 3000] });
        whole.update(Float32Array.from(points.flatMap(([row]) => row)), truth);
        const at = cut % (points.length + 1);
        const parts = new CalibrationMeter(labels, { trainingCounts: [0, 20, 3000] });
        parts.update(Float32Array.from(points.slice(0, at).flatMap(([row]) => row)), truth, 0);
        parts.update(Float32Array.from(points.slice(at).flatMap(([row]) => row)), truth, at);
        const report = whole.report();
        expect(parts.report()).toEqual(report);

        let loss = 0;
        let brier = 0;
        for (const [row, positives] of points) {
          for (const [label, p] of row.entries()) {
            const y = positives.includes(label) ? 1 : 0;
            loss -= Math.log(Math.max(y ? p : 1 - p, 1e-7));
            brier += (p - y) ** 2;
          }
        }
        const count = points.length * labels;
        expect(report.logLoss).toBeCloseTo(loss / count, 8);
        expect(report.brier).toBeCloseTo(brier / count, 8);
        expect(report.byFrequency.map(({ from }) => from)).toEqual([0, 10, 1000]);
        expect(report.byFrequency.reduce((sum, group) => sum + group.predictions, 0)).toBe(count);
      }),
      { numRuns: 100 },
    );
  });
  test("probabilities that come true as often as they say have a small error", () => {
    const points = 4000;
    const probabilities = Float32Array.from(
      { length: points * labels },
      (_, i) => hashInteger(i, 1) / 2 ** 32,
    );
    const rows = Array.from({ length: points }, (_, row) =>
      [0, 1, 2].filter(
        (label) =>
          hashInteger(row * labels + label, 2) / 2 ** 32 < (probabilities[row * labels + label] as number),
      ),
    );
    const meter = new CalibrationMeter(labels);
    meter.update(probabilities, setsOf(rows, labels));
    const { ece, eceEqualMass, byFrequency } = meter.report();
    expect(ece).toBeLessThan(0.02);
    expect(eceEqualMass).toBeLessThan(0.02);
    expect(byFrequency).toEqual([]);
  });
});

describe("edges", () => {
  test("labels the model does not know are left out", () => {
    const meter = new CalibrationMeter(1);
    meter.update([0.5], setsOf([[0, 5]], 6));
    expect(meter.report().positives).toBe(1);
  });
  test("what is no probability, and shapes that do not fit", () => {
    const meter = new CalibrationMeter(2);
    expect(() => meter.update([0.5, NaN], setsOf([[0]], 2))).toThrow("found probability NaN of label 1");
    expect(() => meter.update([0.5, 1.5], setsOf([[0]], 2))).toThrow("found probability 1.5 of label 1");
    expect(() => meter.update([0.5], setsOf([[0]], 2))).toThrow("found 1 probabilities");
    expect(() => new CalibrationMeter(3, { trainingCounts: [1] })).toThrow("found 1 training counts");
  });
});
