// How a training runs, apart from what it computes.

import type { DeviceChoice } from "../backend/devices.ts";
import type { Dataset } from "../data/dataset.ts";
import type { TrainProgress } from "./progress.ts";

/** Nothing here changes the model that comes out, beyond the rounding of a GPU or of fused multiply-adds. */
export interface RunOptions {
  /** What computes the steps (default wasm: the same bytes everywhere). */
  device?: DeviceChoice;
  threads?: number | "auto";
  /** Fused multiply-add: faster, but bytes may differ between kinds of CPU. */
  relaxed?: boolean;
  /** Bytes that may be taken to keep the projections of all points; beyond it they are made step by step. */
  memoryBudget?: number;
  onProgress?: (progress: TrainProgress) => void;
  /** Ends the training with the signal's reason; the last checkpoint stays. */
  signal?: AbortSignal;
  /** Data to measure on while training. */
  validation?: Dataset;
  /** Given the state of the training every so often, and when it is cancelled. */
  onCheckpoint?: (bytes: Uint8Array<ArrayBuffer>) => void | Promise<void>;
  checkpointSeconds?: number;
  /** A checkpoint to go on from. */
  resume?: Uint8Array;
}
