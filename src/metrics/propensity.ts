// How likely a true label is to be recorded at all (Jain, Prabhu, Varma 2016): rare labels are missed more
// often, and propensity-scored metrics give them the weight 1/p_l back.

import { ArgumentError } from "../base/errors.ts";
import { deterministicLog, deterministicPower } from "../base/math.ts";

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

/**
 * (1/p_l)^tail for each label: rare labels first, as far as one likes. Labels are ranked by p_il (1/p_l)^tail; with tail 0 that
 * is the order of the probabilities, with tail 1 the order that is best for PSP@k.
 */
export function tailWeights(inversePropensity: ArrayLike<number>, tail: number): Float64Array {
  if (!(tail >= 0 && tail <= 1)) throw new ArgumentError("tail", `found ${tail}, expected a number from 0 to 1`);
  return Float64Array.from(inversePropensity, (weight) => deterministicPower(weight, tail));
}

/** Each probability times the weight of its label [rows, labels]: labels are ranked by it. */
export function tailOrder(probabilities: ArrayLike<number>, weights: ArrayLike<number>): Float64Array {
  const labels = weights.length;
  if (labels === 0 || probabilities.length % labels !== 0)
    throw new ArgumentError("probabilities", `found ${probabilities.length}, expected rows of ${labels}`);
  return Float64Array.from(probabilities, (probability, at) => probability * weights[at % labels]);
}
