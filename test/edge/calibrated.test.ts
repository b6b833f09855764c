// Calibrated models at the edge against the full model and against the formula on paper.

import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import { loadModel } from "../../src/predict/load.ts";
import { logitByFormula } from "../calibrate/calibrators.ts";
import { calibrated, sampleTexts, textModel } from "./support.ts";

const model = calibrated(textModel({ features: 80, labels: 25, factors: 6, inducing: 8 }));
const { calibrator, ...plain } = model;
const texts = sampleTexts(model, 100, 9);

describe("a calibrated model at the edge", () => {
  test("gives the full model's probabilities, in their order", async () => {
    using whole = await loadModel(model, { threads: 1 });
    const tagger = await load(await compactModel(model, { type: "f32", variance: "exact" }));
    const wanted = await whole.predict(texts, { topK: 25 });
    texts.forEach((text, i) => {
      const found = tagger.predict(text, { topK: 25 });
      const probabilities = found.map(({ probability }) => probability);
      expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
      const byLabel = new Map(found.map(({ label, probability }) => [label, probability]));
      for (const { label, probability } of wanted[i] ?? [])
        expect(Math.abs((byLabel.get(String(label)) as number) - probability)).toBeLessThan(1e-5);
    });
  });

  test("calibrates the logit of the probability that integrates the variance", async () => {
    const options = { type: "f32", variance: "exact", allLabels: true } as const;
    const tagger = await load(await compactModel(model, options));
    const before = await load(await compactModel(plain, options));
    const frequencies = { labelCounts: model.labelCounts, points: model.summary.points };
    for (const text of texts.slice(0, 20)) {
      const utilities = tagger.labels.map((_, label) => {
        const p = before.score(text).probability(label);
        return Math.log(p) - Math.log(1 - p);
      });
      const scores = tagger.score(text);
      tagger.labels.forEach((_, label) => {
        const logit = logitByFormula(calibrator as never, frequencies, label, [utilities]);
        expect(scores.probability(label)).toBeCloseTo(1 / (1 + Math.exp(-logit)), 6);
      });
    }
  });

  test("keeps each label's own effects when others are left out", async () => {
    const labelCounts = model.labelCounts.map((count, label) => (label % 5 === 2 ? 0 : count));
    const some = { ...model, labelCounts };
    const all = await load(await compactModel(some, { type: "f32", allLabels: true }));
    const tagger = await load(await compactModel(some, { type: "f32" }));
    const kept = [...labelCounts.keys()].filter((label) => label % 5 !== 2);
    // Without labels that are never right, the best ten may be others: compared where they are not.
    const same = texts.filter((text) => {
      const { utilities } = all.score(text);
      const best = [...labelCounts.keys()].sort(
        (a, b) => (utilities[b] as number) - (utilities[a] as number),
      );
      return best.slice(0, 12).every((label) => label % 5 !== 2);
    });
    for (const text of same) {
      const [some, every] = [tagger.score(text), all.score(text)];
      kept.forEach((label, i) => {
        expect(some.probability(i)).toBeCloseTo(every.probability(label), 12);
      });
    }
  });

  test("says that it is calibrated, and no deviation of a utility", async () => {
    const tagger = await load(await compactModel(model));
    expect(tagger.info.calibrated).toBe(true);
    expect(tagger.predict(texts[20] as string)[0]).not.toHaveProperty("sd");
    expect((await load(await compactModel(plain))).info.calibrated).toBe(false);
  });
});
