// The size of a compact model: leave-one-out scores against a fit without the point, the loss against its definition, and the size
// that is chosen.

import { expect, test } from "vitest";
import { scalarKernel } from "../../src/base/kernels.ts";
import { denseRow, dot, squaredNorms } from "../../src/base/sparse.ts";
import { lossOf } from "../../src/compact/choose.ts";
import { chooseSize, compactModel } from "../../src/compact/index.ts";
import { readDataset, train } from "../../src/index.ts";
import { familyOf } from "../../src/parts/index.ts";
import { closedModel, partOf, withPart } from "../edge/support.ts";
import { generator, randomNumbers } from "../support/numbers.ts";

/** x of A x = b, by elimination. */
function solved(a: number[][], b: number[]): number[] {
  const n = b.length;
  const m = a.map((row, i) => [...row, b[i]]);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      if (i === j) continue;
      const factor = m[j][i] / m[i][i];
      for (let k = i; k <= n; k++) m[j][k] -= factor * m[i][k];
    }
  return m.map((row, i) => row[n] / row[i]);
}

test("points of a part have the scores of a fit without them", async () => {
  const next = generator(5);
  const words = Array.from({ length: 12 }, (_, i) => `w${String.fromCharCode(97 + i)}`);
  const texts = Array.from({ length: 40 }, (_, i) => ({
    text: words.filter(() => next() < 0.4).join(" ") || "wa",
    labels: [`l${i % 3}`, ...(next() < 0.5 ? ["m"] : [])],
  }));
  const { dataset } = await readDataset(texts, { tfidf: { charNgrams: false, leadWords: 0 } });
  const model = await train(dataset, { model: "gpr", threads: 1 });
  const { schema } = model;
  const part = partOf(model, "gpr");
  const { rows, dual, mean, noise } = part;
  const points = familyOf(part).leaveOut?.(part, schema, 40);
  const { covariance } = scalarKernel(part.kernel, part.hyper);
  const squares = squaredNorms(rows).map((square) => Math.max(schema.transform.unitNorm ? 1 : 0, square));
  const k = Array.from({ length: rows.rows }, (_, i) => {
    const dense = denseRow(rows, i);
    return Array.from({ length: rows.rows }, (_, j) => covariance(dot(rows, j, dense), squares[i], squares[j]));
  });
  expect(points?.rows.rows).toBe(rows.rows);
  const own = (i: number, label: number): number => dual[i * schema.labels + label];
  const score = (i: number, label: number): number =>
    mean[label] + k[i].reduce((sum, value, j) => sum + value * own(j, label), 0);
  for (const [i, label] of [
    [0, 0],
    [7, 1],
    [39, 3],
  ]) {
    // y - mu = K a + lam a
    const y = k.map((_, j) => score(j, label) - mean[label] + noise * own(j, label));
    const others = [...k.keys()].filter((j) => j !== i);
    const a = solved(
      others.map((p) => others.map((q) => k[p][q] + (p === q ? noise : 0))),
      others.map((p) => y[p]),
    );
    const without = others.reduce((sum, j, at) => sum + k[i][j] * a[at], mean[label]);
    const rest = points?.rest[i * schema.labels + label] ?? Number.NaN;
    expect(score(i, label) + rest).toBeCloseTo(without, 3);
  }
});

test("the loss is what other probabilities cost if the first are right", () => {
  const of = (seed: number): Float64Array[] =>
    Array.from({ length: 7 }, (_, i) =>
      Float64Array.from(randomNumbers(5, seed + i), (x) => 1 / (1 + Math.exp(-2 * x))),
    );
  const [p, q] = [of(1), of(50)];
  // Expected log loss over all sets of labels that there are.
  const expected = (truth: Float64Array, said: Float64Array): number => {
    let sum = 0;
    for (let set = 0; set < 32; set++) {
      let [chance, loss] = [1, 0];
      truth.forEach((value, k) => {
        const is = (set >> k) & 1;
        chance *= is ? value : 1 - value;
        loss -= Math.log(is ? said[k] : 1 - said[k]);
      });
      sum += chance * loss;
    }
    return sum;
  };
  const total = (said: Float64Array[]): number => p.reduce((sum, truth, i) => sum + expected(truth, said[i]), 0);
  const { logLoss, precision } = lossOf(p, q);
  expect(logLoss).toBeCloseTo(100 * (total(q) / total(p) - 1), 6);
  const best = (values: Float64Array): number => values.indexOf(Math.max(...values));
  const hits = (said: Float64Array[]): number => p.reduce((sum, truth, i) => sum + truth[best(said[i])] / p.length, 0);
  expect(precision).toBeCloseTo(100 * (hits(p) - hits(q)), 9);
  expect(lossOf(p, p)).toEqual({ logLoss: 0, precision: 0 });
});

test("the smallest size that loses next to nothing is taken where none is given", { tags: "long" }, async () => {
  const made = closedModel({ form: "gpr", features: 60, labels: 1300, factors: 2, inducing: 2, points: 900 });
  const part = partOf(made, "gpr");
  // Few weights that matter and many that do not.
  const dual = part.dual.map((value, i) => (i % 7 === 0 ? value : value / 20));
  const model = withPart(made, { ...part, dual, looVariances: new Float32Array(900).fill(0.3) });
  const tried: number[] = [];
  const chosen = await chooseSize(model, {}, (size) => tried.push(size));
  expect(chosen?.logLoss).toBeLessThanOrEqual(1);
  expect(chosen?.precision).toBeLessThanOrEqual(0.3);
  expect(tried).toContain(chosen?.size);
  const bytes = await compactModel(model);
  expect(bytes).toEqual(await compactModel(model, { size: chosen?.size as number }));
  const whole = await compactModel(model, { size: 1000 });
  expect(bytes.length).toBeLessThan(whole.length);
  // Without points that were left out, or for numbers that are not rounded, there is nothing to choose.
  expect(await chooseSize(withPart(made, { ...part, dual }), {})).toBeUndefined();
  expect(await chooseSize(model, { type: "f32" })).toBeUndefined();
});
