// The options of a compact model with their defaults, which the families of its parts know.

import { oneOf, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import type { Model } from "../model/model.ts";
import {
  type CompactChoices,
  type CompactOptions,
  type FullCompactOptions,
  NUMBER_TYPES,
  VARIANCE_FORMS,
} from "../parts/compact.ts";
import { familyOf } from "../parts/index.ts";

const DEFAULT_RANK = 32;
const DEFAULT_SIZE = 9.5;

/** Choices of the families for the parts of a model. */
export function choicesFor({ parts }: Pick<Model, "parts">, given: CompactOptions): CompactChoices {
  return Object.assign({}, ...parts.map((part) => familyOf(part).compactChoices?.(part, given)));
}

export function completeCompactOptions(model: Model, given: CompactOptions): FullCompactOptions {
  const choices = choicesFor(model, given);
  const { variance = choices.variance, size = DEFAULT_SIZE } = given;
  if (!(size > 0 && size < 1e6)) throw new ArgumentError("size", `found ${given.size}, expected megabytes above 0`);
  return {
    type: oneOf("type", given.type ?? choices.type ?? "int5", NUMBER_TYPES),
    // Scores of a Gaussian model have no variance that probabilities would integrate.
    variance: choices.variances && variance && oneOf("variance", variance, VARIANCE_FORMS),
    rank: Math.min(choices.mostRank ?? Number.POSITIVE_INFINITY, wholeNumber("rank", given.rank ?? DEFAULT_RANK, 1)),
    size,
    allLabels: given.allLabels ?? choices.allLabels ?? false,
  };
}
