// Dense operations of every backend against plain double loops.

import { describe, expect, test } from "vitest";
import type { Backend, Tensor } from "../../src/backend/backend.ts";
import { backendKinds, valuesOf } from "../support/backends.ts";
import { randomNumbers } from "../support/numbers.ts";
import { at, fill, type Numbers, product, transposed, worst } from "../support/reference.ts";

/** No multiple of a tile, one exactly, one beyond. */
const shapes: [number, number, number][] = [
  [1, 1, 1],
  [3, 5, 7],
  [32, 32, 8],
  [33, 17, 40],
  [70, 95, 13],
  [5, 130, 65],
  [4, 3, 0],
  [9, 40, 1001],
];

/** A tensor that begins in the middle of another, at an offset that is no multiple of anything. */
function inside(backend: Backend, rows: number, columns: number, values: Numbers): { view: Tensor; whole: Tensor } {
  const whole = backend.tensor(rows + 2, columns);
  const view = backend.rowRange(whole, 1, rows + 1);
  backend.write(view, values);
  return { view, whole };
}

/** Rounding errors of a sum of so many products of numbers up to 1. */
const bound = (epsilon: number, terms: number): number => 2 * epsilon * (terms + 2);

for (const kind of backendKinds) {
  describe(`dense operations, ${kind.name}`, () => {
    test("gemm: all transposes, alpha, beta, shapes that fit no tile", async () => {
      await kind.with(async (backend) => {
        for (const [m, n, k] of shapes) {
          const a = randomNumbers(m * k, m + n);
          const b = randomNumbers(k * n, m + k + 1);
          const before = randomNumbers(m * n, n + k + 2);
          const right = product(m, n, k, a, b);
          for (const [transposeA, transposeB] of [
            [false, false],
            [true, false],
            [false, true],
            [true, true],
          ] as const) {
            for (const [alpha, beta] of [
              [1, 0],
              [-0.5, 1],
            ] as const) {
              const left = transposeA ? inside(backend, k, m, transposed(m, k, a)) : inside(backend, m, k, a);
              const other = transposeB ? inside(backend, n, k, transposed(k, n, b)) : inside(backend, k, n, b);
              const out = inside(backend, m, n, before);
              backend.gemm(left.view, other.view, out.view, { transposeA, transposeB, alpha, beta });
              const wanted = right.map((value, i) => alpha * value + beta * before[i]);
              const found = await valuesOf(backend, out.whole);
              expect(
                worst(found.slice(n, (m + 1) * n), wanted),
                `${m} x ${n} x ${k}, ${transposeA}, ${transposeB}, ${beta}`,
              ).toBeLessThan(bound(kind.epsilon, k));
              // Nothing beside the view was written.
              expect([...found.slice(0, n), ...found.slice((m + 1) * n)].every((value) => value === 0)).toBe(true);
              backend.free(left.whole, other.whole, out.whole);
            }
          }
        }
      });
    });

    test("syrk: A diag(w) A' and A' diag(w) A, symmetric to the bit", async () => {
      await kind.with(async (backend) => {
        for (const [n, , k] of shapes) {
          for (const transpose of [false, true]) {
            for (const weighted of [false, true]) {
              const a = randomNumbers(n * k, n + 3 * k);
              const w = randomNumbers(k, k + 9);
              const scaled = fill(n, k, (i, j) => at(a, k, i, j) * (weighted ? w[j] : 1));
              const wanted = product(n, n, k, scaled, transposed(n, k, a)).map((value) => 0.5 * value + 2);
              const left = transpose ? inside(backend, k, n, transposed(n, k, a)) : inside(backend, n, k, a);
              const weights = backend.tensor(1, k, w);
              const out = backend.tensor(n, n);
              backend.fill(out, 1);
              backend.syrk(left.view, out, {
                transpose,
                alpha: 0.5,
                beta: 2,
                ...(weighted ? { weights } : {}),
              });
              const found = await valuesOf(backend, out);
              expect(worst(found, wanted), `${n} x ${k}`).toBeLessThan(bound(kind.epsilon, k));
              expect(worst(found, transposed(n, n, found))).toBe(0);
              backend.free(left.whole, weights, out);
            }
          }
        }
      });
    });

    test("combine: full, row, column and one value, also in place", async () => {
      await kind.with(async (backend) => {
        const rules = {
          add: (x: number, y: number) => x + y,
          subtract: (x: number, y: number) => x - y,
          multiply: (x: number, y: number) => x * y,
          divide: (x: number, y: number) => x / y,
        };
        for (const [m, n] of [
          [1, 1],
          [1, 9],
          [9, 1],
          [17, 33],
        ] as const) {
          for (const [rows, columns] of [
            [m, n],
            [1, n],
            [m, 1],
            [1, 1],
          ] as const) {
            for (const [op, rule] of Object.entries(rules)) {
              const xs = randomNumbers(m * n, m);
              const ys = randomNumbers(rows * columns, n + 1).map((y) => Math.fround(y + 2));
              const wanted = fill(m, n, (i, j) =>
                rule(at(xs, n, i, j), at(ys, columns, rows === 1 ? 0 : i, columns === 1 ? 0 : j)),
              );
              const x = inside(backend, m, n, xs);
              const y = inside(backend, rows, columns, ys);
              const out = backend.tensor(m, n);
              backend.combine(op as keyof typeof rules, x.view, y.view, out);
              expect(worst(await valuesOf(backend, out), wanted), op).toBeLessThan(8 * kind.epsilon);
              backend.combine(op as keyof typeof rules, x.view, y.view, x.view);
              expect(worst(await valuesOf(backend, x.view), wanted), `${op} in x`).toBeLessThan(8 * kind.epsilon);
              if (rows === m && columns === n) {
                const again = inside(backend, m, n, xs);
                backend.combine(op as keyof typeof rules, again.view, y.view, y.view);
                expect(worst(await valuesOf(backend, y.view), wanted), `${op} in y`).toBeLessThan(8 * kind.epsilon);
                backend.free(again.whole);
              }
              backend.free(x.whole, y.whole, out);
            }
          }
        }
      });
    });

    test("blend, map and fill, also in place", async () => {
      await kind.with(async (backend) => {
        const [m, n] = [7, 41];
        const xs = randomNumbers(m * n, 1).map((x) => Math.fround(2 + x));
        const ys = randomNumbers(m * n, 2);
        const [x, y] = [inside(backend, m, n, xs), inside(backend, m, n, ys)];
        const out = backend.tensor(m, n);
        const rules = {
          exp: Math.exp,
          log: Math.log,
          square: (v: number) => v * v,
          reciprocal: (v: number) => 1 / v,
        };
        for (const [op, rule] of Object.entries(rules)) {
          const wanted = xs.map(rule);
          backend.map(op as keyof typeof rules, x.view, out);
          expect(worst(await valuesOf(backend, out), wanted), op).toBeLessThan(200 * kind.epsilon);
          backend.blend(1, x.view, 0, x.view, out);
          backend.map(op as keyof typeof rules, out, out);
          expect(worst(await valuesOf(backend, out), wanted), `${op} in place`).toBeLessThan(200 * kind.epsilon);
        }
        const wanted = xs.map((v, i) => 0.25 * v - 3 * ys[i]);
        backend.blend(0.25, x.view, -3, y.view, out);
        expect(worst(await valuesOf(backend, out), wanted)).toBeLessThan(16 * kind.epsilon);
        backend.blend(0.25, x.view, -3, y.view, y.view);
        expect(worst(await valuesOf(backend, y.view), wanted)).toBeLessThan(16 * kind.epsilon);
        // A factor of 0 means that the operand is not looked at, whatever it holds.
        backend.write(
          y.view,
          ys.map(() => Number.NaN),
        );
        backend.blend(1, x.view, 0, x.view, y.view);
        expect(await valuesOf(backend, y.view)).toEqual(Float64Array.from(xs));
        backend.fill(backend.rowRange(out, 2, 4), 0.5);
        const filled = await valuesOf(backend, out);
        expect(filled.slice(2 * n, 4 * n).every((v) => v === 0.5)).toBe(true);
        expect(filled[2 * n - 1]).not.toBe(0.5);
        backend.free(x.whole, y.whole, out);
      });
    });

    test("log near 1 keeps its relative accuracy", async () => {
      await kind.with(async (backend) => {
        const xs = Float64Array.from({ length: 200 }, (_, i) => Math.fround(1 + (i - 100) * 1e-4 + 1e-5));
        const x = backend.tensor(1, xs.length, xs);
        backend.map("log", x, x);
        const found = await valuesOf(backend, x);
        xs.forEach((value, i) => {
          const wanted = Math.log(value);
          expect(Math.abs(found[i] - wanted) / Math.abs(wanted)).toBeLessThan(4 * kind.epsilon);
        });
        backend.free(x);
      });
    });

    test("row and column sums, with and without factors", async () => {
      await kind.with(async (backend) => {
        for (const [m, n] of [
          [1, 1],
          [1, 300],
          [300, 1],
          [33, 70],
          [9, 129],
        ] as const) {
          const xs = randomNumbers(m * n, m + n);
          const ys = randomNumbers(m * n, m + n + 1);
          const x = inside(backend, m, n, xs);
          const full = inside(backend, m, n, ys);
          const ofRow = backend.tensor(1, n, ys.slice(0, n));
          const ofColumn = backend.tensor(m, 1, ys.slice(0, m));
          const rows = backend.tensor(1, m);
          const columns = backend.tensor(n, 1);
          const rule = (factor: (i: number, j: number) => number) => ({
            byRow: fill(1, m, (_, i) => sum(n, (j) => at(xs, n, i, j) * factor(i, j))),
            byColumn: fill(1, n, (_, j) => sum(m, (i) => at(xs, n, i, j) * factor(i, j))),
          });
          const check = async (out: Tensor, wanted: Float64Array, terms: number): Promise<void> =>
            expect(worst(await valuesOf(backend, out), wanted), `${m} x ${n}`).toBeLessThan(bound(kind.epsilon, terms));
          backend.rowSums(x.view, rows);
          await check(rows, rule(() => 1).byRow, n);
          backend.rowSums(x.view, rows, full.view);
          await check(rows, rule((i, j) => at(ys, n, i, j)).byRow, n);
          backend.rowSums(x.view, rows, ofRow);
          await check(rows, rule((_, j) => ys[j]).byRow, n);
          backend.columnSums(x.view, columns);
          await check(columns, rule(() => 1).byColumn, m);
          backend.columnSums(x.view, columns, full.view);
          await check(columns, rule((i, j) => at(ys, n, i, j)).byColumn, m);
          backend.columnSums(x.view, columns, ofColumn);
          await check(columns, rule((i) => ys[i]).byColumn, m);
          backend.free(x.whole, full.whole, ofRow, ofColumn, rows, columns);
        }
      });
    });

    test("transpose, diagonal, addDiagonal, gatherRows", async () => {
      await kind.with(async (backend) => {
        for (const [m, n] of [
          [1, 1],
          [3, 50],
          [17, 16],
          [40, 33],
        ] as const) {
          const xs = randomNumbers(m * n, m);
          const x = inside(backend, m, n, xs);
          const result = backend.tensor(n, m);
          backend.transpose(x.view, result);
          expect(await valuesOf(backend, result)).toEqual(transposed(m, n, xs));
          const rows = backend.indices(5);
          const chosen = Int32Array.from([m - 1, 0, m >> 1, 0, m - 1]);
          backend.writeIndices(rows, chosen);
          const gathered = backend.tensor(5, n);
          backend.gatherRows(x.view, rows, gathered);
          expect(await valuesOf(backend, gathered)).toEqual(fill(5, n, (i, j) => at(xs, n, chosen[i], j)));
          backend.free(x.whole, result, rows, gathered);
        }
        const n = 70;
        const xs = randomNumbers(n * n, 5);
        const x = inside(backend, n, n, xs);
        const row = backend.tensor(1, n);
        backend.diagonal(x.view, row);
        expect(await valuesOf(backend, row)).toEqual(fill(1, n, (_, i) => at(xs, n, i, i)));
        backend.addDiagonal(x.view, row);
        expect(await valuesOf(backend, x.view)).toEqual(fill(n, n, (i, j) => at(xs, n, i, j) * (i === j ? 2 : 1)));
        backend.free(x.whole, row);
      });
    });

    test("Adam climbs as its formula says and leaves alone what has no finite gradient", async () => {
      await kind.with(async (backend) => {
        const n = 300;
        const start = randomNumbers(n, 1);
        const gradient = randomNumbers(n, 2);
        for (const [i, bad] of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].entries())
          gradient[7 * i] = bad;
        const [p, g, first, second] = [start, gradient, undefined, undefined].map((values) =>
          backend.tensor(1, n, values),
        ) as [Tensor, Tensor, Tensor, Tensor];
        const wanted = Float64Array.from(start);
        const [m, v] = [new Float64Array(n), new Float64Array(n)];
        for (let step = 1; step <= 3; step++) {
          backend.adam(p, g, { first, second }, { rate: 0.1, step });
          gradient.forEach((value, i) => {
            if (!Number.isFinite(value)) return;
            m[i] = 0.9 * m[i] + 0.1 * value;
            v[i] = 0.999 * v[i] + 0.001 * value * value;
            const change = m[i] / (1 - 0.9 ** step);
            wanted[i] += (0.1 * change) / (Math.sqrt(v[i] / (1 - 0.999 ** step)) + 1e-8);
          });
        }
        expect(worst(await valuesOf(backend, p), wanted)).toBeLessThan(100 * kind.epsilon);
        expect(worst(await valuesOf(backend, first), m)).toBeLessThan(8 * kind.epsilon);
        expect(worst(await valuesOf(backend, second), v)).toBeLessThan(8 * kind.epsilon);
        backend.free(p, g, first, second);
      });
    });

    test("wrong shapes and freed tensors are refused by name", async () => {
      await kind.with(async (backend) => {
        const [a, b, out] = [backend.tensor(3, 4), backend.tensor(5, 6), backend.tensor(3, 6)];
        expect(() => backend.gemm(a, b, out)).toThrow("b: found 5 rows, expected 4");
        expect(() => backend.gemm(a, b, out, { transposeA: true })).toThrow("b: found 5 rows, expected 3");
        expect(() => backend.combine("add", a, b, a)).toThrow("y: found 5 x 6");
        expect(() => backend.blend(Number.NaN, a, 1, a, a)).toThrow("alpha: found NaN, expected a finite number");
        expect(() => backend.transpose(a, a)).toThrow("out: found 3 x 4, expected 4 x 3");
        expect(() => backend.factorise(a, 1)).toThrow("a: found 3 x 4, expected 1 square matrices");
        expect(() => backend.free(backend.rowRange(a, 0, 1))).toThrow("found a view");
        expect(() => backend.write(a, [1])).toThrow("values: found 1 elements, expected 12");
        const rows = backend.indices(1);
        backend.writeIndices(rows, Int32Array.of(3));
        expect(() => backend.gatherRows(a, rows, backend.rowRange(a, 0, 1))).toThrow();
        backend.free(a, b, rows);
        expect(() => backend.fill(a, 1)).toThrow("found one that was freed, expected a live one");
        backend.free(out);
      });
    });
  });
}

function sum(count: number, term: (i: number) => number): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
}
