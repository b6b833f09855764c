// The pairs of a point and a label that a calibrator is fitted on: every label a point has, the best labels of each point,
// and of all the others every so many, which count for those between. Blocks of scores come one after another and only
// the chosen pairs are kept: points times labels do not fit into memory.

import { STRENGTH_DEPTH } from "../base/calibrator.ts";
import { sameSize, wholeNumber } from "../base/check.ts";
import { hashInteger } from "../base/hash.ts";
import type { PairArrays } from "../core/calibrator.ts";
import { topK } from "../core/dense.ts";
import type { Matrix, RealArray } from "../core/matrix.ts";
import type { Lists } from "../core/pattern.ts";
import { allFinite } from "../core/shapes.ts";
import { type Growable, growableFloats, growableIntegers } from "../data/builders.ts";
import { meanOf } from "./forward.ts";
import { guessOf } from "./terms.ts";

/** Scores of some points, made without the points' own labels: left out one at a time, or held out. */
export interface HeldOutBlock {
  scores: readonly Matrix[];
  /** Rows of the labels. */
  rows: ArrayLike<number>;
}

/** The chosen pairs, those of a label together in the order of their rows. */
export interface HeldOutPairs extends PairArrays {
  scores: Float64Array[];
  signedWeight: Float64Array;
  row: Int32Array;
  label: Int32Array;
  /** Mean of the ten best first scores of each row. */
  strengths: Float64Array;
}

/** Labels of a point that are always taken, by each of the scores. */
const BEST = 20;
/** About so many of a point's other labels. */
const OTHERS = 20;
/** Pairs beyond which only some of the points are taken. */
const MOST_PAIRS = 500_000;

/** Rows to score for a calibrator: all, or where they would make too many pairs a part of them, chosen by a hash. */
export function calibrationRows(points: number, mostPairs: number = MOST_PAIRS): Int32Array {
  const limit = (mostPairs / (BEST + OTHERS) / Math.max(1, points)) * 2 ** 32;
  const rows = Array.from({ length: points }, (_, row) => row);
  return Int32Array.from(limit >= 2 ** 32 ? rows : rows.filter((row) => hashInteger(row, 1) < limit));
}

export class PairCollector {
  readonly #count: number; // K
  readonly #guess: (score: number) => number;
  readonly #scores: Growable<Float32Array>[];
  readonly #label = growableIntegers();
  readonly #row = growableIntegers();
  readonly #signedWeight = growableFloats();
  readonly #strengths: Float64Array;
  /** The row in which each label was last chosen. */
  readonly #lastChosen: Int32Array;
  readonly #guesses: Float64Array; // of the row at hand

  /** Labels of the points that blocks speak of; labels beyond K are not known to the model and are left out. */
  constructor(
    scores: readonly string[],
    private readonly labels: Lists,
    labelCount: number,
    private readonly wanted: (row: number) => readonly number[] = () => [],
  ) {
    this.#guess = guessOf(scores);
    this.#count = labelCount;
    this.#scores = scores.map(() => growableFloats());
    this.#strengths = new Float64Array(labels.rowStart.length - 1);
    this.#lastChosen = new Int32Array(labelCount).fill(-1);
    this.#guesses = new Float64Array(labelCount);
  }

  add({ scores, rows }: HeldOutBlock): void {
    sameSize("scores", "matrices", scores.length, this.#scores.length);
    const depth = Math.min(BEST, this.#count);
    const best = scores.map((score) => {
      sameSize("scores", "columns", score.columns, this.#count);
      sameSize("scores", "rows", score.rows, rows.length);
      allFinite("scores", score);
      return topK(score, depth);
    });
    const values = scores.map((score) => score.toArray());
    for (let i = 0; i < rows.length; i++) {
      const row = wholeNumber("rows", rows[i], 0, this.#strengths.length - 1);
      const strongest = best[0]?.values.subarray(i * depth, i * depth + Math.min(depth, STRENGTH_DEPTH));
      this.#strengths[row] = meanOf(strongest ?? []);
      const take = (label: number, signedWeight: number) => {
        this.#label.push(label);
        this.#row.push(row);
        this.#signedWeight.push(signedWeight);
        values.forEach((all, j) => {
          this.#scores[j]?.push(all[i * this.#count + label]);
        });
      };
      this.#choose(
        row,
        best.map(({ indices }) => indices.subarray(i * depth, (i + 1) * depth)),
        values[0].subarray(i * this.#count, (i + 1) * this.#count),
        take,
      );
    }
  }

  #choose(
    row: number,
    best: readonly Int32Array[],
    leading: RealArray,
    take: (label: number, signedWeight: number) => void,
  ): void {
    const { rowStart, labelIndex } = this.labels;
    const own = labelIndex.subarray(rowStart[row], rowStart[row + 1]);
    const present = new Set(own);
    const once = (label: number) => {
      if (label >= this.#count || this.#lastChosen[label] === row) return;
      this.#lastChosen[label] = row;
      take(label, present.has(label) ? 1 : -1);
    };
    for (const labels of best) for (const label of labels) once(label);
    for (const label of own) once(label);
    for (const label of this.wanted(row)) once(label);
    this.#comb(row, leading, take);
  }

  /** Takes others with a chance c in proportion to their guess and the weight 1 / c: a comb over the running sum of chances. */
  #comb(row: number, leading: RealArray, take: (label: number, signedWeight: number) => void): void {
    const guesses = this.#guesses;
    let total = 0;
    for (let label = 0; label < this.#count; label++) {
      if (this.#lastChosen[label] === row) continue;
      const guess = this.#guess(leading[label]);
      guesses[label] = guess;
      total += guess;
    }
    const scale = OTHERS / total;
    let reached = hashInteger(row) / 2 ** 32;
    for (let label = 0; label < this.#count; label++) {
      if (this.#lastChosen[label] === row) continue;
      const chance = Math.min(1, scale * guesses[label]);
      reached += chance;
      if (reached < 1) continue;
      reached -= 1;
      take(label, -1 / chance);
    }
  }

  finish(): HeldOutPairs {
    const label = this.#label.finish();
    const labelStart = startsOf(label, this.#count);
    const order = new Int32Array(label.length);
    const next = labelStart.slice();
    label.forEach((k, e) => {
      order[next[k]++] = e;
    });
    const reals = ({ data }: Growable<Float32Array>) => Float64Array.from(order, (e) => data[e]);
    return {
      scores: this.#scores.map(reals),
      labelStart,
      signedWeight: reals(this.#signedWeight),
      row: order.map((e) => this.#row.data[e]),
      label: order.map((e) => label[e]),
      strengths: this.#strengths,
    };
  }
}

/** Where the pairs of each label begin, laid one label after another [labels + 1]. */
function startsOf(label: Int32Array, labels: number): Int32Array {
  const starts = new Int32Array(labels + 1);
  for (const k of label) starts[k + 1]++;
  for (let k = 0; k < labels; k++) starts[k + 1] += starts[k];
  return starts;
}

/** The pairs of some rows. */
export function pairsOf(
  { scores, labelStart, signedWeight, row, label, strengths }: HeldOutPairs,
  own: (row: number) => boolean,
): HeldOutPairs {
  const kept = Int32Array.from(row.keys()).filter((e) => own(row[e]));
  const labels = kept.map((e) => label[e]);
  const reals = (all: Float64Array): Float64Array => Float64Array.from(kept, (e) => all[e]);
  return {
    scores: scores.map(reals),
    labelStart: startsOf(labels, labelStart.length - 1),
    signedWeight: reals(signedWeight),
    row: kept.map((e) => row[e]),
    label: labels,
    strengths,
  };
}
