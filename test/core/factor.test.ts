// Factorisations by the residual ratios of LAPACK's test suite, which must stay below 30.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Core,
  cholesky,
  FACTORED,
  inverseFromFactor,
  logDeterminant,
  matrix,
  matrixFrom,
  NotFiniteError,
  type Precision,
  scoped,
  solveInTurns,
  solveTriangular,
} from "../../src/core/index.ts";
import { coreKinds, epsilon, precisions, withCore } from "../support/cores.ts";
import { randomNumbers, symmetricMatrix } from "../support/numbers.ts";
import { at, fill, oneNorm, product, transposed, worst } from "../support/reference.ts";

const THRESHOLD = 30;
const sizes = [0, 1, 2, 3, 5, 10, 50, 127, 128, 129, 256, 400, 512, 1000];

/** Single precision cannot hold a matrix better than it rounds it: its test matrix is the rounded one. */
const rounded = (a: Float64Array, precision: Precision): Float64Array => (precision === "f32" ? a.map(Math.fround) : a);

/** |found - expected| / (n |scale| eps), 0 for an empty problem. */
function ratio(n: number, found: Float64Array, expected: Float64Array, scale: number, precision: Precision): number {
  if (n === 0) return 0;
  const difference = fill(n, n, (i, j) => at(found, n, i, j) - at(expected, n, i, j));
  return oneNorm(n, n, difference) / (n * scale * epsilon[precision]);
}

/** Residuals of one matrix: of its factor, of its inverse, of its log-determinant. */
function residuals(core: Core, precision: Precision, n: number, condition: number): Record<string, number> {
  const a = rounded(symmetricMatrix(n, condition, 7 * n + 1), precision);
  const { l, inverse, logDet } = scoped((scope) => {
    const factor = scope.keep(matrixFrom(core, n, n, a, precision));
    expect([...cholesky(factor)]).toEqual([FACTORED]);
    const out = scope.keep(matrix(core, n, n, precision));
    inverseFromFactor(factor, out);
    const logDet = logDeterminant(factor, scope.keep(matrix(core, 1, 1, precision))).toArray();
    return {
      l: Float64Array.from(factor.toArray()),
      inverse: Float64Array.from(out.toArray()),
      logDet: logDet[0],
    };
  });
  let above = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) above += Math.abs(at(l, n, i, j));
  expect(above).toBe(0);
  const identity = fill(n, n, (i, j) => (i === j ? 1 : 0));
  let reference = 0;
  for (let i = 0; i < n; i++) reference += 2 * Math.log(at(l, n, i, i));
  return {
    factor: ratio(n, product(n, n, n, l, transposed(n, n, l)), a, oneNorm(n, n, a), precision),
    inverse: ratio(n, product(n, n, n, a, inverse), identity, oneNorm(n, n, a) * oneNorm(n, n, inverse), precision),
    symmetry: worst(inverse, transposed(n, n, inverse)),
    logDeterminant: Math.abs(logDet - reference) / (1 + Math.abs(reference)) / epsilon[precision],
  };
}

for (const precision of precisions) {
  describe(`Cholesky, ${precision}`, () => {
    for (const kind of coreKinds) {
      test(`residual ratios below ${THRESHOLD} up to n = 512, ${kind.name}`, async () => {
        await withCore(kind, (core) => {
          for (const n of sizes.filter((size) => size <= (kind === coreKinds[0] ? 512 : 256))) {
            for (const condition of [1, 1e3, 1e6]) {
              for (const [what, value] of Object.entries(residuals(core, precision, n, condition))) {
                expect(value, `${what}, n = ${n}, condition ${condition}`).toBeLessThan(THRESHOLD);
              }
            }
          }
        });
      });
    }
    test(`residual ratios below ${THRESHOLD} for n = 1000, two threads`, { tags: "long" }, async () => {
      await withCore(coreKinds[1] as (typeof coreKinds)[number], (core) => {
        for (const value of Object.values(residuals(core, precision, 1000, 1e6))) expect(value).toBeLessThan(THRESHOLD);
      });
    });

    for (const kind of coreKinds) {
      test(`a batch equals its matrices one by one, ${kind.name}`, async () => {
        await withCore(kind, (core) => {
          for (const [count, n] of [
            [1, 70],
            [3, 65],
            [7, 20],
            [0, 4],
          ] as const) {
            const values = Float64Array.from({ length: count }, (_, i) => i).reduce<number[]>((all, i) => {
              all.push(...symmetricMatrix(n, 100, i));
              return all;
            }, []);
            scoped((scope) => {
              const stack = scope.keep(matrixFrom(core, count * n, n, values, precision));
              const singles = scope.keep(matrixFrom(core, count * n, n, values, precision));
              expect([...cholesky(stack, count)]).toEqual(Array(count).fill(FACTORED));
              for (let i = 0; i < count; i++) cholesky(singles.rowRange(i * n, (i + 1) * n));
              expect(stack.toArray()).toEqual(singles.toArray());
              inverseFromFactor(stack, stack, count);
              for (let i = 0; i < count; i++) {
                const one = singles.rowRange(i * n, (i + 1) * n);
                inverseFromFactor(one, one);
              }
              expect(stack.toArray()).toEqual(singles.toArray());
            });
          }
        });
      });
    }

    test("a matrix that is not positive definite reports its first bad pivot and stays finite", async () => {
      await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
        fc.assert(
          fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), fc.constantFrom(-1, -1e-3), (n, seed, bad) => {
            const pivot = seed % n;
            // L D L' with one negative D: the leading minors before it are positive.
            const lower = fill(n, n, (i, j) => (i === j ? 1 : j < i ? randomNumbers(1, seed + i * n + j)[0] / n : 0));
            const scaled = fill(n, n, (i, j) => at(lower, n, i, j) * (j === pivot ? bad : 1));
            const a = product(n, n, n, scaled, transposed(n, n, lower));
            const { status, values } = scoped((scope) => {
              const m = scope.keep(matrixFrom(core, n, n, a, precision));
              return { status: cholesky(m)[0], values: m.toArray() };
            });
            expect(status).toBe(pivot);
            expect(values.every(Number.isFinite)).toBe(true);
          }),
          { numRuns: 15 },
        );
      });
    });

    test("zero pivots, and numbers that are not finite", async () => {
      await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
        scoped((scope) => {
          const zero = scope.keep(matrix(core, 5, 5, precision));
          expect([...cholesky(zero)]).toEqual([0]);
          for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
            const m = scope.keep(matrixFrom(core, 2, 2, [1, 0, bad, 1], precision));
            expect(() => cholesky(m)).toThrow(NotFiniteError);
            expect(() => cholesky(m)).toThrow("a: found NaN or Infinity");
            // Above the diagonal nothing is read.
            expect([...cholesky(m.set([4, bad, 0, 9]))]).toEqual([FACTORED]);
          }
          expect(() => cholesky(scope.keep(matrix(core, 3, 2, precision)))).toThrow("a: found 3 x 2");
        });
      });
    });
  });

  describe(`triangular solves, ${precision}`, () => {
    for (const kind of coreKinds) {
      test(`T X = B and X T = B from every side, ${kind.name}`, async () => {
        await withCore(kind, (core) => {
          for (const n of sizes.filter((size) => size <= 512)) {
            for (const side of ["left", "right"] as const) {
              for (const triangle of ["lower", "upper"] as const) {
                for (const transpose of [false, true]) {
                  if (n > 129 && transpose !== (triangle === "upper")) continue;
                  checkSolve(core, precision, n, n % 7 === 1 ? 1 : 17, side, triangle, transpose);
                }
              }
            }
          }
        });
      });
    }
  });
}

function checkSolve(
  core: Core,
  precision: Precision,
  n: number,
  many: number,
  side: "left" | "right",
  triangle: "lower" | "upper",
  transpose: boolean,
): void {
  const noise = randomNumbers(n * n, n + 5);
  // Well away from singular, with nonsense in the triangle that must not be read.
  const inside = (i: number, j: number): boolean => (triangle === "lower" ? j <= i : j >= i);
  const t = fill(n, n, (i, j) =>
    i === j ? 1 + Math.abs(at(noise, n, i, j)) : at(noise, n, i, j) / (inside(i, j) ? Math.sqrt(n) : 1),
  );
  const [rows, columns] = side === "left" ? [n, many] : [many, n];
  const b = randomNumbers(rows * columns, n + 9);
  const x = scoped((scope) => {
    const factor = scope.keep(matrixFrom(core, n, n, t.map(Math.fround), precision));
    const wide = scope
      .keep(matrix(core, rows, columns + 2, precision))
      .block(0, 1, rows, columns)
      .set(b);
    return Float64Array.from(solveTriangular(factor, wide, { side, triangle, transpose }).toArray());
  });
  const clean = fill(n, n, (i, j) => (inside(i, j) ? Math.fround(at(t, n, i, j)) : 0));
  const m = transpose ? transposed(n, n, clean) : clean;
  const back = side === "left" ? product(n, many, n, m, x) : product(many, n, n, x, m);
  if (n === 0) return;
  const residual = oneNorm(
    rows,
    columns,
    fill(rows, columns, (i, j) => at(back, columns, i, j) - at(b, columns, i, j)),
  );
  const scale = oneNorm(n, n, m) * oneNorm(rows, columns, x) * epsilon[precision];
  expect(residual / scale, `${side} ${triangle} ${transpose} n = ${n}`).toBeLessThan(THRESHOLD);
}

describe.each(coreKinds)("$name", (kind) => {
  test.each(["lower", "upper"] as const)("a solve in turns gives the same bits, %s", async (triangle) => {
    const n = 700; // two whole blocks of the kernel and a part
    await withCore(kind, async (core) => {
      for (const transpose of [false, true])
        await scoped(async (scope) => {
          const numbers = randomNumbers(n * 5, 2);
          const t = scope.keep(matrixFrom(core, n, n, randomNumbers(n * n, 1)));
          for (let i = 0; i < n; i++) t.view()[i * (n + 1)] = n;
          const [atOnce, turns] = [0, 1].map(() => scope.keep(matrixFrom(core, n, 5, numbers)));
          solveTriangular(t, atOnce, { triangle, transpose });
          await solveInTurns(t, turns, { triangle, transpose });
          expect(turns.toArray()).toEqual(atOnce.toArray());
        });
    });
  });
});
