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
  /** Which points, in this order; all that there are if not given. */
  readonly ranges?: readonly PointRange[];
}

/** Where left-out scores come from. */
export interface LeaveOneOut {
  /** The points that have them, rising. */
  readonly ranges: readonly PointRange[];
  readonly labels: number;
  /** mu [1,K] */
  readonly mean: Matrix;
  /** Gives `work` a block at a time, and others a turn in between. */
  forBlocks(stage: string, work: (block: LeftOutBlock) => void, options?: WalkOptions): Promise<void>;
}

/** All of so many points. */
export const allPoints = (points: number): readonly PointRange[] => [{ from: 0, to: points }];

/** The ranges cut into blocks of at most `rows`. */
export function blocksOf(ranges: readonly PointRange[], rows: number): PointRange[] {
  return ranges.flatMap(({ from, to }) =>
    Array.from({ length: Math.ceil((to - from) / rows) }, (_, i) => ({
      from: from + i * rows,
      to: Math.min(to, from + (i + 1) * rows),
    })),
  );
}

/** How many points the ranges hold. */
export const pointsIn = (ranges: readonly PointRange[]): number =>
  ranges.reduce((sum, { from, to }) => sum + to - from, 0);

/** Neighbours that are taken together when not all points are. */
const RUN = 128;

/** At most `wanted` points of the ranges (but at least one run), in runs spread evenly over them. */
export function someOf(ranges: readonly PointRange[], wanted: number): readonly PointRange[] {
  if (pointsIn(ranges) <= wanted) return ranges;
  const runs = blocksOf(ranges, RUN);
  const count = Math.max(1, Math.floor(wanted / RUN));
  return Array.from({ length: count }, (_, i) => runs[Math.floor((i * runs.length) / count)] as PointRange);
}
