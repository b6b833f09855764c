// Files of mlgpf 0.1 are read, give the probabilities that 0.1 gave, and are saved as files of today.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import { readSafetensors } from "../../src/io/safetensors.ts";
import type { Prediction } from "../../src/metrics/prediction.ts";
import { MODEL_VERSION, modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { loadModel } from "../../src/predict/load.ts";

const folder = "test/golden/0.1";
const bytesOf = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(`${folder}/${name}`));
type Answers = Record<string, number>[];
const { texts, ...answers } = JSON.parse(readFileSync(`${folder}/answers.json`, "utf8")) as {
  texts: string[];
} & Record<string, Answers>;

/** Greatest difference from what 0.1 answered, which has six digits. */
function difference(found: Prediction[][], expected: Answers): number {
  expect(found.map((labels) => labels.map(({ label }) => label).sort())).toEqual(
    expected.map((labels) => Object.keys(labels).sort()),
  );
  return Math.max(
    ...found.flatMap((labels, i) =>
      labels.map(({ label, probability }) => Math.abs(probability - (expected[i]?.[label] as number))),
    ),
  );
}

describe("files of mlgpf 0.1", () => {
  for (const name of ["linear.safetensors", "combined.safetensors"])
    test(`a model, ${name}`, async () => {
      const bytes = bytesOf(name);
      expect(readSafetensors(bytes, name).metadata.version).toBe("1");
      const again = modelToBytes(modelFromBytes(bytes, name));
      expect(readSafetensors(again, name).metadata.version).toBe(MODEL_VERSION);
      for (const file of [bytes, again]) {
        using model = await loadModel(file, { threads: 1 });
        const found = await model.predict(texts, { topK: 5 });
        expect(difference(found, answers[name] as Answers)).toBeLessThan(2e-6);
      }
    });

  test("a compact model, and one made today from a model of 0.1", async () => {
    const made = await compactModel(
      modelFromBytes(bytesOf("linear.safetensors")) as Parameters<typeof compactModel>[0],
    );
    for (const file of [bytesOf("compact.bin"), made]) {
      const tagger = await load(file);
      expect(difference(tagger.predict(texts, { topK: 5 }), answers["compact.bin"] as Answers)).toBeLessThan(
        2e-6,
      );
      tagger.dispose();
    }
  });
});
