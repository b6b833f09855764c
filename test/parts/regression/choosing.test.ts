// The criterion against plain loops, choices by it, and the coupling of many labels.

import { describe, expect, test } from "vitest";
import { matrixFrom, Pattern, scoped } from "../../../src/core/index.ts";
import { fitCoupling } from "../../../src/parts/coupling/fit.ts";
import { fitExact } from "../../../src/parts/gpr/exact.ts";
import { bestExact } from "../../../src/parts/gpr/fit.ts";
import {
  allPoints,
  blocksOf,
  climb,
  type LeaveOneOut,
  pointsIn,
  precisionOf,
  someOf,
  squaredErrorOf,
} from "../../../src/parts/regression/leaveoneout.ts";
import { keptProducts, spreadOver } from "../../../src/parts/regression/points.ts";
import { Placed, randomProblem, solve, times } from "../../support/closed.ts";
import { coreKinds, withCore } from "../../support/cores.ts";
import { difference, listsOf, type Rows, rowsOf, transposed } from "../../support/lists.ts";
import { randomNumbers } from "../../support/numbers.ts";

const oneThread = coreKinds[0] as (typeof coreKinds)[number];

test("P@1 + P@3 + P@5 is what plain loops give, whatever the blocks", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const { Y } = randomProblem(3, { points: 30, labels: 8 });
      const S = rowsOf(randomNumbers(240, 5), 8).map((row) => row.map((s) => 0.9 * s + 0.3));
      const labels = scope.keep(new Pattern(core, 8, listsOf(Y)));
      const sourceOf = (size: number): LeaveOneOut => ({
        ranges: allPoints(30),
        labels: 8,
        mean: scope.keep(matrixFrom(core, 1, 8, new Float64Array(8), "f64")),
        async forBlocks(_, work) {
          for (const { from, to } of blocksOf(allPoints(30), size)) {
            const scores = matrixFrom(core, to - from, 8, S.slice(from, to).flat(), "f64");
            work({ from, to, scores, variances: new Float64Array(0) });
            scores.free();
          }
        },
      });
      let [precision, points] = [0, 0];
      Y.forEach((row, i) => {
        const scores = S[i];
        const ranked = scores.map((_, k) => k).sort((a, b) => scores[b] - scores[a]);
        const hits = (depth: number) => ranked.slice(0, depth).filter((k) => row[k] === 1).length / depth;
        if (row.includes(1)) {
          precision += 100 * (hits(1) + hits(3) + hits(5));
          points++;
        }
      });
      for (const size of [7, 30]) expect(await precisionOf(sourceOf(size), labels)).toBeCloseTo(precision / points, 10);
    });
  });
});

describe("ranges of points", () => {
  test("are cut into blocks without loss, and thinned evenly", () => {
    const ranges = [
      { from: 3, to: 10 },
      { from: 20, to: 21 },
    ];
    expect(blocksOf(ranges, 4)).toEqual([
      { from: 3, to: 7 },
      { from: 7, to: 10 },
      { from: 20, to: 21 },
    ]);
    expect(someOf(ranges, 8)).toBe(ranges);
    const some = someOf(allPoints(100_000), 10_000);
    expect(pointsIn(some)).toBeLessThanOrEqual(10_000);
    expect(pointsIn(some)).toBeGreaterThan(9_000);
    expect(new Set(some.map(({ from }) => from)).size).toBe(some.length);
    expect((some.at(-1) as { from: number }).from).toBeGreaterThan(98_000);
  });
});

test("the search goes uphill from anywhere and looks at no more than it must", async () => {
  const values = [1, 2, 5, 9, 7, 3];
  const climbed = async (start: number): Promise<{ best: number; looked: number[] }> => {
    const looked: number[] = [];
    const look = async (place: number): Promise<number> => {
      looked.push(place);
      return place;
    };
    return { best: await climb(values.length, start, look, (place) => values[place]), looked };
  };
  for (let start = 0; start < values.length; start++) {
    const { best, looked } = await climbed(start);
    expect(best).toBe(3);
    expect(new Set(looked).size).toBe(looked.length);
  }
  expect((await climbed(3)).looked.sort()).toEqual([2, 3, 4]);
});

test("the covariance with the best leave-one-out figure is chosen", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const { X, Y } = randomProblem(6, { points: 60, labels: 8 });
      const rows = spreadOver(60, 40);
      const some = new Placed(
        core,
        "f64",
        rows.map((row) => X[row]),
        rows.map((row) => Y[row]),
        scope,
      );
      expect(some.points.rows).toBe(40);
      const products = scope.keep(await keptProducts(some.points, {}));
      for (const noises of [
        [0.001, 1, 1000],
        [1000, 1, 0.001],
      ]) {
        const choices = noises.map((noise) => ({ noise, kernel: { name: "se" as const } }));
        const alone: number[] = [];
        for (const choice of choices) {
          const form = scope.keep(await fitExact(some.points, some.labels, choice));
          alone.push(await precisionOf(form, some.labels));
        }
        expect(new Set(alone).size).toBeGreaterThan(1);
        const chosen = await bestExact(products, some.labels, choices, {});
        if (chosen.form) scope.keep(chosen.form);
        expect(chosen.form?.noise).toBe(chosen.choice.noise);
        expect(chosen.choice).toBe(choices[alone.indexOf(Math.max(...alone))]);
      }
    });
  });
});

test("of a single label the covariance with the least squared error is chosen, since rankings say nothing", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const { X, Y } = randomProblem(6, { points: 40, labels: 1 });
      const some = new Placed(core, "f64", X, Y, scope);
      const products = scope.keep(await keptProducts(some.points, {}));
      for (const noises of [
        [1000, 0.001, 1],
        [0.001, 1, 1000],
      ]) {
        const choices = noises.map((noise) => ({ noise, kernel: { name: "se" as const } }));
        const errors: number[] = [];
        for (const choice of choices) {
          const form = scope.keep(await fitExact(some.points, some.labels, choice));
          errors.push(await squaredErrorOf(form, some.labels));
        }
        const chosen = await bestExact(products, some.labels, choices, {});
        if (chosen.form) scope.keep(chosen.form);
        expect(chosen.form?.noise).toBe(chosen.choice.noise);
        expect(chosen.choice).toBe(choices[errors.indexOf(Math.min(...errors))]);
      }
    });
  });
});

test("the coupling finds its directions among many labels, and scores points with them", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const k = 300;
      const rank = 5;
      const { X, Y } = randomProblem(9, { points: 60, features: 12, labels: k });
      const { points, labels } = new Placed(core, "f64", X, Y, scope);
      const form = scope.keep(await fitExact(points, labels, { noise: 0.3, kernel: { name: "se" } }));
      const ranges = [
        { from: 0, to: 20 },
        { from: 25, to: 60 },
      ];
      const found = scope.keep(await fitCoupling(form, labels, { rank, ranges, noise: 3 }));
      const S: Rows = [];
      await form.forBlocks("", ({ scores }) => void S.push(...rowsOf(scores.toArray(), k)), { ranges });
      const mu = [...form.mean.toArray()];
      const centred = S.map((row) => row.map((s, j) => s - mu[j]));
      const E = rowsOf(found.vectors.toArray(), rank);
      expect(difference(times(transposed(E), E), identity(rank))).toBeLessThan(1e-9);
      const T = times(centred, E);
      const energy = (rows: Rows): number => rows.flat().reduce((sum, value) => sum + value * value, 0);
      // Any five labels or sums of labels hold less than the leading directions.
      const few = times(centred, transposed([0, 1, 2, 3, 4].map((j) => identity(k)[j])));
      expect(energy(T)).toBeGreaterThan(energy(few));
      expect(energy(T)).toBeLessThan(energy(centred));

      const ys = [...Y.slice(0, 20), ...Y.slice(25)];
      const centredY = ys.map((row) => row.map((y, j) => y - mu[j]));
      const square = times(transposed(T), T).map((row, i) => row.map((value, j) => value + (i === j ? 3 : 0)));
      const B = solve(square, times(transposed(T), centredY));
      const s2 = times(T, B).map((row) => row.map((value, j) => value + mu[j]));
      expect(difference(rowsOf(found.solution.weights.toArray(), k), B)).toBeLessThan(1e-9);
      const h = T.map((row) => times([row], solve(square, transposed([row])))[0]?.[0]);
      const loo: Rows = [];
      await found.loo.forBlocks("", ({ scores }) => void loo.push(...rowsOf(scores.toArray(), k)));
      const expected = s2.map((row, i) => row.map((s, j) => (s - h[i] * ys[i][j]) / (1 - h[i])));
      expect(difference(loo, expected)).toBeLessThan(1e-9);
    });
  });
});

const identity = (n: number): Rows =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));
