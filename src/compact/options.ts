// How a model is made small.

import { ArgumentError } from "../core/errors.ts";
import { VARIANCE_FORMS } from "../edge/format.ts";
import { isLinear } from "../model/kernels/index.ts";
import { isClosed, type TrainedModel } from "../model/model.ts";
import { groupsOf } from "../model/posteriors/index.ts";

/** Of an element of a matrix; intN is a whole number of N bits with a scale for each row. */
export const NUMBER_TYPES = ["f32", "f16", "int8", "int7", "int6", "int5", "int4", "int3", "int2"] as const;
/** Type of the elements of a matrix. */
export type NumberType = (typeof NUMBER_TYPES)[number];

export { VARIANCE_FORMS };
/**
 * What probabilities integrate. The latent variance is s(x) = k(x,x) - |x V|^2 with a matrix V of M columns.
 * - exact: V itself, in the type of the weights (for covariance "perFactor": one for each factor).
 * - low-rank: the `rank` directions of V that carry most, and the diagonal of what is left: a text of one word is exact.
 * - diagonal: rank 0, one number for each feature. What it neglects is how words of one text go together.
 * - none: probabilities are those of the mean utility.
 * All but exact take a covariance "perFactor" as one, with the mean of Sigma over the factors.
 */
export type VarianceForm = (typeof VARIANCE_FORMS)[number];

/** What a compact model is made of. */
export interface CompactOptions {
  /**
   * Of the large matrices (default int5; f32 where inducing points carry the mean, whose weights have to be exact). The labels' matrix is at least int8. Of a Gaussian posterior whole numbers are always
   * int8, and only the largest weights are kept, as many as `size` has room for; f16 and f32 keep all in single precision.
   */
  type?: NumberType;
  /** Default: diagonal for the linear kernel, else exact or, for covariance "perFactor", low-rank. */
  variance?: VarianceForm;
  /** Of the low-rank variance (default 32). */
  rank?: number;
  /** Megabytes that a file with a Gaussian posterior may have, about (default 9.5): what the rest leaves is for its weights. */
  size?: number;
  /**
   * Keep labels without a training point (default: those of a Gaussian posterior, where they take little; else they are left out,
   * and can never be predicted).
   */
  allLabels?: boolean;
}

export type FullCompactOptions = Required<CompactOptions>;

const DEFAULT_RANK = 32;
const DEFAULT_SIZE = 9.5;

export function completeCompactOptions(model: TrainedModel, asked: CompactOptions): FullCompactOptions {
  const given = { ...asked, allLabels: asked.allLabels ?? isClosed(model) };
  const latent = isClosed(model) ? model.latent : model;
  // Scores of a Gaussian model have no variance that probabilities would integrate.
  if (!latent) {
    const type = given.type ?? (isClosed(model) && model.closed.form === "inducing" ? "f32" : undefined);
    return checkedOptions(
      "none",
      { ...given, ...(type && { type }), variance: "none" },
      Number.POSITIVE_INFINITY,
    );
  }
  const { kernel, inducingPoints } = latent;
  const linear = isLinear(kernel);
  if (given.variance === "diagonal" && !linear)
    throw new ArgumentError(
      "variance",
      `found diagonal with the kernel ${kernel}, expected exact, low-rank or none`,
    );
  const standard = linear ? "diagonal" : groupsOf(latent) === 1 ? "exact" : "low-rank";
  return checkedOptions(standard, given, inducingPoints);
}

function checkedOptions(
  standard: VarianceForm,
  given: CompactOptions,
  largestRank: number,
): FullCompactOptions {
  const options: FullCompactOptions = {
    type: given.type ?? "int5",
    variance: given.variance ?? standard,
    rank: Math.min(largestRank, given.rank ?? DEFAULT_RANK),
    size: given.size ?? DEFAULT_SIZE,
    allLabels: given.allLabels ?? false,
  };
  if (!NUMBER_TYPES.includes(options.type))
    throw new ArgumentError("type", `found ${options.type}, expected ${NUMBER_TYPES.join(", ")}`);
  if (!VARIANCE_FORMS.includes(options.variance))
    throw new ArgumentError("variance", `found ${options.variance}, expected ${VARIANCE_FORMS.join(", ")}`);
  if (!(options.size > 0 && options.size < 1e6))
    throw new ArgumentError("size", `found ${given.size}, expected megabytes above 0`);
  if (!Number.isInteger(options.rank) || options.rank < 1)
    throw new ArgumentError("rank", `found ${given.rank}, expected a whole number of at least 1`);
  return options;
}
