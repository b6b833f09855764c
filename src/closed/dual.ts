// The dual weights a = C (Y - mu) of the exact form, from C or from the factor of inverse(C).

import { convert, fill, gemm, rowSums, scale, transpose } from "../core/dense.ts";
import { solveTriangular } from "../core/factor.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import { pause, type WorkOptions } from "../core/progress.ts";
import { addTransposeTimes } from "../core/sums.ts";
import { allPoints, blocksOf } from "./leaveoneout.ts";

/** Points whose dual weights are made together from C, and labels that are solved for together with L. */
const POINTS_AT_ONCE = 256;
export const LABELS_AT_ONCE = 256;

/**
 * a = C Y - (C 1) mu'. Y is nearly all zeros: column k of C Y is the sum of the rows of C that have label k, N
 * additions for each label of each point. Sums are in double precision.
 */
export async function dualFromInverse(
  inverse: Matrix,
  labels: Pattern,
  mean: Matrix,
  out: Matrix,
  options: WorkOptions,
): Promise<void> {
  const { core, precision, rows } = inverse;
  const scope = new Scope();
  try {
    const totals = rowSums(inverse, scope.keep(matrix(core, 1, rows, precision)));
    const double = (m: Matrix): Matrix => convert(m, scope.keep(matrix(core, m.rows, m.columns, "f64")));
    const [totalsInDouble, meanInDouble] = [double(totals), double(mean).reshape(mean.columns, 1)];
    const sums = scope.keep(matrix(core, labels.columns, POINTS_AT_ONCE, "f64"));
    const transposed = scope.keep(matrix(core, POINTS_AT_ONCE, labels.columns, "f64"));
    for (const { from, to } of blocksOf(allPoints(rows), POINTS_AT_ONCE)) {
      await pause(options, "dual weights", from / rows);
      const part = sums.block(0, 0, labels.columns, to - from);
      // The outer product also clears what was there.
      gemm(meanInDouble, totalsInDouble.block(0, from, 1, to - from), part, { alpha: -1 });
      addTransposeTimes(labels, inverse.block(0, from, rows, to - from), part);
      convert(transpose(part, transposed.rowRange(0, to - from)), out.rowRange(from, to));
    }
  } finally {
    scope.free();
  }
}

/** inverse(L') inverse(L) (Y - mu), some labels at a time. */
export async function dualFromFactor(
  l: Matrix,
  labels: Pattern,
  mean: Matrix,
  out: Matrix,
  options: WorkOptions,
): Promise<void> {
  const { core, precision, rows } = l;
  const room = matrix(core, rows, Math.min(LABELS_AT_ONCE, labels.columns), precision);
  try {
    for (const { from, to } of blocksOf(allPoints(labels.columns), LABELS_AT_ONCE)) {
      await pause(options, "dual weights", from / labels.columns);
      const right = room.block(0, 0, rows, to - from);
      for (let k = from; k < to; k++) fill(right.block(0, k - from, rows, 1), -(mean.view()[k] as number));
      addOnes(room, labels, from, to);
      solveTriangular(l, right);
      solveTriangular(l, right, { transpose: true });
      scale(1, right, out.block(0, from, rows, to - from));
    }
  } finally {
    room.free();
  }
}

/** Adds 1 in column k - from of each point that has label k, for labels from to to. */
function addOnes(room: Matrix, labels: Pattern, from: number, to: number): void {
  const starts = labels.start.view();
  const ids = labels.column.view();
  const elements = room.view();
  for (let i = 0; i < labels.rows; i++) {
    for (let e = starts[i] as number; e < (starts[i + 1] as number); e++) {
      const label = ids[e] as number;
      if (label >= from && label < to) (elements[i * room.columns + label - from] as number) += 1;
    }
  }
}
