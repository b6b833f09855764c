// Rare labels first, as far as one likes: labels ranked by p_il (1/p_l)^tail, where 1/p_l is the inverse propensity. With
// tail 0 that is the order of the probabilities; with tail 1 it is the order that is best for PSP@k.

import { deterministicPower } from "../data/elementary.ts";

/** (1/p_l)^tail for each label. */
export function tailWeights(inversePropensity: ArrayLike<number>, tail: number): Float64Array {
  if (!(tail >= 0 && tail <= 1))
    throw new RangeError(`found a tail of ${tail}, expected a number from 0 to 1`);
  return Float64Array.from(inversePropensity, (weight) => deterministicPower(weight, tail));
}

/** What labels are ranked by [rows, labels]: each probability times the weight of its label. */
export function tailOrder(probabilities: ArrayLike<number>, weights: ArrayLike<number>): Float64Array {
  const labels = weights.length;
  if (labels === 0 || probabilities.length % labels !== 0) {
    throw new RangeError(`found ${probabilities.length} probabilities, expected rows of ${labels}`);
  }
  return Float64Array.from(
    probabilities,
    (probability, at) => probability * (weights[at % labels] as number),
  );
}
