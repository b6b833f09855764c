// A trained model as plain data: what predicting needs, and what a reader of the file wants to know.

import type { Calibrator } from "../base/calibrator.ts";
import type { Thresholds } from "../base/prediction.ts";
import { moverOf, type Part } from "../parts/index.ts";
import type { ModelSchema } from "../parts/part.ts";
import type { TrainingSummary } from "../parts/run.ts";

/** A trained model as plain arrays: what a model file holds. The calibrator makes probabilities of the scores of its parts. */
export interface Model {
  readonly schema: ModelSchema;
  readonly parts: readonly Part[];
  /** Makes calibrated probabilities of the scores; without it they are the likelihood's own. */
  readonly calibrator?: Calibrator | undefined;
  /** Chosen from points that were left out or held out; calibrated models have them. */
  readonly thresholds?: Thresholds | undefined;
  readonly summary: TrainingSummary;
}

/** The model whose schema says which labels beyond its own it can predict. */
export function withUnseen(model: Model): Model {
  const unseen = moverOf(model.parts, model.schema)?.unseen ?? [];
  const { unseenLabels: _, ...schema } = model.schema;
  return { ...model, schema: unseen.length > 0 ? { ...schema, unseenLabels: unseen } : schema };
}
