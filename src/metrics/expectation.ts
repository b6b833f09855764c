// Confidence beside accuracy of the top labels: the mean probability of the first label of each point, and how often it
// was right. Where they differ by more than chance, the data are not like those the model was made from, or its
// probabilities are off. All points count: of one without labels no label is right.
//
// Were the probabilities p_i right and the points independent, the number of first labels that are right would have the
// mean sum p_i and the variance V = sum p_i (1 - p_i), and by Bernstein's inequality it would be off by t or more with a
// chance of at most
//
//     2 exp(-t^2 / (2 (V + t/3)))
//
// for any number of points. A difference for which this is below 1 % is called more than chance.

import { deterministicExp } from "../base/math.ts";
import { type BestRow, ratio } from "./rows.ts";

/** Predicted and observed accuracy of the top labels. */
export interface Expectation {
  readonly points: number;
  /** Mean probability of the top labels. */
  readonly confidence: number;
  /** Part of them that was right. */
  readonly accuracy: number;
  /** At most this is the chance of such a difference, were the probabilities right. */
  readonly chance: number;
  /** That is below 1 %. */
  readonly beyondChance: boolean;
}

const RARE = 0.01;

/** Adds up the first labels of points. */
export class ExpectationMeter {
  #points = 0;
  #expected = 0;
  #variance = 0;
  #right = 0;

  add({ own, ranked, confidence }: BestRow): void {
    const [first, probability] = [ranked[0], confidence[0]];
    if (!(first >= 0)) return;
    this.#points++;
    this.#expected += probability;
    this.#variance += probability * (1 - probability);
    if (own.includes(first)) this.#right++;
  }

  report(): Expectation {
    const off = Math.abs(this.#expected - this.#right);
    const exponent = off > 0 ? (off * off) / (2 * (this.#variance + off / 3)) : 0;
    const chance = Math.min(1, 2 * deterministicExp(-exponent));
    return {
      points: this.#points,
      confidence: ratio(this.#expected, this.#points),
      accuracy: ratio(this.#right, this.#points),
      chance,
      beyondChance: chance < RARE,
    };
  }
}
