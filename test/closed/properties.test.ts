// Properties of the closed form: leaving out is leaving out, parts add up, forgetting undoes learning, limits coincide.

import { describe, expect, test } from "vitest";
import { type ExactForm, fitExact } from "../../src/closed/exact.ts";
import { type InducingInputs, inducingFeatures } from "../../src/closed/inducing.ts";
import type { KernelChoice } from "../../src/closed/kernel.ts";
import { Points } from "../../src/closed/points.ts";
import { type RidgeChoice, type RidgeSolution, solveRidge } from "../../src/closed/ridge.ts";
import {
  blockScores,
  type FeatureWalk,
  featuresOf,
  learnPoints,
  leaveOneOutOf,
} from "../../src/closed/sparse.ts";
import { Statistics } from "../../src/closed/statistics.ts";
import { subsetOf } from "../../src/closed/subset.ts";
import {
  type Core,
  csr,
  matrix,
  matrixFrom,
  Pattern,
  type Precision,
  type Scope,
  scoped,
} from "../../src/core/index.ts";
import { difference, listsOf, type Rows, rowsOf, sparseOf, transposed } from "../../src/model/rows.ts";
import { Placed, randomProblem, unit } from "../support/closed.ts";
import { coreKinds, withCore } from "../support/cores.ts";

const noise = 0.3;
const seeds = [1, 2, 3, 4, 5];
const oneThread = coreKinds[0] as (typeof coreKinds)[number];

const means = (Y: Rows): number[] =>
  transposed(Y).map((column) => column.reduce((sum, y) => sum + y, 0) / Y.length);
const without = <T>(rows: T[], i: number): T[] => rows.filter((_, j) => j !== i);

async function exactScores(form: ExactForm, points: Points): Promise<Rows> {
  const rows: Rows = [];
  await form.predict(points, ({ scores }) => void rows.push(...rowsOf(scores.toArray(), form.labels)));
  return rows;
}

async function sparseScores(solution: RidgeSolution, features: FeatureWalk): Promise<Rows> {
  const rows: Rows = [];
  const { core, precision, columns } = solution.weights;
  await features.forBlocks("", (block) => {
    const out = matrix(core, block.to - block.from, columns, precision);
    rows.push(...rowsOf(blockScores(solution, block, out).toArray(), columns));
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
  shape: { kernel: number; linear: number },
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
              const own = new Placed(core, "f64", [X[i] as number[]], [Y[i] as number[]], scope);
              const other = scope.keep(await fitExact(rest.points, rest.labels, options));
              let variance = 0;
              await other.predict(own.points, (block) => {
                variance = block.variances[0] as number;
              });
              expect(difference(await exactScores(other, own.points), [scores[i] as number[]])).toBeLessThan(
                1e-9,
              );
              expect(Math.abs(variance - (variances[i] as number))).toBeLessThan(1e-9);
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
            rows.flatMap((row, j) => (j === i ? [] : new Array<T>(weights[j] as number).fill(row)));
          const rest = new Placed(core, "f64", copies(X), copies(Y), scope);
          const own = new Placed(core, "f64", [X[i] as number[]], [Y[i] as number[]], scope);
          const other = scope.keep(await fitExact(rest.points, rest.labels, options));
          await other.predict(own.points, ({ variances: [variance] }) => {
            expect(Math.abs((variance as number) - (variances[i] as number))).toBeLessThan(1e-9);
          });
          expect(difference(await exactScores(other, own.points), [scores[i] as number[]])).toBeLessThan(
            1e-9,
          );
        }
      });
    });
  });

  for (const [parts, weights] of [
    ["both", {}],
    ["both", { kernelWeight: 0.2, linearWeight: 0.7 }],
    ["kernel", {}],
    ["linear", { linearWeight: 0.4 }],
  ] as const) {
    test(`of the sparse form is fitting without that point (${parts} ${JSON.stringify(weights)})`, async () => {
      await withCore(oneThread, async (core) => {
        for (const seed of seeds) {
          await scoped(async (scope) => {
            const { X, Y, V, Z } = randomProblem(seed);
            const inducing =
              parts === "linear"
                ? undefined
                : scope.keep(await inducingFeatures(given(core, V, Z, scope), { name: "se" }));
            const linear = parts !== "kernel";
            const features = (points: Points) => featuresOf({ inducing, linear }, points);
            const shape = { kernel: inducing?.count ?? 0, linear: linear ? (X[0] as number[]).length : 0 };
            const choice = { noise, ...weights, mean: means(Y) };
            const whole = new Placed(core, "f64", X, Y, scope);
            const { solution } = await fitSparse(core, whole, features, shape, choice, scope);
            const { scores } = await leftOut(leaveOneOutOf(solution, features(whole.points), whole.labels));
            for (let i = 0; i < X.length; i++) {
              const rest = new Placed(core, "f64", without(X, i), without(Y, i), scope);
              const own = new Placed(core, "f64", [X[i] as number[]], [Y[i] as number[]], scope);
              const other = await fitSparse(core, rest, features, shape, choice, scope);
              const expected = await sparseScores(other.solution, features(own.points));
              expect(difference(expected, [scores[i] as number[]])).toBeLessThan(1e-9);
            }
          });
        }
      });
    });
  }
});

function given(core: Core, V: Rows, Z: Rows, scope: Scope, precision: Precision = "f64"): InducingInputs {
  const place = (rows: Rows) =>
    scope.keep(matrixFrom(core, rows.length, (rows[0] as number[]).length, rows.flat(), precision));
  return { basis: place(transposed(V)), inputs: place(Z) };
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
      test("parts add up, forgetting undoes learning, new labels come in behind", async () => {
        await withCore(kind, async (core) => {
          for (const seed of seeds) {
            await scoped(async (scope) => {
              const { X, Y, V, Z } = randomProblem(seed, {
                points: 40,
                features: 30,
                labels: 6,
                inducing: 9,
              });
              const inducing = scope.keep(
                await inducingFeatures(given(core, V, Z, scope, precision), { name: "se" }),
              );
              const { points, labels } = new Placed(core, precision, X, Y, scope);
              const features = featuresOf({ inducing, linear: true }, points);
              const shape = { kernel: 9, linear: 30, labels: 6 };
              const make = () => scope.keep(new Statistics(core, shape));
              const whole = make();
              await learnPoints(whole, features, labels);
              const tolerance = precision === "f32" ? 1e-5 : 1e-12;

              const cuts = [0, 7 + seed, 23, 40];
              const sum = make();
              for (let part = 0; part < 3; part++) {
                const own = make();
                const ranges = [{ from: cuts[part] as number, to: cuts[part + 1] as number }];
                await learnPoints(own, features, labels, { ranges });
                sum.merge(own);
              }
              expect(difference([numbersOf(sum)], [numbersOf(whole)])).toBeLessThan(tolerance);

              const before = numbersOf(sum);
              const ranges = [{ from: 5, to: 31 }];
              await learnPoints(sum, features, labels, { ranges });
              expect(sum.points).toBe(66);
              expect(difference([numbersOf(sum)], [before])).toBeGreaterThan(0.1);
              await learnPoints(sum, features, labels, { ranges, sign: -1 });
              // The same block is taken away that was added: only double-precision sums are rounded.
              expect(difference([numbersOf(sum)], [before])).toBeLessThan(1e-12);

              const few = scope.keep(new Statistics(core, { ...shape, labels: 4 }));
              const first = scope.keep(new Pattern(core, 4, listsOf(Y.map((row) => row.slice(0, 4)))));
              const noOld = Y.map((row, i) => (i < 20 ? row.map((y, k) => (k < 4 ? y : 0)) : row));
              const all = scope.keep(new Pattern(core, 6, listsOf(noOld)));
              await learnPoints(few, features, first, { ranges: [{ from: 0, to: 20 }] });
              few.growLabels(6);
              await learnPoints(few, features, all, { ranges: [{ from: 20, to: 40 }] });
              const atOnce = make();
              await learnPoints(atOnce, features, all, {
                ranges: [
                  { from: 0, to: 20 },
                  { from: 20, to: 40 },
                ],
              });
              expect(numbersOf(few)).toEqual(numbersOf(atOnce));
            });
          }
        });
      });
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
        const denseZ = scope.keep(matrixFrom(core, rows.length, 7, unitRows(points), "f64"));
        const inputs: InducingInputs[] = [{ points }, { inputs: denseZ }];
        for (const z of inputs) {
          const inducing = scope.keep(await inducingFeatures(z, { name: "se" }, { jitter: 1e-10 }));
          const features = (of: Points) => featuresOf({ inducing, linear: false }, of);
          const shape = { kernel: rows.length, linear: 0 };
          const { solution } = await fitSparse(core, { points, labels }, features, shape, { noise }, scope);
          const [a, b] = [
            await leftOut(exact),
            await leftOut(leaveOneOutOf(solution, features(points), labels)),
          ];
          expect(difference(a.scores, b.scores)).toBeLessThan(1e-7);
          const tests = new Placed(core, "f64", randomProblem(8).X, Y, scope);
          expect(
            difference(
              await exactScores(exact, tests.points),
              await sparseScores(solution, features(tests.points)),
            ),
          ).toBeLessThan(1e-7);
        }
      });
    });
  });

  test("a linear kernel: by points and by features the same", async () => {
    await withCore(oneThread, async (core) => {
      for (const seed of seeds) {
        await scoped(async (scope) => {
          const { X, Y } = randomProblem(seed);
          const placed = new Placed(core, "f64", X, Y, scope);
          const exact = scope.keep(
            await fitExact(placed.points, placed.labels, { noise, kernel: { name: "linear" } }),
          );
          const features = (of: Points) => featuresOf({ linear: true }, of);
          const shape = { kernel: 0, linear: 7 };
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
        const x = scope.keep(csr(core, sparseOf(rows, (rows[0] as number[]).length), "f64"));
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
      const spread = scope.keep(subsetOf(b, labels, [5, 2, 9]));
      expect([...spread.points.squares.toArray()]).toEqual([1, 1, 1]);
      const inducing = scope.keep(await inducingFeatures({ points: spread.points }, { name: "se" }));
      expect(inducing.count).toBe(3);
    });
  });
});

/** The rows as they are in the core, in full. */
function unitRows({ x }: Points): Float64Array {
  const out = new Float64Array(x.rows * x.columns);
  const [starts, columns, values] = [x.start.view(), x.column.view(), x.value.view()];
  for (let i = 0; i < x.rows; i++)
    for (let e = starts[i] as number; e < (starts[i + 1] as number); e++)
      out[i * x.columns + (columns[e] as number)] = values[e] as number;
  return out;
}

test("the order of points and labels does not matter", async () => {
  await withCore(oneThread, async (core) => {
    await scoped(async (scope) => {
      const { X, Y, V, Z } = randomProblem(11);
      const order = X.map((_, i) => (i * 5) % X.length);
      const labelOrder = [2, 0, 3, 1];
      const moved = <T>(rows: T[], to: number[]): T[] => to.map((i) => rows[i] as T);
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
      const inducing = scope.keep(await inducingFeatures(given(core, V, Z, scope), { name: "se" }));
      const features = (of: Points) => featuresOf({ inducing, linear: true }, of);
      const sparse = async (p: Placed) => {
        const { solution } = await fitSparse(core, p, features, { kernel: 4, linear: 7 }, { noise }, scope);
        return await leftOut(leaveOneOutOf(solution, features(p.points), p.labels));
      };
      expectMoved((await sparse(b)).scores, (await sparse(a)).scores);
    });
  });
});
