// How honest probabilities are: log loss, Brier score and expected calibration error over all points and
// labels, and by how often a label was seen in training. Fed with blocks of the probability matrix, which is
// never held whole.

import type { LabelSets } from "../data/dataset.ts";
import { deterministicLog } from "../data/elementary.ts";
import { calibrationError, type ReliabilityBin, ReliabilityBins } from "./bins.ts";

/** Which calibration figures to make. */
export interface CalibrationOptions {
  /** Of the expected calibration error. Default 15. */
  readonly bins?: number;
  /** How many training points have each label, to report by frequency. */
  readonly trainingCounts?: ArrayLike<number>;
  /** Smallest count of each group, rising; the first group begins at 0. Default [0, 10, 100, 1000]. */
  readonly groups?: readonly number[];
}

/** How honest the probabilities of some labels are. */
export interface CalibrationFigures {
  /** Labels and predictions (points times labels) these figures are of. */
  readonly labels: number;
  readonly predictions: number;
  readonly positives: number;
  /** Mean over predictions of -ln of the probability given to what happened. */
  readonly logLoss: number;
  /** Mean over predictions of (probability - outcome)^2. */
  readonly brier: number;
  /** Expected calibration error with bins of equal width, and with bins of equal mass. */
  readonly ece: number;
  readonly eceEqualMass: number;
  readonly reliability: readonly ReliabilityBin[];
  readonly reliabilityEqualMass: readonly ReliabilityBin[];
}

/** The figures of labels that were seen about equally often in training. */
export interface FrequencyGroup extends CalibrationFigures {
  /** Labels with `from` to `to` training points, `to` included; the last group has no `to`. */
  readonly from: number;
  readonly to?: number;
}

/** The figures of all labels, and by how often they were seen. */
export interface CalibrationReport extends CalibrationFigures {
  readonly byFrequency: readonly FrequencyGroup[];
}

/** A probability of 0 or 1 that is wrong costs -ln of this, not infinity. */
const LEAST = 1e-7;

function negativeLog(probability: number): number {
  return -deterministicLog(Math.max(probability, LEAST));
}

/**
 * -ln(1 - p); most probabilities are small, and for those five terms of the series are exact to the last
 * place.
 */
function negativeLogOfRest(p: number): number {
  if (p < 1e-3) return p * (1 + p * (1 / 2 + p * (1 / 3 + p * (1 / 4 + p * (1 / 5)))));
  return negativeLog(1 - p);
}

class FigureSums {
  labels = 0;
  predictions = 0;
  positives = 0;
  logLoss = 0;
  brier = 0;
  readonly bins: ReliabilityBins;

  constructor(bins: number) {
    this.bins = new ReliabilityBins(bins);
  }

  addNegative(probability: number): void {
    this.predictions++;
    this.logLoss += negativeLogOfRest(probability);
    this.brier += probability * probability;
    this.bins.add(probability);
  }

  /** Turns a prediction that was counted as negative into a positive one. */
  makePositive(probability: number): void {
    this.positives++;
    this.logLoss += negativeLog(probability) - negativeLogOfRest(probability);
    this.brier += 1 - 2 * probability;
    this.bins.addPositive(probability);
  }

  merge(other: FigureSums): void {
    this.labels += other.labels;
    this.predictions += other.predictions;
    this.positives += other.positives;
    this.logLoss += other.logLoss;
    this.brier += other.brier;
    this.bins.merge(other.bins);
  }

  figures(): CalibrationFigures {
    const { labels, predictions, positives } = this;
    const reliability = this.bins.equalWidth();
    const reliabilityEqualMass = this.bins.equalMass();
    return {
      labels,
      predictions,
      positives,
      logLoss: this.logLoss / predictions,
      brier: this.brier / predictions,
      ece: calibrationError(reliability),
      eceEqualMass: calibrationError(reliabilityEqualMass),
      reliability,
      reliabilityEqualMass,
    };
  }
}

/** Adds up blocks of probabilities. The figures do not depend on how the rows are cut into blocks. */
export class CalibrationMeter {
  readonly #labels: number;
  readonly #bins: number;
  readonly #byFrequency: boolean;
  readonly #groupStarts: readonly number[];
  readonly #groups: readonly FigureSums[];
  readonly #groupOf: readonly FigureSums[]; // of each label

  constructor(labels: number, options: CalibrationOptions = {}) {
    const { bins = 15, trainingCounts, groups = [0, 10, 100, 1000] } = options;
    if (trainingCounts && trainingCounts.length < labels) {
      throw new RangeError(
        `found ${trainingCounts.length} training counts, expected one for each of ${labels} labels`,
      );
    }
    this.#labels = labels;
    this.#bins = bins;
    this.#byFrequency = trainingCounts !== undefined;
    this.#groupStarts = trainingCounts ? [0, ...groups.filter((start) => start > 0)] : [0];
    this.#groups = this.#groupStarts.map(() => new FigureSums(bins));
    this.#groupOf = Array.from({ length: labels }, (_, label) => {
      const count = trainingCounts?.[label] ?? 0;
      return this.#groups[this.#groupStarts.findLastIndex((start) => count >= start)] as FigureSums;
    });
    for (const group of this.#groupOf) group.labels++;
  }

  /**
   * Probabilities [rows, labels] of the rows of `truth` from `firstRow` on. True labels beyond the matrix
   * (not known to the model) have no probability and are left out.
   */
  update(probabilities: ArrayLike<number>, truth: LabelSets, firstRow = 0): void {
    const labels = this.#labels;
    const rows = probabilities.length / labels;
    if (!Number.isInteger(rows) || firstRow + rows > truth.rows) {
      throw new RangeError(
        `found ${probabilities.length} probabilities from row ${firstRow}, expected rows of ${labels} up to ${truth.rows}`,
      );
    }
    for (let row = 0; row < rows; row++) {
      const base = row * labels;
      for (let label = 0; label < labels; label++) {
        const probability = probabilities[base + label] as number;
        if (!(probability >= 0 && probability <= 1)) {
          throw new RangeError(
            `found probability ${probability} of label ${label}, expected a number from 0 to 1`,
          );
        }
        (this.#groupOf[label] as FigureSums).addNegative(probability);
      }
      const end = truth.rowStart[firstRow + row + 1] as number;
      for (let i = truth.rowStart[firstRow + row] as number; i < end; i++) {
        const label = truth.labelIndex[i] as number;
        if (label < labels)
          (this.#groupOf[label] as FigureSums).makePositive(probabilities[base + label] as number);
      }
    }
  }

  report(): CalibrationReport {
    const all = new FigureSums(this.#bins);
    for (const group of this.#groups) all.merge(group);
    const byFrequency = this.#groups.map((sums, i) => {
      const from = this.#groupStarts[i] as number;
      const next = this.#groupStarts[i + 1];
      return { from, ...(next !== undefined && { to: next - 1 }), ...sums.figures() };
    });
    const seen = byFrequency.filter((group) => this.#byFrequency && group.predictions > 0);
    return { ...all.figures(), byFrequency: seen };
  }
}
