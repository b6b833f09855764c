// The calibrator's forward pass, one point at a time, for the edge and for single numbers; assembly/calibrator.ts has the same
// in blocks. Both give the same numbers but for the last places of exp and log.

import { deterministicExp, deterministicLog } from "../data/elementary.ts";
import { topLabels } from "../metrics/top.ts";
import { type Calibrator, EXPECTED_DEPTH, type LabelFrequencies, STRENGTH_DEPTH } from "./calibrator.ts";
import { blendedSlope, blendedValue, placeAmong, pointWeights, pruned, termValue } from "./curves.ts";

/** A calibrator with what is the same for all points worked out. */
export interface PreparedCalibrator {
  /** Without the terms that weigh nothing. */
  readonly calibrator: Calibrator;
  /** Of each label: its place among the knots; 1 + a_k; u_k - a_k centre. */
  readonly places: Float64Array;
  readonly slopes: Float64Array;
  readonly shifts: Float64Array;
}

/** What a point's own scores make of the curves. */
export interface CalibratedPoint {
  readonly first: Float64Array;
  readonly second?: Float64Array;
}

/** log((n + 1/2) / (N + 1)) */
export function logFrequency(count: number, points: number): number {
  return deterministicLog((count + 0.5) / (points + 1));
}

/** For labels as often in the training data as given; those the calibrator has not seen have no effects of their own. */
export function prepareCalibrator(calibrator: Calibrator, frequencies: LabelFrequencies): PreparedCalibrator {
  const { first, second, labelOffsets, labelSlopes, centre = 0 } = calibrator;
  const { labelCounts, points } = frequencies;
  const places = Float64Array.from(labelCounts, (count) =>
    placeAmong(first.labelKnots, logFrequency(count, points)),
  );
  const slopeOf = (label: number): number => labelSlopes?.[label] ?? 0;
  return {
    calibrator: { ...calibrator, first: pruned(first), ...(second && { second: pruned(second) }) },
    places,
    slopes: places.map((_, k) => 1 + slopeOf(k)),
    shifts: places.map((_, k) => (labelOffsets[k] ?? 0) - slopeOf(k) * centre),
  };
}

/** Strength of a point from the mean of its ten best first scores, or from its variance. */
export function pointStrength({ strength }: Calibrator, best: ArrayLike<number>, variance = 1): number {
  return strength ? termValue(strength, meanOf(best)) : deterministicLog(variance);
}

/** The mean, 0 of nothing. */
export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  return sum / Math.max(1, values.length);
}

/** Log of a number of expected labels. */
export function logOfExpected(labels: number): number {
  return deterministicLog(labels + 1e-3);
}

/** Log of how many labels are expected among those with these logits. */
export function logExpected(logits: Iterable<number>): number {
  let sum = 0;
  for (const logit of logits) sum += logistic(logit);
  return logOfExpected(sum);
}

/** 1 / (1 + e^-x), both tails to their relative accuracy. */
export function logistic(x: number): number {
  const e = deterministicExp(-Math.abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

const scoresOf = (all: readonly ArrayLike<number>[], label: number): number[] =>
  all.map((values) => values[label] as number);

/** Looks at a point as a whole: `scores` has all labels' of each kind. */
export function calibratePoint(
  prepared: PreparedCalibrator,
  scores: readonly ArrayLike<number>[],
  variance?: number,
): CalibratedPoint {
  const { calibrator } = prepared;
  const labels = prepared.places.length;
  const [leading = []] = scores;
  const best = topLabels(leading, 1, labels, Math.min(EXPECTED_DEPTH, labels));
  const strengths = Array.from(best.subarray(0, STRENGTH_DEPTH), (label) => leading[label] as number);
  const strength = pointStrength(calibrator, strengths, variance);
  const first = pointWeights(calibrator.first, placeAmong(calibrator.first.pointKnots, strength));
  if (!calibrator.second) return { first };
  const expected = logExpected(
    Array.from(best, (label) => firstLogit(prepared, { first }, label, scoresOf(scores, label))),
  );
  const place = placeAmong(calibrator.second.pointKnots, expected);
  return { first, second: pointWeights(calibrator.second, place) };
}

/** The logit before the point is looked at as a whole. */
function firstLogit(
  { calibrator, places, slopes, shifts }: PreparedCalibrator,
  { first }: CalibratedPoint,
  label: number,
  scores: ArrayLike<number>,
): number {
  const z = blendedValue(calibrator.first, first, places[label] as number, scores);
  return (shifts[label] as number) + (slopes[label] as number) * z;
}

/** log(p / (1 - p)) of a label of that point with these scores. */
export function calibratedLogit(
  prepared: PreparedCalibrator,
  point: CalibratedPoint,
  label: number,
  scores: ArrayLike<number>,
): number {
  const logit = firstLogit(prepared, point, label, scores);
  const { second } = prepared.calibrator;
  return second && point.second ? blendedValue(second, point.second, 0, [logit]) : logit;
}

/** The probability of a label of that point with these scores. */
export function calibratedProbability(
  prepared: PreparedCalibrator,
  point: CalibratedPoint,
  label: number,
  scores: ArrayLike<number>,
): number {
  return logistic(calibratedLogit(prepared, point, label, scores));
}

/**
 * Standard deviation of the probability when the scores have these: through the slope of the calibrator, as if the scores
 * moved together. At most 1/2, which no number between 0 and 1 exceeds.
 */
export function calibratedDeviation(
  prepared: PreparedCalibrator,
  point: CalibratedPoint,
  label: number,
  scores: ArrayLike<number>,
  deviations: ArrayLike<number>,
): number {
  const { first, second } = prepared.calibrator;
  let spread = 0;
  for (let j = 0; j < deviations.length; j++) {
    const slope = blendedSlope(first, point.first, prepared.places[label] as number, scores, j);
    spread += slope * (deviations[j] as number);
  }
  spread *= prepared.slopes[label] as number;
  if (second && point.second) {
    const logit = firstLogit(prepared, point, label, scores);
    spread *= blendedSlope(second, point.second, 0, [logit], 0);
  }
  const p = calibratedProbability(prepared, point, label, scores);
  return Math.min(0.5, p * (1 - p) * spread);
}
