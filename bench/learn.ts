// Learning 500 texts of EUR-Lex's development part into a linear model, from files to files: what is new behind the end of the state, and
// beside it with all of it written anew. 10 texts into an exact model: the inverse that its state keeps grows, and beside it is made anew.
// Then reasons for the labels of texts by an exact model. All in milliseconds of processor time.
//
// MODEL STATE  files of a linear model to learn into; without them one is trained
// --texts N    texts to train on (default 15,000; of the exact model 10,000, for reasons 2,000)
// --only WORD  linear, exact or reasons

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { safetensorsChunks } from "../src/base/safetensors.ts";
import type { DataRow } from "../src/data/options.ts";
import { readSafetensorsFile, readWhole, writeAtomically } from "../src/io/files.ts";
import { recordOf, writeTogether } from "../src/io/together.ts";
import { learn } from "../src/learn/learn.ts";
import { Learner } from "../src/learn/learner.ts";
import { modelFromTensors, modelToTensors } from "../src/model/file.ts";
import { type LearningState, stateChunks, stateContent, stateFromBytes } from "../src/parts/regression/state.ts";
import { loadModel } from "../src/predict/load.ts";
import { train } from "../src/train/train.ts";
import { type BenchOptions, type Contender, report } from "./harness.ts";
import { dataFor, readRows } from "./texts.ts";

const LEARNED = 500;
const [KEPT, FEW] = [10_000, 10];
const [EXACT, EXPLAINED] = [2000, 50];

/** Milliseconds of processor time, of all threads. */
const worked = (work: () => Promise<unknown>) => async (): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

export async function learnBench(options: BenchOptions): Promise<void> {
  const [rows, others] = [await readRows("train", 1), await readRows("dev", 1)];
  if (!rows || !others) return;
  const { only } = options;
  if (!only || "linear".includes(only)) await linearBench(rows, others, options);
  if (!only || "exact".includes(only)) await exactBench(rows, others.slice(0, FEW), options);
  if (!only || "reasons".includes(only)) await reasons(rows, others.slice(0, EXPLAINED), options);
}

async function exactBench(
  rows: readonly DataRow[],
  arriving: readonly DataRow[],
  options: BenchOptions,
): Promise<void> {
  const { texts = KEPT } = options;
  let state: LearningState | undefined;
  const onState = (made: LearningState): void => {
    state = made;
  };
  const model = await train(await dataFor(rows.slice(0, texts)), { model: "gpr", onState });
  const kept = state as LearningState;
  const contender = (name: string, from: LearningState): Contender => ({
    name,
    run: async () => {
      const learner = await Learner.open(model, from, { threads: 1 });
      try {
        const documents = await dataFor(arriving, model);
        return await worked(() => learner.learn({ documents }))();
      } finally {
        learner.dispose();
      }
    },
  });
  const contenders = [contender("C grows", kept), contender("C made anew", { ...kept, inverse: undefined })];
  const name = `learning ${arriving.length} texts, exact model of ${texts}, one thread`;
  await report({ name, contenders, rounds: Math.min(3, options.rounds) }, options);
}

async function linearBench(rows: readonly DataRow[], others: readonly DataRow[], options: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-learn-"));
  try {
    const { texts = 15_000, files } = options;
    const [model, state] = files.length === 2 ? files : await trained(rows.slice(0, texts), folder);
    const arriving = others.slice(0, LEARNED);
    const contender = (name: string, anew: boolean): Contender => {
      const [toModel, toState] = [join(folder, `${anew}.safetensors`), join(folder, `${anew}.state`)];
      const work = async (): Promise<void> => {
        const known = modelFromTensors(await readSafetensorsFile(model));
        const learned = await learn(known, stateFromBytes(await readWhole(state)), arriving);
        const { content, behind } = stateContent(anew ? { ...learned.state, file: undefined } : learned.state);
        await writeTogether(recordOf(toState), [
          { path: toModel, content: safetensorsChunks(modelToTensors(learned.model)) },
          { path: toState, content, behind },
        ]);
      };
      const run = async (): Promise<number> => {
        // A change goes behind a file that is there.
        await writeAtomically(toState, await readWhole(state));
        return await worked(work)();
      };
      return { name, run };
    };
    await report(
      {
        name: `learning ${LEARNED} texts, linear model, state of ${Math.round(statSync(state).size / 1e6)} MB`,
        contenders: [contender("behind the state", false), contender("state written anew", true)],
        rounds: Math.min(3, options.rounds),
      },
      options,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function trained(rows: readonly DataRow[], folder: string): Promise<[string, string]> {
  let state: LearningState | undefined;
  const onState = (made: LearningState): void => {
    state = made;
  };
  const model = await train(await dataFor(rows), { model: "linear", onState });
  const files: [string, string] = [join(folder, "model"), join(folder, "state")];
  await writeAtomically(files[0], safetensorsChunks(modelToTensors(model)));
  await writeAtomically(files[1], stateChunks(state as LearningState));
  return files;
}

async function reasons(rows: readonly DataRow[], asked: readonly DataRow[], options: BenchOptions): Promise<void> {
  const { texts: count = EXACT } = options;
  const model = await train(await dataFor(rows.slice(0, count)), { model: "gpr" });
  const loaded = await loadModel(model, { threads: 1 });
  const texts = asked.map(({ text }) => String(text));
  const each = (wanted: { explain?: number }): (() => Promise<number>) => {
    const run = worked(() => loaded.predict(texts, { topK: 5, ...wanted }));
    return async () => (await run()) / texts.length;
  };
  const contenders = [
    { name: "labels alone", run: each({}) },
    { name: "with reasons", run: each({ explain: 5 }) },
  ];
  await report({ name: `reasons of a text, gpr of ${count} texts`, contenders }, options);
  loaded.dispose();
}
