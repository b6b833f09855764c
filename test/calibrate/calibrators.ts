// Calibrators to test with, and the formula as a page of paper has it.

import type { Calibrator, Curve, LabelFrequencies } from "../../src/base/calibrator.ts";
import type { ScoreTerm, TermShape } from "../../src/core/calibrator.ts";
import { generator } from "../support/numbers.ts";

/** A term of a score. */
export const term = (score: number, shape: TermShape, centre = 0, width = 0): ScoreTerm => ({
  score,
  shape,
  centre,
  width,
});

/** The terms of a Gaussian score and of a stacked one. */
export const gaussianTerms: readonly ScoreTerm[] = [
  term(0, "linear"),
  ...[0.003, 0.01, 0.03, 0.1, 0.3].map((width) => term(0, "log", 0, width)),
  term(1, "linear"),
  ...[0.01, 0.03, 0.1].map((width) => term(1, "log", 0, width)),
];

/** Constants anywhere, weights of 0 or more, some terms without any. */
function someWeights(curves: number, terms: number, next: () => number): Float64Array {
  const idle = Array.from({ length: terms }, () => next() < 0.3);
  return Float64Array.from({ length: curves * (1 + terms) }, (_, i) => {
    const t = (i % (1 + terms)) - 1;
    return t < 0 ? 2 * next() - 1 : idle[t] ? 0 : 0.6 * next();
  });
}

/** The outer curve that leaves a logit as it is. */
export const identity: Curve = { terms: [term(0, "linear")], weights: Float64Array.from([0, 1]) };

/** A calibrator with terms of all shapes, curves at several knots, effects of every label and an outer curve. */
export function someCalibrator(labels: number, seed: number, scores: string[] = ["gaussian", "stack"]): Calibrator {
  const next = generator(seed);
  const terms = [
    ...gaussianTerms,
    term(0, "hinge", -0.2, 0.05),
    term(1, "cap", 0.4, 0.3),
    term(0, "limit", 1, 0.1),
    term(2, "linear"),
    term(2, "hinge", -3, 0.7),
  ].filter(({ score }) => score < scores.length);
  const outerTerms = [term(0, "linear"), term(0, "hinge", -1, 0.5), term(0, "cap", 1, 0.5)];
  return {
    scores,
    strength: term(0, "log", 0, 0.03),
    curves: {
      terms,
      labelKnots: Float64Array.from([-6, -3, -1]),
      pointKnots: Float64Array.from([-1, 0]),
      weights: someWeights(6, terms.length, next),
    },
    labelOffsets: Float64Array.from({ length: labels }, () => next() - 0.5),
    offsetVariance: 0.1,
    outer: { terms: outerTerms, weights: someWeights(1, outerTerms.length, next) },
  };
}

/** Labels of all frequencies, one of which was never seen. */
export const someFrequencies = (labels: number, points: number, seed: number): LabelFrequencies => {
  const next = generator(seed);
  const labelCounts = Int32Array.from({ length: labels }, (_, k) => (k === 0 ? 0 : Math.floor(next() ** 3 * points)));
  return { labelCounts, points };
};

/** A term by its definition. */
function valueByFormula({ shape, centre, width }: ScoreTerm, score: number): number {
  const x = score - centre;
  const hinge = (t: number) => (t + Math.sqrt(t ** 2 + 4 * width ** 2)) / 2;
  if (shape === "linear") return x;
  if (shape === "hinge") return hinge(x);
  if (shape === "log") return Math.log(hinge(x));
  return shape === "cap" ? -hinge(-x) : -Math.log(hinge(-x));
}

function curveByFormula({ terms, weights }: Curve, scores: readonly number[]): number {
  return terms.reduce((sum, one, t) => sum + weights[1 + t] * valueByFormula(one, scores[one.score]), weights[0]);
}

/** Linear interpolation of f between knots, constant beyond their ends. */
function interpolated(knots: ArrayLike<number>, value: number, f: (knot: number) => number): number {
  const last = knots.length - 1;
  if (value <= knots[0]) return f(0);
  for (let i = 0; i < last; i++) {
    const [low, high] = [knots[i], knots[i + 1]];
    if (value < high) return ((high - value) * f(i) + (value - low) * f(i + 1)) / (high - low);
  }
  return f(last);
}

/** log(p / (1 - p)) of a label by the formula; `row` has all labels' scores of each kind. */
export function logitByFormula(
  calibrator: Calibrator,
  { labelCounts, points }: LabelFrequencies,
  label: number,
  row: readonly (readonly number[])[],
): number {
  const { curves, strength, outer } = calibrator;
  const best = [...row[0]].sort((a, b) => b - a).slice(0, 10);
  const mean = best.reduce((sum, score) => sum + score, 0) / best.length;
  const ofPoint = valueByFormula(strength, mean);
  const ofLabel = Math.log((labelCounts[label] + 0.5) / (points + 1));
  const scores = row.map((values) => values[label]);
  const width = 1 + curves.terms.length;
  const z = interpolated(curves.labelKnots, ofLabel, (a) =>
    interpolated(curves.pointKnots, ofPoint, (b) => {
      const from = (a * curves.pointKnots.length + b) * width;
      return curveByFormula({ terms: curves.terms, weights: curves.weights.slice(from, from + width) }, scores);
    }),
  );
  return curveByFormula(outer, [z + (calibrator.labelOffsets[label] ?? 0)]);
}

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
