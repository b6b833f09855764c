// Factorisations of every backend by the residual ratios of LAPACK's test suite, which must stay below 30.

import { describe, expect, test } from "vitest";
import type { Backend } from "../../src/backend/backend.ts";
import { backendKinds, valuesOf } from "../support/backends.ts";
import { symmetricMatrix } from "../support/numbers.ts";
import { at, fill, oneNorm, product, transposed, worst } from "../support/reference.ts";

const THRESHOLD = 30;
const sizes = [1, 2, 5, 16, 17, 64, 100, 128];

/** Matrices with eigenvalues from 1 down to 1/condition, exact in single precision. */
const matrices = (n: number, count: number, condition: number): Float64Array[] =>
  Array.from({ length: count }, (_, i) => symmetricMatrix(n, condition, 7 * n + i).map(Math.fround));

const joined = (parts: Float64Array[]): Float64Array => Float64Array.from(parts.flatMap((part) => [...part]));
const part = (values: Float64Array, n: number, i: number): Float64Array => values.slice(i * n * n, (i + 1) * n * n);

/** |found - expected| / (n |scale| eps) */
function ratio(n: number, found: Float64Array, expected: Float64Array, scale: number, epsilon: number): number {
  const difference = fill(n, n, (i, j) => at(found, n, i, j) - at(expected, n, i, j));
  return oneNorm(n, n, difference) / (n * scale * epsilon);
}

/** Factors, inverses and log-determinants of a stack, checked one by one; returns the factors. */
async function checkStack(backend: Backend, epsilon: number, n: number, parts: Float64Array[]): Promise<void> {
  const count = parts.length;
  const stack = backend.tensor(count * n, n, joined(parts));
  const inverse = backend.tensor(count * n, n);
  const determinants = backend.tensor(1, count);
  backend.factorise(stack, count);
  backend.inverseFromFactor(stack, inverse, count);
  backend.logDeterminant(stack, determinants, count);
  expect(await backend.factorisationReport()).toEqual({ raised: 0, failed: -1 });
  const [factors, inverses, logs] = [
    await valuesOf(backend, stack),
    await valuesOf(backend, inverse),
    await valuesOf(backend, determinants),
  ];
  parts.forEach((a, i) => {
    const what = `matrix ${i} of ${count}, n = ${n}`;
    const l = part(factors, n, i);
    expect(
      worst(
        l,
        fill(n, n, (r, c) => (c > r ? 0 : at(l, n, r, c))),
      ),
      what,
    ).toBe(0);
    const back = product(n, n, n, l, transposed(n, n, l));
    expect(ratio(n, back, a, oneNorm(n, n, a), epsilon), `factor of ${what}`).toBeLessThan(THRESHOLD);
    const inv = part(inverses, n, i);
    const one = fill(n, n, (r, c) => (r === c ? 1 : 0));
    const scale = oneNorm(n, n, a) * oneNorm(n, n, inv);
    expect(ratio(n, product(n, n, n, a, inv), one, scale, epsilon), `inverse of ${what}`).toBeLessThan(THRESHOLD);
    expect(worst(inv, transposed(n, n, inv)), what).toBe(0);
    let logDeterminant = 0;
    for (let r = 0; r < n; r++) logDeterminant += 2 * Math.log(at(l, n, r, r));
    const error = Math.abs(logs[i] - logDeterminant) / (1 + Math.abs(logDeterminant));
    expect(error / epsilon, `determinant of ${what}`).toBeLessThan(THRESHOLD);
  });
  backend.free(stack, inverse, determinants);
}

for (const kind of backendKinds) {
  describe(`factorisations, ${kind.name}`, () => {
    test(`residual ratios below ${THRESHOLD}`, async () => {
      await kind.with(async (backend) => {
        for (const n of sizes) {
          for (const count of [1, 3, 30]) await checkStack(backend, kind.epsilon, n, matrices(n, count, 1e3));
        }
      });
    });

    test("the inverse may take the factor's place", async () => {
      await kind.with(async (backend) => {
        const [n, count] = [37, 2];
        const stack = backend.tensor(count * n, n, joined(matrices(n, count, 10)));
        const inverse = backend.tensor(count * n, n);
        backend.factorise(stack, count);
        backend.inverseFromFactor(stack, inverse, count);
        backend.inverseFromFactor(stack, stack, count);
        expect(worst(await valuesOf(backend, stack), await valuesOf(backend, inverse))).toBe(0);
        backend.free(stack, inverse);
      });
    });

    test("only the lower triangle is read", async () => {
      await kind.with(async (backend) => {
        for (const n of [20, 80]) {
          const [a] = matrices(n, 1, 10) as [Float64Array];
          const spoiled = fill(n, n, (i, j) => (j > i ? 1e9 : at(a, n, i, j)));
          const [one, other] = [backend.tensor(n, n, a), backend.tensor(n, n, spoiled)];
          backend.factorise(one, 1);
          backend.factorise(other, 1);
          expect(worst(await valuesOf(backend, other), await valuesOf(backend, one))).toBe(0);
          backend.free(one, other);
        }
      });
    });

    test("a matrix that needs it gets its diagonal raised; the others of its stack do not", async () => {
      await kind.with(async (backend) => {
        for (const n of [12, 90]) {
          // One eigenvalue a little below zero: 3e-6 of the mean diagonal is enough, 1e-6 is not.
          const [good] = matrices(n, 1, 10) as [Float64Array];
          const eigenvalues = Float64Array.from({ length: n }, (_, i) => (i === 0 ? -3e-6 : 1));
          const needy = symmetricMatrix(n, 1, 3, eigenvalues).map(Math.fround);
          const stack = backend.tensor(3 * n, n, joined([good, needy, good]));
          backend.factorise(stack, 3);
          expect(await backend.factorisationReport(), `n = ${n}`).toEqual({ raised: 1, failed: -1 });
          expect(await backend.factorisationReport()).toEqual({ raised: 0, failed: -1 });
          const factors = await valuesOf(backend, stack);
          const mean = fill(1, n, (_, i) => at(needy, n, i, i)).reduce((sum, x) => sum + x / n, 0);
          for (const [i, [a, lift]] of (
            [
              [good, 0],
              [needy, 1e-5 * mean],
              [good, 0],
            ] as const
          ).entries()) {
            const l = part(factors, n, i);
            const raised = fill(n, n, (r, c) => at(a, n, r, c) + (r === c ? lift : 0));
            const back = product(n, n, n, l, transposed(n, n, l));
            expect(worst(back, raised), `matrix ${i}`).toBeLessThan(n * 30 * kind.epsilon);
          }
          backend.free(stack);
        }
      });
    });

    test("a matrix that fails even so is reported by its number, and nothing becomes NaN", async () => {
      await kind.with(async (backend) => {
        for (const n of [5, 33, 100]) {
          const [good] = matrices(n, 1, 10) as [Float64Array];
          const bad = good.map((value) => -value);
          const stack = backend.tensor(3 * n, n, joined([good, good, bad]));
          const inverse = backend.tensor(3 * n, n);
          backend.factorise(stack, 3);
          backend.inverseFromFactor(stack, inverse, 3);
          expect(await backend.factorisationReport(), `n = ${n}`).toEqual({ raised: 0, failed: 2 });
          expect((await valuesOf(backend, stack)).every(Number.isFinite)).toBe(true);
          const back = part(await valuesOf(backend, stack), n, 1);
          const ratioOfGood = ratio(
            n,
            product(n, n, n, back, transposed(n, n, back)),
            good,
            oneNorm(n, n, good),
            kind.epsilon,
          );
          expect(ratioOfGood).toBeLessThan(THRESHOLD);
          backend.free(stack, inverse);
        }
      });
    });

    test("NaN and Infinity are found", async () => {
      await kind.with(async (backend) => {
        for (const n of [3, 70]) {
          for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
            const [a] = matrices(n, 1, 10) as [Float64Array];
            a[(n - 1) * n + 1] = bad;
            const stack = backend.tensor(n, n, a);
            let failed = -1;
            try {
              backend.factorise(stack, 1);
              failed = (await backend.factorisationReport()).failed;
            } catch (error) {
              // WASM looks before it factors.
              expect(String(error)).toContain("found NaN or Infinity");
              failed = 0;
            }
            expect(failed, `${bad}, n = ${n}`).toBe(0);
            backend.free(stack);
          }
        }
      });
    });
  });
}
