// How good it is to keep the first labels of each point, up to a limit and down to a threshold: the figures that Annif
// and scikit-learn give, as parts of one. With tp, fp, fn the labels kept and right, kept and wrong, and missed:
//
//     precision = tp / (tp + fp),   recall = tp / (tp + fn),   F1 = 2 tp / (2 tp + fp + fn)
//
// each 0 where there is nothing to divide by. `byDocument` takes the mean over points ("samples"), `byLabel` the mean
// over all labels ("macro"), `byLabelWeighted` that mean weighted by how many points have the label, `byTrueLabel` the
// mean over the labels that some point has, and `overall` sums before it divides ("micro").
//
//     nDCG@k = mean of (sum_{j<=k} [r_j in y] / log2(j + 1)) / (sum_{j<=min(k,|y|)} 1 / log2(j + 1))
//
// over the labels kept; nDCG has no k. Points without any label are left out.

import type { LabelSets } from "../data/dataset.ts";
import { reaches, type Threshold } from "./cut.ts";
import { discounts, runningSums } from "./ranking.ts";
import { addAt, labelsOfRow, ratio, rowsOfBlock } from "./rows.ts";

/** Parts of one. */
export interface PrecisionRecall {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** Which labels of a point are kept. */
export interface DecisionOptions {
  /** At most so many. */
  readonly limit?: number;
  /** Only those at least this probable, one number or one for each label; a label of probability 0 never is. */
  readonly threshold?: Threshold;
}

/** What keeping these labels is worth. */
export interface DecisionReport extends Omit<DecisionOptions, "threshold"> {
  /** The one for all labels, or "label" where each has its own. */
  readonly threshold?: number | "label";
  /** Points with at least one label. */
  readonly points: number;
  /** Labels kept for a point, on average. */
  readonly labelsPerPoint: number;
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly falseNegatives: number;
  readonly byDocument: PrecisionRecall;
  readonly byLabel: PrecisionRecall;
  readonly byLabelWeighted: PrecisionRecall;
  readonly byTrueLabel: PrecisionRecall;
  readonly overall: PrecisionRecall;
  readonly nDCG: number;
  readonly "nDCG@5": number;
  readonly "nDCG@10": number;
}

export function precisionRecall(right: number, kept: number, positives: number): PrecisionRecall {
  return {
    precision: ratio(right, kept),
    recall: ratio(right, positives),
    f1: ratio(2 * right, kept + positives),
  };
}

/** A weighted mean of precisions, recalls and F1s. */
export class PrecisionRecallMean {
  #precision = 0;
  #recall = 0;
  #f1 = 0;
  #weight = 0;

  add({ precision, recall, f1 }: PrecisionRecall, weight = 1): void {
    this.#precision += weight * precision;
    this.#recall += weight * recall;
    this.#f1 += weight * f1;
    this.#weight += weight;
  }

  mean(): PrecisionRecall {
    return {
      precision: ratio(this.#precision, this.#weight),
      recall: ratio(this.#recall, this.#weight),
      f1: ratio(this.#f1, this.#weight),
    };
  }
}

/** Means over labels of which `right` of the `kept` are among the `positives`, each counted by label. */
export function meansOverLabels(
  right: ArrayLike<number>,
  kept: ArrayLike<number>,
  positives: ArrayLike<number>,
): Pick<DecisionReport, "byLabel" | "byLabelWeighted" | "byTrueLabel"> {
  const [all, weighted, occurring] = [0, 1, 2].map(() => new PrecisionRecallMean()) as [
    PrecisionRecallMean,
    PrecisionRecallMean,
    PrecisionRecallMean,
  ];
  for (let label = 0; label < positives.length; label++) {
    const having = positives[label] as number;
    const own = precisionRecall(right[label] as number, kept[label] as number, having);
    all.add(own);
    weighted.add(own, having);
    if (having > 0) occurring.add(own);
  }
  return { byLabel: all.mean(), byLabelWeighted: weighted.mean(), byTrueLabel: occurring.mean() };
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
  readonly #byDocument = new PrecisionRecallMean();
  readonly #gains = new Float64Array(DEPTHS.length);
  #discount = discounts(64);
  #idealGain = runningSums(this.#discount);
  #points = 0;

  /** `labels` counts those of the model and any others in the data. */
  constructor(labels: number, options: DecisionOptions = {}) {
    this.#options = options;
    this.positives = new Int32Array(labels);
    this.kept = new Int32Array(labels);
    this.right = new Int32Array(labels);
  }

  /**
   * The best labels of the rows of `truth` from `firstRow` on, with their probabilities, both [rows, width]; -1 stands
   * where there is none. They need not go beyond the limit, and must go as far as the threshold reaches.
   */
  update(
    ranked: ArrayLike<number>,
    probabilities: ArrayLike<number>,
    width: number,
    truth: LabelSets,
    firstRow = 0,
  ): void {
    const rows = rowsOfBlock("ranked labels", ranked.length, width, truth, firstRow);
    const { limit = Infinity, threshold = 0 } = this.#options;
    this.#prepareGains(Math.max(width, truth.labels));
    for (let row = 0; row < rows; row++) {
      const own = labelsOfRow(truth, firstRow + row);
      if (own.length === 0) continue;
      const kept: number[] = [];
      for (let j = 0; j < Math.min(width, limit); j++) {
        const [label, probability] = [ranked[row * width + j], probabilities[row * width + j]] as [
          number,
          number,
        ];
        if (label >= 0 && probability > 0 && reaches(threshold, label, probability)) kept.push(label);
      }
      this.#point(kept, own);
    }
  }

  #point(kept: readonly number[], own: Int32Array): void {
    this.#points++;
    for (const label of own) addAt(this.positives, label, 1);
    let right = 0;
    let gain = 0;
    const gains = DEPTHS.map(() => 0);
    kept.forEach((label, j) => {
      addAt(this.kept, label, 1);
      if (own.includes(label)) {
        addAt(this.right, label, 1);
        right++;
        gain += this.#discount[j] as number;
      }
      DEPTHS.forEach((depth, d) => {
        if (j < depth) gains[d] = gain;
      });
    });
    this.#byDocument.add(precisionRecall(right, kept.length, own.length));
    DEPTHS.forEach((depth, d) => {
      addAt(
        this.#gains,
        d,
        (gains[d] as number) / (this.#idealGain[Math.min(depth, own.length) - 1] as number),
      );
    });
  }

  #prepareGains(length: number): void {
    if (length <= this.#discount.length) return;
    this.#discount = discounts(length);
    this.#idealGain = runningSums(this.#discount);
  }

  report(): DecisionReport {
    const { positives, kept, right } = this;
    const [all, keptInAll, rightInAll] = [positives, kept, right].map((counts) =>
      counts.reduce((sum, count) => sum + count, 0),
    ) as [number, number, number];
    const [at5, at10, everywhere] = Array.from(this.#gains, (sum) => ratio(sum, this.#points)) as [
      number,
      number,
      number,
    ];
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
