// Gaussian models at the edge against the full model.

import { describe, expect, test } from "vitest";
import { readSafetensors } from "../../src/base/safetensors.ts";
import { compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { loadModel } from "../../src/predict/load.ts";
import {
  bothPaths,
  type ClosedModelForm,
  closedModel,
  partOf,
  sampleTexts,
  withPart,
  withSchema,
  written,
} from "./support.ts";

const sizes = { features: 80, labels: 25, factors: 6, inducing: 8 };
const forms: Record<string, ClosedModelForm> = {
  "every point in the mean": { ...sizes, form: "gpr" },
  "every point, with a stack": { ...sizes, form: "gpr", coupling: 4 },
  "every point, Matern": { ...sizes, form: "gpr", kernel: "matern32" },
  "every point, linear and stationary": { ...sizes, form: "gpr", kernel: "linear+se" },
  "every point, linear": { ...sizes, form: "gpr", kernel: "linear" },
  "inducing points": { ...sizes, form: "sgpr", coupling: 4 },
  "linear in the features": { ...sizes, form: "linear" },
  "linear with a stack": { ...sizes, form: "linear", coupling: 3 },
  "both likelihoods": { ...sizes, form: "linear+svgp" },
};
const texts = sampleTexts(closedModel({ ...sizes, form: "linear" }), 60, 9);

/** The greatest difference between probabilities of the full model and at the edge, over all labels. */
async function difference(form: ClosedModelForm, type: "f32" | "int8"): Promise<number> {
  const model = closedModel(form);
  using whole = await loadModel(model, { threads: 1 });
  const tagger = await load(await compactModel(model, { type, variance: "exact" }));
  const wanted = await whole.predict(texts, { topK: 25 });
  let greatest = 0;
  texts.forEach((text, i) => {
    const found = tagger.predict(text, { topK: 25 });
    const byLabel = new Map(found.map(({ label, probability }) => [label, probability]));
    for (const { label, probability } of wanted[i] ?? [])
      greatest = Math.max(greatest, Math.abs((byLabel.get(String(label)) as number) - probability));
  });
  return greatest;
}

describe("a Gaussian model at the edge gives the full model's probabilities", () => {
  for (const [name, form] of Object.entries(forms)) {
    test(`${name}, in single precision`, async () => {
      expect(await difference(form, "f32")).toBeLessThan(2e-5);
    });
    test(`${name}, in whole numbers`, async () => {
      expect(await difference(form, "int8")).toBeLessThan(0.02);
    });
  }
});

describe("a Gaussian model made compact", () => {
  test("is one after a model file as well", async () => {
    const model = closedModel({ ...sizes, form: "gpr", coupling: 4 });
    const again = modelFromBytes(modelToBytes(model), "model");
    expect(await compactModel(again)).toEqual(await compactModel(model));
  });

  test("keeps all digits of inducing points' weights unless asked otherwise", async () => {
    const model = closedModel({ ...sizes, form: "sgpr" });
    expect(await compactModel(model)).toEqual(await compactModel(model, { type: "f32" }));
    expect(await compactModel(model, { type: "int8" })).not.toEqual(await compactModel(model));
  });

  test("leaves out labels without a training point where asked to", async () => {
    const model = closedModel({ ...sizes, form: "gpr" });
    const labelCounts = model.schema.labelCounts.map((count, label) => (label % 5 === 2 ? 0 : count));
    const tagger = await load(
      await compactModel(withSchema(model, { labelCounts }), { type: "f32", allLabels: false }),
    );
    const all = await load(await compactModel(model, { type: "f32" }));
    const kept = [...labelCounts.keys()].filter((label) => label % 5 !== 2);
    expect(tagger.labels).toEqual(kept.map((label) => model.schema.labelNames?.[label]));
    for (const text of texts) {
      const [some, every] = [tagger.score(text).utilities, all.score(text).utilities];
      expect([...some]).toEqual(kept.map((label) => every[label]));
    }
  });

  test("keeps only as many weights as there is room for, the largest ones", async () => {
    const model = closedModel({ form: "linear", features: 300, labels: 100, factors: 2, inducing: 2 });
    const bytes = await compactModel(model, { size: 0.03 });
    expect(bytes.length).toBeLessThan(36_000);
    expect(bytes.length).toBeGreaterThan(27_000);
    const { tensors } = readSafetensors(bytes);
    const values = tensors.get("linear.weights.values")?.data as Int8Array;
    const sorted = partOf(model, "linear").weights.map(Math.abs).sort();
    const cut = sorted[sorted.length - values.length];
    // Whole numbers times their scale are no smaller than the cut, but for rounding.
    const scale = tensors.get("linear.weights.scale")?.data as Float32Array;
    const coarsest = scale.reduce((most, value) => Math.max(most, value), 0);
    const smallest = values.reduce((least, value) => Math.min(least, Math.abs(value)), 127);
    expect(smallest * coarsest).toBeGreaterThan(cut - coarsest);
    await expect(compactModel(model, { size: 0 })).rejects.toThrow("size: found 0, expected megabytes above 0");
  });

  test("makes up on average for the weights that it leaves out", async () => {
    const made = closedModel({ form: "gpr", features: 200, labels: 60, factors: 2, points: 300 });
    const part = partOf(made, "gpr");
    // As in training: a few large weights up, and very many small ones down.
    const dual = part.dual.map((value) => (value > 0.36 ? value : -0.1 * Math.abs(value)));
    const model = withPart(made, { ...part, dual });
    const [whole, small] = [
      await load(await compactModel(model, { type: "f32" })),
      await load(await compactModel(model, { size: 0.05 })),
    ];
    const { rows } = part;
    let [sum, squares, count] = [0, 0, 0];
    for (let i = 0; i + 1 < rows.rows; i++) {
      // New points: halves of two training points.
      const mixed = new Float64Array(200);
      for (let e = rows.rowStart[i]; e < rows.rowStart[i + 2]; e++)
        mixed[rows.columnIndex[e]] = mixed[rows.columnIndex[e]] + rows.values[e];
      const input = { indices: [...mixed.keys()], values: mixed };
      const wanted = Float64Array.from(whole.score(input).utilities);
      small.score(input).utilities.forEach((score, label) => {
        const error = score - wanted[label];
        sum += error;
        squares += error * error;
        count++;
      });
    }
    expect(Math.abs(sum / count)).toBeLessThan(0.6 * Math.sqrt(squares / count));
  });

  test("says what it is and predicts the same on both paths", async () => {
    const bytes = await compactModel(closedModel({ ...sizes, form: "linear+svgp" }));
    const [plain, wasm] = await bothPaths(bytes);
    expect(written(wasm.predictMany(texts))).toBe(written(plain.predictMany(texts)));
    const latent = { family: "svgp", kernel: "linear", factors: 6, variance: "diagonal" };
    expect(plain.info).toMatchObject({ calibrated: true, labels: 25, parts: [{ family: "linear" }, latent] });
    const alone = await load(await compactModel(closedModel({ ...sizes, form: "gpr", points: 12, coupling: 3 })));
    expect(alone.info).toMatchObject({
      calibrated: true,
      parts: [
        { family: "gpr", kernel: "se", points: 12 },
        { family: "coupling", rank: 3 },
      ],
    });
  });
});
