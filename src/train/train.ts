// Training in one call: from a data set and options to a model.

import { openDevice } from "../backend/devices.ts";
import { createCore } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import { checkDataset } from "../data/check.ts";
import { type Dataset, rowsWithLabels, selectRows } from "../data/dataset.ts";
import type { TrainedModel } from "../model/model.ts";
import { type CheckpointIdentity, checkpointFromBytes, dataDigest } from "./checkpoint.ts";
import { trainOnDevices } from "./devices.ts";
import { estimate } from "./estimate.ts";
import { completeOptions, type FullTrainOptions, type TrainOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { completeRunOptions, type RunOptions } from "./run.ts";

export type { RunOptions } from "./run.ts";

/** Trains a model. Points without labels say nothing and are left out. */
export async function train(
  dataset: Dataset,
  options: TrainOptions & RunOptions = {},
): Promise<TrainedModel> {
  const run = completeRunOptions(options);
  checkDataset(dataset);
  const labelled = rowsWithLabels(dataset.labels);
  if (labelled.length === 0)
    throw new ArgumentError("dataset", "found no point with a label, expected at least one");
  const data = labelled.length === dataset.features.rows ? dataset : selectRows(dataset, labelled);
  const sizes = {
    points: data.features.rows,
    features: data.features.columns,
    labels: data.labels.labels,
  };
  const full = completeOptions(options, sizes);
  const identity = identityOf(data, full, options);
  const state = options.resume && checkpointFromBytes(options.resume, identity);
  const core = await createCore({ threads: run.threads, relaxed: run.relaxed });
  try {
    const note = (text: string): void => options.onProgress?.({ stage: "note", text });
    note(`${core.threadsReason}${core.relaxed ? ", relaxed SIMD" : ""}`);
    const device = await openDevice(core, run.device, full.precision);
    if (run.device !== "wasm") note(`training on ${device.about}`);
    const problem = { ...sizes, entries: data.features.values.length };
    if (options.onProgress) note(estimate(core, problem, full, !device.backend.onCore));
    const dropped = dataset.features.rows - labelled.length;
    const preparing = { ...run, largestTensor: device.largestTensor };
    const prepared = await prepare(core, data, dropped, full, preparing).catch((error) => {
      device.dispose();
      throw error;
    });
    return await trainOnDevices(device, prepared, identity, state, run);
  } finally {
    core.dispose();
  }
}

/** What a checkpoint must agree with: data and options and, where it decides, the validation data. */
function identityOf(data: Dataset, full: FullTrainOptions, { validation }: RunOptions): CheckpointIdentity {
  if (full.earlyStopping && validation === undefined)
    throw new ArgumentError("earlyStopping", "found no validation data, expected some to measure on");
  const digest = dataDigest(data);
  return {
    options: JSON.stringify(full),
    data: full.earlyStopping && validation ? `${digest} ${dataDigest(validation)}` : digest,
  };
}
