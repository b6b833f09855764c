// Which labels come: thresholds without a number of labels, allow and deny lists. The reference is all labels, filtered.

import { describe, expect, test } from "vitest";
import { allowedLabels, type Thresholds } from "../../src/base/prediction.ts";
import { compactModel } from "../../src/compact/index.ts";
import { load, type Prediction, type Tagger } from "../../src/edge/index.ts";
import { loadModel } from "../../src/predict/load.ts";
import { guarantees } from "../support/guarantees.ts";
import { generator } from "../support/numbers.ts";
import { calibrated, sampleTexts, type TextModel, textModel, withSchema } from "./support.ts";

const small = { features: 60, labels: 70, factors: 5, inducing: 9 };
const THRESHOLDS = [0, 1e-300, 0.001, 0.05, 0.3, 0.5, 0.9, 1];

async function taggers(): Promise<{ tagger: Tagger; texts: string[] }[]> {
  const made = (["shared", "perFactor"] as const).flatMap((groups) =>
    (["exact", "none"] as const).map(async (variance) => {
      // Wide variances make probability and rank disagree.
      const model = textModel({ ...small, groups, kernel: "linear+se" });
      const bytes = await compactModel(model, { type: "f32", variance });
      return { tagger: await load(bytes), texts: sampleTexts(model, 30, 4) };
    }),
  );
  return await Promise.all(made);
}

const atLeast = (all: Prediction[], threshold: number): Prediction[] =>
  all.filter(({ probability }) => probability >= threshold);

describe("a threshold", () => {
  test("without topK gives every label that reaches it", async () => {
    for (const { tagger, texts } of await taggers())
      for (const text of texts) {
        const all = tagger.predict(text, { topK: 70 });
        for (const threshold of THRESHOLDS)
          expect(tagger.predict(text, { threshold })).toEqual(atLeast(all, threshold));
      }
  });

  test("with topK gives no more than that, and five where neither is given", async () => {
    for (const { tagger, texts } of await taggers())
      for (const text of texts) {
        const all = tagger.predict(text, { topK: 70 });
        expect(tagger.predict(text)).toEqual(all.slice(0, 5));
        for (const threshold of THRESHOLDS)
          expect(tagger.predict(text, { topK: 3, threshold })).toEqual(atLeast(all.slice(0, 3), threshold));
      }
  });
});

/** A calibrated model with made-up thresholds, some labels of which were never seen. */
function cutModel(): TextModel & { thresholds: Thresholds } {
  const model = calibrated(textModel(small));
  const next = generator(8);
  const cut = (overall: number) => ({
    overall,
    labels: Float32Array.from({ length: small.labels }, () => 0.6 * next()),
  });
  const thresholds: Thresholds = {
    f1: cut(0.25),
    macroF1: cut(0.25).labels,
    expected: { precision: 0.5, recall: 0.5, f1: 0.5 },
    guarantees,
  };
  const labelCounts = model.schema.labelCounts.map((count, label) => (label % 7 === 2 ? 0 : count));
  return { ...withSchema(model, { labelCounts }), thresholds };
}

describe("thresholds of the model's own", () => {
  const model = cutModel();
  const texts = sampleTexts(model, 30, 4);
  const { f1 } = model.thresholds;
  const { labelCounts, labelNames } = model.schema;

  test("are those of the training, of the labels that the compact model has", async () => {
    const tagger = await load(await compactModel(model));
    const kept = [...labelCounts.keys()].filter((label) => labelCounts[label] !== 0);
    const placeOf = new Map(kept.map((label) => [labelNames?.[label], label]));
    const reaching = (all: Prediction[], cut: Float32Array): Prediction[] =>
      all.filter(({ label, probability }) => probability >= cut[placeOf.get(label) as number]);
    for (const text of texts) {
      const all = tagger.predict(text, { topK: 70 });
      expect(tagger.predict(text, { threshold: "best" })).toEqual(atLeast(all, 0.25));
      expect(tagger.predict(text, { threshold: "label" })).toEqual(reaching(all, f1.labels));
      expect(tagger.predict(text, { threshold: "label", topK: 2 })).toEqual(reaching(all, f1.labels).slice(0, 2));
      expect(tagger.predict(text, { precision: 0.4 })).toEqual(atLeast(all, 0.35));
      expect(tagger.predict(text, { precision: 0.4, confidence: 0.9 })).toEqual(atLeast(all, 0.3));
    }
  });

  test("give the full model's labels", async () => {
    using whole = await loadModel(model, { threads: 1 });
    const tagger = await load(await compactModel(model, { type: "f32", variance: "exact", allLabels: true }));
    for (const threshold of ["best", "label"] as const) {
      const wanted = await whole.predict(texts, { threshold });
      texts.forEach((text, i) => {
        const names = (found: readonly Prediction[]): string[] => found.map(({ label }) => label);
        expect(names(tagger.predict(text, { threshold }))).toEqual(names(wanted[i] ?? []));
      });
    }
  });

  test("are refused where a model has none", async () => {
    const { thresholds: _, ...without } = model;
    const tagger = await load(await compactModel(without));
    expect(() => tagger.predict("a", { threshold: "best" })).toThrow(
      "threshold: found best, expected a number: this model has no thresholds of its own",
    );
  });
});

describe("allow and deny lists", () => {
  test("leave the labels that may come, in their order", async () => {
    for (const { tagger, texts } of await taggers()) {
      const { labels } = tagger;
      const allow = [...labels.filter((_, label) => label % 3 === 0), "nobody knows this"];
      const deny = labels.filter((_, label) => label % 2 === 0);
      for (const text of texts) {
        const all = tagger.predict(text, { topK: 70 });
        const allowed = all.filter(({ label }) => allow.includes(label));
        const both = allowed.filter(({ label }) => !deny.includes(label));
        expect(tagger.predict(text, { allow, topK: 100 })).toEqual(allowed);
        expect(tagger.predict(text, { deny, topK: 4 })).toEqual(
          all.filter(({ label }) => !deny.includes(label)).slice(0, 4),
        );
        expect(tagger.predict(text, { allow, deny })).toEqual(both.slice(0, 5));
        expect(tagger.predict(text, { allow, deny, threshold: 0.05 })).toEqual(atLeast(both, 0.05));
        expect(tagger.predict(text, { allow: [] })).toEqual([]);
        expect(tagger.predict(text, { topK: 70 })).toEqual(all);
      }
    }
  });

  test("are by name, and names can be numbers", () => {
    expect(allowedLabels([7, 8, 9], { allow: ["8", "9"], deny: ["9", "10"] })).toEqual(Uint8Array.of(0, 1, 0));
    expect(allowedLabels(["a"], {})).toBe(undefined);
    expect(allowedLabels(["a"], { deny: [] })).toEqual(Uint8Array.of(1));
  });

  test("are lists", () => {
    expect(() => allowedLabels(["a"], { deny: "a" as never })).toThrow("deny: found string, expected a list of labels");
  });
});

describe("values too large to compute with", () => {
  const large = { indices: [2, 11], values: [3e38, -3e38] };
  const message = "input: found values too large to compute with, expected smaller ones";

  test("are refused, never a probability that is no number", async () => {
    for (const kernel of ["linear", "se", "linear+se"] as const)
      for (const type of ["f32", "int8"] as const)
        for (const columnWeights of [undefined, new Float32Array(60).fill(1e17)])
          for (const normalise of [false, true]) {
            const transform = { normalise, ...(columnWeights ? { columnWeights } : {}) };
            const tagger = await load(
              await compactModel(withSchema(textModel({ ...small, kernel }), { vectoriser: undefined, transform }), {
                type,
              }),
            );
            let found: Prediction[] = [];
            try {
              found = tagger.predict(large, { topK: 70 });
            } catch (error) {
              expect((error as Error).message).toBe(message);
            }
            for (const { probability, sd = 0 } of found) {
              expect(probability >= 0 && probability <= 1).toBe(true);
              expect(Number.isFinite(sd)).toBe(true);
            }
            expect(tagger.predict({ indices: [2], values: [1] })).toHaveLength(5);
          }
  });
});
