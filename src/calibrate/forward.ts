// The calibrator's forward pass, one point at a time, for the edge and for single numbers; assembly/calibrator.ts has the same
// in blocks. Both give the same numbers but for the last places of exp and log.

import { deterministicExp, deterministicLog } from "../data/elementary.ts";
import { topLabels } from "../metrics/top.ts";
import { type Calibrator, type LabelFrequencies, STRENGTH_DEPTH } from "./calibrator.ts";
import { blendedChange, blendedValue, placeAmong, pointWeights, pruned, termValue } from "./curves.ts";

/** A calibrator with what is the same for all points worked out. */
export interface PreparedCalibrator {
  /** Without the terms that weigh nothing. */
  readonly calibrator: Calibrator;
  /** Of each label: its place among the knots; 1 + a_k; u_k - a_k centre. */
  readonly places: Float64Array;
  readonly slopes: Float64Array;
  readonly shifts: Float64Array;
}

/** A point with the curves that its strength blends. */
export interface CalibratedPoint {
  /** Of each kind, those of all labels. */
  readonly scores: readonly ArrayLike<number>[];
  readonly weights: Float64Array; // [A, 1 + terms]
}

/** log((n + 1/2) / (N + 1)) */
export function logFrequency(count: number, points: number): number {
  return deterministicLog((count + 0.5) / (points + 1));
}

/** For labels as often in the training data as given; those the calibrator has not seen have no effects of their own. */
export function prepareCalibrator(calibrator: Calibrator, frequencies: LabelFrequencies): PreparedCalibrator {
  const { curves, finish, labelOffsets, labelSlopes, centre = 0 } = calibrator;
  const { labelCounts, points } = frequencies;
  const places = Float64Array.from(labelCounts, (count) =>
    placeAmong(curves.labelKnots, logFrequency(count, points)),
  );
  const slopeOf = (label: number): number => labelSlopes?.[label] ?? 0;
  return {
    calibrator: { ...calibrator, curves: pruned(curves), ...(finish && { finish: pruned(finish) }) },
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

/** 1 / (1 + e^-x), both tails to their relative accuracy. */
export function logistic(x: number): number {
  const e = deterministicExp(-Math.abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/** Looks at a point as a whole: `scores` has those of all labels, of each kind. */
export function calibratePoint(
  { calibrator, places }: PreparedCalibrator,
  scores: readonly ArrayLike<number>[],
  variance?: number,
): CalibratedPoint {
  const [leading = []] = scores;
  const best = topLabels(leading, 1, places.length, Math.min(STRENGTH_DEPTH, places.length));
  const strength = pointStrength(
    calibrator,
    Array.from(best, (label) => leading[label] as number),
    variance,
  );
  const { curves } = calibrator;
  return { scores, weights: pointWeights(curves, placeAmong(curves.pointKnots, strength)) };
}

/** The logit before the finish. */
function plainLogit(
  { calibrator, places, slopes, shifts }: PreparedCalibrator,
  { scores, weights }: CalibratedPoint,
  label: number,
): number {
  const z = blendedValue(calibrator.curves.terms, weights, places[label] as number, scores, label);
  return (shifts[label] as number) + (slopes[label] as number) * z;
}

/** log(p / (1 - p)) of a label of that point. */
export function calibratedLogit(prepared: PreparedCalibrator, point: CalibratedPoint, label: number): number {
  const logit = plainLogit(prepared, point, label);
  const { finish } = prepared.calibrator;
  return finish ? blendedValue(finish.terms, finish.weights, 0, [[logit]], 0) : logit;
}

/** What no label of that point exceeds whose scores are at most these, one of each kind: logits rise with every score. */
export function greatestLogit(
  { calibrator, slopes, shifts }: PreparedCalibrator,
  { weights }: CalibratedPoint,
  scores: readonly number[],
): number {
  const { curves, finish } = calibrator;
  const lists = scores.map((score) => [score]);
  // Between two knots z lies between those at the knots.
  let z = Number.NEGATIVE_INFINITY;
  for (let knot = 0; knot < curves.labelKnots.length; knot++)
    z = Math.max(z, blendedValue(curves.terms, weights, knot, lists, 0));
  let logit = Number.NEGATIVE_INFINITY;
  for (let label = 0; label < slopes.length; label++)
    logit = Math.max(logit, (shifts[label] as number) + (slopes[label] as number) * z);
  return finish ? blendedValue(finish.terms, finish.weights, 0, [[logit]], 0) : logit;
}

/** The probability of a label of that point. */
export function calibratedProbability(
  prepared: PreparedCalibrator,
  point: CalibratedPoint,
  label: number,
): number {
  return logistic(calibratedLogit(prepared, point, label));
}

/**
 * Standard deviation of the probability p when the scores have these: through the slope of the calibrator, as if the scores
 * moved together. At most sqrt(p (1 - p)), which no number between 0 and 1 with the mean p exceeds.
 */
export function calibratedDeviation(
  prepared: PreparedCalibrator,
  point: CalibratedPoint,
  label: number,
  deviations: ArrayLike<number>,
  p: number = calibratedProbability(prepared, point, label),
): number {
  const { calibrator, places, slopes } = prepared;
  const { scores, weights } = point;
  const place = places[label] as number;
  let spread = blendedChange(calibrator.curves.terms, weights, place, scores, label, deviations);
  spread *= slopes[label] as number;
  const { finish } = calibrator;
  if (finish) {
    const logit = plainLogit(prepared, point, label);
    spread = blendedChange(finish.terms, finish.weights, 0, [[logit]], 0, [spread]);
  }
  return Math.min(Math.sqrt(p * (1 - p)), p * (1 - p) * spread);
}
