// The compact model: one safetensors file with what predicting needs, each matrix in the type that was chosen for it.
//
//   tensor         shape          what it is
//   names          bytes          names of the labels: length, then UTF-8
//   vocabulary     bytes          names of the features, sorted and front-coded (vocabulary.ts)
//   order          [D]            feature of each name, where that is not its position
//   frequency      bytes          number of training texts with each term, as variable-length integers
//   columnWeights  [D]            factor of each feature
//   columnIds      [D]            ids of the features in the data, rising, where they are not their numbers
//   labelCounts    [K]            training points of each label, where there is a calibrator
//   calibrator.*                  as in a full model, for the labels of this one; the metadata "calibrator" has the rest
//   thresholds.*                  the same of where to cut
//
// The tensors of a part stand behind the name of its family, as src/parts/*/row.ts reads them:
//
//   gpr, sgpr      s(x) = x weights + sum_z (k(x,z) - tangent) dual_z + offset
//     offset       [K]            what every text has
//     weights      [D,K] sparse   what its features add: the tangent, or all where the kernel is linear
//     points       [D,M] sparse   training points, with squares [M] = |z|^2 and dual [M,K] sparse
//   linear         offset and weights, as above
//   coupling       vectors [K,P] = E, weights [P,K] = Bs, mean [K] = mu
//   names          labels: JSON, lists of a label and its names; frequency of their words in training texts, weights (names/row.ts)
//   svgp           utilities are mean phi' + bias
//     weights      [R,P]          the mean of the latent functions is x weights (linear kernels)
//     inducing     [R,M]          Z', with inducingSquares [M] = |z|^2 and mu [M,P]: the mean is k(x,Z) mu
//     phi, bias    [K,P], [K]     the labels
//     spread       [K]            variance of a utility for each unit of latent variance, |phi_k|^2
//     diag         [D,1]          latent variance s = sum_j diag_j x_j^2 - |x lowRank|^2 (linear kernels), lowRank [R,r]
//     cholInverse  [G M,r]        latent variance of group g is k(x,x) - |k(x,Z) cholInverse_g|^2
//     rows         [D]            where some features have no weights: the row of each, or -1
//
// weights, inducing and lowRank of svgp have R rows: D, or as many as `rows` counts. A feature without a row still counts for the
// length of a text and in `diag`.
//
// A matrix of whole numbers (I8, or U8 with the bits that the metadata states, low bits first, rows of whole bytes) has
// a tensor `<name>.scale` [rows]: the element is scale times (the number - 2^(bits-1)); I8 is signed already. A sparse matrix
// is three tensors (sparse.ts): `<name>.gaps` (bytes), `<name>.values` (F32 or I8) and for I8 `<name>.scale` [rows].

import type { View } from "../base/sparse.ts";
import type { TermRules } from "../base/terms.ts";

export const COMPACT_FORMAT = "mlgpf-compact";
export const COMPACT_VERSION = "6";
/** Most texts whose labels are scored together: the labels' matrix comes through the cache once for all of them. */
export const GROUP = 16;

/** How texts become features; `documents` is how many texts the frequencies count. */
export type TextRules = TermRules & { readonly documents: number };

/** The metadata "about", as JSON. */
export interface CompactAbout {
  /** D, K */
  readonly features: number;
  readonly labels: number;
  /** N, where there is a calibrator. */
  readonly points?: number | undefined;
  /** Rows are scaled to unit length. */
  readonly normalise: boolean;
  /** Rows count as of length 1 at least: words that the vocabulary does not have fill them up. */
  readonly unit?: boolean | undefined;
  readonly text?: TextRules | undefined;
  /** Vectors of each document, whose columns come behind those of the words; and what made them, if known. */
  readonly views?: readonly View[] | undefined;
  readonly embedder?: unknown;
  /** Bits of an element, for matrices packed into U8. */
  readonly bits: Readonly<Record<string, number>>;
  readonly parts: { readonly family: string; readonly [field: string]: unknown }[];
}
