// The sizes of a problem, by the paper's symbols, and which of its forms it has.

import type { KernelName } from "../backend/backend.ts";

export type InducingName = "subspace" | "free";
export type CovarianceName = "shared" | "perFactor";
/** What the mean of the latent functions goes through: the inducing inputs, or (linear kernel) the features. */
export type MeanName = "inducing" | "features";

export interface ModelShape {
  /** N, all training points */
  points: number;
  /** D */
  features: number;
  /** K */
  labels: number;
  /** P, latent functions */
  factors: number;
  /** M, inducing points */
  inducing: number;
  /** R, basis vectors (subspace only) */
  rank: number;
  /** B, points of a batch */
  batch: number;
  kernel: KernelName;
  inducingInputs: InducingName;
  covariance: CovarianceName;
  mean: MeanName;
  /** Least value of every sigma. */
  floor: number;
  quadrature: number | "closed";
}

/** How many different Sigmas there are: one for all factors, or one for each. */
export const groupsOf = (shape: ModelShape): number => (shape.covariance === "shared" ? 1 : shape.factors);
