import { describe, expect, test } from "vitest";
import { ExpectationMeter } from "../../src/metrics/expectation.ts";
import { generator } from "../support/numbers.ts";
import { eachBest, setsOf } from "./support.ts";

/** First labels with these probabilities, right where `right` says so. */
function expectationOf(probabilities: readonly number[], right: (row: number) => boolean) {
  const meter = new ExpectationMeter();
  const truth = setsOf(
    probabilities.map((_, row) => (right(row) ? [0] : [1])),
    2,
  );
  const ranked = probabilities.map(() => 0);
  eachBest((row) => meter.add(row), ranked, 1, truth, { confidence: probabilities });
  return meter.report();
}

describe("confidence in the top labels", () => {
  test("by hand: .9, .5 and .7 of which two are right, and .3 of a point without labels", () => {
    const meter = new ExpectationMeter();
    const ranked = [0, 1, 1, 0, 0, 1, 0, 1];
    const given = [0.9, 0.1, 0.5, 0.2, 0.7, 0.1, 0.3, 0.3];
    eachBest((row) => meter.add(row), ranked, 2, setsOf([[0], [0], [0], []], 2), { confidence: given });
    const { points, confidence, accuracy, chance, beyondChance } = meter.report();
    expect(points).toBe(4);
    expect(confidence).toBeCloseTo(0.6, 12);
    expect(accuracy).toBeCloseTo(2 / 4, 12);
    const [off, variance] = [0.4, 0.09 + 0.25 + 0.21 + 0.21];
    expect(chance).toBeCloseTo(Math.min(1, 2 * Math.exp(-(off ** 2) / (2 * (variance + off / 3)))), 12);
    expect(beyondChance).toBe(false);
  });

  test("calibrated probabilities are hardly ever called off, few points or many, sure or not", () => {
    const next = generator(5);
    for (const [points, least] of [
      [20, 0.97],
      [20, 0.3],
      [500, 0.9],
      [2000, 0.2],
    ] as const) {
      let off = 0;
      for (let trial = 0; trial < 400; trial++) {
        const probabilities = Array.from({ length: points }, () => least + (1 - least) * next());
        if (expectationOf(probabilities, (row) => next() < probabilities[row]).beyondChance) off++;
      }
      // The bound is 1 % of 400; it is reached by 4 on average only where it is sharp.
      expect(off).toBeLessThan(8);
    }
  });

  test("a shift that matters is seen", () => {
    const next = generator(6);
    const probabilities = Array.from({ length: 1000 }, () => 0.83);
    const shifted = expectationOf(probabilities, () => next() < 0.7);
    expect(shifted.beyondChance).toBe(true);
    expect(shifted.chance).toBeLessThan(1e-6);
    expect(shifted.confidence).toBeCloseTo(0.83, 10);
  });

  test("of nothing, and of a certainty that came true", () => {
    expect(new ExpectationMeter().report()).toEqual({
      points: 0,
      confidence: 0,
      accuracy: 0,
      chance: 1,
      beyondChance: false,
    });
    expect(expectationOf([1, 1], () => true).chance).toBe(1);
    expect(expectationOf([1], () => false).beyondChance).toBe(false);
  });
});
