// The standard deviation of a probability: the posterior variance by elimination, through the calibrator by moving the
// scores a little.

import { expect, test } from "vitest";
import type { Calibrator } from "../../src/base/calibrator.ts";
import { calibratedLogit, calibratePoint, prepareCalibrator } from "../../src/calibrate/forward.ts";
import type { RealArray } from "../../src/core/matrix.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import type { CouplingPart } from "../../src/parts/coupling/fit.ts";
import type { GprPart } from "../../src/parts/gpr/posterior.ts";
import type { LinearPart } from "../../src/parts/linear/posterior.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { loadModel } from "../../src/predict/load.ts";
import { makePlan, mergeParts, trainPart } from "../../src/train/plan.ts";
import { train } from "../../src/train/train.ts";
import { both, fullRows, namedData, rowsFrom } from "../learn/support.ts";
import { solve, times } from "../support/closed.ts";
import { transposed } from "../support/lists.ts";

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const data = namedData({ points: 90, features: 40, labels: 6 }, 5);

/** v / (k(x,x) + lam) */
function unexplained({ parts: [part], schema }: Model, features: typeof data.features): number[] {
  const { rows, noise, hyper } = part as GprPart;
  const [known, given] = [fullRows(rows, { normalise: false }), fullRows(features, schema.transform)];
  const k = (a: number[], b: number[]): number =>
    Math.exp(-a.reduce((d, v, c) => d + (v - b[c]) ** 2, 0) / (2 * hyper[2] ** 2));
  const between = known.map((a) => given.map((b) => k(a, b)));
  const square = known.map((a, i) => known.map((b, j) => k(a, b) + (i === j ? noise : 0)));
  const solved = solve(square, between);
  return given.map((_, i) => {
    const explained = between.reduce((sum, row, m) => sum + row[i] * solved[m]?.[i], 0);
    return (1 - explained) / (1 + noise);
  });
}

/** The same of a linear part, from the precision of each feature. */
function unexplainedByFeatures({ parts: [part], schema }: Model, features: typeof data.features): number[] {
  const { columns, noise, precision } = part as LinearPart;
  const { squares, share } = precision;
  return fullRows(features, schema.transform).map((row) => {
    const square = (column: number): number => row[column] ** 2;
    const all = row.reduce((sum, value) => sum + value * value, 0);
    const left = [...columns].reduce(
      (sum, column, j) => sum + square(column) * (1 - noise / (share * squares[j] + noise)),
      0,
    );
    return (all - left) / (all + noise);
  });
}

/** Logits of the probabilities of a variational part, and what they move by when its utilities move by their standard deviation. */
async function utilitiesOf(
  { schema, summary }: Model,
  part: SvgpPart,
  features: typeof data.features,
): Promise<{ logits: Float64Array; deviations: Float64Array }[]> {
  using loaded = await loadModel({ schema, parts: [part], summary }, { threads: 1 });
  const { rows, utility, ...more } = await loaded.score(features, { probability: true, variance: true });
  const [p, v] = [more.probability as RealArray, more.variance as RealArray];
  return range(0, rows).map((i) => {
    const of = (value: (at: number) => number): Float64Array =>
      Float64Array.from({ length: schema.labels }, (_, k) => value(i * schema.labels + k));
    return {
      logits: of((at) => Math.log(p[at] / (1 - p[at]))),
      deviations: of((at) => Math.sqrt(v[at] / (1 + (Math.PI * v[at]) / 8))),
    };
  });
}

/** Checks every sd beside the calibrator's own numbers, scores moved a little up and down. */
async function expectMoved(model: Model, features: typeof data.features, unknown: number[]): Promise<void> {
  const { mean: labelMean } = model.parts[0] as GprPart | LinearPart;
  const coupling = model.parts.find((part): part is CouplingPart => part.family === "coupling");
  const svgp = model.parts.find((part): part is SvgpPart => part.family === "svgp");
  const utilities = svgp && (await utilitiesOf(model, svgp, features));
  using loaded = await loadModel(model, { threads: 1 });
  const { labels: count } = model.schema;
  const answers = await loaded.predict(features, { topK: count });
  const prepared = prepareCalibrator(model.calibrator as Calibrator, model.schema);
  answers.forEach((labels, i) => {
    const first = new Float64Array(count);
    for (const { id, score } of labels) first[id as number] = score as number;
    const centred = first.map((score, k) => score - labelMean[k]);
    const coupled = ({ vectors, weights, rank }: CouplingPart): Float64Array =>
      first.map((_, k) =>
        range(0, rank).reduce((sum, p) => {
          const projected = centred.reduce((all, c, j) => all + c * vectors[j * rank + p], 0);
          return sum + projected * weights[p * count + k];
        }, labelMean[k]),
      );
    const own = utilities?.[i];
    const given = [first, ...(coupling ? [coupled(coupling)] : []), ...(own ? [own.logits] : [])];
    const point = calibratePoint(prepared, given);
    for (const { id, sd, probability } of labels) {
      const k = id as number;
      const mean = labelMean[k];
      const spread = Math.sqrt(mean * (1 - mean) * unknown[i]);
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
        (spread * probability * (1 - probability) * (logit(step, utility) - logit(-step, utility))) / (2 * step);
      const both = Math.hypot(moved(spread, false), moved(own?.deviations[k] ?? 0, true));
      const most = Math.sqrt(probability * (1 - probability));
      expect(Math.abs(Math.min(most, both) - (sd as number))).toBeLessThan(2e-3);
    }
  });
}

test("sd is what the probability moves by when the scores move by their standard deviation", async () => {
  const model = await train(rowsFrom(data, range(0, 60)), { model: "gpr", threads: 1 });
  const { features } = rowsFrom(data, range(60, 75));
  expect(model.parts.map(({ family }) => family)).toEqual(["gpr", "coupling"]);
  await expectMoved(model, features, unexplained(model, features));
});

test("the same of a linear part, by the squares of its features", async () => {
  const many = namedData({ points: 2100, features: 40, labels: 6 }, 7);
  const plan = await makePlan(many);
  const part = await trainPart(many, plan, { index: 1, count: 1 }, { threads: 1 });
  const model = await mergeParts([part], { threads: 1 });
  const { features } = rowsFrom(data, range(60, 75));
  const unknown = unexplainedByFeatures(model, features);
  await expectMoved(model, features, unknown);
  // Plain elimination says the same of points that it has not seen, on average.
  const [x, z] = [many, { features }].map((each) => fullRows(each.features, model.schema.transform));
  const { noise } = model.parts[0] as LinearPart;
  const gram = times(transposed(x), x).map((row, i) => row.map((v, j) => v + (i === j ? noise : 0)));
  const solved = transposed(solve(gram, transposed(z)));
  const exact = z.map((row, i) => row.reduce((sum, v, j) => sum + noise * v * solved[i]?.[j], 0));
  const mean = (all: number[]): number => all.reduce((sum, v) => sum + v, 0) / all.length;
  const ratio = (mean(unknown) * (1 + noise)) / mean(exact);
  expect(Math.abs(ratio - 1)).toBeLessThan(0.25);
});

test("with a variational part beside it, variances add up as independent numbers do", async () => {
  const many = namedData({ points: 2100, features: 40, labels: 6 }, 7);
  const trained = await train(many, { ...both, threads: 1 });
  const [linear, svgp] = trained.parts as [LinearPart, SvgpPart];
  const { features } = rowsFrom(data, range(60, 75));
  // With greater weights of the factors the variance is large enough to matter.
  for (const by of [1, 4]) {
    const model = { ...trained, parts: [linear, { ...svgp, phi: svgp.phi.map((weight) => by * weight) }] };
    await expectMoved(model, features, unexplainedByFeatures(model, features));
  }
});

test("it is above 0 and at most that of a yes or no of this probability", async () => {
  const model = await train(rowsFrom(data, range(0, 60)), { model: "gpr", threads: 1 });
  const large = await train(namedData({ points: 2100, features: 40, labels: 6 }, 7), { ...both, threads: 1 });
  const { features } = rowsFrom(data, range(0, 5));
  const alone = await train(namedData({ points: 2100, features: 40, labels: 6 }, 7), {
    ...both,
    model: "svgp",
    threads: 1,
  });
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
});
