// Calibration error by label, ECE_ML (Henning et al.). For each label the predictions of at least 1/2 and those below are cut
// apart into bins of equal count, at most 10 and none of fewer than 5 points; its error is the mean over these bins of
// |confidence - accuracy|, and the error of some labels is the mean over them. Every label counts alike, so that rare
// ones are not hidden behind frequent ones.

import type { LabelSets } from "../base/sparse.ts";
import { equalGroups, stepsOf } from "./reliability.ts";
import { bandsOf, eachRow, type FrequencyBand, ratio } from "./rows.ts";

const BINS = 10;
const LEAST_POINTS = 5;
/** Probabilities that are kept, 128 MB; where there are more, so many labels are measured, evenly by frequency. */
const MOST_KEPT = 2 ** 25;

/** Calibration error by label. */
export interface LabelError {
  /** Part of one: the mean over these labels. */
  readonly error: number;
  /** Labels that were measured. */
  readonly labels: number;
}

/** Calibration error by label, over all and by how often they were seen in training. */
export interface LabelErrorReport extends LabelError {
  readonly byFrequency: readonly (LabelError & FrequencyBand)[];
}

/** Keeps the probabilities of the labels that are measured. */
export class LabelErrorMeter {
  #measured: Int32Array | undefined;
  readonly #place: Int32Array; // of each label among the measured ones, -1 for none
  #columns: Float32Array[] = []; // [measured][rows]
  #positives: number[][] = []; // rows that have each measured label

  constructor(
    private readonly labels: number,
    private readonly counts?: ArrayLike<number>,
    private readonly most: number = MOST_KEPT,
  ) {
    this.#place = new Int32Array(labels).fill(-1);
  }

  #open(rows: number): Int32Array {
    const { labels, counts } = this;
    const order = Int32Array.from({ length: labels }, (_, label) => label);
    if (counts) order.sort((a, b) => counts[b] - counts[a] || a - b);
    const some = Math.min(labels, Math.max(1, Math.floor(this.most / Math.max(1, rows))));
    const measured = Int32Array.from({ length: some }, (_, i) => order[Math.floor((i * labels) / some)]).sort();
    measured.forEach((label, i) => {
      this.#place[label] = i;
    });
    this.#columns = Array.from(measured, () => new Float32Array(rows));
    this.#positives = Array.from(measured, () => []);
    return measured;
  }

  /** Probabilities [rows, labels] of the rows of `truth` from `firstRow` on. */
  update(probabilities: ArrayLike<number>, truth: LabelSets, firstRow = 0): void {
    this.#measured ??= this.#open(truth.rows);
    const measured = this.#measured;
    const [labels, length] = [this.labels, probabilities.length];
    eachRow("probabilities", length, labels, truth, firstRow, (own, row) => {
      measured.forEach((label, i) => {
        this.#columns[i][firstRow + row] = probabilities[row * labels + label];
      });
      for (const label of own) this.#positives[this.#place[label] ?? -1]?.push(firstRow + row);
    });
  }

  report(): LabelErrorReport {
    const { bands, bandOf } = bandsOf(this.labels, this.counts);
    const measured = Array.from(this.#measured ?? [], (label, i) => ({
      band: bandOf[label],
      error: errorOf(this.#columns[i], new Set(this.#positives[i])),
    })).filter(({ error }) => !Number.isNaN(error));
    const mean = (some: typeof measured): LabelError => {
      const total = some.reduce((sum, { error }) => sum + error, 0);
      return { error: ratio(total, some.length), labels: some.length };
    };
    const byFrequency = bands
      .map((each, i) => ({ ...each, ...mean(measured.filter(({ band }) => band === i)) }))
      .filter(({ labels }) => labels > 0 && this.counts !== undefined);
    return { ...mean(measured), byFrequency };
  }
}

/** Error of one label; NaN where there are too few points. */
function errorOf(column: Float32Array, positives: ReadonlySet<number>): number {
  const differences = [false, true].flatMap((high) => {
    const [no, yes]: [number[], number[]] = [[], []];
    column.forEach((probability, row) => {
      if (probability >= 0.5 === high) (positives.has(row) ? yes : no).push(probability);
    });
    const count = no.length + yes.length;
    const bins = Math.min(BINS, Math.floor(count / LEAST_POINTS));
    const groups = equalGroups([...stepsOf(no, yes)], count, bins);
    return groups.map(({ confidence, accuracy }) => Math.abs(confidence - accuracy));
  });
  return differences.reduce((sum, each) => sum + each, 0) / differences.length;
}
