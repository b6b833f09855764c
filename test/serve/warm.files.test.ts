// Before a model takes over it is asked by itself and together, with deviations and without, whatever its words are.

import { describe, expect, test } from "vitest";
import { readDataset } from "../../src/data/reader.ts";
import { type LoadedModel, loadModel } from "../../src/predict/load.ts";
import { warmUp } from "../../src/serve/learning/methods.ts";
import { train } from "../../src/train/train.ts";

const rows = Array.from({ length: 24 }, (_, i) => ({
  text: i % 2 ? `the cat and number ${i % 5}` : `a ship of number ${i % 7}`,
  labels: [i % 2 ? "cats" : "ships"],
}));

describe("a model that is to take over", () => {
  for (const tfidf of [{}, { wordNgrams: 0, charNgrams: [2, 3] as const }])
    test(`answers questions of its own: ${JSON.stringify(tfidf)}`, async () => {
      const { dataset } = await readDataset(rows, { tfidf });
      using loaded = await loadModel(await train(dataset, { model: "gpr", threads: 1 }), {
        threads: 1,
      });
      const asked: { texts: number; sd: boolean | undefined; words: number; answers: number }[] = [];
      const watched = {
        model: loaded.model,
        predict: async (texts: { text: string }[], options: { sd?: boolean } = {}) => {
          const found = await loaded.predict(texts, options);
          const words = texts
            .map(({ text }) => text)
            .join(" ")
            .split(" ")
            .filter((word) => word !== "").length;
          asked.push({ texts: texts.length, sd: options.sd, words, answers: found.length });
          return found;
        },
      };
      await warmUp(watched as unknown as LoadedModel);
      expect(asked.some(({ texts, sd }) => texts === 1 && sd !== false)).toBe(true);
      expect(asked.some(({ texts, sd }) => texts > 1 && sd === false)).toBe(true);
      for (const { texts, answers } of asked) expect(answers).toBe(texts);
      // Marked terms are no words: a text of them would be one of nothing that was ever written.
      expect(asked[0]?.words === 0).toBe(tfidf.wordNgrams === 0);
    });
});
