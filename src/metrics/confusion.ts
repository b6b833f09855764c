// Data in which every point has exactly one label: how often the first label is that one, and which it is taken for.

import { type BestRow, negativeLog, ratio, type WholeRow } from "./rows.ts";

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
  #loss = 0;
  #summed = 0;

  /** `labels` counts those of the model and any others in the data. */
  constructor(private readonly labels: number) {}

  add({ own, ranked, probabilities }: BestRow & Partial<WholeRow>): void {
    if (own.length !== 1) this.#single = false;
    if (!this.#single) return;
    const [label, first] = [own[0], ranked[0] ?? -1];
    this.#points++;
    if (label === first) this.#right++;
    const pair = (first + 1) * this.labels + label;
    this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + 1);
    if (!probabilities) return;
    let sum = 0;
    for (let at = 0; at < probabilities.length; at++) sum += probabilities[at];
    if (Math.abs(sum - 1) <= ROUNDING) this.#summed++;
    this.#loss += negativeLog(probabilities[label] ?? 0);
  }

  report(): SingleLabelReport | undefined {
    if (!this.#single || this.#points === 0) return undefined;
    const confusion = Array.from(this.#counts, ([pair, count]) => ({
      truth: pair % this.labels,
      predicted: Math.floor(pair / this.labels) - 1,
      count,
    })).sort((a, b) => b.count - a.count || a.truth - b.truth || a.predicted - b.predicted);
    const points = this.#points;
    const logLoss = this.#summed === points ? { logLoss: this.#loss / points } : {};
    return { points, accuracy: ratio(this.#right, points), ...logLoss, confusion };
  }
}
