// Calibration of the parts of a model: on leave-one-out scores, where the first part has them, or on points that were held out.

import { wasmBackend } from "../backend/wasm.ts";
import type { WorkOptions } from "../base/progress.ts";
import { selectLabels } from "../base/sparse.ts";
import { calibrateBlock } from "../calibrate/block.ts";
import { blocksOf, type CalibratedFit, calibrate, type UnseenScores } from "../calibrate/calibrate.ts";
import type { FitOptions } from "../calibrate/fit.ts";
import { prepareCalibrator } from "../calibrate/forward.ts";
import type { HeldOutBlock } from "../calibrate/pairs.ts";
import type { Core } from "../core/core.ts";
import { scale } from "../core/dense.ts";
import { keeping, type Matrix, matrix, scoped } from "../core/matrix.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Model } from "../model/model.ts";
import { families, familyNames, familyOf, type Part, scoreNames, scoring } from "../parts/index.ts";
import type { Fit, FollowContext, ModelSchema, MovedPoints, MoverContext, MoverFit } from "../parts/part.ts";
import { type LeaveOneOut, type PointRange, pointsIn, rowsIn } from "../parts/regression/leaveoneout.ts";
import { precisionOf, ScoreSource } from "../predict/open.ts";

/** Begins to fit a part that moves logits to these points; undefined where there is none to fit. */
export type BeginMover = (points: MovedPoints) => MoverFit<Part> | undefined;

/** A mover for a training, where a family has one for its data. */
export const moverFor =
  (context: MoverContext): BeginMover =>
  (points) =>
    familyNames.map((name) => families[name].fitMover?.(context, points)).find((fit) => fit);

/** The mover that a model has. */
const moverOfModel =
  ({ schema, parts }: Pick<Model, "schema" | "parts">): BeginMover =>
  (points) => {
    const context: MoverContext = { schema, names: "off", texts: [], note: () => {} };
    return parts.map((part) => familyOf(part).fitMover?.(context, points, part)).find((fit) => fit);
  };

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

/** Parts that follow the first are fitted to its leave-one-out scores, and the calibrator to those of all. */
export async function calibrateByLoo(
  context: FollowContext,
  first: Fit<Part>,
  begin?: BeginMover,
  onLeftOut?: (rows: readonly number[], probabilities: ArrayLike<number>) => void,
): Promise<CalibratedFit & { parts: readonly Part[] }> {
  const { core, schema, work } = context;
  const { loo } = first;
  if (!loo) throw new Error("found a part without leave-one-out scores, expected some");
  const { source, ranges, sets, distinct, order, texts } = loo;
  return await scoped(async (scope) => {
    const fits = [first];
    const scores = [scope.keep(await looScores(core, source, ranges, work))];
    for (const name of familyNames) {
      const fit = await families[name].follow?.(context, loo);
      if (!fit?.loo) continue;
      scope.keep({ free: () => fit.free?.() });
      fits.push(fit);
      scores.push(scope.keep(await looScores(core, fit.loo.source, undefined, work)));
    }
    const parts = fits.map(({ part }) => part);
    const rows = rowsIn(ranges);
    const labels = selectLabels(sets, rows);
    const mover = texts && begin?.({ texts: rows.map((row) => texts[row]), leftOut: true });
    const unseen = { scores: scoreNames(parts), blocks: blocksOf(scores), labels, distinct };
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
  begin: BeginMover = moverOfModel({ schema, parts }),
): Promise<CalibratedFit & { parts: readonly Part[] }> {
  const backend = wasmBackend(core, precisionOf({ parts }));
  const source = new ScoreSource({ core, backend }, schema, parts);
  async function* blocks(): AsyncGenerator<HeldOutBlock> {
    for await (const { firstRow, rows, scores } of source.blocks(features))
      yield { scores, rows: Int32Array.from({ length: rows }, (_, i) => firstRow + i) };
  }
  try {
    const unseen = { scores: source.names, blocks: blocks(), labels, heldOut: true };
    const mover = features.texts && begin({ texts: features.texts, labels, leftOut: false });
    const { moving, ...fit } = await calibrateMoved(core, schema, unseen, mover, options);
    return { ...fit, parts: moving ? [...scoring(parts), moving] : parts };
  } finally {
    source.free();
    backend.dispose();
  }
}
