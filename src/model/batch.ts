// The points of one step, on the device.

import type {
  ColumnDraw,
  IndexTensor,
  LabelLists,
  PatternTensor,
  SparseTensor,
  Tensor,
} from "../backend/backend.ts";

export interface Batch {
  /** X and which of its rows are in the batch. */
  x: SparseTensor;
  rows: IndexTensor;
  /** X_b Xtilde' [B,R], where the inducing inputs lie in a subspace. */
  projected?: Tensor;
  /** |x_i|^2 [1,B] */
  squares: Tensor;
}

/** Points whose labels are known. */
export interface LabelledBatch extends Batch {
  labels: LabelLists | ListedLabels | DrawnLabels;
  /** Where the products with g are to go over some labels only, on average those over all: how many, a random number in [0, 1). */
  gradientDraw?: GradientDraw;
}

export type GradientDraw = Pick<ColumnDraw, "count" | "start">;

/** Only some labels of each point are looked at. */
export interface ListedLabels {
  pattern: PatternTensor;
  /** 1 x entries: 1 for a label that is present, -|neg| / |sampled| for one of the sampled absent ones. */
  signedWeight: Tensor;
}

/** The same labels are looked at for all points of the batch: those that one of them has, and some that were drawn. */
export interface DrawnLabels {
  /** Which they are: one entry in each of its rows. */
  drawn: PatternTensor;
  /** 1 x drawn: for how many labels each counts, 1 / (its probability to be drawn). */
  weight: Tensor;
  /** The labels that are present, by their places among the drawn ones; these count once. */
  positives: LabelLists;
}

export const areDrawn = (labels: LabelledBatch["labels"]): labels is DrawnLabels => "drawn" in labels;
export const areListed = (labels: LabelledBatch["labels"]): labels is ListedLabels => "pattern" in labels;
