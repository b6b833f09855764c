// Training step by step: the model of latent functions, from a data set to its plain numbers.

import { openDevice } from "../backend/devices.ts";
import type { Core } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import type { Dataset } from "../data/dataset.ts";
import type { LatentModel } from "../model/model.ts";
import { type CheckpointIdentity, checkpointFromBytes, dataDigest } from "./checkpoint.ts";
import { trainOnDevices } from "./devices.ts";
import { estimate } from "./estimate.ts";
import type { FullTrainOptions } from "./options.ts";
import { freePrepared, prepare } from "./prepare.ts";
import type { FullRunOptions } from "./run.ts";

export async function trainLatent(
  core: Core,
  data: Dataset,
  dropped: number,
  full: FullTrainOptions,
  run: FullRunOptions,
): Promise<LatentModel> {
  const identity = identityOf(data, full, run);
  const state = run.resume && checkpointFromBytes(run.resume, identity);
  const device = await openDevice(core, run.device, full.precision);
  if (run.device !== "wasm") run.onProgress?.({ stage: "note", text: `training on ${device.about}` });
  const { labels } = data.labels;
  if (full.gradientLabels !== "all" && device.backend.drawColumns)
    run.onProgress?.({ stage: "note", text: drawnNote(full.gradientLabels, labels) });
  const { rows: points, columns: features } = data.features;
  const problem = { points, features, labels, entries: data.features.values.length };
  if (run.onProgress)
    run.onProgress({ stage: "note", text: estimate(core, problem, full, !device.backend.onCore) });
  const preparing = { ...run, largestTensor: device.largestTensor };
  const prepared = await prepare(core, data, dropped, full, preparing).catch((error) => {
    device.dispose();
    throw error;
  });
  try {
    return await trainOnDevices(device, prepared, identity, state, run);
  } finally {
    // A closed form beside it needs the room.
    freePrepared(prepared);
  }
}

const drawnNote = (count: number, labels: number): string =>
  `gradients of about ${count} of ${labels} labels are computed in a step: those of its points, and others drawn by how much they push`;

/** What a checkpoint must agree with: data and options and, where it decides, the validation data. */
function identityOf(
  data: Dataset,
  full: FullTrainOptions,
  { validation }: FullRunOptions,
): CheckpointIdentity {
  if (full.earlyStopping && validation === undefined)
    throw new ArgumentError("earlyStopping", "found no validation data, expected some to measure on");
  const digest = dataDigest(data);
  return {
    options: JSON.stringify(full),
    data: full.earlyStopping && validation ? `${digest} ${dataDigest(validation)}` : digest,
  };
}
