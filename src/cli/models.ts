// Models as the commands use them: opened by their path, on a device; and files that must not be lost.

import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { FileError, FormatError } from "../base/errors.ts";
import { type OpenCompact, openCompact } from "../compact/open.ts";
import type { CoreOptions } from "../core/core.ts";
import { COMPACT_FORMAT } from "../edge/format.ts";
import { type Content, readSafetensorsFile, readWhole, writeAtomically } from "../io/files.ts";
import { modelFromTensors } from "../model/file.ts";
import type { Model } from "../model/model.ts";
import type { Predictor } from "../parts/predictor.ts";
import { ModelHost } from "../predict/host.ts";
import { type DeviceName, UsageError } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

export type AnyModel = Model | OpenCompact;

export const isCompact = (model: object): model is OpenCompact => "predictor" in model;

/** The format that a file names; undefined where it is none of ours. */
async function formatOf(path: string): Promise<string | undefined> {
  if (path === "-") return undefined;
  return (await readSafetensorsFile(path).catch(() => undefined))?.metadata.format;
}

/** True of files that mlgpf made: a model, a compact model, a checkpoint. */
export const isModel = async (path: string): Promise<boolean> => (await formatOf(path))?.startsWith("mlgpf") ?? false;

export async function openAnyModel(path: string, beside?: string): Promise<AnyModel> {
  if ((await formatOf(path)) !== COMPACT_FORMAT) return await openModel(path, beside);
  return await openCompact(await readWhole(path), path);
}

/** Opens a model. `beside` is the other file that the command was given: people change the two round. */
export async function openModel(path: string, beside?: string): Promise<Model> {
  try {
    return modelFromTensors(await readSafetensorsFile(path), path);
  } catch (error) {
    if (!(error instanceof FormatError) || beside === undefined || !(await isModel(beside))) throw error;
    throw new UsageError(`found the data ${path} before the model ${beside}, expected the model first`);
  }
}

/** Runs `work` with a full model on the device that was asked for, with a compact one where it is. */
export async function withHost<T>(
  model: AnyModel,
  { device = "wasm", threads, screen }: { device?: DeviceName; threads?: CoreOptions["threads"]; screen?: Terminal },
  work: (host: Pick<ModelHost, "use">) => Promise<T>,
): Promise<T> {
  if (isCompact(model)) {
    if (device === "webgpu") throw new UsageError("--device: found webgpu for a compact model, expected wasm");
    try {
      return await work({ use: (ask) => ask(model.predictor) });
    } finally {
      model.predictor.free();
    }
  }
  const host = await ModelHost.start(model, { device, threads });
  if (device !== "wasm") screen?.say(`Predicting on ${host.about}`);
  try {
    return await work(host);
  } finally {
    host.dispose();
  }
}

export const withPredictor = <T>(
  model: AnyModel,
  threads: CoreOptions["threads"],
  work: (predictor: Predictor) => Promise<T>,
): Promise<T> => withHost(model, { threads }, (host) => host.use(work));

/** The path itself where nothing has it, or else with a number after it: `model.checkpoint.1`. */
export function freeName(path: string): string {
  if (!existsSync(path)) return path;
  for (let number = 1; ; number++) if (!existsSync(`${path}.${number}`)) return `${path}.${number}`;
}

/** Where something was written, and why it is not where it was asked for. */
export interface Written {
  path: string;
  problem?: FileError;
}

/** Writes to the path or, if that fails, to the current, the home or the temporary folder. */
export async function writeSomewhere(path: string, content: Content): Promise<Written> {
  try {
    await writeAtomically(path, content);
    return { path };
  } catch (problem) {
    if (!(problem instanceof FileError)) throw problem;
    for (const folder of [process.cwd(), homedir(), tmpdir()]) {
      const other = freeName(join(folder, basename(path)));
      const failed = await writeAtomically(other, content).catch(() => true);
      if (!failed) return { path: other, problem };
    }
    throw problem;
  }
}

/** A model that had to go elsewhere is an error that says where it is. */
export function inItsPlace({ path, problem }: Written): void {
  if (problem) throw new Error(`${problem.message}; the model is in ${path}`);
}

export const writeText = (path: string, content: string): Promise<void> =>
  writeAtomically(path, new TextEncoder().encode(content));

export const bytesOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, { length }) => sum + length, 0);
