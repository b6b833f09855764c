// What asking is worth: a model of 500 documents learns 100 more at a time, those that `ask` chooses among 4,000 or those
// that come next, and is measured on other documents. --rounds says how many times it learns.

import type { LearningState } from "../src/closed/state.ts";
import type { DataRow } from "../src/data/options.ts";
import { ask } from "../src/learn/ask.ts";
import { Learner } from "../src/learn/learner.ts";
import type { TrainedModel } from "../src/model/model.ts";
import { train } from "../src/train/train.ts";
import type { BenchOptions } from "./harness.ts";
import { dataFor, figuresOf, readRows, shown } from "./texts.ts";

const [START, BATCH, POOL, MEASURED] = [500, 100, 4000, 1000];
const SEEDS = [1, 2, 3];

/** Which of the rows are to be labelled. */
type Choose = (model: TrainedModel, rows: readonly DataRow[]) => Promise<number[]>;

const ways: Record<string, Choose> = {
  ask: async (model, rows) =>
    (await ask(model, await dataFor(rows, model), { top: BATCH })).map(({ row }) => row),
  next: async () => Array.from({ length: BATCH }, (_, i) => i),
};

export async function askBench({ json, rounds, only }: BenchOptions): Promise<void> {
  for (const seed of only === undefined ? SEEDS : [Number(only)]) {
    const rows = await readRows("train", seed);
    const measured = (await readRows("dev", seed))?.slice(0, MEASURED);
    if (rows === undefined || measured === undefined) return;
    const first: { state?: LearningState } = {};
    const onState = (state: LearningState): void => {
      first.state = state;
    };
    // All words are in the vocabulary from the start: what is compared is which labels are learned.
    const { vectoriser } = await dataFor(rows.slice(0, START + POOL));
    const words = vectoriser ? { vectoriser } : {};
    const start = await train(await dataFor(rows.slice(0, START), undefined, words), {
      likelihood: "gaussian",
      onState,
    });
    for (const [way, choose] of Object.entries(ways)) {
      using learner = await Learner.open(start, first.state as LearningState);
      let pool = rows.slice(START, START + POOL);
      for (let round = 0; round < rounds; round++) {
        const chosen = new Set(await choose(learner.model, pool));
        const documents = await dataFor(
          pool.filter((_, i) => chosen.has(i)),
          learner.model,
        );
        await learner.learn({ documents });
        pool = pool.filter((_, i) => !chosen.has(i));
        const figures = await figuresOf(learner.model, measured);
        const labelled = START + (round + 1) * BATCH;
        if (json) console.log(JSON.stringify({ seed, way, documents: labelled, ...figures }));
        else
          console.log(`seed ${seed}  ${way.padEnd(5)} ${String(labelled).padStart(6)}   ${shown(figures)}`);
      }
    }
  }
}
