// A year at a library: a model of 5,000 documents of EUR-Lex that learns 500 at a time, measured on each batch before it
// learns it, beside one that never learns and one that is trained anew on all documents so far. What is measured goes into
// bench/year.jsonl line by line, and run again the bench goes on behind them; the plot of all lines is docs/images/year.svg.
//
// --rounds N  so many batches in all
// --only      words of: date (documents as the file has them, not by a hash of their ids), both (a linear and a
//             variational part), weights (beside it learners for which a document counts as 2 and as 4), small (1,000 documents and
//             100 at a time, trained anew at the end; nothing is kept)

import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import type { DataRow } from "../src/data/options.ts";
import { Learner } from "../src/learn/learner.ts";
import type { Model } from "../src/model/model.ts";
import type { TrainOptions } from "../src/parts/options.ts";
import type { LearningState } from "../src/parts/regression/state.ts";
import { train } from "../src/train/train.ts";
import type { BenchOptions } from "./harness.ts";
import { dataFor, figuresOf, readLines, readRows, shown, type TextFigures } from "./texts.ts";
import { yearPlot } from "./yearplot.ts";

const RESULTS = "bench/year.jsonl";
const PLOT = "docs/images/year.svg";
/** The order of the documents; another number is another year. */
const SEED = 1;
const WEIGHTS = [2, 4];

interface Year {
  start: number;
  batch: number;
  /** A training from scratch every so many batches. */
  anewEvery: number;
  /** Where lines are kept, if they are. */
  results?: string | undefined;
}

const FULL: Year = { start: 5000, batch: 500, anewEvery: 4, results: RESULTS };
const SMALL: Year = { start: 1000, batch: 100, anewEvery: 4 };

/** What was measured on a batch before it was learned. */
export interface YearLine {
  documents: number;
  /** By name: learned, never, anew, "counts as 2". */
  figures: Record<string, TextFigures>;
  newLabels: number;
  seconds: number;
}

export async function yearBench({ json, rounds, only = "" }: BenchOptions): Promise<void> {
  const asked = new Set(only.split(/[\s,]+/));
  const rows = await readRows("train", asked.has("date") ? undefined : SEED);
  if (rows === undefined) return;
  // The plot is of the plain year.
  const year = asked.has("small") ? SMALL : { ...FULL, results: only === "" ? RESULTS : undefined };
  const model = asked.has("both") ? "linear+svgp" : "gpr";
  const weights = asked.has("weights") ? WEIGHTS : [];
  const lines = await measure(rows, year, { model }, rounds, weights, (line) =>
    console.log(json ? JSON.stringify(line) : described(line)),
  );
  console.log(json ? JSON.stringify(meansOf(lines)) : `means: ${JSON.stringify(meansOf(lines))}`);
  if (year.results !== undefined) writeFileSync(PLOT, yearPlot(lines));
}

/** Measures and learns batch by batch, behind the lines that there are already. */
async function measure(
  rows: readonly DataRow[],
  { start: first, batch, anewEvery, results }: Year,
  options: TrainOptions,
  rounds: number,
  weights: readonly number[],
  say: (line: YearLine) => void,
): Promise<YearLine[]> {
  const lines = results !== undefined && existsSync(results) ? readLines<YearLine>(results) : [];
  for (const line of lines) say(line);
  if (lines.length >= rounds) return lines;
  const { start, learners } = await opened(rows, first, first + lines.length * batch, options, weights);
  for (let i = lines.length; i < rounds; i++) {
    const from = first + i * batch;
    const next = rows.slice(from, from + batch);
    if (next.length === 0) break;
    const figures: YearLine["figures"] = { never: await figuresOf(start, next) };
    for (const [name, { learner }] of learners) figures[name] = await figuresOf(learner.model, next);
    if (i % anewEvery === anewEvery - 1)
      figures.anew = await figuresOf(await train(await dataFor(rows.slice(0, from)), options), next);
    let [newLabels, seconds] = [0, 0];
    for (const { learner, weight } of learners.values()) {
      const documents = await dataFor(next, learner.model);
      const begin = performance.now();
      const lessons = await learner.learn({ documents, weight });
      if (weight === 1) [newLabels, seconds] = [lessons.newLabels, (performance.now() - begin) / 1000];
    }
    const line = { documents: from, figures, newLabels, seconds };
    lines.push(line);
    if (results !== undefined) appendFileSync(results, `${JSON.stringify(line)}\n`);
    say(line);
  }
  for (const { learner } of learners.values()) learner.dispose();
  return lines;
}

type Learners = Map<string, { learner: Learner; weight: number }>;

/** The model of the first documents, and those that have learned all up to `known`, a learner for each weight. */
async function opened(
  rows: readonly DataRow[],
  first: number,
  known: number,
  options: TrainOptions,
  weights: readonly number[],
): Promise<{ start: Model; learners: Learners }> {
  const made: { state?: LearningState } = {};
  const onState = (state: LearningState): void => {
    made.state = state;
  };
  const start = await train(await dataFor(rows.slice(0, first)), { ...options, onState });
  const learners: Learners = new Map();
  for (const weight of [1, ...weights]) {
    const learner = await Learner.open(start, made.state as LearningState);
    if (known > first) await learner.learn({ documents: await dataFor(rows.slice(first, known), start), weight });
    learners.set(weight === 1 ? "learned" : `counts as ${weight}`, { learner, weight });
  }
  return { start, learners };
}

function described({ documents, figures, newLabels, seconds }: YearLine): string {
  const cells = Object.entries(figures).map(([name, each]) => `${name} ${shown(each)}`);
  return [documents, ...cells, `${newLabels} new labels`, `${seconds.toFixed(1)} s`].join("   ");
}

/** Means over the batches, of each model beside the one that learns on the same batches. */
function meansOf(lines: readonly YearLine[]): Record<string, { learned: TextFigures; other: TextFigures }> {
  const names = new Set(lines.flatMap(({ figures }) => Object.keys(figures)));
  names.delete("learned");
  const mean = (all: readonly TextFigures[]): TextFigures => ({
    precision: all.reduce((sum, { precision }) => sum + precision, 0) / all.length,
    f1: all.reduce((sum, { f1 }) => sum + f1, 0) / all.length,
  });
  return Object.fromEntries(
    [...names].map((name) => {
      const beside = lines.filter(({ figures }) => figures[name]);
      const of = (which: string): TextFigures => mean(beside.map(({ figures }) => figures[which]));
      return [name, { learned: of("learned"), other: of(name) }];
    }),
  );
}
