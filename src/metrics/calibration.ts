// How honest probabilities are where people act on them: the best five labels of each point, and every prediction of at
// least 5 %; log loss and Brier score a point; all of it also by how often a label was seen in training. Fed with blocks
// of the probability matrix, which is never held whole.
//
// With y_il = 1 where point i has label l and 0 elsewhere, q = p kept within [1e-7, 1 - 1e-7]:
//
//     log loss    = mean over points of  sum_l -(y_il ln q_il + (1 - y_il) ln(1 - q_il))
//     Brier score = mean over points of  sum_l (p_il - y_il)^2
//
// Points without any label are left out of every figure, as in ranking.ts: nobody said what is true of them.

import type { LabelSets } from "../data/dataset.ts";
import { deterministicLog } from "../data/elementary.ts";
import { calibrationError, type Reliability, ReliabilityMeter } from "./reliability.ts";
import { addAt, labelsOfRow, ratio, rowsOfBlock } from "./rows.ts";
import { topLabels } from "./top.ts";

/** Which calibration figures to make. */
export interface CalibrationOptions {
  /** How many training points have each label, to report by frequency. */
  readonly trainingCounts?: ArrayLike<number>;
  /** Smallest count of each group, rising; the first group begins at 0. Default [0, 1, 10, 100, 1000]. */
  readonly groups?: readonly number[];
}

/** How honest the probabilities of some labels are. */
export interface CalibrationFigures {
  readonly labels: number;
  /** How often one of these labels was true. */
  readonly positives: number;
  /** Nats a point: the sum over these labels, the mean over points. */
  readonly logLoss: number;
  /** Squared distance a point: the sum over these labels, the mean over points. */
  readonly brier: number;
  /** Of the predictions among the best five of their point. */
  readonly bestFive: Reliability;
  /** Of the predictions of at least 5 %. */
  readonly overFivePercent: Reliability;
}

/** The figures of labels that were seen about equally often in training. */
export interface FrequencyGroup extends CalibrationFigures {
  /** Labels with `from` to `to` training points, `to` included; the last group has no `to`. */
  readonly from: number;
  readonly to?: number;
}

/**
 * Means over all pairs of a point and a label. Nearly all pairs are near-certain absences, so these are small whatever
 * the model says of the labels that matter: a footnote, never a verdict.
 */
export interface AllPairs {
  readonly predictions: number;
  readonly logLoss: number;
  readonly brier: number;
  /** Expected calibration error with 15 bins of equal width. */
  readonly ece: number;
}

/** The figures of all labels, and by how often they were seen. */
export interface CalibrationReport extends CalibrationFigures {
  /** Points with at least one label: the ones measured. */
  readonly points: number;
  readonly pointsWithoutLabels: number;
  /** True labels that the model does not know: they have no probability and are in no figure here. */
  readonly unknownLabels: number;
  readonly byFrequency: readonly FrequencyGroup[];
  readonly allPairs: AllPairs;
}

/** How many labels of a point are its best. */
export const BEST = 5;
/** From here on a prediction is one that people act on. */
export const LIKELY = 0.05;
/** Probabilities count as at least this and at most one minus this in the log loss. */
const LEAST = 1e-7;
const PAIR_BINS = 15;

const clipped = (probability: number): number => Math.min(Math.max(probability, LEAST), 1 - LEAST);

export const negativeLog = (probability: number): number => -deterministicLog(clipped(probability));

/** -ln(1 - p); most probabilities are small, and for those five terms of the series are exact to the last place. */
export function negativeLogOfRest(probability: number): number {
  const p = clipped(probability);
  if (p < 1e-3) return p * (1 + p * (1 / 2 + p * (1 / 3 + p * (1 / 4 + p * (1 / 5)))));
  return -deterministicLog(1 - p);
}

/** What is added up for a group of labels, or for all. */
class FigureSums {
  labels = 0;
  positives = 0;
  logLoss = 0;
  brier = 0;
  readonly bestFive = new ReliabilityMeter();
  readonly overFivePercent = new ReliabilityMeter();

  /** Counts a prediction as one of an absent label. */
  addNegative(probability: number): void {
    this.logLoss += negativeLogOfRest(probability);
    this.brier += probability * probability;
  }

  /** Turns a prediction that was counted as one of an absent label into one of a true label. */
  makePositive(probability: number): void {
    this.positives++;
    this.logLoss += negativeLog(probability) - negativeLogOfRest(probability);
    this.brier += 1 - 2 * probability;
  }

  figures(points: number): CalibrationFigures {
    return {
      labels: this.labels,
      positives: this.positives,
      logLoss: ratio(this.logLoss, points),
      brier: ratio(this.brier, points),
      bestFive: this.bestFive.report(),
      overFivePercent: this.overFivePercent.report(),
    };
  }
}

/** The bins of equal width over all pairs. */
class PairBins {
  readonly #counts = new Float64Array(PAIR_BINS);
  readonly #said = new Float64Array(PAIR_BINS);
  readonly #positives = new Float64Array(PAIR_BINS);

  #binOf(probability: number): number {
    return Math.min(Math.floor(probability * PAIR_BINS), PAIR_BINS - 1);
  }

  add(probability: number): void {
    const bin = this.#binOf(probability);
    addAt(this.#counts, bin, 1);
    addAt(this.#said, bin, probability);
  }

  addPositive(probability: number): void {
    addAt(this.#positives, this.#binOf(probability), 1);
  }

  ece(): number {
    const bins = Array.from(this.#counts, (count, bin) => ({
      count,
      meanProbability: ratio(this.#said[bin] as number, count),
      frequency: ratio(this.#positives[bin] as number, count),
    }));
    return calibrationError(bins);
  }
}

/** Adds up blocks of probabilities. The figures do not depend on how the rows are cut into blocks. */
export class CalibrationMeter {
  readonly #labels: number;
  readonly #groupStarts: readonly number[];
  readonly #groups: readonly FigureSums[];
  readonly #groupOf: readonly FigureSums[]; // of each label
  readonly #byFrequency: boolean;
  readonly #all = new FigureSums();
  readonly #pairs = new PairBins();
  #points = 0;
  #pointsWithoutLabels = 0;
  #unknownLabels = 0;

  constructor(labels: number, options: CalibrationOptions = {}) {
    const { trainingCounts, groups = [0, 1, 10, 100, 1000] } = options;
    if (trainingCounts && trainingCounts.length < labels) {
      throw new RangeError(
        `found ${trainingCounts.length} training counts, expected one for each of ${labels} labels`,
      );
    }
    this.#labels = labels;
    this.#byFrequency = trainingCounts !== undefined;
    this.#groupStarts = trainingCounts ? [0, ...groups.filter((start) => start > 0)] : [0];
    this.#groups = this.#groupStarts.map(() => new FigureSums());
    this.#groupOf = Array.from({ length: labels }, (_, label) => {
      const count = trainingCounts?.[label] ?? 0;
      return this.#groups[this.#groupStarts.findLastIndex((start) => count >= start)] as FigureSums;
    });
    for (const group of this.#groupOf) group.labels++;
    this.#all.labels = labels;
  }

  /**
   * Probabilities [rows, labels] of the rows of `truth` from `firstRow` on, and the best five labels of each row
   * (by probability where they are not given; -1 where there is none). True labels beyond the matrix (not known to
   * the model) have no probability: they are counted and left out.
   */
  update(
    probabilities: ArrayLike<number>,
    truth: LabelSets,
    firstRow = 0,
    best: ArrayLike<number> | undefined = undefined,
  ): void {
    const labels = this.#labels;
    const rows = rowsOfBlock("probabilities", probabilities.length, labels, truth, firstRow);
    const ranked = best ?? topLabels(probabilities, rows, labels, BEST);
    const width = rows > 0 ? ranked.length / rows : 0;
    for (let row = 0; row < rows; row++) {
      const own = labelsOfRow(truth, firstRow + row);
      if (own.length === 0) {
        this.#pointsWithoutLabels++;
        continue;
      }
      this.#points++;
      this.#row(probabilities, row * labels, own);
      for (let j = 0; j < Math.min(BEST, width); j++) {
        const label = ranked[row * width + j] as number;
        if (label < 0) continue;
        const probability = probabilities[row * labels + label] as number;
        const positive = own.includes(label);
        this.#all.bestFive.add(probability, positive);
        (this.#groupOf[label] as FigureSums).bestFive.add(probability, positive);
      }
    }
  }

  #row(probabilities: ArrayLike<number>, base: number, own: Int32Array): void {
    for (let label = 0; label < this.#labels; label++) {
      const probability = probabilities[base + label] as number;
      if (!(probability >= 0 && probability <= 1)) {
        throw new RangeError(
          `found probability ${probability} of label ${label}, expected a number from 0 to 1`,
        );
      }
      const group = this.#groupOf[label] as FigureSums;
      group.addNegative(probability);
      this.#pairs.add(probability);
      if (probability < LIKELY) continue;
      const positive = own.includes(label);
      this.#all.overFivePercent.add(probability, positive);
      group.overFivePercent.add(probability, positive);
    }
    for (const label of own) {
      if (label >= this.#labels) {
        this.#unknownLabels++;
        continue;
      }
      const probability = probabilities[base + label] as number;
      (this.#groupOf[label] as FigureSums).makePositive(probability);
      this.#pairs.addPositive(probability);
    }
  }

  report(): CalibrationReport {
    const points = this.#points;
    const all = this.#all;
    for (const sum of ["positives", "logLoss", "brier"] as const)
      all[sum] = this.#groups.reduce((total, group) => total + group[sum], 0);
    const byFrequency = this.#groups.map((sums, i) => {
      const from = this.#groupStarts[i] as number;
      const next = this.#groupStarts[i + 1];
      return { from, ...(next !== undefined && { to: next - 1 }), ...sums.figures(points) };
    });
    const predictions = points * this.#labels;
    return {
      ...all.figures(points),
      points,
      pointsWithoutLabels: this.#pointsWithoutLabels,
      unknownLabels: this.#unknownLabels,
      byFrequency: byFrequency.filter(({ labels }) => this.#byFrequency && labels > 0),
      allPairs: {
        predictions,
        logLoss: ratio(all.logLoss, predictions),
        brier: ratio(all.brier, predictions),
        ece: this.#pairs.ece(),
      },
    };
  }
}
