// Training in closed form where every point carries the mean: one factorisation for all labels, and everything that is
// chosen or calibrated is so by leaving each point out.

import { judge, precisionCriterion } from "../closed/criterion.ts";
import { fitExact } from "../closed/exact.ts";
import { type LeaveOneOut, type PointRange, pointsIn, someOf } from "../closed/leaveoneout.ts";
import { Points } from "../closed/points.ts";
import { fitStack } from "../closed/stack.ts";
import type { Core } from "../core/core.ts";
import { csr } from "../core/csr.ts";
import { scale } from "../core/dense.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import { Pattern } from "../core/pattern.ts";
import type { WorkOptions } from "../core/progress.ts";
import { type Dataset, selectLabels, selectRows } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import type { ClosedModel, ExactPart, ModelFrame, StackPart } from "../model/model.ts";
import type { KernelName } from "../model/names.ts";
import { scoreNames } from "../predict/scores.ts";
import { type CalibratedFit, calibrate } from "./leftOut.ts";

/** Points that the calibrator is fitted on, and points on which a length scale is chosen. */
const CALIBRATED = 6000;
const CHOSEN_ON = 4000;
/** Labels help each other where there are not too many of them; beyond, the stack was worth nothing (EUR-Lex). */
const [FEWEST_STACKED, MOST_STACKED] = [3, 2000];
const STACK_NOISE = 30;
/** Up to so many points the smaller noise is better. */
const FEW_POINTS = 10_000;

interface Setting {
  lengthScale: number;
  noise: number;
}

/** Length scale and noise: wide, or narrow with less noise; left-out figures are flat in between. */
const settings = (points: number): Setting[] => [
  { lengthScale: 1, noise: points > FEW_POINTS ? 0.4 : 0.2 },
  { lengthScale: 0.7, noise: 0.1 },
];

export type ClosedFit = Pick<ClosedModel, "closed" | "labelMean" | "stack"> & CalibratedFit;

export async function trainExact(
  core: Core,
  data: Dataset,
  frame: ModelFrame,
  kernel: KernelName,
  work: WorkOptions,
  note: (text: string) => void,
): Promise<ClosedFit> {
  const rows = transformedRows(data.features, frame.transform, 0, data.features.rows);
  const { lengthScale, noise } = await chooseSetting(core, { ...data, features: rows }, kernel, work, note);
  const scope = new Scope();
  try {
    const points = scope.keep(new Points(scope.keep(csr(core, rows, "f32"))));
    const labels = scope.keep(new Pattern(core, frame.labels, data.labels));
    const form = scope.keep(
      await fitExact(points, labels, { noise, kernel: { name: kernel, lengthScale }, ...work }),
    );
    form.dropInverse();
    const ranges = someOf([{ from: 0, to: points.rows }], CALIBRATED);
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
      rows,
      dual: form.dual.toArray() as Float32Array,
    };
    const unseen = {
      names: scoreNames({ closed, stack }),
      scores: second ? [first, second] : [first],
      labels: selectLabels(data.labels, rowsIn(ranges)),
      leftOut: true,
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
  const all = ranges ?? [{ from: 0, to: source.points }];
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

/** The setting with the best left-out precision on some of the points. */
async function chooseSetting(
  core: Core,
  data: Dataset,
  kernel: KernelName,
  work: WorkOptions,
  note: (text: string) => void,
): Promise<Setting> {
  const points = data.features.rows;
  const candidates = settings(points);
  const chosen = rowsIn(someOf([{ from: 0, to: points }], CHOSEN_ON));
  const some = selectRows(data, chosen);
  let best: { setting: Setting; figure: number } | undefined;
  for (const setting of candidates) {
    const scope = new Scope();
    try {
      const x = scope.keep(new Points(scope.keep(csr(core, some.features, "f32"))));
      const labels = scope.keep(new Pattern(core, data.labels.labels, some.labels));
      const { noise, lengthScale } = setting;
      const form = scope.keep(
        await fitExact(x, labels, { noise, kernel: { name: kernel, lengthScale }, ...work }),
      );
      const figure = await judge(form, labels, precisionCriterion(), work);
      if (best === undefined || figure > best.figure) best = { setting, figure };
    } finally {
      scope.free();
    }
  }
  const { setting } = best as { setting: Setting };
  note(
    `length scale ${setting.lengthScale}, noise ${setting.noise}: best on ${chosen.length} points, each left out`,
  );
  return setting;
}
