// What to ask about next: values are what plain formulas give, near-duplicates are asked about once, and what is known
// well is not asked about at all.

import { describe, expect, test } from "vitest";
import { knownPart } from "../../src/closed/variance.ts";
import { createCore } from "../../src/core/core.ts";
import { type Dataset, selectFeatures } from "../../src/data/dataset.ts";
import { transformedRows } from "../../src/data/transform.ts";
import { ask } from "../../src/learn/ask.ts";
import type { ClosedModel, ExactPart } from "../../src/model/model.ts";
import { train } from "../../src/train/train.ts";
import { solve } from "../support/closed.ts";
import { both, fullRows, namedData, rowsFrom } from "./support.ts";

const data = namedData({ points: 90, features: 40, labels: 6 }, 5);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const model = train(rowsFrom(data, range(0, 60)), {
  likelihood: "gaussian",
  threads: 1,
}) as Promise<ClosedModel>;

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
  const { closed } = await model;
  const { rows, noise, hyper } = closed as ExactPart;
  const known = fullRows(rows, { normalise: false });
  const given = fullRows(features, (await model).transform);
  const k = (a: number[], b: number[]): number =>
    Math.exp(-a.reduce((d, v, c) => d + (v - (b[c] as number)) ** 2, 0) / (2 * hyper[2] ** 2));
  const square = known.map((a, i) => known.map((b, j) => k(a, b) + (i === j ? noise : 0)));
  const between = known.map((a) => given.map((b) => k(a, b)));
  const solved = solve(square, between);
  return given.map((a, i) =>
    given.map(
      (b, j) =>
        k(a, b) - between.reduce((sum, row, m) => sum + (row[i] as number) * (solved[m]?.[j] as number), 0),
    ),
  );
}

describe("what is not known", () => {
  test("is the posterior covariance", async () => {
    const features = rowsFrom(data, range(60, 70)).features;
    const expected = await covarianceOf(features);
    const core = await createCore({ threads: 1 });
    const { closed, transform } = await model;
    const part = await knownPart(core, closed as ExactPart, transform);
    const b = part.of(transformedRows(features, (await model).transform, 0, 10));
    for (let i = 0; i < 10; i++) {
      const own = b
        .subarray(i * part.size, (i + 1) * part.size)
        .reduce((sum, value) => sum + value * value, 0);
      expect(Math.abs(1 - own - (expected[i]?.[i] as number))).toBeLessThan(1e-4);
    }
    core.dispose();
  });
});

describe("ask", () => {
  test("chooses one after another what is worth most once those before are known", async () => {
    const features = rowsFrom(data, range(60, 90)).features;
    const asked = await ask(await model, unlabelled(features), { top: 6, threads: 1 });
    const covariance = await covarianceOf(features);
    const { noise } = (await model).closed;
    const doubts = new Map(
      (await ask(await model, unlabelled(features), { top: 30, threads: 1 })).map((q) => [q.row, q.doubt]),
    );
    const chosen: number[] = [];
    const doubtOf = (i: number): number => doubts.get(i) as number;
    const whole = range(0, 30).reduce((sum, j) => sum + doubtOf(j) * (covariance[j]?.[j] as number), 0);
    for (const { row, value, unknown } of asked) {
      // C once those chosen are known for good, from scratch.
      const square = chosen.map((a) => chosen.map((b) => covariance[a]?.[b] as number));
      const side = chosen.map((a) => range(0, 30).map((i) => covariance[a]?.[i] as number));
      const solved = chosen.length === 0 ? [] : solve(square, side);
      const left = range(0, 30).map((i) =>
        range(0, 30).map((j) =>
          chosen.reduce(
            (sum, _, m) => sum - (side[m]?.[i] as number) * (solved[m]?.[j] as number),
            covariance[i]?.[j] as number,
          ),
        ),
      );
      const values = left.map((own, i) =>
        chosen.includes(i)
          ? -1
          : own.reduce((sum, c, j) => sum + doubtOf(j) * c * c, 0) / ((own[i] as number) + noise) / whole,
      );
      expect(Math.abs((left[row]?.[row] as number) - unknown)).toBeLessThan(1e-3);
      expect(Math.abs(value - (values[row] as number))).toBeLessThan(1e-4);
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
      const [first] = await ask(each, unlabelled(pick), { top: 1, threads: 1 });
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
      const asked = await ask(each, unlabelled(features), { top: 45, threads: 1 });
      expect(asked.map(({ row }) => row)).not.toContain(41);
      expect(asked.length).toBe(41);
      expect(asked[0]?.row).toBe(0);
      expect(asked[1]?.row).toBeGreaterThan(11);
    }
  });
});
