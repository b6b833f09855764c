// The methods of the threads of a project that learns. One program serves as either kind of thread: one learns, at a lower
// priority than those that answer, each with a model that does not change.

import { readlinkSync } from "node:fs";
import { availableParallelism, setPriority } from "node:os";
import { basename } from "node:path";
import type { Input } from "../../base/input.ts";
import { CONFIDENCE, type Expected, type Prediction, type PredictOptions } from "../../base/prediction.ts";
import { isMarked } from "../../base/text.ts";
import { readDataset } from "../../data/reader.ts";
import type { TfidfState } from "../../data/tfidf.ts";
import { readSafetensorsFile, readWhole } from "../../io/files.ts";
import { checkLock, type Lock } from "../../io/lock.ts";
import { finishTogether, recordOf, writeTogether } from "../../io/together.ts";
import { Learner } from "../../learn/learner.ts";
import { type QueriedDocument, query } from "../../learn/query.ts";
import { modelFromBytes, modelFromTensors, modelToBytes } from "../../model/file.ts";
import { type LearningState, stateContent, stateFromBytes } from "../../parts/regression/state.ts";
import { type LoadedModel, labelsOf, loadModel } from "../../predict/load.ts";
import { readingFor } from "../../predict/reading.ts";
import { asInput, type TextInput } from "../project.ts";
import { type Judgement, MOST_KEPT } from "./drift.ts";
import type { Changes, TaughtDocument } from "./journal.ts";

export interface LearningPaths {
  readonly model: string;
  readonly state: string;
}

export interface LearnedModel {
  readonly bytes: Uint8Array;
  /** As how many documents those in it count, how many were learned and forgotten after its training, and its labels. */
  readonly documents: number;
  readonly learned: number;
  readonly forgotten: number;
  readonly labels: number;
  /** Numbers that one more label takes in it. */
  readonly labelSize: number;
  /** As how many documents those count that have no id and so cannot be forgotten. */
  readonly nameless: number;
  /** How many documents it keeps; without it any number can be learned. */
  readonly kept?: number;
  /** The last batch of the journal that it knows. */
  readonly batch: number;
}

/** Changes to learn, and where they are all of it the last batch of the journal that they come from. */
export interface Lesson extends Changes {
  readonly batch?: number | undefined;
}

type Texts = { readonly inputs: readonly Input[]; readonly options: PredictOptions };

/** A model that answers: its labels, and how vectors come to it. */
export interface AnsweringModel extends Required<Pick<TfidfState, "vectors">>, Pick<TfidfState, "embedder"> {
  readonly labels: readonly string[];
}

/** A list loses its other properties on the way to another thread. */
type FoundInText = Expected & { readonly labels: Prediction[]; readonly known: number };

export interface OpenedModel extends LearnedModel {
  readonly ids: readonly string[];
  /** Its promises, as far as they were watched. */
  readonly promises: LearningState["promises"];
}

type Owned = Pick<Lock, "path" | "token">;

interface Saved {
  readonly paths: LearningPaths;
  readonly locks: readonly Owned[];
  readonly promises?: LearningState["promises"];
}

/** One core is left to those who ask. */
const threads = (): number => Math.max(1, availableParallelism() - 1);

let learner: Learner;
let loaded: LoadedModel | undefined;

export const methods = {
  async open({ model: path, state: statePath }: LearningPaths): Promise<OpenedModel> {
    lowerThreadPriority();
    await finishTogether(recordOf(statePath), [path]);
    const model = modelFromTensors(await readSafetensorsFile(path), path);
    const state = stateFromBytes(await readWhole(statePath), statePath);
    try {
      learner = await Learner.open(model, state, { threads: threads() });
    } catch (error) {
      throw new Error(`${statePath}: ${(error as Error).message}`);
    }
    if (!model.schema.vectoriser)
      throw new Error(`${path}: found a model of features, expected one of texts to learn from`);
    return { ...standing(), ids: learner.documents.ids.filter((id) => id !== ""), promises: learner.promises };
  },

  async learn({ documents, forget = [], batch }: Lesson): Promise<LearnedModel> {
    const known = new Set(forget.length > 0 ? learner.documents.ids : []);
    const leaving = forget.filter((id) => known.has(id));
    if (documents.length + leaving.length > 0) await learnChanges({ documents, forget: leaving });
    if (batch !== undefined) learner.journal = batch;
    return standing();
  },

  /** Writes model and state as long as the locks are ours; returns the last batch that is in them. */
  async save({ paths, locks, promises }: Saved): Promise<number> {
    learner.promises = promises;
    const state = stateContent(learner.state());
    const files = [
      { path: paths.model, content: modelToBytes(learner.model) },
      { path: paths.state, ...state },
    ];
    await writeTogether(recordOf(paths.state), files, async () => {
      for (const lock of locks) await checkLock(lock);
    });
    learner.file = state.file;
    return learner.journal ?? 0;
  },

  async query({ inputs, top }: { inputs: readonly TextInput[]; top: number }): Promise<QueriedDocument[]> {
    return await query(
      learner.model,
      inputs.map((input) => ({ ...input })),
      { top, threads: threads() },
    );
  },

  /** Answers with this model from now on; returns its labels, and what vectors its texts have. */
  async load(bytes: Uint8Array): Promise<AnsweringModel> {
    loaded = await loadModel(modelFromBytes(bytes), { threads: 1 });
    await warmUp(loaded);
    const { vectors = [], embedder } = loaded.model.schema.vectoriser ?? {};
    return { labels: labelsOf(loaded.model.schema).map(String), vectors, embedder };
  },

  unload(_: undefined): void {
    loaded?.dispose();
    loaded = undefined;
  },

  /** Labels kept for the model's promises beside the true ones of documents that it has not learned. */
  async judge(documents: readonly TaughtDocument[]): Promise<Judgement[]> {
    const { model, predict } = loaded as LoadedModel;
    const found: Judgement[] = [];
    for (const promise of ["recall", "precision"] as const) {
      const all = model.thresholds?.guarantees[promise] ?? [];
      const best = all
        .filter(({ target, confidence = CONFIDENCE }) => target <= WATCHED && confidence === CONFIDENCE)
        .at(-1);
      if (!best) continue;
      const most = promise === "recall" ? {} : { topK: MOST_KEPT };
      const rows = await predict(documents.map(asInput), { threshold: best.threshold, ...most, sd: false });
      const judged = rows.map((labels, i) => {
        const truths = new Set(documents[i].labels);
        const right = labels.filter(({ label }) => truths.has(label)).length;
        return { kept: labels.length, right, truths: truths.size };
      });
      found.push({ promise, target: best.target, documents: judged });
    }
    return found;
  },

  async predict({ inputs, options }: Texts): Promise<FoundInText[]> {
    const rows = await (loaded as LoadedModel).predict(inputs, options);
    return rows.map((labels) => {
      const { known, expectedPrecision, expectedRecall, noneFits } = labels;
      return { labels: [...labels], known, expectedPrecision, expectedRecall, noneFits };
    });
  },
};

export type LearningMethods = typeof methods;

/** Promises that are watched: the highest targets up to this that the model can give. */
const WATCHED = 0.9;

function standing(): LearnedModel {
  const { model, journal: batch = 0 } = learner;
  const { labels, points } = model.schema;
  const { ids, weights, features } = learner.documents;
  const named = ids.reduce((sum, id, i) => (id === "" ? sum : sum + (weights?.[i] ?? 1)), 0);
  return {
    bytes: modelToBytes(model),
    documents: points,
    learned: model.summary.learning?.learned ?? 0,
    forgotten: model.summary.learning?.forgotten ?? 0,
    labels,
    labelSize: learner.keepsAll ? ids.length : features.columns,
    nameless: points - named,
    // A document that counts as several takes the room of one.
    ...(learner.keepsAll && { kept: ids.length }),
    batch,
  };
}

async function learnChanges({ documents, forget }: Changes): Promise<void> {
  if (documents.length === 0) {
    await learner.learn({ forget });
    return;
  }
  const { dataset } = await readDataset(
    documents.map(({ weight: _, ...document }) => document),
    // Labels are whole names here, whatever stands in them, and there may be none.
    { ...readingFor(learner.model.schema), keys: {}, labelSeparator: "", requireLabels: false, file: "the documents" },
  );
  await learner.learn({ documents: dataset, weight: documents.map(({ weight = 1 }) => weight), forget });
}

/** Questions by themselves, and so many together, of so many words. */
const [ALONE, TOGETHER, WORDS] = [8, 16, 24];

/**
 * A model that is to take over answers some questions of its own first: nobody then waits for what it makes at its first answer,
 * and what the engine compiles meanwhile (170 to 200 ms of processor time with 2,000 documents, whatever came before).
 */
export async function warmUp(model: LoadedModel): Promise<void> {
  const { terms = [], vectors: shapes = [] } = model.model.schema.vectoriser ?? {};
  const words = terms.filter((term) => !isMarked(term));
  const vectors = Object.fromEntries(shapes.map(({ name, length }) => [name, new Float32Array(length)]));
  const inputs = Array.from({ length: TOGETHER }, (_, i) => ({
    text: words.slice(i * WORDS, (i + 1) * WORDS).join(" "),
    vectors,
  }));
  for (const input of inputs.slice(0, ALONE)) await model.predict([input]);
  await model.predict(inputs, { sd: false }); // as suggestions are asked for
}

/** As `nice` has it. */
const LOWER = 10;
/** Where Linux says which thread asks. */
const OWN = "/proc/thread-self";

interface DenoPermissions {
  permissions: { querySync(of: { name: string; kind?: string; path?: string }): { state: string } };
}

/** Lowers the priority of this thread and those it starts where the system has one for each (Linux). */
function lowerThreadPriority(): void {
  try {
    // Deno asks the person at the terminal for what it was not given; for this nobody is to be asked.
    const { Deno: deno } = globalThis as { Deno?: DenoPermissions };
    const needed = [
      { name: "read", path: OWN },
      { name: "sys", kind: "setPriority" },
    ];
    if (deno && needed.some((each) => deno.permissions.querySync(each).state !== "granted")) return;
    setPriority(Number(basename(readlinkSync(OWN))), LOWER);
  } catch {
    // Without a number of its own the whole program would step back.
  }
}
