// A training step by step leaves the core as it found it: what comes after it has all the room.

import { expect, test } from "vitest";
import { createCore } from "../../src/core/core.ts";
import { trainLatent } from "../../src/train/latent.ts";
import { completeOptions, type TrainOptions } from "../../src/train/options.ts";
import { completeRunOptions } from "../../src/train/run.ts";
import { topicData } from "../support/problems.ts";
import { tinyOptions } from "../support/training.ts";

const cases: [string, TrainOptions][] = [
  ["singular vectors", {}],
  ["centroids as a basis, mean through the inducing inputs", { basis: "kmeans", mean: "inducing" }],
  ["free inducing inputs, squared exponential", { inducing: "free", kernel: "se", mean: "inducing" }],
];

test.each(cases)("%s", async (_, options) => {
  const data = topicData({ points: 120, features: 30, labels: 8 }, 2);
  const sizes = { points: 120, features: 30, labels: 8 };
  const core = await createCore({ threads: 1 });
  const before = core.arena.used;
  const full = completeOptions({ ...tinyOptions, epochs: 2, ...options }, sizes);
  const model = await trainLatent(core, data, 0, full, completeRunOptions({ validation: data }));
  expect(model.phi).toHaveLength(8 * full.factors);
  expect(core.arena.used).toBe(before);
  core.dispose();
});
