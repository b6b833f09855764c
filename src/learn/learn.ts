// Learning in one call: a model and its state with new, corrected or forgotten documents give the next model and state.

import { type DatasetInput, datasetFrom } from "../io/dataset.ts";
import type { Model } from "../model/model.ts";
import type { LearningState } from "../parts/regression/state.ts";
import { readingFor } from "../predict/reading.ts";
import { Learner, type LearnOptions, type LearnRequest, type Lessons } from "./learner.ts";

/** The next model with the state it goes on from, and what was done. */
export interface Learned extends Lessons {
  readonly model: Model;
  readonly state: LearningState;
}

/**
 * Learns documents: new ones, and by their ids new versions of known ones, with labels that may be new. The scores are those
 * of a training on all documents at once with the same vocabulary. What was given is not changed.
 *
 * @param model A model in closed form that was trained with `onState`.
 * @param state What `onState` was given, or the last learning gave.
 * @param input New documents: a file or rows, which are read as the model needs them, or a data set that was read so.
 * @param options As how many documents each counts; threads, progress, and a signal that stops it.
 * @throws {LearningError} A state of another model, documents without labels: nothing has changed then.
 * @example
 * ```ts
 * ({ model, state } = await learn(model, state, [{ id: "7", text: "...", labels: ["..."] }]));
 * ```
 */
export async function learn(
  model: Model,
  state: LearningState,
  input: DatasetInput,
  options: LearnOptions = {},
): Promise<Learned> {
  const documents = await datasetFrom(input, readingFor(model.schema));
  return await learnOnce(model, state, { documents, weight: options.weight }, options);
}

/**
 * Forgets documents that were learned or trained on, by their ids: the scores are those without them.
 *
 * @param model A model in closed form that was trained with `onState`.
 * @param state What `onState` was given, or the last learning gave.
 * @param ids Those of the documents.
 * @param options Threads, progress, and a signal that stops it.
 * @throws {LearningError} An id that was never learned, a state of another model: nothing has changed then.
 */
export async function forget(
  model: Model,
  state: LearningState,
  ids: readonly string[],
  options: LearnOptions = {},
): Promise<Learned> {
  return await learnOnce(model, state, { forget: ids }, options);
}

/** Does what a request says. */
export async function learnOnce(
  model: Model,
  state: LearningState,
  request: LearnRequest,
  options: LearnOptions = {},
): Promise<Learned> {
  // Not with `using`: WebKit has no Symbol.dispose yet.
  const learner = await Learner.open(model, state, options);
  try {
    const lessons = await learner.learn(request, options);
    return { ...lessons, model: learner.model, state: learner.state() };
  } finally {
    learner.dispose();
  }
}
