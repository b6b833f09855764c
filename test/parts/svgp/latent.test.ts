// A training step by step leaves the core as it found it: what comes after it has all the room.

import { expect, test } from "vitest";
import { createCore } from "../../../src/core/core.ts";
import type { TrainOptions } from "../../../src/parts/options.ts";
import { fitSvgp } from "../../../src/parts/svgp/fit.ts";
import { topicData } from "../../support/problems.ts";
import { fitContext, tinyOptions } from "../../support/training.ts";

const cases: [string, TrainOptions][] = [
  ["singular vectors", {}],
  ["centroids as a basis, mean through the inducing inputs", { basis: "kmeans", mean: "inducing" }],
  ["free inducing inputs, squared exponential", { inducing: "free", kernel: "se", mean: "inducing" }],
];

test.each(cases)("%s", async (_, options) => {
  const data = topicData({ points: 120, features: 30, labels: 8 }, 2);
  const core = await createCore({ threads: 1 });
  const before = core.arena.used;
  const context = fitContext(core, data, { ...tinyOptions, epochs: 2, ...options }, { validation: data });
  const { part } = await fitSvgp(context);
  expect(part.phi).toHaveLength(8 * context.options.factors);
  expect(core.arena.used).toBe(before);
  core.dispose();
});
