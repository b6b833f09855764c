// Reasons: shares of a linear score add up to it, those of any other are what is missing without the word.

import { describe, expect, test } from "vitest";
import { type TfidfState, TfidfVectoriser } from "../../src/data/tfidf.ts";
import { type DataRow, readDataset, type TfidfOptions } from "../../src/index.ts";
import type { Model } from "../../src/model/model.ts";
import type { LinearPart } from "../../src/parts/linear/posterior.ts";
import type { TrainOptions } from "../../src/parts/options.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { type LoadedModel, loadModel } from "../../src/predict/load.ts";
import { train } from "../../src/train/train.ts";
import { wordsAlone } from "../data/support.ts";
import { generator, randomNumbers } from "../support/numbers.ts";

const WORDS = ["cat", "dog", "fish", "fur", "fins", "purring", "barking", "water", "wild", "tame"];
const rows: DataRow[] = Array.from({ length: 60 }, (_, i) => ({
  text: WORDS.filter((_, w) => (i * (w + 3) + w) % 4 < 2).join(" "),
  labels: [`l${i % 5}`, `m${i % 3}`],
}));
const TEXT = "a wild cat purring in the water, fur and fins";
const KNOWN = ["wild", "cat", "purring", "water", "fur", "fins"];

async function trained(options: TrainOptions, tfidf: TfidfOptions = wordsAlone): Promise<Model> {
  const { dataset } = await readDataset(rows, { tfidf });
  return await train(dataset, {
    factors: 4,
    inducingPoints: 6,
    rank: 6,
    epochs: 20,
    batch: 20,
    calibration: false,
    ...options,
  });
}

/** The shares of all words for each label, by name. */
async function sharesOf(model: LoadedModel, text: string): Promise<Map<string, Record<string, number>>> {
  const found = await model.predict(text, { topK: 8, explain: 100 });
  return new Map(
    found.map(({ label, reasons = [] }) => [
      label,
      Object.fromEntries(reasons.map(({ word, share }) => [word, share])),
    ]),
  );
}

const sum = (shares: Record<string, number> = {}): number =>
  Object.values(shares).reduce((total, share) => total + share, 0);

const biasOf = ({ parts: [part] }: Model, label: number): number => (part as SvgpPart).bias[label];

/** Holds reasons of a linear score to what is left when the bias is taken off it. */
async function expectSums(trainedModel: Model, biasOf: (label: number) => number): Promise<void> {
  using model = await loadModel(trainedModel, { threads: 1 });
  const shares = await sharesOf(model, TEXT);
  for (const { label, id = 0, score = 0 } of await model.predict(TEXT, { topK: 8 })) {
    expect(Object.keys(shares.get(label) ?? {}).sort()).toEqual([...KNOWN].sort());
    expect(sum(shares.get(label)), label).toBeCloseTo(score - biasOf(id), 4);
  }
}

describe("shares of a linear score add up to it", () => {
  test.each(["features", "inducing"] as const)("mean through the %s", async (mean) => {
    const model = await trained({ model: "svgp", mean });
    await expectSums(model, (label) => biasOf(model, label));
  });

  test("with the opening and the runs of characters of a word counted as the word", async () => {
    const model = await trained({ model: "svgp" }, {});
    expect(model.schema.vectoriser?.terms).toEqual(expect.arrayContaining(["^cat", "#cat", "cat"]));
    await expectSums(model, (label) => biasOf(model, label));
  });

  test("with the runs of characters of a word that the vocabulary does not have", async () => {
    const model = await trained({ model: "svgp" }, {});
    using loaded = await loadModel(model, { threads: 1 });
    // Nothing of "catty" is known but its runs; those of "fish" are in no other word here.
    const text = "catty fish";
    const shares = await sharesOf(loaded, text);
    for (const { label, id = 0, score = 0 } of await loaded.predict(text, { topK: 8 })) {
      expect(Object.keys(shares.get(label) ?? {}).sort()).toEqual(["catty", "fish"]);
      expect(sum(shares.get(label)), label).toBeCloseTo(score - biasOf(model, id), 4);
    }
  });

  test("with runs of characters as parts of a word where nobody kept the text", async () => {
    const model = await trained({ model: "svgp" }, {});
    const vectoriser = TfidfVectoriser.fromJSON(model.schema.vectoriser as TfidfState);
    using loaded = await loadModel(model, { threads: 1 });
    const [best] = (await loaded.predict(vectoriser.transform(["catty"]), { explain: 9 })).flat();
    expect(best?.reasons?.map(({ word }) => word).sort()).toEqual(["cat…", "ca…", "…cat…"].sort());
  });

  test("linear part", async () => {
    const exact = await trained({ model: "gpr", calibration: true });
    const { features, labels } = exact.schema;
    const part: LinearPart = {
      family: "linear",
      noise: 1,
      columns: Int32Array.from({ length: features }, (_, i) => i),
      weights: Float32Array.from(randomNumbers(features * labels, 3)),
      mean: Float32Array.from(randomNumbers(labels, 4)),
      precision: { squares: new Float32Array(features).fill(1), share: 1 },
    };
    const model = { ...exact, parts: [part, ...exact.parts.slice(1)] };
    await expectSums(model, (label) => part.mean[label]);
  });
});

describe("shares of any other score are what is missing without the word", () => {
  test.each<TrainOptions>([
    { model: "gpr", calibration: true },
    { model: "svgp", kernel: "se", mean: "inducing" },
  ])("%o", async (options) => {
    const model = await trained(options);
    using loaded = await loadModel(model, { threads: 1 });
    const shares = await sharesOf(loaded, TEXT);
    const scores = async (text: string): Promise<Map<string, number>> =>
      new Map((await loaded.predict(text, { topK: 8 })).map(({ label, score = 0 }) => [label, score]));
    const whole = await scores(TEXT);
    for (const word of KNOWN) {
      const rest = await scores(TEXT.replace(word, ""));
      for (const [label, score] of whole)
        expect(shares.get(label)?.[word] ?? 0, `${word} for ${label}`).toBeCloseTo(
          score - (rest.get(label) as number),
          4,
        );
    }
    expect(model.parts[0].family).toBe(options.model);
  });
});

test("what is missing without a feature, and without a vector, where rows are scaled to unit length", async () => {
  const next = generator(8);
  const some = (row: number): Record<string, number> =>
    Object.fromEntries(
      ["a", "b", "c", "d", "e", "f"].flatMap((name, i) => ((row + i) % 3 ? [[name, 1 + next()]] : [])),
    );
  const vector = (row: number): number[] => Array.from({ length: 40 }, (_, i) => ((row * (i + 3)) % 7) - 3);
  const labelled = Array.from({ length: 50 }, (_, i) => ({ features: some(i), labels: [`l${i % 5}`, `m${i % 3}`] }));
  const texts = rows.map((row, i) => ({ ...row, vector: vector(i) }));
  const scoresOf = async (model: LoadedModel, row: DataRow): Promise<Map<string, number>> =>
    new Map((await model.predict([row], { topK: 8 })).flat().map(({ label, score = 0 }) => [label, score]));
  const compared = async (data: DataRow[], row: DataRow, without: Record<string, DataRow>): Promise<void> => {
    const { dataset } = await readDataset(data, { tfidf: wordsAlone });
    const model = await train(dataset, { model: "gpr", normalise: true, threads: 1 });
    using loaded = await loadModel(model, { threads: 1 });
    const whole = await scoresOf(loaded, row);
    const found = (await loaded.predict([row], { topK: 8, explain: 100 })).flat();
    for (const [word, rest] of Object.entries(without)) {
      const scores = await scoresOf(loaded, rest);
      for (const { label, reasons = [] } of found) {
        const share = reasons.find((reason) => reason.word === word)?.share ?? 0;
        expect(share, `${word} for ${label}`).toBeCloseTo((whole.get(label) ?? 0) - (scores.get(label) ?? 0), 3);
      }
    }
  };
  const features = { a: 1.5, b: 3, d: 0.4, e: 2 };
  await compared(labelled, { features } as DataRow, {
    b: { features: { ...features, b: 0 } } as DataRow,
    e: { features: { ...features, e: 0 } } as DataRow,
  });
  const text = { text: TEXT, vector: vector(4) };
  await compared(texts, text as DataRow, {
    cat: { ...text, text: TEXT.replace("cat", "") } as DataRow,
    "[vector]": { ...text, vector: vector(0).map(() => 0) } as DataRow,
  });
});

describe("reasons", () => {
  test("point the right way", async () => {
    const told: DataRow[] = [
      { text: "a wild cat of the mountains", labels: ["animal"] },
      { text: "a small wild bird", labels: ["animal"] },
      { text: "a tall tree of the mountains", labels: ["plant"] },
      { text: "a small tree with red flowers", labels: ["plant"] },
    ];
    const { dataset } = await readDataset(told);
    for (const family of ["svgp", "gpr"] as const) {
      const trainedModel = await train(dataset, { model: family, factors: 4, epochs: 40, threads: 1 });
      using model = await loadModel(trainedModel, { threads: 1 });
      const found = await model.predict("wild tree", { explain: 1 });
      for (const [label, words] of [
        ["animal", ["wild", "tree"]],
        ["plant", ["tree", "wild"]],
      ] as const)
        expect(found.find((each) => each.label === label)?.reasons?.map(({ word }) => word)).toEqual(words);
    }
  });

  test("are so many for and so many against, greatest share first, and only where asked for", async () => {
    using model = await loadModel(await trained({ model: "svgp" }), { threads: 1 });
    for (const { reasons = [] } of await model.predict(TEXT, { explain: 2 })) {
      const signs = reasons.map(({ share }) => Math.sign(share));
      expect(signs.filter((sign) => sign > 0).length).toBeLessThanOrEqual(2);
      expect(signs.filter((sign) => sign < 0).length).toBeLessThanOrEqual(2);
      expect(reasons.map(({ share }) => share)).toEqual(reasons.map(({ share }) => share).sort((a, b) => b - a));
    }
    const plain = await model.predict(TEXT);
    expect(plain[0]).not.toHaveProperty("reasons");
    const [unknown] = await model.predict(["xyzzy"], { explain: 3 });
    expect(unknown?.map(({ reasons }) => reasons)).toEqual(Array.from({ length: 5 }, () => []));
    await expect(model.predict(TEXT, { explain: 0 })).rejects.toThrow("explain: found 0, expected a whole");
  });

  test("of a long row are sought among its weightiest features", async () => {
    const wide = Array.from({ length: 40 }, (_, i) => ({
      features: Object.fromEntries(Array.from({ length: 100 }, (_, d) => [`f${d}`, ((i + d) % 7) + d / 50])),
      labels: [`l${i % 4}`],
    }));
    const { dataset } = await readDataset(wide);
    const model = await train(dataset, { model: "gpr", kernel: "se" });
    using loaded = await loadModel(model, { threads: 1 });
    const [answer] = await loaded.predict(dataset.features, { explain: 200 });
    const named = new Set(answer?.flatMap(({ reasons = [] }) => reasons.map(({ word }) => word)));
    expect(named.size).toBeGreaterThan(32);
    expect(named.size).toBeLessThanOrEqual(64);
  });
});
