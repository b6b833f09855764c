// The exact form: every training point carries the mean. For N up to some 20,000 (N^2 numbers; the kernel matrix
// becomes its factor or its inverse in its own place).
//
//     C = inverse(K + lam I)      a = C (Y - mu)      s(x) = k(x,X) a + mu
//     left out:  s_i = y_i - a_i / C_ii,   v_i = 1 / C_ii
//
// A point that counts as w points has lam / w in the place of lam, as w copies of it would come to; left out, it is a new
// point, with lam in its variance.
//
// Two ways to it. By the inverse: N^3 operations, then C Y costs N additions for each label of each point, and every
// point has its left-out score. By the factor L L' = K + lam I: N^3 / 3, then 2 N^2 K for a by two solves; C_ii of the
// last n points is the sum of the squares of column i of the inverse of L's last n rows and columns (a column of
// inverse(L) is zero above its diagonal), n^3 / 3, and only these points have left-out scores. Where the points come in
// a random order they are a fair sample.

import { positiveNumber, sameSize, wholeNumber } from "../../base/check.ts";
import { type WorkOptions, yieldToHost } from "../../base/progress.ts";
import {
  addDiagonal,
  columnSums,
  combine,
  convert,
  diagonal,
  fill,
  gemm,
  rowSums,
  scale,
  transpose,
} from "../../core/dense.ts";
import { solveInTurns } from "../../core/factor.ts";
import { factorInPlace, inverseInPlace, lowerInverseColumns } from "../../core/inverse.ts";
import { keeping, type Matrix, matrix, scoped } from "../../core/matrix.ts";
import type { Pattern } from "../../core/pattern.ts";
import { addTransposeTimes } from "../../core/sums.ts";
import { DUAL_LABELS, type ExactWay, exactWay, LEFT_OUT } from "../regression/cost.ts";
import { Kernel, type KernelChoice, kernelMatrix } from "../regression/kernel.ts";
import { addLabels, allPoints, forEachBlock, type LeaveOneOut } from "../regression/leaveoneout.ts";
import type { InnerProducts, Points } from "../regression/points.ts";
import { DuplicateGroups } from "./groups.ts";

/** Noise and covariance, and the way. */
export interface ExactOptions extends WorkOptions {
  /** lam */
  readonly noise: number;
  readonly kernel: KernelChoice;
  /** As how many points each counts [N]; as one if not given. */
  readonly weights?: ArrayLike<number> | undefined;
  /** The first point that is equal to each [N], where some are: equal points are left out together. */
  readonly firstEqual?: Int32Array | undefined;
  /** X X' of the points, where it is kept. */
  readonly products?: InnerProducts | undefined;
  /** mu [K]; the labels' frequencies if not given. */
  readonly mean?: ArrayLike<number>;
  /** The way with fewer operations if not given. */
  readonly by?: ExactWay;
  /** n: by the factor, how many of the last points have left-out scores. */
  readonly leftOut?: number;
  /** C, both triangles, where it is known; yours to free. */
  readonly inverse?: Matrix | undefined;
}

/** A fitted exact form. The points and labels it was fitted on must outlive it. */
export interface ExactForm extends LeaveOneOut {
  readonly kernel: Kernel;
  readonly noise: number;
  readonly by: ExactWay;
  /** a [N,K] */
  readonly dual: Matrix;
  /** C_ii [1,n] of the last n points. */
  readonly pivots: Matrix;
  free(): void;
}

/** mu_k: how many of the points have each label [K]. */
function frequenciesOf(labels: Pattern, weights: ArrayLike<number> | undefined): Float64Array {
  const counts = new Float64Array(labels.columns);
  const [starts, columns] = [labels.start.view(), labels.column.view()];
  let points = 0;
  for (let i = 0; i < labels.rows; i++) {
    const weight = weights?.[i] ?? 1;
    points += weight;
    for (const label of columns.subarray(starts[i], starts[i + 1])) counts[label] += weight;
  }
  return counts.map((count) => count / points);
}

/** Fits the exact form. */
export async function fitExact(training: Points, labels: Pattern, options: ExactOptions): Promise<ExactForm> {
  const { core, precision, rows } = training.x;
  sameSize("labels", "rows", labels.rows, rows);
  const { weights, firstEqual, leftOut = LEFT_OUT } = options;
  if (weights) sameSize("weights", "length", weights.length, rows);
  const noise = positiveNumber("noise", options.noise);
  const { inverse: known } = options;
  const way = options.by ?? exactWay(rows, labels.columns, leftOut);
  const by = known ? "inverse" : way;
  return await keeping(async (scope) => {
    const make = (m: number, n: number): Matrix => scope.keep(matrix(core, m, n, precision));
    const kernel = scope.keep(new Kernel(core, precision, options.kernel));
    const mean = make(1, labels.columns).set(options.mean ?? frequenciesOf(labels, weights));
    // As many as without a known C: the calibrator is fitted to the same points.
    const count = way === "inverse" ? rows : Math.min(rows, leftOut);
    const groups = firstEqual && new DuplicateGroups(firstEqual, count);
    await yieldToHost(options, "kernel", 0);
    const square = known ?? make(rows, rows);
    await yieldToHost(options, "kernel", 0);
    if (!known) {
      await kernelMatrix(training, kernel, square, options);
      addNoise(square, noise, weights);
      await (by === "inverse" ? inverseInPlace : factorInPlace)(square, options);
    }
    const pivots = make(1, count);
    if (by === "inverse") {
      diagonal(square.block(rows - count, rows - count, count, count), pivots);
      groups?.fromInverse(square);
    } else await trailingPivots(square, pivots, groups, options);
    const dual = make(rows, labels.columns);
    await (by === "inverse" ? dualFromInverse : dualFromFactor)(square, labels, mean, dual, options);
    if (!known) square.free();
    const ranges = groups?.ranges ?? [{ from: rows - count, to: rows }];
    const found = { kernel, noise, by, mean, dual, pivots, ranges, labels: labels.columns };
    const forBlocks = leftOutBlocks(found, labels, weights, groups);
    return { ...found, forBlocks, free: () => scope.free() };
  });
}

/** K + lam I from K, with weights lam / w in the place of lam. */
export const addNoise = (square: Matrix, noise: number, weights: ArrayLike<number> | undefined): Matrix =>
  scoped((scope) => {
    const ridge = fill(scope.keep(matrix(square.core, 1, square.rows, square.precision)), noise);
    if (weights) ridge.set(Float64Array.from(weights, (weight) => noise / weight));
    return addDiagonal(square, ridge);
  });

/** Left-out scores and variances, a block of points at a time. */
const leftOutBlocks =
  (
    { dual, pivots, noise, ranges }: Pick<ExactForm, "dual" | "pivots" | "noise" | "ranges">,
    labels: Pattern,
    weights: ArrayLike<number> | undefined,
    groups: DuplicateGroups | undefined,
  ): LeaveOneOut["forBlocks"] =>
  async (stage, work, options = {}) => {
    const { core, precision, rows: points, columns } = dual;
    const first = points - pivots.columns;
    /** lam - lam / w of a point. */
    const lacking = (point: number): number => (weights ? noise - noise / weights[point] : 0);
    await scoped(async (scope) => {
      const room = scope.keep(matrix(core, BLOCK_ROWS, columns, precision));
      const factors = scope.keep(matrix(core, BLOCK_ROWS, 1, precision));
      await forEachBlock(options.ranges ?? ranges, BLOCK_ROWS, stage, options, ({ from, to }) => {
        wholeNumber("ranges", from, first, points);
        const own = pivots.view().subarray(from - first, to - first);
        const inverses = factors.rowRange(0, to - from).set(Float64Array.from(own, (pivot) => -1 / pivot));
        const variances = Float64Array.from(own, (pivot, i) => 1 / pivot + lacking(from + i));
        const scores = room.rowRange(0, to - from);
        combine("multiply", dual.rowRange(from, to), inverses, scores);
        for (let i = 0; groups && i < scores.rows; i++) {
          const together = groups.leftOut(from + i, dual);
          if (!together) continue;
          scores.rowRange(i, i + 1).set(together.residual.map((value) => -value));
          variances[i] = together.variance + lacking(from + i);
        }
        addLabels(scores, labels, from);
        work({ from, to, scores, variances });
      });
    });
  };

/** C_ii of the last n points from the factor. */
async function trailingPivots(
  l: Matrix,
  pivots: Matrix,
  groups: DuplicateGroups | undefined,
  options: WorkOptions,
): Promise<void> {
  const count = pivots.columns;
  const first = l.rows - count;
  const put = (columns: Matrix, from: number): void => {
    columnSums(columns, pivots.block(0, from, 1, columns.columns), columns);
    groups?.addColumns(columns, from);
  };
  await lowerInverseColumns(l.block(first, first, count, count), put, options);
  groups?.fromColumns();
}

/** out = a, from C or from L. */
type Dual = (square: Matrix, labels: Pattern, mean: Matrix, out: Matrix, options: WorkOptions) => Promise<void>;

/** Points whose left-out scores are made together. */
const BLOCK_ROWS = 256;

/** Points whose dual weights are made together from C. */
const POINTS_AT_ONCE = 256;

/**
 * a = C Y - (C 1) mu'. Y is nearly all zeros: column k of C Y is the sum of the rows of C that have label k, N
 * additions for each label of each point. Sums are in double precision.
 */
const dualFromInverse: Dual = async (inverse, labels, mean, out, options) => {
  const { core, precision, rows } = inverse;
  await scoped(async (scope) => {
    const totals = rowSums(inverse, scope.keep(matrix(core, 1, rows, precision)));
    const double = (m: Matrix): Matrix => convert(m, scope.keep(matrix(core, m.rows, m.columns, "f64")));
    const [totalsInDouble, meanInDouble] = [double(totals), double(mean).reshape(mean.columns, 1)];
    const sums = scope.keep(matrix(core, labels.columns, POINTS_AT_ONCE, "f64"));
    const transposed = scope.keep(matrix(core, POINTS_AT_ONCE, labels.columns, "f64"));
    await forEachBlock(allPoints(rows), POINTS_AT_ONCE, "dual weights", options, ({ from, to }) => {
      const part = sums.block(0, 0, labels.columns, to - from);
      // The outer product also clears what was there.
      gemm(meanInDouble, totalsInDouble.block(0, from, 1, to - from), part, { alpha: -1 });
      addTransposeTimes(labels, inverse.block(0, from, rows, to - from), part);
      convert(transpose(part, transposed.rowRange(0, to - from)), out.rowRange(from, to));
    });
  });
};

/** inverse(L') inverse(L) (Y - mu), some labels at a time. */
const dualFromFactor: Dual = async (l, labels, mean, out, options) => {
  const { core, precision, rows } = l;
  await scoped(async (scope) => {
    const room = scope.keep(matrix(core, rows, Math.min(DUAL_LABELS, labels.columns), precision));
    await forEachBlock(allPoints(labels.columns), DUAL_LABELS, "dual weights", options, async ({ from, to }) => {
      const right = room.block(0, 0, rows, to - from);
      for (let k = from; k < to; k++) fill(right.block(0, k - from, rows, 1), -mean.view()[k]);
      addOnes(room, labels, from, to);
      await solveInTurns(l, right, options);
      await solveInTurns(l, right, { ...options, transpose: true });
      scale(1, right, out.block(0, from, rows, to - from));
    });
  });
};

/** Adds 1 in column k - from of each point that has label k, for labels from to to. */
function addOnes(room: Matrix, labels: Pattern, from: number, to: number): void {
  const starts = labels.start.view();
  const ids = labels.column.view();
  const elements = room.view();
  for (let i = 0; i < labels.rows; i++) {
    for (let e = starts[i]; e < starts[i + 1]; e++) {
      const label = ids[e];
      if (label >= from && label < to) elements[i * room.columns + label - from] += 1;
    }
  }
}
