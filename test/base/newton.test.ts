// The bounded search: its steps against trying every set of bounds, its end against the conditions of a minimum.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BoundedProblem, boundedStep, type LocalModel, minimise, triangular } from "../../src/base/newton.ts";
import { generator, symmetricMatrix } from "../support/numbers.ts";

/** A positive definite quadratic model of that size. */
function someModel(size: number, condition: number, seed: number): LocalModel {
  const next = generator(seed);
  const full = symmetricMatrix(size, condition, seed);
  const curvature = new Float64Array(triangular(size, 0));
  for (let i = 0; i < size; i++) for (let j = 0; j <= i; j++) curvature[triangular(i, j)] = full[i * size + j];
  return { gradient: Float64Array.from({ length: size }, () => 2 * next() - 1), curvature };
}

const entry = ({ curvature }: LocalModel, i: number, j: number) =>
  curvature[triangular(Math.max(i, j), Math.min(i, j))];

function modelValue(model: LocalModel, d: Float64Array): number {
  let sum = 0;
  d.forEach((di, i) => {
    sum += model.gradient[i] * di;
    d.forEach((dj, j) => {
      sum += 0.5 * di * dj * entry(model, i, j);
    });
  });
  return sum;
}

/** Gaussian elimination without tricks. */
function solve(a: number[][], b: number[]): number[] {
  const n = b.length;
  const m = a.map((row, i) => [...row, b[i]]);
  for (let c = 0; c < n; c++) {
    for (let r = c + 1; r < n; r++) {
      const factor = m[r]?.[c] / m[c]?.[c];
      for (let k = c; k <= n; k++) m[r][k] = m[r]?.[k] - factor * m[c]?.[k];
    }
  }
  const x = new Array<number>(n).fill(0);
  for (let r = n - 1; r >= 0; r--) {
    let sum = m[r]?.[n];
    for (let k = r + 1; k < n; k++) sum -= m[r]?.[k] * x[k];
    x[r] = sum / m[r]?.[r];
  }
  return x;
}

/** The least value over every choice of variables that stand on their bounds. */
function leastByTrying(model: LocalModel, least: Float64Array): number {
  const size = least.length;
  let best = Infinity;
  for (let set = 0; set < 2 ** size; set++) {
    const held = Array.from({ length: size }, (_, j) => ((set >> j) & 1) === 1);
    if (held.some((isHeld, j) => isHeld && least[j] === -Infinity)) continue;
    const free = held.flatMap((isHeld, j) => (isHeld ? [] : [j]));
    const d = Float64Array.from(held, (isHeld, j) => (isHeld ? least[j] : 0));
    const right = free.map((i) => {
      let sum = -model.gradient[i];
      held.forEach((isHeld, j) => {
        if (isHeld) sum -= entry(model, i, j) * d[j];
      });
      return sum;
    });
    const found = solve(
      free.map((i) => free.map((j) => entry(model, i, j))),
      right,
    );
    free.forEach((j, f) => {
      d[j] = found[f];
    });
    if (d.every((value, j) => value >= least[j] - 1e-12)) best = Math.min(best, modelValue(model, d));
  }
  return best;
}

describe("a bounded step", () => {
  test("is the minimum of the model within the bounds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        fc.nat(1e6),
        fc.constantFrom(1, 1e3, 1e7),
        (size, seed, condition) => {
          const model = someModel(size, condition, seed);
          const next = generator(seed + 1);
          const lower = Float64Array.from({ length: size }, () => (next() < 0.3 ? -Infinity : 0));
          const x = lower.map((bound) => (bound === 0 && next() < 0.5 ? 0 : next()));
          const step = boundedStep(model, x, lower);
          step.forEach((d, j) => {
            expect(d).toBeGreaterThanOrEqual(lower[j] - x[j]);
          });
          const best = leastByTrying(
            model,
            lower.map((bound, j) => bound - x[j]),
          );
          // Rounding of either solution grows with the condition (seed 576587: 1.03e-9 of the value at 1e7).
          const rounding = 1e-9 + 10 * Number.EPSILON * condition;
          expect(modelValue(model, step) - best).toBeLessThan(rounding * (1 + Math.abs(best)));
        },
      ),
    );
  });
});

describe("the search", () => {
  /** log(e^x + e^-x) + model: steep far out, with a curvature that fades there, where plain Newton steps overshoot. */
  const problem = (size: number, seed: number): BoundedProblem => {
    const model = someModel(size, 1e4, seed);
    const bend = (x: number) => 50 * (x - 0.3);
    return {
      lower: new Float64Array(size).map((_, j) => (j % 2 === 0 ? 0 : -Infinity)),
      evaluate: (x) => ({
        value: x.reduce(
          (sum, xj) => sum + Math.abs(bend(xj)) + Math.log1p(Math.exp(-2 * Math.abs(bend(xj)))),
          modelValue(model, x),
        ),
        gradient: model.gradient.map((g, i) =>
          x.reduce((sum, xj, j) => sum + entry(model, i, j) * xj, g + 50 * Math.tanh(bend(x[i]))),
        ),
      }),
      curvature: (x, chosen) =>
        Float64Array.from(
          chosen.flatMap((i, a) =>
            chosen
              .slice(0, a + 1)
              .map((j) => entry(model, i, j) + (i === j ? 2500 * (1 - Math.tanh(bend(x[i])) ** 2) : 0)),
          ),
        ),
    };
  };

  test("ends at a minimum from near and far, and says so", async () => {
    for (const size of [1, 3, 9]) {
      for (const far of [0, 1, 100]) {
        const given = problem(size, size);
        const { x, value, converged } = await minimise(given, new Float64Array(size).fill(far), 1e-12);
        expect(converged).toBe(true);
        const { gradient } = given.evaluate(x);
        x.forEach((xj, j) => {
          const bounded = given.lower[j] === 0 && xj === 0;
          if (bounded) expect(gradient[j]).toBeGreaterThan(-1e-6);
          else expect(Math.abs(gradient[j])).toBeLessThan(1e-2);
        });
        const other = await minimise(given, new Float64Array(size), 1e-12);
        expect(value).toBeCloseTo(other.value, 7);
      }
    }
  });

  test("never goes up, and says when the function is not what its derivatives say", async () => {
    const wrong: BoundedProblem = {
      lower: Float64Array.from([-Infinity]),
      evaluate: (x) => ({
        value: x[0] ** 2,
        gradient: Float64Array.from([-2 * x[0] - 1]),
      }),
      curvature: () => Float64Array.from([2]),
    };
    const { x, value, converged } = await minimise(wrong, Float64Array.from([0.5]));
    expect([x[0], value, converged]).toEqual([0.5, 0.25, false]);
  });

  test("pauses between a curvature and the next value", async () => {
    const order: string[] = [];
    const given = problem(4, 4);
    const said = <A extends unknown[], R>(name: string, work: (...given: A) => R) => {
      return (...all: A): R => {
        order.push(name);
        return work(...all);
      };
    };
    await minimise(
      {
        ...given,
        evaluate: said("value", given.evaluate),
        curvature: said("curvature", given.curvature),
        pause: said("pause", async () => {}),
      },
      new Float64Array(4).fill(10),
    );
    order.forEach((name, i) => {
      if (name === "curvature") expect([order[i - 1], order[i + 1]]).toEqual(["pause", "pause"]);
    });
    expect(order).toContain("curvature");
  });

  test("is cancelled between two steps", async () => {
    let steps = 0;
    const pause = async (): Promise<void> => {
      if (++steps === 2) throw new Error("enough");
    };
    await expect(minimise({ ...problem(9, 9), pause }, new Float64Array(9).fill(100))).rejects.toThrow("enough");
    expect(steps).toBe(2);
  });
});
