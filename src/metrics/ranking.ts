// Ranking metrics by the definitions of the Extreme Classification repository, in percent. For a point with
// true labels y and ranked predictions r_1, r_2, ...; w_l = 1/p_l is the inverse propensity; means are over
// points:
//
//     P@k      = mean of 1/k sum_{j<=k} [r_j in y]
//     R@k      = mean of 1/|y| sum_{j<=k} [r_j in y]
//     RP@k     = mean of 1/min(k, |y|) sum_{j<=k} [r_j in y]
//     F1@k     = mean of 2 sum_{j<=k} [r_j in y] / (|y| + number of labels predicted, at most k)
//     nDCG@k   = mean of (sum_{j<=k} [r_j in y] / log2(j + 1)) / (sum_{j<=min(k,|y|)} 1 / log2(j + 1))
//     PSP@k    = mean of 1/k sum_{j<=k} w_{r_j} [r_j in y], over the same for the best ranking there is:
//                the labels of y by falling w. A ratio of two means, not a mean of ratios.
//     PSnDCG@k = mean of (sum_{j<=k} w_{r_j} [r_j in y] / log2(j + 1)) / (sum_{j<=min(k,|y|)} 1 / log2(j + 1)),
//                over the same for that best ranking.
//
// k counts even where a point has fewer labels: P@5 of a point with two labels is at most 40. Points without
// any label have no right answer and are left out (pyxclib's `remove_invalid`); their number is reported.

import { ArgumentError } from "../base/errors.ts";
import { type BestRow, discounts, ratio, runningSums, type WholeRow } from "./rows.ts";

/** The metrics as a table shows them: name and meaning. */
export const rankingFigures: readonly (readonly [name: string, meaning: string])[] = [
  ["P", "of the first k labels, the part that is right"],
  ["R", "of the true labels, the part in the first k"],
  ["RP", "R-precision: like P, of min(k, true labels)"],
  ["F1", "precision and recall in one"],
  ["nDCG", "like P, a right label counts more higher up"],
  ["PSP", "like P, rare labels count more"],
  ["PSnDCG", "like nDCG, rare labels count more"],
];

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

/** Sums over points, each for 1 to `depth`; "best" are those of the best ranking there is. */
const SUMS = [
  ...["hits", "recall", "rPrecision", "f1", "gain"],
  ...["weightedHits", "weightedGain", "bestHits", "bestGain"],
] as const;

/** Adds up ranked predictions. */
export class RankingMeter {
  readonly #depth: number;
  readonly #weight: ArrayLike<number> | undefined;
  readonly #discount: Float64Array;
  readonly #idealGain: Float64Array; // of a point with j + 1 labels
  readonly #sums: Readonly<Record<string, Float64Array>>;
  #points = 0;
  #pointsWithoutLabels = 0;

  constructor(options: RankingOptions = {}) {
    this.#depth = options.depth ?? 5;
    this.#weight = options.inversePropensity;
    this.#discount = discounts(this.#depth);
    this.#idealGain = runningSums(this.#discount);
    this.#sums = Object.fromEntries(SUMS.map((name) => [name, new Float64Array(this.#depth)]));
  }

  /** Fewer labels than the depth count as wrong ones in the places that are missing. */
  add({ own, ranked }: Pick<BestRow, "own" | "ranked">): void {
    if (own.length === 0) this.#pointsWithoutLabels++;
    else this.#point(ranked, own);
  }

  report(): RankingReport {
    const metrics: Record<string, number> = {};
    const sums = this.#sums;
    const name = (metric: string, value: (j: number) => number): void => {
      for (let j = 0; j < this.#depth; j++) metrics[`${metric}@${j + 1}`] = value(j);
    };
    const mean = (of: Float64Array, j: number): number => (of[j] / this.#points) * 100;
    name("P", (j) => mean(sums.hits, j) / (j + 1));
    name("nDCG", (j) => mean(sums.gain, j));
    name("R", (j) => mean(sums.recall, j));
    name("RP", (j) => mean(sums.rPrecision, j));
    name("F1", (j) => mean(sums.f1, j));
    if (this.#weight) {
      name("PSP", (j) => (sums.weightedHits[j] / sums.bestHits[j]) * 100);
      name("PSnDCG", (j) => (sums.weightedGain[j] / sums.bestGain[j]) * 100);
    }
    return { points: this.#points, pointsWithoutLabels: this.#pointsWithoutLabels, metrics };
  }

  #point(ranked: ArrayLike<number>, labels: Int32Array): void {
    this.#points++;
    const sums = this.#sums;
    const best = this.#weight ? this.#bestWeights(labels, this.#weight) : undefined;
    const seen: number[] = []; // a label predicted twice counts once
    let [predicted, hits, gain, weightedHits, weightedGain, bestHits, bestGain] = [0, 0, 0, 0, 0, 0, 0];
    for (let j = 0; j < this.#depth; j++) {
      const discount = this.#discount[j];
      const label = ranked[j] ?? -1;
      if (label >= 0) predicted++;
      if (label >= 0 && labels.includes(label) && !seen.includes(label)) {
        seen.push(label);
        const weight = this.#weight ? weightOf(label, this.#weight) : 0;
        hits++;
        gain += discount;
        weightedHits += weight;
        weightedGain += weight * discount;
      }
      const most = Math.min(j + 1, labels.length);
      const ideal = this.#idealGain[most - 1];
      sums.hits[j] += hits;
      sums.recall[j] += hits / labels.length;
      sums.rPrecision[j] += hits / most;
      sums.f1[j] += (2 * hits) / (labels.length + predicted);
      sums.gain[j] += gain / ideal;
      if (!best) continue;
      const bestWeight = best[j] ?? 0;
      bestHits += bestWeight;
      bestGain += bestWeight * discount;
      sums.weightedHits[j] += weightedHits;
      sums.weightedGain[j] += weightedGain / ideal;
      sums.bestHits[j] += bestHits;
      sums.bestGain[j] += bestGain / ideal;
    }
  }

  #bestWeights(labels: Int32Array, weights: ArrayLike<number>): Float64Array {
    return Float64Array.from(labels, (label) => weightOf(label, weights))
      .sort()
      .reverse();
  }
}

function weightOf(label: number, weights: ArrayLike<number>): number {
  const weight = weights[label];
  if (weight !== undefined) return weight;
  throw new ArgumentError(
    "inversePropensity",
    `found ${weights.length}, expected one for each label, that of label ${label} too`,
  );
}

/** How far down a ranking one has to go; true labels that the model does not know are left out. */
export interface CoverageReport {
  /** Points with a label that the model knows. */
  readonly points: number;
  /** Coverage error: the mean of how many labels stand at least as high as the lowest true one. */
  readonly error: number;
  /** Its least value: the mean number of true labels. */
  readonly best: number;
}

/** Adds up whole rankings. */
export class CoverageMeter {
  #points = 0;
  #covered = 0;
  #positives = 0;

  add({ own, order }: Pick<WholeRow, "own" | "order">): void {
    let [known, lowest] = [0, Number.POSITIVE_INFINITY];
    for (const label of own) {
      if (label >= order.length) continue;
      known++;
      lowest = Math.min(lowest, order[label]);
    }
    if (known === 0) return;
    this.#points++;
    this.#positives += known;
    for (let label = 0; label < order.length; label++) if (order[label] >= lowest) this.#covered++;
  }

  report(): CoverageReport {
    const points = this.#points;
    return { points, error: ratio(this.#covered, points), best: ratio(this.#positives, points) };
  }
}
