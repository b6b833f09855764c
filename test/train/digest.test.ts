// One small training gives the same model file here and in every other runtime, for any number of threads.

import { describe, expect, test } from "vitest";
import { modelDigest, tinyTraining } from "../support/training.ts";

/** When training is meant to give other numbers: take the digests that the failing tests print. */
const recorded = {
  linear: "e225905ce47e7939bdbb2ffbbf21995e5fffd0b66c76ef84e80321ff7b3ae0a0",
  combined: "05f15c286dcd1a6038860caaebd33996f68e687c2adde450fb28e04aaceb6de6",
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
