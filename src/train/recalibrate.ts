// New labelled data for a model that is trained: its calibrator and thresholds are fitted again, the scores stay. The new
// calibrator keeps near the one there was, the more so the fewer the points are.

import { calibrationRows } from "../calibrate/pairs.ts";
import { type CoreOptions, createCore } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import type { WorkOptions } from "../core/progress.ts";
import { checkDataset } from "../data/check.ts";
import { mapColumns } from "../data/columns.ts";
import { type Dataset, rowsWithLabels, selectRows } from "../data/dataset.ts";
import { frameOf, isClosed, type TrainedModel } from "../model/model.ts";
import { calibrateHeldOut, FEWEST } from "./heldOut.ts";

/** Options of recalibrate(). */
export interface RecalibrateOptions extends CoreOptions, WorkOptions {}

/**
 * The model with probabilities and thresholds that fit these data, which should be none of its training's. Points without
 * labels say nothing and are left out, and so are labels that the model does not know.
 *
 * @param model Any trained model.
 * @param dataset Labelled data, read with the model's vocabulary.
 * @param options Threads, progress, and a signal that stops it.
 * @throws {ArgumentError} Too few points with labels.
 */
export async function recalibrate(
  model: TrainedModel,
  dataset: Dataset,
  options: RecalibrateOptions = {},
): Promise<TrainedModel> {
  checkDataset(dataset);
  const given = mapColumns(dataset, model.columnIds);
  const labelled = rowsWithLabels(given.labels);
  const least = model.calibrator ? 1 : FEWEST;
  if (labelled.length < least)
    throw new ArgumentError(
      "dataset",
      `found ${labelled.length} points with labels, expected at least ${least}`,
    );
  const rows = calibrationRows(labelled.length).map((place) => labelled[place] as number);
  const data = selectRows(given, rows);
  const parts = isClosed(model) ? { closed: model, latent: model.latent } : { latent: model };
  const core = await createCore(options);
  try {
    const { figures, ...honest } = await calibrateHeldOut(core, { frame: frameOf(model), ...parts }, data, {
      ...options,
      ...(model.calibrator && { from: model.calibrator }),
    });
    const about = { leftOut: figures, recalibratedOn: rows.length };
    return isClosed(model)
      ? { ...model, ...honest, summary: { ...model.summary, ...about } }
      : { ...model, ...honest, summary: { ...model.summary, ...about } };
  } finally {
    core.dispose();
  }
}
