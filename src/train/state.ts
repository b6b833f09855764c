// The state that a model goes on learning from: a plan, made from what decides the features of a document, and the documents it has
// learned. A model notes the identity of its state and learns with no other.

import type { Model } from "../model/model.ts";
import { familyOf, type Part } from "../parts/index.ts";
import type { PartLearner } from "../parts/part.ts";
import type { Documents } from "../parts/regression/documents.ts";
import { type LearningState, planIdentity, type StatePlan, stateIdentity } from "../parts/regression/state.ts";
import type { TrainingSummary } from "../parts/run.ts";

/** The plan of a model: everything that decides the features of a document. */
export function planOf({ schema, parts: [part] }: Pick<Model, "schema" | "parts">): StatePlan {
  const { features, featureNames, vectoriser, transform, columnIds } = schema;
  const learning = familyOf(part).learning;
  if (!learning) throw new Error(`found the part ${part.family}, expected one that can go on learning`);
  const { arrays, ...plan } = learning.plan(part, schema);
  const { normalise, unitNorm = false, columnWeights, views } = transform;
  const about = [plan.about, features, normalise, unitNorm, featureNames ?? null, vectoriser ?? null, ...(views ?? [])];
  const identity = planIdentity([JSON.stringify(about), columnWeights ?? "", columnIds ?? "", ...arrays]);
  return { ...plan, identity };
}

/** The state of a model with these documents; without `whole` only what its identity is made of. */
export function stateOf(
  model: Pick<Model, "schema" | "parts">,
  learner: PartLearner<Part>,
  documents: Documents,
  whole = true,
): LearningState {
  const { labelNames } = model.schema;
  return { ...learner.capture(planOf(model), whole), labels: documents.labels.labels, labelNames, documents };
}

/** How a model has learned since it was trained. */
export type LearningNote = NonNullable<TrainingSummary["learning"]>;

/** The same model with a note of its state. */
export function noted(
  model: Model,
  state: LearningState,
  lessons: Omit<LearningNote, "state"> = { learned: 0, forgotten: 0 },
): Model {
  const learning = { state: stateIdentity(state), ...lessons };
  return { ...model, summary: { ...model.summary, learning } };
}
