// The worker that reads data and trains. Pausing is cancelling with a checkpoint, from which the training goes on to the
// same bytes; finishing ends the steps with the model there is.

import { ArgumentError } from "../../src/base/errors.ts";
import { joined } from "../../src/base/safetensors.ts";
import { type Dataset, mapColumns } from "../../src/data/dataset.ts";
import { readDataset } from "../../src/data/index.ts";
import type { ReadOptions, ReadResult } from "../../src/data/options.ts";
import { modelToBytes } from "../../src/model/file.ts";
import type { LearningState } from "../../src/parts/regression/state.ts";
import { holdOut } from "../../src/train/holdout.ts";
import { type RunOptions, train } from "../../src/train/train.ts";
import { missingColumn } from "./columns.ts";
import { measureHeldOut } from "./heldout.ts";
import { inWords, type TrainerReply, type TrainerRequest, type TrainSettings, type WorkerScope } from "./messages.ts";

const scope = globalThis as unknown as WorkerScope<TrainerRequest, TrainerReply>;
const SAMPLE = "sample.jsonl.gz";
/** With fewer points there is nothing to measure on. */
const LEAST_HELD = 5;
/** With more points, what learning needs is too much to hold beside the model in a page. */
const MOST_TO_LEARN = 30_000;
/** Seconds between checkpoints of which none is wanted but that of a pause: longer than any training. */
const NEVER = 1e9;

interface Task {
  training: Dataset;
  validation?: Dataset;
  settings: TrainSettings;
}

let task: Task | undefined;
let checkpoint: Uint8Array | undefined;
let running = new AbortController();
let finishing = new AbortController();
let paused = false;

async function openSample(): Promise<Blob> {
  const response = await fetch(new URL(SAMPLE, import.meta.url));
  if (!response.ok) throw new Error(`${SAMPLE}: found status ${response.status}, expected the sample beside the page`);
  return await response.blob();
}

function ignoreFew(error: unknown): undefined {
  if (!(error instanceof ArgumentError)) throw error;
}

async function read(source: "sample" | File, settings: TrainSettings): Promise<Task> {
  const blob = source === "sample" ? await openSample() : source;
  const file = source === "sample" ? "The sample" : source.name;
  const { lenient, textName, labelsName, oneHot, heldOut, seed = 0 } = settings;
  const read = (options: ReadOptions): Promise<ReadResult> =>
    readDataset(blob, {
      file: source === "sample" ? SAMPLE : file,
      lenient,
      nameOption: (option) => (option === "text" || option === "labels" ? "the list below" : option),
      ...(textName && { text: textName }),
      ...(labelsName && { labels: labelsName }),
      ...(oneHot && { oneHot }),
      ...options,
    });
  const whole = await read({
    onProgress: ({ bytes, rows }) => scope.postMessage({ kind: "reading", bytes, total: blob.size, rows }),
  });
  const { format, skipped, notes } = whole;
  const { rows } = whole.dataset.features;
  // Split before words are read: the vocabulary comes from the rows that are trained on alone.
  const texts = whole.dataset.vectoriser ? (textName ?? ["text"]) : [];
  const apart = async (which: ReadOptions): Promise<Dataset> => (await read({ ...which, keep: texts })).dataset;
  // Rows with the same words stay on one side: where all are copies of a few there is nothing to hold out.
  const halves =
    Math.round(heldOut * rows) >= LEAST_HELD ? await holdOut(apart, heldOut, seed).catch(ignoreFew) : undefined;
  const training = halves?.kept ?? whole.dataset;
  scope.postMessage({
    kind: "data",
    summary: {
      file,
      format,
      points: training.features.rows,
      heldPoints: halves?.held.features.rows ?? 0,
      features: training.features.columns,
      labels: training.labels.labels,
      skipped: skipped.total,
      notes:
        halves || heldOut === 0
          ? notes
          : [...notes, "No rows are held out to measure on: too few of them are different"],
    },
  });
  return { settings, training, ...(halves && { validation: halves.held }) };
}

/** Trains from the start or from the checkpoint, to the end or to the next pause. */
async function run(job: Task): Promise<void> {
  const { training, validation, settings } = job;
  const { device, model: chosen, epochs, factors, seed } = settings;
  let state: LearningState | undefined;
  // With passes or latent functions of one's own `auto` is the model that has them, which cannot go on learning.
  const inSteps = chosen === "auto" && (epochs !== undefined || factors !== undefined);
  const canLearn = chosen !== "svgp" && chosen !== "sgpr" && !inSteps;
  const learns = canLearn && training.vectoriser && training.features.rows <= MOST_TO_LEARN;
  running = new AbortController();
  paused = false;
  const { signal } = running;
  const how: RunOptions = {
    device,
    signal,
    finish: finishing.signal,
    checkpointSeconds: NEVER,
    onCheckpoint: (chunks) => {
      checkpoint = joined(chunks);
    },
    onProgress: (progress) => scope.postMessage({ kind: "progress", progress }),
    ...(validation ? { validation } : {}),
    ...(checkpoint ? { resume: checkpoint } : {}),
    ...(learns
      ? {
          onState: (made: LearningState) => {
            state = made;
          },
        }
      : {}),
  };
  const what = {
    model: chosen,
    ...(epochs === undefined ? {} : { epochs }),
    ...(factors === undefined ? {} : { factors }),
    ...(seed === undefined ? {} : { seed }),
  };
  try {
    const model = await train(training, { ...what, ...how });
    const bytes = modelToBytes(model);
    const precision = model.summary.validation?.["P@1"];
    const held = validation && (await measureHeldOut(model, mapColumns(validation, model.schema.columnIds)));
    scope.postMessage({ kind: "trained", bytes, state, precision, held }, [bytes.buffer]);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    paused = true;
    if (finishing.signal.aborted) return await run(job);
    scope.postMessage({ kind: "paused" });
  }
}

async function answer(request: TrainerRequest): Promise<void> {
  if (request.kind === "pause") return running.abort();
  if (request.kind === "finish") {
    finishing.abort();
    // From a pause it goes on for one step, to the model.
    if (!paused) return;
  }
  if (request.kind === "train") {
    checkpoint = undefined;
    finishing = new AbortController();
    task = await read(request.source, request.settings);
  }
  if (task) await run(task);
}

scope.onmessage = ({ data }) => {
  answer(data).catch((error: unknown) => {
    const columns = missingColumn(error);
    scope.postMessage({ kind: "failed", message: inWords(error), ...(columns && { columns }) });
  });
};
