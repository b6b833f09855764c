// The start of a training: weighted rows, the basis of the subspace, the inducing inputs and the first parameters.
//
// With very many points basis and centroids come from a sample. A subspace found on a sample holds more of the sample than any other
// does, and so on average at least the share that the best subspace holds of all points; of all points it holds at most that share.
// So the best share is between the two that are measured: where they are close, the sample's subspace is as good as one found on all
// points.

import { hyperStart } from "../../base/kernels.ts";
import { deterministicLog } from "../../base/math.ts";
import { byParts, Turns, type WorkOptions } from "../../base/progress.ts";
import { labelFrequencies } from "../../base/sparse.ts";
import { STREAMS } from "../../base/streams.ts";
import type { Core } from "../../core/core.ts";
import { type Csr, csr, rowSquares, selectRows, sparseTimes } from "../../core/csr.ts";
import { gemm, rowSums, transpose } from "../../core/dense.ts";
import { type KmeansOptions, kmeans } from "../../core/kmeans.ts";
import { type Matrix, matrix, type RealArray, scoped, sumOf } from "../../core/matrix.ts";
import { choice, fillNormal } from "../../core/random.ts";
import { truncatedSvd } from "../../core/spectral.ts";
import { transformInPlace } from "../../data/transform.ts";
import type { FullTrainOptions } from "../options.ts";
import type { FitContext } from "../part.ts";
import { LabelRanks } from "./ranks.ts";
import type { ModelShape } from "./shape.ts";
import type { Trainer } from "./trainer.ts";

/** Points of the first sample; with less than twice as many points all are taken. */
export const SAMPLE_POINTS = 100_000;
/** Most that the sample's share of squares may be above that of all points; else a sample of twice the size is tried. */
const SHARE_DIFFERENCE = 0.01;
/** Rows that are projected together. */
const CHUNK = 2048;

/** Does something with a sample of so many rows in their order, or with all where there are less than twice as many. */
export async function withSample<T>(x: Csr, count: number, seed: number, use: (rows: Csr) => Promise<T>): Promise<T> {
  if (x.rows < 2 * count) return await use(x);
  const rows = selectRows(x, choice(x.core, x.rows, count, { seed, stream: STREAMS.sample }));
  return await use(rows).finally(() => rows.free());
}

/** The leading right singular vectors [D,R], of a sample where it is as good; says so. */
export async function sampledSvd(
  x: Csr,
  options: WorkOptions & Pick<FullTrainOptions, "rank" | "seed"> & Pick<FitContext, "note">,
  sample: number = SAMPLE_POINTS,
): Promise<Matrix> {
  const { rank, seed, note, ...work } = options;
  for (let count = Math.max(sample, rank); ; count *= 2) {
    const { right, residual } = await withSample(x, count, seed, (rows) => truncatedSvd(rows, { rank, seed, ...work }));
    if (x.rows < 2 * count) return right;
    const ofSample = 1 - residual * residual;
    const ofAll = await shareOfSquares(x, right, work);
    const shares = `${percent(ofSample)} of its squares and ${percent(ofAll)} of those of all ${x.rows} points`;
    if (ofSample - ofAll <= SHARE_DIFFERENCE) {
      note(
        `singular vectors from a sample of ${count} points: they hold ${shares}; the best share of all is between the two`,
      );
      return right;
    }
    note(`singular vectors from a sample of ${count} points hold ${shares}: a larger sample is needed`);
    right.free();
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** |X V|^2 / |X|^2 for orthonormal V [D,R]. */
export async function shareOfSquares(x: Csr, basis: Matrix, work: WorkOptions): Promise<number> {
  const { core, precision, rows, nonzeros } = x;
  return await scoped(async (scope) => {
    const room = scope.keep(matrix(core, CHUNK, basis.columns, precision));
    const sums = scope.keep(matrix(core, CHUNK, 1, precision));
    let held = 0;
    const operations = (2 * CHUNK * nonzeros * basis.columns) / Math.max(1, rows);
    await byParts(work, Math.ceil(rows / CHUNK), operations, (first, last) => {
      for (let chunk = first; chunk < last; chunk++) {
        const [from, to] = [chunk * CHUNK, Math.min(rows, (chunk + 1) * CHUNK)];
        const projected = sparseTimes(x, basis, room.rowRange(0, to - from), { from, to });
        held += sumOf(rowSums(projected, sums.rowRange(0, to - from), projected).view());
      }
    });
    const all = sumOf(rowSquares(x, scope.keep(matrix(core, rows, 1, precision))).view());
    return all > 0 ? held / all : 1;
  });
}

/** The basis of a subspace, in the core's memory. */
export interface Basis {
  /** Xtilde' [D,R] */
  transposed: Matrix;
  /** Xtilde Xtilde' [R,R], where it is not the identity. */
  gram?: Matrix;
  /** X Xtilde' [N,R], the projections of all points, where there is room for them. */
  projected?: Matrix;
}

/** Leading right singular vectors, or centroids. */
async function makeBasis(x: Csr, { options, work, note }: FitContext): Promise<Basis> {
  const { core, precision, columns } = x;
  const { basis, rank, seed } = options;
  if (basis === "svd") return { transposed: await sampledSvd(x, { rank, seed, note, ...work }) };
  const rows = await centroids(x, { clusters: rank, seed, ...work });
  const transposed = transpose(rows, matrix(core, columns, rank, precision));
  rows.free();
  const gram = gemm(transposed, transposed, matrix(core, rank, rank, precision), { transposeA: true });
  return { transposed, gram };
}

/** X Xtilde' [n,R] */
const project = (x: Csr, { transposed }: Basis): Matrix =>
  sparseTimes(x, transposed, matrix(x.core, x.rows, transposed.columns, x.precision));

/** A problem ready to be trained on, in the core's memory. */
export interface Prepared {
  shape: ModelShape;
  x: Csr;
  /** |x_i|^2 [N,1] */
  squares: Matrix;
  basis: Basis | undefined;
  /** This process among others, where several compute one training. */
  ranks: LabelRanks | undefined;
}

/** Weighted and scaled rows and, in a subspace, the basis with the projections of all points if they fit. */
export async function prepare(context: FitContext, largestTensor: number): Promise<Prepared> {
  const { core, data, schema, options, run, note } = context;
  const { labels } = data.labels;
  const turns = new Turns(context.work);
  await turns.take();
  const x = csr(core, data.features, options.precision);
  transformInPlace(
    { rowStart: x.start.view(), columnIndex: x.column.view(), values: x.value.view() },
    schema.transform,
  );
  await turns.take();
  const basis = options.inducing === "subspace" ? await makeBasis(x, context) : undefined;
  if (basis) {
    const bytes = x.rows * options.rank * (options.precision === "f32" ? 4 : 8);
    const size = `${(bytes / 2 ** 20).toFixed(0)} MB`;
    if (bytes <= Math.min(run.memoryBudget, largestTensor)) {
      note(`Projections of all points are kept (${size})`);
      basis.projected = project(x, basis);
    } else note(`Projections are made step by step (keeping them would take ${size})`);
  }
  return {
    shape: { ...options, points: x.rows, features: x.columns, labels },
    x,
    squares: rowSquares(x, matrix(core, x.rows, 1, x.precision)),
    basis,
    ranks: run.mpi && new LabelRanks(run.mpi, labels),
  };
}

/** Gives back what a problem takes of the core. */
export function freePrepared({ x, squares, basis }: Prepared): void {
  for (const each of [x, squares, basis?.transposed, basis?.gram, basis?.projected]) each?.free();
}

/** Centroids of the points, or of their projections; of a sample where there are very many. */
async function centroids(x: Csr, options: KmeansOptions & { seed: number }, basis?: Basis): Promise<Matrix> {
  return await withSample(x, Math.max(SAMPLE_POINTS, options.clusters), options.seed, async (rows) => {
    const kept = rows === x ? basis?.projected : undefined;
    const points = kept ?? (basis ? project(rows, basis) : rows);
    try {
      return (await kmeans(points, options)).centres;
    } finally {
      if (points !== kept && points !== rows) points.free();
    }
  });
}

/** The inducing inputs at centroids: in the subspace A [M,R], free Z' [D,M]. */
async function inducingStart({ x, basis }: Prepared, { options, work }: FitContext): Promise<Matrix> {
  const { inducingPoints: clusters, seed } = options;
  const centres = await centroids(x, { clusters, seed, iterations: 10, tolerance: 1e-3, ...work }, basis);
  if (basis) return centres;
  const transposed = transpose(centres, matrix(x.core, x.columns, clusters, x.precision));
  centres.free();
  return transposed;
}

function normalNumbers(core: Core, count: number, scale: number, seed: number, stream: number): RealArray {
  const numbers = fillNormal(matrix(core, 1, count, "f32"), { seed, stream });
  const values = numbers.toArray().map((value) => value * scale);
  numbers.free();
  return values;
}

/** log(p / (1 - p)) of the frequency p of a label that `count` of so many points have, kept away from 0 and 1. */
function biasStart(count: number, points: number): number {
  const p = (count + 0.5) / (points + 1);
  return deterministicLog(p / (1 - p));
}

/** Z at centroids, Phi ~ N(0, 1/P), mu ~ 0.01 N(0, 1), sigma = 1, b at the labels' frequencies. */
export async function start(trainer: Trainer, prepared: Prepared, context: FitContext): Promise<void> {
  const { backend, parameters } = trainer;
  const { shape, ranks } = prepared;
  const { core, data, options } = context;
  const { labels, factors } = shape;
  const { from, to } = ranks?.own ?? { from: 0, to: labels };
  const inducing = await inducingStart(prepared, context);
  backend.write(parameters.inducingInputs, inducing.view());
  inducing.free();
  const phi = normalNumbers(core, labels * factors, 1 / Math.sqrt(factors), options.seed, STREAMS.phi);
  backend.write(parameters.phi, phi.subarray(from * factors, to * factors));
  const { rows, columns } = parameters.mu;
  backend.write(parameters.mu, normalNumbers(core, rows * columns, 0.01, options.seed, STREAMS.mu));
  backend.fill(parameters.logSigma, deterministicLog(1 - shape.minSigma));
  const counts = labelFrequencies(data.labels).subarray(from, to);
  backend.write(
    parameters.bias,
    Float64Array.from(counts, (count) => biasStart(count, shape.points)),
  );
  backend.write(parameters.hyper, hyperStart(shape.kernel));
  await trainer.chooseCoordinates();
}
