// How well each single label is found: its average precision over the points, and how often it is among the best of a
// point that has it. Fed twice with blocks of scores, which are never held whole: first `collect`, then `count`.
//
//     AP_l = mean over points i with label l of  #{j with l : s_jl >= s_il} / #{all j : s_jl >= s_il}

import type { LabelSets } from "../data/dataset.ts";
import { topLabels } from "./top.ts";

/** How well one label is found. */
export interface LabelFigures {
  readonly label: number;
  /** Points that have it. */
  readonly positives: number;
  /** Those of them that have it among their best `depth` labels. */
  readonly found: number;
  /** From 0 to 1. */
  readonly averagePrecision: number;
}

/** Measures each label on its own, in two passes: `collect`, then `count`. */
export class LabelMeter {
  readonly #labels: number;
  readonly #depth: number;
  readonly #found: Int32Array;
  readonly #collected: number[][]; // scores of the points that have the label
  #scores: Float64Array[] = []; // the same, rising
  #others: Float64Array[] = []; // points without the label whose score is at least scores[i] and below scores[i + 1]

  constructor(labels: number, depth = 5) {
    this.#labels = labels;
    this.#depth = depth;
    this.#found = new Int32Array(labels);
    this.#collected = Array.from({ length: labels }, () => []);
  }

  /** First time: scores [rows, labels] of the rows of `truth` from `firstRow` on. */
  collect(scores: ArrayLike<number>, truth: LabelSets, firstRow = 0): void {
    const labels = this.#labels;
    const rows = this.#rows(scores, truth, firstRow);
    const best = topLabels(scores, rows, labels, this.#depth);
    for (let row = 0; row < rows; row++) {
      const top = best.subarray(row * this.#depth, (row + 1) * this.#depth);
      for (const label of truthOf(truth, firstRow + row)) {
        if (label >= labels) continue; // never seen in training
        (this.#collected[label] as number[]).push(scores[row * labels + label] as number);
        if (top.includes(label)) this.#found[label] = (this.#found[label] as number) + 1;
      }
    }
  }

  /** Second time: the same blocks again, in any order, after all of them were collected. */
  count(scores: ArrayLike<number>, truth: LabelSets, firstRow = 0): void {
    const labels = this.#labels;
    const rows = this.#rows(scores, truth, firstRow);
    if (this.#scores.length === 0) this.#sort();
    for (let row = 0; row < rows; row++) {
      const has = new Set(truthOf(truth, firstRow + row));
      for (let label = 0; label < labels; label++) {
        const known = this.#scores[label] as Float64Array;
        const score = scores[row * labels + label] as number;
        if (!(score >= (known[0] as number)) || has.has(label)) continue;
        const others = this.#others[label] as Float64Array;
        const place = lastAtMost(known, score);
        others[place] = (others[place] as number) + 1;
      }
    }
  }

  /** The labels that some point has. */
  report(): LabelFigures[] {
    if (this.#scores.length === 0) this.#sort();
    return this.#scores.flatMap((scores, label) =>
      scores.length === 0
        ? []
        : [
            {
              label,
              positives: scores.length,
              found: this.#found[label] as number,
              averagePrecision: averagePrecision(scores, this.#others[label] as Float64Array),
            },
          ],
    );
  }

  #sort(): void {
    this.#scores = this.#collected.map((scores) => Float64Array.from(scores).sort());
    this.#others = this.#scores.map((scores) => new Float64Array(scores.length));
  }

  #rows(scores: ArrayLike<number>, truth: LabelSets, firstRow: number): number {
    const rows = scores.length / this.#labels;
    if (!Number.isInteger(rows) || firstRow + rows > truth.rows) {
      throw new RangeError(
        `found ${scores.length} scores from row ${firstRow}, expected rows of ${this.#labels} up to ${truth.rows}`,
      );
    }
    return rows;
  }
}

const truthOf = ({ rowStart, labelIndex }: LabelSets, row: number): Int32Array =>
  labelIndex.subarray(rowStart[row], rowStart[row + 1]);

/** Place of the last number of a rising list that is at most `value`; the first is. */
function lastAtMost(rising: Float64Array, value: number): number {
  let low = 0;
  let high = rising.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((rising[middle] as number) <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Goes down the scores; of equal ones all count at once. */
function averagePrecision(scores: Float64Array, others: Float64Array): number {
  let sum = 0;
  let wrong = 0;
  let last = scores.length;
  for (let i = scores.length - 1; i >= 0; i--) {
    wrong += others[i] as number;
    if (i > 0 && scores[i - 1] === scores[i]) continue;
    const right = scores.length - i;
    sum += ((last - i) * right) / (right + wrong);
    last = i;
  }
  return sum / scores.length;
}
