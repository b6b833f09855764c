// Element-wise work, reductions, selection and Adam against plain loops.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  adam,
  addDiagonal,
  blend,
  type Combination,
  columnSums,
  combine,
  convert,
  diagonal,
  gatherRows,
  integers,
  matrix,
  matrixFrom,
  rowSums,
  scoped,
  topK,
  transpose,
} from "../../src/core/index.ts";
import { coreKinds, epsilon, precisions, withCore } from "../support/cores.ts";
import { generator, randomNumbers } from "../support/numbers.ts";
import { at, fill, transposed, worst } from "../support/reference.ts";

const shape = fc.record({
  m: fc.integer({ min: 0, max: 40 }),
  n: fc.integer({ min: 1, max: 70 }),
  seed: fc.nat(),
});

const operations: Record<Combination, (x: number, y: number) => number> = {
  add: (x, y) => x + y,
  subtract: (x, y) => x - y,
  multiply: (x, y) => x * y,
  divide: (x, y) => x / y,
  maximum: Math.max,
  minimum: Math.min,
};

for (const kind of coreKinds) {
  for (const precision of precisions) {
    describe(`elements, ${precision}, ${kind.name}`, () => {
      test("combinations, with rows, columns and single values for all", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(
              shape,
              fc.constantFrom(...(Object.keys(operations) as Combination[])),
              fc.constantFrom("full", "row", "column", "one"),
              (s, op, how) => {
                const x = randomNumbers(s.m * s.n, s.seed);
                const [rows, columns] = { full: [s.m, s.n], row: [1, s.n], column: [s.m, 1], one: [1, 1] }[how] as [
                  number,
                  number,
                ];
                const y = randomNumbers(rows * columns, s.seed + 1).map((value) => value + 3);
                const found = scoped((scope) => {
                  const left = scope
                    .keep(matrix(core, s.m, s.n + 5, precision))
                    .block(0, 2, s.m, s.n)
                    .set(x);
                  const right = scope.keep(matrixFrom(core, rows, columns, y, precision));
                  return combine(op, left, right, left).toArray();
                });
                const round = precision === "f32" ? Math.fround : (value: number) => value;
                const expected = fill(s.m, s.n, (i, j) =>
                  round(
                    operations[op](at(x, s.n, i, j), round(at(y, columns, rows === 1 ? 0 : i, columns === 1 ? 0 : j))),
                  ),
                );
                expect(worst(found, expected)).toBe(0);
              },
            ),
            { numRuns: 60 },
          );
        });
      });

      test("blends, transposes, conversions, sums, diagonals and gathered rows", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(shape, (s) => {
              const x = randomNumbers(s.m * s.n, s.seed);
              const y = randomNumbers(s.m * s.n, s.seed + 1);
              const square = randomNumbers(s.n * s.n, s.seed + 2);
              const tolerance = 100 * epsilon[precision];
              scoped((scope) => {
                const a = scope.keep(matrixFrom(core, s.m, s.n, x, precision));
                const b = scope.keep(matrixFrom(core, s.m, s.n, y, precision));
                const empty = (rows: number, columns: number, as = precision) =>
                  scope.keep(matrix(core, rows, columns, as));
                expect(
                  worst(
                    blend(0.5, a, -2, b, empty(s.m, s.n)).toArray(),
                    x.map((v, i) => 0.5 * v - 2 * y[i]),
                  ),
                ).toBeLessThanOrEqual(tolerance);
                expect(worst(transpose(a, empty(s.n, s.m)).toArray(), transposed(s.m, s.n, x))).toBe(0);
                const other = precision === "f32" ? "f64" : "f32";
                expect(worst(convert(a, empty(s.m, s.n, other)).toArray(), x)).toBe(0);
                const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
                expect(
                  worst(
                    rowSums(a, empty(1, s.m)).toArray(),
                    fill(s.m, 1, (i) => sum(x.slice(i * s.n, (i + 1) * s.n))),
                  ),
                ).toBeLessThanOrEqual(tolerance);
                const dots = fill(1, s.n, (_, j) => sum(fill(s.m, 1, (i) => at(x, s.n, i, j) * at(y, s.n, i, j))));
                expect(worst(columnSums(a, empty(1, s.n), b).toArray(), dots)).toBeLessThanOrEqual(tolerance);
                const c = scope.keep(matrixFrom(core, s.n, s.n, square, precision));
                const d = diagonal(c, empty(1, s.n));
                expect(
                  worst(
                    d.toArray(),
                    fill(1, s.n, (_, j) => at(square, s.n, j, j)),
                  ),
                ).toBe(0);
                addDiagonal(c, d);
                expect(
                  worst(
                    c.toArray(),
                    fill(s.n, s.n, (i, j) => at(square, s.n, i, j) * (i === j ? 2 : 1)),
                  ),
                ).toBe(0);
                if (s.m > 0) {
                  const next = generator(s.seed);
                  const rows = Array.from({ length: 5 }, () => Math.floor(next() * s.m));
                  const gathered = gatherRows(a, scope.keep(integers(core, rows)), empty(5, s.n)).toArray();
                  expect(
                    worst(
                      gathered,
                      fill(5, s.n, (i, j) => at(x, s.n, rows[i], j)),
                    ),
                  ).toBe(0);
                }
              });
            }),
            { numRuns: 30 },
          );
        });
      });

      test("top-k equals a stable sort, ties and NaN included", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(shape, fc.integer({ min: 0, max: 8 }), fc.boolean(), (s, wanted, ties) => {
              const k = Math.min(wanted, s.n);
              const x = randomNumbers(s.m * s.n, s.seed).map((v) => (ties ? Math.round(2 * v) : v));
              if (x.length > 3) x[3] = Number.NaN;
              const found = scoped((scope) => topK(scope.keep(matrixFrom(core, s.m, s.n, x, precision)), k));
              const key = (v: number): number => (Number.isNaN(v) ? Number.NEGATIVE_INFINITY : v);
              const expected = Array.from({ length: s.m }, (_, i) => {
                const row = [...x.slice(i * s.n, (i + 1) * s.n)].map((value, j) => ({
                  value: key(value),
                  j,
                }));
                return row.sort((p, q) => q.value - p.value || p.j - q.j || 0).slice(0, k);
              }).flat();
              expect([...found.indices]).toEqual(expected.map(({ j }) => j));
              expect([...found.values]).toEqual(expected.map(({ value }) => value));
            }),
            { numRuns: 60 },
          );
        });
      });

      test("Adam equals its formulas, and stays put where the gradient is not finite", async () => {
        await withCore(kind, (core) => {
          const n = 21;
          const parameter = randomNumbers(n, 1);
          const reference = { p: [...parameter], m: Array<number>(n).fill(0), v: Array<number>(n).fill(0) };
          const found = scoped((scope) => {
            const make = () => scope.keep(matrix(core, 1, n, precision));
            const p = make().set(parameter);
            const state = { first: make(), second: make() };
            for (let step = 1; step <= 20; step++) {
              const g = randomNumbers(n, 100 + step);
              g[7] = step === 3 ? Number.NaN : g[7];
              adam(p, make().set(g), state, { rate: 0.01, step });
              g.forEach((value, i) => {
                if (!Number.isFinite(value)) return;
                reference.m[i] = 0.9 * reference.m[i] + 0.1 * value;
                reference.v[i] = 0.999 * reference.v[i] + 0.001 * value * value;
                const m = reference.m[i] / (1 - 0.9 ** step);
                const v = reference.v[i] / (1 - 0.999 ** step);
                reference.p[i] = reference.p[i] + (0.01 * m) / (Math.sqrt(v) + 1e-8);
              });
            }
            return p.toArray();
          });
          expect(worst(found, reference.p)).toBeLessThanOrEqual(200 * epsilon[precision]);
        });
      });
    });
  }
}
