// The symbols of the paper: sizes of a problem, forms of the model by name, the parameters, the points of a minibatch, and a
// fitted part.

import type {
  Backend,
  ColumnDraw,
  IndexTensor,
  LabelLists,
  PatternTensor,
  SparseTensor,
  Tensor,
} from "../../backend/backend.ts";
import type { RealArray } from "../../core/matrix.ts";
import type { FullTrainOptions } from "../options.ts";

/** Sizes and forms of a problem. */
export interface ModelShape
  extends Pick<FullTrainOptions, "factors" | "inducingPoints" | "rank" | "batch">,
    Pick<FullTrainOptions, "kernel" | "inducing" | "posterior" | "mean" | "minSigma" | "quadrature"> {
  /** N, D, K */
  points: number;
  features: number;
  labels: number;
}

/** The part of it that the latent functions depend on: a trained model has these without the rest. */
export type LatentShape = Pick<
  ModelShape,
  "features" | "factors" | "inducingPoints" | "rank" | "kernel" | "inducing" | "posterior" | "mean"
>;

/** G: how many different Sigmas there are. */
export const groupsOf = ({ posterior, factors }: Pick<ModelShape, "posterior" | "factors">): number =>
  posterior === "shared" ? 1 : factors;

/** Rows of mu: M, or D where the mean goes through the features. */
export const meanRows = (shape: Pick<ModelShape, "mean" | "features" | "inducingPoints">): number =>
  shape.mean === "features" ? shape.features : shape.inducingPoints;

/**
 * The parameters that are learned, or anything that has a tensor for each of them: gradients, moments. Positive ones are kept
 * as logarithms, so that no step can make them negative.
 */
export interface Parameters {
  /** A [M,R], or Z' [D,M] where Z is free */
  inducingInputs: Tensor;
  /** mu [M,P], or [D,P] where the mean goes through the features */
  mu: Tensor;
  /** log(sigma - minSigma) [G,M] */
  logSigma: Tensor;
  /** Phi [K,P] */
  phi: Tensor;
  /** b [1,K] */
  bias: Tensor;
  /** log a, log v, log l of the kernel [1,3] */
  hyper: Tensor;
}

export const parameterNames = ["inducingInputs", "mu", "logSigma", "phi", "bias", "hyper"] as const;
export type ParameterName = (typeof parameterNames)[number];

/** Rows and columns of each parameter. */
export function parameterSizes(shape: ModelShape): Record<ParameterName, [number, number]> {
  const { sigma, ...sizes } = partSizes(shape);
  if (shape.inducing === "subspace") sizes.inducingInputs = [shape.inducingPoints, shape.rank];
  return { ...sizes, logSigma: sigma };
}

/** Something for each name. */
export const forEachName = <Name extends string, T>(names: readonly Name[], make: (name: Name) => T): Record<Name, T> =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>;

/** A tensor of zeros for each parameter; that of `without` has no elements. */
export function allocateParameters(backend: Backend, shape: ModelShape, without?: ParameterName): Parameters {
  const sizes = parameterSizes(shape);
  return forEachName(parameterNames, (name) =>
    name === without ? backend.tensor(0, 0) : backend.tensor(...sizes[name]),
  );
}

export const freeParameters = (backend: Backend, parameters: Parameters): void =>
  backend.free(...parameterNames.map((name) => parameters[name]));

/** sigma = minSigma + exp(logSigma); minSigma is a tensor [1,1]. */
export function plainSigma(backend: Backend, logSigma: Tensor, minSigma: Tensor, out: Tensor): void {
  backend.map("exp", logSigma, out);
  backend.combine("add", out, minSigma, out);
}

/** A fitted sparse variational GP (SVGP) with latent functions that the labels share: the paper's model. */
export interface SvgpPart extends Readonly<Record<PartArray, RealArray>> {
  readonly family: "svgp";
  readonly kernel: ModelShape["kernel"];
  readonly posterior: ModelShape["posterior"];
  readonly mean: ModelShape["mean"];
  /** P, M */
  readonly factors: number;
  readonly inducingPoints: number;
}

/** Its arrays, in the sizes of partSizes(): as the parameters, but Z' [D,M] whichever form Z was learned in, and sigma itself. */
export const partArrays = ["inducingInputs", "mu", "sigma", "phi", "bias", "hyper"] as const;
export type PartArray = (typeof partArrays)[number];

/** Rows and columns of each array of a part. */
export function partSizes(
  shape: Omit<LatentShape, "rank" | "inducing" | "kernel"> & { labels: number },
): Record<PartArray, [number, number]> {
  const { features, labels, factors, inducingPoints } = shape;
  return {
    inducingInputs: [features, inducingPoints],
    mu: [meanRows(shape), factors],
    sigma: [groupsOf(shape), inducingPoints],
    phi: [labels, factors],
    bias: [1, labels],
    hyper: [1, 3],
  };
}

/** Points on the device. */
export interface Batch {
  /** X and which of its rows are in the batch. */
  x: SparseTensor;
  rows: IndexTensor;
  /** X_b Xtilde' [B,R], where the inducing inputs lie in a subspace. */
  projected?: Tensor;
  /** |x_i|^2 [1,B] */
  squares: Tensor;
}

/** A minibatch: points whose labels are known. */
export interface LabelledBatch extends Batch {
  labels: LabelLists | ListedLabels;
  /** Products with g run over so many labels, importance-sampled with a random number in [0, 1). */
  gradientDraw?: GradientDraw;
}

export type GradientDraw = Pick<ColumnDraw, "count" | "start">;

/** The labels that are looked at, for each point, with their weights. */
export interface ListedLabels {
  pattern: PatternTensor;
  /** For each entry 1 for a label that is present, -(absent / sampled) for a sampled one of the absent ones. */
  signedWeight: ArrayLike<number>;
}

/** Row i of a matrix, or element i of a list [1,n], as a view. */
export function rowOf(backend: Backend, tensor: Tensor, i: number): Tensor {
  return backend.rowRange(tensor.rows === 1 ? backend.reshape(tensor, tensor.columns, 1) : tensor, i, i + 1);
}

/** Tensors by name, made when first asked for, larger when they must be: a small batch takes the memory of a large one. */
export class Workspace {
  readonly #made = new Map<string, Tensor>();

  constructor(private readonly backend: Backend) {}

  /** [rows,columns], with any content. */
  tensor(name: string, rows: number, columns: number): Tensor {
    const { backend } = this;
    let made = this.#made.get(name);
    if (made === undefined || made.rows * made.columns < rows * columns) {
      if (made) backend.free(made);
      made = backend.tensor(rows, columns);
      this.#made.set(name, made);
    }
    if (made.rows === rows && made.columns === columns) return made;
    const list = backend.reshape(made, made.rows * made.columns, 1);
    return backend.reshape(backend.rowRange(list, 0, rows * columns), rows, columns);
  }

  free(): void {
    this.backend.free(...this.#made.values());
    this.#made.clear();
  }
}
