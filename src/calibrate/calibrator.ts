// A calibrator as plain data: what makes an honest probability of the scores of a label.
//
//   z = intercept + sum_t weight_t term_t(score) + frequencyWeight log((n_k + 1/2) / (N + 1)) + varianceWeight log v
//   p = sigmoid(z + u_k + a_k (z - centre))
//
// n_k of N training points have label k, v is the variance of the point. The terms rise with their scores and their
// weights are not negative, so that p rises with every score for every label.

import type { ScoreTerm } from "../core/calibrator.ts";

/** What a label's own slope may be: 1 + a_k stays well above 0. */
export const SLOPE_RANGE: readonly [low: number, high: number] = [-0.7, 2];

/** Fitted by fitCalibrator(). */
export interface Calibrator {
  /** Names of the scores, in the order they are given: "gaussian", "stack", "utility". */
  readonly scores: readonly string[];
  readonly terms: readonly ScoreTerm[];
  /** Of each term, 0 or more. */
  readonly weights: Float64Array;
  readonly intercept: number; // b
  readonly frequencyWeight: number; // r
  readonly varianceWeight: number; // q
  /** log v is held within what was seen at the fit: far from the data its effect is not known. */
  readonly logVarianceRange: readonly [low: number, high: number];
  /** Where the slopes of the labels turn: the mean z of positives. */
  readonly centre: number; // m0
  /** Effects of each label; labels beyond them have none. */
  readonly labelOffsets: Float64Array; // u [K]
  readonly labelSlopes: Float64Array; // a [K], within SLOPE_RANGE
  /** Variances of the effects among the labels: how far a refit may move them. */
  readonly offsetVariance: number; // t1
  readonly slopeVariance: number; // t2
}

/** How often labels are in the training data. */
export interface LabelFrequencies {
  readonly labelCounts: ArrayLike<number>; // n [K]
  readonly points: number; // N
}
