// The state of a training as one safetensors file: enough to go on to the same bytes as if nothing had happened.

import type { Dataset } from "../data/dataset.ts";
import { areFinite } from "../data/finite.ts";
import { checksumOf } from "../io/checksum.ts";
import { FormatError, shownJson } from "../io/errors.ts";
import { readSafetensors, safetensorsChunks, type Tensor } from "../io/safetensors.ts";

export const CHECKPOINT_FORMAT = "mlgpf-checkpoint";
const VERSION = "2";
/** What errors call it where nobody knows its path. */
export const CHECKPOINT = "the checkpoint";

export interface SavedTensor {
  rows: number;
  columns: number;
  values: Float32Array | Float64Array;
}

export interface TrainingState {
  step: number;
  /** Every tensor of the trainer by name. */
  tensors: Map<string, SavedTensor>;
  /** What else decides how it goes on. */
  extra: Record<string, unknown>;
  /** Where it was read from, for errors. */
  file?: string;
}

/** A number that changes when the data do (FNV-1a over the arrays' words). */
export function dataDigest({ features, labels }: Dataset): string {
  let hash = 0x811c9dc5;
  const arrays = [
    Int32Array.of(features.columns, labels.labels),
    features.rowStart,
    features.columnIndex,
    features.values,
    labels.rowStart,
    labels.labelIndex,
  ];
  for (const array of arrays) {
    const words = new Uint32Array(array.buffer, array.byteOffset, array.length);
    for (let i = 0; i < words.length; i++) hash = Math.imul(hash ^ (words[i] as number), 0x01000193);
    hash = Math.imul(hash ^ words.length, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

export interface CheckpointIdentity {
  /** The options in force, as JSON. */
  options: string;
  data: string;
}

/** The pieces of a checkpoint's file, one after another. */
export function checkpointChunks(state: TrainingState, identity: CheckpointIdentity): Uint8Array[] {
  const tensors = new Map<string, Tensor>();
  for (const [name, { rows, columns, values }] of state.tensors) {
    const shape = [rows, columns];
    tensors.set(
      name,
      values instanceof Float32Array
        ? { dtype: "F32", shape, data: values }
        : { dtype: "F64", shape, data: values },
    );
  }
  const content = { step: String(state.step), extra: JSON.stringify(state.extra), ...identity };
  const checksum = contentChecksum(content, tensors);
  const metadata = { format: CHECKPOINT_FORMAT, version: VERSION, ...content, checksum };
  return safetensorsChunks({ tensors, metadata });
}

const CONTENT = ["step", "extra", "options", "data"] as const;

/** Of everything that a checkpoint says. */
export function contentChecksum(
  metadata: Readonly<Record<string, string>>,
  tensors: ReadonlyMap<string, Tensor>,
): string {
  const names = [...tensors.keys()].sort();
  return checksumOf([
    ...CONTENT.map((name) => metadata[name] ?? ""),
    ...names.flatMap((name) => {
      const { dtype, shape, data } = tensors.get(name) as Tensor;
      return [`${name} ${dtype} ${shape}`, data];
    }),
  ]);
}

/** The state back; refused where it belongs to other data or other options. */
export function checkpointFromBytes(
  bytes: Uint8Array,
  identity: CheckpointIdentity,
  file: string = CHECKPOINT,
): TrainingState {
  const { tensors, metadata } = readSafetensors(bytes, file);
  if (metadata.format !== CHECKPOINT_FORMAT || metadata.version !== VERSION) {
    throw new FormatError(
      file,
      `format ${shownJson(metadata.format)}`,
      "a checkpoint made by this version of mlgpf",
    );
  }
  if (metadata.checksum !== contentChecksum(metadata, tensors))
    throw new FormatError(
      file,
      "bytes that do not have the checksum it states",
      "a checkpoint as it was written",
    );
  if (metadata.data !== identity.data)
    throw new FormatError(file, "a checkpoint of other data", "one of the data given");
  if (metadata.options !== identity.options) {
    const [found, wanted] = differing(metadata.options ?? "{}", identity.options);
    throw new FormatError(file, `one made with ${found}`, `${wanted} (or the options it was made with)`);
  }
  const step = stepOf(metadata.step, file);
  const state: TrainingState = { step, tensors: new Map(), extra: extraOf(metadata.extra, file), file };
  for (const [name, { dtype, shape, data }] of tensors) {
    if ((dtype !== "F32" && dtype !== "F64") || shape.length !== 2)
      throw new FormatError(file, `tensor ${name} of type ${dtype}`, "F32 or F64 matrices");
    if (!areFinite(data as Float32Array | Float64Array))
      throw new FormatError(file, `a number in ${name} that is not finite`, "finite numbers");
    state.tensors.set(name, {
      rows: shape[0] as number,
      columns: shape[1] as number,
      values: data as Float32Array | Float64Array,
    });
  }
  return state;
}

function stepOf(text: string | undefined, file: string): number {
  const step = Number(text);
  if (/^\d+$/.test(text ?? "") && Number.isSafeInteger(step)) return step;
  throw new FormatError(file, `step ${shownJson(text)}`, "a whole number");
}

/** The options that two sets do not have in common, of each the name and the value. */
function differing(found: string, wanted: string): [found: string, wanted: string] {
  const [before, now] = [optionsOf(found), optionsOf(wanted)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const other = names.filter((name) => written(before[name]) !== written(now[name]));
  const said = (options: Record<string, unknown>): string =>
    other.map((name) => `\`${name}\` ${inShort(options[name])}`).join(", ");
  return [said(before), said(now)];
}

function optionsOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** A value of an option, unless it is long. */
function inShort(value: unknown): string {
  const text = typeof value === "string" ? value : (written(value) ?? "none");
  return text.length > 60 ? "another" : text;
}

/** A value as JSON; one of a forged file may be too deep for that. */
function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return "a value too deep to be shown, which no option has had";
  }
}

function extraOf(text: string | undefined, file: string): TrainingState["extra"] {
  try {
    const extra: unknown = JSON.parse(text ?? "{}");
    if (typeof extra === "object" && extra !== null) return extra as TrainingState["extra"];
  } catch {
    // said below
  }
  throw new FormatError(file, "metadata extra that is not a JSON object", "one");
}
