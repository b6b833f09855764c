// Where to cut: precision, recall and F1 of keeping every label at least so probable, for a row of thresholds at once.

import type { LabelSets } from "../data/dataset.ts";
import { meansOverLabels, type PrecisionRecall, PrecisionRecallMean, precisionRecall } from "./decisions.ts";
import { addAt, labelsOfRow, ratio, rowsOfBlock } from "./rows.ts";

/** The three means of decisions.ts at one threshold. */
export interface ThresholdFigures {
  readonly threshold: number;
  /** Labels kept for a point, on average. */
  readonly labelsPerPoint: number;
  readonly overall: PrecisionRecall;
  readonly byLabel: PrecisionRecall;
  readonly byDocument: PrecisionRecall;
}

/** Figures by threshold, and which threshold gives the best F1 in each sense. */
export interface ThresholdReport {
  readonly thresholds: readonly ThresholdFigures[];
  readonly best: { readonly overall: number; readonly byLabel: number; readonly byDocument: number };
}

/** 0.05, 0.10, ... 0.95 */
export const defaultThresholds: readonly number[] = Array.from({ length: 19 }, (_, i) => (i + 1) / 20);

/** Adds up blocks of probabilities. A prediction counts for the last threshold it reaches; sums from the top do the rest. */
export class ThresholdMeter {
  readonly #labels: number;
  readonly #thresholds: readonly number[];
  readonly #positives: Int32Array; // [labels]
  readonly #kept: Int32Array; // [thresholds, labels]
  readonly #right: Int32Array; // [thresholds, labels]
  readonly #byDocument: readonly PrecisionRecallMean[];
  #points = 0;

  /** `labels` are those of the matrix, `vocabulary` these and any others in the data. */
  constructor(
    labels: number,
    vocabulary: number = labels,
    thresholds: readonly number[] = defaultThresholds,
  ) {
    const bad = thresholds.find((each, i) => !(each > ((thresholds[i - 1] as number | undefined) ?? 0)));
    if (bad !== undefined || thresholds.length === 0) {
      throw new RangeError(`found thresholds ${thresholds.join(", ")}, expected numbers above 0 that rise`);
    }
    this.#labels = labels;
    this.#thresholds = thresholds;
    this.#positives = new Int32Array(vocabulary);
    this.#kept = new Int32Array(thresholds.length * labels);
    this.#right = new Int32Array(thresholds.length * labels);
    this.#byDocument = thresholds.map(() => new PrecisionRecallMean());
  }

  /** Probabilities [rows, labels] of the rows of `truth` from `firstRow` on. */
  update(probabilities: ArrayLike<number>, truth: LabelSets, firstRow = 0): void {
    const labels = this.#labels;
    const rows = rowsOfBlock("probabilities", probabilities.length, labels, truth, firstRow);
    for (let row = 0; row < rows; row++) {
      const own = labelsOfRow(truth, firstRow + row);
      if (own.length > 0) this.#point(probabilities, row * labels, own);
    }
  }

  #point(probabilities: ArrayLike<number>, base: number, own: Int32Array): void {
    const thresholds = this.#thresholds;
    const least = thresholds[0] as number;
    const kept = new Int32Array(thresholds.length);
    const right = new Int32Array(thresholds.length);
    this.#points++;
    for (const label of own) addAt(this.#positives, label, 1);
    for (let label = 0; label < this.#labels; label++) {
      const probability = probabilities[base + label] as number;
      if (!(probability >= least)) continue;
      let reached = 0;
      while (probability >= (thresholds[reached + 1] ?? Infinity)) reached++;
      addAt(kept, reached, 1);
      addAt(this.#kept, reached * this.#labels + label, 1);
      if (!own.includes(label)) continue;
      addAt(right, reached, 1);
      addAt(this.#right, reached * this.#labels + label, 1);
    }
    let [keptAbove, rightAbove] = [0, 0];
    for (let t = thresholds.length - 1; t >= 0; t--) {
      keptAbove += kept[t] as number;
      rightAbove += right[t] as number;
      (this.#byDocument[t] as PrecisionRecallMean).add(precisionRecall(rightAbove, keptAbove, own.length));
    }
  }

  report(): ThresholdReport {
    const vocabulary = this.#positives.length;
    const kept = new Int32Array(vocabulary);
    const right = new Int32Array(vocabulary);
    const sum = (counts: Int32Array): number => counts.reduce((total, count) => total + count, 0);
    const all = sum(this.#positives);
    const figures: ThresholdFigures[] = [];
    for (let t = this.#thresholds.length - 1; t >= 0; t--) {
      for (let label = 0; label < this.#labels; label++) {
        addAt(kept, label, this.#kept[t * this.#labels + label] as number);
        addAt(right, label, this.#right[t * this.#labels + label] as number);
      }
      figures.unshift({
        threshold: this.#thresholds[t] as number,
        labelsPerPoint: ratio(sum(kept), this.#points),
        overall: precisionRecall(sum(right), sum(kept), all),
        byLabel: meansOverLabels(right, kept, this.#positives).byLabel,
        byDocument: (this.#byDocument[t] as PrecisionRecallMean).mean(),
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
