// What every model can do once it is on a device: score points, and find their best labels.

import type { RealArray } from "../core/matrix.ts";
import type { SparseRows } from "../data/dataset.ts";
import type { ModelFrame } from "./model.ts";

/** Scores of some points, for all labels. */
export interface Scores {
  firstRow: number;
  rows: number;
  /** What the probability is made from [rows,K]: mean utilities, or scores of the Gaussian likelihood. */
  utility: RealArray;
  /** [rows,K], where asked for. */
  probability?: RealArray;
  /** Variance of the utilities [rows,K], where asked for and where there is one. */
  variance?: RealArray;
}

/** What is computed beyond the utilities. */
export interface ScoreOptions {
  probability?: boolean;
  variance?: boolean;
}

/** What labels are ranked by: their probability or, as in the paper, their mean utility. */
export const rankNames = ["probability", "utility"] as const;
/** What labels are ranked by. */
export type RankName = (typeof rankNames)[number];

export interface BestOptions {
  /** What labels are ranked by (default probability). */
  rank?: RankName;
  /** Give utility, variance and probability of each label too. */
  details?: boolean;
  /** Standard deviations of probabilities among the details (default true). */
  deviations?: boolean;
}

/** The best labels of some points, [rows,depth], best first. */
export interface BestLabels {
  firstRow: number;
  rows: number;
  labels: Int32Array;
  /** What they are ranked by. */
  values: RealArray;
  /**
   * Utility, its variance (where there is one) and probability of each label, where asked for; of calibrated models the
   * standard deviation of the probability (where there is one).
   */
  details?: { utility: RealArray; variance?: RealArray; probability: RealArray; sd?: RealArray };
}

/** Scores points, block by block. */
export interface Predictor {
  readonly frame: ModelFrame;
  score(features: SparseRows, want?: ScoreOptions): AsyncGenerator<Scores>;
  /** `depth` is at most K. */
  best(features: SparseRows, depth: number, options?: BestOptions): AsyncGenerator<BestLabels>;
  free(): void;
}
