// mlgpf learn MODEL FILE --state STATE

import { LearningError, MOST_WEIGHT } from "../closed/documents.ts";
import { type LearningState, stateChunks, stateFromTensors } from "../closed/state.ts";
import type { Dataset } from "../data/dataset.ts";
import { aboutNewWords, NewWords } from "../data/newwords.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { readDataset } from "../io/dataset.ts";
import { checkKeepable, checkWritable, readSafetensorsFile } from "../io/files.ts";
import { takeLock } from "../io/lock.ts";
import { finishTogether, recordOf, writeTogether } from "../io/together.ts";
import { type Learned, learnOnce } from "../learn/learn.ts";
import type { LearnRequest } from "../learn/learner.ts";
import { modelToBytes } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import type { Command } from "./command.ts";
import { dataFlags, fromModel, readOptions, sayNotes } from "./data.ts";
import { type Flags, given, type Parsed, quietFlag, threadsFlag, UsageError } from "./flags.ts";
import { openModel } from "./models.ts";
import { showReading } from "./progress.ts";
import { Stopped, watchSignals } from "./signals.ts";
import { sizeText, type Terminal, terminal } from "./terminal.ts";

const flags: Flags = {
  state: { kind: "text", value: "STATE", help: "the state that was written with the model (required)" },
  out: { kind: "text", value: "MODEL2", help: "where the new model goes", default: "in place of MODEL" },
  forget: { kind: "switch", help: "take the documents of FILE out, by their ids" },
  weight: {
    kind: "whole",
    from: 1,
    to: MOST_WEIGHT,
    help: "each document counts as N; forgetting it takes as much away",
    default: "1",
  },
  json: { kind: "switch", help: "print what was done as JSON" },
  threads: threadsFlag,
  quiet: quietFlag,
  ...dataFlags,
};

interface Asked {
  model: string;
  file: string;
  state: string;
  out: string;
}

/** What was asked for, looked at before any work is done for it. */
async function asked(parsed: Parsed): Promise<Asked> {
  const [model, file, ...more] = parsed.positional;
  if (model === undefined || file === undefined || more.length > 0)
    throw new UsageError("mlgpf learn takes a model and one data file");
  const state = parsed.text("state");
  if (state === undefined)
    throw new UsageError("mlgpf learn needs --state STATE, as mlgpf train --state wrote it");
  if (parsed.on("forget") && parsed.number("weight") !== undefined)
    throw new UsageError(
      "--weight: found with --forget, expected without: what is forgotten counts as it was learned",
    );
  const out = parsed.text("out") ?? model;
  for (const path of [out, state]) {
    await checkWritable(path);
    await checkKeepable(path);
  }
  return { model, file, state, out };
}

async function run(parsed: Parsed): Promise<void> {
  const paths = await asked(parsed);
  const release = await takeLock(`${paths.state}.lock`, paths.state);
  try {
    await learnFile(paths, parsed);
  } finally {
    await release();
  }
}

async function learnFile(paths: Asked, parsed: Parsed): Promise<void> {
  const screen = terminal(parsed.on("quiet"));
  await finishTogether(recordOf(paths.state));
  const model = await openModel(paths.model, paths.file);
  const state = await openState(paths.state);
  const request = await readRequest(paths.file, parsed, model, screen);
  const learned = await learnWatched(model, state, request, parsed.number("threads"), screen).catch(
    (error) => {
      throw error instanceof LearningError
        ? new Error(`${paths.state}, ${paths.file}: ${error.message}`)
        : error;
    },
  );
  const chunks = stateChunks(learned.state);
  await writeTogether(recordOf(paths.state), [
    { path: paths.out, content: modelToBytes(learned.model) },
    { path: paths.state, content: chunks },
  ]);
  const { learned: count, corrected, forgotten, newLabels } = learned;
  const documents = learned.model.summary.points;
  if (parsed.on("json"))
    console.log(JSON.stringify({ learned: count, corrected, forgotten, newLabels, documents }));
  screen.say(
    `${count} documents learned (${corrected} of them in place of an earlier version), ${forgotten} forgotten, ` +
      `${newLabels} new labels: ${documents} documents in all`,
  );
  const size = sizeText(chunks.reduce((sum, { length }) => sum + length, 0));
  screen.say(`${paths.out} and ${paths.state} (${size}) written`);
}

async function openState(path: string): Promise<LearningState> {
  return stateFromTensors(await readSafetensorsFile(path), path);
}

/** The documents of the file, or with --forget their ids. */
async function readRequest(
  file: string,
  parsed: Parsed,
  model: TrainedModel,
  screen: Terminal,
): Promise<LearnRequest> {
  if (parsed.on("forget")) return { forget: await readIds(file, parsed, screen) };
  return { documents: await readDocuments(file, parsed, model, screen), weight: parsed.number("weight") };
}

async function readDocuments(
  file: string,
  parsed: Parsed,
  model: TrainedModel,
  screen: Terminal,
): Promise<Dataset> {
  const options = { ...readOptions(parsed), ...fromModel(model) };
  const words = new NewWords();
  if (options.vectoriser) options.vectoriser.newWords = words;
  const result = await readDataset(file, {
    ...options,
    onProgress: showReading(screen, file),
  });
  sayNotes(file, result, screen);
  const about = aboutNewWords(words.counts());
  if (about !== undefined) screen.say(about);
  return result.dataset;
}

/** Ids alone: what else stands in the rows is not looked at. */
async function readIds(file: string, parsed: Parsed, screen: Terminal): Promise<readonly string[]> {
  const options = readOptions(parsed);
  const nothing = new TfidfVectoriser({ options: {}, documents: 0, terms: [], documentFrequency: [] });
  const result = await readDataset(file, {
    ...options,
    text: options.id ?? "id",
    nameOption: () => "--id",
    requireLabels: false,
    vectoriser: nothing,
  });
  sayNotes(file, { ...result, notes: [] }, screen);
  return result.dataset.ids ?? new Array<string>(result.dataset.features.rows).fill("");
}

/** Learns with progress on the screen; a signal stops it, and nothing is changed. */
async function learnWatched(
  model: TrainedModel,
  state: LearningState,
  request: LearnRequest,
  threads: number | undefined,
  screen: Terminal,
): Promise<Learned> {
  const stop = watchSignals();
  try {
    return await learnOnce(model, state, request, {
      ...given({ threads }),
      signal: stop.signal,
      onProgress: ({ stage, fraction }) => screen.show([stage], fraction),
    });
  } catch (error) {
    throw stop.came ? new Stopped("stopped; nothing was changed", stop.came) : error;
  } finally {
    screen.done();
    stop.end();
  }
}

export const learnCommand: Command = {
  name: "learn",
  usage: "mlgpf learn MODEL FILE --state STATE [--out MODEL2] [--forget]",
  summary: "learn new and corrected documents (same id), or forget some: as if the model had been trained so",
  examples: [
    "mlgpf train docs.jsonl --out tagger.safetensors --state tagger.state",
    "mlgpf learn tagger.safetensors new.jsonl --state tagger.state",
    "mlgpf learn tagger.safetensors gone.csv --state tagger.state --forget --out smaller.safetensors",
  ],
  flags,
  run,
};
