// Where to cut: precision, recall and F1 of keeping every label at least so probable, for a row of thresholds at once;
// over all points, as in decisions.ts.

import { ArgumentError } from "../base/errors.ts";
import type { Guarantee, Guarantees } from "../base/prediction.ts";
import {
  meansOverLabels,
  ofPoint,
  type PrecisionRecall,
  PrecisionRecallMean,
  precisionRecall,
  ratio,
  sumOf,
  type WholeRow,
} from "./rows.ts";

/** The three means of decisions.ts at one threshold. */
export interface ThresholdFigures {
  readonly threshold: number;
  /** Labels kept for a point, on average. */
  readonly labelsPerPoint: number;
  readonly overall: PrecisionRecall;
  readonly byLabel: PrecisionRecall;
  readonly byDocument: PrecisionRecall;
  /** The mean recall over points with labels. */
  readonly recall: number;
}

/** A guarantee, and what came of it: the mean recall over points with labels, or the precision of all labels together. */
export interface KeptGuarantee extends Guarantee {
  readonly promise: "recall" | "precision";
  readonly observed: number;
  readonly labelsPerPoint: number;
}

/** Figures by threshold, and which threshold gives the best F1 in each sense. */
export interface ThresholdReport {
  readonly thresholds: readonly ThresholdFigures[];
  readonly best: { readonly overall: number; readonly byLabel: number; readonly byDocument: number };
}

/** 0.05, 0.10, ... 0.95 */
export const defaultThresholds: readonly number[] = Array.from({ length: 19 }, (_, i) => (i + 1) / 20);

/** Adds up rows of probabilities. A prediction counts for the last threshold it reaches; sums from the top do the rest. */
export class ThresholdMeter {
  readonly #labels: number;
  readonly #thresholds: readonly number[];
  readonly #positives: Int32Array; // [labels]
  readonly #kept: Int32Array; // [thresholds, labels]
  readonly #right: Int32Array; // [thresholds, labels]
  readonly #byDocument: readonly PrecisionRecallMean[];
  readonly #recalls: Float64Array;
  #labelled = 0;
  #points = 0;

  /** `labels` are those of the matrix, `vocabulary` these and any others in the data. */
  constructor(labels: number, vocabulary: number = labels, thresholds: readonly number[] = defaultThresholds) {
    const falls = thresholds.some((each, i) => !(each > (thresholds[i - 1] ?? 0)));
    if (falls || thresholds.length === 0)
      throw new ArgumentError("thresholds", `found ${thresholds.join(", ")}, expected numbers above 0 that rise`);
    this.#labels = labels;
    this.#thresholds = thresholds;
    this.#positives = new Int32Array(vocabulary);
    this.#kept = new Int32Array(thresholds.length * labels);
    this.#right = new Int32Array(thresholds.length * labels);
    this.#byDocument = thresholds.map(() => new PrecisionRecallMean());
    this.#recalls = new Float64Array(thresholds.length);
  }

  add({ own, probabilities }: Pick<WholeRow, "own" | "probabilities">): void {
    const labels = this.#labels;
    const thresholds = this.#thresholds;
    const kept = new Int32Array(thresholds.length);
    const right = new Int32Array(thresholds.length);
    this.#points++;
    if (own.length > 0) this.#labelled++;
    for (const label of own) this.#positives[label]++;
    for (let label = 0; label < labels; label++) {
      const probability = probabilities[label];
      if (!(probability >= thresholds[0])) continue;
      let reached = 0;
      while (probability >= (thresholds[reached + 1] ?? Infinity)) reached++;
      kept[reached]++;
      this.#kept[reached * labels + label]++;
      if (!own.includes(label)) continue;
      right[reached]++;
      this.#right[reached * labels + label]++;
    }
    let [keptAbove, rightAbove] = [0, 0];
    for (let t = thresholds.length - 1; t >= 0; t--) {
      keptAbove += kept[t];
      rightAbove += right[t];
      this.#byDocument[t].add(ofPoint(rightAbove, keptAbove, own.length));
      this.#recalls[t] += ratio(rightAbove, own.length);
    }
  }

  report(): ThresholdReport {
    const kept = new Int32Array(this.#positives.length);
    const right = new Int32Array(this.#positives.length);
    const all = sumOf(this.#positives);
    const figures: ThresholdFigures[] = [];
    for (let t = this.#thresholds.length - 1; t >= 0; t--) {
      for (let label = 0; label < this.#labels; label++) {
        kept[label] += this.#kept[t * this.#labels + label];
        right[label] += this.#right[t * this.#labels + label];
      }
      figures.unshift({
        threshold: this.#thresholds[t],
        labelsPerPoint: ratio(sumOf(kept), this.#points),
        overall: precisionRecall(sumOf(right), sumOf(kept), all),
        byLabel: meansOverLabels(right, kept, this.#positives).byLabel,
        byDocument: this.#byDocument[t].mean(),
        recall: ratio(this.#recalls[t], this.#labelled),
      });
    }
    const best = (of: "overall" | "byLabel" | "byDocument"): number =>
      figures.reduce((most, each) => (each[of].f1 > most[of].f1 ? each : most)).threshold;
    return {
      thresholds: figures,
      best: { overall: best("overall"), byLabel: best("byLabel"), byDocument: best("byDocument") },
    };
  }
}

/** A label of probability 0 is never kept. */
const cutOf = ({ threshold }: Guarantee): number => Math.max(threshold, Number.MIN_VALUE);

/** Measures at the thresholds of guarantees. */
export class GuaranteeMeter extends ThresholdMeter {
  readonly #all: readonly (Guarantee & Pick<KeptGuarantee, "promise">)[];

  constructor(labels: number, vocabulary: number, guarantees: Guarantees) {
    const all = (["recall", "precision"] as const).flatMap((promise) =>
      guarantees[promise].map((each) => ({ promise, ...each })),
    );
    super(
      labels,
      vocabulary,
      [...new Set(all.map(cutOf))].sort((a, b) => a - b),
    );
    this.#all = all;
  }

  kept(): KeptGuarantee[] {
    const { thresholds } = this.report();
    return this.#all.flatMap((each) => {
      const found = thresholds.find(({ threshold }) => threshold === cutOf(each));
      if (!found) return [];
      const observed = each.promise === "recall" ? found.recall : found.overall.precision;
      return [{ ...each, observed, labelsPerPoint: found.labelsPerPoint }];
    });
  }
}
