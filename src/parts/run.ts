// How a training runs, apart from what it computes. What can be typed has an entry in the table below.

import type { DeviceChoice } from "../backend/devices.ts";
import type { Dataset } from "../data/dataset.ts";
import type { ReadChoices } from "../data/options.ts";
import type { DatasetInput } from "../io/dataset.ts";
import type { Communicator } from "../mpi/communicator.ts";
import { completeTable, type OptionTable, refuseUnknown } from "../options/table.ts";
import { trainOptions } from "./options.ts";
import type { StepValue, TrainProgress } from "./progress.ts";
import type { LearningState } from "./regression/state.ts";
import type { ModelSchema } from "./schema.ts";

/** How a model was trained. */
export interface TrainingSummary {
  /** Every option that was in force. */
  options: Record<string, unknown>;
  droppedPoints: number;
  /** Figures on points that were left out of the model or held out, where it was calibrated. */
  leftOut?: Record<string, number>;
  /** How many points the calibrator was fitted on again, where it was; `leftOut` is of these. */
  recalibratedOn?: number;
  /**
   * Identity of the state, where there is one, how many documents were learned and forgotten since the training, and how many labels
   * there were then, where there are more.
   */
  learning?: { state: string; learned: number; forgotten: number; trainedLabels?: number };
  /** Figures on the validation part, where there was one. */
  validation?: Record<string, number>;
  /** The device it was trained on at the end, where that was not WASM. */
  device?: string;
  /** It was trained with fused multiply-adds: its bytes may be others on another kind of CPU. */
  relaxed?: true;
  /** Where it was trained in minibatches. */
  steps?: number;
  epochs?: number;
  /** At the last step, with the KL at its last weight. */
  dataTerm?: number;
  divergence?: number;
  /** How often a factorisation needed its diagonal raised. */
  raisedFactorisations?: number;
}

/** Rows with probabilities of a model that has not seen them. */
export interface UnseenRows {
  readonly data: Dataset;
  readonly schema: ModelSchema;
  /** Rows of the data. */
  readonly rows: ArrayLike<number>;
  /** Leave-one-out probabilities of every label [rows,K]. */
  readonly probabilities: ArrayLike<number>;
}

/** Nothing here changes the model that comes out, beyond the rounding of a GPU or of fused multiply-adds. */
export interface RunOptions extends Pick<ReadChoices, "text" | "labels" | "id"> {
  /** The device that computes the steps; WASM gives the same bytes everywhere. Default: wasm. */
  device?: DeviceChoice;
  /** Threads of the core. Default: auto. */
  threads?: number | "auto";
  /** Fused multiply-add where there is one: faster, but bytes may differ between kinds of CPU. Default: no. */
  relaxed?: boolean;
  /**
   * Vectors of 256 bits where V8 can: faster, the same bytes; sets a flag of the process (`createCore` says more). The command does so by
   * itself.
   */
  wide?: boolean;
  /** Bytes that may be taken to keep the projections of all points; beyond it they are made step by step. Default: 1 GiB. */
  memoryBudget?: number;
  /** Told what happens while it does. */
  onProgress?: (progress: TrainProgress) => void;
  /** Told the bound of every step, which takes time on a GPU; `onProgress` is told now and then. */
  onStep?: (value: StepValue) => void;
  /** Ends the training with the signal's reason; the last checkpoint stays. */
  signal?: AbortSignal;
  /** Ends the steps early and without an error: the model comes out as far as it has been learned. */
  finish?: AbortSignal;
  /** Data to measure on while training: a data set, a path, rows; "10%" holds out a part of the training data. */
  validation?: DatasetInput;
  /**
   * Given the state of the training every so often, and when it is cancelled: the pieces of a file, one after another
   * (`writeFile(path, chunks)`).
   */
  onCheckpoint?: (chunks: Uint8Array[]) => void | Promise<void>;
  /**
   * Seconds between two checkpoints; more where one takes more than a twentieth of that. With 0, one at every report. Default:
   * 30.
   */
  checkpointSeconds?: number;
  /** Given what further learning needs, where the model is to learn: a closed form (`learn()` goes on with it). */
  onState?: (state: LearningState) => void | Promise<void>;
  /** Given the leave-one-out probabilities of the rows, a block at a time, where the model has them: of at most 6,000 rows. */
  onLeftOut?: (rows: UnseenRows) => void;
  /** A checkpoint to go on from. */
  resume?: Uint8Array;
  /**
   * Processes that compute this training together, each for its own labels (model svgp, on WASM). All of them get the
   * model; only that of rank 0 is calibrated. The bytes are the same for any number of ranks, and differ from those of a
   * training without: sums over labels run in another order.
   */
  mpi?: Communicator;
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
    meaning: "compute device; auto takes a hardware GPU if there is one",
  },
  threads: {
    kind: "whole",
    word: "auto",
    from: 1,
    default: "auto",
    meaning: "number of threads; auto: one per core",
  },
  relaxed: {
    kind: "switch",
    default: false,
    meaning: "relaxed SIMD (fused multiply-add): faster, but results may differ between CPUs",
  },
  memoryBudget: {
    kind: "number",
    from: 0,
    default: { words: "1 GiB", of: () => 1024 * MEGABYTE },
    flag: { value: "MB", unit: MEGABYTE },
    meaning: "memory for the projections of all rows",
  },
  checkpointSeconds: {
    kind: "number",
    from: 0,
    default: 30,
    flag: { value: "SECONDS" },
    meaning: "time between two checkpoints; longer where writing one takes more than 5 % of it",
  },
};

/** Options that cannot be typed, only given in code. */
const inCode: Record<Exclude<keyof RunOptions, Setting>, true> = {
  wide: true,
  onProgress: true,
  onStep: true,
  signal: true,
  finish: true,
  validation: true,
  text: true,
  labels: true,
  id: true,
  onCheckpoint: true,
  onState: true,
  onLeftOut: true,
  resume: true,
  mpi: true,
};

/** Fills in the defaults; refuses what cannot be, and what is no option of a training at all. */
export function completeRunOptions<Given extends RunOptions>(given: Given): Given & Required<Settings> {
  refuseUnknown(given, [trainOptions, runOptions, inCode].flatMap(Object.keys));
  return { ...given, ...completeTable(runOptions, given, {}) };
}
