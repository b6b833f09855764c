// Texts with fields (opening, runs of characters) and lengths that count unknown words: the edge reads them as training did.

import { describe, expect, test } from "vitest";
import { readSafetensors } from "../../src/base/safetensors.ts";
import { compactModel } from "../../src/compact/index.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { load } from "../../src/edge/index.ts";
import { train } from "../../src/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { loadModel } from "../../src/predict/load.ts";
import { generator } from "../support/numbers.ts";
import { type TextModel, textModel, withSchema } from "./support.ts";

const WORDS = "river stone light winter garden music letter engine harbour copper".split(" ");
const next = generator(4);
const sentence = (most: number): string =>
  Array.from({ length: 1 + Math.floor(next() * most) }, () => WORDS[Math.floor(next() * next() * WORDS.length)]).join(
    " ",
  );
const texts = Array.from({ length: 60 }, () => sentence(14));
const asked = [...texts.slice(0, 10), "unheard river of nothing known", "Zzz", "", "copper ".repeat(40)];

function modelOf(options: object): TextModel {
  const { vectoriser } = TfidfVectoriser.fit(texts, options);
  const sizes = { features: vectoriser.columns, labels: 12, factors: 3, inducing: 4 };
  return withSchema(textModel(sizes), {
    vectoriser: vectoriser.toJSON(),
    transform: { normalise: !vectoriser.scaled },
  });
}

describe("the fields of a text at the edge", () => {
  for (const options of [
    {},
    { leadWords: 1.5, charNgrams: false },
    { charNgrams: [2, 3], charWeight: 0, oovInNorm: false },
    { leadWords: 0, charNgrams: [3, 3], wordNgrams: 2, idf: true },
  ])
    test(JSON.stringify(options), async () => {
      const model = modelOf(options);
      const bytes = await compactModel(model, { type: "f32", variance: "exact", allLabels: true });
      const tagger = await load(bytes);
      using loaded = await loadModel(model, { threads: 1 });
      const full = await loaded.predict(asked, { topK: 12 });
      const edge = tagger.predict(asked, { topK: 12 });
      full.forEach((row, i) => {
        const said = new Map(edge[i]?.map(({ label, probability }) => [label, probability]));
        for (const { label, probability } of row) expect(said.get(label)).toBeCloseTo(probability, 5);
      });
    });

  test("lengths that count unknown words, of an exact model trained on texts", async () => {
    const rows = texts.map((text, i) => ({
      text,
      labels: [`l${i % 3}`, ...(text.includes("river") ? ["wet"] : [])],
    }));
    const model = await train(rows, { model: "gpr", threads: 1 });
    expect(model.schema.transform).toEqual({ normalise: false, unitNorm: true });
    using loaded = await loadModel(modelFromBytes(modelToBytes(model)), { threads: 1 });
    const full = await loaded.predict(asked, { topK: 4 });
    using fresh = await loadModel(model, { threads: 1 });
    expect(full).toEqual(await fresh.predict(asked, { topK: 4 }));
    const tagger = await load(await compactModel(model, { type: "f32" }));
    tagger.predict(asked, { topK: 4 }).forEach((row, i) => {
      expect(row.map(({ label }) => label)).toEqual(full[i]?.map(({ label }) => label));
      row.forEach(({ probability }, j) => {
        expect(probability).toBeCloseTo(full[i]?.[j]?.probability as number, 4);
      });
    });
    // As if it had not: what is unknown must matter.
    using careless = await loadModel(withSchema(model, { transform: { normalise: false } }), {
      threads: 1,
    });
    const [said, without] = [await loaded.predict(asked[10]), await careless.predict(asked[10])];
    expect(Math.abs((said[0]?.score as number) - (without[0]?.score as number))).toBeGreaterThan(0.01);
  });

  test("files of words alone say nothing of fields", async () => {
    const model = modelOf({ leadWords: 0, charNgrams: false, oovInNorm: false });
    const bytes = await compactModel(model, { type: "f32", variance: "exact", allLabels: true });
    const { metadata } = readSafetensors(bytes, "it");
    expect(JSON.parse(metadata.about as string).text).toEqual({
      ...{ wordNgrams: 1, sublinear: true, idf: true, normalise: true, documents: 60 },
    });
  });
});
