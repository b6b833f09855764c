// Labels help each other: the leading directions of the leave-one-out scores are features of a second ridge regression, with
// leave-one-out scores of its own:
//
//     E = leading eigenvectors of (S - mu)'(S - mu)      T = (S - mu) E
//     Bs = inverse(T'T + g I) T'(Y - mu)                  s2 = T Bs + mu
//
// T are features like any other (totals.ts, ridge.ts, with g for the noise).

import type { WorkOptions } from "../../base/progress.ts";
import { combine, convert, gemm, rowSums, syrk, transpose } from "../../core/dense.ts";
import { keeping, type Matrix, matrix, scoped, sumOf } from "../../core/matrix.ts";
import type { Pattern } from "../../core/pattern.ts";
import { eigenSymmetric, leadingEigenvectors } from "../../core/spectral.ts";
import { addMatrix } from "../../core/sums.ts";
import {
  type LeaveOneOut,
  type LeftOutBlock,
  labelsIn,
  type PointRange,
  pointsIn,
  someOf,
} from "../regression/leaveoneout.ts";
import { type RidgeSolution, solveRidge } from "../regression/ridge.ts";
import { featuresIn, learnPoints, leaveOneOutOf } from "../regression/sparse.ts";
import { Statistics } from "../regression/totals.ts";

export interface CouplingPart {
  readonly family: "coupling";
  /** P */
  readonly rank: number;
  /** E [K,P], Bs [P,K], mu [K] */
  readonly vectors: Float32Array;
  readonly weights: Float32Array;
  readonly mean: Float32Array;
}

/** Up to so many labels all eigenvectors are found at once. */
const FEW_LABELS = 256;
/** Memory for the scores that the directions are found from. */
const DIRECTION_BYTES = 2 ** 28;

/** How it is fitted. */
export interface CouplingOptions extends WorkOptions {
  /** g */
  readonly noise: number;
  /** P, how many directions. */
  readonly rank?: number;
  /** Points that it is fitted on; all that have leave-one-out scores if not given. */
  readonly ranges?: readonly PointRange[];
  readonly seed?: number;
}

/** Directions and weights; yours to free. */
export interface CouplingFit {
  /** E [K,P] */
  readonly vectors: Matrix;
  /** Bs in `weights`, mu in `mean`. */
  readonly solution: RidgeSolution;
  /** s2 with each point left out; points are numbered as they stand in the ranges. */
  readonly loo: LeaveOneOut;
  free(): void;
}

/** out = (S - mu) E; `work` has the shape of S and may be S itself. */
function project(scores: Matrix, mean: Matrix, vectors: Matrix, out: Matrix, work: Matrix): Matrix {
  return gemm(combine("subtract", scores, mean, work), vectors, out);
}

/** Fits directions and weights to leave-one-out scores. */
export async function fitCoupling(
  source: LeaveOneOut,
  labels: Pattern,
  options: CouplingOptions,
): Promise<CouplingFit> {
  const { ranges = source.ranges, rank = 100, seed = 0, noise, ...work } = options;
  const { core, precision } = source.mean;
  return await keeping(async (scope) => {
    const wanted = Math.min(rank, source.labels);
    const directions = source.labels <= FEW_LABELS ? allDirections : leadingDirections;
    const vectors = scope.keep(await directions(source, wanted, ranges, { ...work, seed }));
    const own = scope.keep(labelsIn(labels, ranges));
    const projected = scope.keep(matrix(core, own.rows, wanted, precision));
    let row = 0;
    const take = ({ from, to, scores }: LeftOutBlock): void => {
      project(scores, source.mean, vectors, projected.rowRange(row, row + to - from), scores);
      row += to - from;
    };
    await source.forBlocks("coupling", take, { ...work, ranges });
    const features = featuresIn(projected);
    const shape = { features: wanted, labels: source.labels };
    const statistics = scope.keep(new Statistics(core, shape));
    await learnPoints(statistics, features, own, work);
    // mu is that of the first scores, whichever points the coupling is fitted on.
    const mean = source.mean.toArray();
    const solution = scope.keep(await solveRidge(statistics, { noise, mean }, precision, work));
    return { vectors, solution, loo: leaveOneOutOf(solution, features, own), free: () => scope.free() };
  });
}

/** Few labels: (S - mu)'(S - mu) in full, in double precision, and its eigenvectors. */
async function allDirections(
  source: LeaveOneOut,
  rank: number,
  ranges: readonly PointRange[],
  options: WorkOptions,
): Promise<Matrix> {
  const { core, precision } = source.mean;
  const size = source.labels;
  return await scoped(async (scope) => {
    const total = scope.keep(matrix(core, size, size, "f64"));
    const square = scope.keep(matrix(core, size, size, precision));
    const add = ({ scores }: LeftOutBlock): void => {
      const centred = combine("subtract", scores, source.mean, scores);
      addMatrix(syrk(centred, square, { transpose: true, part: "lower" }), total, { part: "lower" });
    };
    await source.forBlocks("directions", add, { ...options, ranges });
    const { vectors } = eigenSymmetric(total, rank);
    scope.keep(vectors);
    const rounded = convert(vectors, scope.keep(matrix(core, rank, size, precision)));
    return transpose(rounded, matrix(core, size, rank, precision));
  });
}

/** Many labels: subspace iteration over the scores of as many points as there is room for. */
async function leadingDirections(
  source: LeaveOneOut,
  rank: number,
  ranges: readonly PointRange[],
  options: WorkOptions & { seed: number },
): Promise<Matrix> {
  const { core, precision } = source.mean;
  const size = source.labels;
  return await scoped(async (scope) => {
    const some = someOf(ranges, Math.floor(DIRECTION_BYTES / (size * (precision === "f32" ? 4 : 8))));
    const points = pointsIn(some);
    const centred = scope.keep(matrix(core, points, size, precision));
    let row = 0;
    const take = ({ from, to, scores }: LeftOutBlock): void => {
      combine("subtract", scores, source.mean, centred.rowRange(row, row + to - from));
      row += to - from;
    };
    await source.forBlocks("directions", take, { ...options, ranges: some });
    const squares = rowSums(centred, scope.keep(matrix(core, 1, points, precision)), centred);
    const trace = sumOf(squares.view());
    const apply = (q: Matrix, y: Matrix): void => {
      const image = matrix(core, points, q.columns, precision);
      gemm(centred, gemm(centred, q, image), y, { transposeA: true });
      image.free();
    };
    const found = await leadingEigenvectors({ core, precision, size, trace, apply }, { ...options, rank });
    return found.vectors;
  });
}
