// A calibrator as plain data: what makes an honest probability of the scores of a label.
//
// Labels have a place by their frequency and points by their strength. At each knot of both stands a curve, and between the
// knots the curves are blended; what is left of an S-shape common to all, the finish takes away:
//
//   z = sum_ab G_a(label) H_b(point) (c_ab0 + sum_t c_abt term_t(score))
//   p = sigmoid(finish(z + u_k + a_k (z - centre)) + r_rank)
//
// The terms rise with their scores and their weights are not negative: among the labels of a point p rises with every
// score. Points differ because a point has about as many labels as others, however low its scores are.

import type { ScoreTerm } from "../core/calibrator.ts";

/** A constant and weighted terms. */
export interface Curve {
  readonly terms: readonly ScoreTerm[];
  /** The constant, then the weight of each term, 0 or more. */
  readonly weights: Float64Array; // [1 + terms]
}

/** Curves of the same terms at knots, blended between them. */
export interface BlendedCurves {
  readonly terms: readonly ScoreTerm[];
  /** Log frequencies log((n_k + 1/2) / (N + 1)) at which there are curves, rising; one alone is for all. */
  readonly labelKnots: Float64Array; // [A]
  /** Strengths of points at which there are curves, rising; one alone is for all. */
  readonly pointKnots: Float64Array; // [B]
  /** Of each curve its constant and the weights of the terms. */
  readonly weights: Float64Array; // [A, B, 1 + terms]
}

/** Fitted by fitCalibrator(). */
export interface Calibrator {
  /**
   * Names of the scores, in the order they are given: "gaussian" and "stack", the scores of a Gaussian model and of its
   * stack; "utility", the logit of the probability of a Bernoulli model.
   */
  readonly scores: readonly string[];
  /** The strength of a point: this function of the mean of its ten best first scores; without it, log v of the point. */
  readonly strength?: ScoreTerm;
  readonly curves: BlendedCurves;
  /** What each label adds; labels beyond them add nothing. */
  readonly labelOffsets: Float64Array; // u [K]
  /** How much steeper each label is about `centre`, above -1; without them none is. */
  readonly labelSlopes?: Float64Array; // a [K]
  readonly centre?: number; // m0
  /** Variance of the offsets among labels: how far a refit may move them. */
  readonly offsetVariance: number;
  /** Of a logit; without it the logit is that of p. */
  readonly finish?: Curve;
  /** What its rank among the labels of its point adds to a label's logit, best first; beyond them nothing. */
  readonly rankOffsets?: Float64Array;
}

/** How many of a point's best first scores make its strength. */
export const STRENGTH_DEPTH = 10;

/** How often labels are in the training data. */
export interface LabelFrequencies {
  readonly labelCounts: ArrayLike<number>; // n [K]
  readonly points: number; // N
}
