// Training in closed form where every point carries the mean: one factorisation for all labels, and everything that is
// chosen or calibrated is so by leaving each point out.

import { placeDocuments } from "../closed/change.ts";
import { chooseExact, type ExactChoice } from "../closed/choose.ts";
import { exactCost } from "../closed/cost.ts";
import type { Documents } from "../closed/documents.ts";
import { type ExactOptions, fitExact } from "../closed/exact.ts";
import { type LeaveOneOut, type PointRange, pointsIn, someOf } from "../closed/leaveoneout.ts";
import { fitStack } from "../closed/stack.ts";
import type { Core } from "../core/core.ts";
import { scale } from "../core/dense.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { permutation } from "../core/random.ts";
import { type Dataset, selectLabels, selectRows } from "../data/dataset.ts";
import { transformedRows, wholeSquares } from "../data/transform.ts";
import type { ClosedModel, ExactPart, ModelFrame, StackPart } from "../model/model.ts";
import type { KernelName } from "../model/names.ts";
import { scoreNames } from "../predict/scores.ts";
import { blocksOf, type CalibratedFit, calibrate } from "./leftOut.ts";

/** Points that the calibrator is fitted on. */
const CALIBRATED = 6000;
/** Labels help each other where there are not too many of them; beyond, the stack was worth nothing (EUR-Lex). */
const [FEWEST_STACKED, MOST_STACKED] = [3, 2000];
const STACK_NOISE = 30;
/** Up to so many points the smaller noise is better. */
const FEW_POINTS = 10_000;
/** Points in a random order: those with left-out scores may be the last ones, and are a fair sample. */
export const ORDER_STREAM = 77;

/** Length scale and noise: wide, or narrow with less noise; left-out figures are flat in between. */
export const choicesFor = (name: KernelName, points: number): ExactChoice[] => [
  { noise: points > FEW_POINTS ? 0.4 : 0.2, kernel: { name, lengthScale: 1 } },
  { noise: 0.1, kernel: { name, lengthScale: 0.7 } },
];

/** What the exact form may cost: operations (some two minutes on two cores), and bytes of a core's four gigabytes. */
const MOST_OPERATIONS = 6e12;
const MOST_BYTES = 3.2e9;

/** Whether there are few enough points for each of them to carry the mean. */
export function canBeExact(points: number, labels: number): boolean {
  const { operations, bytes } = exactCost({ points, labels }, "f32", { leftOut: CALIBRATED });
  return operations <= MOST_OPERATIONS && bytes <= MOST_BYTES;
}

/** The most points that can be exact. */
export function mostExact(labels: number): number {
  let [most, beyond] = [0, 2 ** 20];
  while (beyond - most > 1) {
    const middle = (most + beyond) >> 1;
    if (canBeExact(middle, labels)) most = middle;
    else beyond = middle;
  }
  return most;
}

export type ClosedFit = Pick<ClosedModel, "closed" | "labelMean" | "stack"> & CalibratedFit;

/** What was fitted, and the order that the points were put in for it. */
export interface TrainedExact extends ClosedFit {
  readonly order: ArrayLike<number>;
}

/** How it runs, and what computes, if not the core. */
export type ExactWork = Pick<ExactOptions, "device" | keyof WorkOptions>;

export async function trainExact(
  core: Core,
  given: Dataset,
  frame: ModelFrame,
  choices: readonly ExactChoice[],
  seed: number,
  work: ExactWork,
  note: (text: string) => void,
): Promise<TrainedExact> {
  const order = permutation(core, given.features.rows, { seed, stream: ORDER_STREAM });
  const data = selectRows(given, order);
  const rows = transformedRows(data.features, frame.transform, 0, data.features.rows);
  const documents = { features: rows, labels: data.labels, squares: wholeSquares(rows, frame.transform) };
  const choice =
    choices.length === 1
      ? (choices[0] as ExactChoice)
      : await bestOf(choices, core, documents, frame.labels, work, note);
  return { order, ...(await fitChosen(core, documents, frame, choice, work)) };
}

/** The best of several, by leaving points out. */
async function bestOf(
  choices: readonly ExactChoice[],
  core: Core,
  documents: Omit<Documents, "ids">,
  labels: number,
  work: ExactWork,
  note: (text: string) => void,
): Promise<ExactChoice> {
  const placed = placeDocuments(core, documents, labels, "f32");
  try {
    const { choice } = await chooseExact(placed.points, placed.labels, { ...work, choices });
    note(`length scale ${choice.kernel.lengthScale}, noise ${choice.noise}: chosen by leaving points out`);
    return choice;
  } finally {
    placed.free();
  }
}

/** Posterior, stack and calibrator of points for one choice; the last points are those that are left out. */
export async function fitChosen(
  core: Core,
  documents: Omit<Documents, "ids">,
  frame: ModelFrame,
  choice: ExactChoice,
  work: ExactWork,
): Promise<ClosedFit> {
  const { noise } = choice;
  const { name: kernel, lengthScale = 1 } = choice.kernel;
  const scope = new Scope();
  try {
    const squares = documents.squares ?? wholeSquares(documents.features, frame.transform);
    const { points, labels } = scope.keep(
      placeDocuments(core, { ...documents, squares }, frame.labels, "f32"),
    );
    const { weights } = documents;
    const of = { ...work, ...choice, weights, leftOut: CALIBRATED, variances: false };
    const form = scope.keep(await fitExact(points, labels, of));
    const ranges = someOf(form.ranges, CALIBRATED);
    const first = scope.keep(await leftOutScores(core, form, ranges, work));
    const stacked = frame.labels >= FEWEST_STACKED && frame.labels <= MOST_STACKED;
    const stack = stacked
      ? scope.keep(await fitStack(form, labels, { ...work, ranges, choices: [{ noise: STACK_NOISE }] }))
      : undefined;
    const second = stack && scope.keep(await leftOutScores(core, stack.leftOut, undefined, work));
    const stackPart: StackPart | undefined = stack && {
      rank: stack.vectors.columns,
      vectors: stack.vectors.toArray() as Float32Array,
      weights: stack.solution.weights.toArray() as Float32Array,
    };
    const closed: ExactPart = {
      form: "exact",
      kernel,
      hyper: [1, 1, lengthScale],
      noise,
      rows: documents.features,
      dual: form.dual.toArray() as Float32Array,
    };
    const unseen = {
      scores: scoreNames({ closed, stack }),
      blocks: blocksOf(second ? [first, second] : [first]),
      labels: selectLabels(documents.labels, rowsIn(ranges)),
    };
    const calibrated = await calibrate(core, frame, unseen, work);
    const labelMean = form.mean.toArray() as Float32Array;
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
