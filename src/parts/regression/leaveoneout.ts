// Scores of the training points when each of them is left out: what noise, weights, the stack and the calibrator are
// chosen and fitted on, without validation data. The forms give them in blocks, since all of them may not fit.

import { type WorkOptions, yieldToHost } from "../../base/progress.ts";
import { type LabelSets, selectLabels } from "../../base/sparse.ts";
import { topK } from "../../core/dense.ts";
import { type Matrix, sumOf } from "../../core/matrix.ts";
import { Pattern } from "../../core/pattern.ts";

/** Points from (inclusive) to (exclusive). */
export interface PointRange {
  readonly from: number;
  readonly to: number;
}

/** Points; `scores` is used again for the next block. */
export interface LeftOutBlock extends PointRange {
  /** s_i [to - from, K], contiguous. */
  readonly scores: Matrix;
  /** v_i, in units of the noise where the form is sparse. */
  readonly variances: Float64Array;
}

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

/** Points with leave-one-out scores, and the labels they have. */
export interface LeaveOneOutPoints {
  readonly source: LeaveOneOut;
  readonly ranges: readonly PointRange[];
  readonly labels: Pattern;
  readonly sets: LabelSets;
  /** The row of the data that each point is, where they are in another order. */
  readonly order?: ArrayLike<number>;
  /** How many different points there are, where some are equal. */
  readonly distinct?: number | undefined;
  readonly texts?: readonly string[] | undefined;
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

/** Gives `work` the blocks of the ranges, and others a turn in between. */
export async function forEachBlock(
  ranges: readonly PointRange[],
  rows: number,
  stage: string,
  options: WorkOptions,
  work: (block: PointRange) => void | Promise<void>,
): Promise<void> {
  const blocks = blocksOf(ranges, rows);
  for (const [number, block] of blocks.entries()) {
    await yieldToHost(options, stage, number / blocks.length);
    await work(block);
  }
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
  return Array.from({ length: count }, (_, i) => runs[Math.floor((i * runs.length) / count)]);
}

/** P@1 + P@3 + P@5 of left-out scores in percent, over points that have a label. */
export async function precisionOf(source: LeaveOneOut, labels: Pattern, options: WalkOptions = {}): Promise<number> {
  const depths = [1, 3, 5];
  const width = Math.min(5, source.labels);
  const hitsAt = new Float64Array(5);
  let points = 0;
  const [starts, ids] = [labels.start.view(), labels.column.view()];
  const count = ({ from, to, scores }: LeftOutBlock): void => {
    const { indices } = topK(scores, width);
    for (let i = from; i < to; i++) {
      const own = ids.subarray(starts[i], starts[i + 1]);
      if (own.length === 0) continue;
      points++;
      for (let j = 0; j < width; j++) if (own.includes(indices[(i - from) * width + j])) hitsAt[j] += 1;
    }
  };
  await source.forBlocks("leave-one-out", count, options);
  return sumOf(depths.map((depth) => (100 * sumOf(hitsAt.subarray(0, depth))) / (depth * Math.max(1, points))));
}

/** Sum of squares of what left-out scores are off by, a point. */
export async function squaredErrorOf(source: LeaveOneOut, labels: Pattern, options: WalkOptions = {}): Promise<number> {
  let [sum, points] = [0, 0];
  const [starts, ids] = [labels.start.view(), labels.column.view()];
  const add = ({ from, to, scores }: LeftOutBlock): void => {
    const elements = scores.view();
    for (let i = from; i < to; i++)
      for (let e = starts[i]; e < starts[i + 1]; e++) elements[(i - from) * scores.columns + ids[e]] -= 1;
    for (const element of elements) sum += element * element;
    points += to - from;
  };
  await source.forBlocks("leave-one-out", add, options);
  return sum / Math.max(1, points);
}

/** The best result of places whose figures rise and then fall: from `start` uphill, looking no farther than needed. */
export async function climb<Result>(
  count: number,
  start: number,
  look: (place: number) => Promise<Result>,
  figure: (result: Result) => number,
): Promise<Result> {
  const seen: Result[] = [];
  const at = async (place: number): Promise<number> => {
    if (place < 0 || place >= count) return Number.NEGATIVE_INFINITY;
    seen[place] ??= await look(place);
    return figure(seen[place]);
  };
  let best = start;
  await at(best);
  for (const step of [1, -1]) {
    while ((await at(best + step)) > (await at(best))) best += step;
    if (best !== start) break;
  }
  return seen[best];
}

/** Adds 1 to the score of every label that a point of the block has. */
export function addLabels(scores: Matrix, labels: Pattern, from: number): void {
  const starts = labels.start.view();
  const ids = labels.column.view();
  const elements = scores.view();
  for (let i = 0; i < scores.rows; i++)
    for (let e = starts[from + i]; e < starts[from + i + 1]; e++) elements[i * scores.columns + ids[e]] += 1;
}

/** The points in the ranges, one after another. */
export const rowsIn = (ranges: readonly PointRange[]): number[] =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));

/** The labels of the points in the ranges, one after another. */
export function labelsIn({ rows, columns, start, column }: Pattern, ranges: readonly PointRange[]): Pattern {
  const all = { rows, labels: columns, rowStart: start.view(), labelIndex: column.view() };
  return new Pattern(start.core, columns, selectLabels(all, rowsIn(ranges)));
}
