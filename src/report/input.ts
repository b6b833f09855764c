// What a report is made of: plain data, all of it measured before the page is written.

import type { FullEvaluation } from "../metrics/evaluation.ts";
import type { TrainingSummary } from "../model/model.ts";
import type { LabelGroups } from "./groups.ts";
import type { TrainingHistory } from "./history.ts";

export interface ReportInput {
  /** What the report is about, as a person calls it: the data of the training, or the model that was measured. */
  title: string;
  model: ReportModel;
  summary: TrainingSummary;
  run: ReportRun;
  /** How the training went, where it was watched. */
  history?: TrainingHistory;
  /** Figures on data with known labels, where there were any. */
  measured?: Measured;
  /** Where there are latent functions that labels share. */
  groups?: LabelGroups;
}

export interface ReportModel {
  features: number;
  labels: number;
  /** Size of the model file. */
  bytes: number;
  /** Training points of each label. */
  labelCounts: ArrayLike<number>;
  labelNames?: readonly string[];
  fromText: boolean;
}

export interface ReportRun {
  /** Seconds of the whole training, reading not counted, where it was watched. */
  seconds?: number;
  /** Program and machine. */
  machine?: string;
  /** What the training had to say: threads, device, memory. */
  notes: readonly string[];
}

export interface Measured extends FullEvaluation {
  /** Name of the data. */
  file: string;
  samples: readonly Sample[];
}

/** One point with its true and predicted labels. */
export interface Sample {
  title: string;
  /** Its text, or its strongest words. */
  text: string;
  predicted: readonly SampleLabel[];
  /** True labels that are not among the predicted ones. */
  missed: readonly number[];
}

export interface SampleLabel {
  label: number;
  probability: number;
  right: boolean;
}
