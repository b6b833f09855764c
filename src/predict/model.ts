// A trained model as plain data: what predicting needs, and what a reader of the file wants to know.

import type { TfidfState } from "../data/tfidf.ts";
import type { FeatureTransform } from "../train/features.ts";

export type ModelKernel = "linear" | "se" | "linear+se";

/** How a model was trained. */
export interface TrainingSummary {
  /** Every option that was in force. */
  options: Record<string, unknown>;
  points: number;
  droppedPoints: number;
  steps: number;
  epochs: number;
  /** At the last step, with the KL at its last weight. */
  dataTerm: number;
  divergence: number;
  /** How often a factorisation needed its diagonal raised. */
  raisedFactorisations: number;
  /** Figures on the validation part, where there was one. */
  validation?: Record<string, number>;
  /** What it was trained on at the end, where that was not WASM. */
  device?: string;
  /** With early stopping: the parameters are those of step `steps`, the best of all that were measured. */
  earlyStopping?: {
    metric: string;
    best: number;
    /** The last step taken, and how many were planned. */
    lastStep: number;
    plannedSteps: number;
  };
}

/** A trained model as plain arrays: what a model file holds. */
export interface TrainedModel {
  kernel: ModelKernel;
  /** What the mean goes through: Kx mu, or X mu. */
  mean: "inducing" | "features";
  /** D, K, P, M */
  features: number;
  labels: number;
  factors: number;
  inducing: number;
  /** Z' [D,M], whichever form Z was learned in. */
  inducingInputs: Float32Array | Float64Array;
  /** mu [M,P], or [D,P] where the mean goes through the features */
  mu: Float32Array | Float64Array;
  /** sigma [groups,M]; one group where the factors share it, else P */
  sigma: Float32Array | Float64Array;
  groups: number;
  /** Phi [K,P], b [K] */
  phi: Float32Array | Float64Array;
  bias: Float32Array | Float64Array;
  /** log a, log v, log l of the kernel */
  hyper: Float32Array | Float64Array;
  transform: FeatureTransform;
  /** How many training points have each label. */
  labelCounts: Int32Array;
  labelNames?: readonly string[];
  featureNames?: readonly string[];
  /** Makes features from texts. */
  vectoriser?: TfidfState;
  summary: TrainingSummary;
}
