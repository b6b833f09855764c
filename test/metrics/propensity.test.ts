import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { topLabels } from "../../src/base/top.ts";
import { inversePropensities, tailOrder, tailWeights } from "../../src/metrics/propensity.ts";
import { generator } from "../support/numbers.ts";
import { rankingMetrics, setsOf } from "./support.ts";

describe("rare labels first", () => {
  test("is p times the inverse propensity to the power of tail", () => {
    const inverse = inversePropensities([0, 5, 900], 1000);
    for (const tail of [0, 0.25, 0.7, 1]) {
      const weights = tailWeights(inverse, tail);
      const order = tailOrder([0.1, 0.5, 0.9, 1, 0, 0.3], weights);
      [0.1, 0.5, 0.9, 1, 0, 0.3].forEach((p, at) => {
        expect(order[at]).toBeCloseTo(p * inverse[at % 3] ** tail, 12);
      });
    }
  });

  test("with tail 0 is the order of the probabilities, to the last bit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ min: 0, max: 1, noNaN: true }), { minLength: 6, maxLength: 6 }),
        fc.array(fc.double({ min: 1, max: 50, noNaN: true }), { minLength: 3, maxLength: 3 }),
        (probabilities, inverse) => {
          expect(Array.from(tailOrder(probabilities, tailWeights(inverse, 0)))).toEqual(probabilities);
        },
      ),
    );
  });

  test("raises PSP and lowers P where probabilities are right", () => {
    const [points, labels] = [3000, 12];
    const next = generator(4);
    const counts = Array.from({ length: labels }, (_, label) => 2 ** label);
    const inverse = inversePropensities(counts, 5000);
    const probabilities = Array.from({ length: points * labels }, () => next() ** 2);
    const truth = setsOf(
      Array.from({ length: points }, (_, row) =>
        counts.map((_, label) => label).filter((label) => next() < probabilities[row * labels + label]),
      ),
      labels,
    );
    const figures = [0, 0.5, 1].map((tail) => {
      const order = tailOrder(probabilities, tailWeights(inverse, tail));
      const { metrics } = rankingMetrics(topLabels(order, points, labels, 5), 5, truth, {
        inversePropensity: inverse,
      });
      return [metrics["P@1"], metrics["PSP@1"]] as const;
    });
    const [none, half, full] = figures as [
      readonly [number, number],
      readonly [number, number],
      readonly [number, number],
    ];
    expect(none[0]).toBeGreaterThan(half[0]);
    expect(half[0]).toBeGreaterThan(full[0]);
    expect(full[1]).toBeGreaterThan(half[1]);
    expect(half[1]).toBeGreaterThan(none[1]);
  });

  test("refuses what makes no sense", () => {
    expect(() => tailWeights([1], 1.5)).toThrow("tail: found 1.5, expected a number from 0 to 1");
    expect(() => tailWeights([1], Number.NaN)).toThrow("expected a number from 0 to 1");
    expect(() => tailOrder([1, 2, 3], [1, 2])).toThrow("probabilities: found 3, expected rows of 2");
  });
});
