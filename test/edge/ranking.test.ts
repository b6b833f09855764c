// The most probable labels against all probabilities sorted.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { labelProbability } from "../../src/edge/probability.ts";
import { SigmoidLogits, sigmoidScores } from "../../src/edge/svgp.ts";

const label = fc.record({
  mean: fc.double({ min: -30, max: 10, noNaN: true }),
  variance: fc.double({ min: 0, max: 40, noNaN: true }),
  allowed: fc.boolean(),
});

describe("the most probable labels", () => {
  test("are those of a full sort, whatever means, variances, lists and thresholds", () => {
    fc.assert(
      fc.property(
        fc.array(label, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 70 }),
        fc.constantFrom(0, 1e-6, 0.05, 0.5, 0.99),
        fc.boolean(),
        (labels, most, threshold, all) => {
          const allowed = all ? undefined : Uint8Array.from(labels, (one) => Number(one.allowed));
          const scores = {
            values: Float64Array.from(labels, ({ mean }) => mean),
            variance: (at: number) => labels[at]?.variance as number,
          };
          const wanted = labels
            .map(({ mean, variance }, at) => ({ label: at, probability: labelProbability(mean, variance) }))
            .filter(({ label: at, probability }) => allowed?.[at] !== 0 && probability >= threshold)
            .sort((a, b) => b.probability - a.probability || a.label - b.label)
            .slice(0, most);
          expect(sigmoidScores(new SigmoidLogits(scores)).best(most, threshold, allowed)).toEqual(wanted);
        },
      ),
      { numRuns: 400 },
    );
  });
});
