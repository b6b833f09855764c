// Posterior variance of a kernel at a point, without the noise,
//
//     v(x) = k(x,x) - |b(x)|^2,      b(x) = inverse(L) k(X,x),      L L' = K + lam I
//
// over its points, or over some of them where they are many: fewer points know less, so that it is then too large and
// never too small. Two points have the posterior covariance k(x,z) - b(x).b(z).

import type { WorkOptions } from "../../base/progress.ts";
import { type SparseRows, selectFeatures } from "../../base/sparse.ts";
import type { Core } from "../../core/core.ts";
import { addDiagonal, fill, gemm, rowSums } from "../../core/dense.ts";
import { solveTriangular } from "../../core/factor.ts";
import { factorInPlace } from "../../core/inverse.ts";
import { keeping, type Matrix, matrix, type Scope, scoped } from "../../core/matrix.ts";
import type { FeatureTransform } from "../../data/transform.ts";
import type { Deviation, PosteriorVariance } from "../part.ts";
import { choiceOf, Kernel, type KernelPart, kernelMatrix, rowKernel } from "./kernel.ts";
import { narrowing, PointIndex, type Points, placeRows, spreadOver } from "./points.ts";

/** Points that are looked at; L is made in a fraction of a second. */
const MOST_POINTS = 2000;

export interface UnexplainedVariance extends PosteriorVariance {
  /** v / (k(x,x) + lam) [n]: the part of the variance of an observation that is not explained, from 0 to below 1. */
  unexplained(rows: SparseRows): Float64Array;
}

/**
 * A label of frequency mu has the variance mu (1 - mu) before anything is known of a point; the part of it that is not explained is
 * the variance of its score.
 */
export const unexplainedDeviation =
  (mean: Float32Array, unexplained: Float64Array): Deviation =>
  (row, label) =>
    Math.sqrt(Math.max(0, mean[label] * (1 - mean[label]) * unexplained[row]));

export async function posteriorVariance(
  core: Core,
  part: Omit<KernelPart, "family">,
  transform: FeatureTransform,
  work: WorkOptions = {},
): Promise<UnexplainedVariance> {
  const chosen = selectFeatures(part.rows, spreadOver(part.rows.rows, MOST_POINTS));
  return await keeping(async (scope) => {
    const narrow = narrowing(chosen, transform);
    const placed = (rows: SparseRows, room: Scope, columns: typeof narrow): Points =>
      placeRows(core, rows, transform, room, { narrow: columns });
    const index = scope.keep(new PointIndex(placed(chosen, scope, narrow)));
    const size = chosen.rows;
    const kernel = scope.keep(new Kernel(core, "f32", choiceOf(part).kernel));
    const between = (given: Points, others: PointIndex, room: Scope): Matrix => {
      const make = (): Matrix => room.keep(matrix(core, given.rows, others.points.rows, "f32"));
      return kernel.rows(given, others, { from: 0, to: given.rows, lower: false }, make(), make());
    };
    const factor = scope.keep(matrix(core, size, size, "f32"));
    await kernelMatrix(index.points, kernel, factor, work);
    addDiagonal(factor, fill(scope.keep(matrix(core, 1, size, "f32")), part.noise));
    await factorInPlace(factor, work);
    const known = (given: Points, room: Scope): Matrix =>
      solveTriangular(factor, between(given, index, room), { side: "right", transpose: true });
    /** k(x,x), and v. */
    const variancesOf = (points: Points, explained: Matrix, room: Scope) => {
      const sums = rowSums(explained, room.keep(matrix(core, 1, points.rows, "f32")), explained).view();
      const own = kernel.self(points.viewSquares.map((squares) => squares.view()));
      return { own, variances: own.map((value, i) => Math.max(0, value - sums[i])) };
    };
    return {
      noise: part.noise,
      prior: rowKernel(choiceOf(part).kernel, transform),
      size,
      of: (rows) => scoped((room) => known(placed(rows, room, narrow), room).toArray() as Float32Array),
      together: (rows, others) =>
        scoped((room) => {
          const given = placed(rows, room, narrow);
          const explained = known(given, room);
          const own = narrowing(others, transform);
          const k = between(placed(rows, room, own), room.keep(new PointIndex(placed(others, room, own))), room);
          const rest = gemm(explained, known(placed(others, room, narrow), room), k, {
            alpha: -1,
            beta: 1,
            transposeB: true,
          });
          const { variances } = variancesOf(given, explained, room);
          return { variances, covariances: rest.toArray() as Float32Array };
        }),
      unexplained: (rows) =>
        scoped((room) => {
          const given = placed(rows, room, narrow);
          const { own, variances } = variancesOf(given, known(given, room), room);
          return variances.map((variance, i) => variance / (own[i] + part.noise));
        }),
      free: () => scope.free(),
    };
  });
}
