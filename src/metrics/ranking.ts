// Ranking metrics by the definitions of the Extreme Classification repository, in percent. For a point with
// true labels y and ranked predictions r_1, r_2, ...; w_l = 1/p_l is the inverse propensity; means are over
// points:
//
//     P@k      = mean of 1/k sum_{j<=k} [r_j in y]
//     R@k      = mean of 1/|y| sum_{j<=k} [r_j in y]
//     F1@k     = mean of 2 sum_{j<=k} [r_j in y] / (|y| + number of labels predicted, at most k)
//     nDCG@k   = mean of (sum_{j<=k} [r_j in y] / log2(j + 1)) / (sum_{j<=min(k,|y|)} 1 / log2(j + 1))
//     PSP@k    = mean of 1/k sum_{j<=k} w_{r_j} [r_j in y], over the same for the best ranking there is:
//                the labels of y by falling w. A ratio of two means, not a mean of ratios.
//     PSnDCG@k = mean of (sum_{j<=k} w_{r_j} [r_j in y] / log2(j + 1)) / (sum_{j<=min(k,|y|)} 1 / log2(j + 1)),
//                over the same for that best ranking.
//
// k counts even where a point has fewer labels: P@5 of a point with two labels is at most 40. Points without
// any label have no right answer and are left out (pyxclib's `remove_invalid`); their number is reported.

import type { LabelSets } from "../data/dataset.ts";
import { deterministicLog } from "../data/elementary.ts";
import { addAt, labelsOfRow, rowsOfBlock } from "./rows.ts";

/** How deep to measure, and with which propensities. */
export interface RankingOptions {
  /** Metrics are given for 1 to `depth`. Default 5. */
  readonly depth?: number;
  /** 1/p_l of each label, for PSP and PSnDCG. */
  readonly inversePropensity?: ArrayLike<number>;
}

/** Ranking metrics, and of how many points. */
export interface RankingReport {
  /** Points with at least one label: the ones measured. */
  readonly points: number;
  readonly pointsWithoutLabels: number;
  /** `P@1`, `nDCG@3`, `R@5`, `F1@5` ..., with propensities also `PSP@1`, `PSnDCG@1` ...; in percent. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** 1 / log2(j + 2) for j = 0, 1, ... */
export function discounts(depth: number): Float64Array {
  const ln2 = deterministicLog(2);
  return Float64Array.from({ length: depth }, (_, j) => ln2 / deterministicLog(j + 2));
}

export function runningSums(terms: Float64Array): Float64Array {
  let sum = 0;
  return terms.map((term) => (sum += term));
}

/** Adds up ranked predictions block by block. */
export class RankingMeter {
  readonly #depth: number;
  readonly #weight: ArrayLike<number> | undefined;
  readonly #discount: Float64Array;
  readonly #idealGain: Float64Array; // of a point with j + 1 labels
  readonly #hits: Float64Array; // each [depth], summed over points
  readonly #recall: Float64Array;
  readonly #f1: Float64Array;
  readonly #gain: Float64Array;
  readonly #weightedHits: Float64Array;
  readonly #weightedGain: Float64Array;
  readonly #bestHits: Float64Array;
  readonly #bestGain: Float64Array;
  #points = 0;
  #pointsWithoutLabels = 0;

  constructor(options: RankingOptions = {}) {
    this.#depth = options.depth ?? 5;
    this.#weight = options.inversePropensity;
    this.#discount = discounts(this.#depth);
    this.#idealGain = runningSums(this.#discount);
    const zeros = (): Float64Array => new Float64Array(this.#depth);
    this.#hits = zeros();
    this.#recall = zeros();
    this.#f1 = zeros();
    this.#gain = zeros();
    this.#weightedHits = zeros();
    this.#weightedGain = zeros();
    this.#bestHits = zeros();
    this.#bestGain = zeros();
  }

  /**
   * Rows of `ranked` [rows, width]: label ids, best first, -1 where there is none; they belong to the rows of
   * `truth` from `firstRow` on. A width below the depth counts the missing places as wrong.
   */
  update(ranked: ArrayLike<number>, width: number, truth: LabelSets, firstRow = 0): void {
    const rows = rowsOfBlock("ranked labels", ranked.length, width, truth, firstRow);
    for (let row = 0; row < rows; row++) {
      const labels = labelsOfRow(truth, firstRow + row);
      if (labels.length === 0) this.#pointsWithoutLabels++;
      else this.#point(ranked, row * width, width, labels);
    }
  }

  report(): RankingReport {
    const metrics: Record<string, number> = {};
    const name = (metric: string, value: (j: number) => number): void => {
      for (let j = 0; j < this.#depth; j++) metrics[`${metric}@${j + 1}`] = value(j);
    };
    const mean = (sums: Float64Array, j: number): number => ((sums[j] as number) / this.#points) * 100;
    const ratio = (sums: Float64Array, best: Float64Array, j: number): number =>
      ((sums[j] as number) / (best[j] as number)) * 100;
    name("P", (j) => mean(this.#hits, j) / (j + 1));
    name("nDCG", (j) => mean(this.#gain, j));
    name("R", (j) => mean(this.#recall, j));
    name("F1", (j) => mean(this.#f1, j));
    if (this.#weight) {
      name("PSP", (j) => ratio(this.#weightedHits, this.#bestHits, j));
      name("PSnDCG", (j) => ratio(this.#weightedGain, this.#bestGain, j));
    }
    return { points: this.#points, pointsWithoutLabels: this.#pointsWithoutLabels, metrics };
  }

  #point(ranked: ArrayLike<number>, base: number, width: number, labels: Int32Array): void {
    this.#points++;
    const best = this.#weight ? this.#bestWeights(labels, this.#weight) : undefined;
    const seen: number[] = []; // a label predicted twice counts once
    let predicted = 0;
    let hits = 0;
    let gain = 0;
    let weightedHits = 0;
    let weightedGain = 0;
    let bestHits = 0;
    let bestGain = 0;
    for (let j = 0; j < this.#depth; j++) {
      const discount = this.#discount[j] as number;
      const label = j < width ? (ranked[base + j] as number) : -1;
      if (label >= 0) predicted++;
      if (label >= 0 && labels.includes(label) && !seen.includes(label)) {
        seen.push(label);
        const weight = this.#weight ? this.#weightOf(label, this.#weight) : 0;
        hits++;
        gain += discount;
        weightedHits += weight;
        weightedGain += weight * discount;
      }
      const ideal = this.#idealGain[Math.min(j + 1, labels.length) - 1] as number;
      addAt(this.#hits, j, hits);
      addAt(this.#recall, j, hits / labels.length);
      addAt(this.#f1, j, (2 * hits) / (labels.length + predicted));
      addAt(this.#gain, j, gain / ideal);
      if (!best) continue;
      const bestWeight = best[j] ?? 0;
      bestHits += bestWeight;
      bestGain += bestWeight * discount;
      addAt(this.#weightedHits, j, weightedHits);
      addAt(this.#weightedGain, j, weightedGain / ideal);
      addAt(this.#bestHits, j, bestHits);
      addAt(this.#bestGain, j, bestGain / ideal);
    }
  }

  #bestWeights(labels: Int32Array, weights: ArrayLike<number>): Float64Array {
    return Float64Array.from(labels, (label) => this.#weightOf(label, weights))
      .sort()
      .reverse();
  }

  #weightOf(label: number, weights: ArrayLike<number>): number {
    const weight = weights[label];
    if (weight === undefined) {
      throw new RangeError(
        `found label ${label}, expected an inverse propensity for it (there are ${weights.length})`,
      );
    }
    return weight;
  }
}

/** All ranking metrics of predictions held in one array [rows, width]. */
export function rankingMetrics(
  ranked: ArrayLike<number>,
  width: number,
  truth: LabelSets,
  options: RankingOptions = {},
): RankingReport {
  const meter = new RankingMeter(options);
  meter.update(ranked, width, truth);
  return meter.report();
}
