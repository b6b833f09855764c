// The compact model: one safetensors file with what predicting needs, each matrix in the type that was chosen for it.
//
//   tensor         shape          what it is
//   weights        [R,P]          the mean of the latent functions is x weights (linear kernels)
//   inducing       [R,M]          Z', with inducingSquares [M] = |z|^2 and mu [M,P]: the mean is k(x,Z) mu
//   phi, bias      [K,P], [K]     utilities are mean phi' + bias
//   spread         [K]            variance of a utility for each unit of latent variance, |phi_k|^2
//   own, cover     [D,1], [R,r]   latent variance s = sum_j own_j x_j^2 - |x cover|^2 (linear kernels)
//   root           [G M,r]        latent variance of group g is k(x,x) - |k(x,Z) root_g|^2
//   rows           [D]            where some features have no weights: the row of each, or -1
//   columnWeights  [D]            factor of each feature
//   columnIds      [D]            ids of the features in the data, rising, where they are not their numbers
//   vocabulary     bytes          names of the features, sorted and front-coded (vocabulary.ts)
//   order          [D]            feature of each name, where that is not its position
//   frequency      bytes          number of training texts with each term, as variable-length integers
//   names          bytes          names of the labels: length, then UTF-8
//   closed.offset  [K]            scores of a Gaussian posterior (closed.ts): what every text has
//   closed.weights [D,K] sparse   and what its features add
//   closed.points  [D,M] sparse   training points, with closed.squares [M] = |z|^2 and closed.dual [M,K], sparse
//   stack.vectors  [K,P]          E, with stack.weights [P,K] = Bs and stack.mean [K] = mu
//   labelCounts    [K]            training points of each label, where there is a calibrator
//   calibrator.*                  as in a full model, for the labels of this one; the metadata "calibrator" has the rest
//   thresholds.*                  the same of where to cut
//
// weights, inducing and cover have R rows: D, or as many as `rows` counts. A feature without a row still counts for the
// length of a text and in `own`.
//
// A matrix of whole numbers (I8, or U8 with the bits that the metadata states, low bits first, rows of whole bytes) has
// a tensor `<name>.scale` [rows]: the element is scale times (the number - 2^(bits-1)); I8 is signed already. A sparse matrix
// is three tensors (sparse.ts): `<name>.gaps` (bytes), `<name>.values` (F32 or I8) and for I8 `<name>.scale` [rows].

import type { TermRules } from "../data/terms.ts";
import type { KernelName } from "../model/kernels/index.ts";

export const COMPACT_FORMAT = "mlgpf-compact";
/**
 * A file has the first version that knows all that is in it: Gaussian and calibrated models, and fields of a text, have 2;
 * stemmed words and thresholds 3.
 */
export const COMPACT_VERSIONS = ["1", "2", "3"] as const;

export const VARIANCE_FORMS = ["exact", "low-rank", "diagonal", "none"] as const;

/** A Gaussian posterior in closed form. */
export interface ClosedAbout {
  kernel: KernelName;
  /** a, v, l of the kernel */
  hyper: [number, number, number];
  /** How many training points there are, 0 where the scores are linear in the features. */
  points: number;
  /** t0 and t1 of the covariance's tangent, which is in the weights already; both 0 where it is not. */
  tangent: [number, number];
  /** Directions of the stack, 0 where there is none. */
  stack: number;
  /** Points count as of length 1 at least: words that the vocabulary does not have fill them up. */
  whole?: boolean;
}

/** The metadata "about", as JSON. */
export interface CompactAbout {
  kernel: KernelName;
  /** R */
  rows: number;
  /** D, K, P (0 where there are no latent functions), and G: 1, or P where every factor has a variance of its own */
  features: number;
  labels: number;
  factors: number;
  groups: number;
  /** M and r, 0 where there are none. */
  inducing: number;
  rank: number;
  /** a, v, l of the kernel */
  hyper: [number, number, number];
  /** Whether rows are scaled to unit length. */
  normalise: boolean;
  /** Bits of an element, for matrices packed into U8. */
  bits: Record<string, number>;
  /** How texts become features; `documents` is how many texts the frequencies count. */
  text?: TermRules & { documents: number };
  /** The Gaussian posterior, where there is one. */
  closed?: ClosedAbout;
  /** N, where there is a calibrator. */
  points?: number;
  /** What the variance is. */
  variance: (typeof VARIANCE_FORMS)[number];
}
