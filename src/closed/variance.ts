// How little an exact model knows at a point: the posterior variance there, without the noise,
//
//     v(x) = k(x,x) - |b(x)|^2,      b(x) = inverse(L) k(X,x),      L L' = K + lam I
//
// over its points, or over some of them where they are many: fewer points know less, so that it is then too large and
// never too small. Two points have the covariance k(x,z) - b(x).b(z) in what is not known.

import type { Core } from "../core/core.ts";
import { addDiagonal, fill, gemm, rowSums } from "../core/dense.ts";
import { solveTriangular } from "../core/factor.ts";
import { factorInPlace } from "../core/inverse.ts";
import { type Matrix, matrix, Scope, scoped } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { type SparseRows, selectFeatures } from "../data/dataset.ts";
import type { FeatureTransform } from "../data/transform.ts";
import type { KernelPart } from "../model/model.ts";
import { kernelMatrix } from "./exact.ts";
import { IndexedPoints, PlacedRows } from "./indexed.ts";
import { Kernel } from "./kernel.ts";
import { spreadOver } from "./subset.ts";

/** Points that are looked at; L is made in a fraction of a second. */
const MOST_POINTS = 2000;

/** What is known at points that are weighted and scaled. */
export interface KnownPart {
  /** M, how many points it comes from. */
  readonly size: number;
  /** b [n,M], one a row. */
  of(rows: SparseRows): Float32Array;
  /** What is not known of points together with others [n,m]: k(x,z) - b(x).b(z). */
  covariances(rows: SparseRows, others: SparseRows): Float32Array;
  /** v / (k(x,x) + lam) [n]: the part of the variance of what could be observed that is not known, from 0 to below 1. */
  unknown(rows: SparseRows): Float64Array;
  free(): void;
}

export async function knownPart(
  core: Core,
  part: KernelPart,
  transform: FeatureTransform,
  work: WorkOptions = {},
): Promise<KnownPart> {
  const chosen = selectFeatures(part.rows, spreadOver(part.rows.rows, MOST_POINTS));
  const scope = new Scope();
  try {
    const placed = (rows: SparseRows, room: Scope): PlacedRows =>
      room.keep(new PlacedRows(core, rows, transform));
    const indexed = (rows: PlacedRows, room: Scope): IndexedPoints =>
      room.keep(new IndexedPoints(core, rows));
    const points = indexed(placed(chosen, scope), scope);
    const size = chosen.rows;
    const [linearVariance, variance, lengthScale] = part.hyper;
    const choice = { name: part.kernel, linearVariance, variance, lengthScale };
    const kernel = scope.keep(new Kernel(core, "f32", choice));
    const between = (given: PlacedRows, others: IndexedPoints, room: Scope): Matrix => {
      const { rows, squares } = others.points;
      const make = (): Matrix => room.keep(matrix(core, given.rows, rows, "f32"));
      return kernel.map(others.products(given, make()), given.squares, squares, make());
    };
    const factor = scope.keep(matrix(core, size, size, "f32"));
    await kernelMatrix(points.points, points.index, kernel, factor, work);
    addDiagonal(factor, fill(scope.keep(matrix(core, 1, size, "f32")), part.noise));
    await factorInPlace(factor, work);
    const knownAt = (given: PlacedRows, room: Scope): Matrix =>
      solveTriangular(factor, between(given, points, room), { side: "right", transpose: true });
    return {
      size,
      of: (rows) => scoped((room) => knownAt(placed(rows, room), room).toArray() as Float32Array),
      covariances: (rows, others) =>
        scoped((room) => {
          const [given, other] = [placed(rows, room), placed(others, room)];
          const k = between(given, indexed(other, room), room);
          const known = { alpha: -1, beta: 1, transposeB: true };
          return gemm(knownAt(given, room), knownAt(other, room), k, known).toArray() as Float32Array;
        }),
      unknown: (rows) =>
        scoped((room) => {
          const given = placed(rows, room);
          const known = knownAt(given, room);
          const sums = rowSums(known, room.keep(matrix(core, 1, rows.rows, "f32")), known).view();
          return kernel
            .self(given.squares.view())
            .map((own, i) => Math.max(0, own - (sums[i] as number)) / (own + part.noise));
        }),
      free: () => scope.free(),
    };
  } catch (error) {
    scope.free();
    throw error;
  }
}
