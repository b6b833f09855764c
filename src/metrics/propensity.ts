// How likely a true label is to be recorded at all (Jain, Prabhu, Varma 2016): rare labels are missed more
// often, and propensity-scored metrics give them the weight 1/p_l back.

import { deterministicLog, deterministicPower } from "../data/elementary.ts";

/** A and B of the propensity model, which depend on the data. */
export interface PropensityOptions {
  /** Default 0.55; Wikipedia 0.5, Amazon 0.6. */
  readonly a?: number;
  /** Default 1.5; Wikipedia 0.4, Amazon 2.6. */
  readonly b?: number;
}

/**
 * 1/p_l for each label, from how many of the N training points have it:
 *     1/p_l = 1 + C (N_l + B)^-A,    C = (ln N - 1) (B + 1)^A
 */
export function inversePropensities(
  trainingCounts: ArrayLike<number>,
  trainingPoints: number,
  options: PropensityOptions = {},
): Float64Array {
  const { a = 0.55, b = 1.5 } = options;
  const c = (deterministicLog(trainingPoints) - 1) * deterministicPower(b + 1, a);
  return Float64Array.from(trainingCounts, (count) => 1 + c * deterministicPower(count + b, -a));
}
