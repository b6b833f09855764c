// Active learning: values are what plain formulas give, near-duplicates are asked about once, and documents without a known
// word not at all.

import { describe, expect, test } from "vitest";
import { selectFeatures } from "../../src/base/sparse.ts";
import { createCore } from "../../src/core/core.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import { transformedRows } from "../../src/data/transform.ts";
import { query } from "../../src/learn/query.ts";
import type { GprPart } from "../../src/parts/gpr/posterior.ts";
import { posteriorVariance } from "../../src/parts/regression/variance.ts";
import { train } from "../../src/train/train.ts";
import { solve } from "../support/closed.ts";
import { both, fullRows, namedData, rowsFrom } from "./support.ts";

const data = namedData({ points: 90, features: 40, labels: 6 }, 5);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const model = train(rowsFrom(data, range(0, 60)), { model: "gpr", threads: 1 });
const partOf = async (): Promise<GprPart> => (await model).parts[0] as GprPart;

/** Documents without labels. */
const unlabelled = (features: Dataset["features"]): Dataset => ({
  features,
  labels: {
    rows: features.rows,
    labels: 6,
    rowStart: new Int32Array(features.rows + 1),
    labelIndex: new Int32Array(0),
  },
});

/** k(x,x) - k(x,X) inverse(K + lam I) k(X,z) by elimination. */
async function covarianceOf(features: Dataset["features"]): Promise<number[][]> {
  const { rows, noise, hyper } = await partOf();
  const known = fullRows(rows, { normalise: false });
  const given = fullRows(features, (await model).schema.transform);
  const k = (a: number[], b: number[]): number =>
    Math.exp(-a.reduce((d, v, c) => d + (v - b[c]) ** 2, 0) / (2 * hyper[2] ** 2));
  const square = known.map((a, i) => known.map((b, j) => k(a, b) + (i === j ? noise : 0)));
  const between = known.map((a) => given.map((b) => k(a, b)));
  const solved = solve(square, between);
  return given.map((a, i) =>
    given.map((b, j) => k(a, b) - between.reduce((sum, row, m) => sum + row[i] * solved[m]?.[j], 0)),
  );
}

describe("the posterior variance", () => {
  test("is what elimination gives", async () => {
    const features = rowsFrom(data, range(60, 70)).features;
    const expected = await covarianceOf(features);
    const core = await createCore({ threads: 1 });
    const { transform } = (await model).schema;
    const part = await posteriorVariance(core, await partOf(), transform);
    const b = part.of(transformedRows(features, transform, 0, 10));
    for (let i = 0; i < 10; i++) {
      const own = b.subarray(i * part.size, (i + 1) * part.size).reduce((sum, value) => sum + value * value, 0);
      expect(Math.abs(1 - own - expected[i]?.[i])).toBeLessThan(1e-4);
    }
    core.dispose();
  });
});

describe("query", () => {
  test("chooses one after another what is worth most once those before are known", async () => {
    const features = rowsFrom(data, range(60, 90)).features;
    const asked = await query(await model, unlabelled(features), { top: 6, threads: 1 });
    const covariance = await covarianceOf(features);
    const { noise } = await partOf();
    const uncertainties = new Map(
      (await query(await model, unlabelled(features), { top: 30, threads: 1 })).map((q) => [q.row, q.uncertainty]),
    );
    const chosen: number[] = [];
    const uncertaintyOf = (i: number): number => uncertainties.get(i) as number;
    const whole = range(0, 30).reduce((sum, j) => sum + uncertaintyOf(j) * covariance[j]?.[j], 0);
    for (const { row, value, variance } of asked) {
      // C once those chosen are known for good, from scratch.
      const square = chosen.map((a) => chosen.map((b) => covariance[a]?.[b]));
      const side = chosen.map((a) => range(0, 30).map((i) => covariance[a]?.[i]));
      const solved = chosen.length === 0 ? [] : solve(square, side);
      const left = range(0, 30).map((i) =>
        range(0, 30).map((j) => chosen.reduce((sum, _, m) => sum - side[m]?.[i] * solved[m]?.[j], covariance[i]?.[j])),
      );
      const values = left.map((own, i) =>
        chosen.includes(i)
          ? -1
          : own.reduce((sum, c, j) => sum + uncertaintyOf(j) * c * c, 0) / (own[i] + noise) / whole,
      );
      expect(Math.abs(left[row]?.[row] - variance)).toBeLessThan(1e-3);
      expect(Math.abs(value - values[row])).toBeLessThan(1e-4);
      expect(value).toBeGreaterThan(Math.max(...values) - 1e-4);
      chosen.push(row);
    }
    expect(new Set(chosen).size).toBe(6);
  });

  test("asks about the same text once before others, whatever the form, and about nothing without a known word", async () => {
    const large = await train(namedData({ points: 2100, features: 40, labels: 6 }, 7), {
      ...both,
      threads: 1,
    });
    for (const each of [await model, large]) {
      const pick = rowsFrom(data, range(60, 90)).features;
      const [first] = await query(each, unlabelled(pick), { top: 1, threads: 1 });
      // The most valuable one twelve times, then the rest, then an empty one.
      const places = [
        ...new Array<number>(12).fill(first?.row as number),
        ...range(0, 30).filter((i) => i !== first?.row),
      ];
      const many = selectFeatures(pick, places);
      const features = {
        ...many,
        rows: many.rows + 1,
        rowStart: Int32Array.from([...many.rowStart, many.values.length]),
      };
      const asked = await query(each, unlabelled(features), { top: 45, threads: 1 });
      expect(asked.map(({ row }) => row)).not.toContain(41);
      expect(asked.length).toBe(41);
      expect(asked[0]?.row).toBe(0);
      expect(asked[1]?.row).toBeGreaterThan(11);
    }
  });
});
