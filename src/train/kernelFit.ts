// What follows the posterior of a kernel, exact or through inducing points: labels that help each other, and probabilities,
// both fitted to scores of points that are left out.

import type { ExactChoice } from "../closed/choose.ts";
import { type LeaveOneOut, type PointRange, pointsIn } from "../closed/leaveoneout.ts";
import { fitStack } from "../closed/stack.ts";
import type { Core } from "../core/core.ts";
import { scale } from "../core/dense.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import type { WorkOptions } from "../core/progress.ts";
import { type LabelSets, type SparseRows, selectLabels } from "../data/dataset.ts";
import type { ClosedModel, KernelPart, ModelFrame, StackPart } from "../model/model.ts";
import { scoreNames } from "../predict/scores.ts";
import { blocksOf, type CalibratedFit, calibrate } from "./leftOut.ts";

/** Points that the calibrator is fitted on. */
export const CALIBRATED = 6000;
/** Labels help each other where there are not too many of them; beyond, the stack was worth nothing (EUR-Lex). */
const [FEWEST_STACKED, MOST_STACKED] = [3, 2000];
const STACK_NOISE = 30;

export type ClosedFit = Pick<ClosedModel, "closed" | "labelMean" | "stack"> & CalibratedFit;

/** A posterior as the part of a model: the points that carry the mean, and their weights. */
export const kernelPart = (
  form: KernelPart["form"],
  { kernel, noise }: ExactChoice,
  rows: SparseRows,
  dual: Matrix,
): KernelPart => ({
  form,
  kernel: kernel.name,
  hyper: [1, 1, kernel.lengthScale ?? 1],
  noise,
  rows,
  dual: dual.toArray() as Float32Array,
});

/** Points that are left out, and what labels they have. */
export interface LeftOutPoints {
  readonly leftOut: LeaveOneOut;
  readonly ranges: readonly PointRange[];
  readonly labels: Pattern;
  readonly sets: LabelSets;
}

/** Stack and calibrator of a posterior. */
export async function finishedFit(
  core: Core,
  closed: KernelPart,
  frame: ModelFrame,
  { leftOut, ranges, labels, sets }: LeftOutPoints,
  work: WorkOptions,
): Promise<ClosedFit> {
  const scope = new Scope();
  try {
    const first = scope.keep(await leftOutScores(core, leftOut, ranges, work));
    const stacked = frame.labels >= FEWEST_STACKED && frame.labels <= MOST_STACKED;
    const stack = stacked
      ? scope.keep(await fitStack(leftOut, labels, { ...work, ranges, choices: [{ noise: STACK_NOISE }] }))
      : undefined;
    const second = stack && scope.keep(await leftOutScores(core, stack.leftOut, undefined, work));
    const stackPart: StackPart | undefined = stack && {
      rank: stack.vectors.columns,
      vectors: stack.vectors.toArray() as Float32Array,
      weights: stack.solution.weights.toArray() as Float32Array,
    };
    const unseen = {
      scores: scoreNames({ closed, stack }),
      blocks: blocksOf(second ? [first, second] : [first]),
      labels: selectLabels(sets, rowsIn(ranges)),
    };
    const calibrated = await calibrate(core, frame, unseen, work);
    const labelMean = leftOut.mean.toArray() as Float32Array;
    return { closed, labelMean, ...(stackPart ? { stack: stackPart } : {}), ...calibrated };
  } finally {
    scope.free();
  }
}

const rowsIn = (ranges: readonly PointRange[]): number[] =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));

/** Left-out scores [n,K] of the points in the ranges, one after another. */
async function leftOutScores(
  core: Core,
  source: LeaveOneOut,
  ranges: readonly PointRange[] | undefined,
  work: WorkOptions,
): Promise<Matrix> {
  const all = ranges ?? source.ranges;
  const out = matrix(core, pointsIn(all), source.labels, "f32");
  let row = 0;
  try {
    await source.forBlocks(
      "left-out scores",
      ({ from, to, scores }) => {
        scale(1, scores, out.rowRange(row, row + to - from));
        row += to - from;
      },
      { ...work, ranges: all },
    );
    return out;
  } catch (error) {
    out.free();
    throw error;
  }
}
