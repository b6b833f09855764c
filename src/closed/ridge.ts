// The posterior of the sparse form from its sums. With weights w of the two parts the features are F = f sqrt(w), and
//
//     W = inverse(F'F + lam I) F'(Y - mu)      is, for f itself,      W = C (B - m mu'),   C = inverse(A + lam / w)
//
// where lam / w stands on the diagonal: lam / w_kernel for the kernel's features, lam / w_linear for the linear ones.
// Everything here is in double precision; what blocks of points are multiplied with is rounded to theirs.

import { finiteNumber } from "../core/check.ts";
import type { Precision } from "../core/core.ts";
import { addDiagonal, convert, gemm, scale } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { inverseInPlace } from "../core/inverse.ts";
import { type Matrix, matrix, matrixFrom, Scope } from "../core/matrix.ts";
import { pause, type WorkOptions } from "../core/progress.ts";
import type { Statistics } from "./statistics.ts";

/** The noise, and how much of the covariance comes from each part. */
export interface RidgeChoice {
  /** lam, the variance of the noise. */
  readonly noise: number;
  /** w of the kernel's part: 1/2 where there is a linear part too, else 1. */
  readonly kernelWeight?: number;
  /** w of the linear part: 1/2 where there is a kernel's part too, else 1. */
  readonly linearWeight?: number;
  /** mu [K]; the labels' frequencies if not given. */
  readonly mean?: ArrayLike<number>;
}

/** Weights of the features for every label, and what the variance is made from. */
export interface RidgeSolution {
  /** mu [1,K] */
  readonly mean: Matrix;
  /** W [M+D, K] */
  readonly weights: Matrix;
  /** C [M+D, M+D], both triangles. */
  readonly inverse: Matrix;
  free(): void;
}

/** Labels solved for together. */
const LABELS_AT_ONCE = 256;

/** lam / w of each part, checked. */
export function ridgeOf(statistics: Statistics, choice: RidgeChoice): { kernel: number; linear: number } {
  const both = statistics.kernel > 0 && statistics.linear > 0;
  const part = (name: "kernelWeight" | "linearWeight"): number => {
    const weight = finiteNumber(name, choice[name] ?? (both ? 0.5 : 1));
    if (!(weight > 0)) throw new ArgumentError(name, `found ${weight}, expected a number above 0`);
    return finiteNumber("noise", choice.noise) / weight;
  };
  if (!(choice.noise > 0))
    throw new ArgumentError("noise", `found ${choice.noise}, expected a number above 0`);
  return { kernel: part("kernelWeight"), linear: part("linearWeight") };
}

/** C and W for one choice of noise and weights. */
export async function solveRidge(
  statistics: Statistics,
  choice: RidgeChoice,
  precision: Precision,
  options: WorkOptions = {},
): Promise<RidgeSolution> {
  const { core, features, labels, kernel } = statistics;
  const ridge = ridgeOf(statistics, choice);
  const kept = new Scope();
  const scope = new Scope();
  try {
    const c = scope.keep(matrix(core, features, features, "f64"));
    scale(1, statistics.gram, c);
    const diagonal = Float64Array.from({ length: features }, (_, i) =>
      i < kernel ? ridge.kernel : ridge.linear,
    );
    addDiagonal(c, scope.keep(matrixFrom(core, 1, features, diagonal, "f64")));
    await inverseInPlace(c, options);
    const weights = kept.keep(matrix(core, features, labels, precision));
    const mu = Float64Array.from(choice.mean ?? statistics.mean());
    const mean = kept.keep(matrixFrom(core, 1, labels, mu, precision));
    await solveLabels(statistics, mu, c, weights, options);
    const inverse = kept.keep(matrix(core, features, features, precision));
    convert(c, inverse);
    return { mean, weights, inverse, free: () => kept.free() };
  } catch (error) {
    kept.free();
    throw error;
  } finally {
    scope.free();
  }
}

/** W = C (B - m mu'), some labels at a time. */
async function solveLabels(
  statistics: Statistics,
  mean: Float64Array,
  c: Matrix,
  weights: Matrix,
  options: WorkOptions,
): Promise<void> {
  const { core, features, labels, cross, sums } = statistics;
  for (let k = 0; k < labels; k += LABELS_AT_ONCE) {
    await pause(options, "weights", k / labels);
    const count = Math.min(LABELS_AT_ONCE, labels - k);
    const scope = new Scope();
    try {
      const centred = scope.keep(matrix(core, count, features, "f64"));
      scale(1, cross.rowRange(k, k + count), centred);
      const mu = scope.keep(matrixFrom(core, count, 1, mean.subarray(k, k + count), "f64"));
      gemm(mu, sums, centred, { alpha: -1, beta: 1 });
      const solved = scope.keep(matrix(core, features, count, "f64"));
      gemm(c, centred, solved, { transposeB: true });
      convert(solved, weights.block(0, k, features, count));
    } finally {
      scope.free();
    }
  }
}
