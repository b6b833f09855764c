// Properties of the closed form: leaving out is leaving out, parts add up, forgetting undoes learning, limits coincide.

import { describe, expect, test } from "vitest";
import { type Core, csr, matrix, matrixFrom, Pattern, type Scope, scoped } from "../../../src/core/index.ts";
import { fitExact } from "../../../src/parts/gpr/exact.ts";
import { inducingFeatures } from "../../../src/parts/regression/inducing.ts";
import type { KernelChoice } from "../../../src/parts/regression/kernel.ts";
import { Points } from "../../../src/parts/regression/points.ts";
import { type RidgeChoice, type RidgeSolution, solveRidge } from "../../../src/parts/regression/ridge.ts";
import {
  type FeatureWalk,
  featuresIn,
  featuresOf,
  learnPoints,
  leaveOneOutOf,
  ridgeScores,
} from "../../../src/parts/regression/sparse.ts";
import { Statistics } from "../../../src/parts/regression/totals.ts";
import { denseRows, exactAt, Placed, randomProblem, unit } from "../../support/closed.ts";
import { coreKinds, withCore } from "../../support/cores.ts";
import { difference, listsOf, type Rows, rowsOf, sparseOf, transposed } from "../../support/lists.ts";

const noise = 0.3;
const seeds = [1, 2, 3, 4, 5];
const oneThread = coreKinds[0] as (typeof coreKinds)[number];

const means = (Y: Rows): number[] => transposed(Y).map((column) => column.reduce((sum, y) => sum + y, 0) / Y.length);
const without = <T>(rows: T[], i: number): T[] => rows.filter((_, j) => j !== i);

async function sparseScores(solution: RidgeSolution, features: FeatureWalk): Promise<Rows> {
  const rows: Rows = [];
  const { core, precision, columns } = solution.weights;
  await features.forBlocks("", (block) => {
    const out = matrix(core, block.to - block.from, columns, precision);
    rows.push(...rowsOf(ridgeScores(solution, block.f, out).toArray(), columns));
    out.free();
  });
  return rows;
}

async function leftOut(source: { labels: number; forBlocks: ReturnType<typeof leaveOneOutOf>["forBlocks"] }) {
  const scores: Rows = [];
  const variances: number[] = [];
  await source.forBlocks("", (block) => {
    scores.push(...rowsOf(block.scores.toArray(), source.labels));
    variances.push(...block.variances);
  });
  return { scores, variances };
}

/** The sparse form on some points: sums, solution, scores of those points and of others. */
async function fitSparse(
  core: Core,
  placed: Placed,
  features: (points: Points) => FeatureWalk,
  shape: { features: number },
  choice: RidgeChoice,
  scope: Scope,
) {
  const statistics = scope.keep(new Statistics(core, { ...shape, labels: placed.labels.columns }));
  await learnPoints(statistics, features(placed.points), placed.labels);
  const solution = scope.keep(await solveRidge(statistics, choice, placed.points.x.precision));
  return { statistics, solution };
}

const kernels: KernelChoice[] = [
  { name: "se" },
  { name: "se", lengthScale: 0.7, variance: 1.7 },
  { name: "linear", linearVariance: 0.8 },
  { name: "matern32", lengthScale: 0.9 },
  { name: "linear+se", lengthScale: 1.3, linearVariance: 0.4 },
];

describe("leaving one out", () => {
  for (const kernel of kernels) {
    test(`of the exact form is fitting without that point (${JSON.stringify(kernel)})`, async () => {
      await withCore(oneThread, async (core) => {
        for (const seed of seeds) {
          await scoped(async (scope) => {
            const { X, Y } = randomProblem(seed);
            const options = { noise, kernel, mean: means(Y) };
            const whole = new Placed(core, "f64", X, Y, scope);
            const form = scope.keep(await fitExact(whole.points, whole.labels, options));
            expect(form.by).toBe("inverse");
            const { scores, variances } = await leftOut(form);
            // By the factor, only the last points have left-out scores.
            const last = scope.keep(
              await fitExact(whole.points, whole.labels, { ...options, by: "factor", leftOut: 5 }),
            );
            expect(last.ranges).toEqual([{ from: X.length - 5, to: X.length }]);
            const some = await leftOut(last);
            expect(difference(some.scores, scores.slice(-5))).toBeLessThan(1e-9);
            expect(difference([some.variances], [variances.slice(-5)])).toBeLessThan(1e-9);
            for (let i = 0; i < X.length; i++) {
              const rest = new Placed(core, "f64", without(X, i), without(Y, i), scope);
              const own = new Placed(core, "f64", [X[i]], [Y[i]], scope);
              const other = scope.keep(await fitExact(rest.points, rest.labels, options));
              const at = exactAt(other, rest.points, own.points);
              expect(difference(at.scores, [scores[i]])).toBeLessThan(1e-9);
              expect(Math.abs(at.variances[0] - variances[i])).toBeLessThan(1e-9);
            }
          });
        }
      });
    });
  }

  test("of the exact form is fitting without that point, where points count as several", async () => {
    await withCore(oneThread, async (core) => {
      await scoped(async (scope) => {
        const { X, Y } = randomProblem(3);
        const weights = X.map((_, i) => 1 + (i % 4));
        const options = { noise, kernel: { name: "se" } as const, mean: means(Y) };
        const whole = new Placed(core, "f64", X, Y, scope);
        const form = scope.keep(await fitExact(whole.points, whole.labels, { ...options, weights }));
        const { scores, variances } = await leftOut(form);
        for (let i = 0; i < X.length; i++) {
          // The others as often as they count.
          const copies = <T>(rows: T[]): T[] =>
            rows.flatMap((row, j) => (j === i ? [] : new Array<T>(weights[j]).fill(row)));
          const rest = new Placed(core, "f64", copies(X), copies(Y), scope);
          const own = new Placed(core, "f64", [X[i]], [Y[i]], scope);
          const other = scope.keep(await fitExact(rest.points, rest.labels, options));
          const at = exactAt(other, rest.points, own.points);
          expect(difference(at.scores, [scores[i]])).toBeLessThan(1e-9);
          expect(Math.abs(at.variances[0] - variances[i])).toBeLessThan(1e-9);
        }
      });
    });
  });

  for (const parts of ["kernel", "linear"] as const) {
    test(`of ridge regression is fitting without that point (${parts})`, async () => {
      await withCore(oneThread, async (core) => {
        for (const seed of seeds) {
          await scoped(async (scope) => {
            const { X, Y } = randomProblem(seed);
            const z = new Placed(core, "f64", X.slice(0, 6), Y.slice(0, 6), scope);
            const inducing = scope.keep(await inducingFeatures(z.points, { name: "se" }));
            const features = (points: Points) =>
              parts === "kernel" ? featuresOf(inducing, points) : inFull(core, points, scope);
            const shape = { features: parts === "kernel" ? 6 : X[0].length };
            const choice = { noise, mean: means(Y) };
            const whole = new Placed(core, "f64", X, Y, scope);
            const { solution } = await fitSparse(core, whole, features, shape, choice, scope);
            const { scores } = await leftOut(leaveOneOutOf(solution, features(whole.points), whole.labels));
            for (let i = 0; i < X.length; i++) {
              const rest = new Placed(core, "f64", without(X, i), without(Y, i), scope);
              const own = new Placed(core, "f64", [X[i]], [Y[i]], scope);
              const other = await fitSparse(core, rest, features, shape, choice, scope);
              const expected = await sparseScores(other.solution, features(own.points));
              expect(difference(expected, [scores[i]])).toBeLessThan(1e-9);
            }
          });
        }
      });
    });
  }
});

/** The rows themselves as dense features. */
function inFull(core: Core, points: Points, scope: Scope): FeatureWalk {
  const rows = denseRows(points);
  return featuresIn(scope.keep(matrixFrom(core, rows.length, rows[0].length, rows.flat(), points.x.precision)));
}

/** All numbers of the sums. */
const numbersOf = (s: Statistics): number[] => {
  const n = s.features;
  const lower = rowsOf(s.gram.toArray(), n).flatMap((row, i) => row.slice(0, i + 1));
  return [...lower, ...s.cross.toArray(), ...s.sums.toArray(), ...s.labelCounts, s.points];
};

for (const kind of coreKinds) {
  for (const precision of ["f32", "f64"] as const) {
    describe(`sums over points, ${precision}, ${kind.name}`, () => {
      for (const parts of ["kernel", "linear"] as const) {
        test(`forgetting undoes learning (${parts})`, async () => {
          await withCore(kind, async (core) => {
            for (const seed of seeds) {
              await scoped(async (scope) => {
                const { X, Y } = randomProblem(seed, { points: 40, features: 30, labels: 6 });
                const { points, labels } = new Placed(core, precision, X, Y, scope);
                const z = new Placed(core, precision, X.slice(10, 19), Y.slice(10, 19), scope);
                const inducing = scope.keep(await inducingFeatures(z.points, { name: "se" }));
                const shape = { features: parts === "kernel" ? 9 : 30, labels: 6 };
                const learn = (sums: Statistics, of: Pattern, options: Parameters<typeof learnPoints>[3]) =>
                  parts === "kernel"
                    ? learnPoints(sums, featuresOf(inducing, points), of, options)
                    : learnPoints(sums, featuresIn(points.x), of, options);
                const make = () => scope.keep(new Statistics(core, shape));
                const whole = make();
                await learn(whole, labels, {});
                const tolerance = precision === "f32" ? 1e-5 : 1e-12;

                const cuts = [0, 7 + seed, 23, 40];
                const sum = make();
                for (let part = 0; part < 3; part++)
                  await learn(sum, labels, { ranges: [{ from: cuts[part], to: cuts[part + 1] }] });
                expect(difference([numbersOf(sum)], [numbersOf(whole)])).toBeLessThan(tolerance);

                const before = numbersOf(sum);
                const ranges = [{ from: 5, to: 31 }];
                await learn(sum, labels, { ranges });
                expect(sum.points).toBe(66);
                expect(difference([numbersOf(sum)], [before])).toBeGreaterThan(0.1);
                await learn(sum, labels, { ranges, sign: -1 });
                // The same block is taken away that was added: only double-precision sums are rounded.
                expect(difference([numbersOf(sum)], [before])).toBeLessThan(1e-12);
              });
            }
          });
        });
      }
    });
  }
}

describe("limits coincide", () => {
  test("every point an inducing input: the exact form", async () => {
    await withCore(oneThread, async (core) => {
      await scoped(async (scope) => {
        const { X, Y } = randomProblem(7);
        const rows = X.filter((_, i) => i !== 3);
        const ys = Y.filter((_, i) => i !== 3);
        const { points, labels } = new Placed(core, "f64", rows, ys, scope);
        const exact = scope.keep(await fitExact(points, labels, { noise, kernel: { name: "se" } }));
        const inducing = scope.keep(await inducingFeatures(points, { name: "se" }, { jitter: 1e-10 }));
        const features = (of: Points) => featuresOf(inducing, of);
        const shape = { features: rows.length };
        const { solution } = await fitSparse(core, { points, labels }, features, shape, { noise }, scope);
        const [a, b] = [await leftOut(exact), await leftOut(leaveOneOutOf(solution, features(points), labels))];
        expect(difference(a.scores, b.scores)).toBeLessThan(1e-7);
        const tests = new Placed(core, "f64", randomProblem(8).X, Y, scope);
        const expected = exactAt(exact, points, tests.points).scores;
        expect(difference(expected, await sparseScores(solution, features(tests.points)))).toBeLessThan(1e-7);
      });
    });
  });

  test("a linear kernel: by points and by features the same", async () => {
    await withCore(oneThread, async (core) => {
      for (const seed of seeds) {
        await scoped(async (scope) => {
          const { X, Y } = randomProblem(seed);
          const placed = new Placed(core, "f64", X, Y, scope);
          const exact = scope.keep(await fitExact(placed.points, placed.labels, { noise, kernel: { name: "linear" } }));
          const features = (of: Points) => inFull(core, of, scope);
          const shape = { features: 7 };
          const { solution } = await fitSparse(core, placed, features, shape, { noise }, scope);
          const [a, b] = [
            await leftOut(exact),
            await leftOut(leaveOneOutOf(solution, features(placed.points), placed.labels)),
          ];
          expect(difference(a.scores, b.scores)).toBeLessThan(1e-9);
          // The sparse form's variance is in units of the noise.
          expect(difference([a.variances], [b.variances.map((v) => v * noise)])).toBeLessThan(1e-9);
        });
      }
    });
  });
});

test("what the vocabulary does not have is at right angles to everything else", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const { X, Y } = randomProblem(12);
      const shorter = X.map((row, i) => unit(row).map((value) => value * (0.3 + 0.05 * i)));
      // Each row with a column of its own that makes its length 1, and the same rows without these columns.
      const longer = shorter.map((row, i) => [
        ...row,
        ...X.map((_, j) => (i === j ? Math.sqrt(1 - row.reduce((sum, value) => sum + value * value, 0)) : 0)),
      ]);
      const labels = scope.keep(new Pattern(core, 4, listsOf(Y)));
      const place = (rows: Rows, squares?: number[]): Points => {
        const x = scope.keep(csr(core, sparseOf(rows, rows[0].length), "f64"));
        return scope.keep(new Points(x, squares));
      };
      const [a, b] = [
        place(longer),
        place(
          shorter,
          X.map(() => 1),
        ),
      ];
      const options = { noise, kernel: { name: "se" } } as const;
      const exact = async (points: Points) => scope.keep(await fitExact(points, labels, options));
      const [ofA, ofB] = [await exact(a), await exact(b)];
      expect(difference((await leftOut(ofA)).scores, (await leftOut(ofB)).scores)).toBeLessThan(1e-12);
      const inducing = async (points: Points) => {
        const { whitening } = scope.keep(await inducingFeatures(points, { name: "se" }));
        return rowsOf(whitening.toArray(), X.length);
      };
      expect(difference(await inducing(a), await inducing(b))).toBeLessThan(1e-9);
    });
  });
});

test("the order of points and labels does not matter", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const { X, Y } = randomProblem(11);
      const order = X.map((_, i) => (i * 5) % X.length);
      const labelOrder = [2, 0, 3, 1];
      const moved = <T>(rows: T[], to: number[]): T[] => to.map((i) => rows[i]);
      const [a, b] = [
        new Placed(core, "f64", X, Y, scope),
        new Placed(
          core,
          "f64",
          moved(X, order),
          moved(
            Y.map((row) => moved(row, labelOrder)),
            order,
          ),
          scope,
        ),
      ];
      const expectMoved = (found: Rows, original: Rows): void =>
        expect(
          difference(
            found,
            moved(original, order).map((row) => moved(row, labelOrder)),
          ),
        ).toBeLessThan(1e-12);
      const exact = async (p: Placed) =>
        scope.keep(await fitExact(p.points, p.labels, { noise, kernel: { name: "se" } }));
      expectMoved((await leftOut(await exact(b))).scores, (await leftOut(await exact(a))).scores);
      const z = new Placed(core, "f64", randomProblem(12).X.slice(0, 3), Y.slice(0, 3), scope);
      const inducing = scope.keep(await inducingFeatures(z.points, { name: "se" }));
      const features = (of: Points) => featuresOf(inducing, of);
      const sparse = async (p: Placed) => {
        const { solution } = await fitSparse(core, p, features, { features: 3 }, { noise }, scope);
        return await leftOut(leaveOneOutOf(solution, features(p.points), p.labels));
      };
      expectMoved((await sparse(b)).scores, (await sparse(a)).scores);
    });
  });
});
