// Figures of each single label: found among the top five, kept rightly or wrongly, its place among the points, and its
// calibration. Fed twice with all rows, which are never held together: first `collect`, then `count`.
//
//     AP_l = mean over points i with label l of  #{j with l : p_jl >= p_il} / #{all j : p_jl >= p_il}

import type { DecisionMeter } from "./decisions.ts";
import { LIKELY, ratio, TOP, type WholeRow } from "./rows.ts";

/** Figures of one label; parts of one, NaN where there is nothing to divide by. */
export interface LabelFigures {
  readonly label: number;
  /** Points that have it. */
  readonly positives: number;
  /** Those of them that have it among their top five labels. */
  readonly found: number;
  /** Points it was kept for at the limit and threshold in force, and those of them that have it. */
  readonly kept: number;
  readonly right: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  readonly averagePrecision: number;
  /** Sum of its probabilities: how many points the model expected to have it. */
  readonly expected: number;
  /** Predictions of at least 5 %, their mean probability, and the part of them that was true. */
  readonly overFivePercent: number;
  readonly confidence: number;
  readonly accuracy: number;
}

/** Measures each label on its own, in two passes: `collect`, then `count`. */
export class LabelMeter {
  readonly #found: Int32Array;
  readonly #expected: Float64Array;
  readonly #likely: Int32Array; // predictions of at least 5 %
  readonly #likelySum: Float64Array;
  readonly #likelyTrue: Int32Array;
  readonly #collected: number[][]; // probabilities of the points that have the label
  #known: Float64Array[] = []; // the same, rising
  #least = new Float64Array(); // of them, Infinity where there is none
  #others: Float64Array[] = []; // points without the label, at least as probable as known[i] and less than known[i + 1]

  constructor(private readonly labels: number) {
    this.#found = new Int32Array(labels);
    this.#expected = new Float64Array(labels);
    this.#likely = new Int32Array(labels);
    this.#likelySum = new Float64Array(labels);
    this.#likelyTrue = new Int32Array(labels);
    this.#collected = Array.from({ length: labels }, () => []);
  }

  /** First time: all rows. */
  collect({ own, ranked, probabilities }: Pick<WholeRow, "own" | "ranked" | "probabilities">): void {
    for (let label = 0; label < this.labels; label++) {
      const probability = probabilities[label];
      this.#expected[label] += probability;
      if (probability >= LIKELY) this.#addLikely(label, probability, own);
    }
    const top = Array.from(ranked).slice(0, TOP);
    for (const label of own) {
      if (label >= this.labels) continue; // never seen in training
      this.#collected[label].push(probabilities[label]);
      if (top.includes(label)) this.#found[label]++;
    }
  }

  #addLikely(label: number, probability: number, own: Int32Array): void {
    this.#likely[label]++;
    this.#likelySum[label] += probability;
    if (own.includes(label)) this.#likelyTrue[label]++;
  }

  /** Second time, when all rows were collected: the same ones. */
  count({ own, probabilities }: Pick<WholeRow, "own" | "probabilities">): void {
    if (this.#known.length === 0) this.#sort();
    for (let label = 0; label < this.labels; label++) {
      const probability = probabilities[label];
      if (!(probability >= this.#least[label]) || own.includes(label)) continue;
      this.#others[label][lastAtMost(this.#known[label], probability)]++;
    }
  }

  /** All labels, with what was kept of them. */
  report({ kept, right }: Pick<DecisionMeter, "kept" | "right">): LabelFigures[] {
    if (this.#known.length === 0) this.#sort();
    return this.#known.map((known, label) => {
      const [positives, own, ownRight] = [known.length, kept[label], right[label]];
      const likely = this.#likely[label];
      return {
        label,
        positives,
        found: this.#found[label],
        kept: own,
        right: ownRight,
        precision: ratio(ownRight, own, Number.NaN),
        recall: ratio(ownRight, positives, Number.NaN),
        f1: ratio(2 * ownRight, own + positives, Number.NaN),
        averagePrecision: averagePrecision(known, this.#others[label]),
        expected: this.#expected[label],
        overFivePercent: likely,
        confidence: ratio(this.#likelySum[label], likely, Number.NaN),
        accuracy: ratio(this.#likelyTrue[label], likely, Number.NaN),
      };
    });
  }

  #sort(): void {
    this.#known = this.#collected.map((own) => Float64Array.from(own).sort());
    this.#least = Float64Array.from(this.#known, (known) => known[0] ?? Infinity);
    this.#others = this.#known.map((known) => new Float64Array(known.length));
  }
}

/** Place of the last number of a rising list that is at most `value`; the first is. */
function lastAtMost(rising: Float64Array, value: number): number {
  let low = 0;
  let high = rising.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (rising[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Goes down the probabilities; of equal ones all count at once. */
function averagePrecision(known: Float64Array, others: Float64Array): number {
  let sum = 0;
  let wrong = 0;
  let last = known.length;
  for (let i = known.length - 1; i >= 0; i--) {
    wrong += others[i];
    if (i > 0 && known[i - 1] === known[i]) continue;
    const right = known.length - i;
    sum += ((last - i) * right) / (right + wrong);
    last = i;
  }
  return ratio(sum, known.length, Number.NaN);
}
