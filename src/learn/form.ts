// What a form of model does with a change of its documents.

import type { Change } from "../closed/documents.ts";
import type { LearningState } from "../closed/state.ts";
import type { WorkOptions } from "../core/progress.ts";
import type { SparseRows } from "../data/dataset.ts";
import type { ClosedModel } from "../model/model.ts";
import type { Arrivals } from "./check.ts";

/** A change, and among what comes in the documents that the model has seen no version of. */
export interface Lesson {
  readonly change: Change;
  /** As they were given, before weights and scaling. */
  readonly unseen: Pick<Arrivals, "features" | "labels">;
  readonly labelNames?: readonly string[] | undefined;
}

/** A model that learns, in the memory of a core. */
export interface LearningForm {
  /** Rows as the documents of the state have them. */
  rows(features: SparseRows): SparseRows;
  /** The model after the change. */
  learn(lesson: Lesson, work: WorkOptions): Promise<ClosedModel>;
  /** What the model goes on from, with these documents. */
  state(model: ClosedModel, documents: Change["after"]): LearningState;
  /** The identity of that state, for less. */
  identity(model: ClosedModel, documents: Change["after"]): string;
  free(): void;
}
