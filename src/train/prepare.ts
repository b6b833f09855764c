// What is made once before the first step, on the core: weighted rows, the basis, projections, start values.

import type { Core } from "../core/core.ts";
import { type Csr, csr, rowSquares } from "../core/csr.ts";
import { type Matrix, matrix } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import type { Dataset } from "../data/dataset.ts";
import { type FeatureTransform, fitTransform, transformInPlace } from "../data/transform.ts";
import { termsOf } from "../model/kernels/index.ts";
import type { ModelShape } from "../model/shape.ts";
import type { Communicator } from "../ranks/communicator.ts";
import { type LabelShare, shareOf } from "../ranks/share.ts";
import type { FullTrainOptions } from "./options.ts";
import type { TrainProgress } from "./progress.ts";
import { type Basis, basisGram, makeBasis, projectAll } from "./start.ts";

/** A problem ready to be trained on, in the core's memory. */
export interface Prepared {
  core: Core;
  data: Dataset;
  /** Points without labels, left out. */
  dropped: number;
  options: FullTrainOptions;
  shape: ModelShape;
  transform: FeatureTransform;
  x: Csr;
  /** |x_i|^2 [N,1] */
  squares: Matrix;
  /** Xtilde' and, where it is not orthonormal, Xtilde Xtilde'. */
  basis?: Basis;
  gram?: Matrix;
  /** X Xtilde' [N,R], where it may be kept. */
  projected?: Matrix;
  /** For the long pieces of work that are still to come. */
  work: WorkOptions;
  /** Which labels are this process's own, where several compute one training. */
  share?: LabelShare;
}

/** Gives back what a problem takes of the core. */
export function freePrepared({ x, squares, basis, gram, projected }: Prepared): void {
  for (const each of [x, squares, basis?.transposed, gram, projected]) each?.free();
}

export interface PrepareOptions {
  memoryBudget: number;
  signal?: AbortSignal;
  onProgress?: (progress: TrainProgress) => void;
  /** Most bytes that one matrix may have on the device. */
  largestTensor: number;
  ranks?: Communicator;
}

/** What is done to the features before the model sees them. */
export const transformFor = (
  { features, vectoriser }: Dataset,
  { idf, normalise, kernel }: Pick<FullTrainOptions, "idf" | "normalise" | "kernel">,
): FeatureTransform => fitTransform(features, idf, normalise, vectoriser?.scaled, !termsOf(kernel).linear);

export async function prepare(
  core: Core,
  data: Dataset,
  dropped: number,
  options: FullTrainOptions,
  run: PrepareOptions,
): Promise<Prepared> {
  const transform = transformFor(data, options);
  const x = csr(core, data.features, options.precision);
  transformInPlace(
    { rowStart: x.start.view(), columnIndex: x.column.view(), values: x.value.view() },
    transform,
  );
  const work = {
    ...(run.signal ? { signal: run.signal } : {}),
    onProgress: (p: { stage: string; fraction: number }) => run.onProgress?.(p as TrainProgress),
  };
  const note = (text: string): void => run.onProgress?.({ stage: "note", text });
  const basis = options.inducing === "subspace" ? await makeBasis(x, options, work, note) : undefined;
  const projected = basis && keepProjections(x, basis, options, run, note);
  return {
    core,
    data,
    dropped,
    options,
    shape: shapeOf(data, options),
    transform,
    x,
    squares: rowSquares(x, matrix(core, x.rows, 1, x.precision)),
    ...(basis ? { basis } : {}),
    ...(basis && !basis.orthonormal ? { gram: basisGram(basis) } : {}),
    ...(projected ? { projected } : {}),
    work,
    ...(run.ranks ? { share: shareOf(run.ranks, data.labels.labels) } : {}),
  };
}

/** X Xtilde' for all points, if it fits the memory budget; says which way it went. */
function keepProjections(
  x: Csr,
  basis: Basis,
  options: FullTrainOptions,
  run: PrepareOptions,
  note: (text: string) => void,
): Matrix | undefined {
  const bytes = x.rows * options.rank * (options.precision === "f32" ? 4 : 8);
  const kept = bytes <= Math.min(run.memoryBudget, run.largestTensor);
  const size = `${(bytes / 2 ** 20).toFixed(0)} MB`;
  note(
    kept
      ? `projections of all points are kept (${size})`
      : `projections are made step by step (keeping them would take ${size})`,
  );
  return kept ? projectAll(x, basis) : undefined;
}

function shapeOf(data: Dataset, options: FullTrainOptions): ModelShape {
  return {
    points: data.features.rows,
    features: data.features.columns,
    labels: data.labels.labels,
    factors: options.factors,
    inducingPoints: options.inducingPoints,
    rank: options.rank,
    batch: options.batch,
    likelihood: "bernoulli",
    kernel: options.kernel,
    inducing: options.inducing,
    posterior: options.posterior,
    mean: options.mean,
    floor: options.floor,
    quadrature: options.quadrature,
  };
}
