// A calibrator as plain data: what makes an honest probability of the scores of a label, in two steps.
//
// First, labels have a place by their frequency and points by their strength. At each knot of both stands a curve, and
// between the knots the curves are blended:
//
//   z = sum_ab G_a(label) H_b(point) (c_ab0 + sum_t c_abt term_t(score))        t = z + u_k + a_k (z - centre)
//
// Then the point is looked at as a whole: points have about as many labels as others whatever their scores say, so that
// t goes through curves of its own, blended by how many labels the first step expects; p is the sigmoid of that.
//
// The terms rise with their scores and their weights are not negative: among the labels of a point p rises with every
// score.

import type { ScoreTerm } from "../core/calibrator.ts";

/** Curves at knots, blended between them. */
export interface BlendedCurves {
  readonly terms: readonly ScoreTerm[];
  /** Log frequencies log((n_k + 1/2) / (N + 1)) at which there are curves, rising; one alone is for all. */
  readonly labelKnots: Float64Array; // [A]
  /** Strengths of points at which there are curves, rising; one alone is for all. */
  readonly pointKnots: Float64Array; // [B]
  /** Of each curve its constant and the weights of the terms, 0 or more. */
  readonly weights: Float64Array; // [A, B, 1 + terms]
}

/** Fitted by fitCalibrator(). */
export interface Calibrator {
  /** Names of the scores, in the order they are given: "gaussian", "stack", "utility". */
  readonly scores: readonly string[];
  /** The strength of a point: this function of the mean of its ten best; without it, log v of the point. */
  readonly strength?: ScoreTerm;
  /** From scores to z. */
  readonly first: BlendedCurves;
  /** What each label adds; labels beyond them add nothing. */
  readonly labelOffsets: Float64Array; // u [K]
  /** How much steeper each label is about `centre`, above -1; without them none is. */
  readonly labelSlopes?: Float64Array; // a [K]
  readonly centre?: number; // m0
  /** Variance of the offsets among labels: how far a refit may move them. */
  readonly offsetVariance: number;
  /** From t to the logit of p; the strength here is the log of how many labels are expected among the best by the first score. */
  readonly second?: BlendedCurves;
}

/** How many of a point's best labels make its strength, and among how many the expected ones are counted. */
export const STRENGTH_DEPTH = 10;
export const EXPECTED_DEPTH = 20;

/** How often labels are in the training data. */
export interface LabelFrequencies {
  readonly labelCounts: ArrayLike<number>; // n [K]
  readonly points: number; // N
}
