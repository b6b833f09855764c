// Fits: what is known is found again, rare labels stay sensible, wrong scores are noticed, nothing breaks a fit.

import { describe, expect, test } from "vitest";
import type { Calibrator, LabelFrequencies } from "../../src/base/calibrator.ts";
import { type CalibratorFit, fitCalibrator, pairLogits } from "../../src/calibrate/fit.ts";
import { logistic } from "../../src/calibrate/forward.ts";
import { pairsOf } from "../../src/calibrate/pairs.ts";
import type { Core } from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { generator } from "../support/numbers.ts";
import {
  calibrationData,
  calibrationErrorOf,
  frequenciesOf,
  logLoss,
  probabilitiesOf,
  type Scored,
  simulate,
  truth,
} from "./simulate.ts";

const one = coreKinds[0] as (typeof coreKinds)[number];
const [points, labels] = [1500, 40];
const known = truth(labels);
const seen = simulate(known, points, labels, 1);
const fresh = simulate(known, points, labels, 2);

const fitted = async (core: Core, scored: Scored, from?: Calibrator): Promise<CalibratorFit> =>
  await fitCalibrator(core, calibrationData(core, scored, ["gaussian"]), from ? { from } : {});

/** The fit on `seen`, made when first asked for. */
let shared: Promise<CalibratorFit & { frequencies: LabelFrequencies }> | undefined;
async function first(): Promise<CalibratorFit & { frequencies: LabelFrequencies }> {
  shared ??= (async () => {
    const core = await one.create();
    const { frequencies } = calibrationData(core, seen, ["gaussian"]);
    const fit = await fitted(core, seen);
    core.dispose();
    return { ...fit, frequencies };
  })();
  return await shared;
}

const logit = (p: number) => Math.log(p / (1 - p));

describe("a fit on left-out scores", () => {
  test("finds a known calibrator again: as good on new points, and honest", async () => {
    await withCore(one, async (core) => {
      const { calibrator, frequencies, converged } = await first();
      expect(converged).toBe(true);
      const found = probabilitiesOf(core, calibrator, frequencies, fresh);
      const right = probabilitiesOf(core, known, frequenciesOf(1000, labels), fresh);
      expect(logLoss(found, fresh) / logLoss(right, fresh)).toBeLessThan(1.01);
      expect(calibrationErrorOf(found, fresh)).toBeLessThan(0.02);
      let apart = 0;
      let count = 0;
      found.forEach((p, e) => {
        if (right[e] < 0.02) return;
        apart += Math.abs(logit(p) - logit(right[e]));
        count++;
      });
      expect(apart / count).toBeLessThan(0.25);
    });
  });

  test("the probabilities it gives back are those of its pairs", async () => {
    await withCore(one, async (core) => {
      const { calibrator, frequencies, pairs, probabilities } = await first();
      const all = probabilitiesOf(core, calibrator, frequencies, seen);
      let apart = 0;
      const { row, label } = pairs;
      probabilities.forEach((p, e) => {
        apart += Math.abs(p - all[row[e] * labels + label[e]]);
      });
      // Not the same: each pair's label has the offset that other points give it.
      expect(apart / row.length).toBeLessThan(0.01);
    });
  });

  test("pairs of some rows, by a calibrator that has not seen them, have the probabilities of whole rows", async () => {
    await withCore(one, async (core) => {
      const { calibrator, frequencies, pairs } = await first();
      const all = probabilitiesOf(core, calibrator, frequencies, seen);
      const half = pairsOf(pairs, (row) => row % 2 === 0);
      expect(half.labelStart.at(-1)).toBe(half.row.length);
      for (let k = 0; k < labels; k++)
        expect(half.label.slice(half.labelStart[k], half.labelStart[k + 1]).every((own) => own === k)).toBe(true);
      pairLogits(calibrator, half, frequencies)
        .map(logistic)
        .forEach((p, e) => {
          expect(half.row[e] % 2).toBe(0);
          expect(p).toBeCloseTo(all[half.row[e] * labels + half.label[e]], 5);
        });
    });
  });

  test("the weights of terms are never negative", async () => {
    const { curves, outer } = (await first()).calibrator;
    for (const { terms, weights } of [curves, outer])
      weights.forEach((weight, i) => {
        if (i % (1 + terms.length) > 0) expect(weight).toBeGreaterThanOrEqual(0);
      });
  });

  test("is the same for any number of threads and any blocks", { tags: "long" }, async () => {
    const results: Calibrator[] = [];
    const small = simulate(known, 300, labels, 3);
    for (const [kind, rows] of [
      [coreKinds[0], 64],
      [coreKinds[1], 64],
      [coreKinds[0], 1000],
    ] as const)
      await withCore(kind as (typeof coreKinds)[number], async (core) => {
        const data = calibrationData(core, small, ["gaussian"], rows);
        results.push((await fitCalibrator(core, data)).calibrator);
      });
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  test("on training scores is caught by the calibration of new points", { tags: "long" }, async () => {
    await withCore(one, async (core) => {
      const { calibrator: right, frequencies } = await first();
      // A model has seen the labels of its training points: their scores lean towards them.
      const leaning = seen.scores.map((all) => all.map((s, e) => s + 0.5 * (seen.present[e] - s)));
      const wrong = (await fitted(core, { ...seen, scores: leaning })).calibrator;
      const error = (calibrator: Calibrator) =>
        calibrationErrorOf(probabilitiesOf(core, calibrator, frequencies, fresh), fresh);
      expect(error(right)).toBeLessThan(0.02);
      expect(error(wrong)).toBeGreaterThan(0.06);
    });
  });

  test("a label with one positive stays near its frequency band", { tags: "long" }, async () => {
    await withCore(one, async (core) => {
      // Labels 30 to 39 lose all positives but one.
      const present = seen.present.slice();
      for (let k = 30; k < labels; k++)
        for (let i = 0, met = 0; i < points; i++) {
          const e = i * labels + k;
          if (present[e] && met++ > 0) present[e] = 0;
        }
      const rare = { ...seen, present };
      const data = calibrationData(core, rare, ["gaussian"]);
      expect(data.frequencies.labelCounts[35]).toBe(1);
      const { calibrator } = await fitCalibrator(core, data);
      const p = probabilitiesOf(core, calibrator, data.frequencies, rare);
      for (let k = 30; k < labels; k++) {
        let expected = 0;
        for (let i = 0; i < points; i++) expected += p[i * labels + k];
        expect(expected).toBeGreaterThan(0.2);
        expect(expected).toBeLessThan(5);
      }
    });
  });
});

describe("a refit", () => {
  /** The same labels with scores half as large: what happens when a model meets other data. */
  const shifted = (points: number, seed: number): Scored => {
    const scored = simulate(known, points, labels, seed);
    return { ...scored, scores: scored.scores.map((all) => all.map((s) => s / 2)) };
  };

  test("on many points follows the new data, on few it stays where it was", { tags: "long" }, async () => {
    await withCore(one, async (core) => {
      const { calibrator, frequencies } = await first();
      const moved = shifted(points, 5);
      const error = (one: Calibrator) => calibrationErrorOf(probabilitiesOf(core, one, frequencies, moved), moved);
      const many = (await fitted(core, shifted(points, 4), calibrator)).calibrator;
      const few = (await fitted(core, shifted(5, 4), calibrator)).calibrator;
      expect(error(calibrator)).toBeGreaterThan(0.05);
      expect(error(many)).toBeLessThan(0.03);
      expect(Math.abs(error(few) - error(calibrator))).toBeLessThan((error(calibrator) - error(many)) / 2);
    });
  });

  test("on points as before changes little", async () => {
    await withCore(one, async (core) => {
      const { calibrator, frequencies } = await first();
      const again = (await fitted(core, simulate(known, 100, labels, 6), calibrator)).calibrator;
      const losses = [calibrator, again].map((one) => logLoss(probabilitiesOf(core, one, frequencies, fresh), fresh));
      expect(losses[1] / losses[0]).toBeLessThan(1.01);
    });
  });

  test("refuses other scores", async () => {
    await withCore(one, async (core) => {
      const { calibrator } = await fitted(core, simulate(known, 50, labels, 1));
      const data = calibrationData(core, seen, ["utility"]);
      await expect(fitCalibrator(core, data, { from: calibrator })).rejects.toThrow(
        "scores: found utility, expected gaussian as before",
      );
    });
  });
});

describe("few points", () => {
  // Left-out scores a little above 1/2 where the label is, a little below where it is not: any steep curve fits them.
  const labels = 3;
  const few = (points: number): Scored => {
    const present = Uint8Array.from({ length: points * labels }, (_, e) => (e % 4 < 2 ? 1 : 0));
    const first = Float32Array.from(present, (y, e) => 0.45 + 0.1 * y + 0.005 * (e % 3));
    const second = Float32Array.from(present, (y) => 0.4995 + 0.001 * y);
    return { points, labels, scores: [first, second], present };
  };
  const sure: Scored = {
    points: 1,
    labels,
    scores: [Float32Array.of(0.9, 0.1, 0.5), Float32Array.of(0.9, 0.1, 0.5)],
    present: new Uint8Array(labels),
  };
  const said = async (core: Core, points: number): Promise<Float64Array> => {
    const given = calibrationData(core, few(points), ["gaussian", "stack"]);
    const { calibrator } = await fitCalibrator(core, given);
    return Float64Array.from(probabilitiesOf(core, calibrator, given.frequencies, sure));
  };

  test("leave the scores nearly at their word; many make them sure", async () => {
    await withCore(one, async (core) => {
      const [high, low, middle] = await said(core, 4);
      expect(high).toBeGreaterThan(0.9);
      expect(high).toBeLessThan(0.999);
      expect(low).toBeGreaterThan(0.0005);
      expect(low).toBeLessThan(0.1);
      expect(Math.abs((middle as number) - 0.5)).toBeLessThan(0.1);
      expect((await said(core, 2000))[0]).toBeGreaterThan(0.999);
    });
  });
});

describe("degenerate data", () => {
  const next = generator(7);
  const noise = (count: number) => Float32Array.from({ length: count }, () => next() - 0.3);
  const make = (points: number, labels: number, y: (score: number) => number, same = false): Scored => {
    const scores = same ? new Float32Array(points * labels).fill(0.2) : noise(points * labels);
    return { points, labels, scores: [scores], present: Uint8Array.from(scores, y) };
  };
  const cases: Record<string, { data: Scored; most?: number; least?: number }> = {
    "no points": { data: make(0, 3, () => 0) },
    // The scores at their word, up to 0.7, count for twenty of 220 points.
    "no positives": { data: make(200, 5, () => 0), most: 0.7 / 11 },
    "all positive": { data: make(200, 5, () => 1), least: 0.99 },
    "two points, one label": { data: make(2, 1, (score) => (score > 0.1 ? 1 : 0)) },
    "one point": { data: make(1, 4, () => 0) },
    "one label": { data: make(300, 1, (score) => (score > next() ? 1 : 0)) },
    "constant scores": { data: make(400, 3, () => (next() < 0.25 ? 1 : 0), true), least: 0.15, most: 0.35 },
    separable: { data: make(300, 4, (score) => (score > 0.2 ? 1 : 0)) },
  };
  for (const [name, { data, most = 1, least = 0 }] of Object.entries(cases)) {
    test(`${name}: the fit ends, and probabilities are some`, async () => {
      await withCore(one, async (core) => {
        const given = calibrationData(core, data, ["gaussian"]);
        const { calibrator, converged } = await fitCalibrator(core, given);
        expect(converged).toBe(true);
        const numbers = [calibrator.curves.weights, calibrator.labelOffsets, calibrator.outer.weights];
        for (const list of numbers) for (const value of list) expect(Number.isFinite(value)).toBe(true);
        const p = probabilitiesOf(core, calibrator, given.frequencies, data);
        p.forEach((value) => {
          expect(value).toBeGreaterThanOrEqual(least);
          expect(value).toBeLessThanOrEqual(most);
        });
        if (name === "separable") expect(logLoss(p, data)).toBeLessThan(0.5);
      });
    });
  }
});
