// The variance of a linear part: leverages beside plain elimination, and one number a feature beside all of them.

import { describe, expect, test } from "vitest";
import type { SparseRows } from "../../../src/base/sparse.ts";
import { csr, Pattern, scoped } from "../../../src/core/index.ts";
import {
  changedPrecision,
  type FeaturePrecision,
  fitPrecision,
  type LinearPart,
  unexplainedByFeatures,
} from "../../../src/parts/linear/posterior.ts";
import { Points } from "../../../src/parts/regression/points.ts";
import { type Probed, solveRidge } from "../../../src/parts/regression/ridge.ts";
import { PointSums } from "../../../src/parts/regression/totals.ts";
import { randomProblem, solve, times, unit } from "../../support/closed.ts";
import { coreKinds, withCore } from "../../support/cores.ts";
import { difference, listsOf, type Rows, sparseOf, transposed } from "../../support/lists.ts";
import { generator } from "../../support/numbers.ts";

const NOISE = 0.3;

const rowsFrom = (rows: Rows): SparseRows => {
  const { rowStart, columnIndex, values, ...sizes } = sparseOf(rows);
  return {
    ...sizes,
    rowStart: Int32Array.from(rowStart),
    columnIndex: Int32Array.from(columnIndex),
    values: Float32Array.from(values),
  };
};

/** x'Cx and A_jj by elimination. */
function plainly(X: Rows, probes: Rows): { squares: number[]; leverages: number[] } {
  const A = times(transposed(X), X);
  const withNoise = A.map((row, i) => row.map((value, j) => value + (i === j ? NOISE : 0)));
  const solved = transposed(solve(withNoise, transposed(probes)));
  return {
    squares: A.map((row, j) => row[j]),
    leverages: probes.map((probe, i) => times([probe], transposed([solved[i]]))[0]?.[0]),
  };
}

/** The same from a solution. */
async function probed(X: Rows, Y: Rows, probes: Rows, inverse: boolean, working: "f32" | "f64"): Promise<Probed> {
  let found: Probed | undefined;
  for (const kind of coreKinds)
    await withCore(kind, async (core) => {
      await scoped(async (scope) => {
        const points = scope.keep(new Points(scope.keep(csr(core, sparseOf(X), "f32"))));
        const labels = scope.keep(new Pattern(core, Y[0]?.length ?? 0, listsOf(Y)));
        const sums = scope.keep(new PointSums(points.x, labels));
        const options = { working, inverse, probes: rowsFrom(probes) };
        found = scope.keep(await solveRidge(sums, { noise: NOISE }, "f32", options)).probed;
      });
    });
  return found as Probed;
}

const partOf = (precision: FeaturePrecision, columns: number[]): LinearPart => ({
  family: "linear",
  noise: NOISE,
  columns: Int32Array.from(columns),
  weights: new Float32Array(columns.length),
  mean: new Float32Array(1),
  precision,
});

/** v / (x.x + lam) of rows that have all features of the part. */
const unexplained = (precision: FeaturePrecision, rows: Rows, whole = false): number[] => {
  const part = partOf(precision, [...precision.squares.keys()]);
  const transform = { normalise: false, ...(whole && { unitNorm: whole }) };
  return Array.from(unexplainedByFeatures(part, transform)(rowsFrom(rows)));
};

describe("the leverages of points a solution has not seen", () => {
  for (const [inverse, working] of [
    [false, "f32"],
    [true, "f32"],
    [true, "f64"],
  ] as const)
    test(`are x'Cx, from ${inverse ? "C" : "the factor"} in ${working}`, async () => {
      const { X, Y } = randomProblem(3, { points: 40, features: 12 });
      const probes = randomProblem(4, { points: 9, features: 12 }).X.map(unit);
      const found = await probed(X, Y, probes, inverse, working);
      const expected = plainly(X, probes);
      expect(difference([[...found.leverages]], [expected.leverages])).toBeLessThan(2e-6);
      expect(difference([Array.from(found.squares)], [expected.squares])).toBeLessThan(1e-5);
    });
});

describe("one number of each feature", () => {
  test("is all there is to know where no point has two features", () => {
    const counts = [1, 2, 5, 30];
    const X = counts.flatMap((count, j) => new Array<number[]>(count).fill(counts.map((_, i) => +(i === j))));
    const probes = [...counts.keys()].map((j) => counts.map((_, i) => +(i === j)));
    const { squares, leverages } = plainly(X, probes);
    const precision = fitPrecision(rowsFrom(probes), { squares, leverages: Float64Array.from(leverages) }, NOISE);
    expect(precision.share).toBeCloseTo(1, 6);
    const expected = leverages.map((leverage) => (NOISE * leverage) / (1 + NOISE));
    expect(difference([unexplained(precision, probes)], [expected])).toBeLessThan(1e-6);
    // (lam / (n + lam)) / (1 + lam)
    expect(unexplained(precision, probes)[2]).toBeCloseTo(0.3 / 5.3 / 1.3, 6);
  });

  test("is right on average over the points it was fitted on, whatever these are", () => {
    for (const seed of [1, 2, 3, 4]) {
      const { X } = randomProblem(seed, { points: 25 * seed, features: 15 });
      const probes = randomProblem(seed + 10, { points: 20, features: 15 }).X.map(unit);
      const { squares, leverages } = plainly(X.map(unit), probes);
      const precision = fitPrecision(rowsFrom(probes), { squares, leverages: Float64Array.from(leverages) }, NOISE);
      const part = unexplained(precision, probes);
      const sum = probes.reduce(
        (all, probe, i) => all + part[i] * times([probe], transposed([probe]))[0]?.[0] + NOISE * part[i],
        0,
      );
      const expected = leverages.reduce((all, leverage) => all + NOISE * leverage, 0);
      expect(sum / expected).toBeCloseTo(1, 5);
    }
  });

  test("says that more is explained the more points have a word, and nothing is known of words without weights", () => {
    const next = generator(7);
    for (let round = 0; round < 50; round++) {
      const squares = Float32Array.from({ length: 6 }, () => 10 * next() * next());
      const precision = { squares, share: 0.2 + 1.5 * next() };
      const row = unit(Array.from({ length: 6 }, () => next()));
      const word = Math.floor(6 * next());
      const more = squares.map((square, j) => (j === word ? square + 1 : square));
      const [before, after] = [
        unexplained(precision, [row])[0],
        unexplained({ ...precision, squares: more }, [row])[0],
      ];
      expect(after).toBeLessThan(before as number);
      expect(after).toBeGreaterThan(0);
      expect(before).toBeLessThan(1 / (1 + NOISE));
      // Features 0, 2, 4 have weights: the row has nothing in them.
      const part = partOf({ ...precision, squares: squares.slice(0, 3) }, [0, 2, 4]);
      const strange = rowsFrom([unit([0, next(), 0, next(), 0, 0.1])]);
      const found = unexplainedByFeatures(part, { normalise: false })(strange)[0];
      expect(found).toBeCloseTo(1 / (1 + NOISE), 6);
    }
  });

  test("counts what a text has outside the vocabulary as not explained", () => {
    const precision = { squares: Float32Array.of(3, 8), share: 1 };
    const [short, long] = [unexplained(precision, [[0.6, 0]], true)[0], unexplained(precision, [[0.6, 0]])[0]];
    const left = 0.3 / 3.3;
    expect(short).toBeCloseTo((0.64 + 0.36 * left) / 1.3, 6);
    expect(long).toBeCloseTo((0.36 * left) / (0.36 + NOISE), 6);
  });

  test("follows documents that come and go, each as often as it counts", () => {
    const documents = (rows: Rows, weights?: number[]) => ({
      ids: rows.map(() => ""),
      features: rowsFrom(rows),
      labels: {
        rows: rows.length,
        labels: 1,
        rowStart: new Int32Array(rows.length + 1),
        labelIndex: new Int32Array(0),
      },
      ...(weights && { weights: Int32Array.from(weights) }),
    });
    const none = documents([[0, 0, 0]]);
    const start = { squares: Float32Array.of(1, 0, 4), share: 0.8 };
    const came = documents(
      [
        [1, 0, 2],
        [0, 0.5, 0],
      ],
      [1, 4],
    );
    const after = changedPrecision(start, { in: came, out: none });
    expect(after).toEqual({ squares: Float32Array.of(2, 1, 8), share: 0.8 });
    expect(changedPrecision(after, { in: none, out: came })).toEqual(start);
    // What was rounded away never leaves less than nothing.
    expect(changedPrecision(start, { in: none, out: documents([[0, 0.01, 0]]) }).squares[1]).toBe(0);
  });
});
