// The program of the learning threads (messages.ts): it learns, or it answers. Started by learningthread.ts.

import { availableParallelism } from "node:os";
import { stateChunks, stateFromTensors } from "../../closed/state.ts";
import { readDataset } from "../../data/reader.ts";
import { readSafetensorsFile } from "../../io/files.ts";
import { finishTogether, recordOf, writeTogether } from "../../io/together.ts";
import { Learner } from "../../learn/learner.ts";
import { modelFromBytes, modelFromTensors, modelToBytes } from "../../model/file.ts";
import { readingFor } from "../../model/reading.ts";
import { type LoadedModel, labelsOf, loadModel } from "../../predict/load.ts";
import { ownSide } from "../channel.ts";
import { stepBack } from "../priority.ts";
import type { TaughtDocument } from "./journal.ts";
import type { Asked, LearnedModel, LearningPaths, Said } from "./messages.ts";
import { warmUp } from "./warm.ts";

let learner: Learner;
let loaded: LoadedModel | undefined;

async function open({ model: path, state: statePath }: LearningPaths): Promise<LearnedModel> {
  stepBack();
  await finishTogether(recordOf(statePath));
  const model = modelFromTensors(await readSafetensorsFile(path), path);
  const state = stateFromTensors(await readSafetensorsFile(statePath), statePath);
  // One core is left to those who ask.
  const threads = Math.max(1, availableParallelism() - 1);
  try {
    learner = await Learner.open(model, state, { threads });
  } catch (error) {
    throw new Error(`${statePath}: ${(error as Error).message}`);
  }
  if (!model.vectoriser)
    throw new Error(`${path}: found a model of features, expected one of texts to learn from`);
  return standing();
}

function standing(): LearnedModel {
  const { model, journal: batch } = learner;
  const { points } = model.summary;
  const { closed } = model;
  return {
    bytes: modelToBytes(model),
    documents: points,
    learned: model.summary.learning?.learned ?? 0,
    labels: model.labels,
    // A document that counts as several takes the room of one.
    ...(closed.form === "exact" && { kept: closed.rows.rows }),
    batch,
  };
}

async function teach(documents: readonly TaughtDocument[], batch: number): Promise<LearnedModel> {
  // A journal may have a batch of nothing from when such batches were still taken.
  if (documents.length > 0) await learn(documents);
  learner.journal = batch;
  return standing();
}

async function learn(documents: readonly TaughtDocument[]): Promise<void> {
  const { dataset } = await readDataset(
    documents.map(({ id, text, labels }) => ({ ...(id !== undefined && { id }), text, labels })),
    // Labels are whole names here, whatever stands in them.
    { ...readingFor(learner.model), labelSeparator: "", file: "the documents" },
  );
  await learner.learn({ documents: dataset, weight: documents.map(({ weight = 1 }) => weight) });
}

async function save({ model, state }: LearningPaths): Promise<number> {
  await writeTogether(recordOf(state), [
    { path: model, content: modelToBytes(learner.model) },
    { path: state, content: stateChunks(learner.state()) },
  ]);
  return learner.journal;
}

async function answerTo(asked: Asked): Promise<Said> {
  try {
    if ("open" in asked) return { learned: await open(asked.open) };
    if ("teach" in asked) return { learned: await teach(asked.teach, asked.batch) };
    if ("save" in asked) return { saved: await save(asked.save) };
    if ("load" in asked) {
      loaded = await loadModel(modelFromBytes(asked.load), { threads: 1 });
      await warmUp(loaded);
      return { ready: labelsOf(loaded.model).map(String) };
    }
    if ("unload" in asked) {
      loaded?.dispose();
      loaded = undefined;
      return { ready: [] };
    }
    const rows = await (loaded as LoadedModel).predict(asked.texts, asked.options);
    return { found: rows.map((labels) => ({ labels: [...labels], known: labels.known })) };
  } catch (error) {
    const { name, message } = error as Error;
    return { problem: { name, message } };
  }
}

const side = ownSide<Asked, Said>();
let last: Promise<void> = Promise.resolve();
// One after the other, and answers in their order.
side.listen((asked) => {
  last = last.then(async () => {
    const said = await answerTo(asked);
    side.send(said, "learned" in said ? [said.learned.bytes.buffer as ArrayBuffer] : []);
  });
});
