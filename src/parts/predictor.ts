// Every model on a device can score points, and find their best labels.

import type { Reason, Thresholds } from "../base/prediction.ts";
import type { SparseRows } from "../base/sparse.ts";
import type { RankedValue } from "../base/top.ts";
import type { RealArray } from "../core/matrix.ts";
import type { LabelChoice } from "./choose.ts";
import type { ModelSchema } from "./schema.ts";

/** Scores of some points, for all labels. */
export interface Scores {
  firstRow: number;
  rows: number;
  /** The probability is made from these [rows,K]: mean utilities, or scores of the Gaussian likelihood. */
  utility: RealArray;
  /** [rows,K], where asked for. */
  probability?: RealArray;
  /** Variance of the utilities [rows,K], where asked for and where there is one. */
  variance?: RealArray;
  /** Labels beyond the K of each row, with the probabilities, where the model has such labels. */
  beyond?: readonly (readonly RankedValue[])[];
}

/** Numbers that are wanted beyond the utilities. */
export interface ScoreOptions {
  probability?: boolean;
  variance?: boolean;
}

/** Labels are ranked by their probability or, as in the paper, their mean utility. */
export const rankNames = ["probability", "utility"] as const;
/** A way to rank labels. */
export type RankName = (typeof rankNames)[number];

/** The best labels of some points, [rows,depth], best first, with their probabilities. */
export interface BestLabels {
  firstRow: number;
  rows: number;
  labels: Int32Array;
  values: RealArray;
  beyond?: Scores["beyond"];
}

/** Labels that were chosen for some points, most probable first: those of row i from rowStart[i] to rowStart[i + 1]. */
export interface ChosenLabels {
  rows: number;
  rowStart: Int32Array;
  labels: Int32Array;
  utility: RealArray;
  probability: RealArray;
  /** Standard deviations: of the probability where the model is calibrated, else of the utility; where there is one. */
  sd?: RealArray | undefined;
  /** For each row the sum of the probabilities of its best labels, for its expected recall; of calibrated models. */
  top?: Float64Array;
  /** Labels beyond the K of each row that stand in its text, chosen or not. */
  beyond?: readonly (readonly RankedValue[])[];
}

/** Scores points, block by block. */
export interface Predictor {
  readonly schema: ModelSchema;
  readonly thresholds?: Thresholds | undefined;
  score(features: SparseRows, want?: ScoreOptions): AsyncGenerator<Scores>;
  /** First scores of a few labels of a row, and of it without each list of its entries, as BlockScorer has them; undefined where there is no short way. */
  scoreOf?: (
    row: SparseRows,
    left: readonly (readonly number[])[],
    labels: readonly number[],
  ) => ArrayLike<number> | undefined;
  /** The most probable labels, where these take less time alone; `depth` is at most K. */
  best?(features: SparseRows, depth: number): AsyncGenerator<BestLabels>;
  /** With `deviations`, standard deviations too. */
  choose(features: SparseRows, choice: LabelChoice, deviations?: boolean): AsyncGenerator<ChosenLabels>;
  /** The words of a text that a label of this probability is called by, where these have moved it. */
  nameReason?(text: string, label: number, probability: number): Reason | undefined;
  free(): void;
}
