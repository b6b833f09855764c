// A model whose world has changed: labels come half as often as in training. Calibrated again on some such points it says
// so of others.

import { describe, expect, test } from "vitest";
import { type Dataset, selectRows } from "../../src/data/dataset.ts";
import { recalibrate, train } from "../../src/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import { loadModel } from "../../src/predict/load.ts";
import { generator } from "../support/numbers.ts";
import { topicData } from "../support/problems.ts";

const all = topicData({ points: 2900, features: 60, labels: 12 }, 3);
const places = Array.from({ length: 2900 }, (_, i) => i);
const data = selectRows(all, places.slice(0, 400));
const small = { factors: 12, inducingPoints: 20, rank: 20, batch: 100, epochs: 40, threads: 1 } as const;

/** The same points with about half of their labels. */
function thinned(points: Dataset, seed: number): Dataset {
  const next = generator(seed);
  const { rowStart, labelIndex, rows, labels } = points.labels;
  const lists = Array.from({ length: rows }, (_, i) =>
    [...labelIndex.subarray(rowStart[i], rowStart[i + 1])].filter(() => next() < 0.5),
  );
  const starts = new Int32Array(rows + 1);
  lists.forEach((list, i) => {
    starts[i + 1] = starts[i] + list.length;
  });
  return {
    ...points,
    labels: { rows, labels, rowStart: starts, labelIndex: Int32Array.from(lists.flat()) },
  };
}

const now = thinned(selectRows(all, places.slice(400, 1400)), 1);
const later = thinned(selectRows(all, places.slice(1400)), 2);

async function judged(model: Model) {
  using loaded = await loadModel(model, { threads: 1 });
  const { expectation, calibration, ranking } = await loaded.evaluate(later, { calibration: true });
  return { expectation, logLoss: calibration?.logLoss as number, ranking };
}

const kinds = [
  ["gpr", { model: "gpr", threads: 1 }],
  ["svgp without a calibrator", { ...small, model: "svgp" }],
] as const;

describe("recalibrate", () => {
  for (const [name, options] of kinds)
    test(`${name}: expects what comes, where it expected too much`, async () => {
      const model = await train(data, options);
      const before = await judged(model);
      const again = await recalibrate(model, now, { threads: 1 });
      const after = await judged(again);
      expect(before.expectation.beyondChance).toBe(true);
      expect(before.expectation.confidence).toBeGreaterThan(before.expectation.accuracy + 0.05);
      expect(Math.abs(after.expectation.confidence - after.expectation.accuracy)).toBeLessThan(0.05);
      expect(after.logLoss).toBeLessThan(before.logLoss - 0.1);
      expect(again.summary.recalibratedOn).toBeGreaterThan(500);
      expect(again.thresholds).toBeDefined();
      const read = await judged(modelFromBytes(modelToBytes(again)));
      expect(read.logLoss).toBe(after.logLoss);
    });

  test("keeps near what it was with few points, and refuses too few without a calibrator", async () => {
    const model = await train(data, { model: "gpr", threads: 1 });
    const before = await judged(model);
    const few = await judged(await recalibrate(model, selectRows(now, places.slice(0, 12)), { threads: 1 }));
    expect(Math.abs(few.expectation.confidence - before.expectation.confidence)).toBeLessThan(0.15);
    expect(few.logLoss).toBeLessThan(before.logLoss + 0.05);
    const plain = await train(data, { ...small, model: "svgp" });
    await expect(recalibrate(plain, selectRows(now, places.slice(0, 12)))).rejects.toThrow(
      /dataset: found \d+ points with labels, expected at least 200/,
    );
  });
});
