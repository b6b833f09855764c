// Everything that can be chosen about a training, with defaults that give a newcomer a good model.

import { finiteNumber, oneOf, wholeNumber } from "../core/check.ts";
import { ArgumentError } from "../core/errors.ts";
import type { CovarianceName, InducingName, MeanName } from "../model/shape.ts";

/** What decides the model that a training gives. */
export interface TrainOptions {
  /** k(x, z): `linear`, `se` (squared exponential) or their sum. */
  kernel?: "linear" | "se" | "linear+se";
  /** Inducing inputs in the span of a basis, or free. */
  inducing?: InducingName;
  /** Keep the inducing inputs where k-means put them. */
  fixedInducing?: boolean;
  /** Keep the kernel's hyper-parameters at their start. */
  fixedKernel?: boolean;
  /** The basis: leading right singular vectors, k-means centroids, or rows of your own (R x D). */
  basis?: "svd" | "kmeans" | { rows: number; values: Float32Array };
  /** One Sigma for all latent functions, or the paper's one for each. */
  covariance?: CovarianceName;
  /**
   * What the mean of the latent functions goes through: the inducing inputs, as in the paper, or the features
   * themselves (linear kernel only; the default there).
   */
  mean?: MeanName;
  /** Absent labels looked at for each point in a step: all, or so many sampled ones. */
  negatives?: "all" | number;
  /** P, latent functions */
  factors?: number;
  /** M, inducing points */
  inducingPoints?: number;
  /** R, basis vectors */
  rank?: number;
  /** B, points of a step */
  batch?: number;
  epochs?: number;
  /** Adam's step length at the start; it falls to zero along a cosine. */
  learningRate?: number;
  /** Weight of the KL at the end: 1 is the paper's bound. */
  klWeight?: number;
  /** The KL's weight rises linearly from klStart to klWeight over this part of the steps. */
  klWarmup?: number;
  klStart?: number;
  /** Weight words by inverse document frequency; "auto" where all values are equal to one. */
  idf?: boolean | "auto";
  /** Scale every row to unit length. */
  normalise?: boolean;
  /** Least value of every sigma. */
  floor?: number;
  /** "closed", or a number of Gauss-Hermite nodes. */
  quadrature?: "closed" | number;
  precision?: "f32" | "f64";
  seed?: number;
  /** Stop when the validation data say that it gets no better; needs `validation`. */
  earlyStopping?: false | EarlyStopping;
}

/** When to stop by validation data. */
export interface EarlyStopping {
  /** Validations in a row without a new best, of twenty in a whole training (default 3). */
  patience?: number;
  /** What is to get better (default logLoss, which is the least noisy: it counts every label of every point). */
  metric?: StoppingMetric;
}

export const stoppingMetrics = ["logLoss", "P@1", "P@3", "P@5", "nDCG@3", "nDCG@5"] as const;
export type StoppingMetric = (typeof stoppingMetrics)[number];

/** The same with nothing left open. */
export type FullTrainOptions = Required<TrainOptions> & { earlyStopping: false | Required<EarlyStopping> };

export interface DataSizes {
  points: number;
  features: number;
  labels: number;
}

/** Small data are gone through more often. */
const DEFAULT_STEPS = 500;

/** Fills in the defaults for data of these sizes and refuses what cannot be. */
export function completeOptions(
  given: TrainOptions,
  { points, features, labels }: DataSizes,
): FullTrainOptions {
  const most = Math.min(points, features);
  const kernel = oneOf("kernel", given.kernel ?? "linear", ["linear", "se", "linear+se"]);
  const mean = oneOf("mean", given.mean ?? (kernel === "linear" ? "features" : "inducing"), [
    "inducing",
    "features",
  ]);
  if (mean === "features" && kernel !== "linear") {
    throw new ArgumentError(
      "mean",
      `found features with the kernel ${kernel}, expected inducing (or the kernel linear)`,
    );
  }
  // Where the inducing inputs carry the covariance alone, fewer of them in a smaller space do.
  const [pointsWanted, rankWanted] = mean === "features" ? [200, 300] : [500, 1000];
  const batch = wholeNumber("batch", Math.min(given.batch ?? 500, points), 1);
  const options: FullTrainOptions = {
    kernel,
    inducing: oneOf("inducing", given.inducing ?? "subspace", ["subspace", "free"]),
    fixedInducing: yesOrNo("fixedInducing", given.fixedInducing ?? false),
    fixedKernel: yesOrNo("fixedKernel", given.fixedKernel ?? kernel === "linear"),
    basis: given.basis ?? "svd",
    covariance: oneOf("covariance", given.covariance ?? "shared", ["shared", "perFactor"]),
    mean,
    negatives: given.negatives ?? "all",
    factors: wholeNumber(
      "factors",
      given.factors ?? Math.min(300, Math.max(100, Math.round(labels / 10))),
      1,
    ),
    inducingPoints: wholeNumber(
      "inducingPoints",
      given.inducingPoints ?? Math.min(pointsWanted, points),
      1,
      points,
    ),
    rank: wholeNumber("rank", given.rank ?? Math.min(rankWanted, most), 1, most),
    batch,
    epochs: finiteNumber("epochs", given.epochs ?? Math.max(3, (DEFAULT_STEPS * batch) / points)),
    learningRate: notNegative("learningRate", given.learningRate ?? (mean === "features" ? 0.03 : 0.02)),
    klWeight: notNegative("klWeight", given.klWeight ?? 1),
    klWarmup: notNegative("klWarmup", given.klWarmup ?? 0.6),
    klStart: notNegative("klStart", given.klStart ?? 0.02),
    idf: (given.idf ?? "auto") === "auto" ? "auto" : yesOrNo("idf", given.idf),
    normalise: yesOrNo("normalise", given.normalise ?? true),
    floor: finiteNumber("floor", given.floor ?? 1e-6),
    quadrature: given.quadrature ?? "closed",
    precision: oneOf("precision", given.precision ?? "f32", ["f32", "f64"]),
    seed: wholeNumber("seed", given.seed ?? 0, 0, Number.MAX_SAFE_INTEGER),
    earlyStopping: fullEarlyStopping(given.earlyStopping ?? false),
  };
  if (typeof options.basis === "string") oneOf("basis", options.basis, ["svd", "kmeans"]);
  if (options.negatives !== "all") wholeNumber("negatives", options.negatives, 1, labels);
  if (options.quadrature !== "closed") wholeNumber("quadrature", options.quadrature, 1, 256);
  if (options.klWarmup > 1)
    throw new ArgumentError("klWarmup", `found ${options.klWarmup}, expected a number from 0 to 1`);
  if (!(options.epochs > 0))
    throw new ArgumentError("epochs", `found ${options.epochs}, expected a number above 0`);
  if (!(options.floor > 0))
    throw new ArgumentError("floor", `found ${options.floor}, expected a number above 0`);
  return options;
}

function notNegative(name: string, value: number): number {
  if (finiteNumber(name, value) < 0)
    throw new ArgumentError(name, `found ${value}, expected a number of at least 0`);
  return value;
}

function yesOrNo(name: string, value: unknown): boolean {
  if (typeof value !== "boolean")
    throw new ArgumentError(name, `found ${String(value)}, expected true or false`);
  return value;
}

function fullEarlyStopping(given: false | EarlyStopping): FullTrainOptions["earlyStopping"] {
  if (given === false) return false;
  if (typeof given !== "object" || given === null)
    throw new ArgumentError(
      "earlyStopping",
      `found ${String(given)}, expected false or { patience, metric }`,
    );
  return {
    patience: wholeNumber("earlyStopping.patience", given.patience ?? 3, 1),
    metric: oneOf("earlyStopping.metric", given.metric ?? "logLoss", stoppingMetrics),
  };
}
