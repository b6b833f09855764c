// Requests that do not wait for each other are answered as if they had.

import { expect, test } from "vitest";
import { loadModel } from "../../src/predict/load.ts";
import { modelSizes, randomModel } from "../support/models.ts";
import { topicData } from "../support/problems.ts";

/** Of one block, of two and of three. */
const inputs = [40, 300, 9, 600, 40].map(
  (points, i) => topicData({ points, features: modelSizes.features, labels: modelSizes.labels }, i).features,
);

for (const [kernel, groups] of [
  ["linear", "shared"],
  ["linear+se", "perFactor"],
] as const) {
  test(`predictions and scores of several requests at once: ${kernel}, ${groups}`, async () => {
    const model = randomModel({ kernel, groups, mean: "inducing" });
    using loaded = await loadModel(model, { threads: 1 });
    const requests = inputs.flatMap((features) => [
      () => loaded.predict(features, { topK: 3 }),
      () => loaded.score(features, { probability: true, variance: true }),
    ]);
    const alone: unknown[] = [];
    for (const request of requests) alone.push(await request());
    expect(await Promise.all(requests.map((request) => request()))).toEqual(alone);
  });
}

test("a request that fails does not harm those beside it", async () => {
  using loaded = await loadModel(randomModel({ kernel: "linear", groups: "shared" }), { threads: 1 });
  const [features] = inputs;
  const alone = await loaded.predict(features);
  const far = { ...features, values: features.values.map((value) => value * 1e30) };
  const [failed, answer] = await Promise.allSettled([loaded.predict(far), loaded.predict(features)]);
  expect(failed.status).toBe("rejected");
  expect(answer).toEqual({ status: "fulfilled", value: alone });
});
