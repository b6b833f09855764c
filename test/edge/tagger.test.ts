// The tagger of a compact model against the full model's predictor, and its two paths against each other.

import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import type { Model } from "../../src/model/model.ts";
import { NUMBER_TYPES, type VarianceForm } from "../../src/parts/compact.ts";
import { loadModel } from "../../src/predict/load.ts";
import { bothPaths, sampleTexts, type TextModelForm, textModel, withSchema, written } from "./support.ts";

const forms: TextModelForm[] = (["shared", "perFactor"] as const).flatMap((groups) => [
  { kernel: "linear", groups, mean: "features" },
  { kernel: "linear", groups, mean: "inducing" },
  { kernel: "se", groups },
  { kernel: "linear+se", groups },
]);
const small = { features: 60, labels: 30, factors: 5, inducing: 9 };
const titleOf = ({ kernel, groups, mean = "inducing" }: TextModelForm): string => `${kernel}, ${groups}, ${mean}`;

async function full(model: Model, texts: string[]): ReturnType<Awaited<ReturnType<typeof loadModel>>["predict"]> {
  using loaded = await loadModel(model, { threads: 1 });
  return await loaded.predict(texts, { topK: 8 });
}

describe("a compact model in full precision", () => {
  for (const form of forms) {
    test(`predicts as the model does: ${titleOf(form)}`, async () => {
      const model = textModel({ ...small, ...form });
      const texts = sampleTexts(model, 60, 3);
      const wanted = await full(model, texts);
      const bytes = await compactModel(model, { type: "f32", variance: "exact" });
      for (const tagger of await bothPaths(bytes)) {
        const found = tagger.predictMany(texts, { topK: 8 });
        found.forEach((row, i) => {
          const expected = wanted[i] ?? [];
          expect(row.map(({ label }) => label)).toEqual(expected.map(({ label }) => label));
          row.forEach(({ probability, sd }, j) => {
            expect(Math.abs(probability - (expected[j]?.probability as number))).toBeLessThan(1e-5);
            expect(Math.abs((sd as number) - (expected[j]?.sd as number))).toBeLessThan(1e-4);
          });
        });
      }
    });
  }

  test("takes a row of features as the model does", async () => {
    const columnWeights = Float32Array.from({ length: 60 }, (_, j) => 0.5 + (j % 7));
    const transform = { normalise: true, columnWeights };
    const model = withSchema(textModel(small), { vectoriser: undefined, transform });
    const rows = { rows: 1, columns: 60, rowStart: Int32Array.of(0, 3) };
    const [columnIndex, values] = [Int32Array.of(2, 11, 40), Float32Array.of(1, 3, 0.5)];
    using loaded = await loadModel(model, { threads: 1 });
    const [wanted = []] = await loaded.predict({ ...rows, columnIndex, values });
    const tagger = await load(await compactModel(model, { type: "f32", variance: "exact" }));
    const found = tagger.predict({ indices: [11, 40, 2], values: [3, 0.5, 1] });
    expect(found.map(({ label }) => label)).toEqual(wanted.map(({ label }) => label));
    for (const [j, { probability }] of found.entries())
      expect(Math.abs(probability - (wanted[j]?.probability as number))).toBeLessThan(1e-5);
    expect(written([tagger.predict({ 40: 0.5, 2: 1, 11: 3 })])).toBe(written([found]));
  });
});

describe("plain TypeScript and SIMD give the same bits", () => {
  const variances: VarianceForm[] = ["exact", "low-rank", "diagonal", "none"];
  NUMBER_TYPES.forEach((type, i) => {
    for (const factors of [1, 4, 21, 32]) {
      test(`${type}, ${factors} factors`, async () => {
        const model = textModel({ ...small, factors, seed: i + 1 });
        const bytes = await compactModel(model, {
          type,
          variance: variances[(i + factors) % 4],
          rank: 3,
        });
        const [plain, wasm] = await bothPaths(bytes);
        const texts = sampleTexts(model, 100, i);
        expect([plain.info.path, wasm.info.path]).toEqual(["plain", "wasm"]);
        expect(written(wasm.predictMany(texts))).toBe(written(plain.predictMany(texts)));
      });
    }
  });
});

describe("predict", () => {
  const model = textModel(small);
  const making = compactModel(model);
  const text = model.schema.vectoriser?.terms.slice(0, 5).join(" ") ?? "";

  test("gives as many labels as asked for, best first, none below the threshold", async () => {
    const tagger = await load(await making);
    expect(tagger.predict(text)).toHaveLength(5);
    const all = tagger.predict(text, { topK: 1000 });
    expect(all).toHaveLength(30);
    expect(new Set(all.map(({ label }) => label))).toEqual(new Set(tagger.labels));
    const limit = all[3]?.probability as number;
    const above = tagger.predict(text, { topK: 1000, threshold: limit });
    expect(above).toEqual(all.filter(({ probability }) => probability >= limit));
    const ranked = all.map(({ probability }) => probability);
    expect(ranked).toEqual([...ranked].sort((a, b) => b - a));
    const { utilities } = tagger.score(text);
    const byUtility = all.map(({ label }) => utilities[tagger.labels.indexOf(label)]);
    expect(byUtility).not.toEqual([...byUtility].sort((a, b) => b - a));
  });

  test("says what the model is", async () => {
    const bytes = await making;
    const { info, labels } = await load(bytes);
    expect(info).toEqual({
      features: 60,
      labels: 30,
      parts: [{ family: "svgp", kernel: "linear", factors: 5, variance: "diagonal" }],
      calibrated: false,
      fromText: true,
      bytes: bytes.length,
      path: "plain",
    });
    expect(labels).toEqual(model.schema.labelNames);
  });

  test("takes words by name, and leaves out those it does not know", async () => {
    const tagger = await load(await making);
    const [first = "", second = ""] = model.schema.vectoriser?.terms ?? [];
    const named = tagger.predict({ [second]: 0.3, [first]: 2, nobodyknows: 5 });
    expect(written([named])).toBe(written([tagger.predict({ indices: [0, 1], values: [2, 0.3] })]));
  });

  const wrong: [what: string, call: (tagger: Awaited<ReturnType<typeof load>>) => unknown, message: string][] = [
    [
      "a number",
      (tagger) => tagger.predict(7 as never),
      "input: found 7, expected a text, { text }, { features } or features",
    ],
    ["null", (tagger) => tagger.predict(null as never), "input: found null"],
    [
      "a column beyond",
      (tagger) => tagger.predict({ 60: 1 }),
      "found feature 60, expected a whole number from 0 to 59",
    ],
    ["half a column", (tagger) => tagger.predict({ indices: [0.5], values: [1] }), "found feature 0.5"],
    ["a column twice", (tagger) => tagger.predict({ indices: [3, 3], values: [1, 2] }), "found feature 3 twice"],
    [
      "lists of two lengths",
      (tagger) => tagger.predict({ indices: [3], values: [1, 2] }),
      "found 1 indices with 2 values",
    ],
    ["a value that is no number", (tagger) => tagger.predict({ 3: Number.NaN }), 'found value NaN of feature "3"'],
    ["a value beyond single precision", (tagger) => tagger.predict({ 3: 1e39 }), 'found value 1e+39 of feature "3"'],
    ["topK of 0", (tagger) => tagger.predict(text, { topK: 0 }), "topK: found 0"],
    [
      "a threshold that is no number",
      (tagger) => tagger.predict(text, { threshold: Number.NaN }),
      "threshold: found NaN",
    ],
  ];
  for (const [what, call, message] of wrong) {
    test(`refuses ${what}`, async () => {
      const tagger = await load(await making);
      expect(() => call(tagger)).toThrow(message);
    });
  }

  test("refuses a text where the model was trained on features, and names where there are none", async () => {
    const tagger = await load(await compactModel(withSchema(model, { vectoriser: undefined })));
    expect(() => tagger.predict("a text")).toThrow("this model was not trained on texts");
    expect(() => tagger.predict({ word: 1 })).toThrow('found feature "word", expected a number');
  });

  test("is over after dispose", async () => {
    const tagger = await load(await making);
    {
      using scoped = tagger;
      expect(scoped.predict(text)).toHaveLength(5);
    }
    expect(() => tagger.predict(text)).toThrow("it was disposed of; load the model again");
    expect(() => tagger.labels).toThrow("it was disposed of; load the model again");
    tagger.dispose();
  });
});
