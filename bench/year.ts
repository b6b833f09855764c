// A year at a library: a model of 5,000 documents that learns 500 at a time, measured on each batch before it learns it,
// beside one that never learns and one that is trained anew on all documents so far. --rounds says how many batches
// (default 11), --only "date" takes documents in the order of the file, "both" the linear form with latent functions.

import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { withPredictor } from "../src/cli/models.ts";
import type { LearningState } from "../src/closed/state.ts";
import type { Dataset } from "../src/data/dataset.ts";
import { hashText } from "../src/data/hash.ts";
import type { DataRow } from "../src/data/options.ts";
import { readDataset } from "../src/data/reader.ts";
import { Learner } from "../src/learn/learner.ts";
import type { TrainedModel } from "../src/model/model.ts";
import { readingFor } from "../src/model/reading.ts";
import { evaluate } from "../src/predict/evaluate.ts";
import { train } from "../src/train/train.ts";
import type { BenchOptions } from "./harness.ts";

const FILE = "../shared/data/eurlex-text/train.jsonl.gz";
const [START, BATCH] = [5000, 500];
/** A training from scratch every so many batches. */
const ANEW_EVERY = 4;
/** The order of the documents; another number is another year. */
const SEED = 1;

async function readRows(byDate: boolean): Promise<DataRow[]> {
  const rows: DataRow[] = [];
  for await (const line of createInterface({ input: createReadStream(FILE).pipe(createGunzip()) }))
    rows.push(JSON.parse(line));
  if (byDate) return rows;
  const key = ({ id }: DataRow): number => hashText(String(id), SEED);
  return rows.sort((a, b) => key(a) - key(b));
}

const dataFor = async (rows: readonly DataRow[], model?: TrainedModel): Promise<Dataset> =>
  (await readDataset([...rows], model ? readingFor(model) : {})).dataset;

interface Figures {
  precision: number;
  f1: number;
}

async function figuresOf(model: TrainedModel, rows: readonly DataRow[]): Promise<Figures> {
  const data = await dataFor(rows, model);
  return await withPredictor(model, undefined, async (predictor) => {
    const { metrics } = (await evaluate(predictor, data)).ranking;
    return { precision: metrics["P@1"] as number, f1: metrics["F1@5"] as number };
  });
}

const shown = (figures: Figures | undefined): string =>
  figures ? `${figures.precision.toFixed(1)} / ${figures.f1.toFixed(1)}` : "";

export async function yearBench({ json, rounds, only = "" }: BenchOptions): Promise<void> {
  if (!existsSync(FILE)) return console.log(`skipped: ${FILE} is not here`);
  const rows = await readRows(only.includes("date"));
  const likelihood = only.includes("both") ? "both" : "gaussian";
  const first: { state?: LearningState } = {};
  const onState = (state: LearningState): void => {
    first.state = state;
  };
  const start = await train(await dataFor(rows.slice(0, START)), { likelihood, onState });
  const learner = await Learner.open(start, first.state as LearningState);
  const row = (cells: readonly string[]): string => cells.map((cell) => cell.padStart(16)).join("");
  if (!json) console.log(row(["documents", "learned", "never", "anew", "new labels", "seconds"]));
  for (let i = 0; i < rounds; i++) {
    const from = START + i * BATCH;
    const next = rows.slice(from, from + BATCH);
    if (next.length === 0) break;
    const learned = await figuresOf(learner.model, next);
    const never = await figuresOf(start, next);
    const anew =
      i % ANEW_EVERY === ANEW_EVERY - 1
        ? await figuresOf(await train(await dataFor(rows.slice(0, from)), { likelihood }), next)
        : undefined;
    const begin = performance.now();
    const { newLabels } = await learner.learn({ documents: await dataFor(next, learner.model) });
    const seconds = (performance.now() - begin) / 1000;
    const line = { documents: from, learned, never, ...(anew && { anew }), newLabels, seconds };
    if (json) console.log(JSON.stringify(line));
    else
      console.log(
        row([String(from), shown(learned), shown(never), shown(anew), String(newLabels), seconds.toFixed(1)]),
      );
  }
  learner.dispose();
}
