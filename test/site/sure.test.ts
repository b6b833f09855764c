// The slider "how sure?": what it promises at each place follows from the model's guarantees.

import { expect, test } from "vitest";
import { promiseOf, stopsOf } from "../../site/page/sure.ts";
import type { Guarantees } from "../../src/base/prediction.ts";

const given: Guarantees = {
  evidence: "leave-one-out",
  rows: 1200,
  recall: [
    { target: 0.5, threshold: 0.2 },
    { target: 0.9, threshold: 0.01 },
  ],
  precision: [
    { target: 0.5, confidence: 0.8, threshold: 0.1 },
    { target: 0.5, confidence: 0.95, threshold: 0.3 },
    { target: 0.9, confidence: 0.95, threshold: 0.8 },
  ],
  expectedRecall: { rest: 0.1, intercept: 0, slope: 1 },
};

test("goes from few certain labels to many possible ones, and keeps every promise that holds", () => {
  expect(stopsOf(given)).toEqual([
    { threshold: 0.8, precision: 0.9, recall: undefined },
    { threshold: 0.3, precision: 0.5, recall: undefined },
    { threshold: 0.2, precision: undefined, recall: 0.5 },
    { threshold: 0.01, precision: undefined, recall: 0.9 },
  ]);
  const both = stopsOf({ ...given, recall: [{ target: 0.6, threshold: 0.5 }] });
  expect(both.find(({ threshold }) => threshold === 0.5)).toEqual({ threshold: 0.5, precision: 0.5, recall: 0.6 });
  // No threshold of a promise is missed, and none promises more than the guarantees do.
  for (const { threshold, precision = 0, recall = 0 } of stopsOf(given)) {
    expect(
      given.precision.some((each) => each.target === precision && each.threshold <= threshold) || precision === 0,
    ).toBe(true);
    expect(given.recall.some((each) => each.target === recall && each.threshold >= threshold) || recall === 0).toBe(
      true,
    );
  }
});

test("says what it promises, and on what evidence", () => {
  const [first, , , last] = stopsOf(given);
  expect(promiseOf(first, given)).toBe(
    "Labels of at least 80 %: at least 90 % of them are right (in 95 of 100 trainings). Measured by leave-one-out on 1,200 texts.",
  );
  expect(promiseOf(last, { ...given, evidence: "held-out" })).toBe(
    "Labels of at least 1 %: on average they hold 90 % of the true labels. Proven on 1,200 held-out texts.",
  );
});

test("a model that promises nothing has no places", () => {
  expect(stopsOf({ ...given, recall: [], precision: [] })).toEqual([]);
});
