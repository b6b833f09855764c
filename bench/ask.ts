// What asking is worth: a model of 500 documents learns 250 more at a time, those that `query` chooses among 10,000 or those that
// come next, and is measured on other documents; in the end how many documents it took by asking to be as good as with all
// that came next. --rounds says how many times it learns (18 makes 5,000 documents). What is measured goes into
// bench/ask.jsonl, and run again the bench goes on behind it. --only takes one seed, or "small" (100 at a time among 1,000);
// nothing is kept then.

import { appendFileSync, existsSync } from "node:fs";
import type { DataRow } from "../src/data/options.ts";
import { Learner } from "../src/learn/learner.ts";
import { query } from "../src/learn/query.ts";
import type { Model } from "../src/model/model.ts";
import type { LearningState } from "../src/parts/regression/state.ts";
import { train } from "../src/train/train.ts";
import type { BenchOptions } from "./harness.ts";
import { dataFor, figuresOf, readLines, readRows, shown, type TextFigures } from "./texts.ts";

const RESULTS = "bench/ask.jsonl";
const SEEDS = [1, 2, 3];

interface Sizes {
  start: number;
  batch: number;
  pool: number;
  measured: number;
}

const FULL: Sizes = { start: 500, batch: 250, pool: 10_000, measured: 1000 };
const SMALL: Sizes = { start: 300, batch: 100, pool: 1000, measured: 200 };

/** What was measured after some documents were labelled. */
interface AskLine extends TextFigures {
  seed: number;
  way: string;
  documents: number;
  /** Ids of the documents that were learned last. */
  chosen: string[];
}

/** Which of the rows are to be labelled. */
type Choose = (model: Model, rows: readonly DataRow[], count: number) => Promise<number[]>;

const ways: Record<string, Choose> = {
  ask: async (model, rows, top) => (await query(model, await dataFor(rows, model), { top })).map(({ row }) => row),
  next: async (_model, _rows, count) => Array.from({ length: count }, (_, i) => i),
};

export async function askBench({ json, rounds, only }: BenchOptions): Promise<void> {
  const results = only === undefined ? RESULTS : undefined;
  const small = only === "small";
  const lines: AskLine[] = results !== undefined && existsSync(results) ? readLines<AskLine>(results) : [];
  for (const seed of only === undefined || small ? SEEDS : [Number(only)]) {
    const sizes = small ? SMALL : FULL;
    const rows = await readRows("train", seed);
    const measured = (await readRows("dev", seed))?.slice(0, sizes.measured);
    if (rows === undefined || measured === undefined) return;
    const say = (line: AskLine): void => {
      lines.push(line);
      if (results !== undefined) appendFileSync(results, `${JSON.stringify(line)}\n`);
      const { way, documents, chosen: _, ...figures } = line;
      if (json) console.log(JSON.stringify({ way, documents, ...figures }));
      else console.log(`seed ${seed}  ${way.padEnd(5)} ${String(documents).padStart(6)}   ${shown(line)}`);
    };
    const done = lines.filter((line) => line.seed === seed);
    if (done.length < rounds * Object.keys(ways).length)
      await measureSeed({ seed, sizes, rows, measured, rounds, done, say });
    const needed = documentsNeeded(lines.filter((line) => line.seed === seed));
    console.log(json ? JSON.stringify({ seed, ...needed }) : `seed ${seed}  ${JSON.stringify(needed)}`);
  }
}

interface Seed {
  seed: number;
  sizes: Sizes;
  rows: readonly DataRow[];
  measured: readonly DataRow[];
  rounds: number;
  done: readonly AskLine[];
  say: (line: AskLine) => void;
}

async function measureSeed({ seed, sizes, rows, measured, rounds, done, say }: Seed): Promise<void> {
  const { start: first, batch, pool: size } = sizes;
  const made: { state?: LearningState } = {};
  const onState = (state: LearningState): void => {
    made.state = state;
  };
  // All words are in the vocabulary from the start: what is compared is which labels are learned.
  const { vectoriser } = await dataFor(rows.slice(0, first + size));
  const words = vectoriser ? { vectoriser } : {};
  const begun = await dataFor(rows.slice(0, first), undefined, words);
  const start = await train(begun, { model: "gpr", onState });
  for (const [way, choose] of Object.entries(ways)) {
    const before = done.filter((line) => line.way === way);
    using learner = await Learner.open(start, made.state as LearningState);
    const known = new Set(before.flatMap(({ chosen }) => chosen));
    const isKnown = ({ id }: DataRow): boolean => known.has(String(id));
    let pool = rows.slice(first, first + size);
    if (known.size > 0) await learner.learn({ documents: await dataFor(pool.filter(isKnown), learner.model) });
    pool = pool.filter((row) => !isKnown(row));
    for (let round = before.length; round < rounds; round++) {
      const taken = new Set(await choose(learner.model, pool, batch));
      const chosen = pool.filter((_, i) => taken.has(i));
      await learner.learn({ documents: await dataFor(chosen, learner.model) });
      pool = pool.filter((_, i) => !taken.has(i));
      const figures = await figuresOf(learner.model, measured);
      const documents = first + (round + 1) * batch;
      say({ seed, way, documents, ...figures, chosen: chosen.map(({ id }) => String(id)) });
    }
  }
}

/** The F1@5 of all documents that came next, and how many documents by asking are as good; null where none were. */
function documentsNeeded(lines: readonly AskLine[]): { f1: number; next: number; ask: number | null } {
  const last = lines.filter(({ way }) => way === "next").at(-1) as AskLine;
  const asked = lines.find(({ way, f1 }) => way === "ask" && f1 >= last.f1);
  return { f1: last.f1, next: last.documents, ask: asked?.documents ?? null };
}
