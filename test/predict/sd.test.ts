// The standard deviation of a probability: the posterior variance by elimination, through the calibrator by moving the
// scores a little.

import { expect, test } from "vitest";
import { calibratedLogit, calibratePoint, prepareCalibrator } from "../../src/calibrate/forward.ts";
import type { RealArray } from "../../src/core/matrix.ts";
import { readSafetensors, writeSafetensors } from "../../src/io/safetensors.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import {
  type ClosedModel,
  type Evidence,
  type ExactPart,
  frameOf,
  type LatentModel,
  type LinearPart,
  type StackPart,
} from "../../src/model/model.ts";
import { transposed } from "../../src/model/rows.ts";
import { loadModel } from "../../src/predict/load.ts";
import { makePlan, mergeParts, trainPart } from "../../src/train/plan.ts";
import { train } from "../../src/train/train.ts";
import { both, fullRows, namedData, rowsFrom } from "../learn/support.ts";
import { solve, times } from "../support/closed.ts";

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

/** The same of a linear form, from what it says of each feature. */
function unknownByFeatures({ closed, transform }: ClosedModel, features: typeof data.features): number[] {
  const { columns, noise, evidence } = closed as LinearPart;
  const { squares, share } = evidence as Evidence;
  return fullRows(features, transform).map((row) => {
    const square = (column: number): number => (row[column] as number) ** 2;
    const all = row.reduce((sum, value) => sum + value * value, 0);
    const left = [...columns].reduce(
      (sum, column, j) => sum + square(column) * (1 - noise / (share * (squares[j] as number) + noise)),
      0,
    );
    return (all - left) / (all + noise);
  });
}

/** Logits of a Bernoulli model's probabilities, and what they move by when its utilities move by their standard deviation. */
async function utilitiesOf(
  latent: LatentModel,
  features: typeof data.features,
): Promise<{ logits: Float64Array; deviations: Float64Array }[]> {
  using loaded = await loadModel(latent, { threads: 1 });
  const { rows, utility, ...more } = await loaded.score(features, { probability: true, variance: true });
  const [p, v] = [more.probability as RealArray, more.variance as RealArray];
  return range(0, rows).map((i) => {
    const of = (value: (at: number) => number): Float64Array =>
      Float64Array.from({ length: latent.labels }, (_, k) => value(i * latent.labels + k));
    return {
      logits: of((at) => Math.log((p[at] as number) / (1 - (p[at] as number)))),
      deviations: of((at) => Math.sqrt((v[at] as number) / (1 + (Math.PI * (v[at] as number)) / 8))),
    };
  });
}

/** Checks every sd beside the calibrator's own numbers, scores moved a little up and down. */
async function expectMoved(
  model: ClosedModel,
  features: typeof data.features,
  unknown: number[],
): Promise<void> {
  const utilities = model.latent && (await utilitiesOf(model.latent, features));
  using loaded = await loadModel(model, { threads: 1 });
  const answers = await loaded.predict(features, { topK: model.labels });
  const prepared = prepareCalibrator(model.calibrator, frameOf(model));
  const { stack } = model;
  answers.forEach((labels, i) => {
    const first = new Float64Array(model.labels);
    for (const { id, score } of labels) first[id as number] = score as number;
    const centred = first.map((score, k) => score - (model.labelMean[k] as number));
    const stacked = ({ vectors, weights, rank }: StackPart): Float64Array =>
      first.map((_, k) =>
        range(0, rank).reduce((sum, p) => {
          const projected = centred.reduce((all, c, j) => all + c * (vectors[j * rank + p] as number), 0);
          return sum + projected * (weights[p * model.labels + k] as number);
        }, model.labelMean[k] as number),
      );
    const own = utilities?.[i];
    const given = [first, ...(stack ? [stacked(stack)] : []), ...(own ? [own.logits] : [])];
    const point = calibratePoint(prepared, given);
    for (const { id, sd, probability } of labels) {
      const k = id as number;
      const mean = model.labelMean[k] as number;
      const spread = Math.sqrt(mean * (1 - mean) * (unknown[i] as number));
      const logit = (by: number, utility: boolean): number => {
        const scores = given.map((all) =>
          all.map((score, j) => (j === k && (all === own?.logits) === utility ? score + by : score)),
        );
        return calibratedLogit(prepared, { ...point, scores }, k);
      };
      // Its rank moves a label a little beside that.
      expect(Math.abs(logit(0, false) - Math.log(probability / (1 - probability)))).toBeLessThan(0.1);
      const step = 1e-4;
      const moved = (spread: number, utility: boolean): number =>
        (spread * probability * (1 - probability) * (logit(step, utility) - logit(-step, utility))) /
        (2 * step);
      const both = Math.hypot(moved(spread, false), moved(own?.deviations[k] ?? 0, true));
      const most = Math.sqrt(probability * (1 - probability));
      expect(Math.abs(Math.min(most, both) - (sd as number))).toBeLessThan(2e-3);
    }
  });
}

test("sd is what the probability moves by when the scores move by their standard deviation", async () => {
  const model = (await train(rowsFrom(data, range(0, 60)), {
    likelihood: "gaussian",
    threads: 1,
  })) as ClosedModel;
  const { features } = rowsFrom(data, range(60, 75));
  expect(model.stack).toBeDefined();
  await expectMoved(model, features, unknownOf(model, features));
});

test("the same of the linear form, by the squares of its features", async () => {
  const many = namedData({ points: 2100, features: 40, labels: 6 }, 7);
  const plan = makePlan(many);
  const part = await trainPart(many, plan, { index: 1, count: 1 }, { threads: 1 });
  const model = await mergeParts([part], { threads: 1 });
  const { features } = rowsFrom(data, range(60, 75));
  const unknown = unknownByFeatures(model, features);
  await expectMoved(model, features, unknown);
  // Plain elimination says the same of points that it has not seen, on average.
  const [x, z] = [fullRows(many.features, model.transform), fullRows(features, model.transform)];
  const { noise } = model.closed;
  const gram = times(transposed(x), x).map((row, i) => row.map((v, j) => v + (i === j ? noise : 0)));
  const solved = transposed(solve(gram, transposed(z)));
  const exact = z.map((row, i) => row.reduce((sum, v, j) => sum + noise * v * (solved[i]?.[j] as number), 0));
  const mean = (all: number[]): number => all.reduce((sum, v) => sum + v, 0) / all.length;
  const ratio = (mean(unknown) * (1 + noise)) / mean(exact);
  expect(Math.abs(ratio - 1)).toBeLessThan(0.25);
});

test("with a Bernoulli model beside it, what neither knows adds up as independent numbers do", async () => {
  const many = namedData({ points: 2100, features: 40, labels: 6 }, 7);
  const trained = (await train(many, { ...both, threads: 1 })) as ClosedModel;
  const latent = trained.latent as LatentModel;
  const { features } = rowsFrom(data, range(60, 75));
  // With greater weights of the factors the variance is large enough to matter.
  for (const by of [1, 4]) {
    const model = { ...trained, latent: { ...latent, phi: latent.phi.map((weight) => by * weight) } };
    await expectMoved(model, features, unknownByFeatures(model, features));
  }
});

test("it is above 0 and at most that of a yes or no of this probability; files without the squares have none", async () => {
  const model = await train(rowsFrom(data, range(0, 60)), { likelihood: "gaussian", threads: 1 });
  const large = await train(namedData({ points: 2100, features: 40, labels: 6 }, 7), { ...both, threads: 1 });
  const { features } = rowsFrom(data, range(0, 5));
  const bernoulli = { ...both, likelihood: "bernoulli", threads: 1 } as const;
  const alone = await train(namedData({ points: 2100, features: 40, labels: 6 }, 7), bernoulli);
  expect(alone.calibrator).toBeDefined();
  for (const of of [model, large, alone]) {
    using loaded = await loadModel(modelFromBytes(modelToBytes(of)), { threads: 1 });
    const whole = await loaded.predict(features, { topK: 6 });
    for (const labels of whole)
      for (const { sd, probability } of labels) {
        expect(sd).toBeGreaterThan(0);
        expect(sd).toBeLessThanOrEqual(Math.sqrt(probability * (1 - probability)));
      }
    // Left out where nobody asks for it; nothing else is another.
    const plain = await loaded.predict(features, { topK: 6, sd: false });
    expect(plain).toEqual(whole.map((labels) => labels.map(({ sd: _, ...rest }) => rest)));
  }
  const { tensors, metadata } = readSafetensors(modelToBytes(large));
  const older = new Map([...tensors].filter(([name]) => name !== "evidence.squares"));
  using linear = await loadModel(writeSafetensors({ tensors: older, metadata }), { threads: 1 });
  for (const labels of await linear.predict(features))
    for (const label of labels) expect(label).not.toHaveProperty("sd");
});
