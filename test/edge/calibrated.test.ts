// Calibrated models at the edge against the full model and against the formula on paper.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deterministicLog } from "../../src/base/math.ts";
import { calibratedLogit, calibratePoint, logistic, prepareCalibrator } from "../../src/calibrate/forward.ts";
import { compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import { labelProbability } from "../../src/edge/probability.ts";
import { rowScores } from "../../src/edge/scores.ts";
import { SigmoidLogits } from "../../src/edge/svgp.ts";
import { loadModel } from "../../src/predict/load.ts";
import { logitByFormula, someCalibrator, someFrequencies } from "../calibrate/calibrators.ts";
import { generator } from "../support/numbers.ts";
import { calibrated, sampleTexts, textModel, withSchema } from "./support.ts";

const model = calibrated(textModel({ features: 80, labels: 25, factors: 6, inducing: 8 }));
const { calibrator, ...plain } = model;
const texts = sampleTexts(model, 100, 9);

describe("a calibrated model at the edge", () => {
  const rankOffsets = Float64Array.from({ length: 20 }, (_, rank) => 0.3 - 0.1 * (rank % 8));
  const ranked = { ...model, calibrator: { ...model.calibrator, rankOffsets } } as typeof model;
  test.each([
    ["as they are", model],
    ["moved by ranks", ranked],
  ])("gives the full model's probabilities, in their order, %s", async (_, full) => {
    using whole = await loadModel(full, { threads: 1 });
    const tagger = await load(await compactModel(full, { type: "f32", variance: "exact" }));
    const wanted = await whole.predict(texts, { topK: 25 });
    texts.forEach((text, i) => {
      const found = tagger.predict(text, { topK: 25 });
      const probabilities = found.map(({ probability }) => probability);
      expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
      const byLabel = new Map(found.map(({ label, probability }) => [label, probability]));
      for (const { label, probability } of wanted[i] ?? [])
        expect(Math.abs((byLabel.get(String(label)) as number) - probability)).toBeLessThan(1e-5);
      const scores = tagger.score(text);
      tagger.labels.forEach((label, k) => {
        expect(scores.probability(k)).toBe(byLabel.get(label));
      });
    });
  });

  test("calibrates the logit of the probability that integrates the variance", async () => {
    const options = { type: "f32", variance: "exact", allLabels: true } as const;
    const tagger = await load(await compactModel(model, options));
    const before = await load(await compactModel(plain, options));
    const frequencies = model.schema;
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
    const labelCounts = model.schema.labelCounts.map((count, label) => (label % 5 === 2 ? 0 : count));
    const some = withSchema(model, { labelCounts });
    const all = await load(await compactModel(some, { type: "f32", allLabels: true }));
    const tagger = await load(await compactModel(some, { type: "f32" }));
    const kept = [...labelCounts.keys()].filter((label) => label % 5 !== 2);
    // Without labels that are never right, the best ten may be others: compared where they are not.
    const same = texts.filter((text) => {
      const { utilities } = all.score(text);
      const best = [...labelCounts.keys()].sort((a, b) => utilities[b] - utilities[a]);
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
    expect(tagger.predict(texts[20])[0]).not.toHaveProperty("sd");
    expect((await load(await compactModel(plain))).info.calibrated).toBe(false);
  });
});

/** Score lists as the closed form gives them, and utilities of any spread. */
function someScores(names: readonly string[], labels: number, next: () => number) {
  const closed = names
    .filter((name) => name !== "utility")
    .map(() => Float64Array.from({ length: labels }, () => next() ** 8 - 0.02));
  const means = Float64Array.from({ length: labels }, () => 14 * next() ** 3 - 10);
  const spreads = Float64Array.from({ length: labels }, () => 8 * next() ** 2);
  const scores = { values: means, variance: (label: number) => spreads[label] };
  const latent = { ...scores, logits: new SigmoidLogits(scores) };
  const utility = means.map((mean, label) => {
    const p = labelProbability(mean, spreads[label]);
    return deterministicLog(p) - deterministicLog(1 - p);
  });
  const parts = closed.map((values) => ({ values }));
  return names.includes("utility") ? { parts: [...parts, latent], all: [...closed, utility] } : { parts, all: closed };
}

test("the most probable labels are those of a full sort, whatever scores, lists and thresholds", () => {
  const labels = 400;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.constantFrom(["utility"], ["gaussian", "stack"], ["gaussian", "stack", "utility"]),
      fc.constantFrom(1, 5, 70, 1000),
      fc.constantFrom(0, 1e-3, 0.2, 0.9),
      fc.boolean(),
      (seed, names, most, threshold, every) => {
        const next = generator(seed);
        const prepared = prepareCalibrator(someCalibrator(labels, seed, [...names]), someFrequencies(labels, 50, seed));
        const { parts, all } = someScores(names, labels, next);
        const allowed = every ? undefined : Uint8Array.from({ length: labels }, () => Number(next() < 0.3));
        const point = calibratePoint(prepared, all);
        const wanted = [...Array(labels).keys()]
          .filter((label) => allowed?.[label] !== 0)
          .map((label) => ({ label, logit: calibratedLogit(prepared, point, label) }))
          .sort((a, b) => b.logit - a.logit || a.label - b.label)
          .slice(0, most)
          .map(({ label, logit }) => ({ label, probability: logistic(logit) }))
          .filter(({ probability }) => probability >= threshold);
        expect(rowScores(parts, prepared).best(most, threshold, allowed)).toEqual(wanted);
      },
    ),
    { numRuns: 100 },
  );
});
