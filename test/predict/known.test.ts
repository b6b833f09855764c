// How much of an input a model knows: counted here by hand, said by the library, the edge and the readers alike.

import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { readDataset } from "../../src/data/reader.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import type { TfidfOptions } from "../../src/data/tfidfoptions.ts";
import { load } from "../../src/edge/index.ts";
import { modelRows } from "../../src/predict/input.ts";
import { loadModel } from "../../src/predict/load.ts";
import { train } from "../../src/train/train.ts";

const rows = Array.from({ length: 30 }, (_, i) => ({
  text: i % 2 ? "a wild cat purring" : "the tame dog barking",
  labels: [i % 2 ? "cat" : "dog", "animal"],
}));
/** Texts with the part of their words that stand in the rows above. */
const TEXTS: [text: string, known: number][] = [
  ["a wild cat", 1],
  ["A WILD zebra", 2 / 3],
  ["cat cat zebra zebra zebra", 2 / 5],
  ["xyzzy", 0],
  ["...", 0],
  ["", 0],
];
const texts = TEXTS.map(([text]) => text);
const small = {
  model: "svgp",
  calibration: false,
  factors: 3,
  inducingPoints: 4,
  rank: 4,
  epochs: 2,
  threads: 1,
} as const;

describe("the part of a text that is known", () => {
  test.each<[string, TfidfOptions]>([
    ["words", {}],
    ["runs of words", { wordNgrams: 2 }],
    ["words and runs of characters", { charNgrams: [2, 3] }],
  ])("counts words whatever else is a term: %s", async (_, tfidf) => {
    const { dataset } = await readDataset(rows, { tfidf });
    const trained = await train(dataset, small);
    using model = await loadModel(trained, { threads: 1 });
    const tagger = await load(await compactModel(trained));
    const read = await readDataset(
      texts.map((text) => ({ text })),
      { vectoriser: TfidfVectoriser.fromJSON(trained.schema.vectoriser), requireLabels: false },
    );
    const [answers, atTheEdge] = [await model.predict(texts), tagger.predict(texts)];
    for (const [i, [text, known]] of TEXTS.entries()) {
      expect(answers[i]?.known, text).toBeCloseTo(known, 12);
      expect(atTheEdge[i]?.known, text).toBeCloseTo(known, 12);
      expect(read.dataset.coverage?.[i], text).toBeCloseTo(known, 6);
    }
    expect((await model.predict("a wild cat", { threshold: 1 })).known).toBe(1);
  });

  test("counts runs of characters where there are no words", () => {
    const { vectoriser } = TfidfVectoriser.fit(["cat", "cat"], { wordNgrams: 0, charNgrams: [2, 2] });
    // _c ca at t_ and _c ca ar r_
    expect(modelRows(["cat", "car"], schema, vectoriser).known).toEqual([1, 0.5]);
  });
});

/** No column has a name or an id of its own. */
const schema = { features: 901, transform: { normalise: false } };

describe("the part of a row of features that is known", () => {
  test("by name and by id", async () => {
    const named = '{"features":{"a":1,"b":2,"c":3}}\n{"features":{"c":1}}\n{"features":{}}\n';
    const options = { featureNames: ["a", "b"], requireLabels: false };
    expect((await readDataset(named, options)).dataset.coverage).toEqual(Float32Array.of(2 / 3, 0, 0));
    const { dataset } = await readDataset("0 5:1 900:1\n0 7:1\n0 900:2\n0 \n", { format: "svmlight" });
    const columnIds = Int32Array.of(5, 900);
    expect(Array.from(modelRows(dataset, { ...schema, columnIds }).known)).toEqual([1, 0, 1, 0]);
    expect(Array.from(modelRows(dataset.features, schema).known)).toEqual([1, 1, 1, 0]);
  });

  test("at the edge", async () => {
    const data = rows.map(({ labels }, i) => ({ features: { a: 1, b: i % 2, c: i % 3 }, labels }));
    const { dataset } = await readDataset(data);
    const tagger = await load(await compactModel(await train(dataset, { ...small, rank: 2 })));
    expect(tagger.predict({ a: 1, zebra: 2 }).known).toBe(0.5);
    expect(tagger.predict({}).known).toBe(0);
  });
});
