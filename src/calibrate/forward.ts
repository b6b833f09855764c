// The calibrator's forward pass, one label at a time, for the edge and for single numbers; assembly/calibrator.ts has the
// same in blocks. Both give the same numbers but for the last places of exp and log.

import type { ScoreTerm } from "../core/calibrator.ts";
import { deterministicExp, deterministicLog } from "../data/elementary.ts";
import type { Calibrator, LabelFrequencies } from "./calibrator.ts";

/** A calibrator with what is the same for all points worked out. */
export interface PreparedCalibrator {
  readonly scores: readonly string[];
  /** The terms that weigh anything. */
  readonly terms: readonly ScoreTerm[];
  readonly weights: Float64Array;
  readonly varianceWeight: number;
  readonly logVarianceRange: readonly [low: number, high: number];
  /** Of each label: intercept and frequency; 1 + a_k; u_k - a_k centre. */
  readonly labelTerms: Float64Array;
  readonly slopes: Float64Array;
  readonly shifts: Float64Array;
}

/** log((n_k + 1/2) / (N + 1)) of each label. */
export function logFrequencies({ labelCounts, points }: LabelFrequencies): Float64Array {
  return Float64Array.from(labelCounts, (count) => deterministicLog((count + 0.5) / (points + 1)));
}

/** For labels as often in the training data as given; those the calibrator has not seen have no effects of their own. */
export function prepareCalibrator(calibrator: Calibrator, frequencies: LabelFrequencies): PreparedCalibrator {
  const { terms, weights, intercept, frequencyWeight, centre, labelOffsets, labelSlopes } = calibrator;
  const weighty = terms.flatMap((term, t) => ((weights[t] as number) > 0 ? [{ term, t }] : []));
  const labelTerms = logFrequencies(frequencies).map((value) => intercept + frequencyWeight * value);
  return {
    scores: calibrator.scores,
    terms: weighty.map(({ term }) => term),
    weights: Float64Array.from(weighty, ({ t }) => weights[t] as number),
    varianceWeight: calibrator.varianceWeight,
    logVarianceRange: calibrator.logVarianceRange,
    labelTerms,
    slopes: labelTerms.map((_, k) => 1 + (labelSlopes[k] ?? 0)),
    shifts: labelTerms.map((_, k) => (labelOffsets[k] ?? 0) - (labelSlopes[k] ?? 0) * centre),
  };
}

/** What the variance of a point adds to z, the same for all labels. */
export function pointTerm(prepared: PreparedCalibrator, variance: number): number {
  if (prepared.varianceWeight === 0) return 0;
  const [low, high] = prepared.logVarianceRange;
  return prepared.varianceWeight * Math.min(high, Math.max(low, deterministicLog(variance)));
}

/** Root of x^2 + (2 width)^2, and the soft positive part made of it; below 0 without cancellation. */
function softHinge(x: number, width: number): { root: number; hinge: number } {
  const spread = 4 * width * width;
  const root = Math.sqrt(x * x + spread);
  const half = (Math.abs(x) + root) * 0.5;
  return { root, hinge: x >= 0 ? half : (spread * 0.25) / half };
}

/** Value of a term at a score. */
export function termValue({ shape, centre, width }: ScoreTerm, score: number): number {
  const x = score - centre;
  if (shape === "linear") return x;
  const { hinge } = softHinge(x, width);
  return shape === "hinge" ? hinge : deterministicLog(hinge);
}

/** Derivative of a term: 1; hinge / root; 1 / root. */
export function termSlope({ shape, centre, width }: ScoreTerm, score: number): number {
  if (shape === "linear") return 1;
  const { root, hinge } = softHinge(score - centre, width);
  return shape === "hinge" ? hinge / root : 1 / root;
}

/** 1 / (1 + e^-x), both tails to their relative accuracy. */
export function logistic(x: number): number {
  const e = deterministicExp(-Math.abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/** log(p / (1 - p)) of a label with these scores; `point` is pointTerm(). */
export function calibratedLogit(
  prepared: PreparedCalibrator,
  label: number,
  scores: ArrayLike<number>,
  point: number,
): number {
  const { terms, weights, labelTerms, slopes, shifts } = prepared;
  let z = point + (labelTerms[label] as number);
  for (let t = 0; t < terms.length; t++) {
    const term = terms[t] as ScoreTerm;
    z += (weights[t] as number) * termValue(term, scores[term.score] as number);
  }
  return (shifts[label] as number) + (slopes[label] as number) * z;
}

/** The probability of a label with these scores. */
export function calibratedProbability(
  prepared: PreparedCalibrator,
  label: number,
  scores: ArrayLike<number>,
  point: number,
): number {
  return logistic(calibratedLogit(prepared, label, scores, point));
}

/**
 * Standard deviation of the probability when the scores have these: through the slope of the calibrator, as if the scores
 * moved together. At most 1/2, which no number between 0 and 1 exceeds.
 */
export function calibratedDeviation(
  prepared: PreparedCalibrator,
  label: number,
  scores: ArrayLike<number>,
  point: number,
  deviations: ArrayLike<number>,
): number {
  const { terms, weights, slopes } = prepared;
  let spread = 0;
  for (let t = 0; t < terms.length; t++) {
    const term = terms[t] as ScoreTerm;
    const slope = (weights[t] as number) * termSlope(term, scores[term.score] as number);
    spread += slope * (deviations[term.score] as number);
  }
  const p = calibratedProbability(prepared, label, scores, point);
  return Math.min(0.5, p * (1 - p) * (slopes[label] as number) * spread);
}
