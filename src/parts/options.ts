// Everything that can be chosen about a training, with defaults that give a newcomer a good model. An option is its line in
// TrainOptions and its entry in the table below it: the compiler holds the two together, and the checks, the flags of
// the command, its help, the report and the guide are made from the table.

import { isLinear, type KernelName, kernelNames } from "../base/kernels.ts";
import { completeTable, type OptionTable } from "../options/table.ts";
import {
  type InducingName,
  inducingNames,
  type MeanName,
  meanNames,
  type PosteriorName,
  posteriorNames,
} from "./svgp/shape.ts";

/** Parts of a model, as they can be asked for. */
export const modelNames = ["auto", "gpr", "sgpr", "linear", "svgp", "linear+svgp"] as const;

/** Options that decide the model. */
export interface TrainOptions {
  /**
   * The parts of the model. `gpr`: exact GP regression. `sgpr`: sparse GP regression. `linear`: Bayesian linear regression on the
   * features. `svgp`: the paper's sparse variational GP, trained in minibatches. `linear+svgp`: both, calibrated together. `auto`: by
   * the sizes of the data.
   * @default auto
   */
  model?: (typeof modelNames)[number] | (string & {});
  /**
   * Calibrate the probabilities on left-out or held-out points; the paper's are not.
   * @default yes
   */
  calibration?: boolean;
  /**
   * Every row has exactly one label: the probabilities of a row's labels sum to one, and are calibrated as such.
   * @default no
   */
  exclusive?: boolean;
  /**
   * k(x, z), the covariance function. `rbf` is another name of `se`, the squared exponential.
   * @default linear; se for gpr and sgpr, of dense features the better of the two
   */
  kernel?: KernelName | "rbf" | "linear+rbf";
  /**
   * Names of labels, looked for in the texts: `{ label: "name" }` or `{ label: ["name", "other name"] }` (`readNames` reads them from a
   * file); "labels": a label whose own text is words is its name, where that helps.
   * @default labels
   */
  names?: "labels" | "off" | Readonly<Record<string, string | readonly string[]>>;
  /**
   * Inducing inputs in the span of a basis, or free.
   * @default subspace
   */
  inducing?: InducingName;
  /**
   * Keep the inducing inputs where k-means put them.
   * @default no
   */
  fixedInducing?: boolean;
  /**
   * Keep the kernel's hyper-parameters at their start.
   * @default yes for the linear kernel, else no
   */
  fixedKernel?: boolean;
  /**
   * The basis: leading right singular vectors, k-means centroids, or rows of your own (R x D).
   * @default svd
   */
  basis?: "svd" | "kmeans" | { rows: number; values: Float32Array };
  /**
   * One Sigma for all latent functions, or the paper's one for each.
   * @default shared
   */
  posterior?: PosteriorName;
  /**
   * The mean of the latent functions goes through this: the inducing inputs, as in the paper, or the features
   * themselves (linear kernel only).
   * @default features for the linear kernel, else inducing
   */
  mean?: MeanName;
  /**
   * Absent labels looked at for each point in a step: all, or so many sampled ones.
   * @default all
   */
  negatives?: "all" | number;
  /**
   * Labels whose share of the gradient is computed in a step: all, or so many: those of its points, and others drawn in
   * proportion to how much they push and weighted so that the gradient stays right on average (WASM only).
   * @default all up to 6000 labels, else 1500
   */
  gradientLabels?: "all" | number;
  /**
   * P, latent functions that the labels share.
   * @default a tenth of the labels, at least 100, at most 300
   */
  factors?: number;
  /**
   * M, inducing points.
   * @default 200, with the mean inducing 500; never more than the points
   */
  inducingPoints?: number;
  /**
   * R, basis vectors.
   * @default 300, with the mean inducing 1000, never more than the points or the features; that of a basis of your own
   */
  rank?: number;
  /**
   * B, points of a step; never more than there are.
   * @default 500
   */
  batch?: number;
  /**
   * How often each point is seen.
   * @default as many as make 500 steps, at least 3
   */
  epochs?: number;
  /**
   * Adam's step length at the start; it falls to zero along a cosine.
   * @default 0.03, with the mean inducing 0.02
   */
  learningRate?: number;
  /**
   * Weight of the KL at the end: 1 is the paper's bound.
   * @default 1
   */
  klWeight?: number;
  /**
   * The KL's weight rises linearly from klStart to klWeight over this part of the steps.
   * @default 0.6
   */
  klWarmup?: number;
  /**
   * Weight of the KL at the start.
   * @default 0.02
   */
  klStart?: number;
  /**
   * Weight words by inverse document frequency; "auto" where all values are equal to one.
   * @default auto
   */
  idf?: boolean | "auto";
  /**
   * Scale every row to unit length. Dense features are scaled by columns where it is off.
   * @default yes for sparse features; no for dense ones, or what is better with gpr and sgpr
   */
  normalise?: boolean;
  /**
   * Least value of every sigma.
   * @default 0.000001
   */
  minSigma?: number;
  /**
   * How expectations are computed: in closed form, or with so many Gauss-Hermite nodes.
   * @default closed
   */
  quadrature?: "closed" | number;
  /**
   * Single or double precision.
   * @default f32
   */
  precision?: "f32" | "f64";
  /**
   * Random seed.
   * @default 0
   */
  seed?: number;
  /**
   * Stop when the validation data say that it gets no better, and keep the best; needs `validation`.
   * @default off
   */
  earlyStopping?: false | EarlyStopping;
}

/** When to stop by validation data. */
export interface EarlyStopping {
  /**
   * Validations in a row without a better one, of twenty in a whole training; they count from the end of the KL's warm-up.
   * @default 3
   */
  patience?: number;
  /**
   * Figure that is to get better; the log loss is the least noisy: it counts every label of every point.
   * @default logLoss
   */
  metric?: StoppingMetric;
}

export const stoppingMetrics = ["logLoss", "P@1", "P@3", "P@5", "nDCG@3", "nDCG@5"] as const;
export type StoppingMetric = (typeof stoppingMetrics)[number];

/** The same with nothing left open and one name for each thing. */
export type FullTrainOptions = Omit<Required<TrainOptions>, "kernel" | "earlyStopping"> & {
  kernel: KernelName;
  earlyStopping: false | Required<EarlyStopping>;
};

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
/** Two thirds of a step's time go to products with the gradients of labels; with more labels than these, a quarter is enough. */
const MOST_GRADIENT_LABELS = 6000;
const DEFAULT_STEPS = 500;

const earlyStoppingParts: OptionTable<EarlyStopping, Required<EarlyStopping>, unknown> = {
  patience: {
    kind: "whole",
    from: 1,
    default: 3,
    meaning:
      "validations without a better one after which it stops, of twenty in a whole training, counted from the end of the KL's warm-up",
  },
  metric: {
    kind: "choice",
    choices: stoppingMetrics,
    default: "logLoss",
    meaning: "what is to get better",
  },
};

const isName = (name: unknown): boolean =>
  typeof name === "string" || (Array.isArray(name) && name.every((each) => typeof each === "string"));

export const trainOptions: OptionTable<TrainOptions, FullTrainOptions, DataSizes & FullTrainOptions> = {
  model: {
    kind: "choice",
    choices: modelNames,
    default: "auto",
    meaning: "parts of the model",
    advice:
      "`auto` chooses by the sizes of the data and says what: `gpr` up to some 26,000 rows; `linear+svgp` beyond; `svgp`, the paper's model, for short rows or very many labels, or where an option is only about it",
  },
  calibration: {
    kind: "switch",
    default: true,
    meaning: "probabilities are calibrated on left-out or held-out rows",
    advice: "`--no-calibration` gives the likelihood's own probabilities, and trains on every row (`svgp` only)",
  },
  exclusive: {
    kind: "switch",
    default: false,
    refuse: (exclusive, { calibration }) => (exclusive && !calibration ? "no, since nothing is calibrated" : undefined),
    meaning: "every row has exactly one label: probabilities of its labels sum to one",
    advice:
      "Also called multi-class. Without it each label has a probability of its own, and a row may have none or several",
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
    advice:
      "Texts and other sparse data: keep it. Of dense features the training looks at some, leaves points out and says what it chose. `se` with `svgp` for dense features where labels depend on them in a curved way; slower",
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
    meaning: "names of labels, looked for in the texts",
    advice:
      "A file for labels that are no words: TSV (`<uri> TAB name TAB other names`), CSV (`uri,label_en`), JSONL or SKOS. Labels that no training row has are then found by name. `labels`: a label whose own text is words is its name, where leave-one-out says that it helps",
  },
  inducing: {
    kind: "choice",
    choices: inducingNames,
    default: "subspace",
    meaning: "where the inducing inputs may lie",
  },
  fixedInducing: {
    kind: "switch",
    default: false,
    meaning: "the inducing inputs stay where k-means put them",
  },
  fixedKernel: {
    kind: "switch",
    default: { words: "yes for the linear kernel, else no", of: ({ kernel }) => isLinear(kernel) },
    meaning: "the kernel's hyper-parameters stay at their start",
  },
  basis: {
    kind: "choice",
    choices: ["svd", "kmeans"],
    own: {
      expected: "rows of your own",
      fromFile: true,
      accepts: (value) => typeof value === "object" && value !== null && "rows" in value && "values" in value,
    },
    default: "svd",
    meaning: "what spans the subspace of the inducing inputs",
  },
  posterior: {
    kind: "choice",
    choices: posteriorNames,
    default: "shared",
    meaning: "one covariance for all factors, or one for each",
    advice: "`perFactor` is the paper's: P times the work, nearly the same figures",
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
    meaning: "what the mean of the factors goes through",
    advice: "`inducing` is the paper's form: the mean goes through the inducing inputs too",
  },
  negatives: {
    kind: "whole",
    word: "all",
    from: 1,
    to: ({ labels }) => labels,
    default: "all",
    meaning: "absent labels looked at for each point in a step",
    advice:
      "A number (some hundreds) for very many labels: that many absent labels are sampled for each point, and weighted so that the bound stays right on average",
  },
  gradientLabels: {
    kind: "whole",
    word: "all",
    from: 1,
    default: {
      words: `all up to ${MOST_GRADIENT_LABELS} labels, else ${MOST_GRADIENT_LABELS / 4}`,
      of: ({ labels }) => (labels <= MOST_GRADIENT_LABELS ? "all" : MOST_GRADIENT_LABELS / 4),
    },
    settle: allOf,
    meaning:
      "labels whose share of the gradient is computed in a step: those of its points, and others drawn by their share",
    advice:
      "With very many labels hardly any but those of the points push; the drawn ones are weighted so that the gradient stays right on average. `all` for no chance in it",
  },
  factors: {
    kind: "whole",
    from: 1,
    symbol: "P",
    default: {
      words: "a tenth of the labels, at least 100, at most 300",
      of: ({ labels }) => Math.min(300, Math.max(100, Math.round(labels / 10))),
    },
    meaning: "latent functions that the labels share",
    advice: "More for many diverse labels (costs time and file size in proportion), fewer for a smaller file",
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
    advice: "They carry the variance (and in the paper's form the mean): more make it finer; a step costs about M³",
  },
  rank: {
    kind: "whole",
    from: 1,
    to: ({ points, features }) => Math.min(points, features),
    symbol: "R",
    default: {
      words:
        "300, with the mean inducing 1000, never more than the points or the features; that of a basis of your own",
      of: ({ basis, mean, points, features }) =>
        typeof basis === "object" ? basis.rows : Math.min(mean === "features" ? 300 : 1000, points, features),
    },
    meaning: "basis vectors",
    advice: "Size of the subspace in which inducing inputs lie; more for large vocabularies in the paper's form",
  },
  batch: {
    kind: "whole",
    from: 1,
    symbol: "B",
    default: 500,
    settle: (batch, { points }) => Math.min(batch, points),
    meaning: "points of a step",
  },
  epochs: {
    kind: "number",
    above: 0,
    default: {
      words: "as many as make 500 steps, at least 3",
      of: ({ batch, points }) => Math.max(3, (DEFAULT_STEPS * batch) / points),
    },
    meaning: "times each point is seen",
    advice: "More if the bound in the report is still rising at its end",
  },
  learningRate: {
    kind: "number",
    from: 0,
    default: {
      words: "0.03, with the mean inducing 0.02",
      of: ({ mean }) => (mean === "features" ? 0.03 : 0.02),
    },
    meaning: "step length at the start",
    advice: "Halve it if the training reports numbers that are not finite, or the bound jumps about",
  },
  klWeight: {
    kind: "number",
    from: 0,
    default: 1,
    meaning: "weight of the KL at the end; 1 is the paper's bound",
    advice: "0.4 to 0.5 often ranks a little better; look at the calibration before you keep it",
  },
  klWarmup: {
    kind: "number",
    from: 0,
    to: 1,
    default: 0.6,
    flag: { value: "PART" },
    meaning: "part of the steps over which that weight rises",
  },
  klStart: { kind: "number", from: 0, default: 0.02, meaning: "weight of the KL at the start" },
  idf: {
    kind: "words",
    words: { yes: true, no: false, auto: "auto" },
    default: "auto",
    meaning: "words are weighted by inverse document frequency",
    advice: "`auto`: where all values are one. `yes` for word counts, `no` where values are measurements",
  },
  normalise: {
    kind: "switch",
    default: {
      words: "yes for sparse features; no for dense ones, or what is better with gpr and sgpr",
      of: ({ dense = false }) => !dense,
    },
    meaning: "rows are scaled to unit length",
    advice:
      "Dense features (half of them or more are not zero) are divided by their standard deviation (with a linear kernel by their root mean square) instead, which keeps what the length of a row says",
  },
  minSigma: {
    kind: "number",
    above: 0,
    // A sigma begins at 1.
    to: 0.5,
    default: 1e-6,
    meaning: "least value of every sigma",
    advice: "Raise it if the training reports a C that is not positive definite",
  },
  quadrature: {
    kind: "whole",
    word: "closed",
    from: 1,
    to: 256,
    default: "closed",
    meaning: "how expectations are computed: in closed form, or with so many Gauss-Hermite nodes",
  },
  precision: {
    kind: "choice",
    choices: ["f32", "f64"],
    default: "f32",
    meaning: "floating-point precision",
    advice: "`f64` to check numbers, not to get better models",
  },
  seed: {
    kind: "whole",
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
    default: 0,
    meaning: "random seed",
  },
  earlyStopping: {
    kind: "group",
    parts: earlyStoppingParts,
    default: false,
    flag: { name: "early-stop" },
    meaning: "stop when validation gets no better, and keep the best",
    advice:
      "Needs `--valid`. The best of all validations is kept; it stops when the KL has its full weight and nothing gets better any more. Measure the result on other data",
  },
};

/** Fills in the defaults for data of these sizes and refuses what cannot be. */
export function completeOptions(given: TrainOptions, sizes: DataSizes): FullTrainOptions {
  return completeTable(trainOptions, given, sizes);
}
