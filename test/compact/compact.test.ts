// What is left out of a compact model, and what the report says of it.

import { describe, expect, test } from "vitest";
import { readSafetensors } from "../../src/base/safetensors.ts";
import { compactModel } from "../../src/compact/index.ts";
import { evaluateCompact, otherChoices } from "../../src/compact/report.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { load } from "../../src/edge/index.ts";
import { loadModel } from "../../src/predict/load.ts";
import {
  closedModel,
  sampleTexts,
  type TextModel,
  textModel,
  withLatent,
  withSchema,
  written,
} from "../edge/support.ts";
import { generator } from "../support/numbers.ts";

const sizes = { features: 80, labels: 25, factors: 6, inducing: 8 };
const model = textModel(sizes);
const texts = sampleTexts(model, 200, 9);

/** The texts with made-up labels. */
function dataOf({ schema: of }: TextModel): Dataset {
  const next = generator(4);
  const lists = texts.map(() => [...Array(of.labels).keys()].filter(() => next() < 0.15));
  const rowStart = Int32Array.from([0, ...lists.map(() => 0)]);
  lists.forEach((list, i) => {
    rowStart[i + 1] = rowStart[i] + list.length;
  });
  return {
    features: TfidfVectoriser.fromJSON(of.vectoriser).transform(texts),
    labels: { rows: texts.length, labels: of.labels, rowStart, labelIndex: Int32Array.from(lists.flat()) },
  };
}

test("a model with weights that no compact model may have is refused when it is made", async () => {
  const large = withLatent(model, { phi: model.parts[0].phi.map((value) => 1e9 * value) });
  await expect(compactModel(large, { type: "f32" })).rejects.toThrow(
    "the compact model: found a row of phi that is too large",
  );
});

describe("what cannot matter is left out", () => {
  test("labels without a training point", async () => {
    const labelCounts = model.schema.labelCounts.map((count, label) => (label % 5 === 2 ? 0 : count));
    const some = withSchema(model, { labelCounts });
    const tagger = await load(await compactModel(some));
    const all = await load(await compactModel(some, { allLabels: true }));
    expect(all.labels).toEqual(model.schema.labelNames);
    expect(tagger.labels).toEqual(model.schema.labelNames?.filter((_, label) => label % 5 !== 2));
    const kept = new Set(tagger.labels);
    for (const text of texts) {
      const wanted = all.predict(text, { topK: 25 }).filter(({ label }) => kept.has(label));
      expect(written([tagger.predict(text, { topK: 25 })])).toBe(written([wanted]));
    }
  });

  test("but not those of a Gaussian posterior, which have calibrated probabilities too", async () => {
    const whole = closedModel({ ...sizes, form: "gpr" });
    const labelCounts = whole.schema.labelCounts.map((count, label) => (label % 5 === 2 ? 0 : count));
    const some = withSchema(whole, { labelCounts });
    const tagger = await load(await compactModel(some));
    expect(tagger.labels).toEqual(whole.schema.labelNames);
    using full = await loadModel(some, { threads: 1 });
    const never = new Set(tagger.labels.filter((_, label) => label % 5 === 2));
    const [wanted = []] = await full.predict([texts[9]], { topK: 25 });
    const found = new Map(tagger.predict(texts[9], { topK: 25 }).map(({ label, probability }) => [label, probability]));
    for (const { label, probability } of wanted.filter((one) => never.has(one.label)))
      expect(found.get(label)).toBeCloseTo(probability, 2);
    const without = await load(await compactModel(some, { allLabels: false }));
    expect(without.labels).toEqual(tagger.labels.filter((label) => !never.has(label)));
  });

  test("rows of features without weights, which still count for a text's length and variance", async () => {
    const idle = (feature: number): boolean => feature % 3 > 0;
    // Every other one of the rest has little weight, and still counts.
    const weight = (feature: number): number => (idle(feature) ? 0 : feature % 2 === 0 ? 0.1 : 1);
    const [latent] = model.parts;
    const mu = latent.mu.map((value, i) => weight(Math.floor(i / 6)) * value);
    const inducingInputs = latent.inducingInputs.map((value, i) => weight(Math.floor(i / 8)) * value);
    const sparse = withLatent(model, { mu, inducingInputs });
    for (const options of [{ type: "f32", variance: "exact" }, {}] as const) {
      const bytes = await compactModel(sparse, options);
      const { tensors } = readSafetensors(bytes);
      expect(tensors.get("svgp.weights")?.shape[0]).toBe(options.type ? 27 : 80);
      expect(tensors.has("svgp.rows")).toBe(options.type === "f32");
    }
    using loaded = await loadModel(sparse, { threads: 1 });
    const wanted = await loaded.predict(texts, { topK: 25 });
    const tagger = await load(await compactModel(sparse, { type: "f32", variance: "exact" }));
    texts.forEach((text, i) => {
      const found = new Map(tagger.predict(text, { topK: 25 }).map((each) => [each.label, each]));
      for (const { label, probability, sd } of wanted[i] ?? []) {
        expect(Math.abs((found.get(String(label))?.probability as number) - probability)).toBeLessThan(1e-5);
        expect(Math.abs((found.get(String(label))?.sd as number) - (sd as number))).toBeLessThan(1e-4);
      }
    });
  });
});

describe("the report", () => {
  test("of full precision has the model's own figures", async () => {
    const data = dataOf(model);
    using loaded = await loadModel(model, { threads: 1 });
    const { ranking, calibration } = await loaded.evaluate(data, { calibration: true });
    const figures = await evaluateCompact(model, { type: "f32", variance: "exact" }, data);
    for (const k of [1, 3, 5] as const) expect(figures[`P@${k}`]).toBe(ranking.metrics[`P@${k}`]);
    expect(Math.abs(figures.ece - (calibration?.top5.ece as number))).toBeLessThan(1e-5);
    expect(Math.abs(figures.logLoss - (calibration?.logLoss as number))).toBeLessThan(1e-5);
    expect(figures.name).toBe("f32, exact variance");
    expect(figures.bytes).toBe((await compactModel(model, { type: "f32", variance: "exact" })).length);
  });

  test("offers other types and other variances, each once", () => {
    const choices = otherChoices(model, {}).map(({ type, variance }) => `${type} ${variance}`);
    expect(new Set(choices).size).toBe(choices.length);
    expect(choices).toContain("int8 diagonal");
    expect(choices).toContain("int5 exact");
    expect(choices).not.toContain("int5 diagonal");
  });

  test("smaller types are smaller files", async () => {
    const bytes: number[] = [];
    for (const type of ["f32", "f16", "int8", "int4"] as const)
      bytes.push((await compactModel(model, { type })).length);
    expect([...bytes].sort((a, b) => b - a)).toEqual(bytes);
  });
});
