// Inverse propensities beside the official ones, which the XC repository publishes with its data.

import { expect, test } from "vitest";
import { inversePropensities } from "../../src/metrics/propensity.ts";
import { golden } from "../support/golden.ts";

test("inverse propensities of EUR-Lex are the official ones", () => {
  const { points, inversePropensityByCount } = golden<{
    points: number;
    inversePropensityByCount: Record<string, number>;
  }>("propensity.json");
  const counts = Object.keys(inversePropensityByCount).map(Number);
  expect(counts.length).toBe(229);
  const found = inversePropensities(counts, points);
  // The file has five digits.
  expect(Array.from(found, (weight) => Number(weight.toPrecision(5)))).toEqual(Object.values(inversePropensityByCount));
});
