// The features of inducing inputs Z, whitened so that their inner products are the covariance that Z carries:
//
//     Kzz + jitter I = L L'        phi(x) = inverse(L) k(Z, x)        phi(x).phi(x') = k(x,Z) inverse(Kzz + jitter I) k(Z,x')
//
// L and its inverse are made in double precision and the inverse is rounded to the precision of the points. Any
// fixed matrix in place of inverse(L) spans the same functions, so that this rounding only turns the features a
// little; leaving them unwhitened in single precision does not give a positive definite A.

import type { WorkOptions } from "../../base/progress.ts";
import { csr } from "../../core/csr.ts";
import { addDiagonal, convert, fill, gemm } from "../../core/dense.ts";
import { factorInPlace, lowerInverseColumns } from "../../core/inverse.ts";
import { keeping, type Matrix, matrix, scoped } from "../../core/matrix.ts";
import { Kernel, type KernelChoice } from "./kernel.ts";
import { PointIndex, Points } from "./points.ts";

/** Added to the diagonal of Kzz, for k(x, x) about 1. */
const JITTER = 1e-4;

/** Columns of inverse(L) that are applied together. */
const COLUMNS_AT_ONCE = 512;

/** phi(x) for blocks of points. Made by inducingFeatures; Z stays yours to free, after it. */
export class InducingFeatures {
  readonly #index: PointIndex;

  /** `whitening` is inverse(L) [M,M], lower triangular. */
  constructor(
    readonly kernel: Kernel,
    readonly z: Points,
    readonly whitening: Matrix,
  ) {
    this.#index = new PointIndex(z);
  }

  /** M */
  get count(): number {
    return this.z.rows;
  }

  /** out = k(x,Z) of points from to to, one a row; `work` has the same shape. */
  covariances(points: Points, from: number, to: number, out: Matrix, work: Matrix): Matrix {
    return this.kernel.rows(points, this.#index, { from, to, lower: false }, work, out);
  }

  /** out = phi of points from to to, one a row; `work` has the same shape. */
  block(points: Points, from: number, to: number, out: Matrix, work: Matrix): Matrix {
    this.covariances(points, from, to, work, out);
    // phi = inverse(L) k: column j needs the k of the first j inducing inputs.
    const { count, whitening } = this;
    for (let j = 0; j < count; j += COLUMNS_AT_ONCE) {
      const end = Math.min(count, j + COLUMNS_AT_ONCE);
      const rows = whitening.block(j, 0, end - j, end);
      gemm(work.block(0, 0, to - from, end), rows, out.block(0, j, to - from, end - j), { transposeB: true });
    }
    return out;
  }

  free(): void {
    this.#index.free();
    this.whitening.free();
    this.kernel.free();
  }
}

/** Factors Kzz in double precision and makes the features that Z gives. */
export async function inducingFeatures(
  z: Points,
  choice: KernelChoice,
  options: WorkOptions & { jitter?: number } = {},
): Promise<InducingFeatures> {
  const { core, precision, rows } = z.x;
  return await keeping((kept) =>
    scoped(async (scope) => {
      const l = scope.keep(covarianceOf(z, choice));
      addDiagonal(l, fill(scope.keep(matrix(core, 1, rows, "f64")), options.jitter ?? JITTER));
      await factorInPlace(l, options);
      const whitening = kept.keep(matrix(core, rows, rows, precision));
      const put = (columns: Matrix, from: number): void =>
        void convert(columns, whitening.block(from, from, columns.rows, columns.columns));
      await lowerInverseColumns(l, put, options);
      return new InducingFeatures(kept.keep(new Kernel(core, precision, choice)), z, whitening);
    }),
  );
}

/** Kzz in double precision. */
function covarianceOf({ x, squares, ranges }: Points, choice: KernelChoice): Matrix {
  return scoped((scope) => {
    const { core, rows } = x;
    const z = scope.keep(new Points(scope.keep(csr(x.core, x.toArrays(), "f64")), squares.toArray(), ranges));
    const make = (): Matrix => matrix(core, rows, rows, "f64");
    const kernel = scope.keep(new Kernel(core, "f64", choice));
    const range = { from: 0, to: rows, lower: false };
    const out = kernel.rows(z, scope.keep(new PointIndex(z)), range, scope.keep(make()), make());
    return kernel.writeDiagonal(out, z.viewSquares);
  });
}
