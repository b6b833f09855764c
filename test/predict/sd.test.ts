// The standard deviation of a probability: the posterior variance by elimination, through the calibrator by moving the
// scores a little.

import { expect, test } from "vitest";
import { calibratedLogit, calibratePoint, prepareCalibrator } from "../../src/calibrate/forward.ts";
import { type ClosedModel, type ExactPart, frameOf } from "../../src/model/model.ts";
import { loadModel } from "../../src/predict/load.ts";
import { train } from "../../src/train/train.ts";
import { both, fullRows, namedData, rowsFrom } from "../learn/support.ts";
import { solve } from "../support/closed.ts";

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const data = namedData({ points: 90, features: 40, labels: 6 }, 5);

/** v / (k(x,x) + lam) */
function unknownOf({ closed, transform }: ClosedModel, features: typeof data.features): number[] {
  const { rows, noise, hyper } = closed as ExactPart;
  const [known, given] = [fullRows(rows, { normalise: false }), fullRows(features, transform)];
  const k = (a: number[], b: number[]): number =>
    Math.exp(-a.reduce((d, v, c) => d + (v - (b[c] as number)) ** 2, 0) / (2 * hyper[2] ** 2));
  const between = known.map((a) => given.map((b) => k(a, b)));
  const square = known.map((a, i) => known.map((b, j) => k(a, b) + (i === j ? noise : 0)));
  const solved = solve(square, between);
  return given.map((_, i) => {
    const explained = between.reduce(
      (sum, row, m) => sum + (row[i] as number) * (solved[m]?.[i] as number),
      0,
    );
    return (1 - explained) / (1 + noise);
  });
}

test("sd is what the probability moves by when the scores move by their standard deviation", async () => {
  const model = (await train(rowsFrom(data, range(0, 60)), {
    likelihood: "gaussian",
    threads: 1,
  })) as ClosedModel;
  const { features } = rowsFrom(data, range(60, 75));
  const unknown = unknownOf(model, features);
  using loaded = await loadModel(model, { threads: 1 });
  const answers = await loaded.predict(features, { topK: model.labels });
  const prepared = prepareCalibrator(model.calibrator, frameOf(model));
  const { vectors, weights, rank } = model.stack as NonNullable<ClosedModel["stack"]>;
  answers.forEach((labels, i) => {
    const first = new Float64Array(model.labels);
    for (const { id, score } of labels) first[id as number] = score as number;
    const centred = first.map((score, k) => score - (model.labelMean[k] as number));
    const second = first.map((_, k) =>
      range(0, rank).reduce((sum, p) => {
        const projected = centred.reduce((all, c, j) => all + c * (vectors[j * rank + p] as number), 0);
        return sum + projected * (weights[p * model.labels + k] as number);
      }, model.labelMean[k] as number),
    );
    const point = calibratePoint(prepared, [first, second]);
    for (const { id, sd, probability } of labels) {
      const k = id as number;
      const mean = model.labelMean[k] as number;
      const spread = Math.sqrt(mean * (1 - mean) * (unknown[i] as number));
      const moved = (by: number): number => {
        const scores = [first, second].map((all) => all.map((score, j) => (j === k ? score + by : score)));
        return calibratedLogit(prepared, { ...point, scores }, k);
      };
      // Its rank moves a label a little beside that.
      expect(Math.abs(moved(0) - Math.log(probability / (1 - probability)))).toBeLessThan(0.1);
      const step = 1e-4;
      const slope = (probability * (1 - probability) * (moved(step) - moved(-step))) / (2 * step);
      expect(
        Math.abs(Math.min(Math.sqrt(probability * (1 - probability)), slope * spread) - (sd as number)),
      ).toBeLessThan(2e-3);
    }
  });
});

test("it is above 0 and at most that of a yes or no of this probability; forms that keep no documents have none", async () => {
  const model = await train(rowsFrom(data, range(0, 60)), { likelihood: "gaussian", threads: 1 });
  const large = await train(namedData({ points: 2100, features: 40, labels: 6 }, 7), { ...both, threads: 1 });
  const { features } = rowsFrom(data, range(0, 5));
  using loaded = await loadModel(model, { threads: 1 });
  for (const labels of await loaded.predict(features, { topK: 6 }))
    for (const { sd, probability } of labels) {
      expect(sd).toBeGreaterThan(0);
      expect(sd).toBeLessThanOrEqual(Math.sqrt(probability * (1 - probability)));
    }
  // Left out where nobody asks for it; nothing else is another.
  const [whole, plain] = [
    await loaded.predict(features, { topK: 6 }),
    await loaded.predict(features, { topK: 6, sd: false }),
  ];
  expect(plain).toEqual(whole.map((labels) => labels.map(({ sd: _, ...rest }) => rest)));
  using linear = await loadModel(large, { threads: 1 });
  for (const labels of await linear.predict(features))
    for (const label of labels) expect(label).not.toHaveProperty("sd");
});
