// Sparse variational models at the edge, loaded by files that have one: their labels, and probabilities that are expected sigmoids.

import { deterministicLog, logitOf } from "../base/math.ts";
import { bestOf, topLabels } from "../base/top.ts";
import type { LabelScores, LazyLogits, OpenRow } from "../parts/row.ts";
import { svgpRow } from "../parts/svgp/row.ts";
import { openLayer } from "./layer.ts";
import { labelProbability } from "./probability.ts";
import type { RowScores } from "./scores.ts";

export const openSvgp: OpenRow = (reader, about, sizes) => {
  const part = svgpRow(reader, about, sizes, openLayer);
  return {
    ...part,
    scores: (rows, before) => part.scores(rows, before).map((each) => ({ ...each, logits: new SigmoidLogits(each) })),
  };
};

/** Probabilities without a calibrator. */
export const sigmoidScores = (scores: LazyLogits): RowScores => ({
  probability: (label) => scores.probability(label),
  best(most, threshold, allowed) {
    const labels = scores.contenders(most, threshold, allowed);
    const values = labels.map((label) => scores.probability(label));
    return bestOf({ labels, values }, most)
      .map(({ label, value }) => ({ label, probability: value }))
      .filter(({ probability }) => probability >= threshold);
  },
});

/** E sigmoid(f) lies within this of sigmoid(mean / sqrt(1 + pi variance / 8)), by 0.018 at the most. */
const CLOSE = 0.025;
/** Beside the bound of a logarithm there is also the error of a probability, 1e-10: so much of the least that count. */
const ROOM = 0.01;
/** The least and the greatest probability that have a logit in single precision, as in a full model. */
const [LEAST, MOST] = [1e-30, 1 - 2 ** -24];

/**
 * Labels whose probability is the expected sigmoid of a utility with a mean and a variance. A probability costs some exponentials: it
 * is worked out for labels that are asked for, or may be among the best. E sigmoid(f) <= E e^f = e^(mean + variance / 2) says of most
 * that they cannot be.
 */
export class SigmoidLogits implements LazyLogits {
  #values: Float64Array | undefined;
  readonly #means: Float64Array;
  readonly #variance: (label: number) => number;

  constructor({ values, variance }: LabelScores) {
    this.#means = values;
    this.#variance = variance ?? (() => 0);
  }

  /** Made when it is asked for: without a calibrator nobody does. */
  get values(): Float64Array {
    this.#values ??= new Float64Array(this.#means.length).fill(-Infinity);
    return this.#values;
  }

  probability(label: number): number {
    return labelProbability(this.#means[label], this.#variance(label));
  }

  settle(label: number): void {
    if (this.values[label] !== -Infinity) return;
    const p = Math.min(MOST, Math.max(LEAST, this.probability(label)));
    this.values[label] = logitOf(p);
  }

  settleBest(depth: number): void {
    for (const label of this.contenders(depth, 0)) this.settle(label);
  }

  contenders(most: number, threshold: number, allowed?: Uint8Array): number[] {
    const candidates = allowed ? allowed.reduce((sum, one) => sum + one, 0) : this.#means.length;
    const wanted = Math.min(most, candidates);
    // The labels of the greatest mean are good enough to rule others out.
    let lowest = wanted < candidates ? 1 : 0;
    if (lowest > 0) {
      const means = allowed ? this.#means.map((mean, label) => (allowed[label] === 0 ? -Infinity : mean)) : this.#means;
      for (const label of topLabels(means, 1, means.length, wanted)) lowest = Math.min(lowest, this.probability(label));
    }
    return this.#reaching(Math.max(threshold, lowest), allowed);
  }

  #reaching(least: number, allowed: Uint8Array | undefined): number[] {
    const means = this.#means;
    const floor = least > 0 ? deterministicLog(least) - ROOM : -Infinity;
    const bar = least > CLOSE ? deterministicLog((least - CLOSE) / (1 - least + CLOSE)) : -Infinity;
    // Every label passes here: a plain loop, several times as fast as one with a function for each.
    const kept: number[] = [];
    for (let label = 0; label < means.length; label++) {
      const mean = means[label];
      const spread = this.#variance(label);
      if (mean + spread / 2 < floor || mean < bar * Math.sqrt(1 + (Math.PI / 8) * spread)) continue;
      if (allowed?.[label] !== 0) kept.push(label);
    }
    return kept;
  }
}
