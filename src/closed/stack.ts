// The stack: labels help each other. The leading directions of the left-out scores are features of a second ridge
// regression, with a left-out form of its own:
//
//     E = leading eigenvectors of (S - mu)'(S - mu)      T = (S - mu) E
//     Bs = inverse(T'T + g I) T'(Y - mu)                  s2 = T Bs + mu
//
// T are features like any other (statistics.ts, ridge.ts, with g for the noise). Where it does not help, its own
// left-out scores say so.

import { combine, convert, gemm, rowSums, syrk, transpose } from "../core/dense.ts";
import { eigenSymmetric } from "../core/eigen.ts";
import { type Matrix, matrix, Scope, sumOf } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import type { WorkOptions } from "../core/progress.ts";
import { leadingEigenvectors } from "../core/subspace.ts";
import { addMatrix } from "../core/sums.ts";
import { type ChooseOptions, type ChosenRidge, chooseRidge } from "./choose.ts";
import { logLossCriterion } from "./criterion.ts";
import { labelsIn } from "./labels.ts";
import { type LeaveOneOut, type LeftOutBlock, type PointRange, pointsIn, someOf } from "./leaveoneout.ts";
import type { RidgeSolution } from "./ridge.ts";
import { blockScores, type FeatureWalk, featuresIn, learnPoints, leaveOneOutOf } from "./sparse.ts";
import { Statistics } from "./statistics.ts";

/** Values of g that are looked at. */
export const STACK_NOISES: readonly number[] = [3, 10, 30, 100, 300];
/** Up to so many labels all eigenvectors are found at once. */
const FEW_LABELS = 256;
/** Memory for the scores that the directions are found from. */
const DIRECTION_BYTES = 2 ** 28;

/** How the stack is made. */
export interface StackOptions extends Omit<ChooseOptions, "ranges"> {
  /** P, how many directions. */
  readonly rank?: number;
  /** Points that it is fitted on; all that have left-out scores if not given. */
  readonly ranges?: readonly PointRange[];
  readonly seed?: number;
}

/** A fitted stack. */
export class Stack {
  /** E [K,P] */
  readonly vectors: Matrix;
  /** Bs in `weights`, mu in `mean`; g and what else was looked at stand beside it. */
  readonly solution: RidgeSolution;
  readonly noise: number;
  readonly figures: readonly (number | undefined)[];
  /** s2 with each point left out; points are numbered as they stand in the ranges. */
  readonly leftOut: LeaveOneOut;
  readonly labels: Pattern;
  readonly #scope: Scope;

  constructor(vectors: Matrix, chosen: ChosenRidge, features: FeatureWalk, labels: Pattern, scope: Scope) {
    this.vectors = vectors;
    this.solution = chosen.solution;
    this.noise = chosen.choice.noise;
    this.figures = chosen.figures;
    this.labels = labels;
    this.leftOut = leaveOneOutOf(chosen.solution, features, labels);
    this.#scope = scope;
  }

  /** out = s2 [n,K] from s [n,K]. */
  scores(first: Matrix, out: Matrix): Matrix {
    const { core, precision, rows } = first;
    const phi = matrix(core, rows, this.vectors.columns, precision);
    try {
      project(first, this.solution.mean, this.vectors, phi, out);
      return blockScores(this.solution, { from: 0, to: rows, phi }, out);
    } finally {
      phi.free();
    }
  }

  free(): void {
    this.#scope.free();
  }
}

/** out = (S - mu) E; `work` has the shape of S and may be S itself. */
function project(scores: Matrix, mean: Matrix, vectors: Matrix, out: Matrix, work: Matrix): Matrix {
  return gemm(combine("subtract", scores, mean, work), vectors, out);
}

/** Fits directions, ridge and weights to left-out scores. */
export async function fitStack(
  source: LeaveOneOut,
  labels: Pattern,
  options: StackOptions = {},
): Promise<Stack> {
  const { ranges = source.ranges, rank = 100, seed = 0, ...rest } = options;
  const { core, precision } = source.mean;
  const scope = new Scope();
  try {
    const wanted = Math.min(rank, source.labels);
    const vectors = scope.keep(await stackDirections(source, wanted, ranges, { ...rest, seed }));
    const own = scope.keep(labelsIn(labels, ranges));
    const projected = scope.keep(matrix(core, own.rows, wanted, precision));
    let row = 0;
    const take = ({ from, to, scores }: LeftOutBlock): void => {
      project(scores, source.mean, vectors, projected.rowRange(row, row + to - from), scores);
      row += to - from;
    };
    await source.forBlocks("stack", take, { ...rest, ranges });
    const features = featuresIn(projected);
    const shape = { kernel: wanted, linear: 0, labels: source.labels };
    const statistics = scope.keep(new Statistics(core, shape));
    await learnPoints(statistics, features, own, rest);
    // mu is that of the first scores, whichever points the stack is fitted on.
    const mean = source.mean.toArray();
    const choices = (options.choices ?? STACK_NOISES.map((noise) => ({ noise }))).map((choice) => ({
      ...choice,
      mean,
    }));
    const chosen = await chooseRidge(statistics, features, own, precision, {
      criterion: logLossCriterion,
      ...rest,
      choices,
    });
    scope.keep(chosen.solution);
    return new Stack(vectors, chosen, features, own, scope);
  } catch (error) {
    scope.free();
    throw error;
  }
}

/** E [K,P] from the left-out scores of the points in the ranges. */
async function stackDirections(
  source: LeaveOneOut,
  rank: number,
  ranges: readonly PointRange[],
  options: WorkOptions & { seed: number },
): Promise<Matrix> {
  return source.labels <= FEW_LABELS
    ? await allDirections(source, rank, ranges, options)
    : await leadingDirections(source, rank, ranges, options);
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
  const scope = new Scope();
  try {
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
  } finally {
    scope.free();
  }
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
  const scope = new Scope();
  try {
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
  } finally {
    scope.free();
  }
}
