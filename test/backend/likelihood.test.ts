// Covariances, expected log-likelihoods and the bound itself, on every backend.

import { describe, expect, test } from "vitest";
import type { Backend } from "../../src/backend/backend.ts";
import { termsOf } from "../../src/base/kernels.ts";
import { backendKinds, valuesOf } from "../support/backends.ts";
import { flatErrors } from "../support/boundcheck.ts";
import { boundCases } from "../support/cases.ts";
import { type Expected, expectation } from "../support/expectation.ts";
import { covarianceOf, hasTerms, kernelNames, slopeOf } from "../support/kernels.ts";
import { randomNumbers } from "../support/numbers.ts";
import { at, fill, worst } from "../support/reference.ts";

const means = [-40, -15, -9, -6, -4, -2.5, -1, -0.3, 0, 0.3, 1, 2.5, 4, 6, 9, 15, 40].map(Math.fround);
const variances = [0, 1e-4, 0.1, 0.5, 1, 2.25, 4, 9, 30, 100].map(Math.fround);
const grid = means.map((mean) => variances.map((variance) => expectation(mean, Math.sqrt(variance))));
/** Of an absent label at the same place: E log(1 + e^f). Of a present one: value(-m), and the slope reversed. */
const expectedAt = (i: number, j: number, present: boolean): Expected => {
  const row = grid[present ? means.length - 1 - i : i];
  const { value, slope, curve } = row[j];
  return { value, slope: present ? -slope : slope, curve };
};

/** Worst errors of the closed form: see assembly/quadrature.ts. */
const tolerance = (epsilon: number): number => (epsilon > 1e-10 ? 1.5e-6 : 1e-9);

for (const kind of backendKinds) {
  describe(`the model's functions, ${kind.name}`, () => {
    test("covariances and their gradients", async () => {
      await kind.with(async (backend) => {
        const [m, n] = [37, 70];
        const hyperValues = [0.2, -0.3, 0.4].map(Math.fround);
        const products = randomNumbers(m * n, 1);
        const [rowSquares, columnSquares] = [randomNumbers(m, 2), randomNumbers(n, 3)].map((values) =>
          values.map((value) => Math.fround(1.5 + value)),
        ) as [Float64Array, Float64Array];
        const given = randomNumbers(m * n, 4);
        const [a, v, l] = hyperValues.map(Math.exp) as [number, number, number];
        for (const kernel of kernelNames) {
          const has = hasTerms(kernel);
          const terms = termsOf(kernel);
          const linear = has.linear ? 1 : 0;
          const inputs = {
            products: backend.tensor(m, n, products),
            rowSquares: backend.tensor(1, m, rowSquares),
            columnSquares: backend.tensor(1, n, columnSquares),
            hyper: backend.tensor(1, 3, hyperValues),
          };
          const distance = (i: number, j: number): number =>
            Math.max(0, rowSquares[i] + columnSquares[j] - 2 * at(products, n, i, j)) / l ** 2;
          const near = (t: number): number => covarianceOf(kernel, [0, v, 1], 0, t);
          const stationary = (i: number, j: number): number => near(distance(i, j));
          const slope = (i: number, j: number): number => slopeOf(kernel, v, distance(i, j));
          const [out, d, part, sums] = [
            backend.tensor(m, n),
            backend.tensor(m, n, given),
            backend.tensor(m, n),
            backend.tensor(m, 3),
          ];
          backend.covariance({ terms, ...inputs }, out);
          const wanted = fill(m, n, (i, j) => linear * a * at(products, n, i, j) + stationary(i, j));
          expect(worst(await valuesOf(backend, out), wanted), kernel).toBeLessThan(60 * kind.epsilon);
          backend.covarianceGradient({ terms, ...inputs }, d, part, sums);
          const parts = fill(m, n, (i, j) => (at(given, n, i, j) * slope(i, j)) / l ** 2);
          const byProduct = fill(m, n, (i, j) => linear * a * at(given, n, i, j) + at(parts, n, i, j));
          expect(worst(await valuesOf(backend, d), byProduct), kernel).toBeLessThan(60 * kind.epsilon);
          if (has.stationary) expect(worst(await valuesOf(backend, part), parts)).toBeLessThan(60 * kind.epsilon);
          const shares = fill(m, 3, (i, k) => {
            let sum = 0;
            for (let j = 0; j < n; j++) {
              const change = at(given, n, i, j) * slope(i, j);
              const terms = [
                linear * a * at(given, n, i, j) * at(products, n, i, j),
                at(given, n, i, j) * stationary(i, j),
                change * distance(i, j),
              ];
              sum += terms[k];
            }
            return sum;
          });
          expect(worst(await valuesOf(backend, sums), shares), kernel).toBeLessThan(3000 * kind.epsilon);
          backend.free(...Object.values(inputs).filter((value) => typeof value !== "string"), out, d, part, sums);
        }
      });
    });

    test("expected log-likelihood of all labels, the closed form, against a fine trapezoid", async () => {
      await kind.with(async (backend) => {
        for (const [outer, inPlace] of [
          [false, false],
          [true, true],
          [false, true],
        ] as const)
          await checkGrid(backend, kind.epsilon, outer, inPlace);
      });
    });

    test("probabilities", async () => {
      await kind.with(async (backend) => {
        const [m, n] = [means.length, variances.length];
        const mean = backend.tensor(
          1,
          m * n,
          fill(m, n, (i) => means[i]),
        );
        const variance = backend.tensor(
          1,
          m * n,
          fill(m, n, (_, j) => variances[j]),
        );
        const out = backend.tensor(1, m * n);
        backend.probability(mean, variance, out);
        const probabilities = fill(m, n, (i, j) => expectedAt(i, j, false).slope);
        expect(worst(await valuesOf(backend, out), probabilities)).toBeLessThan(tolerance(kind.epsilon));
        backend.free(mean, variance, out);
      });
    });

    test("Gauss-Hermite nodes: odd, even, one and many", async () => {
      await kind.with(async (backend) => {
        const mean = Float64Array.from({ length: 41 }, (_, i) => Math.fround((i - 20) / 4));
        for (const [nodes, limit] of [
          [1, 0],
          [7, 0],
          [20, 2e-4],
          [64, 2e-6],
        ] as const) {
          const deviation = limit === 0 ? 0 : 1;
          const tensors = [mean, mean.map(() => deviation), undefined, undefined, undefined].map((values) =>
            backend.tensor(41, 1, values),
          );
          const [m, v, value, dMean, dVariance] = tensors as [never, never, never, never, never];
          backend.expectedLogLikelihood(
            {
              mean: m,
              variance: v,
              positives: { rowStart: new Int32Array(42), labelIndex: new Int32Array(0) },
              scale: 1,
              quadrature: nodes,
            },
            { rowValue: value, dMean, dVariance },
          );
          const found = [
            await valuesOf(backend, value),
            await valuesOf(backend, dMean),
            await valuesOf(backend, dVariance),
          ];
          mean.forEach((x, i) => {
            const wanted = expectation(x, deviation);
            // The reference itself is a sum of thousands.
            const most = limit + 1e-13 + 8 * kind.epsilon * Math.max(1, wanted.value);
            expect(Math.abs(found[0]?.[i] - wanted.value), `${nodes} nodes at ${x}`).toBeLessThan(most);
            expect(Math.abs(found[1]?.[i] - wanted.slope)).toBeLessThan(most);
            expect(Math.abs(found[2]?.[i] - wanted.curve)).toBeLessThan(most);
          });
          backend.free(...tensors);
        }
      });
    });

    test("the bound and every gradient, against known answers", async () => {
      await kind.with(async (backend) => {
        for (const problem of boundCases) {
          for (const [name, error] of Object.entries(await flatErrors(backend, problem, "closed")))
            expect(error, `${name} of ${problem.name}`).toBeLessThan(kind.epsilon > 1e-10 ? 1e-4 : 1e-7);
        }
      });
    });
  });
}

/** The grid of means and variances, absent and present labels alternating. */
async function checkGrid(backend: Backend, epsilon: number, outer: boolean, inPlace: boolean): Promise<void> {
  const [m, n] = [means.length, variances.length];
  const present = (i: number, j: number): boolean => (i + j) % 2 === 0;
  const lists = means.map((_, i) => variances.map((_, j) => j).filter((j) => present(i, j)));
  const positives = {
    rowStart: Int32Array.from([0, ...lists.map((_, i) => lists.slice(0, i + 1).flat().length)]),
    labelIndex: Int32Array.from(lists.flat()),
  };
  const mean = backend.tensor(
    m,
    n,
    fill(m, n, (i) => means[i]),
  );
  const full = backend.tensor(
    m,
    n,
    fill(m, n, (_, j) => variances[j]),
  );
  const ofRow = backend.tensor(
    1,
    m,
    means.map(() => 0.5),
  );
  const ofLabel = backend.tensor(
    1,
    n,
    variances.map((value) => 2 * value),
  );
  const [rowValue, dMean, dVariance] = [backend.tensor(1, m), backend.tensor(m, n), backend.tensor(m, n)];
  const out = {
    rowValue,
    dMean: inPlace ? mean : dMean,
    dVariance: inPlace && !outer ? full : dVariance,
  };
  const variance = outer ? { ofRow, ofLabel } : full;
  backend.expectedLogLikelihood({ mean, variance, positives, scale: -2, quadrature: "closed" }, out);
  const expected = (pick: (e: Expected) => number): Float64Array =>
    fill(m, n, (i, j) => pick(expectedAt(i, j, present(i, j))));
  const rows = await valuesOf(backend, rowValue);
  means.forEach((_, i) => {
    const wanted = variances.reduce((sum, _, j) => sum + expectedAt(i, j, present(i, j)).value, 0);
    expect(Math.abs(rows[i] - wanted) / Math.max(1, wanted)).toBeLessThan(tolerance(epsilon));
  });
  expect(
    worst(
      await valuesOf(backend, out.dMean),
      expected((e) => -2 * e.slope),
    ),
  ).toBeLessThan(2 * tolerance(epsilon));
  expect(
    worst(
      await valuesOf(backend, out.dVariance),
      expected((e) => -2 * e.curve),
    ),
  ).toBeLessThan(2 * tolerance(epsilon));
  if (!inPlace) expect(await valuesOf(backend, mean)).toEqual(fill(m, n, (i) => means[i]));
  backend.free(mean, full, ofRow, ofLabel, rowValue, dMean, dVariance);
}
