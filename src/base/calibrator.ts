// A calibrator as plain data: it maps the scores of a label to a calibrated probability.
//
// Labels have a position by their frequency and points by the mean of their top scores. At each knot of both stands a curve, and
// between the knots the curves are blended; an outer curve, common to all, removes what is left of an S-shape:
//
//   z = sum_ab G_a(label) H_b(point) (c_ab0 + sum_t c_abt basis_t(score))
//   p = sigmoid(outer(z + u_k) + r_rank)
//
// Where exactly one label of a point is true, p is the softmax of these logits, times a sharpness.
//
// The basis functions rise with their scores and their weights are not negative: among the labels of a point p rises with every
// score. Points differ because a point has about as many labels as others, however low its scores are.

/**
 * Rising functions of x = score - centre: x; a soft positive part of x, its corner of this width; the log of that; and these
 * two turned about the centre, one that levels off there and one that climbs towards it.
 */
export type TermShape = "linear" | "hinge" | "log" | "cap" | "limit";

/** One function of one score. */
export interface ScoreTerm {
  /** Which of the scores. */
  readonly score: number;
  readonly shape: TermShape;
  readonly centre: number;
  /** Above 0; a linear term has none and says 0. */
  readonly width: number;
}

/** In the order of the kernel. */
export const TERM_SHAPES: readonly TermShape[] = ["linear", "hinge", "log", "cap", "limit"];

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
  /** The constant and the weights of the terms, by curve. */
  readonly weights: Float64Array; // [A, B, 1 + terms]
}

/** Fitted by fitCalibrator(). */
export interface Calibrator {
  /**
   * Names of the scores, in the order they are given: "gaussian" and "stack", the scores of a Gaussian model and of its
   * stack; "utility", the logit of the probability of a Bernoulli model.
   */
  readonly scores: readonly string[];
  /** The position of a point: this function of the mean of its ten best first scores. */
  readonly strength: ScoreTerm;
  readonly curves: BlendedCurves;
  /** Offset of each label; labels beyond them have none. */
  readonly labelOffsets: Float64Array; // u [K]
  /** Variance of the offsets among labels: how far a refit may move them. */
  readonly offsetVariance: number;
  /** The outer curve, of a logit. */
  readonly outer: Curve;
  /** Offset of a label's logit by its rank among the labels of its point, best first; beyond them none. */
  readonly rankOffsets?: Float64Array;
  /** Exactly one label of a point is true: what logits are multiplied by before their softmax. */
  readonly sharpness?: number;
}

/** How many of a point's best first scores make its strength. */
export const STRENGTH_DEPTH = 10;

/** How often labels are in the training data. */
export interface LabelFrequencies {
  readonly labelCounts: ArrayLike<number>; // n [K]
  readonly points: number; // N
}
