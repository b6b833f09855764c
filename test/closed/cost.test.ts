// What is said beforehand is what is taken: memory at its height.

import { describe, expect, test } from "vitest";
import { exactCost, exactWay, sparseCost } from "../../src/closed/cost.ts";
import { fitExact } from "../../src/closed/exact.ts";
import { inducingFeatures } from "../../src/closed/inducing.ts";
import { Points, toUnitRows } from "../../src/closed/points.ts";
import { sumsOfPoints } from "../../src/closed/pointsums.ts";
import { solveRidge } from "../../src/closed/ridge.ts";
import { featuresOf, learnPoints } from "../../src/closed/sparse.ts";
import { Statistics } from "../../src/closed/statistics.ts";
import { type Core, csr, matrixFrom, Pattern, type Scope, scoped } from "../../src/core/index.ts";
import { listsOf, sparseOf, transposed } from "../../src/model/rows.ts";
import { randomProblem } from "../support/closed.ts";
import { coreKinds, withCore } from "../support/cores.ts";

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
          expectNear(most(), exactCost(sizes, "f32", { by }).bytes, index);
        });
      });
    });
  }

  for (const remade of [false, true]) {
    test(`holds for the sparse form, sums ${remade ? "made anew" : "kept"}`, async () => {
      await withCore(oneThread, async (core) => {
        await scoped(async (scope) => {
          const sizes = { points: 400, features: 500, labels: 300 };
          const { points, labels, V, Z } = place(core, sizes, scope);
          const basis = scope.keep(matrixFrom(core, 500, 20, transposed(V).flat()));
          const inputs = scope.keep(matrixFrom(core, 150, 20, Z.flat()));
          const most = watch(core);
          const inducing = scope.keep(await inducingFeatures({ basis, inputs }, { name: "se" }));
          const features = featuresOf({ inducing, linear: true }, points);
          const shape = { points: 400, kernel: 150, linear: 500, labels: 300 };
          const working = remade ? "f32" : "f64";
          const sums = remade
            ? scope.keep(await sumsOfPoints(points, labels, { kernel: { features, count: 150 } }))
            : scope.keep(new Statistics(core, shape));
          if (sums instanceof Statistics) await learnPoints(sums, features, labels);
          scope.keep(await solveRidge(sums, { noise: 1 }, "f32", { working }));
          expectNear(most(), sparseCost(shape, "f32", { working, remade }).bytes, 512 * 500 * 8);
        });
      });
    });
  }

  test("prefers the factor where labels are few, and single precision where it may", () => {
    expect(exactWay(12_920, 983)).toBe("factor");
    expect(exactWay(8_225, 3_993)).toBe("inverse");
    expect(exactWay(4_880, 159)).toBe("factor");
    const wide = { points: 45_000, kernel: 0, linear: 15_626, labels: 4_108 };
    const direct = sparseCost(wide, "f32", { working: "f32", inverse: false, remade: true });
    expect(direct.bytes).toBeLessThan(1.5e9);
    expect(direct.operations / 3.3e12).toBeCloseTo(1, 1);
    expect(sparseCost(wide, "f32").bytes).toBeGreaterThan(4e9);
  });
});
