// Fits the weights of names to logits of points that the parts before have not seen. A left-out point's own labels count as seen one
// time less (Good-Turing): labels of one document stand for those that no document has, whose names are in the texts as well.

import { deterministicExp, deterministicLog } from "../../base/math.ts";
import { type BoundedProblem, minimise, triangular } from "../../base/newton.ts";
import { Turns, type WorkOptions } from "../../base/progress.ts";
import type { LabelSets } from "../../base/sparse.ts";
import type { LogitPairs, MovedPairs } from "../part.ts";
import {
  absentLogit,
  CLASSES,
  classOf,
  FEATURES,
  type Mention,
  type NameMatcher,
  STANDING,
  standingLogit,
  WEIGHTS,
  type WordCounts,
} from "./row.ts";

/** Points without their labels, and what is known of these. */
export interface NamesInput {
  readonly matcher: NameMatcher;
  /** The number of each named label; those beyond the model's are no labels of a training point. */
  readonly numbers: Int32Array;
  readonly texts: readonly string[];
  readonly labelCounts: ArrayLike<number>;
  /** The points are among those that are counted. */
  readonly leftOut: boolean;
  readonly labels?: LabelSets | undefined;
}

/** Pull of a weight to where it is expected, in units of its feature's deviation. */
const RIDGE = 1;
const INTERCEPT_RIDGE = 1e-3;
/** As many absences as stand for labels of which nothing is known. */
const NEVER = 1e4;

/** Counts in how many of these texts each word of the names is. */
export async function countWords(
  matcher: NameMatcher,
  texts: readonly string[],
  work?: WorkOptions,
): Promise<WordCounts> {
  const turns = new Turns(work);
  const frequency = new Int32Array(matcher.words);
  for (const text of texts) {
    if (turns.due) await turns.take();
    for (const word of matcher.wordsOf(text)) frequency[word]++;
  }
  return { frequency, documents: texts.length };
}

export class NamesFit {
  readonly #input: NamesInput;
  readonly #mentions: readonly (readonly Mention[])[];
  /** 1 for each label of the model that has a name. */
  readonly #named: Uint8Array;
  /** A point's own labels count as seen one time less; only beside labels that no point has: else the count would tell the label. */
  readonly #less: boolean;

  /** Looks for the names first. */
  static async to(input: NamesInput, work?: WorkOptions): Promise<NamesFit> {
    const turns = new Turns(work);
    const mentions: Mention[][] = [];
    for (const text of input.texts) {
      if (turns.due) await turns.take();
      mentions.push(input.matcher.find(text));
    }
    return new NamesFit(input, mentions);
  }

  private constructor(input: NamesInput, mentions: readonly (readonly Mention[])[]) {
    const { matcher, numbers, labelCounts } = input;
    this.#input = input;
    this.#less = input.leftOut && numbers.some((label) => label >= labelCounts.length);
    this.#mentions = mentions;
    this.#named = new Uint8Array(labelCounts.length);
    matcher.named.forEach((named, entry) => {
      if (named && numbers[entry] < labelCounts.length) this.#named[numbers[entry]] = 1;
    });
  }

  /** The labels of the model that stand in the text of a row. */
  standing(row: number): number[] {
    const { numbers, labelCounts } = this.#input;
    return this.#mentions[row].map(({ entry }) => numbers[entry]).filter((label) => label < labelCounts.length);
  }

  /** How often a label is seen in other points than this one. */
  #class(label: number, present: boolean): number {
    return classOf(Math.max(0, this.#input.labelCounts[label] - (present && this.#less ? 1 : 0)));
  }

  /** Calls `each` for every pair: the class of its label, and its mention where it has one; null where it has no name. */
  #walk(pairs: LogitPairs, each: (pair: number, group: number, mention: Mention | undefined | null) => void): void {
    const { numbers } = this.#input;
    const ofRow = this.#mentions.map((all) => new Map(all.map((mention) => [numbers[mention.entry], mention])));
    for (let e = 0; e < pairs.row.length; e++) {
      const label = pairs.label[e];
      const group = this.#class(label, pairs.signedWeight[e] > 0);
      each(e, group, this.#named[label] ? ofRow[pairs.row[e]].get(label) : null);
    }
  }

  /** Calls `each` for the labels beyond the model's that stand in the texts of some rows. */
  #beyond(rows: Iterable<number>, each: (row: number, label: number, features: Float64Array) => void): void {
    const { numbers, labelCounts } = this.#input;
    for (const row of rows)
      for (const { entry, features } of this.#mentions[row])
        if (numbers[entry] >= labelCounts.length) each(row, numbers[entry], features);
  }

  /** The labels of a row, where they may be beyond the model's. */
  #truth(row: number): Int32Array {
    const { rowStart = [], labelIndex = new Int32Array(0) } = this.#input.labels ?? {};
    return labelIndex.subarray(rowStart[row], rowStart[row + 1]);
  }

  /** The weights that fit the pairs best. */
  async fit(pairs: LogitPairs, work?: WorkOptions): Promise<Float64Array> {
    const turns = new Turns(work);
    const standing = Array.from({ length: CLASSES }, () => new Regression(STANDING));
    const absent = Array.from({ length: CLASSES }, () => new Regression(2));
    this.#walk(pairs, (e, group, mention) => {
      if (mention === null) return;
      const z = pairs.logits[e];
      if (mention) standing[group].add([1, group === 0 ? 0 : z, ...mention.features], pairs.signedWeight[e]);
      else if (group > 0) absent[group].add([1, z], pairs.signedWeight[e]);
    });
    this.#beyond(this.#mentions.keys(), (row, label, features) => {
      standing[0].add([1, 0, ...features], this.#truth(row).includes(label) ? 1 : -1);
    });
    // Labels that no document has, and none that stands for them: nothing says how likely they are.
    if (standing[0].empty) standing[0].add([1], -NEVER);
    const weights = new Float64Array(WEIGHTS);
    for (let group = 0; group < CLASSES; group++) {
      weights.set(await standing[group].solve(turns), group * STANDING);
      weights.set(await absent[group].solve(turns), CLASSES * STANDING + 2 * group);
    }
    return weights;
  }

  /** The logits of the pairs by these weights. */
  moved(pairs: LogitPairs, weights: Float64Array): MovedPairs {
    const out = Float64Array.from(pairs.logits);
    this.#walk(pairs, (e, group, mention) => {
      if (mention) out[e] = standingLogit(weights, group, out[e], mention.features);
      else if (mention === undefined && group > 0) out[e] = absentLogit(weights, group, out[e]);
    });
    const [row, logits]: number[][] = [[], []];
    this.#beyond(new Set(Array.from(pairs.row)), (own, label, features) => {
      if (this.#truth(own).includes(label)) return;
      row.push(own);
      logits.push(standingLogit(weights, 0, 0, features));
    });
    return { logits: out, beyond: { row: Int32Array.from(row), logits: Float64Array.from(logits) } };
  }
}

/** Log loss of pairs. */
export function lossOf(signedWeight: ArrayLike<number>, logits: ArrayLike<number>): number {
  let loss = 0;
  for (let e = 0; e < logits.length; e++) loss += pairLoss(signedWeight[e], logits[e]);
  return loss;
}

/** log(1 + e^-x) of the logit towards the truth, times the weight. */
function pairLoss(signedWeight: number, logit: number): number {
  const x = signedWeight > 0 ? logit : -logit;
  return Math.abs(signedWeight) * (Math.max(0, -x) + deterministicLog(1 + deterministicExp(-Math.abs(x))));
}

/** A logistic regression by Newton's method; the second weight, that of a logit, is expected to be 1, all others 0. */
class Regression {
  readonly #rows: number[] = [];
  readonly #signedWeight: number[] = [];

  constructor(private readonly size: number) {}

  add(row: readonly number[], signedWeight: number): void {
    for (let i = 0; i < this.size; i++) this.#rows.push(row[i] ?? 0);
    this.#signedWeight.push(signedWeight);
  }

  get empty(): boolean {
    return this.#signedWeight.length === 0;
  }

  async solve(turns: Turns): Promise<Float64Array> {
    const expected = new Float64Array(this.size);
    expected[1] = 1;
    const ridge = this.#ridge();
    const problem: BoundedProblem = {
      lower: expected.map(() => Number.NEGATIVE_INFINITY),
      evaluate: (weights) => this.#evaluate(weights, expected, ridge),
      curvature: (weights) => this.#curvature(weights, ridge),
      pause: async () => {
        if (turns.due) await turns.take();
      },
    };
    return (await minimise(problem, expected)).x;
  }

  /** The ridge of each weight: by the deviation of its feature. */
  #ridge(): Float64Array {
    const { size } = this;
    const [sum, squares] = [new Float64Array(size), new Float64Array(size)];
    const count = Math.max(1, this.#signedWeight.length);
    this.#rows.forEach((value, at) => {
      sum[at % size] += value;
      squares[at % size] += value * value;
    });
    const variance = (i: number): number => Math.max(1e-6, squares[i] / count - (sum[i] / count) ** 2);
    return Float64Array.from(sum, (_, i) => (i === 0 ? INTERCEPT_RIDGE : RIDGE * variance(i)));
  }

  #logit(pair: number, weights: Float64Array): number {
    let logit = 0;
    for (let i = 0; i < this.size; i++) logit += weights[i] * this.#rows[pair * this.size + i];
    return logit;
  }

  #evaluate(
    weights: Float64Array,
    expected: Float64Array,
    ridge: Float64Array,
  ): { value: number; gradient: Float64Array } {
    const { size } = this;
    const gradient = weights.map((weight, i) => ridge[i] * (weight - expected[i]));
    let value = 0;
    for (let i = 0; i < size; i++) value += (gradient[i] * (weights[i] - expected[i])) / 2;
    this.#signedWeight.forEach((signed, e) => {
      const logit = this.#logit(e, weights);
      value += pairLoss(signed, logit);
      const slope = Math.abs(signed) * (logistic(logit) - (signed > 0 ? 1 : 0));
      for (let i = 0; i < size; i++) gradient[i] += slope * this.#rows[e * size + i];
    });
    return { value, gradient };
  }

  /** The lower triangle, row by row. */
  #curvature(weights: Float64Array, ridge: Float64Array): Float64Array {
    const { size } = this;
    const curvature = new Float64Array(triangular(size, 0));
    for (let i = 0; i < size; i++) curvature[triangular(i, i)] = ridge[i];
    this.#signedWeight.forEach((signed, e) => {
      const p = logistic(this.#logit(e, weights));
      const bend = Math.abs(signed) * p * (1 - p);
      const from = e * size;
      for (let i = 0; i < size; i++) {
        const x = bend * this.#rows[from + i];
        if (x === 0) continue;
        for (let j = 0; j <= i; j++) curvature[triangular(i, j)] += x * this.#rows[from + j];
      }
    });
    return curvature;
  }
}

const logistic = (logit: number): number => 1 / (1 + deterministicExp(-logit));

/** Weights that a fit may lower the loss by without any meaning, one for each. */
export const FREE: number = CLASSES * (FEATURES + 2) + 2 * CLASSES;
