// The best labels as the device gives them, against the scores of all labels.

import { describe, expect, test } from "vitest";
import { wasmBackend } from "../../src/backend/wasm.ts";
import { createCore } from "../../src/core/index.ts";
import type { Model } from "../../src/model/model.ts";
import type { Predictor, Scores } from "../../src/parts/predictor.ts";
import { evaluatePredictor } from "../../src/predict/evaluate.ts";
import { predictRows } from "../../src/predict/load.ts";
import { openPredictor } from "../../src/predict/open.ts";
import { type ModelForm, modelSizes, randomModel } from "../support/models.ts";
import { topicData } from "../support/problems.ts";

const { features: d, labels: k } = modelSizes;
/** Two blocks. */
const data = topicData({ points: 300, features: d, labels: k }, 5);

const forms: ModelForm[] = (["shared", "perFactor"] as const).flatMap((groups) => [
  { kernel: "linear", groups, mean: "features" },
  { kernel: "linear+se", groups, mean: "inducing" },
]);

async function withPredictor(model: Model, body: (predictor: Predictor) => Promise<void>): Promise<void> {
  const core = await createCore({ threads: 1 });
  const backend = wasmBackend(core, "f64");
  const before = core.arena.used;
  const predictor = openPredictor(core, backend, model);
  await body(predictor);
  predictor.free();
  backend.dispose();
  expect(core.arena.used).toBe(before);
  core.dispose();
}

describe("the best labels", () => {
  for (const form of forms) {
    test(`${form.kernel}, ${form.groups}: are those of all scores, with the same probabilities`, async () => {
      const model = randomModel(form);
      await withPredictor(model, async (predictor) => {
        const rows = await predictRows(predictor, data.features, { topK: 3 });
        expect(rows.length).toBe(300);
        for await (const scores of predictor.score(data.features, { probability: true, variance: true })) {
          const { firstRow, utility, probability, variance } = scores as Required<Scores> & {
            firstRow: number;
          };
          for (let i = 0; i < scores.rows; i++) {
            const order = Array.from({ length: k }, (_, label) => label).sort(
              (a, b) => probability[i * k + b] - probability[i * k + a] || a - b,
            );
            const found = rows[firstRow + i] ?? [];
            expect(found.map(({ id }) => id)).toEqual(order.slice(0, 3));
            for (const { id, ...best } of found) {
              expect(best.score).toBeCloseTo(utility[i * k + id], 12);
              expect(best.probability).toBe(probability[i * k + id]);
              expect(best.sd).toBeCloseTo(Math.sqrt(variance[i * k + id]), 10);
            }
          }
        }
      });
    });
  }

  test("give the same figures as all scores do", async () => {
    await withPredictor(randomModel({ kernel: "linear", groups: "shared" }), async (predictor) => {
      const [best, all] = [
        await evaluatePredictor(predictor, data),
        await evaluatePredictor(predictor, data, { calibration: true }),
      ];
      expect(best.ranking).toEqual(all.ranking);
    });
  });
});
