// Whatever finite numbers a model file holds, and whatever finite rows it is given: a sentence, or numbers that are numbers.

import { describe, expect, test } from "vitest";
import { wasmBackend } from "../../src/backend/wasm.ts";
import { ArgumentError, FormatError } from "../../src/base/errors.ts";
import { kernelNames } from "../../src/base/kernels.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "../../src/base/safetensors.ts";
import type { SparseRows } from "../../src/base/sparse.ts";
import { createCore } from "../../src/core/core.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import { predictRows } from "../../src/predict/load.ts";
import { openPredictor } from "../../src/predict/open.ts";
import { type ClosedModelForm, closedModel } from "../edge/support.ts";
import { modelSizes, randomModel } from "../support/models.ts";
import { generator } from "../support/numbers.ts";

/** Regression models of the same sizes whose rows are not scaled. */
const closed = (form: Pick<ClosedModelForm, "form" | "kernel" | "coupling">): Model => {
  const { features, labels } = modelSizes;
  const model = closedModel({ ...form, features, labels, factors: 3, inducing: 5, points: 6 });
  return { ...model, schema: { ...model.schema, transform: { normalise: false } } };
};

const models: Record<string, Model> = {
  ...Object.fromEntries(
    kernelNames.flatMap((kernel) =>
      (["shared", "perFactor"] as const).map((groups) => [
        `${kernel} ${groups}`,
        randomModel({ kernel, groups, precision: "f32" }),
      ]),
    ),
  ),
  "mean through the features": randomModel({
    kernel: "linear",
    groups: "shared",
    mean: "features",
    precision: "f32",
  }),
  "gpr se": closed({ form: "gpr", coupling: 2 }),
  "gpr linear+matern52": closed({ form: "gpr", kernel: "linear+matern52" }),
  linear: closed({ form: "linear", coupling: 2 }),
  "linear+svgp": closed({ form: "linear+svgp", kernel: "matern32", coupling: 2 }),
};

/** The file with each tensor of numbers multiplied by a power of ten of its own; the largest ones stay finite. */
function swollen(model: Model, next: () => number): Uint8Array {
  const { tensors, metadata } = readSafetensors(modelToBytes(model));
  const changed = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) {
    const calm = next() < 0.6 || name.endsWith("hyper") || name.startsWith("calibrator");
    const factor = calm ? 1 : 10 ** Math.floor(76 * next() - 38);
    const swell = (value: number): number => Math.max(-3e38, Math.min(3e38, value * factor));
    changed.set(name, tensor.dtype === "F32" ? { ...tensor, data: tensor.data.map((value) => swell(value)) } : tensor);
  }
  return writeSafetensors({ tensors: changed, metadata });
}

const row = (values: number[]): SparseRows => ({
  rows: 1,
  columns: modelSizes.features,
  rowStart: Int32Array.of(0, values.length),
  columnIndex: Int32Array.from(values, (_, i) => i),
  values: Float32Array.from(values),
});

describe("no NaN for a finite input", () => {
  for (const [name, model] of Object.entries(models)) {
    test(name, async () => {
      const core = await createCore({ threads: 1 });
      const backend = wasmBackend(core, "f32");
      const outcomes = { refused: 0, long: 0, predicted: 0 };
      for (let seed = 0; seed < 60; seed++) {
        const next = generator(1000 + seed);
        const bytes = seed === 0 ? modelToBytes(model) : swollen(model, next);
        let read: Model;
        try {
          read = modelFromBytes(bytes, "the model");
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
          outcomes.refused++;
          continue;
        }
        const predictor = openPredictor(core, backend, read);
        for (const size of [0, 1, 1e-38, 1e6, 1e12, 1e18, 3e38]) {
          const values = Array.from({ length: modelSizes.features }, (_, i) => (i % 2 ? -size : size) / Math.sqrt(8));
          try {
            const [labels = []] = await predictRows(predictor, row(values), { topK: modelSizes.labels });
            for (const { probability, sd = 0, score } of labels) {
              const right = probability >= 0 && probability <= 1 && sd >= 0 && Number.isFinite(score);
              expect(right, `seed ${seed}, ${size}: ${probability} ${sd} ${score}`).toBe(true);
            }
            expect(labels.length).toBe(modelSizes.labels);
            outcomes.predicted++;
          } catch (error) {
            if (!(error instanceof ArgumentError)) throw error;
            expect(error.message).toMatch(/^features: found values too large .* in row 0, expected /);
            expect(size).toBeGreaterThan(1);
            outcomes.long++;
          }
        }
        predictor.free();
      }
      core.dispose();
      for (const count of Object.values(outcomes)) expect(count).toBeGreaterThan(1);
    });
  }

  test("NaN and Infinity are refused, wherever they stand", async () => {
    for (const name of ["se shared", "gpr se", "linear"]) {
      const core = await createCore({ threads: 1 });
      const predictor = openPredictor(core, wasmBackend(core, "f32"), models[name]);
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
        await expect(predictRows(predictor, row([1, value]), { topK: 3 })).rejects.toThrow("found values too large");
      core.dispose();
    }
  });
});
