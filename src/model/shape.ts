// The sizes of a problem, by the paper's symbols, and which of the model's forms it has.

import type { InducingName, KernelName, LikelihoodName, MeanName, PosteriorName } from "./names.ts";

export interface ModelShape {
  /** N, all training points */
  points: number;
  /** D */
  features: number;
  /** K */
  labels: number;
  /** P, latent functions */
  factors: number;
  /** M */
  inducingPoints: number;
  /** R, basis vectors (subspace only) */
  rank: number;
  /** B, points of a batch */
  batch: number;
  likelihood: LikelihoodName;
  kernel: KernelName;
  inducing: InducingName;
  posterior: PosteriorName;
  mean: MeanName;
  /** Least value of every sigma. */
  floor: number;
  quadrature: number | "closed";
}

/** What the latent functions depend on: a trained model has these without the rest. */
export type LatentShape = Pick<
  ModelShape,
  "features" | "factors" | "inducingPoints" | "rank" | "batch" | "kernel" | "inducing" | "posterior" | "mean"
>;
