// A year at a library: a model of 5,000 documents that learns 500 at a time, measured on each batch before it learns it,
// beside one that never learns and one that is trained anew on all documents so far. --rounds says how many batches
// (default 11), --only "date" takes documents in the order of the file, "both" the linear form with latent functions.

import type { LearningState } from "../src/closed/state.ts";
import { Learner } from "../src/learn/learner.ts";
import { train } from "../src/train/train.ts";
import type { BenchOptions } from "./harness.ts";
import { dataFor, figuresOf, readRows, shown } from "./texts.ts";

const [START, BATCH] = [5000, 500];
/** A training from scratch every so many batches. */
const ANEW_EVERY = 4;
/** The order of the documents; another number is another year. */
const SEED = 1;

export async function yearBench({ json, rounds, only = "" }: BenchOptions): Promise<void> {
  const rows = await readRows("train", only.includes("date") ? undefined : SEED);
  if (rows === undefined) return;
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
