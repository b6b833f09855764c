// The state of a training, and its file (safetensors): enough to go on to the same bytes as if nothing had happened.

import type { Backend, Tensor as DeviceTensor } from "../../backend/backend.ts";
import { FormatError, shownJson } from "../../base/errors.ts";
import { checksumOf } from "../../base/hash.ts";
import { readSafetensors, safetensorsChunks, type Tensor } from "../../base/safetensors.ts";
import { checkIntact, type Fields, realTensor, TensorReader, withChecksum } from "../../base/tensors.ts";
import type { RealArray } from "../../core/matrix.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { FitContext } from "../part.ts";

export const CHECKPOINT_FORMAT = "mlgpf-checkpoint";
const VERSION = "2";
/** Its name in errors where nobody knows its path. */
export const CHECKPOINT = "the checkpoint";

export interface SavedTensor {
  rows: number;
  columns: number;
  values: RealArray;
}

export interface TrainingState {
  step: number;
  /** Every tensor of the trainer by name. */
  tensors: Map<string, SavedTensor>;
  /** Everything else that decides how it goes on. */
  extra: Fields;
  /** The file it was read from, for errors. */
  file?: string;
}

type Entries = readonly [string, DeviceTensor][];

/** Reads tensors. All reads are enqueued before the first is waited for: what comes is this step's state, whatever follows it. */
export async function savedTensors(backend: Backend, entries: Entries): Promise<TrainingState["tensors"]> {
  const reading = entries.map(async ([name, tensor]): Promise<[string, SavedTensor]> => {
    const { rows, columns } = tensor;
    return [name, { rows, columns, values: await backend.read(tensor) }];
  });
  return new Map(await Promise.all(reading));
}

/** Sets tensors to those that were saved. */
export function restoreTensors(
  backend: Backend,
  entries: Entries,
  saved: TrainingState["tensors"],
  file: string = CHECKPOINT,
): void {
  for (const [name, tensor] of entries) {
    const { rows, columns } = tensor;
    const found = saved.get(name);
    if (found?.rows !== rows || found.columns !== columns) {
      const fault = found ? `a tensor ${name} of another shape` : `no tensor ${name}`;
      throw new FormatError(file, fault, `one of ${rows} x ${columns}`);
    }
    backend.write(tensor, found.values);
  }
}

/** A checksum of the data. */
export function dataDigest({ features, labels }: Dataset): string {
  const sizes = `${features.columns} ${labels.labels}`;
  const { rowStart, columnIndex, values } = features;
  return checksumOf([sizes, rowStart, columnIndex, values, labels.rowStart, labels.labelIndex]);
}

export interface CheckpointIdentity {
  /** The options in force, as JSON. */
  options: string;
  data: string;
}

/** Data and options: a checkpoint must agree with them. */
export const identityOf = ({ data, options }: FitContext): CheckpointIdentity => ({
  options: JSON.stringify(options),
  data: dataDigest(data),
});

/** The pieces of a checkpoint's file, one after another. */
export function checkpointChunks(state: TrainingState, identity: CheckpointIdentity): Uint8Array[] {
  const tensors = new Map<string, Tensor>();
  for (const [name, { rows, columns, values }] of state.tensors) tensors.set(name, realTensor(values, [rows, columns]));
  const content = { step: String(state.step), extra: JSON.stringify(state.extra), ...identity };
  return safetensorsChunks(
    withChecksum({ tensors, metadata: { format: CHECKPOINT_FORMAT, version: VERSION, ...content } }),
  );
}

/** The state back; refused where it belongs to other data or other options. */
export function checkpointFromBytes(
  bytes: Uint8Array,
  identity: CheckpointIdentity,
  file: string = CHECKPOINT,
): TrainingState {
  const whole = readSafetensors(bytes, file);
  const { tensors, metadata } = whole;
  const reader = new TensorReader(whole, file);
  reader.checkFormat(CHECKPOINT_FORMAT, VERSION, "a checkpoint made by this version of mlgpf");
  checkIntact(reader, true);
  if (metadata.data !== identity.data) reader.refuse("a checkpoint of other data", "one of the data given");
  if (metadata.options !== identity.options) {
    const [found, wanted] = differing(reader.object("options"), JSON.parse(identity.options) as Fields);
    reader.refuse(`one made with ${found}`, `${wanted} (or the options it was made with)`);
  }
  if (!/^\d+$/.test(metadata.step)) reader.refuse(`step ${shownJson(metadata.step)}`, "a whole number");
  const step = Number(metadata.step);
  const state: TrainingState = { step, tensors: new Map(), extra: reader.object("extra"), file };
  for (const name of tensors.keys()) {
    const [rows, columns] = reader.shape(name, 2);
    state.tensors.set(name, { rows, columns, values: reader.reals(name, [rows, columns]) });
  }
  return state;
}

/** The options that two sets do not have in common, of each the name and the value. */
function differing(before: Fields, now: Fields): [found: string, wanted: string] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const other = names.filter((name) => written(before[name]) !== written(now[name]));
  const shown = (options: Fields): string => other.map((name) => `\`${name}\` ${inShort(options[name])}`).join(", ");
  return [shown(before), shown(now)];
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
