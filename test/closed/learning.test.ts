// Learning into a solution is solving for all points at once; forgetting takes it back; new labels come in.

import { describe, expect, test } from "vitest";
import { inducingFeatures } from "../../src/closed/inducing.ts";
import { LearnedRidge } from "../../src/closed/learn.ts";
import { Points, toUnitRows } from "../../src/closed/points.ts";
import { type RidgeChoice, solveRidge } from "../../src/closed/ridge.ts";
import { featuresOf, learnPoints } from "../../src/closed/sparse.ts";
import { Statistics } from "../../src/closed/statistics.ts";
import { Totals } from "../../src/closed/totals.ts";
import {
  type Core,
  csr,
  matrixFrom,
  Pattern,
  type Precision,
  type Scope,
  scoped,
} from "../../src/core/index.ts";
import { difference, listsOf, type Rows, rowsOf, sparseOf, transposed } from "../../src/model/rows.ts";
import { randomProblem } from "../support/closed.ts";
import { coreKinds, withCore } from "../support/cores.ts";

const sizes = { points: 60, features: 20, labels: 6, inducing: 8 };
const choice: RidgeChoice = { noise: 0.3, kernelWeight: 0.4, linearWeight: 0.7 };
/** Weights of order 1, rounded each time something is learned. */
const tolerances: Record<Precision, number> = { f32: 2e-5, f64: 1e-10 };

interface Setting {
  parts: "both" | "kernel" | "linear";
  precision: Precision;
  working: Precision;
  /** How many points C may be behind by. */
  mostPending?: number;
}

/** A problem in the memory of a core, and its solution for the points in some ranges. */
async function setUp(
  core: Core,
  { parts, precision, working, mostPending = 0 }: Setting,
  seed: number,
  scope: Scope,
) {
  const { X, Y, V, Z } = randomProblem(seed, sizes);
  const place = (rows: Rows) =>
    scope.keep(matrixFrom(core, rows.length, (rows[0] as number[]).length, rows.flat(), precision));
  const inducing =
    parts === "linear"
      ? undefined
      : scope.keep(await inducingFeatures({ basis: place(transposed(V)), inputs: place(Z) }, { name: "se" }));
  const x = toUnitRows(scope.keep(csr(core, sparseOf(X), precision)));
  const points = scope.keep(new Points(x));
  const linear = parts !== "kernel";
  const features = featuresOf({ inducing, linear }, points);
  const shape = { kernel: inducing?.count ?? 0, linear: linear ? sizes.features : 0 };
  const labelsOf = (k: number): Pattern =>
    scope.keep(new Pattern(core, k, listsOf(Y.map((row) => row.slice(0, k)))));
  const solved = async (ranges: { from: number; to: number }[], k: number = sizes.labels) => {
    const statistics = scope.keep(new Statistics(core, { ...shape, labels: k }));
    await learnPoints(statistics, features, labelsOf(k), { ranges });
    const solution = await solveRidge(statistics, choice, precision, { working, keepExact: true });
    return { statistics, learned: scope.keep(new LearnedRidge(statistics, solution, { mostPending })) };
  };
  return { Y, features, shape, labelsOf, solved };
}

const weightsOf = (learned: LearnedRidge): Rows => rowsOf(learned.weights.toArray(), learned.weights.columns);
const numbersOf = (learned: LearnedRidge): Rows => [
  ...weightsOf(learned),
  [...learned.mean.toArray()],
  [...currentInverse(learned)],
];

/** C by its definition; looking does not make it catch up. */
function currentInverse({ base, pending }: LearnedRidge): Float64Array {
  const all = Float64Array.from(base.toArray());
  const n = base.columns;
  for (const { factor, sign } of pending) {
    const values = factor.toArray();
    for (let m = 0; m < factor.rows; m++)
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++)
          (all[i * n + j] as number) -= sign * (values[m * n + i] as number) * (values[m * n + j] as number);
  }
  return all;
}

const settings: Setting[] = (["both", "kernel", "linear"] as const).flatMap((parts) => [
  { parts, precision: "f64", working: "f64" },
  { parts, precision: "f32", working: "f64" },
  { parts, precision: "f32", working: "f32" },
  { parts, precision: "f64", working: "f64", mostPending: 20 },
  { parts, precision: "f64", working: "f64", mostPending: 1000 },
]);

for (const kind of coreKinds) {
  describe(`learning, ${kind.name}`, () => {
    for (const setting of settings) {
      const { parts, precision, working, mostPending = 0 } = setting;
      const tolerance = tolerances[working === "f32" ? "f32" : precision] * (working === "f32" ? 5 : 1);
      test(`${parts}, ${precision} with C in ${working}, ${mostPending} points behind at most: equals solving at once, and is taken back`, async () => {
        await withCore(kind, async (core) => {
          for (const seed of [1, 2, 3]) {
            await scoped(async (scope) => {
              const { features, labelsOf, solved } = await setUp(core, setting, seed, scope);
              const all = labelsOf(sizes.labels);
              const cut = 25 + 7 * seed;
              const { learned } = await solved([{ from: 0, to: cut }]);
              const before = numbersOf(learned);
              await learned.learn(features, all, { ranges: [{ from: cut, to: 50 }] });
              await learned.learn(features, all, { ranges: [{ from: 50, to: 60 }] });
              const atOnce = await solved([{ from: 0, to: 60 }]);
              expect(difference(numbersOf(learned), before)).toBeGreaterThan(1e-3);
              expect(difference(numbersOf(learned), numbersOf(atOnce.learned))).toBeLessThan(tolerance);
              expect(learned.totals.points).toBe(60);
              // Taken out in another order than they came in.
              await learned.learn(features, all, { ranges: [{ from: 55, to: 60 }], sign: -1 });
              await learned.learn(features, all, { ranges: [{ from: cut, to: 55 }], sign: -1 });
              expect(difference(numbersOf(learned), before)).toBeLessThan(tolerance);
            });
          }
        });
      });
    }

    test("the sums learn with it, and new labels come in behind", async () => {
      await withCore(kind, async (core) => {
        await scoped(async (scope) => {
          const setting: Setting = { parts: "both", precision: "f64", working: "f64" };
          const { features, labelsOf, solved, shape } = await setUp(core, setting, 4, scope);
          const { learned, statistics } = await solved([{ from: 0, to: 40 }], 4);
          learned.growLabels(6);
          expect(learned.weights.columns).toBe(6);
          await learned.learn(features, labelsOf(6), { ranges: [{ from: 40, to: 60 }] });
          // The first 40 points had none of the new labels.
          const expected = scope.keep(new Statistics(core, { ...shape, labels: 6 }));
          const few = scope.keep(new Statistics(core, { ...shape, labels: 4 }));
          await learnPoints(few, features, labelsOf(4), { ranges: [{ from: 0, to: 40 }] });
          expected.merge(few);
          await learnPoints(expected, features, labelsOf(6), { ranges: [{ from: 40, to: 60 }] });
          expect(difference([[...statistics.cross.toArray()]], [[...expected.cross.toArray()]])).toBe(0);
          const solution = scope.keep(await solveRidge(expected, choice, "f64"));
          expect(difference(weightsOf(learned), rowsOf(solution.weights.toArray(), 6))).toBeLessThan(1e-10);
          expect(difference([[...learned.mean.toArray()]], [[...solution.mean.toArray()]])).toBe(0);
        });
      });
    });
  });
}

test("totals alone are enough; points that were never learned cannot be forgotten", async () => {
  await withCore(coreKinds[0] as (typeof coreKinds)[number], async (core) => {
    await scoped(async (scope) => {
      const setting: Setting = { parts: "linear", precision: "f64", working: "f64" };
      const { features, labelsOf, solved, shape } = await setUp(core, setting, 5, scope);
      const all = labelsOf(sizes.labels);
      const first = [{ from: 0, to: 40 }];
      const { statistics } = await solved(first);
      const totals = scope.keep(new Totals(core, { ...shape, labels: sizes.labels }));
      await learnPoints(totals, features, all, { ranges: first });
      const solution = await solveRidge(statistics, choice, "f64", { keepExact: true });
      const learned = scope.keep(new LearnedRidge(totals, solution));
      await learned.learn(features, all, { ranges: [{ from: 40, to: 60 }] });
      const atOnce = await solved([{ from: 0, to: 60 }]);
      expect(difference(numbersOf(learned), numbersOf(atOnce.learned))).toBeLessThan(1e-10);

      const { learned: empty } = await solved([{ from: 0, to: 1 }]);
      await expect(empty.learn(features, all, { ranges: [{ from: 20, to: 60 }], sign: -1 })).rejects.toThrow(
        /never learned/,
      );
    });
  });
});
