// Ridge regression at points: with features f and the solution C, W of ridge.ts,
//
//     s = f W + mu      h = f C f'      at a new point v = 1 + h
//     left out:  s_i = (s_i - h_i y_i) / (1 - h_i),   v_i = 1 / (1 - h_i)
//
// Left out, the point's own part h_i (y_i - mu) of s_i - mu is taken away and the rest scaled up; mu stays, and its
// terms cancel. v is in units of the noise.

import { ArgumentError } from "../../base/errors.ts";
import type { Csr } from "../../core/csr.ts";
import { combine, gemm, rowSums } from "../../core/dense.ts";
import { Matrix, matrix, matrixFrom, scoped } from "../../core/matrix.ts";
import type { Pattern } from "../../core/pattern.ts";
import type { Sign } from "../../core/sums.ts";
import type { InducingFeatures } from "./inducing.ts";
import { allPoints, forEachBlock, type LeaveOneOut, type WalkOptions } from "./leaveoneout.ts";
import type { Points } from "./points.ts";
import type { RidgeSolution } from "./ridge.ts";
import type { FeatureBlock, Totals } from "./totals.ts";

/** Points whose features are made together. */
export const BLOCK_ROWS = 1024;

/** Gives `work` the features of the points a block at a time, and others a turn in between. */
export interface FeatureWalk<F extends Matrix | Csr = Matrix> {
  readonly points: number;
  forBlocks(stage: string, work: (block: FeatureBlock<F>) => void, options?: WalkOptions): Promise<void>;
}

/** phi of points, or their covariances with the inducing inputs, made anew in every walk. */
export function featuresOf(
  inducing: InducingFeatures,
  points: Points,
  what: "block" | "covariances" = "block",
): FeatureWalk {
  const forBlocks: FeatureWalk["forBlocks"] = async (stage, work, options = {}) => {
    const ranges = options.ranges ?? allPoints(points.rows);
    const { core, precision, rows } = points.x;
    await scoped(async (scope) => {
      const room = (count: number): Matrix => scope.keep(matrix(core, count, inducing.count, precision));
      const [all, between] = [room(Math.min(BLOCK_ROWS, rows)), room(Math.min(BLOCK_ROWS, rows))];
      await forEachBlock(ranges, BLOCK_ROWS, stage, options, ({ from, to }) => {
        const f = all.rowRange(0, to - from);
        work({ from, to, f: inducing[what](points, from, to, f, between.rowRange(0, to - from)) });
      });
    });
  };
  return { points: points.rows, forBlocks };
}

/** Features that are in memory already, one point a row. */
export function featuresIn<F extends Matrix | Csr>(features: F): FeatureWalk<F> {
  const forBlocks: FeatureWalk<F>["forBlocks"] = (stage, work, options = {}) =>
    forEachBlock(options.ranges ?? allPoints(features.rows), BLOCK_ROWS, stage, options, ({ from, to }) =>
      work({ from, to, f: (features instanceof Matrix ? features.rowRange(from, to) : features) as F }),
    );
  return { points: features.rows, forBlocks };
}

/** Adds points with their labels to the sums (or to totals alone), or takes them away. */
export async function learnPoints<F extends Matrix | Csr>(
  totals: Totals,
  features: FeatureWalk<F>,
  labels: Pattern,
  options: WalkOptions & { sign?: Sign } = {},
): Promise<void> {
  const { sign = 1, ...walk } = options;
  await features.forBlocks("sums", (block) => totals.add(block, labels, sign), walk);
}

/** out = s [n,K] of points with these features. */
export function ridgeScores({ mean, weights }: RidgeSolution, f: Matrix, out: Matrix): Matrix {
  return combine("add", gemm(f, weights, out), mean, out);
}

/** h of points with these features. */
export function leverages({ inverse }: RidgeSolution, f: Matrix): Float64Array {
  if (inverse === undefined)
    throw new ArgumentError("solution", "found one without its inverse, expected it for variances");
  return scoped((scope) => {
    const { core, precision, rows, columns } = f;
    const half = gemm(f, inverse, scope.keep(matrix(core, rows, columns, precision)), { alpha: 0.5 });
    const sums = rowSums(half, scope.keep(matrix(core, 1, rows, precision)), f);
    return Float64Array.from(sums.view(), (sum) => 2 * sum);
  });
}

/** Scores of learned points become those with each point left out: (s - h y) / (1 - h). */
export function leaveOut(scores: Matrix, h: Float64Array, labels: Pattern, from: number): void {
  const { core, precision, rows, columns } = scores;
  const inverses = h.map((leverage) => 1 / (1 - leverage));
  const factors = matrixFrom(core, rows, 1, inverses, precision);
  combine("multiply", scores, factors, scores);
  factors.free();
  const starts = labels.start.view();
  const ids = labels.column.view();
  const elements = scores.view();
  for (let i = 0; i < rows; i++) {
    const own = h[i] * inverses[i];
    for (let e = starts[from + i]; e < starts[from + i + 1]; e++) elements[i * columns + ids[e]] -= own;
  }
}

/** Left-out scores of the points that a solution was learned from. */
export function leaveOneOutOf(solution: RidgeSolution, features: FeatureWalk, labels: Pattern): LeaveOneOut {
  const { core, precision } = solution.weights;
  const forBlocks: LeaveOneOut["forBlocks"] = async (stage, work, options = {}) => {
    await scoped(async (scope) => {
      const room = scope.keep(matrix(core, Math.min(BLOCK_ROWS, features.points), labels.columns, precision));
      const leftOut = ({ from, to, f }: FeatureBlock<Matrix>): void => {
        const scores = ridgeScores(solution, f, room.rowRange(0, to - from));
        const h = leverages(solution, f);
        leaveOut(scores, h, labels, from);
        work({ from, to, scores, variances: h.map((leverage) => 1 / (1 - leverage)) });
      };
      await features.forBlocks(stage, leftOut, options);
    });
  };
  return { ranges: allPoints(features.points), labels: labels.columns, mean: solution.mean, forBlocks };
}
