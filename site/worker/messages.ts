// Messages between the page and its two workers. One worker trains, the other predicts, so that an answer
// never waits for a training step.

import type { Guarantees } from "../../src/base/prediction.ts";
import type { TrainOptions } from "../../src/parts/options.ts";
import type { TrainProgress } from "../../src/parts/progress.ts";
import type { LearningState } from "../../src/parts/regression/state.ts";

export type DeviceChoice = "auto" | "wasm" | "webgpu";

/** A visitor's choices about a training; the others are made by the size of the data. */
export interface TrainSettings {
  device: DeviceChoice;
  model: NonNullable<TrainOptions["model"]>;
  epochs?: number;
  factors?: number;
  seed?: number;
  /** Part of the points that is kept for measuring, 0 to 1. */
  heldOut: number;
  /** Keys or columns of the texts and the labels, where they have other names than text and labels; one-hot columns are labels themselves. */
  textName?: readonly string[];
  labelsName?: readonly string[];
  oneHot?: readonly string[];
  /** Skip broken lines and count them. */
  lenient: boolean;
}

export type TrainerRequest =
  | { kind: "train"; source: "sample" | File; settings: TrainSettings }
  | { kind: "pause" }
  | { kind: "resume" }
  /** Ends the steps: what was learned by then is the model. */
  | { kind: "finish" };

/** A summary of a data file. */
export interface DataSummary {
  file: string;
  format: string;
  points: number;
  heldPoints: number;
  features: number;
  labels: number;
  skipped: number;
  /** Each one sentence. */
  notes: readonly string[];
}

/** Columns (or keys) to choose from for the text, the labels or the id. */
export interface MissingColumn {
  names: readonly string[];
  of: "text" | "labels" | "id";
}

/** Labels kept at a threshold, over all held-out rows. */
export interface SurePoint {
  percent: number;
  kept: number;
  precision: number;
  recall: number;
}

/** A held-out text whose top label was wrong. */
export interface WrongText {
  text: string;
  said: string;
  probability: number;
  truth: readonly string[];
}

/** Measures on rows that were held out. */
export interface HeldOut {
  rows: number;
  /** At 1 to 99 percent. */
  points: readonly SurePoint[];
  /** The surest mistakes. */
  wrong: readonly WrongText[];
}

export type TrainerReply =
  | { kind: "reading"; bytes: number; total: number; rows: number }
  | { kind: "data"; summary: DataSummary }
  | { kind: "progress"; progress: TrainProgress }
  | { kind: "paused" }
  | {
      kind: "trained";
      bytes: Uint8Array<ArrayBuffer>;
      state: LearningState | undefined;
      /** P@1 on what was held out. */
      precision: number | undefined;
      held: HeldOut | undefined;
    }
  /** `columns`: those of the file, where one was looked for in vain, and which of them it was. */
  | { kind: "failed"; message: string; columns?: MissingColumn };

export type PredictorRequest =
  | { kind: "load"; file: string; source: Blob; state?: LearningState | undefined }
  /** The state of the model that is loaded, packed for the page. */
  | { kind: "state"; file: string; source: Blob }
  | { kind: "learn"; text: string; labels: readonly string[] }
  | { kind: "predict"; number: number; text: string }
  /** Its compact form is wanted, for a file. */
  | { kind: "compact" }
  /** Every row of a file is to be labelled; `cancel` ends that. */
  | { kind: "label"; source: File; settings: LabelSettings }
  | { kind: "cancel" };

/** How a file to label is read. */
export interface LabelSettings {
  textName?: readonly string[];
  idName?: string;
  lenient: boolean;
}

export interface ModelInfo {
  file: string;
  /** It is one for the edge, and stays as it is. */
  compact: boolean;
  /** Its inputs: texts, or features by name or number. */
  input: "text" | "names" | "numbers";
  /** Its promises, where it is calibrated. */
  guarantees?: Guarantees | undefined;
  /** Something to begin with, for a model that does not read texts. */
  example: string;
  /** Those it was learned from, where the file says so. */
  points: number;
  features: number;
  labels: number;
  /** It can go on learning from texts that are corrected. */
  learns: boolean;
}

/** A word and what it adds to the utility of a label. */
export interface WordShare {
  word: string;
  share: number;
}

export interface Answer {
  label: string;
  probability: number;
  words: readonly WordShare[];
}

/** The probability of a label before and after learning. */
export interface Change {
  label: string;
  before: number;
  after: number;
}

export type PredictorReply =
  | { kind: "loaded"; info: ModelInfo }
  | { kind: "refused"; message: string }
  /** The model can be taught from now on. */
  | { kind: "teachable" }
  /** The model with one more text: what it was sure of before and is now, label by label. */
  | { kind: "learned"; info: ModelInfo; bytes: Uint8Array<ArrayBuffer>; changes: readonly Change[] }
  | {
      kind: "predicted";
      number: number;
      answers: readonly Answer[];
      known: number;
      unknown: readonly string[];
    }
  | { kind: "compacted"; bytes: Uint8Array<ArrayBuffer> }
  /** `part` of the file, 0 to 1. */
  | { kind: "labelling"; rows: number; part: number }
  | { kind: "labelled"; rows: number; csv: Blob; notes: readonly string[] }
  /** Without a message it was cancelled. */
  | { kind: "unlabelled"; message?: string; columns?: MissingColumn }
  | { kind: "failed"; message: string };

/** A worker's own side of the channel; the page's types do not know it. */
export interface WorkerScope<Request, Reply> {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(reply: Reply, transfer?: Transferable[]): void;
}

/** An error as a sentence. */
export const inWords = (error: unknown): string => (error instanceof Error ? error.message : String(error));
