// Guarantees: the formulas against plain sums, and what is promised against what comes true of generated documents.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chosenThreshold, expectedOf, type Thresholds } from "../../src/base/prediction.ts";
import { binomialBelow, chooseGuarantees, saferGuarantees, type UnseenPairs } from "../../src/calibrate/guarantees.ts";
import { guarantees } from "../support/guarantees.ts";
import { generator } from "../support/numbers.ts";

test("the binomial tail is the sum of its terms", async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.nat(60),
      fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      (n, x, q) => {
        let [term, sum] = [(1 - q) ** n, 0];
        for (let k = 0; k <= Math.min(x, n); k++) {
          sum += term;
          term *= ((n - k) / (k + 1)) * (q / (1 - q));
        }
        expect(binomialBelow(x, n, q)).toBeCloseTo(Math.min(1, sum), 9);
      },
    ),
  );
});

/** Documents of 30 labels whose probabilities are right; a document's luck moves all of its labels, so that they are not independent. */
function documents(count: number, seed: number, clustered = true): UnseenPairs {
  const next = generator(seed);
  const [row, signedWeight, probabilities]: number[][] = [[], [], []];
  for (let i = 0; i < count; i++) {
    const lucky = next() < 0.5;
    for (let k = 0; k < 30; k++) {
      const p = next() ** 4;
      const spread = clustered ? Math.min(p, 1 - p) / 2 : 0;
      row.push(i);
      probabilities.push(p);
      signedWeight.push(next() < p + (lucky ? spread : -spread) ? 1 : -1);
    }
  }
  return {
    row: Int32Array.from(row),
    signedWeight: Float64Array.from(signedWeight),
    probabilities: Float64Array.from(probabilities),
  };
}

const truthOf = ({ row, signedWeight, probabilities }: UnseenPairs, threshold: number) => {
  const found = new Map<number, { kept: number; right: number; all: number }>();
  row.forEach((i, e) => {
    const own = found.get(i) ?? { kept: 0, right: 0, all: 0 };
    found.set(i, own);
    const [kept, right] = [probabilities[e] >= threshold, signedWeight[e] > 0];
    own.all += Number(right);
    own.kept += Number(kept);
    own.right += Number(kept && right);
  });
  const all = [...found.values()];
  const labelled = all.filter((own) => own.all > 0);
  const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
  return {
    recall: sum(labelled.map((own) => own.right / own.all)) / labelled.length,
    precision: sum(all.map((own) => own.right)) / sum(all.map((own) => own.kept)),
    labelled: labelled.length,
  };
};

describe("recall", async () => {
  const given = documents(400, 1);
  const { recall } = await chooseGuarantees(given, "leave-one-out");

  test("is the largest threshold that conformal risk control allows", async () => {
    const values = Array.from(given.probabilities)
      .filter((_, e) => given.signedWeight[e] > 0)
      .sort((a, b) => a - b);
    for (const { target, threshold } of recall) {
      const holds = (t: number): boolean => {
        const { recall: found, labelled } = truthOf(given, t);
        return (labelled * (1 - found) + 1) / (labelled + 1) <= 1 - target + 1e-9;
      };
      expect(holds(threshold)).toBe(true);
      const next = values.find((value) => value > threshold);
      if (next !== undefined) expect(holds(next)).toBe(false);
    }
  });

  test("is not promised by documents that are too few for it", async () => {
    const targets = (await chooseGuarantees(documents(12, 2), "leave-one-out")).recall.map(({ target }) => target);
    expect(targets).toContain(0.9);
    expect(targets).not.toContain(0.95);
  });

  test("counts labels that no other document has as lost at every threshold", async () => {
    // Every fifth true label is one of these: nobody can promise more than four fifths.
    let positives = 0;
    const unknown = Array.from(given.signedWeight, (weight) => Number(weight > 0 && positives++ % 5 === 0));
    const found = (await chooseGuarantees({ ...given, unknown }, "leave-one-out")).recall;
    const targets = found.map(({ target }) => target);
    expect(targets).toContain(0.75);
    expect(targets).not.toContain(0.85);
    const hidden = Float64Array.from(given.probabilities, (p, e) => (unknown[e] ? -1 : p));
    for (const { target, threshold } of found) {
      const { recall: kept, labelled } = truthOf({ ...given, probabilities: hidden }, threshold);
      expect((labelled * (1 - kept) + 1) / (labelled + 1)).toBeLessThanOrEqual(1 - target + 1e-9);
      expect(threshold).toBeLessThan(recall.find((each) => each.target === target)?.threshold ?? 0);
    }
  });

  test("holds on average over trainings", async () => {
    const fresh = documents(4000, 99);
    let sum = 0;
    for (let seed = 0; seed < 60; seed++) {
      const found = (await chooseGuarantees(documents(100, seed + 100), "leave-one-out")).recall;
      sum += truthOf(fresh, found.find(({ target }) => target === 0.8)?.threshold as number).recall;
    }
    expect(sum / 60).toBeGreaterThan(0.795);
    expect(sum / 60).toBeLessThan(0.83);
  });
});

describe("precision", () => {
  test("holds in as many trainings as the confidence says, labels of a document being alike", async () => {
    const fresh = documents(6000, 98);
    const trainings = 150;
    for (const confidence of [0.8, 0.95]) {
      let kept = 0;
      for (let seed = 0; seed < trainings; seed++) {
        const found = (await chooseGuarantees(documents(150, seed + 300), "leave-one-out")).precision.find(
          (each) => each.target === 0.7 && each.confidence === confidence,
        );
        if (!found || truthOf(fresh, found.threshold).precision >= 0.7) kept++;
      }
      // Three standard deviations of the share.
      const slack = 3 * Math.sqrt((confidence * (1 - confidence)) / trainings);
      expect(kept / trainings).toBeGreaterThan(confidence - slack);
    }
  });

  test("of leave-one-out documents is that of half as many held out", async () => {
    const given = documents(600, 12);
    const row = Int32Array.from([...given.row, ...Array.from(given.row, (i) => i + 600)]);
    const twice = {
      row,
      signedWeight: Float64Array.from([...given.signedWeight, ...given.signedWeight]),
      probabilities: Float64Array.from([0, 1].flatMap(() => Array.from(given.probabilities))),
    };
    const [held, left] = [await chooseGuarantees(given, "held-out"), await chooseGuarantees(twice, "leave-one-out")];
    expect(left.precision).toEqual(held.precision);
  });

  test("is refused where probabilities say too much", async () => {
    const given = documents(400, 3, false);
    const boasting = { ...given, probabilities: Float64Array.from(given.probabilities, (p) => p ** 0.2) };
    const found = (await chooseGuarantees(boasting, "leave-one-out")).precision;
    for (const { target, threshold } of found) expect(truthOf(given, threshold ** 5).precision).toBeGreaterThan(target);
  });
});

test("copies of documents do not make a guarantee surer", async () => {
  const given = documents(60, 4);
  const twice = {
    row: Int32Array.from([...given.row, ...given.row.map((row) => row + 60)]),
    signedWeight: Float64Array.from([...given.signedWeight, ...given.signedWeight]),
    probabilities: Float64Array.from([
      ...(given.probabilities as Float64Array),
      ...(given.probabilities as Float64Array),
    ]),
  };
  const [once, again] = [await chooseGuarantees(given, "held-out"), await chooseGuarantees(twice, "held-out", 60)];
  expect(again.rows).toBe(60);
  expect(again.recall).toEqual(once.recall);
  expect(again.precision).toEqual(once.precision);
});

test("others get a turn between two pieces of the work, which ends when they say so", async () => {
  for (const most of [1, 2, 3]) {
    let pauses = 0;
    const pause = async (): Promise<void> => {
      if (++pauses === most) throw new Error("enough");
    };
    await expect(chooseGuarantees(documents(50, 3), "held-out", undefined, pause)).rejects.toThrow("enough");
  }
});

test("of two halves the safer one counts", async () => {
  const [a, b] = await Promise.all([5, 6].map((seed) => chooseGuarantees(documents(300, seed), "held-out")));
  const both = saferGuarantees(a, b);
  expect(both.rows).toBe(600);
  both.recall.forEach(({ target, threshold }) => {
    for (const half of [a, b])
      expect(half.recall.find((each) => each.target === target)?.threshold).toBeGreaterThanOrEqual(threshold);
  });
  expect(both.precision.length).toBeGreaterThan(0);
  both.precision.forEach(({ target, confidence, threshold }) => {
    for (const half of [a, b])
      expect(
        half.precision.find((each) => each.target === target && each.confidence === confidence)?.threshold,
      ).toBeLessThanOrEqual(threshold);
  });
});

test("the expected recall of a document is what comes", async () => {
  const own = { guarantees: await chooseGuarantees(documents(1500, 7), "leave-one-out") };
  const fresh = documents(3000, 8);
  const bins = Array.from({ length: 4 }, () => ({ expected: 0, found: 0, count: 0 }));
  for (let i = 0; i < 3000; i++) {
    const pairs = Array.from({ length: 30 }, (_, k) => ({
      probability: fresh.probabilities[i * 30 + k],
      right: fresh.signedWeight[i * 30 + k] > 0,
    })).sort((a, b) => b.probability - a.probability);
    const all = pairs.filter(({ right }) => right).length;
    if (all === 0) continue;
    const kept = pairs.slice(0, 1 + (i % 8));
    const top = pairs.slice(0, 20).reduce((sum, { probability }) => sum + probability, 0);
    const { expectedRecall, expectedPrecision } = expectedOf(kept, top, own);
    expect(expectedPrecision).toBeCloseTo(
      kept.reduce((sum, { probability }) => sum + probability, 0) / kept.length,
      12,
    );
    const bin = bins[Math.min(3, Math.floor(expectedRecall * 4))];
    bin.expected += expectedRecall;
    bin.found += kept.filter(({ right }) => right).length / all;
    bin.count++;
  }
  for (const { expected, found, count } of bins)
    if (count > 200) expect(Math.abs(expected - found) / count).toBeLessThan(0.04);
});

test("none of the labels fits where the best of them add up to less than one half", async () => {
  const own = { guarantees };
  expect(expectedOf([{ probability: 0.3 }], 0.49, own)).toMatchObject({ noneFits: true, expectedPrecision: 0.3 });
  expect(expectedOf([], 0.2, own)).toEqual({ expectedRecall: 0, noneFits: true });
  expect(expectedOf([{ probability: 0.3 }], 0.51, own)).not.toHaveProperty("noneFits");
});

describe("asking for a guarantee", () => {
  const cut = { overall: 0.5, labels: Float32Array.of(0.4, 0.6) };
  const own: Thresholds = {
    f1: cut,
    macroF1: cut.labels,
    expected: { precision: 1, recall: 1, f1: 1 },
    guarantees,
  };

  test("takes the least that is as high", async () => {
    expect(chosenThreshold({ recall: 0.45 }, own)).toBe(0.4);
    expect(chosenThreshold({ recall: 0.6 }, own)).toBe(0.1);
    expect(chosenThreshold({ precision: 0.4, confidence: 0.92 }, own)).toBe(0.35);
    expect(chosenThreshold({ precision: 0.8, confidence: 0.5 }, own)).toBe(0.7);
  });

  test("takes a confidence of 0.95 where none is given", () => {
    expect(chosenThreshold({ precision: 0.4 }, own)).toBe(0.35);
    expect(() => chosenThreshold({ precision: 0.8 }, own)).toThrow(
      "precision: found 0.8 with confidence 0.95, which 300 rows cannot guarantee, expected at most 0.5",
    );
  });

  test("says what can be guaranteed", () => {
    expect(() => chosenThreshold({ recall: 0.95 }, own)).toThrow(
      "recall: found 0.95, which 300 rows cannot guarantee, expected at most 0.9",
    );
    expect(() => chosenThreshold({ precision: 0.9, confidence: 0.95 }, own)).toThrow(
      "precision: found 0.9 with confidence 0.95, which 300 rows cannot guarantee, expected at most 0.5",
    );
    expect(() => chosenThreshold({ precision: 0.9, confidence: 0.999 }, own)).toThrow(
      "precision: found 0.9 with confidence 0.999, which 300 rows cannot guarantee, expected at most 0.9 with confidence 0.9",
    );
    expect(() => chosenThreshold({ recall: 0.5 }, { ...own, guarantees: { ...guarantees, recall: [] } })).toThrow(
      "recall: found 0.5, which 300 rows cannot guarantee, expected a threshold: they guarantee no recall",
    );
  });

  test("takes one aim alone", async () => {
    for (const choice of [
      { recall: 0.5, threshold: 0.2 },
      { recall: 0.5, threshold: "best" as const },
    ])
      expect(() => chosenThreshold(choice, own)).toThrow("expected one of the two");
    expect(() => chosenThreshold({ confidence: 0.9 }, own)).toThrow("confidence: found 0.9 without precision");
    expect(() => chosenThreshold({ recall: 0.5 }, undefined)).toThrow("this model has no thresholds of its own");
  });
});
