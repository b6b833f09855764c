// The worker that reads data and trains. Pausing is cancelling with a checkpoint, from which the training goes on to the
// same bytes; finishing ends the steps with the model there is.

import type { LearningState } from "../../src/closed/state.ts";
import { type Dataset, readDataset, selectRows, splitRows } from "../../src/data/index.ts";
import { joined } from "../../src/io/safetensors.ts";
import { modelToBytes } from "../../src/model/file.ts";
import { type RunOptions, train } from "../../src/train/train.ts";
import { missingColumn } from "./columns.ts";
import {
  inWords,
  type TrainerReply,
  type TrainerRequest,
  type TrainSettings,
  type WorkerScope,
} from "./messages.ts";

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
  if (!response.ok)
    throw new Error(`${SAMPLE}: found status ${response.status}, expected the sample beside the page`);
  return await response.blob();
}

async function read(source: "sample" | File, settings: TrainSettings): Promise<Task> {
  const blob = source === "sample" ? await openSample() : source;
  const file = source === "sample" ? "The sample" : source.name;
  const { dataset, format, skipped, notes } = await readDataset(blob, {
    file: source === "sample" ? SAMPLE : file,
    lenient: settings.lenient,
    ...(settings.textName ? { text: settings.textName } : {}),
    ...(settings.labelsName ? { labels: settings.labelsName } : {}),
    onProgress: ({ bytes, rows }) => scope.postMessage({ kind: "reading", bytes, total: blob.size, rows }),
  });
  const rows = dataset.features.rows;
  const { kept, held } = splitRows(rows, settings.heldOut);
  const measured = held.length >= LEAST_HELD;
  scope.postMessage({
    kind: "data",
    summary: {
      file,
      format,
      points: measured ? kept.length : rows,
      heldPoints: measured ? held.length : 0,
      features: dataset.features.columns,
      labels: dataset.labels.labels,
      skipped: skipped.total,
      notes,
    },
  });
  return {
    settings,
    ...(measured
      ? { training: selectRows(dataset, kept), validation: selectRows(dataset, held) }
      : { training: dataset }),
  };
}

/** Trains from the start or from the checkpoint, to the end or to the next pause. */
async function run(job: Task): Promise<void> {
  const { training, validation, settings } = job;
  const { device, likelihood, epochs, factors, seed } = settings;
  let state: LearningState | undefined;
  // With passes or latent functions of one's own `auto` is the likelihood that has them, which cannot go on learning.
  const inSteps = likelihood === "bernoulli" || epochs !== undefined || factors !== undefined;
  const learns = !inSteps && training.vectoriser && training.features.rows <= MOST_TO_LEARN;
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
    likelihood,
    ...(epochs === undefined ? {} : { epochs }),
    ...(factors === undefined ? {} : { factors }),
    ...(seed === undefined ? {} : { seed }),
  };
  try {
    const model = await train(training, { ...what, ...how });
    const bytes = modelToBytes(model);
    const precision = model.summary.validation?.["P@1"];
    scope.postMessage({ kind: "trained", bytes, state, precision }, [bytes.buffer]);
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
