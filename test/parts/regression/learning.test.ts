// Learning into a solution is solving for all points at once; forgetting takes it back; new labels come in.

import { describe, expect, test } from "vitest";
import { type Core, csr, Pattern, type Precision, type Scope, scoped } from "../../../src/core/index.ts";
import { LearnedRidge } from "../../../src/parts/regression/learn.ts";
import { packedLength } from "../../../src/parts/regression/packed.ts";
import { toUnitRows } from "../../../src/parts/regression/points.ts";
import { type RidgeChoice, solveRidge } from "../../../src/parts/regression/ridge.ts";
import { featuresIn, learnPoints } from "../../../src/parts/regression/sparse.ts";
import { Statistics, Totals } from "../../../src/parts/regression/totals.ts";
import { randomProblem } from "../../support/closed.ts";
import { coreKinds, withCore } from "../../support/cores.ts";
import { difference, listsOf, type Rows, rowsOf, sparseOf } from "../../support/lists.ts";

const sizes = { points: 60, features: 20, labels: 6 };
const choice: RidgeChoice = { noise: 0.3 };
/** Weights of order 1, rounded each time something is learned. */
const tolerances: Record<Precision, number> = { f32: 2e-5, f64: 1e-10 };

interface Setting {
  precision: Precision;
  working: Precision;
  /** How many points C may be behind by. */
  mostPending?: number;
}

/** A problem in the memory of a core, and its solution for the points in some ranges. */
async function setUp(core: Core, { precision, working, mostPending = 0 }: Setting, seed: number, scope: Scope) {
  const { X, Y } = randomProblem(seed, sizes);
  const x = toUnitRows(scope.keep(csr(core, sparseOf(X), precision)));
  const shape = { features: sizes.features };
  const labelsOf = (k: number): Pattern => scope.keep(new Pattern(core, k, listsOf(Y.map((row) => row.slice(0, k)))));
  const solved = async (ranges: { from: number; to: number }[], k: number = sizes.labels) => {
    const statistics = scope.keep(new Statistics(core, { ...shape, labels: k }));
    await learnPoints(statistics, featuresIn(x), labelsOf(k), { ranges });
    const solution = await solveRidge(statistics, choice, precision, { working, keepExact: true });
    const totals = scope.keep(new Totals(core, { ...shape, labels: k }));
    await learnPoints(totals, featuresIn(x), labelsOf(k), { ranges });
    return { statistics, learned: scope.keep(LearnedRidge.from(totals, solution, mostPending)) };
  };
  return { x, Y, shape, labelsOf, solved };
}

const weightsOf = (learned: LearnedRidge): Rows => rowsOf(learned.weights.toArray(), learned.weights.columns);
const numbersOf = (learned: LearnedRidge): Rows => [
  ...weightsOf(learned),
  [...learned.mean.toArray()],
  [...currentInverse(learned)],
];

/** C by its definition; looking does not make it catch up. */
function currentInverse({ known: { inverse, pending }, weights: { rows: n } }: LearnedRidge): Float64Array {
  const all = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) all[i * n + j] = inverse[packedLength(Math.max(i, j)) + Math.min(i, j)];
  for (const { factors, sign } of pending)
    for (let m = 0; m < factors.length; m += n)
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) all[i * n + j] -= sign * factors[m + i] * factors[m + j];
  return all;
}

const settings: Setting[] = [
  { precision: "f64", working: "f64" },
  { precision: "f32", working: "f64" },
  { precision: "f32", working: "f32" },
  { precision: "f64", working: "f64", mostPending: 20 },
  { precision: "f64", working: "f64", mostPending: 1000 },
];

for (const kind of coreKinds) {
  describe(`learning, ${kind.name}`, () => {
    for (const setting of settings) {
      const { precision, working, mostPending = 0 } = setting;
      const tolerance = tolerances[working === "f32" ? "f32" : precision] * (working === "f32" ? 5 : 1);
      test(`${precision} with C in ${working}, ${mostPending} points behind at most: equals solving at once, and is taken back`, async () => {
        await withCore(kind, async (core) => {
          for (const seed of [1, 2, 3]) {
            await scoped(async (scope) => {
              const { x, labelsOf, solved } = await setUp(core, setting, seed, scope);
              const all = labelsOf(sizes.labels);
              const cut = 25 + 7 * seed;
              const { learned } = await solved([{ from: 0, to: cut }]);
              const before = numbersOf(learned);
              await learned.learn(x, all, { ranges: [{ from: cut, to: 50 }] });
              await learned.learn(x, all, { ranges: [{ from: 50, to: 60 }] });
              const atOnce = await solved([{ from: 0, to: 60 }]);
              expect(difference(numbersOf(learned), before)).toBeGreaterThan(1e-3);
              expect(difference(numbersOf(learned), numbersOf(atOnce.learned))).toBeLessThan(tolerance);
              expect(learned.totals.points).toBe(60);
              // Taken out in another order than they came in.
              await learned.learn(x, all, { ranges: [{ from: 55, to: 60 }], sign: -1 });
              await learned.learn(x, all, { ranges: [{ from: cut, to: 55 }], sign: -1 });
              expect(difference(numbersOf(learned), before)).toBeLessThan(tolerance);
            });
          }
        });
      });
    }

    test("the totals learn with it, and new labels come in behind", async () => {
      await withCore(kind, async (core) => {
        await scoped(async (scope) => {
          const setting: Setting = { precision: "f64", working: "f64" };
          const { x, Y, labelsOf, solved, shape } = await setUp(core, setting, 4, scope);
          const { learned } = await solved([{ from: 0, to: 40 }], 4);
          learned.growLabels(6);
          expect(learned.weights.columns).toBe(6);
          await learned.learn(x, labelsOf(6), { ranges: [{ from: 40, to: 60 }] });
          // The first 40 points had none of the new labels.
          const expected = scope.keep(new Statistics(core, { ...shape, labels: 6 }));
          const lists = listsOf(Y.map((row, i) => row.map((y, k) => (i < 40 && k >= 4 ? 0 : y))));
          await learnPoints(expected, featuresIn(x), scope.keep(new Pattern(core, 6, lists)), {
            ranges: [{ from: 0, to: 40 }],
          });
          await learnPoints(expected, featuresIn(x), labelsOf(6), { ranges: [{ from: 40, to: 60 }] });
          expect(learned.totals.sums.toArray()).toEqual(expected.sums.toArray());
          const solution = scope.keep(await solveRidge(expected, choice, "f64"));
          expect(difference(weightsOf(learned), rowsOf(solution.weights.toArray(), 6))).toBeLessThan(1e-10);
          expect(difference([[...learned.mean.toArray()]], [[...solution.mean.toArray()]])).toBe(0);
        });
      });
    });
  });
}

test("points that were never learned cannot be forgotten", async () => {
  await withCore(coreKinds[0] as (typeof coreKinds)[number], async (core) => {
    await scoped(async (scope) => {
      const { x, labelsOf, solved } = await setUp(core, { precision: "f64", working: "f64" }, 5, scope);
      const all = labelsOf(sizes.labels);
      const { learned: empty } = await solved([{ from: 0, to: 1 }]);
      await expect(empty.learn(x, all, { ranges: [{ from: 20, to: 60 }], sign: -1 })).rejects.toThrow(/never learned/);
    });
  });
});
