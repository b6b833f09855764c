// Everything that can be chosen about a training, with defaults that give a newcomer a good model. An option is its line in
// TrainOptions and its entry in the table below it: the compiler holds the two together, and the checks, the flags of
// the command, its help, the report and the guide are made from the table.

import { isLinear, type KernelName, kernelNames } from "../base/kernels.ts";
import { completeTable, type OptionTable } from "../options/table.ts";

/** Parts of a model, as they can be asked for. */
export const modelNames = ["auto", "gpr", "sgpr", "linear", "svgp", "linear+svgp"] as const;

/** Inducing inputs: in the span of a basis, or free. */
const inducingNames = ["subspace", "free"] as const;
/** Sigma of the posterior: one for all latent functions, or one for each. */
export const posteriorNames = ["shared", "perFactor"] as const;
/** The mean of the latent functions goes through the inducing inputs or (linear kernel) the features. */
export const meanNames = ["inducing", "features"] as const;

/** Options that decide the model. */
export interface TrainOptions {
  /**
   * The parts of the model. `gpr`: exact GP regression. `sgpr`: sparse GP regression. `linear`: Bayesian linear regression on
   * the features. `svgp`: the paper's sparse variational GP, trained in minibatches. `linear+svgp`: both, calibrated together.
   * `auto`: by the sizes of the data. Default: auto.
   */
  model?: (typeof modelNames)[number] | (string & {});
  /** Calibrate the probabilities on left-out or held-out points; the paper's are not. Default: yes. */
  calibration?: boolean;
  /**
   * Every row has exactly one label: the probabilities of a row's labels sum to one, and are calibrated as such. Default: no.
   */
  exclusive?: boolean;
  /**
   * k(x, z), the covariance function. `rbf` is another name of `se`, the squared exponential. Default: linear; se for gpr and
   * sgpr, of dense features the better of the two.
   */
  kernel?: KernelName | "rbf" | "linear+rbf";
  /**
   * Names of labels, looked for in the texts: `{ label: "name" }` or `{ label: ["name", "other name"] }` (`readNames` reads
   * them from a file); "labels": a label whose own text is words is its name, where that helps. Default: labels.
   */
  names?: "labels" | "off" | Readonly<Record<string, string | readonly string[]>>;
  /** Inducing inputs in the span of a basis, or free. Default: subspace. */
  inducing?: (typeof inducingNames)[number];
  /** Keep the inducing inputs where k-means put them. Default: no. */
  fixedInducing?: boolean;
  /** Keep the kernel's hyper-parameters at their start. Default: yes for the linear kernel, else no. */
  fixedKernel?: boolean;
  /** The basis: leading right singular vectors, or k-means centroids. Default: svd. */
  basis?: "svd" | "kmeans";
  /** One Sigma for all latent functions, or the paper's one for each. Default: shared. */
  posterior?: (typeof posteriorNames)[number];
  /**
   * The mean of the latent functions goes through this: the inducing inputs, as in the paper, or the features themselves
   * (linear kernel only). Default: features for the linear kernel, else inducing.
   */
  mean?: (typeof meanNames)[number];
  /** Absent labels looked at for each point in a step: all, or so many sampled ones. Default: all. */
  negatives?: "all" | number;
  /**
   * Labels whose share of the gradient is computed in a step: all, or so many: those of its points, and others drawn in
   * proportion to how much they push and weighted so that the gradient stays right on average (WASM only). Default: all up to
   * 3000 labels, else a quarter of them, at least 1000, at most 1500.
   */
  gradientLabels?: "all" | number;
  /** P, number of latent functions. Default: a tenth of the labels, at least 100, at most 300. */
  factors?: number;
  /** M, inducing points. Default: 200, with the mean inducing 500; never more than the points. */
  inducingPoints?: number;
  /** R, basis vectors. Default: 300, with the mean inducing 1000, never more than the points or the features. */
  rank?: number;
  /** B, minibatch size; never more than there are. Default: 500. */
  batch?: number;
  /** How often each point is seen. Default: as many as make 500 steps, at least 3. */
  epochs?: number;
  /** Adam's initial learning rate; it falls to zero along a cosine. Default: 0.03, with the mean inducing 0.02. */
  learningRate?: number;
  /** Weight of the KL at the end: 1 is the paper's bound. Default: 1. */
  klWeight?: number;
  /** The KL's weight rises linearly from klStart to klWeight over this part of the steps. Default: 0.6. */
  klWarmup?: number;
  /** Weight of the KL at the start. Default: 0.02. */
  klStart?: number;
  /** Weight words by inverse document frequency; "auto" where all values are equal to one. Default: auto. */
  idf?: boolean | "auto";
  /**
   * Scale every row to unit length. Dense features are scaled by columns where it is off. Default: yes for sparse features; no
   * for dense ones, or what is better with gpr and sgpr.
   */
  normalise?: boolean;
  /** Least value of every sigma. Default: 0.000001. */
  minSigma?: number;
  /** How expectations are computed: in closed form, or with so many Gauss-Hermite nodes. Default: closed. */
  quadrature?: "closed" | number;
  /** Single or double precision. Default: f32. */
  precision?: "f32" | "f64";
  /** Random seed. Default: 0. */
  seed?: number;
}

/** The same with nothing left open and one name for each thing. */
export type FullTrainOptions = Omit<Required<TrainOptions>, "kernel"> & { kernel: KernelName };

/** Sizes that defaults may depend on. */
export interface DataSizes {
  points: number;
  features: number;
  labels: number;
  /** The features are dense: measurements rather than words. */
  dense?: boolean;
  /** The kernel of the model's parts where none is asked for. */
  defaultKernel?: KernelName;
}

/** So many labels, which are all where there are no more. */
const allOf = (count: "all" | number, { labels }: { labels: number }): "all" | number =>
  count !== "all" && count >= labels ? "all" : count;
/**
 * Two thirds of a step's time go to products with the gradients of labels; with more labels than these a quarter is enough. EUR-Lex, 4,108
 * labels, on rows that were held out: log loss 7.94 (7.99 with all), the same P@k.
 */
const ALL_GRADIENTS = 3000;
const GRADIENT_LABELS = [1000, 1500] as const;
const DEFAULT_STEPS = 500;

const isName = (name: unknown): boolean =>
  typeof name === "string" || (Array.isArray(name) && name.every((each) => typeof each === "string"));

export const trainOptions: OptionTable<TrainOptions, FullTrainOptions, DataSizes & FullTrainOptions> = {
  model: {
    kind: "choice",
    choices: modelNames,
    default: "auto",
    meaning: "parts of the model",
  },
  calibration: {
    kind: "switch",
    default: true,
    meaning: "calibrate probabilities on left-out or held-out rows",
  },
  exclusive: {
    kind: "switch",
    default: false,
    refuse: (exclusive, { calibration }) => (exclusive && !calibration ? "no, since nothing is calibrated" : undefined),
    meaning: "multi-class: every row has exactly one label, and its probabilities sum to one",
  },
  kernel: {
    kind: "choice",
    choices: kernelNames,
    also: { rbf: "se", "linear+rbf": "linear+se" },
    default: {
      words: "linear; se for gpr and sgpr, of dense features the better of the two",
      of: ({ defaultKernel }) => defaultKernel ?? "linear",
    },
    meaning: "covariance function",
  },
  names: {
    kind: "choice",
    choices: ["labels", "off"],
    own: {
      expected: "names of labels",
      fromFile: true,
      accepts: (value) => typeof value === "object" && value !== null && Object.values(value).every(isName),
    },
    default: "labels",
    meaning: "a label whose name stands in the text is likelier; its name is the label itself, or in FILE",
  },
  inducing: {
    kind: "choice",
    choices: inducingNames,
    default: "subspace",
    meaning: "space of the inducing inputs",
  },
  fixedInducing: {
    kind: "switch",
    default: false,
    meaning: "keep the inducing inputs where k-means put them",
  },
  fixedKernel: {
    kind: "switch",
    default: { words: "yes for the linear kernel, else no", of: ({ kernel }) => isLinear(kernel) },
    meaning: "keep the kernel's hyper-parameters at their initial values",
  },
  basis: {
    kind: "choice",
    choices: ["svd", "kmeans"],
    default: "svd",
    meaning: "basis of the subspace of the inducing inputs",
  },
  posterior: {
    kind: "choice",
    choices: posteriorNames,
    default: "shared",
    meaning: "posterior covariance: one for all latent functions, or one each",
  },
  mean: {
    kind: "choice",
    choices: meanNames,
    default: {
      words: "features for the linear kernel, else inducing",
      of: ({ kernel }) => (isLinear(kernel) ? "features" : "inducing"),
    },
    refuse: (mean, { kernel }) =>
      mean === "features" && !isLinear(kernel)
        ? `inducing with the kernel ${kernel} (or the kernel linear)`
        : undefined,
    meaning: "parametrisation of the mean of the latent functions",
  },
  negatives: {
    kind: "whole",
    word: "all",
    from: 1,
    to: ({ labels }) => labels,
    default: "all",
    meaning: "absent labels sampled per row in a step",
  },
  gradientLabels: {
    kind: "whole",
    word: "all",
    from: 1,
    default: {
      words: `all up to ${ALL_GRADIENTS} labels, else a quarter of them, at least ${GRADIENT_LABELS[0]}, at most ${GRADIENT_LABELS[1]}`,
      of: ({ labels }) =>
        labels <= ALL_GRADIENTS ? "all" : Math.min(GRADIENT_LABELS[1], Math.max(GRADIENT_LABELS[0], labels >> 2)),
    },
    settle: allOf,
    meaning: "labels whose gradient is computed in a step: those of its rows, and others sampled by gradient magnitude",
  },
  factors: {
    kind: "whole",
    from: 1,
    symbol: "P",
    default: {
      words: "a tenth of the labels, at least 100, at most 300",
      of: ({ labels }) => Math.min(300, Math.max(100, Math.round(labels / 10))),
    },
    meaning: "number of latent functions",
  },
  inducingPoints: {
    kind: "whole",
    from: 1,
    to: ({ points }) => points,
    symbol: "M",
    // Where the inducing inputs carry the covariance alone, fewer of them in a smaller space do.
    default: {
      words: "200, with the mean inducing 500; never more than the points",
      of: ({ mean, points }) => Math.min(mean === "features" ? 200 : 500, points),
    },
    meaning: "inducing points",
  },
  rank: {
    kind: "whole",
    from: 1,
    to: ({ points, features }) => Math.min(points, features),
    symbol: "R",
    default: {
      words: "300, with the mean inducing 1000, never more than the points or the features",
      of: ({ mean, points, features }) => Math.min(mean === "features" ? 300 : 1000, points, features),
    },
    meaning: "basis vectors",
  },
  batch: {
    kind: "whole",
    from: 1,
    symbol: "B",
    default: 500,
    settle: (batch, { points }) => Math.min(batch, points),
    meaning: "minibatch size",
  },
  epochs: {
    kind: "number",
    above: 0,
    default: {
      words: "as many as make 500 steps, at least 3",
      of: ({ batch, points }) => Math.max(3, (DEFAULT_STEPS * batch) / points),
    },
    meaning: "passes over the data",
  },
  learningRate: {
    kind: "number",
    from: 0,
    default: {
      words: "0.03, with the mean inducing 0.02",
      of: ({ mean }) => (mean === "features" ? 0.03 : 0.02),
    },
    meaning: "initial learning rate",
  },
  klWeight: {
    kind: "number",
    from: 0,
    default: 1,
    meaning: "final weight of the KL term; 1 is the paper's bound",
  },
  klWarmup: {
    kind: "number",
    from: 0,
    to: 1,
    default: 0.6,
    flag: { value: "PART" },
    meaning: "part of the steps over which the KL weight rises",
  },
  klStart: { kind: "number", from: 0, default: 0.02, meaning: "initial weight of the KL term" },
  idf: {
    kind: "words",
    words: { yes: true, no: false, auto: "auto" },
    default: "auto",
    meaning: "weight words by inverse document frequency",
  },
  normalise: {
    kind: "switch",
    default: {
      words: "yes for sparse features; no for dense ones, or what is better with gpr and sgpr",
      of: ({ dense = false }) => !dense,
    },
    meaning: "scale rows to unit length",
  },
  minSigma: {
    kind: "number",
    above: 0,
    // A sigma begins at 1.
    to: 0.5,
    default: 1e-6,
    meaning: "lower bound of every sigma",
  },
  quadrature: {
    kind: "whole",
    word: "closed",
    from: 1,
    to: 256,
    default: "closed",
    meaning: "expectations in closed form, or number of Gauss-Hermite nodes",
  },
  precision: {
    kind: "choice",
    choices: ["f32", "f64"],
    default: "f32",
    meaning: "floating-point precision",
  },
  seed: {
    kind: "whole",
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
    default: 0,
    meaning: "random seed",
  },
};

/** Options as a model or a plan tells them: without all names. */
export const toldOptions = (full: FullTrainOptions): Record<string, unknown> => ({
  ...full,
  names: typeof full.names === "string" ? full.names : "given",
});

/** Fills in the defaults for data of these sizes and refuses what cannot be. */
export function completeOptions(given: TrainOptions, sizes: DataSizes): FullTrainOptions {
  return completeTable(trainOptions, given, sizes);
}
