// Expected log-likelihoods against a fine trapezoid rule that shares nothing with the kernels.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Core,
  expectedLogLikelihood,
  matrix,
  matrixFrom,
  type Precision,
  predictiveProbability,
  type Quadrature,
  scoped,
} from "../../src/core/index.ts";
import { coreKinds, precisions, withCore } from "../support/cores.ts";
import { type Expected, expectation } from "../support/expectation.ts";
import { randomNumbers } from "../support/numbers.ts";
import { worst } from "../support/reference.ts";

const kind = coreKinds[0] as (typeof coreKinds)[number];
const means = [-45, -40, -25, -15, -9, -6, -4, -2.5, -1, -0.3, 0, 0.3, 1, 2.5, 4, 6, 9, 15, 25, 40, 45];
const deviations = [0, 1e-3, 0.1, 0.3, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 10];
const grid = means.flatMap((mean) =>
  deviations.map((deviation) => ({ mean, deviation, ...expectation(mean, deviation) })),
);

/** Values, slopes and curves at every point of the grid, for a label that is absent or present. */
function compute(core: Core, precision: Precision, present: boolean, quadrature: Quadrature) {
  return scoped((scope) => {
    const n = grid.length;
    const make = (values: number[]) => scope.keep(matrixFrom(core, n, 1, values, precision));
    const zero = () => scope.keep(matrix(core, n, 1, precision));
    const out = { rowValue: zero(), dMean: zero(), dVariance: zero() };
    const positives = present
      ? { rowStart: Int32Array.from({ length: n + 1 }, (_, i) => i), labelIndex: new Int32Array(n) }
      : { rowStart: new Int32Array(n + 1), labelIndex: new Int32Array(0) };
    const mean = make(grid.map((point) => point.mean));
    const variance = make(grid.map((point) => point.deviation ** 2));
    expectedLogLikelihood({ mean, variance, positives, quadrature }, out);
    const probability = predictiveProbability(mean, variance, zero(), quadrature).toArray();
    return {
      value: out.rowValue.toArray(),
      slope: out.dMean.toArray(),
      curve: out.dVariance.toArray(),
      probability,
    };
  });
}

for (const precision of precisions) {
  describe(`expected log-likelihood, ${precision}`, () => {
    test("the default is within 1e-5 up to a deviation of 3 and 1e-3 up to 10, derivatives too", async () => {
      await withCore(kind, (core) => {
        const absent = compute(core, precision, false, "closed");
        const present = compute(core, precision, true, "closed");
        grid.forEach((point, i) => {
          const allowed = point.deviation <= 3 ? 1e-5 : 1e-3;
          const at = `mean ${point.mean}, deviation ${point.deviation}`;
          // A number near 40 is itself only known to its last place.
          const rounding = precision === "f32" ? 2e-7 * Math.abs(point.mean) : 0;
          const mirrored = grid.find(
            (other) => other.mean === -point.mean && other.deviation === point.deviation,
          ) as Expected;
          expect(Math.abs(absent.value[i] - point.value), `absent, ${at}`).toBeLessThanOrEqual(allowed + rounding);
          expect(Math.abs(present.value[i] - mirrored.value), `present, ${at}`).toBeLessThanOrEqual(allowed + rounding);
          expect(Math.abs(absent.slope[i] - point.slope), `slope, ${at}`).toBeLessThanOrEqual(allowed);
          expect(Math.abs(present.slope[i] + mirrored.slope), `slope, present, ${at}`).toBeLessThanOrEqual(allowed);
          expect(Math.abs(absent.curve[i] - point.curve), `curve, ${at}`).toBeLessThanOrEqual(allowed);
          expect(Math.abs(present.curve[i] - mirrored.curve), `curve, present, ${at}`).toBeLessThanOrEqual(allowed);
          expect(Math.abs(absent.probability[i] - point.slope), `probability, ${at}`).toBeLessThanOrEqual(allowed);
        });
      });
    });

    test("rare labels keep their relative accuracy", async () => {
      await withCore(kind, (core) => {
        const { value, slope } = compute(core, precision, false, "closed");
        grid.forEach((point, i) => {
          if (point.mean > -4 || point.deviation > 1.5) return;
          expect(Math.abs(value[i] / point.value - 1), `value at ${point.mean}`).toBeLessThan(1e-3);
          expect(Math.abs(slope[i] / point.slope - 1), `slope at ${point.mean}`).toBeLessThan(1e-3);
        });
      });
    });

    test("64 Gauss-Hermite nodes agree with the reference up to a deviation of 3; variance 0 is the function itself", async () => {
      await withCore(kind, (core) => {
        const { value, slope, curve } = compute(core, precision, false, 64);
        grid.forEach((point, i) => {
          if (point.deviation > 3) return;
          const rounding = precision === "f32" ? 2e-6 + 2e-7 * Math.abs(point.mean) : 0;
          const at = `mean ${point.mean}, deviation ${point.deviation}`;
          for (const [found, exact] of [
            [value, point.value],
            [slope, point.slope],
            [curve, point.curve],
          ] as const) {
            expect(Math.abs(found[i] - exact), at).toBeLessThanOrEqual(1e-6 + rounding);
          }
        });
      });
    });

    test("the derivatives are those of the value", async () => {
      if (precision === "f32") return;
      await withCore(kind, (core) => {
        const step = 1e-5;
        const at = (mean: number, variance: number): number =>
          scoped((scope) => {
            const make = (value: number) => scope.keep(matrixFrom(core, 1, 1, [value], "f64"));
            const [rowValue, dMean, dVariance] = [make(0), make(0), make(0)];
            const positives = { rowStart: new Int32Array(2), labelIndex: new Int32Array(0) };
            expectedLogLikelihood(
              { mean: make(mean), variance: make(variance), positives },
              { rowValue, dMean, dVariance },
            );
            return rowValue.view()[0];
          });
        const { slope, curve } = compute(core, "f64", false, "closed");
        grid.forEach(({ mean, deviation }, i) => {
          if (deviation < 0.1 || Math.abs(mean) > 20) return;
          const variance = deviation ** 2;
          expect((at(mean + step, variance) - at(mean - step, variance)) / (2 * step)).toBeCloseTo(slope[i], 6);
          expect((at(mean, variance + step) - at(mean, variance - step)) / (2 * step)).toBeCloseTo(curve[i], 6);
        });
      });
    });
  });
}

for (const each of coreKinds) {
  describe(`likelihood of a batch, ${each.name}`, () => {
    test("an outer product of variances, positives anywhere, a scale, and listed labels all mean the same", async () => {
      await withCore(each, (core) => {
        fc.assert(
          fc.property(
            fc.integer({ min: 1, max: 9 }),
            fc.integer({ min: 1, max: 40 }),
            fc.nat(),
            fc.constantFrom(0, 12),
            (rows, labels, seed, nodes) => {
              const quadrature: Quadrature = nodes === 0 ? "closed" : nodes;
              const mean = randomNumbers(rows * labels, seed).map((x) => 8 * x);
              const ofRow = randomNumbers(rows, seed + 1).map(Math.abs);
              const ofLabel = randomNumbers(labels, seed + 2).map((x) => 3 * Math.abs(x));
              const chosen = randomNumbers(rows * labels, seed + 3).map((x) => (x > 0.7 ? 1 : 0));
              const rowStart = new Int32Array(rows + 1);
              const labelIndex: number[] = [];
              for (let i = 0; i < rows; i++) {
                for (let k = 0; k < labels; k++) if (chosen[i * labels + k]) labelIndex.push(k);
                rowStart[i + 1] = labelIndex.length;
              }
              const positives = { rowStart, labelIndex: Int32Array.from(labelIndex) };
              scoped((scope) => {
                const make = (m: number, n: number, values?: ArrayLike<number>) => {
                  const made = scope.keep(matrix(core, m, n, "f64"));
                  return values ? made.set(values) : made;
                };
                const outer = {
                  rowValue: make(1, rows),
                  dMean: make(rows, labels),
                  dVariance: make(rows, labels),
                };
                const common = { positives, scale: 2, quadrature };
                const factors = { ofRow: make(1, rows, ofRow), ofLabel: make(1, labels, ofLabel) };
                expectedLogLikelihood({ mean: make(rows, labels, mean), variance: factors, ...common }, outer);
                const variance = Float64Array.from(mean, (_, e) => ofRow[Math.floor(e / labels)] * ofLabel[e % labels]);
                const inPlace = { mean: make(rows, labels, mean), variance: make(rows, labels, variance) };
                const rowValue = make(1, rows);
                expectedLogLikelihood(
                  { ...inPlace, ...common },
                  { rowValue, dMean: inPlace.mean, dVariance: inPlace.variance },
                );
                expect(worst(inPlace.mean.toArray(), outer.dMean.toArray())).toBeLessThan(1e-12);
                expect(worst(inPlace.variance.toArray(), outer.dVariance.toArray())).toBeLessThan(1e-12);
                expect(worst(rowValue.toArray(), outer.rowValue.toArray())).toBeLessThan(1e-10);
              });
            },
          ),
          { numRuns: 30 },
        );
      });
    });
  });
}
