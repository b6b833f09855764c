// New labelled data for a model that is trained: its calibrator and thresholds are fitted again, the scores stay. The new
// calibrator keeps near the one there was, the more so the fewer the points are.

import { ArgumentError } from "../base/errors.ts";
import type { WorkOptions } from "../base/progress.ts";
import { rowsWithLabels } from "../base/sparse.ts";
import { calibrationRows } from "../calibrate/pairs.ts";
import { type CoreOptions, createCore } from "../core/core.ts";
import { checkDataset, type Dataset, labelledPart, mapColumns, selectRows } from "../data/dataset.ts";
import { type Model, withUnseen } from "../model/model.ts";
import { scoring, unseenNames } from "../parts/index.ts";
import type { TrainOptions } from "../parts/options.ts";
import { FEWEST } from "../parts/split.ts";
import { numberedFor } from "../predict/reading.ts";
import { calibrateHeldOut, moverFor, planMover } from "./calibrate.ts";

/** Options of recalibrate(). */
export interface RecalibrateOptions extends CoreOptions, WorkOptions {
  /** Names of labels, fitted to these data too, in place of those that the model has: as the option of `train`. */
  names?: TrainOptions["names"];
  /** Told what was chosen. */
  onNote?: (text: string) => void;
}

/**
 * The model with probabilities and thresholds that fit these data, which should be none of its training's. Points without
 * labels say nothing and are left out, and so are labels that the model does not know.
 *
 * @param given Any trained model.
 * @param dataset Labelled data, read with the model's vocabulary.
 * @param options Threads, progress, and a signal that stops it.
 * @throws {ArgumentError} Too few points with labels.
 */
export async function recalibrate(
  given: Model,
  dataset: Dataset,
  { names, onNote: note = () => {}, ...options }: RecalibrateOptions = {},
): Promise<Model> {
  checkDataset(dataset);
  const model = names === undefined ? given : withUnseen({ ...given, parts: scoring(given.parts) });
  const all = labelledPart(mapColumns(dataset, model.schema.columnIds));
  const found = rowsWithLabels(all.labels).length;
  const least = model.calibrator ? 1 : FEWEST;
  if (found < least)
    throw new ArgumentError("dataset", `found ${found} points with labels, expected at least ${least}`);
  const rows = calibrationRows(all.features.rows);
  const unseenLabels = names && unseenNames(names, model.schema);
  const data = numberedFor({ ...model.schema, unseenLabels }, selectRows(all, rows));
  const { texts } = data.features;
  if (names && !texts) throw new ArgumentError("dataset", "found no texts, expected some to look for names in");
  const { schema } = model;
  const mover =
    names && moverFor({ schema, work: options, note }, await planMover({ schema, names, texts: texts ?? [] }, options));
  const core = await createCore(options);
  try {
    const from = model.calibrator && { from: model.calibrator };
    const { figures, ...calibration } = await calibrateHeldOut(core, model, data, { ...options, ...from }, mover);
    const summary = { ...model.summary, leftOut: figures, recalibratedOn: rows.length };
    return withUnseen({ ...model, ...calibration, summary });
  } finally {
    core.dispose();
  }
}
