// Model files are anybody's. Thousands of altered ones: each is refused in one sentence or is a model that predicts, and
// none makes its reader allocate more than twice the file. MLGPF_FUZZ=200000 tries more, MLGPF_FUZZ_SEED others.

import process from "node:process";
import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { DataError } from "../../src/data/errors.ts";
import { readCompact } from "../../src/edge/read.ts";
import { Scorer } from "../../src/edge/scorer.ts";
import { Tagger } from "../../src/edge/tagger.ts";
import { FormatError } from "../../src/io/errors.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { LatentModel } from "../../src/model/model.ts";
import { watchAllocations } from "../support/allocations.ts";
import { generator } from "../support/numbers.ts";
import { altered } from "./alter.ts";
import { calibrated, closedModel, textModel } from "./support.ts";

const runs = Number(process.env.MLGPF_FUZZ ?? 20_000);
const seed = Number(process.env.MLGPF_FUZZ_SEED ?? 1);

/** In milliseconds; a file takes a fraction of one. */
const patience = Math.max(120_000, 10 * runs);

const sizes = { features: 20, labels: 7, factors: 3, inducing: 4 };
const linear = textModel(sizes);
const squared = textModel({ ...sizes, kernel: "linear+se", groups: "perFactor" });
const { vectoriser, ...rest } = textModel({ ...sizes, mean: "inducing" });
const named: LatentModel = {
  ...rest,
  featureNames: [...(vectoriser?.terms ?? [])].reverse(),
  transform: { normalise: true, columnWeights: new Float32Array(20).fill(2) },
};
/** Most features without weights, so that only some have rows. */
const idle = { ...linear, mu: linear.mu.map((value, i) => (i < 51 ? 0 : value)) };

/** Bytes that reading takes whatever the file: the table of a vocabulary begins with so many. */
const ALWAYS = 2 ** 15;

/** Reads altered files; counts those that are refused. */
function fuzz(
  files: Uint8Array[],
  read: (bytes: Uint8Array) => void,
  errors: (new (...args: never[]) => Error)[],
): number {
  let refused = 0;
  const watch = watchAllocations();
  try {
    for (let i = 0; i < runs; i++) {
      const bytes = altered(files[i % files.length] as Uint8Array, generator(seed * 1_000_003 + i));
      watch.greatest = 0;
      const problem = problemOf(() => read(bytes));
      const where = `file ${i} of seed ${seed}`;
      if (watch.greatest > 2 * bytes.length + ALWAYS)
        throw new Error(`${where}: allocated ${watch.greatest} bytes for ${bytes.length}`);
      if (problem === undefined) continue;
      refused++;
      if (!errors.some((type) => problem instanceof type))
        throw new Error(`${where}: threw ${problem.stack}`);
      if (!/^small: found [^\n]+, expected [^\n]+$/.test(problem.message))
        throw new Error(`${where}: said ${problem.message}`);
    }
  } finally {
    watch.stop();
  }
  return refused;
}

function problemOf(work: () => void): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe(`${runs} altered files`, () => {
  test(
    "of a compact model are refused or predict",
    async () => {
      const files = [
        await compactModel(linear),
        await compactModel(squared, { type: "f32", variance: "exact" }),
        await compactModel(squared, { type: "int8" }),
        await compactModel(idle, { type: "f32", variance: "none" }),
        await compactModel(named, { type: "f16", variance: "low-rank", rank: 2 }),
        await compactModel(calibrated(linear)),
        await compactModel(closedModel({ ...sizes, form: "exact", points: 5, stack: 2 })),
        await compactModel(closedModel({ ...sizes, form: "exact", points: 5, kernel: "linear+matern32" }), {
          type: "f32",
        }),
        await compactModel(closedModel({ ...sizes, form: "both" })),
      ];
      const words = linear.vectoriser?.terms ?? [];
      const byName = Object.fromEntries(words.map((word) => [word, 1]));
      let predicted = 0;
      const read = (bytes: Uint8Array): void => {
        const model = readCompact(bytes, "small");
        const tagger = new Tagger(model, new Scorer(model));
        const input = tagger.info.fromText ? words.join(" ") : model.vocabulary ? byName : { 0: 1 };
        for (const { label, probability, sd = 0 } of tagger.predict(input, { topK: 3 })) {
          if (typeof label !== "string" || !(probability >= 0 && probability <= 1) || !(sd >= 0))
            throw new Error(`predicted ${label}, ${probability}, ${sd}`);
          predicted++;
        }
      };
      const refused = fuzz(files, read, [FormatError]);
      // Neither all nor nothing: both outcomes are met often.
      expect(refused).toBeGreaterThan(runs / 2);
      expect(predicted).toBeGreaterThan(runs / 10);
    },
    patience,
  );

  test(
    "of a full model are refused or whole",
    () => {
      const files = [linear, squared, named].map(modelToBytes);
      let whole = 0;
      const read = (bytes: Uint8Array): void => {
        const model = modelFromBytes(bytes, "small") as LatentModel;
        for (const values of [
          model.inducingInputs,
          model.mu,
          model.sigma,
          model.phi,
          model.bias,
          model.hyper,
        ])
          if (!values.every(Number.isFinite)) throw new Error("read a number that is not finite");
        if ((model.labelNames?.length ?? model.labels) !== model.labels)
          throw new Error("read too few names");
        whole++;
      };
      const refused = fuzz(files, read, [FormatError, DataError]);
      expect(refused).toBeGreaterThan(runs / 2);
      expect(whole).toBeGreaterThan(runs / 20);
    },
    patience,
  );
});
