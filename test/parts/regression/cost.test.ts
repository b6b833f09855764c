// What is said beforehand is what is taken: memory at its height.

import { describe, expect, test } from "vitest";
import { type Core, csr, Pattern, type Scope, scoped } from "../../../src/core/index.ts";
import { fitExact } from "../../../src/parts/gpr/exact.ts";
import { linearCost } from "../../../src/parts/linear/fit.ts";
import { exactCost, exactWay } from "../../../src/parts/regression/cost.ts";
import { inducingFeatures } from "../../../src/parts/regression/inducing.ts";
import { Points, toUnitRows } from "../../../src/parts/regression/points.ts";
import { solveRidge } from "../../../src/parts/regression/ridge.ts";
import { featuresOf, learnPoints } from "../../../src/parts/regression/sparse.ts";
import { PointSums, Statistics } from "../../../src/parts/regression/totals.ts";
import { costOf } from "../../../src/parts/sgpr/fit.ts";
import { Placed, randomProblem } from "../../support/closed.ts";
import { coreKinds, withCore } from "../../support/cores.ts";
import { listsOf, sparseOf } from "../../support/lists.ts";

const oneThread = coreKinds[0] as (typeof coreKinds)[number];

/** The most memory in use at any time from now on, beyond what was there before. */
function watch(core: Core): () => number {
  const { arena } = core;
  const allocate = arena.allocate.bind(arena);
  const before = arena.used;
  let most = 0;
  arena.allocate = (bytes, what) => {
    const address = allocate(bytes, what);
    most = Math.max(most, arena.used - before);
    return address;
  };
  return () => most;
}

function place(core: Core, sizes: { points: number; features: number; labels: number }, scope: Scope) {
  const problem = randomProblem(1, { ...sizes, rank: 20, inducing: 150 });
  const points = scope.keep(new Points(toUnitRows(scope.keep(csr(core, sparseOf(problem.X))))));
  const labels = scope.keep(new Pattern(core, sizes.labels, listsOf(problem.Y)));
  return { ...problem, points, labels };
}

/** What was taken lies between half of what was said and all of it (with the inverted index, which is not counted). */
function expectNear(most: number, said: number, uncounted: number): void {
  expect(most).toBeLessThanOrEqual(said + uncounted);
  expect(most).toBeGreaterThan(said / 2);
}

describe("the cost said beforehand", () => {
  for (const by of ["inverse", "factor"] as const) {
    test(`holds for the exact form by its ${by}`, async () => {
      await withCore(oneThread, async (core) => {
        await scoped(async (scope) => {
          const sizes = { points: 700, features: 40, labels: 300 };
          const { points, labels } = place(core, sizes, scope);
          const most = watch(core);
          const form = scope.keep(await fitExact(points, labels, { noise: 1, kernel: { name: "se" }, by }));
          expect(form.by).toBe(by);
          const index = 2 * 8 * points.x.nonzeros + 2 * 4 * 700 * 256;
          expectNear(most(), exactCost(sizes, by).bytes, index);
        });
      });
    });
  }

  test("holds for inducing points, which are solved in double precision", async () => {
    await withCore(oneThread, async (core) => {
      await scoped(async (scope) => {
        const { points, labels, X, Y } = place(core, { points: 400, features: 500, labels: 300 }, scope);
        const z = new Placed(core, "f32", X.slice(0, 150), Y.slice(0, 150), scope);
        const most = watch(core);
        const inducing = scope.keep(await inducingFeatures(z.points, { name: "se" }));
        const sums = scope.keep(new Statistics(core, { features: 150, labels: 300 }));
        await learnPoints(sums, featuresOf(inducing, points), labels);
        scope.keep(await solveRidge(sums, { noise: 1 }, "f32"));
        expectNear(most(), costOf(150, 400, 300).bytes, 12 * z.points.x.nonzeros + 512 * 150 * 8);
      });
    });
  });

  test("holds for linear regression, whose sums are made anew", async () => {
    await withCore(oneThread, async (core) => {
      await scoped(async (scope) => {
        const { points, labels } = place(core, { points: 400, features: 500, labels: 300 }, scope);
        const most = watch(core);
        const sums = scope.keep(new PointSums(points.x, labels));
        scope.keep(await solveRidge(sums, { noise: 1 }, "f32", { working: "f32", inverse: false }));
        const sizes = { points: 400, columns: 500, labels: 300 };
        expectNear(most(), linearCost({ ...sizes, entries: 0 }).bytes, 512 * 500 * 8);
      });
    });
  });

  test("prefers the factor where labels are few, and leaves room for wide linear regression", () => {
    expect(exactWay(12_920, 983)).toBe("factor");
    expect(exactWay(8_225, 3_993)).toBe("inverse");
    expect(exactWay(4_880, 159)).toBe("factor");
    const direct = linearCost({ points: 45_000, columns: 15_626, labels: 4_108, entries: 0 });
    expect(direct.bytes).toBeLessThan(1.5e9);
    expect(direct.operations / 3.3e12).toBeCloseTo(1, 1);
  });
});
