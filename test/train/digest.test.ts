// One small training gives the same numbers and the same model file here and in every other runtime, for any number of
// threads.

import { describe, expect, test } from "vitest";
import { modelDigest, numbersDigest, tinyTraining } from "../support/training.ts";

/**
 * When training is meant to give other numbers, or the file to say something else: take the digests that the failing
 * tests print.
 */
const recorded = {
  linear: {
    numbers: "eaaed1bd76984b43f9fdeeac16758acc6585b587004baf6af018a86ab86437c3",
    file: "8f4e26047f7bbb9a368976a1348d5dce63ac9ed40903e6f3b747bbf42a2c1c3a",
  },
  combined: {
    numbers: "89f7c0b66ed51ad1090104dbb7d57d93e18124271bdeab38e11e774050744618",
    file: "fa754f298ec19c1dbf7502dbd9fb21405a0b1da9932425acda3878b04bfd0bc9",
  },
};

const settings = {
  linear: {},
  combined: {
    kernel: "linear+se",
    mean: "inducing",
    posterior: "perFactor",
    basis: "kmeans",
    negatives: 4,
    idf: true,
    epochs: 5,
    quadrature: 20,
  },
} as const;

describe("the digest of a trained model", () => {
  for (const threads of [1, 2, 3]) {
    for (const name of ["linear", "combined"] as const) {
      test(`is the recorded one, ${name}, ${threads} ${threads === 1 ? "thread" : "threads"}`, async () => {
        const model = await tinyTraining({ ...settings[name], threads });
        const found = { numbers: await numbersDigest(model), file: await modelDigest(model) };
        expect(found).toEqual(recorded[name]);
      });
    }
  }
});
