// 1,000 texts get the same labels and probabilities, to the last bit, in every runtime and on both paths: what each
// computes is compared with a recorded digest. test/runtimes/edge.files.test.ts asks the runtimes this one cannot run in.

import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { edgeDigests, sameCases } from "./digests.ts";
import { bothPaths, digest, sampleTexts, written } from "./support.ts";

describe("the same everywhere", () => {
  for (const [name, { model, options }] of Object.entries(sameCases())) {
    test(name, async () => {
      const bytes = await compactModel(model, options);
      const texts = sampleTexts(model, 1000, 11);
      const [plain, wasm] = await bothPaths(bytes);
      const predicted = written(plain.predictMany(texts));
      expect(written(wasm.predictMany(texts)) === predicted).toBe(true);
      const one = texts.slice(0, 50);
      expect(written(one.map((text) => wasm.predict(text)))).toBe(written(plain.predictMany(one)));
      expect([await digest(bytes), await digest(predicted)]).toEqual(edgeDigests[name]);
    });
  }
});
