// Calibration of the parts of a model: on leave-one-out scores, where the first part has them, or on points that were held out.

import { wasmBackend } from "../backend/wasm.ts";
import type { WorkOptions } from "../base/progress.ts";
import { selectLabels } from "../base/sparse.ts";
import { calibrateBlock } from "../calibrate/block.ts";
import { blocksOf, type CalibratedFit, calibrate, calibratedLoss, type UnseenScores } from "../calibrate/calibrate.ts";
import type { FitOptions } from "../calibrate/fit.ts";
import { prepareCalibrator } from "../calibrate/forward.ts";
import type { HeldOutBlock } from "../calibrate/pairs.ts";
import type { Core } from "../core/core.ts";
import { scale } from "../core/dense.ts";
import { keeping, type Matrix, matrix, type Scope, scoped } from "../core/matrix.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Model } from "../model/model.ts";
import { type FamilyName, families, familyNames, type Part, scoreNames, scoring } from "../parts/index.ts";
import type { Fit, FollowContext, ModelSchema, MovedPoints, MoverContext, MoverData, MoverFit } from "../parts/part.ts";
import {
  type LeaveOneOut,
  type LeaveOneOutPoints,
  type PointRange,
  pointsIn,
  rowsIn,
} from "../parts/regression/leaveoneout.ts";
import { precisionOf, ScoreSource } from "../predict/open.ts";

/** Begins to fit a part that moves logits to these points; undefined where there is none to fit. */
export type BeginMover = (points: MovedPoints) => Promise<MoverFit<Part> | undefined>;

/** The plan of a part that moves logits, by its family. */
export type MoverPlan = { readonly [family in FamilyName]?: object };

/** Plans a part that moves logits, where a family has one for the data of a training. */
export async function planMover(data: MoverData, work: WorkOptions): Promise<MoverPlan | undefined> {
  for (const name of familyNames) {
    const plan = await families[name].planMover?.(data, work);
    if (plan) return { [name]: plan };
  }
  return undefined;
}

/** A mover as it was planned. */
export const moverFor =
  (context: MoverContext, plan: MoverPlan = {}): BeginMover =>
  async (points) => {
    for (const [name, planned] of Object.entries(plan)) {
      const fit = await families[name as FamilyName].fitMover?.(context, points, planned);
      if (fit) return fit;
    }
    return undefined;
  };

/** The mover that a model has. */
const moverOfModel = ({ schema, parts }: Pick<Model, "schema" | "parts">, work: WorkOptions): BeginMover =>
  moverFor({ schema, work, note: () => {} }, Object.fromEntries(parts.map((part) => [part.family, part])));

/** Calibrates, and fits what moves the logits to those that this gives. */
async function calibrateMoved(
  core: Core,
  schema: ModelSchema,
  unseen: UnseenScores,
  mover: MoverFit<Part> | undefined,
  options: FitOptions,
): Promise<CalibratedFit & { moving?: Part }> {
  let moving: Part | undefined;
  const move: UnseenScores["move"] = async (pairs) => {
    const fit = await mover?.fit(pairs);
    moving = fit?.part;
    return fit?.moved;
  };
  const fit = await calibrate(core, schema, { ...unseen, wanted: mover?.wanted, move }, options);
  return { ...fit, ...(moving && { moving }) };
}

/** Scores of points that are left out, by all parts; those that follow the first are fitted to its scores. `scope` frees them. */
async function scoresByLoo(
  { core, schema, work }: FollowContext,
  first: Fit<Part>,
  scope: Scope,
): Promise<{ parts: readonly Part[]; scores: readonly Matrix[]; unseen: UnseenScores; loo: LeaveOneOutPoints }> {
  const { loo } = first;
  if (!loo) throw new Error("found a part without leave-one-out scores, expected some");
  const { source, ranges, sets, distinct } = loo;
  const fits = [first];
  const scores = [scope.keep(await looScores(core, source, ranges, work))];
  for (const name of familyNames) {
    const fit = await families[name].follow?.({ core, schema, work }, loo);
    if (!fit?.loo) continue;
    scope.keep({ free: () => fit.free?.() });
    fits.push(fit);
    scores.push(scope.keep(await looScores(core, fit.loo.source, undefined, work)));
  }
  const parts = fits.map(({ part }) => part);
  const labels = selectLabels(sets, rowsIn(ranges));
  return { parts, scores, unseen: { scores: scoreNames(parts), blocks: blocksOf(scores), labels, distinct }, loo };
}

/** The calibrator is fitted to leave-one-out scores of all parts. */
export async function calibrateByLoo(
  context: FollowContext,
  first: Fit<Part>,
  begin?: BeginMover,
  onLeftOut?: (rows: readonly number[], probabilities: ArrayLike<number>) => void,
): Promise<CalibratedFit & { parts: readonly Part[] }> {
  const { core, schema, work } = context;
  return await scoped(async (scope) => {
    const { parts, scores, unseen, loo } = await scoresByLoo(context, first, scope);
    const rows = rowsIn(loo.ranges);
    const { texts, order } = loo;
    const mover = texts && (await begin?.({ texts: rows.map((row) => texts[row]), leftOut: true }));
    const { moving, ...fit } = await calibrateMoved(core, schema, unseen, mover, work);
    if (onLeftOut) {
      const prepared = prepareCalibrator(fit.calibrator, schema);
      const places = rows.map((place) => order?.[place] ?? place);
      for (const { scores: block, rows: own } of blocksOf(scores)) {
        const out = calibrateBlock(prepared, { scores: block }, block[0]);
        onLeftOut(
          Array.from(own, (i) => places[i]),
          out.toArray(),
        );
      }
    }
    return { ...fit, parts: moving ? [...parts, moving] : parts };
  });
}

/** The calibrated log loss of points that are left out. */
export const lossByLoo = async (context: FollowContext, first: Fit<Part>): Promise<number> =>
  await scoped(async (scope) => {
    const { unseen } = await scoresByLoo(context, first, scope);
    return await calibratedLoss(context.core, context.schema, unseen, context.work);
  });

/** Leave-one-out scores [n,K] of the points in the ranges, one after another. */
async function looScores(
  core: Core,
  source: LeaveOneOut,
  ranges: readonly PointRange[] | undefined,
  work: WorkOptions,
): Promise<Matrix> {
  const all = ranges ?? source.ranges;
  return await keeping(async (scope) => {
    const out = scope.keep(matrix(core, pointsIn(all), source.labels, "f32"));
    let row = 0;
    await source.forBlocks(
      "leave-one-out",
      ({ from, to, scores }) => {
        scale(1, scores, out.rowRange(row, row + to - from));
        row += to - from;
      },
      { ...work, ranges: all },
    );
    return out;
  });
}

/** A calibrator for the scores of a model's parts, fitted on points that they have not seen. */
export async function calibrateHeldOut(
  core: Core,
  { schema, parts }: Pick<Model, "schema" | "parts">,
  { features, labels }: Pick<Dataset, "features" | "labels">,
  options: FitOptions,
  begin: BeginMover = moverOfModel({ schema, parts }, options),
): Promise<CalibratedFit & { parts: readonly Part[] }> {
  const backend = wasmBackend(core, precisionOf({ parts }));
  const source = new ScoreSource({ core, backend }, schema, parts);
  async function* blocks(): AsyncGenerator<HeldOutBlock> {
    for await (const { firstRow, rows, scores } of source.blocks(features))
      yield { scores, rows: Int32Array.from({ length: rows }, (_, i) => firstRow + i) };
  }
  try {
    const unseen = { scores: source.names, blocks: blocks(), labels, heldOut: true };
    const mover = features.texts && (await begin({ texts: features.texts, labels, leftOut: false }));
    const { moving, ...fit } = await calibrateMoved(core, schema, unseen, mover, options);
    return { ...fit, parts: moving ? [...scoring(parts), moving] : parts };
  } finally {
    source.free();
    backend.dispose();
  }
}
