// Criteria against plain loops, the search uphill, and the stack on many labels.

import { describe, expect, test } from "vitest";
import { chooseExact, chooseRidge } from "../../src/closed/choose.ts";
import {
  type Criterion,
  climb,
  judge,
  logLossCriterion,
  precisionCriterion,
  squaredErrorCriterion,
} from "../../src/closed/criterion.ts";
import { fitExact } from "../../src/closed/exact.ts";
import { allPoints, blocksOf, pointsIn, someOf } from "../../src/closed/leaveoneout.ts";
import { Points, toUnitRows } from "../../src/closed/points.ts";
import { featuresOf, learnPoints } from "../../src/closed/sparse.ts";
import { fitStack } from "../../src/closed/stack.ts";
import { Statistics } from "../../src/closed/statistics.ts";
import { spreadOver, subsetOf } from "../../src/closed/subset.ts";
import { csr, matrix, matrixFrom, Pattern, scoped } from "../../src/core/index.ts";
import { difference, listsOf, type Rows, rowsOf, sparseOf, transposed } from "../../src/model/rows.ts";
import { randomProblem, solve, times } from "../support/closed.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { randomNumbers } from "../support/numbers.ts";

const oneThread = coreKinds[0] as (typeof coreKinds)[number];

test("criteria are what plain loops give, whatever the blocks", async () => {
  await withCore(oneThread, (core) => {
    scoped((scope) => {
      const { Y } = randomProblem(3, { points: 30, labels: 8 });
      const S = rowsOf(randomNumbers(240, 5), 8).map((row) => row.map((s) => 0.9 * s + 0.3));
      const labels = scope.keep(new Pattern(core, 8, listsOf(Y)));
      const figureOf = (criterion: Criterion, size: number): number => {
        for (const { from, to } of blocksOf(allPoints(30), size)) {
          const scores = matrixFrom(core, to - from, 8, S.slice(from, to).flat(), "f64");
          criterion.add({ from, to, scores, variances: new Float64Array(0) }, labels);
          scores.free();
        }
        return criterion.value();
      };
      let [precision, points, squares, logs] = [0, 0, 0, 0];
      Y.forEach((row, i) => {
        const scores = S[i] as number[];
        const ranked = scores.map((_, k) => k).sort((a, b) => (scores[b] as number) - (scores[a] as number));
        const hits = (depth: number) => ranked.slice(0, depth).filter((k) => row[k] === 1).length / depth;
        if (row.includes(1)) {
          precision += 100 * (hits(1) + hits(3) + hits(5));
          points++;
        }
        row.forEach((y, k) => {
          const s = scores[k] as number;
          squares += (y - s) ** 2;
          const p = Math.min(0.999, Math.max(0.001, s));
          logs += y === 1 ? Math.log(p) : Math.log(1 - p);
        });
      });
      for (const size of [7, 30]) {
        expect(figureOf(precisionCriterion(), size)).toBeCloseTo(precision / points, 10);
        expect(figureOf(squaredErrorCriterion(), size)).toBeCloseTo(-squares / 30, 10);
        expect(figureOf(logLossCriterion(), size)).toBeCloseTo(logs / 30, 10);
      }
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
  for (let start = 0; start < values.length; start++) {
    const { best, figures } = await climb(values.length, start, (place) =>
      Promise.resolve(values[place] as number),
    );
    expect(best).toBe(3);
    figures.forEach((figure, place) => {
      expect([undefined, values[place]]).toContain(figure);
    });
  }
  const { figures } = await climb(6, 3, (place) => Promise.resolve(values[place] as number));
  expect(figures.filter((figure) => figure !== undefined)).toEqual([5, 9, 7]);
});

test("the noise with the best left-out figure is chosen", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const { X, Y } = randomProblem(4, { points: 50 });
      const points = scope.keep(new Points(toUnitRows(scope.keep(csr(core, sparseOf(X), "f64")))));
      const labels = scope.keep(new Pattern(core, 4, listsOf(Y)));
      const features = featuresOf({ linear: true }, points);
      const statistics = scope.keep(new Statistics(core, { kernel: 0, linear: 7, labels: 4 }));
      await learnPoints(statistics, features, labels);
      const noises = [0.01, 0.1, 1, 10, 100, 1000];
      const criterion = squaredErrorCriterion;
      const of = async (choices: { noise: number }[]) => {
        const chosen = await chooseRidge(statistics, features, labels, "f64", { choices, criterion });
        chosen.solution.free();
        return chosen;
      };
      const alone: number[] = [];
      for (const noise of noises) alone.push((await of([{ noise }])).figures[0] as number);
      const { choice, figures } = await of(noises.map((noise) => ({ noise })));
      expect(choice.noise).toBe(noises[alone.indexOf(Math.max(...alone))]);
      figures.forEach((figure, place) => {
        expect([undefined, alone[place]]).toContain(figure);
      });
    });
  });
});

test("the covariance with the best left-out figure is chosen on some of the points", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const { X, Y } = randomProblem(6, { points: 60 });
      const points = scope.keep(new Points(toUnitRows(scope.keep(csr(core, sparseOf(X), "f64")))));
      const labels = scope.keep(new Pattern(core, 4, listsOf(Y)));
      const choices = [0.001, 1, 1000].map((noise) => ({ noise, kernel: { name: "se" as const } }));
      const criterion = squaredErrorCriterion;
      const { choice, figures } = await chooseExact(points, labels, { choices, criterion, fitted: 40 });
      const alone: number[] = [];
      const some = scope.keep(subsetOf(points, labels, spreadOver(60, 40)));
      expect(some.points.rows).toBe(40);
      for (const of of choices) {
        const form = scope.keep(await fitExact(some.points, some.labels, of));
        alone.push(await judge(form, some.labels, criterion()));
      }
      expect(difference([figures], [alone])).toBeLessThan(1e-9);
      expect(choice).toBe(choices[alone.indexOf(Math.max(...alone))]);
    });
  });
});

test("the stack finds its directions among many labels, and scores new points with them", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const k = 300;
      const rank = 5;
      const { X, Y } = randomProblem(9, { points: 60, features: 12, labels: k });
      const points = scope.keep(new Points(toUnitRows(scope.keep(csr(core, sparseOf(X), "f64")))));
      const labels = scope.keep(new Pattern(core, k, listsOf(Y)));
      const form = scope.keep(await fitExact(points, labels, { noise: 0.3, kernel: { name: "se" } }));
      const ranges = [
        { from: 0, to: 20 },
        { from: 25, to: 60 },
      ];
      const stack = scope.keep(await fitStack(form, labels, { rank, ranges, choices: [{ noise: 3 }] }));
      const S: Rows = [];
      await form.forBlocks("", ({ scores }) => void S.push(...rowsOf(scores.toArray(), k)), { ranges });
      const mu = [...form.mean.toArray()];
      const centred = S.map((row) => row.map((s, j) => s - (mu[j] as number)));
      const E = rowsOf(stack.vectors.toArray(), rank);
      expect(difference(times(transposed(E), E), identity(rank))).toBeLessThan(1e-9);
      const T = times(centred, E);
      const energy = (rows: Rows): number => rows.flat().reduce((sum, value) => sum + value * value, 0);
      // Any five labels or sums of labels hold less than the leading directions.
      const few = times(centred, transposed([0, 1, 2, 3, 4].map((j) => identity(k)[j] as number[])));
      expect(energy(T)).toBeGreaterThan(energy(few));
      expect(energy(T)).toBeLessThan(energy(centred));

      const ys = [...Y.slice(0, 20), ...Y.slice(25)];
      const centredY = ys.map((row) => row.map((y, j) => y - (mu[j] as number)));
      const square = times(transposed(T), T).map((row, i) =>
        row.map((value, j) => value + (i === j ? 3 : 0)),
      );
      const B = solve(square, times(transposed(T), centredY));
      const s2 = times(T, B).map((row) => row.map((value, j) => value + (mu[j] as number)));
      const first = scope.keep(matrixFrom(core, S.length, k, S.flat(), "f64"));
      const second = stack.scores(first, scope.keep(matrix(core, S.length, k, "f64")));
      expect(difference(rowsOf(second.toArray(), k), s2)).toBeLessThan(1e-9);
      const h = T.map((row) => times([row], solve(square, transposed([row])))[0]?.[0] as number);
      const loo: Rows = [];
      await stack.leftOut.forBlocks("", ({ scores }) => void loo.push(...rowsOf(scores.toArray(), k)));
      const expected = s2.map((row, i) =>
        row.map(
          (s, j) => (s - (h[i] as number) * ((ys[i] as number[])[j] as number)) / (1 - (h[i] as number)),
        ),
      );
      expect(difference(loo, expected)).toBeLessThan(1e-9);
    });
  });
});

const identity = (n: number): Rows =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));
