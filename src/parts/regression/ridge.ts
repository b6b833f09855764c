// Ridge regression from sums over points:
//
//     W = C (B - m mu'),   C = inverse(A + lam I)
//
// By default all of it is in double precision, and what blocks of points are multiplied with is rounded to theirs.
// Wide linear parts (condition about N / lam, no kernel that makes it worse) are solved in single precision for room.

import { positiveNumber } from "../../base/check.ts";
import { byParts, type WorkOptions, yieldToHost } from "../../base/progress.ts";
import type { SparseRows } from "../../base/sparse.ts";
import type { Core, Precision } from "../../core/core.ts";
import { addDiagonal, convert, diagonal, fill, gemm, transpose } from "../../core/dense.ts";
import { solveInTurns } from "../../core/factor.ts";
import { factorInPlace, inverseInPlace } from "../../core/inverse.ts";
import { keeping, type Matrix, matrix, matrixFrom, type Scope, scoped } from "../../core/matrix.ts";

/** Sums over points, wherever they come from. */
export interface RidgeSums {
  readonly core: Core;
  /** K */
  readonly labels: number;
  /** m [1,P], in double precision. */
  readonly sums: Matrix;
  /** mu [K] */
  mean(): Float64Array;
  /** out [P,P] = A, in its lower triangle; out may be of either precision. */
  writeGram(out: Matrix, options: WorkOptions): Promise<void>;
  /** out [labels,P], in double precision: B' for some labels. */
  writeCross(firstLabel: number, out: Matrix): void;
}

export interface RidgeChoice {
  /** lam, the variance of the noise. */
  readonly noise: number;
  /** mu [K]; the labels' frequencies if not given. */
  readonly mean?: ArrayLike<number>;
}

/** How it is solved. */
export interface RidgeOptions extends WorkOptions {
  /** Precision that A is inverted in. */
  readonly working?: Precision;
  /** Without C there are no left-out scores and no variances, but two thirds of the work and no second matrix. */
  readonly inverse?: boolean;
  /** Keeps C as it was made, for learning (learn.ts). */
  readonly keepExact?: boolean;
  /** Rows of features whose leverages are wanted, few enough for a matrix of them. */
  readonly probes?: SparseRows;
}

/** Numbers that are taken from A and C while they are there. */
export interface Probed {
  /** A_jj [P] */
  readonly squares: ArrayLike<number>;
  /** h = f C f' of each probe. */
  readonly leverages: Float64Array;
}

/** Weights of the features for every label, and what the variance is made from. */
export interface RidgeSolution {
  /** mu [1,K] */
  readonly mean: Matrix;
  /** W [P,K] */
  readonly weights: Matrix;
  /** C [P,P], both triangles, where it was asked for. */
  readonly inverse?: Matrix | undefined;
  /** C in the precision that it was made in, where that was asked for. */
  readonly exactInverse?: Matrix | undefined;
  /** Where there were probes. */
  readonly probed?: Probed | undefined;
  free(): void;
}

/** Labels solved for together. */
export const LABELS_AT_ONCE = 256;

/** C and W for one noise. */
export async function solveRidge(
  sums: RidgeSums,
  choice: RidgeChoice,
  precision: Precision,
  options: RidgeOptions = {},
): Promise<RidgeSolution> {
  const { core, labels } = sums;
  const { working = "f64", inverse: wanted = true, keepExact = false, probes } = options;
  const noise = positiveNumber("noise", choice.noise);
  const features = sums.sums.columns;
  return await keeping((kept) =>
    scoped(async (scope) => {
      const same = working === precision;
      const square = (wanted && (same || keepExact) ? kept : scope).keep(matrix(core, features, features, working));
      await sums.writeGram(square, options);
      const squares = diagonal(square, scope.keep(matrix(core, 1, features, working))).toArray();
      addDiagonal(square, fill(scope.keep(matrix(core, 1, features, working)), noise));
      const weights = kept.keep(matrix(core, features, labels, precision));
      const mu = Float64Array.from(choice.mean ?? sums.mean());
      const mean = kept.keep(matrixFrom(core, 1, labels, mu, precision));
      await (wanted ? inverseInPlace : factorInPlace)(square, options);
      const solve: Solver = async (right, inner) => {
        if (!wanted)
          return await solveInTurns(square, await solveInTurns(square, right, options), {
            ...options,
            transpose: true,
          });
        const out = inner.keep(matrix(core, right.rows, right.columns, right.precision));
        await byParts(options, features, features * right.columns, (from, to) =>
          gemm(square.rowRange(from, to), right, out.rowRange(from, to)),
        );
        return out;
      };
      const probed = probes && { squares, leverages: await leveragesBy(solve, square, probes) };
      await solveLabels(sums, mu, { solve, working }, weights, options);
      const rounded = (): Matrix => convert(square, kept.keep(matrix(core, features, features, precision)));
      const inverse = wanted ? (same ? square : rounded()) : undefined;
      const exactInverse = wanted && keepExact ? square : undefined;
      return { mean, weights, inverse, exactInverse, probed, free: () => kept.free() };
    }),
  );
}

/** C right, in memory of the scope; `right` may be used up. */
type Solver = (right: Matrix, scope: Scope) => Promise<Matrix>;

/** h = f C f' of some rows. */
async function leveragesBy(
  solve: Solver,
  { core, rows: features, precision }: Matrix,
  probes: SparseRows,
): Promise<Float64Array> {
  const { rows, rowStart, columnIndex, values } = probes;
  return await scoped(async (scope) => {
    const columns = scope.keep(matrix(core, features, rows, precision)); // F'
    const forEachEntry = (work: (place: number, value: number, row: number) => void): void => {
      for (let i = 0; i < rows; i++)
        for (let e = rowStart[i]; e < rowStart[i + 1]; e++) work(columnIndex[e] * rows + i, values[e], i);
    };
    const filled = columns.view();
    forEachEntry((place, value) => {
      filled[place] = value;
    });
    const elements = (await solve(columns, scope)).view(); // C F'
    const leverages = new Float64Array(rows);
    forEachEntry((place, value, i) => {
      leverages[i] += value * elements[place];
    });
    return leverages;
  });
}

/** W = C (B - m mu'), some labels at a time. */
async function solveLabels(
  sums: RidgeSums,
  mean: Float64Array,
  { solve, working }: { solve: Solver; working: Precision },
  weights: Matrix,
  options: WorkOptions,
): Promise<void> {
  const { core, labels } = sums;
  const features = weights.rows;
  for (let k = 0; k < labels; k += LABELS_AT_ONCE) {
    await yieldToHost(options, "weights", k / labels);
    const count = Math.min(LABELS_AT_ONCE, labels - k);
    await scoped(async (scope) => {
      const make = (m: number, n: number, precision: Precision): Matrix => scope.keep(matrix(core, m, n, precision));
      const cross = make(count, features, "f64");
      sums.writeCross(k, cross);
      const mu = make(count, 1, "f64").set(mean.subarray(k, k + count));
      gemm(mu, sums.sums, cross, { alpha: -1, beta: 1 });
      const centred = transpose(cross, make(features, count, "f64"));
      const right = working === "f64" ? centred : convert(centred, make(features, count, "f32"));
      convert(await solve(right, scope), weights.block(0, k, features, count));
    });
  }
}
