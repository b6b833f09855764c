// Coordinates in which the mean learns evenly, for kernels with a squared exponential.
//
// There the columns of Kx are nearly alike: all inducing points see a point from about as far. Adam on mu (m = Kx mu)
// then moves along one direction only and stalls. So mu = T nu, with T fixed at the start such that in nu the curvature
// of the bound is about the same in all directions:
//
//   T = (Kx'Kx / n + Kz / N + ridge I)^-1/2
//
// the mean's second moments over some points, the KL's curvature beside N of them. Adam works on nu, and any T is right:
// it changes the way, not the bound. Bibtex, se, P = 30, 20 epochs: 53.0 / 31.8 / 23.6 (P@1/3/5).

import type { AdamStep, Backend, Tensor } from "../backend/backend.ts";
import type { Core } from "../core/core.ts";
import { gemm } from "../core/dense.ts";
import { eigenSymmetric } from "../core/eigen.ts";
import { matrix, matrixFrom, type RealArray, scoped, sumOf } from "../core/matrix.ts";
import { isLinear } from "../model/kernels/index.ts";
import type { ModelShape } from "../model/shape.ts";

/** Of the mean eigenvalue: below it a direction is noise in single precision. */
const RIDGE = 1e-4;
/** A coordinate of nu has unit effect on the mean, where one of mu has that of a single inducing point. */
const RATE = 0.05;

export const needsCoordinates = ({ mean, kernel }: ModelShape): boolean =>
  mean === "inducing" && !isLinear(kernel);

/** (A + ridge I)^-1/2 of a symmetric positive semi-definite A [n,n]. */
export function inverseRoot(core: Core, a: RealArray, n: number): RealArray {
  return scoped((scope) => {
    const { values, vectors } = eigenSymmetric(scope.keep(matrixFrom(core, n, n, a, "f64")));
    scope.keep(vectors);
    const ridge = (RIDGE * sumOf(values)) / n;
    const scaled = vectors.toArray().map((entry, at) => {
      const value = Math.max(0, values[Math.floor(at / n)] as number);
      return entry / Math.sqrt(value + ridge);
    });
    const scaledVectors = scope.keep(matrixFrom(core, n, n, scaled, "f64"));
    return gemm(vectors, scaledVectors, scope.keep(matrix(core, n, n, "f64")), {
      transposeA: true,
    }).toArray();
  });
}

/** Steps of Adam in nu, applied to mu. */
export class CoordinateSteps {
  /** T [M,M] */
  readonly transform: Tensor;
  readonly #gradient: Tensor;
  readonly #step: Tensor;
  readonly #backend: Backend;

  constructor(backend: Backend, { inducingPoints: m, factors }: ModelShape) {
    this.#backend = backend;
    this.transform = backend.tensor(m, m);
    this.#gradient = backend.tensor(m, factors);
    this.#step = backend.tensor(m, factors);
  }

  /** Takes numbers of mu's start for nu: mu = T nu. */
  enter(mu: Tensor): void {
    this.#backend.gemm(this.transform, mu, this.#step);
    this.#backend.blend(1, this.#step, 0, this.#step, mu);
  }

  /** mu += T (Adam's step from T' gradient) */
  adam(mu: Tensor, gradient: Tensor, first: Tensor, second: Tensor, step: AdamStep): void {
    const backend = this.#backend;
    backend.gemm(this.transform, gradient, this.#gradient);
    backend.fill(this.#step, 0);
    backend.adam(this.#step, this.#gradient, first, second, { ...step, rate: RATE * step.rate });
    backend.gemm(this.transform, this.#step, mu, { beta: 1 });
  }

  free(): void {
    this.#backend.free(this.transform, this.#gradient, this.#step);
  }
}
