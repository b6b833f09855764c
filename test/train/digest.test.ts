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
    file: "d6830ba14bee6b2562d14c35331595bef209bec6b74c102df45cfb6fffc059ec",
  },
  combined: {
    numbers: "89f7c0b66ed51ad1090104dbb7d57d93e18124271bdeab38e11e774050744618",
    file: "d6ad2f8db7c5644d4ee7a7d14be9e014c46470e19f2bf2b69790772f1822cb04",
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
