// Helpers that the measures share: the rows of a block, means of precision and recall, losses, discounts.

import { ArgumentError } from "../base/errors.ts";
import { deterministicLog } from "../base/math.ts";
import type { LabelSets } from "../base/sparse.ts";

/** The top labels of a point that people look at. */
export const TOP = 5;
/** From here on a prediction is one that people act on. */
export const LIKELY = 0.05;

/** A row of data, as measures see it: its true labels, rising; its best labels, best first (-1 for none), with their probabilities. */
export interface BestRow {
  readonly own: Int32Array;
  readonly ranked: ArrayLike<number>;
  readonly confidence: ArrayLike<number>;
}

/** A row with the probabilities of all labels, and what labels are ranked by. */
export interface WholeRow extends BestRow {
  readonly probabilities: ArrayLike<number>;
  readonly order: ArrayLike<number>;
}

const part = (values: ArrayLike<number>, from: number, to: number): ArrayLike<number> =>
  Array.isArray(values) ? values.slice(from, to) : (values as Float64Array).subarray(from, to);

/** The rows of blocks of numbers, so many a row for each name, with the true labels of those of `truth` from `firstRow` on. */
export function* rowsOf<Name extends string>(
  { rows: all, rowStart, labelIndex }: LabelSets,
  firstRow: number,
  widths: Readonly<Record<Name, number>>,
  blocks: Readonly<Record<Name, ArrayLike<number>>>,
): Generator<Record<Name, ArrayLike<number>> & Pick<BestRow, "own">> {
  const names = Object.keys(widths) as Name[];
  const [first] = names;
  const [width, { length }] = [widths[first], blocks[first]];
  const rows = width > 0 ? length / width : all - firstRow;
  if (!Number.isInteger(rows) || firstRow + rows > all)
    throw new ArgumentError(first, `found ${length} from row ${firstRow}, expected rows of ${width} up to ${all}`);
  for (let i = 0; i < rows; i++) {
    const own = labelIndex.subarray(rowStart[firstRow + i], rowStart[firstRow + i + 1]);
    const parts = names.map((name) => [name, part(blocks[name], i * widths[name], (i + 1) * widths[name])]);
    yield { ...(Object.fromEntries(parts) as Record<Name, ArrayLike<number>>), own };
  }
}

/** Labels with `from` to `to` training points, `to` included; the last band has no `to`. */
export interface FrequencyBand {
  readonly from: number;
  readonly to?: number;
}

const BANDS: readonly FrequencyBand[] = [
  { from: 0, to: 0 },
  { from: 1, to: 9 },
  { from: 10, to: 99 },
  { from: 100, to: 999 },
  { from: 1000 },
];

/** The bands of labels by their training points, and which is that of each label; without counts there is one for all. */
export function bandsOf(
  labels: number,
  trainingCounts: ArrayLike<number> | undefined,
): { bands: readonly FrequencyBand[]; bandOf: Uint8Array } {
  if (!trainingCounts) return { bands: [{ from: 0 }], bandOf: new Uint8Array(labels) };
  if (trainingCounts.length < labels)
    throw new ArgumentError(
      "trainingCounts",
      `found ${trainingCounts.length}, expected one for each of ${labels} labels`,
    );
  const bandOf = Uint8Array.from({ length: labels }, (_, label) =>
    BANDS.findLastIndex(({ from }) => trainingCounts[label] >= from),
  );
  return { bands: BANDS, bandOf };
}

/** part / whole, or `otherwise` where there is nothing to divide by. */
export const ratio = (part: number, whole: number, otherwise = 0): number => (whole > 0 ? part / whole : otherwise);

export const sumOf = (values: Int32Array | Float64Array): number => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
};

/** Parts of one. */
export interface PrecisionRecall {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

export function precisionRecall(right: number, kept: number, positives: number): PrecisionRecall {
  return { precision: ratio(right, kept), recall: ratio(right, positives), f1: ratio(2 * right, kept + positives) };
}

/** The same for one point: where it has no label and none is kept, that is right. */
export const ofPoint = (right: number, kept: number, positives: number): PrecisionRecall =>
  kept + positives === 0 ? { precision: 1, recall: 1, f1: 1 } : precisionRecall(right, kept, positives);

/** A weighted mean of precisions, recalls and F1s. */
export class PrecisionRecallMean {
  readonly #sums = new Float64Array(3);
  #weight = 0;

  add({ precision, recall, f1 }: PrecisionRecall, weight = 1): void {
    this.#sums[0] += weight * precision;
    this.#sums[1] += weight * recall;
    this.#sums[2] += weight * f1;
    this.#weight += weight;
  }

  mean(): PrecisionRecall {
    const [precision, recall, f1] = Array.from(this.#sums, (sum) => ratio(sum, this.#weight));
    return { precision, recall, f1 };
  }
}

/** Means over labels: over all (macro), weighted by the points that have the label, and over those that some point has. */
export interface LabelMeans {
  readonly byLabel: PrecisionRecall;
  readonly byLabelWeighted: PrecisionRecall;
  readonly byTrueLabel: PrecisionRecall;
}

/** Means over labels of which `right` of the `kept` are among the `positives`, each counted by label. */
export function meansOverLabels(
  right: ArrayLike<number>,
  kept: ArrayLike<number>,
  positives: ArrayLike<number>,
): LabelMeans {
  const all = new PrecisionRecallMean();
  const weighted = new PrecisionRecallMean();
  const occurring = new PrecisionRecallMean();
  for (let label = 0; label < positives.length; label++) {
    const having = positives[label];
    const own = precisionRecall(right[label], kept[label], having);
    all.add(own);
    weighted.add(own, having);
    if (having > 0) occurring.add(own);
  }
  return { byLabel: all.mean(), byLabelWeighted: weighted.mean(), byTrueLabel: occurring.mean() };
}

/** 1 / log2(j + 2) for j = 0, 1, ... */
export function discounts(depth: number): Float64Array {
  const ln2 = deterministicLog(2);
  return Float64Array.from({ length: depth }, (_, j) => ln2 / deterministicLog(j + 2));
}

export function runningSums(terms: Float64Array): Float64Array {
  let sum = 0;
  return terms.map((term) => (sum += term));
}

/** Probabilities count as at least this and at most one minus this in the log loss. */
const LEAST = 1e-7;
const clipped = (probability: number): number => Math.min(Math.max(probability, LEAST), 1 - LEAST);

export const negativeLog = (probability: number): number => -deterministicLog(clipped(probability));

/** -ln(1 - p); most probabilities are small, and for those five terms of the series are exact to the last place. */
export function negativeLogOfRest(probability: number): number {
  const p = clipped(probability);
  if (p < 1e-3) return p * (1 + p * (1 / 2 + p * (1 / 3 + p * (1 / 4 + p * (1 / 5)))));
  return -deterministicLog(1 - p);
}
