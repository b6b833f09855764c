// How a training runs, apart from what it computes. What can be typed has an entry in the table below.

import type { DeviceChoice } from "../backend/devices.ts";
import type { LearningState } from "../closed/state.ts";
import type { Dataset } from "../data/dataset.ts";
import type { DatasetInput } from "../io/dataset.ts";
import { completeTable, type OptionTable, refuseUnknown } from "../options/table.ts";
import type { Communicator } from "../ranks/communicator.ts";
import { trainOptions } from "./options.ts";
import type { StepValue, TrainProgress } from "./progress.ts";

/** Nothing here changes the model that comes out, beyond the rounding of a GPU or of fused multiply-adds. */
export interface RunOptions {
  /**
   * What computes the steps; WASM gives the same bytes everywhere.
   * @default wasm
   */
  device?: DeviceChoice;
  /**
   * Threads of the core.
   * @default auto
   */
  threads?: number | "auto";
  /**
   * Fused multiply-add where there is one: faster, but bytes may differ between kinds of CPU.
   * @default no
   */
  relaxed?: boolean;
  /**
   * Bytes that may be taken to keep the projections of all points; beyond it they are made step by step.
   * @default 1 GiB
   */
  memoryBudget?: number;
  /** Told what happens while it does. */
  onProgress?: (progress: TrainProgress) => void;
  /** Told the bound of every step, which takes time on a GPU; `onProgress` is told now and then. */
  onStep?: (value: StepValue) => void;
  /** Ends the training with the signal's reason; the last checkpoint stays. */
  signal?: AbortSignal;
  /** Ends the steps early and without an error: the model comes out as far as it has been learned. */
  finish?: AbortSignal;
  /** Data to measure on while training: a data set, a path, rows. */
  validation?: DatasetInput;
  /**
   * Given the state of the training every so often, and when it is cancelled: the pieces of a file, one after another
   * (`writeFile(path, chunks)`).
   */
  onCheckpoint?: (chunks: Uint8Array[]) => void | Promise<void>;
  /**
   * Seconds between two checkpoints; more where one takes more than a twentieth of that. With 0, one at every report.
   * @default 30
   */
  checkpointSeconds?: number;
  /** Given what further learning needs, where the model is to learn: a closed form (`learn()` goes on with it). */
  onState?: (state: LearningState) => void | Promise<void>;
  /** A checkpoint to go on from. */
  resume?: Uint8Array;
  /**
   * Processes that compute this training together, each for its own labels (likelihood bernoulli, on WASM). All of them get the
   * model; only that of rank 0 is calibrated. The bytes are the same for any number of ranks, and differ from those of a
   * training without: sums over labels run in another order.
   */
  ranks?: Communicator;
}

type Setting = "device" | "threads" | "relaxed" | "memoryBudget" | "checkpointSeconds";
type Settings = Pick<RunOptions, Setting>;

/** The same with nothing left open that can be typed. */
export type FullRunOptions = Omit<RunOptions, "validation"> & Required<Settings> & { validation?: Dataset };

const MEGABYTE = 2 ** 20;

export const runOptions: OptionTable<Settings, Required<Settings>, Required<Settings>> = {
  device: {
    kind: "choice",
    choices: ["wasm", "webgpu", "auto"],
    own: {
      expected: "a GPUDevice",
      accepts: (value) => typeof value === "object" && value !== null && "queue" in value,
    },
    default: "wasm",
    meaning: "what computes; auto is a hardware GPU where there is one",
  },
  threads: {
    kind: "whole",
    word: "auto",
    from: 1,
    default: "auto",
    meaning: "threads; auto is one for each core",
  },
  relaxed: {
    kind: "switch",
    default: false,
    meaning: "fused multiply-add where there is one: faster, but bytes may differ between CPUs",
  },
  memoryBudget: {
    kind: "number",
    from: 0,
    default: { words: "1 GiB", of: () => 1024 * MEGABYTE },
    flag: { value: "MB", unit: MEGABYTE },
    meaning: "memory for keeping the projections of all points",
  },
  checkpointSeconds: {
    kind: "number",
    from: 0,
    default: 30,
    flag: { value: "SECONDS" },
    meaning: "time between two checkpoints; more where one takes more than a twentieth of it",
  },
};

/** What cannot be typed, only given in code. */
const inCode: Record<Exclude<keyof RunOptions, Setting>, true> = {
  onProgress: true,
  onStep: true,
  signal: true,
  finish: true,
  validation: true,
  onCheckpoint: true,
  onState: true,
  resume: true,
  ranks: true,
};

/** Fills in the defaults; refuses what cannot be, and what is no option of a training at all. */
export function completeRunOptions<Given extends RunOptions>(given: Given): Given & Required<Settings> {
  refuseUnknown(given, [trainOptions, runOptions, inCode].flatMap(Object.keys));
  return { ...given, ...completeTable(runOptions, given, {}) };
}
