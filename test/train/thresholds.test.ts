// What a training promises of new points: its figures on left-out points, and the thresholds it chose from them.

import { describe, expect, test } from "vitest";
import type { Thresholds } from "../../src/base/prediction.ts";
import { selectRows } from "../../src/data/dataset.ts";
import { train } from "../../src/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import { loadModel } from "../../src/predict/load.ts";
import { topicData } from "../support/problems.ts";

const all = topicData({ points: 1400, features: 60, labels: 12 }, 9);
const places = Array.from({ length: 1400 }, (_, i) => i);
const data = selectRows(all, places.slice(0, 400));
const more = selectRows(all, places.slice(400));
const training: Promise<Model> = train(data, { model: "gpr", threads: 1 });

describe("a calibrated model", () => {
  test("has left-out figures that new points bear out", async () => {
    const { summary } = await training;
    using loaded = await loadModel(await training, { threads: 1 });
    const { ranking, calibration } = await loaded.evaluate(more, { calibration: true });
    const { logLoss, ...rankings } = summary.leftOut as Record<string, number>;
    expect(Object.keys(rankings)).toEqual(Object.keys(ranking.metrics));
    // The spread of such figures over 400 and 1,000 points; on the training points themselves P@1 is near 100.
    expect(Math.abs(rankings["P@1"] - ranking.metrics["P@1"])).toBeLessThan(6);
    expect((logLoss as number) / (calibration?.logLoss as number)).toBeGreaterThan(0.9);
    expect((logLoss as number) / (calibration?.logLoss as number)).toBeLessThan(1.1);
  });

  test("cuts where F1 is about best on new points, or where a precision is promised", async () => {
    using loaded = await loadModel(await training, { threads: 1 });
    const f1 = async (threshold: number | "best" | "label"): Promise<number> =>
      (await loaded.evaluate(more, { threshold })).kept.overall.f1;
    const best = await f1("best");
    for (const other of [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]) expect(await f1(other)).toBeLessThan(best + 0.02);
    expect(Math.abs((await f1("label")) - best)).toBeLessThan(0.05);
    const { guarantees } = (await training).thresholds as Thresholds;
    const targets = guarantees.precision.filter(({ confidence }) => confidence === 0.95).map(({ target }) => target);
    expect(targets.length).toBeGreaterThan(2);
    for (const precision of targets) {
      const { kept } = await loaded.evaluate(more, { precision });
      expect(kept.overall.precision).toBeGreaterThan(precision);
    }
  });

  test("gives all labels of at least their thresholds, and none below; from its file too", async () => {
    const model = await training;
    const read = modelFromBytes(modelToBytes(model));
    expect(read.thresholds).toEqual(model.thresholds);
    using loaded = await loadModel(read, { threads: 1 });
    const every = await loaded.predict(more.features, { topK: 12 });
    for (const [options, cut] of [
      [{ threshold: "label" }, read.thresholds?.f1.labels],
      [{ for: "macro-f1" }, read.thresholds?.macroF1],
    ] as const) {
      const least = cut as Float32Array;
      expect(new Set(least).size).toBeGreaterThan(3);
      const wanted = every.map((row) => row.filter(({ id, probability }) => probability >= least[id as number]));
      expect(await loaded.predict(more.features, options)).toEqual(wanted);
      const first = await loaded.predict(more.features, { ...options, topK: 2 });
      expect(first).toEqual(wanted.map((row) => row.slice(0, 2)));
      const { kept } = await loaded.evaluate(more, options);
      expect(kept.threshold).toBe("label");
      expect(kept.labelsPerPoint).toBeCloseTo(wanted.flat().length / wanted.length, 2);
    }
  });

  test("refuses a precision beside a number, and one that it cannot promise", async () => {
    using loaded = await loadModel(await training, { threads: 1 });
    await expect(loaded.predict(more.features, { threshold: 0.3, precision: 0.9 })).rejects.toThrow(
      "precision: found 0.9 beside threshold 0.3, expected one of the two",
    );
    await expect(loaded.evaluate(more, { precision: 0.999 })).rejects.toThrow("precision: found 0.999");
  });
});
