// Models as the commands use them: opened by their path, on a device.

import { type OpenCompact, openCompact } from "../compact/open.ts";
import { type CoreOptions, createCore } from "../core/core.ts";
import { COMPACT_FORMAT } from "../edge/format.ts";
import { FormatError } from "../io/errors.ts";
import { readSafetensorsFile, readWhole } from "../io/files.ts";
import { modelFromTensors } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import type { Predictor } from "../model/predictor.ts";
import { ModelHost } from "../predict/host.ts";
import { type DeviceName, given, UsageError } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

/** A model as a command takes it, full or compact. */
export type AnyModel = TrainedModel | OpenCompact;

export const isCompact = (model: object): model is OpenCompact => "predictor" in model;

/** Opens a full or a compact model. */
export async function openAnyModel(path: string, beside?: string): Promise<AnyModel> {
  const compact = await readSafetensorsFile(path).then(
    ({ metadata }) => metadata.format === COMPACT_FORMAT,
    () => false,
  );
  return compact ? await openCompact(await readWhole(path), path) : await openModel(path, beside);
}

/** Runs `work` with a full model on the device that was asked for, with a compact one where it is. */
export async function withAnyHost<T>(
  model: AnyModel,
  choice: DeviceName,
  threads: CoreOptions["threads"],
  screen: Terminal | undefined,
  work: (host: Pick<ModelHost, "use">) => Promise<T>,
): Promise<T> {
  if (!isCompact(model)) return await withHost(model, choice, threads, screen, work);
  if (choice === "webgpu") throw new UsageError("--device: found webgpu for a compact model, expected wasm");
  try {
    return await work({ use: (ask) => ask(model.predictor) });
  } finally {
    model.predictor.free();
  }
}

/** Opens a model. `beside` is the other file that the command was given: people change the two round. */
export async function openModel(path: string, beside?: string): Promise<TrainedModel> {
  try {
    return modelFromTensors(await readSafetensorsFile(path), path);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    if (beside !== undefined && (await isModel(beside)))
      throw new UsageError(`found the data ${path} before the model ${beside}, expected the model first`);
    throw error;
  }
}

/** Whether a file is one that mlgpf made: a model, a compact model or a checkpoint. */
export async function isModel(path: string): Promise<boolean> {
  if (path === "-") return false;
  return await readSafetensorsFile(path).then(
    ({ metadata }) => metadata.format?.startsWith("mlgpf") ?? false,
    () => false,
  );
}

/** Runs `work` with the model on WASM. */
export async function withPredictor<T>(
  model: TrainedModel,
  threads: CoreOptions["threads"],
  work: (predictor: Predictor) => Promise<T>,
): Promise<T> {
  return await withHost(model, "wasm", threads, undefined, (host) => host.use(work));
}

/** Runs `work` with the model on the device that was asked for, and says which it is where that is open. */
export async function withHost<T>(
  model: TrainedModel,
  choice: DeviceName,
  threads: CoreOptions["threads"],
  screen: Terminal | undefined,
  work: (host: ModelHost) => Promise<T>,
): Promise<T> {
  const core = await createCore(given({ threads }));
  try {
    const host = await ModelHost.open(core, model, choice);
    if (choice !== "wasm") screen?.say(`predicting on ${host.about}`);
    try {
      return await work(host);
    } finally {
      host.dispose();
    }
  } finally {
    core.dispose();
  }
}
