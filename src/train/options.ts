// Everything that can be chosen about a training, with defaults that give a newcomer a good model. An option is its line in
// TrainOptions and its entry in the table below it: the compiler holds the two together, and the checks, the flags of
// the command, its help, the report and the guide are made from the table.

import { isLinear } from "../model/kernels/index.ts";
import {
  type InducingName,
  inducingNames,
  type KernelName,
  kernelNames,
  type MeanName,
  type ModelLikelihood,
  meanNames,
  modelLikelihoods,
  type PosteriorName,
  posteriorNames,
} from "../model/names.ts";
import { completeTable, type OptionTable } from "../options/table.ts";

/** Which likelihood, or both, or what suits the sizes. */
export type LikelihoodChoice = ModelLikelihood | "auto";

/** What decides the model that a training gives. */
export interface TrainOptions {
  /**
   * How labels come from scores. `bernoulli`: the paper's model, learned step by step. `gaussian`: in closed form, exact
   * while there are few enough points, else linear in the features. `both`: one model of both. `auto`: by the sizes.
   * @default auto
   */
  likelihood?: LikelihoodChoice;
  /**
   * Make the probabilities honest on points that were left out or held out; the paper's are without.
   * @default yes
   */
  calibration?: boolean;
  /**
   * k(x, z): how alike two points are. `rbf` is another name of `se`, the squared exponential.
   * @default linear; se for the gaussian likelihood, of dense features the better of the two
   */
  kernel?: KernelName | "rbf" | "linear+rbf";
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
   * What the mean of the latent functions goes through: the inducing inputs, as in the paper, or the features
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
   * Labels looked at in a step: all, or so many: those of the step's points, and others drawn in proportion to their
   * frequency and weighted so that the bound stays right on average.
   * @default all
   */
  labelsPerStep?: "all" | number;
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
   * @default yes for sparse features; no for dense ones, or what is better with the gaussian likelihood
   */
  normalise?: boolean;
  /**
   * Least value of every sigma.
   * @default 0.000001
   */
  floor?: number;
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
   * Of all random numbers.
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
   * What is to get better; the log loss is the least noisy: it counts every label of every point.
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

/** What defaults may depend on. */
export interface DataSizes {
  points: number;
  features: number;
  labels: number;
  /** Whether the features are dense: measurements rather than words. */
  dense?: boolean;
}

/** Small data are gone through more often. */
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

export const trainOptions: OptionTable<TrainOptions, FullTrainOptions, DataSizes & FullTrainOptions> = {
  likelihood: {
    kind: "choice",
    choices: [...modelLikelihoods, "auto"],
    default: "auto",
    meaning: "how labels come from scores",
    advice:
      "`auto` chooses by the sizes of the data and says what: `gaussian`, trained in closed form, up to some 15,000 points; `both` beyond; `bernoulli`, the paper's, for short rows or very many labels, or where an option is only about it",
  },
  calibration: {
    kind: "switch",
    default: true,
    refuse: (calibration, { likelihood }) =>
      !calibration && (likelihood === "gaussian" || likelihood === "both")
        ? `true with the likelihood ${likelihood}, whose scores are no probabilities`
        : undefined,
    meaning: "probabilities are made honest on points left out or held out",
    advice: "`--no-calibration` gives the likelihood's own probabilities, and trains on every point",
  },
  kernel: {
    kind: "choice",
    choices: kernelNames,
    also: { rbf: "se", "linear+rbf": "linear+se" },
    default: {
      words: "linear; se for the gaussian likelihood, of dense features the better of the two",
      of: ({ likelihood }) => (likelihood === "gaussian" ? "se" : "linear"),
    },
    meaning: "how alike two points are",
    advice:
      "Texts and other sparse data: keep it. Of dense features the training looks at some, leaves points out and says what it chose. `se` in steps (`bernoulli`) for dense features where labels depend on them in a curved way; slower",
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
  labelsPerStep: {
    kind: "whole",
    word: "all",
    from: 1,
    default: "all",
    settle: allOf,
    refuse: (count, { negatives }) =>
      count !== "all" && negatives !== "all"
        ? "all beside `negatives`, which samples for each point"
        : undefined,
    meaning: "labels looked at in a step: those of its points, and others drawn by their frequency",
    advice:
      "A number (some thousands) where there are too many labels to look at all (hundreds of thousands: B x K numbers). A step takes time in proportion to it; it is right on average, but varies, and more steps or a lower rate are needed: keep `all` where it fits",
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
    advice:
      "They carry the variance (and in the paper's form the mean): more make it finer; a step costs about M³",
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
    advice:
      "Size of the subspace in which inducing inputs lie; more for large vocabularies in the paper's form",
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
      words: "yes for sparse features; no for dense ones, or what is better with the gaussian likelihood",
      of: ({ dense = false }) => !dense,
    },
    meaning: "rows are scaled to unit length",
    advice:
      "Dense features (half of them or more are not zero) are divided by their standard deviation (with a linear kernel by their root mean square) instead, which keeps what the length of a row says",
  },
  floor: {
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
    meaning: "kind of numbers",
    advice: "`f64` to check numbers, not to get better models",
  },
  seed: {
    kind: "whole",
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
    default: 0,
    meaning: "of all random numbers",
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
