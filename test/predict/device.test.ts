// A model on a GPU: the same labels and probabilities as on WASM, nothing left behind, and moved when the GPU is lost.
// @module-tag long

import { describe, expect, test } from "vitest";
import { type OpenDevice, openDevice } from "../../src/backend/devices.ts";
import { topLabels } from "../../src/base/top.ts";
import { type Core, createCore } from "../../src/core/index.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import type { Model } from "../../src/model/model.ts";
import type { TrainOptions } from "../../src/parts/options.ts";
import { loadModel, predictRows } from "../../src/predict/load.ts";
import { openPredictor } from "../../src/predict/open.ts";
import { countBuffers, newDevice, seeingDevices, works } from "../support/devices.ts";
import { randomModel } from "../support/models.ts";
import { topicData } from "../support/problems.ts";
import { tinyTraining } from "../support/training.ts";

const many: Dataset = topicData({ points: 1000, features: 60, labels: 15 }, 1);
const few: Dataset = topicData({ points: 300, features: 60, labels: 15 }, 2);

const forms: [name: string, options: TrainOptions][] = [
  ["linear, mean through the features, shared", {}],
  ["linear, mean through the inducing inputs, perFactor", { mean: "inducing", posterior: "perFactor" }],
  ["se, shared", { kernel: "se", mean: "inducing" }],
  ["linear+se, perFactor", { kernel: "linear+se", mean: "inducing", posterior: "perFactor" }],
];

/** Utilities, probabilities and deviations of all labels, rows one after another. */
async function scores(
  model: Model,
  core: Core,
  { backend }: OpenDevice,
): Promise<{ utility: Float64Array; probability: Float64Array; deviation: Float64Array }> {
  const predictor = openPredictor(core, backend, model);
  const rows = await predictRows(predictor, many.features, { topK: model.schema.labels });
  predictor.free();
  const all = (name: "score" | "probability" | "sd"): Float64Array =>
    Float64Array.from(rows.flatMap((row) => row.sort((a, b) => a.id - b.id).map((each) => each[name])));
  return { utility: all("score"), probability: all("probability"), deviation: all("sd") };
}

/** Opening a software GPU takes seconds: the forms share one. */
let opened: Promise<{ core: Core; gpu: OpenDevice; wasm: OpenDevice }> | undefined;
async function open(): Promise<{ core: Core; gpu: OpenDevice; wasm: OpenDevice }> {
  const core = await createCore({ threads: 1 });
  const [gpu, wasm] = [await openDevice(core, "webgpu", "f32"), await openDevice(core, "wasm", "f32")];
  return { core, gpu, wasm };
}

const worst = (a: Float64Array, b: Float64Array): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), a.length === b.length ? 0 : 1);

describe("a trained model on a GPU", () => {
  for (const [name, options] of forms) {
    test(`${name}: the same five best labels, and probabilities within 1e-4`, async () => {
      const model = await tinyTraining({ epochs: 5, ...options });
      opened ??= open();
      const { core, gpu, wasm } = await opened;
      const [onGpu, onWasm] = [await scores(model, core, gpu), await scores(model, core, wasm)];
      gpu.check();
      expect(worst(onGpu.probability, onWasm.probability)).toBeLessThan(1e-4);
      expect(worst(onGpu.deviation, onWasm.deviation)).toBeLessThan(1e-3);
      const best = (utility: Float64Array): Int32Array => topLabels(utility, 1000, model.schema.labels, 5);
      const [found, wanted] = [best(onGpu.utility), best(onWasm.utility)];
      let equal = 0;
      for (let i = 0; i < 1000; i++) {
        const set = (labels: Int32Array): string =>
          labels
            .slice(5 * i, 5 * i + 5)
            .sort()
            .join();
        if (set(found) === set(wanted)) equal++;
      }
      expect(equal).toBeGreaterThanOrEqual(999);
    });
  }

  test("leaves no buffer behind, and the device to whose it is", async () => {
    const device = await newDevice();
    const live = countBuffers(device);
    const loaded = await loadModel(await tinyTraining({ epochs: 1 }), { threads: 1, device });
    expect(loaded.device).toBe("GPU (the GPU given)");
    await loaded.predict(many.features);
    const once = live();
    await loaded.predict(many.features);
    expect(live()).toEqual(once);
    expect((await loaded.evaluate(many)).ranking.points).toBe(1000);
    loaded.dispose();
    expect(live()).toEqual({ count: 0, bytes: 0 });
    expect(await works(device)).toBe(true);
    device.destroy();
  });

  test("moves to another device when its own is lost, in the middle of several requests", async () => {
    await seeingDevices(async (devices) => {
      const model = await tinyTraining({ epochs: 2 });
      const loaded = await loadModel(model, { threads: 1, device: "webgpu" });
      const inputs = [many.features, few.features];
      const before: unknown[] = [];
      for (const features of inputs) before.push(await loaded.predict(features));
      const requests = inputs.map((features) => loaded.predict(features));
      devices[0]?.destroy();
      expect(await Promise.all(requests)).toEqual(before);
      expect(devices.length).toBe(2);
      expect(loaded.device).toMatch(/^GPU \(/);
      loaded.dispose();
      expect(await works(devices[1])).toBe(false);
    });
  });

  test("of double precision is refused; auto takes WASM", async () => {
    const model = randomModel({ kernel: "linear", groups: "shared", precision: "f64" });
    await expect(loadModel(model, { threads: 1, device: "webgpu" })).rejects.toThrow(
      "device: found a GPU with the precision f64, expected wasm",
    );
    using loaded = await loadModel(model, { threads: 1, device: "auto" });
    expect(loaded.device).toBe("WASM (a GPU computes in single precision)");
  });
});
