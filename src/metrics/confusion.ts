// Data in which every point has exactly one label: how often the first label is that one, and which it is taken for.

import type { LabelSets } from "../base/sparse.ts";
import { eachRow, negativeLog, ratio } from "./rows.ts";

/** Probabilities in single precision that sum to one do so within this. */
const ROUNDING = 1e-3;

/** So many points of the label `truth` had the first label `predicted`. */
export interface ConfusionCount {
  readonly truth: number;
  readonly predicted: number;
  readonly count: number;
}

/** Figures of data with one label a point. */
export interface SingleLabelReport {
  readonly points: number;
  /** Part of the points whose first label is theirs. */
  readonly accuracy: number;
  /** Log loss of the classes, nats a point: where the probabilities of every point sum to one. */
  readonly logLoss?: number;
  /** Every pair that occurs, right ones too, most frequent first. */
  readonly confusion: readonly ConfusionCount[];
}

/** Counts first labels by the true one; of data that have other points than those of one label there is no report. */
export class SingleLabelMeter {
  #points = 0;
  #right = 0;
  #single = true;
  readonly #counts = new Map<number, number>();
  #span = 0;
  #loss = 0;
  #summed = 0;

  /** The probabilities of all labels of the same rows [rows, width]. */
  addProbabilities(probabilities: ArrayLike<number>, width: number, truth: LabelSets, firstRow = 0): void {
    eachRow("probabilities", probabilities.length, width, truth, firstRow, ([label], row) => {
      let sum = 0;
      for (let at = row * width; at < (row + 1) * width; at++) sum += probabilities[at];
      if (Math.abs(sum - 1) <= ROUNDING) this.#summed++;
      this.#loss += negativeLog(label < width ? probabilities[row * width + label] : 0);
    });
  }

  /** The first label of each row of `ranked` [rows, width], in the rows of `truth` from `firstRow` on. */
  update(ranked: ArrayLike<number>, width: number, truth: LabelSets, firstRow = 0): void {
    this.#span ||= truth.labels + 1;
    eachRow("ranked labels", ranked.length, width, truth, firstRow, (own, row) => {
      if (own.length !== 1) this.#single = false;
      if (!this.#single) return;
      const [label, first] = [own[0], ranked[row * width] ?? -1];
      this.#points++;
      if (label === first) this.#right++;
      const pair = (first + 1) * this.#span + label;
      this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + 1);
    });
  }

  report(): SingleLabelReport | undefined {
    if (!this.#single || this.#points === 0) return undefined;
    const confusion = Array.from(this.#counts, ([pair, count]) => ({
      truth: pair % this.#span,
      predicted: Math.floor(pair / this.#span) - 1,
      count,
    })).sort((a, b) => b.count - a.count || a.truth - b.truth || a.predicted - b.predicted);
    const points = this.#points;
    const logLoss = this.#summed === points ? { logLoss: this.#loss / points } : {};
    return { points, accuracy: ratio(this.#right, points), ...logLoss, confusion };
  }
}
