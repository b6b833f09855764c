// Which of a model's labels are given for a point: so many of the best, those that are probable enough, those allowed. A row is scored
// once, and its labels are chosen from its scores.

import { leastOf, reaches, type Threshold } from "../base/prediction.ts";
import { type RankedValue, topLabels } from "../base/top.ts";
import type { RealArray } from "../core/matrix.ts";

/** Labels for a point where neither a number nor a threshold is given. */
export const DEFAULT_LABELS = 5;

export interface LabelChoice {
  /** Most labels for a point; with a threshold all that reach it, unless this is given too. */
  topK?: number | undefined;
  /** Only labels at least this probable; one number, or one for each label. */
  threshold?: Threshold | undefined;
  /** So many labels that no training point has are given as a list of their own. */
  unseen?: number | undefined;
  /** 1 for each label that may come; undefined where all may. */
  allowed?: Uint8Array | undefined;
}

/** Labels that are looked at first: few are probable. */
const FIRST_LOOK = 32;

/** The most labels that a point can have. */
export const mostLabels = ({ topK, threshold }: LabelChoice, labels: number): number =>
  Math.min(labels, topK ?? (threshold === undefined ? DEFAULT_LABELS : labels));

/** Labels of a row, most probable first; `rank` rises with the probability, which is worked out for few labels. */
export function chooseRow(
  rank: ArrayLike<number>,
  probabilityOf: (rank: number) => number,
  choice: LabelChoice,
): number[] {
  const { threshold, allowed } = choice;
  const most = mostLabels(choice, rank.length);
  const candidates = allowed ? keptOf(rank.length, (label) => allowed[label] !== 0) : undefined;
  const fits = (label: number): boolean =>
    threshold === undefined || reaches(threshold, label, probabilityOf(rank[label]));
  const least = leastOf(threshold ?? 0);
  for (let depth = Math.min(Math.max(1, most), FIRST_LOOK); ; depth *= 4) {
    const best = bestOf(rank, candidates, depth);
    const all = depth >= (candidates?.length ?? rank.length);
    const last = best.at(-1);
    const kept = best.filter(fits);
    if (all || kept.length >= most || last === undefined || probabilityOf(rank[last]) < least)
      return kept.slice(0, most);
  }
}

function bestOf(rank: ArrayLike<number>, candidates: Int32Array | undefined, depth: number): number[] {
  const values = candidates ? Float64Array.from(candidates, (label) => rank[label]) : rank;
  const wanted = Math.min(depth, values.length);
  const places = topLabels(values, 1, values.length, wanted);
  return Array.from(places, (place) => (candidates ? candidates[place] : place));
}

function keptOf(labels: number, keep: (label: number) => boolean): Int32Array {
  return Int32Array.from({ length: labels }, (_, label) => label).filter(keep);
}

/** The labels of all rows of a block [rows,K], as lists; labels beyond K come with what ranks them. */
export function chooseRows(
  rank: RealArray,
  labels: number,
  probabilityOf: (rank: number) => number,
  choice: LabelChoice,
  beyond: readonly (readonly RankedValue[])[] = [],
): { rowStart: Int32Array; labels: Int32Array; values: number[] } {
  const rows = rank.length / labels;
  const rowStart = new Int32Array(rows + 1);
  const chosen: RankedValue[] = [];
  const { threshold, allowed } = choice;
  const most = choice.topK ?? (threshold === undefined ? DEFAULT_LABELS : Infinity);
  const fits = ({ label, value }: RankedValue): boolean =>
    allowed?.[label] !== 0 && (threshold === undefined || reaches(threshold, label, probabilityOf(value)));
  for (let i = 0; i < rows; i++) {
    const own = rank.subarray(i * labels, (i + 1) * labels);
    const list = chooseRow(own, probabilityOf, choice).map((label) => ({ label, value: own[label] }));
    const more = beyond[i]?.filter(fits) ?? [];
    if (more.length > 0) list.push(...more);
    chosen.push(...(more.length > 0 ? list.sort((a, b) => b.value - a.value).slice(0, most) : list));
    rowStart[i + 1] = chosen.length;
  }
  return {
    rowStart,
    labels: Int32Array.from(chosen, ({ label }) => label),
    values: chosen.map(({ value }) => value),
  };
}

/** Elements of a matrix [rows,K] at the labels of lists; 0 at labels beyond K. */
export function atLabels(
  all: RealArray,
  columns: number,
  { rowStart, labels }: { rowStart: Int32Array; labels: Int32Array },
  value: (x: number) => number = (x) => x,
): Float64Array {
  const out = new Float64Array(labels.length);
  for (let i = 0; i + 1 < rowStart.length; i++)
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++)
      if (labels[e] < columns) out[e] = value(all[i * columns + labels[e]]);
  return out;
}
