// Thresholds: the best of all that could be tried, shrunk for rare labels, as precise as wanted.

import { describe, expect, test } from "vitest";
import { chooseThresholds, type Predictions } from "../../src/calibrate/thresholds.ts";
import { generator } from "../support/numbers.ts";

/** Predictions that are right as often as they say, mostly small; label k has about 4,000 / (1 + k)^2 of them. */
function somePredictions(labels: number, seed: number, hard = (_: number) => 1): Predictions {
  const next = generator(seed);
  const labelStart = new Int32Array(labels + 1);
  const probabilities: number[] = [];
  const signedWeight: number[] = [];
  for (let k = 0; k < labels; k++) {
    const count = Math.ceil(4000 / (1 + k) ** 2);
    for (let i = 0; i < count; i++) {
      const p = hard(k) * next() ** 3;
      probabilities.push(p);
      signedWeight.push(next() < p ? 1 : -1);
    }
    labelStart[k + 1] = probabilities.length;
  }
  return { labelStart, probabilities, signedWeight };
}

/** Figures of keeping what reaches its label's threshold. */
function figures(
  { labelStart, probabilities, signedWeight }: Predictions,
  cut: (label: number) => number,
  only?: number,
) {
  let [right, kept, positives] = [0, 0, 0];
  for (let k = 0; k + 1 < labelStart.length; k++) {
    if (only !== undefined && k !== only) continue;
    for (let e = labelStart[k]; e < labelStart[k + 1]; e++) {
      const isKept = probabilities[e] >= cut(k);
      const signed = signedWeight[e];
      if (isKept) kept += Math.abs(signed);
      if (isKept && signed > 0) right += signed;
      if (signed > 0) positives += signed;
    }
  }
  return { precision: right / kept, recall: right / positives, f1: (2 * right) / (kept + positives) };
}

describe("thresholds for F1", () => {
  const given = somePredictions(12, 1);
  const chosen = chooseThresholds(given);

  test("overall: no other threshold is better by more than the steps between those tried", () => {
    const { f1, precision, recall } = figures(given, () => chosen.f1.overall);
    for (let t = 0.01; t < 1; t += 0.01) expect(figures(given, () => t).f1).toBeLessThan(f1 + 0.005);
    expect(chosen.expected.f1).toBeCloseTo(f1, 12);
    expect(chosen.expected.precision).toBeCloseTo(precision, 12);
    expect(chosen.expected.recall).toBeCloseTo(recall, 12);
  });

  test("a weight counts as so many predictions", () => {
    const signedWeight = Array.from(given.signedWeight, (w, e) => (e % 3 === 0 ? w * 2 : w));
    const twice = chooseThresholds({ ...given, signedWeight });
    const { f1 } = figures({ ...given, signedWeight }, () => twice.f1.overall);
    expect(twice.expected.f1).toBeCloseTo(f1, 12);
  });

  test("of a label with many positives: its own best; with few: near that of all", () => {
    // Label 0 is told poorly: none of its probabilities is above 0.3.
    const poor = somePredictions(40, 2, (k) => (k === 0 ? 0.3 : 1));
    const { f1 } = chooseThresholds(poor);
    const own = figures(poor, () => f1.labels[0], 0).f1;
    expect(own).toBeGreaterThan(figures(poor, () => f1.overall, 0).f1 + 0.05);
    for (let t = 0.01; t < 0.3; t += 0.01) expect(figures(poor, () => t, 0).f1).toBeLessThan(own + 0.01);
    for (let k = 30; k < 40; k++) expect(Math.abs(f1.labels[k] - f1.overall)).toBeLessThan(0.15);
  });
});

test("thresholds for macro F1 are the best for what the probabilities expect of each label, whatever came", () => {
  const given = somePredictions(6, 5);
  const { macroF1 } = chooseThresholds(given);
  for (let k = 0; k < 6; k++) {
    const [from, to] = [given.labelStart[k], given.labelStart[k + 1]];
    const expected = (t: number): number => {
      let [right, kept, positives] = [0, 0, 0];
      for (let e = from; e < to; e++) {
        const weight = Math.abs(given.signedWeight[e]);
        positives += weight * given.probabilities[e];
        if (given.probabilities[e] < t) continue;
        kept += weight;
        right += weight * given.probabilities[e];
      }
      return (2 * right) / (kept + positives);
    };
    // Thresholds are tried in steps.
    for (let t = 0.01; t < 1; t += 0.01) expect(expected(t)).toBeLessThan(expected(macroF1[k]) + 0.01);
  }
  const turned = { ...given, signedWeight: Array.from(given.signedWeight, (weight) => -weight) };
  expect(chooseThresholds(turned).macroF1).toEqual(macroF1);
});

test("a label without predictions is cut where all are", () => {
  const given = somePredictions(12, 3);
  const none = { ...given, labelStart: Int32Array.from([...given.labelStart, given.probabilities.length]) };
  const { f1 } = chooseThresholds(none);
  expect(f1.labels[12]).toBe(Math.fround(f1.overall));
});

test("degenerate predictions have thresholds too", () => {
  const empty = { labelStart: new Int32Array(3), probabilities: [], signedWeight: [] };
  const noPositives = {
    labelStart: Int32Array.from([0, 2]),
    probabilities: [0.9, 0.1],
    signedWeight: [-1, -1],
  };
  const certain = { labelStart: Int32Array.from([0, 2]), probabilities: [1, 0], signedWeight: [1, -1] };
  for (const given of [empty, noPositives, certain]) {
    const { f1, macroF1 } = chooseThresholds(given);
    for (const threshold of [f1.overall, ...f1.labels, ...macroF1]) expect(threshold > 0 && threshold <= 1).toBe(true);
  }
  expect(chooseThresholds(certain).expected.f1).toBe(1);
});
