// The state that a closed model goes on learning from: its plan, made from what the model says of its features, and the
// documents it was trained on. A model notes the identity of its state and learns with no other.

import { type Change, type Documents, LearningError, select } from "../closed/documents.ts";
import { changedEvidence } from "../closed/evidence.ts";
import { captureState } from "../closed/restore.ts";
import { type LearningState, planIdentity, type StatePlan } from "../closed/state.ts";
import type { Dataset, SparseRows } from "../data/dataset.ts";
import { excerpt } from "../data/errors.ts";
import type { ClosedModel, LinearPart, TrainingSummary } from "../model/model.ts";
import { type Learning, linearNumbers } from "./linear.ts";

/** What decides the features of a document, as the model has it. */
export function planOf(model: ClosedModel): StatePlan {
  const { closed, features, featureNames, vectoriser, transform, columnIds } = model;
  const about =
    closed.form === "exact"
      ? { form: closed.form, kernel: closed.kernel, hyper: closed.hyper, noise: closed.noise }
      : { form: closed.form, noise: closed.noise };
  const identity = planIdentity([
    JSON.stringify([
      about,
      features,
      transform.normalise,
      transform.whole ?? false,
      featureNames ?? null,
      vectoriser ?? null,
    ]),
    transform.columnWeights ?? "",
    columnIds ?? "",
    closed.form === "linear" ? closed.columns : "",
  ]);
  const columns = closed.form === "linear" ? closed.columns.length : features;
  return { identity, kernel: 0, linear: closed.form === "linear" ? columns : 0, columns, about };
}

/** Documents of a data set whose rows the model sees as these. */
export function documentsOf({ ids, labels }: Dataset, features: SparseRows): Documents {
  return { ids: ids ?? new Array<string>(features.rows).fill(""), features, labels };
}

/** The state of an exact model: its documents. */
export function exactState(model: ClosedModel, documents: Documents): LearningState {
  return { plan: planOf(model), labels: model.labels, labelNames: model.labelNames, documents };
}

/** The state of a linear model: its solution, and documents that can be corrected and forgotten. */
export function linearState(
  model: ClosedModel,
  { totals, learned }: Learning,
  documents: Documents,
): LearningState {
  const choice = { noise: model.closed.noise };
  const parts = captureState(planOf(model), totals, { learned, choice });
  return { ...parts, labelNames: model.labelNames, documents };
}

/** How a model has learned since it was trained. */
export type LearningNote = NonNullable<TrainingSummary["learning"]>;

/** The same model with a note of its state. */
export function noted(
  model: ClosedModel,
  state: string,
  { learned, forgotten }: Omit<LearningNote, "state"> = { learned: 0, forgotten: 0 },
): ClosedModel {
  return { ...model, summary: { ...model.summary, learning: { state, learned, forgotten } } };
}

/** A linear model as it is after its solution has learned a change; labels that are new have come in behind. */
export function learnedModel(
  model: LinearModel,
  { totals, learned }: Learning,
  change: Pick<Change, "in" | "out">,
): LinearModel {
  const { noise, columns, evidence: before } = model.closed;
  const evidence = before && changedEvidence(before, change);
  return {
    ...model,
    ...linearNumbers(learned, { noise, columns, ...(evidence && { evidence }) }),
    labels: totals.labels,
    labelCounts: Int32Array.from(totals.labelCounts),
    summary: { ...model.summary, points: totals.points },
  };
}

/** A closed model whose form is linear. */
export type LinearModel = ClosedModel & { closed: LinearPart };

/** Only the documents that have ids: others can be neither corrected nor forgotten, and sums need no rows. */
export function withIds(documents: Documents): Documents {
  const named = [...documents.ids.keys()].filter((i) => documents.ids[i] !== "");
  return named.length === documents.ids.length ? documents : select(documents, named);
}

/** Refuses ids that come twice: it would not be known which of the documents is meant. */
export function checkIds({ ids = [] }: Dataset): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (id !== "" && seen.has(id))
      throw new LearningError(`found document ${excerpt(id)} twice, expected each id once`);
    seen.add(id);
  }
}
