// Calibrators to test with, and the formula as a page of paper has it.

import type { Calibrator, LabelFrequencies } from "../../src/calibrate/calibrator.ts";
import type { ScoreTerm } from "../../src/core/calibrator.ts";
import { generator } from "../support/numbers.ts";

export const log = (score: number, width: number): ScoreTerm => ({ score, shape: "log", centre: 0, width });
export const linear = (score: number): ScoreTerm => ({ score, shape: "linear", centre: 0, width: 0 });
export const hinge = (score: number, centre: number, width: number): ScoreTerm => ({
  score,
  shape: "hinge",
  centre,
  width,
});

/** The terms of a Gaussian score and of a stacked one. */
export const gaussianTerms: readonly ScoreTerm[] = [
  linear(0),
  ...[0.003, 0.01, 0.03, 0.1, 0.3].map((width) => log(0, width)),
  linear(1),
  ...[0.01, 0.03, 0.1].map((width) => log(1, width)),
];

/** A calibrator with terms of all shapes, some of them without weight, and effects of every label. */
export function someCalibrator(labels: number, seed: number): Calibrator {
  const next = generator(seed);
  const terms = [...gaussianTerms, hinge(0, -0.2, 0.05), hinge(1, 0.4, 0.3)];
  return {
    scores: ["gaussian", "stack"],
    terms,
    weights: Float64Array.from(terms, () => Math.max(0, next() - 0.3)),
    intercept: -1.5 + next(),
    frequencyWeight: 0.4 * next() - 0.1,
    varianceWeight: next() - 0.5,
    logVarianceRange: [-2, 1],
    centre: -0.4,
    labelOffsets: Float64Array.from({ length: labels }, () => next() - 0.5),
    labelSlopes: Float64Array.from({ length: labels }, () => 2 * next() - 0.7),
    offsetVariance: 0.1,
    slopeVariance: 0.05,
  };
}

export const someFrequencies = (labels: number, points: number, seed: number): LabelFrequencies => {
  const next = generator(seed);
  return { labelCounts: Int32Array.from({ length: labels }, () => Math.floor(next() * points)), points };
};

/** A term by its definition. */
function term({ shape, centre, width }: ScoreTerm, score: number): number {
  const x = score - centre;
  if (shape === "linear") return x;
  const hinge = (x + Math.sqrt(x ** 2 + 4 * width ** 2)) / 2;
  return shape === "hinge" ? hinge : Math.log(hinge);
}

/** p of a label by the formula; `points` and counts as in training. */
export function probabilityByFormula(
  calibrator: Calibrator,
  { labelCounts, points }: LabelFrequencies,
  label: number,
  scores: readonly number[],
  variance: number,
): number {
  const [low, high] = calibrator.logVarianceRange;
  let z =
    calibrator.intercept + calibrator.varianceWeight * Math.min(high, Math.max(low, Math.log(variance)));
  z += calibrator.frequencyWeight * Math.log(((labelCounts[label] as number) + 0.5) / (points + 1));
  calibrator.terms.forEach((one, t) => {
    z += (calibrator.weights[t] as number) * term(one, scores[one.score] as number);
  });
  const u = calibrator.labelOffsets[label] ?? 0;
  const a = calibrator.labelSlopes[label] ?? 0;
  return 1 / (1 + Math.exp(-(z + u + a * (z - calibrator.centre))));
}
