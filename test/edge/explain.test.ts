// Reasons at the edge against those of the full model, which has other code for them; and against scores without the word.

import { describe, expect, test } from "vitest";
import type { Reason } from "../../src/base/prediction.ts";
import { compactModel } from "../../src/compact/index.ts";
import { readCompact } from "../../src/edge/read.ts";
import type { Model } from "../../src/model/model.ts";
import { loadModel } from "../../src/predict/load.ts";
import { train } from "../../src/train/train.ts";
import { bothPaths, calibrated, closedModel, sampleTexts, textModel, withSchema, written } from "./support.ts";

const sizes = { features: 80, labels: 25, factors: 6, inducing: 8 };
const lossless = { type: "f32", variance: "exact", allLabels: true } as const;

const models: Record<string, Model> = {
  "linear, calibrated": calibrated(textModel(sizes)),
  "linear, mean through inducing inputs": textModel({ ...sizes, mean: "inducing" }),
  "linear+se": textModel({ ...sizes, kernel: "linear+se" }),
  "closed form, every point in the mean": closedModel({ ...sizes, form: "gpr", coupling: 3 }),
  "closed form, linear": closedModel({ ...sizes, form: "linear" }),
  "both likelihoods": closedModel({ ...sizes, form: "linear+svgp" }),
};

const byWord = (reasons: readonly Reason[] = []): Record<string, number> =>
  Object.fromEntries(reasons.map(({ word, share }) => [word, share]));

describe("reasons at the edge", () => {
  for (const [name, model] of Object.entries(models))
    test(`are those of the full model: ${name}`, async () => {
      using whole = await loadModel(model, { threads: 1 });
      const [tagger, wasm] = await bothPaths(await compactModel(model, lossless));
      const texts = sampleTexts(model, 24, 5).slice(8);
      const options = { topK: 25, explain: 100 };
      const wanted = await whole.predict(texts, options);
      const found = tagger.predict(texts, options);
      expect(written(wasm.predict(texts, options)) === written(found)).toBe(true);
      texts.forEach((_, i) => {
        const own = new Map(found[i]?.map((label) => [label.label, byWord(label.reasons)]));
        for (const { label, reasons } of wanted[i]) {
          const [here, there] = [own.get(label) ?? {}, byWord(reasons)];
          for (const word of new Set([...Object.keys(here), ...Object.keys(there)]))
            expect(here[word] ?? 0, `${label}, ${word}`).toBeCloseTo(there[word] ?? 0, 4);
          expect(Object.keys(here).length).toBeGreaterThan(0);
        }
      });
    });

  test("are so many for and so many against, greatest share first, and only where asked for", async () => {
    const model = models["linear, calibrated"];
    const [tagger] = await bothPaths(await compactModel(model));
    const text = sampleTexts(model, 9, 5)[8];
    const all = tagger.predict(text, { explain: 100 });
    tagger.predict(text, { explain: 2 }).forEach(({ reasons = [] }, i) => {
      const every = all[i]?.reasons ?? [];
      const speaking = every.filter(({ share }) => share > 0);
      expect(reasons).toEqual([...speaking.slice(0, 2), ...every.slice(speaking.length).slice(-2)]);
    });
    expect(all.length).toBe(5);
    for (const label of tagger.predict(text)) expect(label).not.toHaveProperty("reasons");
    expect(() => tagger.predict(text, { explain: 0 })).toThrow("explain: found 0, expected a whole number");
  });

  test("give the runs of characters of a word that the vocabulary does not have to that word", async () => {
    const rows = ["cat", "dog", "fish", "bird"].flatMap((animal) =>
      ["wild", "tame"].map((kind) => ({ text: `${kind} ${animal}`, labels: [animal, kind] })),
    );
    for (const kind of ["svgp", "gpr"] as const) {
      const model = await train(rows, { model: kind, factors: 4, epochs: 20, threads: 1 });
      expect(model.schema.vectoriser?.terms).toContain("#cat");
      const [tagger] = await bothPaths(await compactModel(model));
      const found = tagger.predict("a catty fishery", { explain: 9 });
      const words = ["cat", "fish"].map((name) => found.find(({ label }) => label === name)?.reasons);
      for (const reasons of words) expect(Object.keys(byWord(reasons)).sort()).toEqual(["catty", "fishery"]);
    }
  });

  test("name features by their ids where these have no names", async () => {
    const columnIds = Int32Array.from({ length: sizes.features }, (_, column) => 3 * column + 1);
    const [tagger] = await bothPaths(
      await compactModel(withSchema(textModel(sizes), { vectoriser: undefined, columnIds })),
    );
    const found = tagger.predict({ indices: [4, 7, 10], values: [1, 2, 1] }, { explain: 5 });
    for (const { reasons } of found) expect(Object.keys(byWord(reasons)).sort()).toEqual(["10", "4", "7"]);
  });
});

test("every name of a vocabulary is found and told", async () => {
  const model = textModel(sizes);
  const { vocabulary, order } = await readCompact(await compactModel(model));
  const names = Array.from({ length: sizes.features }, (_, at) => vocabulary?.name(at) as string);
  expect(names.map((name) => vocabulary?.find(name))).toEqual([...names.keys()]);
  const terms = model.schema.vectoriser?.terms as string[];
  expect(names.map((_, at) => names[at])).toEqual(
    Array.from({ length: terms.length }, (_, at) => terms[order ? order[at] : at]),
  );
});
