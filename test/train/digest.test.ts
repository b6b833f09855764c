// One small training gives the same model file here and in every other runtime, for any number of threads.

import { describe, expect, test } from "vitest";
import { modelDigest, tinyTraining } from "../support/training.ts";

/** When training is meant to give other numbers: take the digests that the failing tests print. */
const recorded = {
  linear: "c3f2e3446615240fcee72e4e40b0d210ab5faf90c44145e8debdb537d7950306",
  combined: "7278d7c810353ce1a11a513961a560d985a0348a65661aa31105b98509b8d263",
};

describe("the digest of a trained model", () => {
  for (const threads of [1, 2, 3]) {
    test(`is the recorded one with ${threads} ${threads === 1 ? "thread" : "threads"}`, async () => {
      expect(await modelDigest(await tinyTraining({ threads }))).toBe(recorded.linear);
    });
    test(`and with every other part in use, ${threads} ${threads === 1 ? "thread" : "threads"}`, async () => {
      const model = await tinyTraining({
        kernel: "linear+se",
        mean: "inducing",
        covariance: "perFactor",
        basis: "kmeans",
        negatives: 4,
        idf: true,
        epochs: 5,
        quadrature: 20,
        threads,
      });
      expect(await modelDigest(model)).toBe(recorded.combined);
    });
  }
});
