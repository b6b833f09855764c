// The offsets of the labels beside a calibrator's curves, shrunk by as much as labels differ: a label with few positives stays
// where its frequency puts it.

import type { FittedOffsets, ScorePairs } from "../core/calibrator.ts";
import { hashInteger } from "../data/hash.ts";
import type { Calibrator } from "./calibrator.ts";
import type { HeldOutPairs } from "./pairs.ts";

/** Rounds of offsets and of their variance. */
const VARIANCE_ROUNDS = 5;
/** The variance to begin with, the least and the greatest. */
const VARIANCE = { begin: 0.25, least: 1e-3, most: 4 };
/** Parts of the points whose pairs take the offsets that the other parts give. */
const FOLDS = 10;

/** Offsets that follow the logits of the curves; the variance is found by expectation and maximisation. */
export class OffsetFit {
  /** Of each label, and the variance among labels. */
  ofLabels: Float64Array;
  variance: number;
  /** Of each pair, as the pairs of other points have it: what a pair helped to make would flatter it. */
  ofPairs: Float64Array;
  readonly #search: ScorePairs;
  readonly #label: Int32Array;
  readonly #fold: Uint8Array;
  readonly #labelCounts: ArrayLike<number>;
  /** Where the offsets are expected, and whether their variance is given too. */
  readonly #mean: Float64Array;
  readonly #given: boolean;

  constructor(
    search: ScorePairs,
    { row, label }: HeldOutPairs,
    labelCounts: ArrayLike<number>,
    earlier?: Pick<Calibrator, "labelOffsets" | "offsetVariance">,
  ) {
    this.#search = search;
    this.#label = label;
    this.#fold = Uint8Array.from(row, (i) => hashInteger(i, 2) % FOLDS);
    this.#labelCounts = labelCounts;
    this.#mean = new Float64Array(labelCounts.length);
    if (earlier) this.#mean.set(earlier.labelOffsets.subarray(0, this.#mean.length));
    this.#given = earlier !== undefined;
    this.ofLabels = this.#mean;
    this.variance = earlier?.offsetVariance ?? VARIANCE.begin;
    this.ofPairs = Float64Array.from(label, (k) => this.#mean[k] as number);
  }

  /** Beside these logits of the pairs. */
  fit(logits: Float64Array): void {
    const find = (takes?: (pair: number) => boolean): FittedOffsets => {
      const prior = { mean: this.#mean, variance: this.variance };
      return this.#search.labelOffsets(logits, prior, this.ofLabels, takes);
    };
    for (let round = 0; round < VARIANCE_ROUNDS; round++) {
      const found = find();
      this.ofLabels = found.offsets;
      if (this.#given) break;
      this.variance = this.#varianceOf(found);
    }
    const ofFold = Array.from({ length: FOLDS }, (_, f) => find((pair) => this.#fold[pair] !== f).offsets);
    this.ofPairs = Float64Array.from(this.#label, (k, e) => ofFold[this.#fold[e] as number]?.[k] as number);
  }

  /** Mean square of the offsets of labels that were seen, what is not known of each included. */
  #varianceOf({ offsets, variances }: FittedOffsets): number {
    let [sum, count] = [0, 0];
    offsets.forEach((offset, k) => {
      if ((this.#labelCounts[k] as number) === 0) return;
      sum += offset * offset + (variances[k] as number);
      count++;
    });
    return count === 0 ? VARIANCE.begin : Math.min(VARIANCE.most, Math.max(VARIANCE.least, sum / count));
  }
}
