// A trained model as plain data: what predicting needs, and what a reader of the file wants to know.

import type { RealArray } from "../core/matrix.ts";
import type { TfidfState } from "../data/tfidf.ts";
import type { FeatureTransform } from "../data/transform.ts";
import type { KernelName, LikelihoodName, MeanName, PosteriorName } from "./names.ts";

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

/** What a model knows of its features and labels, whatever computes its scores. */
export interface ModelFrame {
  /** D, K */
  features: number;
  labels: number;
  /** N: how many points it was trained on. */
  points: number;
  transform: FeatureTransform;
  /** How many training points have each label. */
  labelCounts: Int32Array;
  labelNames?: readonly string[];
}

/** A trained model as plain arrays: what a model file holds. */
export interface TrainedModel extends Omit<ModelFrame, "points"> {
  likelihood: LikelihoodName;
  kernel: KernelName;
  posterior: PosteriorName;
  /** What the mean goes through: Kx mu, or X mu. */
  mean: MeanName;
  /** P, M */
  factors: number;
  inducingPoints: number;
  /** Z' [D,M], whichever form Z was learned in. */
  inducingInputs: RealArray;
  /** mu [M,P], or [D,P] where the mean goes through the features */
  mu: RealArray;
  /** sigma [G,M], G groups of factors that share one */
  sigma: RealArray;
  /** Phi [K,P], b [K] */
  phi: RealArray;
  bias: RealArray;
  /** log a, log v, log l of the kernel */
  hyper: RealArray;
  featureNames?: readonly string[];
  /** Makes features from texts. */
  vectoriser?: TfidfState;
  summary: TrainingSummary;
}

/** What is known of the model's features and labels. */
export const frameOf = (model: TrainedModel): ModelFrame => ({ ...model, points: model.summary.points });
