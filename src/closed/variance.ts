// How little an exact model knows at a point: the posterior variance there, without the noise,
//
//     v(x) = k(x,x) - |b(x)|^2,      b(x) = inverse(L) k(X,x),      L L' = K + lam I
//
// over its points, or over some of them where they are many: fewer points know less, so that it is then too large and
// never too small. Two points have the covariance k(x,z) - b(x).b(z) in what is not known.

import type { Core } from "../core/core.ts";
import { csr } from "../core/csr.ts";
import { addDiagonal, fill } from "../core/dense.ts";
import { solveTriangular } from "../core/factor.ts";
import { factorInPlace } from "../core/inverse.ts";
import { Postings, sparseProducts } from "../core/kernelrows.ts";
import { type Matrix, matrix, Scope, scoped } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { type SparseRows, selectFeatures } from "../data/dataset.ts";
import type { ExactPart } from "../model/model.ts";
import { kernelMatrix } from "./exact.ts";
import { Kernel } from "./kernel.ts";
import { Points } from "./points.ts";
import { spreadOver } from "./subset.ts";

/** Points that are looked at; L is made in a fraction of a second. */
const MOST_POINTS = 2000;

/** What is known at points: b of each, one a row. */
export interface KnownPart {
  /** M, how many points it comes from. */
  readonly size: number;
  /** b [n,M] of rows that are weighted and scaled. */
  of(rows: SparseRows): Float32Array;
  free(): void;
}

export async function knownPart(core: Core, part: ExactPart, work: WorkOptions = {}): Promise<KnownPart> {
  const chosen = selectFeatures(part.rows, spreadOver(part.rows.rows, MOST_POINTS));
  const scope = new Scope();
  try {
    const points = scope.keep(new Points(scope.keep(csr(core, chosen, "f32"))));
    const index = scope.keep(new Postings(points.x));
    const [linearVariance, variance, lengthScale] = part.hyper;
    const choice = { name: part.kernel, linearVariance, variance, lengthScale };
    const kernel = scope.keep(new Kernel(core, "f32", choice));
    const factor = scope.keep(matrix(core, points.rows, points.rows, "f32"));
    await kernelMatrix(points, index, kernel, factor, work);
    addDiagonal(factor, fill(scope.keep(matrix(core, 1, points.rows, "f32")), part.noise));
    await factorInPlace(factor, work);
    return {
      size: points.rows,
      of: (rows) =>
        scoped((inner) => {
          const given = inner.keep(new Points(inner.keep(csr(core, rows, "f32"))));
          const room = (): Matrix => inner.keep(matrix(core, rows.rows, points.rows, "f32"));
          const products = sparseProducts(given.x, index, room(), { from: 0, to: rows.rows });
          const k = kernel.map(products, given.squares, points.squares, room());
          return solveTriangular(factor, k, { side: "right", transpose: true }).toArray() as Float32Array;
        }),
      free: () => scope.free(),
    };
  } catch (error) {
    scope.free();
    throw error;
  }
}
