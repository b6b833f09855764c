// A trained model as plain data: what predicting needs, and what a reader of the file wants to know.

import type { Calibrator } from "../calibrate/calibrator.ts";
import type { RealArray } from "../core/matrix.ts";
import type { SparseRows } from "../data/dataset.ts";
import type { TfidfState } from "../data/tfidf.ts";
import type { FeatureTransform } from "../data/transform.ts";
import type { Thresholds } from "../metrics/cut.ts";
import type { KernelName, LikelihoodName, MeanName, PosteriorName } from "./names.ts";

/** How a model was trained. */
export interface TrainingSummary {
  /** Every option that was in force. */
  options: Record<string, unknown>;
  points: number;
  droppedPoints: number;
  /** Figures on points that were left out of the model or held out, where it was calibrated. */
  leftOut?: Record<string, number>;
  /** How many points the calibrator was fitted on again, where it was; `leftOut` is of these. */
  recalibratedOn?: number;
  /** Of a model with a state: the identity of that, and how many documents it has learned and forgotten since it was trained. */
  learning?: { state: string; learned: number; forgotten: number };
  /** Figures on the validation part, where there was one. */
  validation?: Record<string, number>;
  /** What it was trained on at the end, where that was not WASM. */
  device?: string;
  /** Whether it was trained with fused multiply-adds: its bytes may be others on another kind of CPU. */
  relaxed?: true;
  /** Of a training step by step. */
  steps?: number;
  epochs?: number;
  /** At the last step, with the KL at its last weight. */
  dataTerm?: number;
  divergence?: number;
  /** How often a factorisation needed its diagonal raised. */
  raisedFactorisations?: number;
  /** With early stopping: the parameters are those of step `steps`, the best of all that were measured. */
  earlyStopping?: {
    metric: string;
    best: number;
    /** The last step taken, and how many were planned. */
    lastStep: number;
    plannedSteps: number;
  };
}

type StepFigure = "steps" | "epochs" | "dataTerm" | "divergence" | "raisedFactorisations";

/** How a model was trained step by step. */
export type StepSummary = TrainingSummary & Required<Pick<TrainingSummary, StepFigure>>;

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
  /** Ids of the features in the training data, rising, where only those that occur have a number of their own. */
  columnIds?: Int32Array;
  /** Where to cut, chosen from points that were left out or held out; calibrated models have it. */
  thresholds?: Thresholds;
}

/** What every model has, whichever likelihood it was trained with. */
export interface ModelCommon extends Omit<ModelFrame, "points"> {
  featureNames?: readonly string[];
  /** Makes features from texts. */
  vectoriser?: TfidfState;
  /** Makes honest probabilities of the scores; without it they are the likelihood's own. */
  calibrator?: Calibrator;
  summary: TrainingSummary;
}

/** A model of latent functions with a Bernoulli likelihood, learned step by step. */
export interface LatentModel extends ModelCommon {
  likelihood: LikelihoodName;
  summary: StepSummary;
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
}

/** The Gaussian posterior of a kernel: s(x) = k(x,Z) a + mu. */
export interface KernelPart {
  /** Every training point is in the mean (Z = X), or some are for all. */
  form: "exact" | "inducing";
  kernel: KernelName;
  /** a, v, l of the kernel; lam */
  hyper: [number, number, number];
  noise: number;
  /** Z as the kernel sees it. */
  rows: SparseRows;
  /** a [M,K] */
  dual: Float32Array;
}

/** Every training point in the mean: what can go on learning. */
export type ExactPart = KernelPart & { form: "exact" };

/** The Gaussian posterior of a linear function of the features: s(x) = x W + mu. */
export interface LinearPart {
  form: "linear";
  /** lam */
  noise: number;
  /** Features that have weights, rising. */
  columns: Int32Array;
  /** W [columns,K] */
  weights: Float32Array;
  /** How much is known of each feature; older models do not say it. */
  evidence?: Evidence;
}

/** What the variance of a linear part is made of: lam / (share squares + lam) of each feature is not known. */
export interface Evidence {
  /** A_jj [columns], the sum over the training points of the feature's squares. */
  squares: Float32Array;
  /** The part of them that counts. */
  share: number;
}

/** Scores of labels that help each other: s2 = (s - mu) E Bs + mu. */
export interface StackPart {
  /** P */
  rank: number;
  /** E [K,P], Bs [P,K] */
  vectors: Float32Array;
  weights: Float32Array;
}

/** A model with a Gaussian likelihood, in closed form; with `latent` it has the Bernoulli one beside it. */
export interface ClosedModel extends ModelCommon {
  likelihood: "gaussian" | "both";
  closed: KernelPart | LinearPart;
  /** mu [K], the labels' frequencies */
  labelMean: Float32Array;
  stack?: StackPart;
  latent?: LatentModel;
  calibrator: Calibrator;
}

/** A trained model as plain arrays: what a model file holds. */
export type TrainedModel = LatentModel | ClosedModel;

export const isClosed = (model: TrainedModel): model is ClosedModel => "closed" in model;

/** What is known of the model's features and labels. */
export const frameOf = (model: TrainedModel): ModelFrame => ({ ...model, points: model.summary.points });
