// Scores of the training points when each of them is left out: what noise, weights, the stack and the calibrator are
// chosen and fitted on, without validation data. The forms give them in blocks, since all of them may not fit.

import type { Matrix } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";

/** Points from to to. `scores` is used again for the next block. */
export interface LeftOutBlock {
  readonly from: number;
  readonly to: number;
  /** s_i [to - from, K], contiguous. */
  readonly scores: Matrix;
  /** v_i, in units of the noise where the form is sparse. */
  readonly variances: Float64Array;
}

/** Points from (inclusive) to (exclusive). */
export interface PointRange {
  readonly from: number;
  readonly to: number;
}

/** Of a walk over the points. */
export interface WalkOptions extends WorkOptions {
  /** Which points, in this order; all of them if not given. */
  readonly ranges?: readonly PointRange[];
}

/** Where left-out scores come from. */
export interface LeaveOneOut {
  readonly points: number;
  readonly labels: number;
  /** mu [1,K] */
  readonly mean: Matrix;
  /** Gives `work` a block at a time, and others a turn in between. */
  forBlocks(stage: string, work: (block: LeftOutBlock) => void, options?: WalkOptions): Promise<void>;
}

/** The ranges cut into blocks of at most `rows`. */
export function blocksOf(points: number, rows: number, ranges?: readonly PointRange[]): PointRange[] {
  return (ranges ?? [{ from: 0, to: points }]).flatMap(({ from, to }) =>
    Array.from({ length: Math.ceil((to - from) / rows) }, (_, i) => ({
      from: from + i * rows,
      to: Math.min(to, from + (i + 1) * rows),
    })),
  );
}

/** Ranges that hold about `wanted` of the points, spread evenly over them in runs; all points where there are fewer. */
export function spreadRanges(points: number, wanted: number, run = 128): PointRange[] {
  const runs = Math.ceil(wanted / run);
  if (points <= wanted || runs * run >= points) return [{ from: 0, to: points }];
  return Array.from({ length: runs }, (_, i) => {
    const from = Math.floor((i * (points - run)) / Math.max(1, runs - 1));
    return { from, to: from + run };
  });
}
