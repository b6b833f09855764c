import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ReliabilityMeter, wilsonInterval } from "../../src/metrics/reliability.ts";
import { generator } from "../support/numbers.ts";
import { meanOf } from "./support.ts";

type Prediction = readonly [probability: number, positive: boolean];

function reliabilityOf(predictions: readonly Prediction[], kept?: number) {
  const meter = new ReliabilityMeter(kept);
  for (const [probability, positive] of predictions) meter.add(probability, positive);
  return meter.report();
}

/** The definition: sort, cut into fifteen (the first ones take what is left over), compare the means. */
function stupidGroups(predictions: readonly Prediction[]): { count: number; said: number; came: number }[] {
  const sorted = [...predictions].sort(([a], [b]) => a - b);
  const groups = [];
  let at = 0;
  for (let g = 0; g < 15; g++) {
    const size = Math.floor(sorted.length / 15) + (g < sorted.length % 15 ? 1 : 0);
    const group = sorted.slice(at, at + size);
    at += size;
    if (size === 0) continue;
    const came = meanOf(group.map(([, positive]) => (positive ? 1 : 0)));
    groups.push({ count: size, said: meanOf(group.map(([p]) => p)), came });
  }
  return groups;
}

/** Bins [b/15, (b+1)/15), the last one with its end. */
function stupidWidths(predictions: readonly Prediction[]): { over: number; under: number } {
  let [over, under] = [0, 0];
  for (let b = 0; b < 15; b++) {
    const own = predictions.filter(([p]) => p >= b / 15 && (p < (b + 1) / 15 || b === 14));
    const difference = meanOf(own.map(([p]) => p)) - meanOf(own.map(([, yes]) => (yes ? 1 : 0)));
    over += (own.length / predictions.length) * Math.max(0, difference);
    under += (own.length / predictions.length) * Math.max(0, -difference);
  }
  return { over, under };
}

function some(count: number, seed: number): Prediction[] {
  const next = generator(seed);
  return Array.from({ length: count }, () => {
    const p = next() ** 3;
    return [p, next() < 0.8 * p + 0.05] as const;
  });
}

describe("groups of equal size", () => {
  test("are those of the definition, for any number of predictions", () => {
    for (const count of [1, 14, 15, 16, 29, 100, 1000, 1007]) {
      const predictions = some(count, count);
      const { groups, ace, ...report } = reliabilityOf(predictions);
      const wanted = stupidGroups(predictions);
      expect(groups.map((group) => group.count)).toEqual(wanted.map((group) => group.count));
      groups.forEach(({ confidence, accuracy, from, to, low, high }, g) => {
        expect(confidence).toBeCloseTo(wanted[g]?.said as number, 12);
        expect(accuracy).toBeCloseTo(wanted[g]?.came as number, 12);
        expect(from <= confidence + 1e-15 && confidence <= to + 1e-15).toBe(true);
        expect(low <= accuracy && accuracy <= high).toBe(true);
      });
      const error = wanted.reduce((sum, each) => sum + each.count * Math.abs(each.said - each.came), 0);
      expect(ace).toBeCloseTo(error / count, 12);
      const { over, under } = stupidWidths(predictions);
      expect(report.overconfidence).toBeCloseTo(over, 12);
      expect(report.underconfidence).toBeCloseTo(under, 12);
      expect(report.ece).toBeCloseTo(over + under, 12);
    }
  });

  test("from cells differ by hardly anything from those of every prediction", () => {
    const predictions = some(40_000, 3);
    const exact = reliabilityOf(predictions);
    const cells = reliabilityOf(predictions, 1000);
    expect(cells.predictions).toBe(exact.predictions);
    expect(cells.positives).toBe(exact.positives);
    expect(cells.confidence).toBeCloseTo(exact.confidence, 10);
    expect(cells.ece).toBe(exact.ece);
    expect(Math.abs(cells.ace - exact.ace)).toBeLessThan(2e-4);
    expect(cells.groups.map(({ count }) => count)).toEqual(exact.groups.map(({ count }) => count));
    cells.groups.forEach((group, g) => {
      expect(Math.abs(group.confidence - (exact.groups[g]?.confidence as number))).toBeLessThan(1e-4);
      expect(Math.abs(group.accuracy - (exact.groups[g]?.accuracy as number))).toBeLessThan(3e-3);
    });
  });

  test("do not depend on the order of the predictions, equal ones included", () => {
    const prediction = fc.tuple(fc.constantFrom(0, 0.1, 0.25, 0.5, 1), fc.boolean());
    fc.assert(
      fc.property(fc.array(prediction, { minLength: 1, maxLength: 80 }), (predictions) => {
        const report = reliabilityOf(predictions);
        expect(reliabilityOf([...predictions].reverse())).toEqual(report);
        const counts = report.groups.map(({ count }) => count);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(predictions.length);
        const positives = predictions.filter(([, positive]) => positive).length;
        expect(report.positives).toBe(positives);
        const shared = report.groups.reduce((sum, group) => sum + group.count * group.accuracy, 0);
        expect(shared).toBeCloseTo(positives, 10);
        expect(report.bias).toBeCloseTo(meanOf(predictions.map(([p]) => p)) - positives / predictions.length, 12);
      }),
    );
  });

  test("calibrated predictions have a small error, under-confident ones the error they have", () => {
    const next = generator(8);
    const calibrated = Array.from({ length: 20_000 }, () => {
      const p = next();
      return [p, next() < p] as const;
    });
    expect(reliabilityOf(calibrated).ece).toBeLessThan(0.015);
    const shy = calibrated.map(([p, positive]) => [0.8 * p, positive] as const);
    const { ece, ace, overconfidence, bias } = reliabilityOf(shy);
    for (const error of [ece, ace]) expect(Math.abs(error - 0.1)).toBeLessThan(0.01);
    expect(overconfidence).toBeLessThan(0.005);
    expect(Math.abs(bias + 0.1)).toBeLessThan(0.01);
  });

  test("of nothing", () => {
    expect(reliabilityOf([])).toEqual({
      predictions: 0,
      positives: 0,
      confidence: 0,
      accuracy: 0,
      bias: 0,
      ece: 0,
      overconfidence: 0,
      underconfidence: 0,
      ace: 0,
      groups: [],
    });
  });
});

describe("Wilson's interval", () => {
  test("has the published bounds", () => {
    // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    const bounds = [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718],
    ] as const;
    for (const [hits, trials, low, high] of bounds) {
      const found = wilsonInterval(hits / trials, trials);
      expect(found[0]).toBeCloseTo(low, 4);
      expect(found[1]).toBeCloseTo(high, 4);
    }
  });
  test("never leaves 0 to 1, and says nothing of nothing", () => {
    expect(wilsonInterval(1, 5)[1]).toBe(1);
    expect(wilsonInterval(0, 5)[0]).toBe(0);
    expect(wilsonInterval(0, 0)).toEqual([0, 1]);
  });
});
