// A model whose words are stemmed, at the edge: given the stemmer it answers as the full model does, without it is refused.

import * as english from "@orama/stemmers/english";
import * as german from "@orama/stemmers/german";
import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { openCompact } from "../../src/compact/open.ts";
import { readDataset } from "../../src/data/reader.ts";
import { useStemmer } from "../../src/data/stemmers.ts";
import { load } from "../../src/edge/index.ts";
import { train } from "../../src/index.ts";
import { learn } from "../../src/learn/learn.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import type { LearningState } from "../../src/parts/regression/state.ts";
import { loadModel } from "../../src/predict/load.ts";

useStemmer(english);

const FORMS = [
  ["cat", "cats"],
  ["library", "libraries"],
  ["sailing", "sailed"],
  ["painting", "painted"],
] as const;
const rows = Array.from({ length: 48 }, (_, i) => {
  const [first, second] = [FORMS[i % 4], FORMS[(i * 3 + 1) % 4]];
  return {
    id: `d${i}`,
    text: `the ${first[0]} of number ${i % 5} and ${second[0]}`,
    labels: [first[0]],
  };
});
const asked = ["two cats", "many Libraries here", "they sailed", "painted painters", "", "x".repeat(100_000)];

async function trained(): Promise<{ model: Model; state: LearningState }> {
  const { dataset } = await readDataset(rows, { tfidf: { stem: "english" } });
  let state: LearningState | undefined;
  const model = await train(dataset, {
    model: "gpr",
    threads: 1,
    onState: (made) => {
      state = made;
    },
  });
  return { model: modelFromBytes(modelToBytes(model)), state: state as LearningState };
}

describe("a model of stems", () => {
  test("at the edge answers as the full one, which knows forms of words that it never saw", async () => {
    const { model } = await trained();
    using loaded = await loadModel(model, { threads: 1 });
    const full = await loaded.predict(asked, { topK: 4 });
    expect(full.slice(0, 3).map((row) => row[0]?.label)).toEqual(["cat", "library", "sailing"]);
    const bytes = await compactModel(model, { type: "f32" });
    for (const stem of [english, async () => english]) {
      const tagger = await load(bytes, { stem });
      tagger.predict(asked, { topK: 4 }).forEach((row, i) => {
        expect(row.known).toBeCloseTo(full[i]?.known as number, 6);
        row.forEach(({ label, probability }, j) => {
          expect(label).toBe(full[i]?.[j]?.label);
          expect(probability).toBeCloseTo(full[i]?.[j]?.probability as number, 4);
        });
      });
    }
    const opened = await openCompact(bytes, "tagger.bin");
    expect(opened.schema.vectoriser?.options.stem).toBe("english");
  });

  test("is refused at the edge without its stemmer", async () => {
    const bytes = await compactModel((await trained()).model, { type: "f32" });
    const needed = "expected the stemmer of english, which this model needs";
    await expect(load(bytes)).rejects.toThrow(`stem: found none, ${needed}`);
    await expect(load(bytes, { stem: german })).rejects.toThrow(`stem: found that of german, ${needed}`);
  });

  test("gives its reasons in the words of the text", async () => {
    const { model } = await trained();
    using loaded = await loadModel(model, { threads: 1 });
    const [best] = await loaded.predict("Two Libraries, library of cats", { topK: 1, explain: 3 });
    expect(best?.label).toBe("library");
    expect(best?.reasons?.[0]?.word).toBe("libraries");
  });

  test("learns", async () => {
    const { model, state } = await trained();
    const reading = {
      vectoriser: (await readDataset(rows, { tfidf: { stem: "english" } })).dataset.vectoriser,
    };
    const { dataset } = await readDataset(
      [{ id: "new", text: "cats painted", labels: ["portrait"] }],
      reading.vectoriser ? { vectoriser: reading.vectoriser } : {},
    );
    const learned = await learn(model, state, dataset, { threads: 1 });
    using loaded = await loadModel(learned.model, { threads: 1 });
    const before = (await loaded.predict("painting a cat", { topK: 5 })).map(({ label }) => label);
    expect(before).toContain("portrait");
  });
});
