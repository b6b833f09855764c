// Documents with vectors beside their texts: the same model by every door, a covariance that is the weighted sum of one for the words
// and one for each vector, and the same scores at the edge.

import { describe, expect, test } from "vitest";
import { hashInteger } from "../../src/base/hash.ts";
import { compactModel } from "../../src/compact/index.ts";
import type { Embedder } from "../../src/data/vectors.ts";
import { load } from "../../src/edge/index.ts";
import { loadModel, modelFromBytes, modelToBytes, readDataset, train } from "../../src/index.ts";
import type { Model } from "../../src/model/model.ts";
import type { KernelPart } from "../../src/parts/regression/kernel.ts";
import { makePlan, mergeParts, trainPart } from "../../src/train/plan.ts";
import { npy } from "../data/formats/numpyfiles.ts";
import { modelDigest } from "../support/training.ts";

const ANIMALS = ["cat", "dog", "horse", "cow"];
const TOOLS = ["saw", "drill", "hammer", "file"];

const noise = (seed: number, i: number): number => hashInteger(i, seed) / 2 ** 32 - 0.5;

/** The vector says what the word is of, the words only which it is. */
const vectorOf = (animal: boolean, seed: number, length: number): number[] =>
  Array.from({ length }, (_, i) => (i % 2 === (animal ? 0 : 1) ? 1 : 0) + noise(seed, i));

type Document = { text: string; vector: number[]; labels: string[] };

function documents(count: number, length = 40, from = 0): Document[] {
  return Array.from({ length: count }, (_, at) => {
    const i = from + at;
    const animal = hashInteger(i, 1) % 2 === 0;
    const word = (animal ? ANIMALS : TOOLS)[hashInteger(i, 2) % 4];
    const text = `this ${word} number ${hashInteger(i, 3) % 30} of the ${hashInteger(i, 4) % 20}`;
    return { text, vector: vectorOf(animal, i, length), labels: animal ? ["animal", word] : ["tool", word] };
  });
}

const options = { seed: 1, threads: 1 } as const;
const partOf = (model: Model): KernelPart => model.parts[0] as KernelPart;

/** k(x, z) of two documents as the model sees them, by its formula. */
function reference(model: Model, row: Map<number, number>): number[] {
  const { rows, dual, mean, views = [] } = partOf(model);
  const { views: vectors = [], unitNorm } = model.schema.transform;
  const ranges = [{ from: 0, to: vectors[0].from }, ...vectors];
  const scores = Array.from(mean, Number);
  for (let j = 0; j < rows.rows; j++) {
    let k = 0;
    ranges.forEach(({ from, to }, view) => {
      let [product, own, other] = [0, 0, 0];
      const within = (column: number): boolean => column >= from && column < to;
      for (const [column, value] of row) if (within(column)) own += value * value;
      for (let e = rows.rowStart[j]; e < rows.rowStart[j + 1]; e++) {
        const column = rows.columnIndex[e];
        if (!within(column)) continue;
        other += rows.values[e] ** 2;
        product += rows.values[e] * (row.get(column) ?? 0);
      }
      if (view === 0 && unitNorm) [own, other] = [Math.max(1, own), Math.max(1, other)];
      const { weight, lengthScale } = views[view];
      k += weight * Math.exp(-(own + other - 2 * product) / (2 * lengthScale ** 2));
    });
    for (let label = 0; label < scores.length; label++) scores[label] += k * dual[j * scores.length + label];
  }
  return scores;
}

describe("documents with vectors", () => {
  const training = documents(160);

  test("have scores by the weighted sum of the kernels of their views, also after a file and at the edge", async () => {
    const model = modelFromBytes(modelToBytes(await train(training, options)));
    const weights = (partOf(model).views ?? []).map(({ weight }) => weight);
    expect(weights).toHaveLength(2);
    expect(weights[1]).toBeGreaterThan(0);
    expect(weights[0] + weights[1]).toBeCloseTo(1);
    const [given] = documents(1, 40, 1000);
    const loaded = await loadModel(model);
    const { utility } = await loaded.score([given]);
    const { dataset } = await readDataset([given], { vectoriser: (await readDataset(training)).dataset.vectoriser });
    const [from] = model.schema.transform.views ?? [];
    const { columnIndex, values } = dataset.features;
    let square = 0;
    columnIndex.forEach((column, e) => {
      if (column >= from.from) square += values[e] ** 2;
    });
    const row = new Map(
      Array.from(columnIndex, (column, e) => [column, column < from.from ? values[e] : values[e] / Math.sqrt(square)]),
    );
    reference(model, row).forEach((score, label) => {
      expect(utility[label]).toBeCloseTo(score, 4);
    });
    const tagger = await load(await compactModel(model, { type: "f32" }));
    const found = tagger.predict(given, { explain: 3 });
    const full = await loaded.predict(given, { explain: 3 });
    found.forEach(({ label, probability }, i) => {
      expect(label).toBe(full[i].label);
      expect(probability).toBeCloseTo(full[i].probability, 3);
    });
    for (const [{ reasons }] of [found, full]) expect(reasons?.[0].word).toBe("[vector]");
    loaded.dispose();
  });

  test("have the same model whichever way the vectors come, and the recorded bytes", async () => {
    const texts = training.map(({ text, labels }) => ({ text, labels }));
    const vectors = new Map(training.map(({ text, vector }) => [text, Float32Array.from(vector)]));
    const own = training.map((each) => ({ ...each, vector: Array.from(vectors.get(each.text) ?? []) }));
    const inline = await train((await readDataset(own)).dataset, options);
    const bytes = matrixOf(own.map(({ vector }) => vector));
    const beside = await readDataset(texts, { vectorsFrom: async () => bytes });
    expect(await modelDigest(await train(beside.dataset, options))).toBe(await modelDigest(inline));
    const probe = new Float32Array(40).fill(1);
    const embedder: Embedder = {
      name: "table",
      embed: async (wanted) => wanted.map((text) => vectors.get(text) ?? probe),
    };
    const made = await readDataset(texts, { embedder: async () => embedder });
    const embedded = await train(made.dataset, options);
    expect(partOf(embedded).dual).toEqual(partOf(inline).dual);
    expect(embedded.schema.vectoriser?.embedder?.name).toBe("table");
    const { vectoriser } = made.dataset;
    const other: Embedder = { name: "other", embed: async (wanted) => wanted.map(() => probe.map((_, i) => i)) };
    await expect(readDataset(texts, { vectoriser, embedder: async () => other })).rejects.toThrow(
      "found other, which makes other vectors than the model was trained with, expected table",
    );
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", partOf(inline).dual.slice()));
    expect(
      Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join(""),
    ).toMatchInlineSnapshot(`"1d087d1a5d2635f5"`);
  });

  test("have a vector that says nothing left out, and scores of the words alone", async () => {
    const silent = training.map((each, i) => ({ ...each, vector: vectorOf(hashInteger(i, 77) % 2 === 0, i, 40) }));
    const model = await train(silent, options);
    expect(partOf(model).views?.map(({ weight }) => weight)).toEqual([1, 0]);
    const words = await train(
      silent.map(({ text, labels }) => ({ text, labels })),
      options,
    );
    const scores = async (own: Model, vector: object): Promise<ArrayLike<number>> =>
      (await loadModel(own)).score([{ text: training[0].text, ...vector }]).then(({ utility }) => utility);
    const [found, expected] = [await scores(model, { vector: silent[1].vector }), await scores(words, {})];
    Array.from(expected).forEach((score, label) => {
      expect(found[label]).toBeCloseTo(score, 4);
    });
  });

  test("may have several by name, without a text too, and are refused where one is missing or of another length", async () => {
    const named = training.map(({ vector, labels, text }) => ({
      vectors: { image: vector, place: vector.slice(0, 3).map((value) => 1000 * value) },
      text,
      labels,
    }));
    const model = await train(named, options);
    expect(model.schema.transform.views?.map(({ name, unit }) => [name, unit])).toEqual([
      ["image", true],
      ["place", false],
    ]);
    const loaded = await loadModel(model);
    const [{ labels: _, ...given }] = named;
    expect((await loaded.predict(given))[0].label).toBe(named[0].labels[0]);
    const { image, place } = given.vectors;
    const asking = (vectors: Record<string, number[]>): Promise<unknown> => loaded.predict({ text: "x", vectors });
    await expect(asking({ image })).rejects.toThrow("found no vector place, expected 3 numbers");
    await expect(asking({ image, place: [1] })).rejects.toThrow(
      "found a vector place of 1 numbers, expected 3 numbers",
    );
    await expect(asking({ image, place, sound: [1] })).rejects.toThrow("found a vector sound, expected image, place");
    await expect(loaded.predict("a text")).rejects.toThrow("found no vector image");
    loaded.dispose();
    const alone = await train(
      named.map(({ vectors, labels }) => ({ vectors, labels })),
      options,
    );
    expect(alone.schema.features).toBe(43);
    const dense = await readDataset(training.map(({ vector, labels }) => ({ vector, labels })));
    expect(dense.dataset.vectoriser).toBeUndefined();
    expect(dense.dataset.features.columns).toBe(40);
    const wrong = [...training.slice(0, 3), { ...training[3], vector: [1, 2] }];
    await expect(readDataset(wrong)).rejects.toThrow("row 4: found a vector vector of 2 numbers, expected 40 numbers");
    const bytes = matrixOf([[1, 2]]);
    await expect(readDataset(training, { vectorsFrom: async () => bytes })).rejects.toThrow(
      "more rows than the 1 vector",
    );
  });

  test("train in shards as in one piece", { tags: "long" }, async () => {
    const { dataset } = await readDataset(documents(2400));
    const plan = await makePlan(dataset, { seed: 1 });
    const part = (index: number, count: number) => trainPart(dataset, plan, { index, count }, { threads: 1 });
    const whole = await mergeParts([await part(1, 1)]);
    const shards = await mergeParts([await part(2, 2), await part(1, 2)]);
    expect(whole.schema.transform.views).toHaveLength(1);
    expect(await modelDigest(shards)).toBe(await modelDigest(whole));
  });
});

/** A numpy array of doubles. */
const matrixOf = (rows: readonly (readonly number[])[]): Uint8Array =>
  npy("<f8", `(${rows.length}, ${rows[0].length})`, new Uint8Array(Float64Array.from(rows.flat()).buffer));
