// How good it is to keep the first labels of each point, up to a limit and down to a threshold: the figures that Annif
// and scikit-learn give, as parts of one. With tp, fp, fn the labels kept and right, kept and wrong, and missed:
//
//     precision = tp / (tp + fp),   recall = tp / (tp + fn),   F1 = 2 tp / (2 tp + fp + fn)
//
// each 0 where there is nothing to divide by. `byDocument` takes the mean over points ("samples"), `byLabel` the mean
// over all labels ("macro"), `byLabelWeighted` that mean weighted by how many points have the label, `byTrueLabel` the
// mean over the labels that some point has, and `overall` sums before it divides ("micro"). All points count: one without
// labels is right (1) where nothing is kept for it.
//
//     nDCG@k = mean of (sum_{j<=k} [r_j in y] / log2(j + 1)) / (sum_{j<=min(k,|y|)} 1 / log2(j + 1))
//
// over the labels kept and the points with labels; nDCG has no k.

import { leastOf, reaches, type Threshold } from "../base/prediction.ts";
import {
  type BestRow,
  discounts,
  type LabelMeans,
  meansOverLabels,
  ofPoint,
  type PrecisionRecall,
  PrecisionRecallMean,
  precisionRecall,
  ratio,
  runningSums,
  sumOf,
  type WholeRow,
} from "./rows.ts";

/** Which labels of a point are kept. */
export interface DecisionOptions {
  /** At most so many. */
  readonly limit?: number;
  /** Only those at least this probable, one number or one for each label; a label of probability 0 never is. */
  readonly threshold?: Threshold;
}

/** Figures of the labels that are kept. */
export interface DecisionReport extends Omit<DecisionOptions, "threshold">, LabelMeans {
  /** The one for all labels, or "label" where each has its own. */
  readonly threshold?: number | "label";
  /** All points, those without labels too. */
  readonly points: number;
  /** Labels kept for a point, on average. */
  readonly labelsPerPoint: number;
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly falseNegatives: number;
  readonly byDocument: PrecisionRecall;
  readonly overall: PrecisionRecall;
  readonly nDCG: number;
  readonly "nDCG@5": number;
  readonly "nDCG@10": number;
}

/** Depths at which nDCG is given; Infinity is all that was kept. */
const DEPTHS = [5, 10, Infinity] as const;

/** Adds up ranked labels with their probabilities. */
export class DecisionMeter {
  /** By label: points that have it, that it was kept for, and both. */
  readonly positives: Int32Array;
  readonly kept: Int32Array;
  readonly right: Int32Array;
  readonly #options: DecisionOptions;
  readonly #least: number;
  readonly #byDocument = new PrecisionRecallMean();
  readonly #gains = new Float64Array(DEPTHS.length);
  readonly #discount: Float64Array;
  readonly #idealGain: Float64Array;
  #points = 0;
  #labelled = 0;

  /** `labels` counts those of the model and any others in the data. */
  constructor(labels: number, options: DecisionOptions = {}) {
    this.#options = options;
    this.#least = Math.max(leastOf(options.threshold ?? 0), Number.MIN_VALUE);
    this.#discount = discounts(labels);
    this.#idealGain = runningSums(this.#discount);
    this.positives = new Int32Array(labels);
    this.kept = new Int32Array(labels);
    this.right = new Int32Array(labels);
  }

  /** By the best labels of a row. They need not go beyond the limit, and must go as far as the threshold reaches. */
  add({ own, ranked, confidence }: BestRow): void {
    const { limit = Infinity, threshold = 0 } = this.#options;
    const kept: number[] = [];
    for (let j = 0; j < Math.min(ranked.length, limit); j++)
      if (ranked[j] >= 0 && confidence[j] > 0 && reaches(threshold, ranked[j], confidence[j])) kept.push(ranked[j]);
    this.#point(kept, own);
  }

  /** By all labels of a row, without a limit. */
  addWhole({ own, probabilities, order }: WholeRow): void {
    const { threshold = 0 } = this.#options;
    const kept: number[] = [];
    for (let label = 0; label < probabilities.length; label++)
      if (probabilities[label] >= this.#least && reaches(threshold, label, probabilities[label])) kept.push(label);
    kept.sort((a, b) => order[b] - order[a] || a - b);
    this.#point(kept, own);
  }

  #point(kept: readonly number[], own: Int32Array): void {
    this.#points++;
    for (const label of own) this.positives[label]++;
    for (const label of kept) this.kept[label]++;
    const right = kept.filter((label) => own.includes(label));
    for (const label of right) this.right[label]++;
    this.#byDocument.add(ofPoint(right.length, kept.length, own.length));
    if (own.length === 0) return;
    this.#labelled++;
    const places = right.map((label) => kept.indexOf(label));
    DEPTHS.forEach((depth, d) => {
      const gain = places.reduce((sum, j) => (j < depth ? sum + this.#discount[j] : sum), 0);
      this.#gains[d] += gain / this.#idealGain[Math.min(depth, own.length) - 1];
    });
  }

  report(): DecisionReport {
    const { positives, kept, right } = this;
    const [all, keptInAll, rightInAll] = [positives, kept, right].map(sumOf);
    const [at5, at10, everywhere] = Array.from(this.#gains, (sum) => ratio(sum, this.#labelled));
    const { threshold, ...limit } = this.#options;
    return {
      ...limit,
      ...(threshold !== undefined && { threshold: typeof threshold === "number" ? threshold : "label" }),
      points: this.#points,
      labelsPerPoint: ratio(keptInAll, this.#points),
      truePositives: rightInAll,
      falsePositives: keptInAll - rightInAll,
      falseNegatives: all - rightInAll,
      byDocument: this.#byDocument.mean(),
      ...meansOverLabels(right, kept, positives),
      overall: precisionRecall(rightInAll, keptInAll, all),
      nDCG: everywhere,
      "nDCG@5": at5,
      "nDCG@10": at10,
    };
  }
}
