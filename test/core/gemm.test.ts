// Products against double loops, on random shapes, strides, transposes and factors.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ArgumentError,
  type Core,
  gemm,
  matrix,
  matrixFrom,
  type Precision,
  scoped,
  syrk,
} from "../../src/core/index.ts";
import { coreKinds, epsilon, precisions, withCore } from "../support/cores.ts";
import { randomNumbers } from "../support/numbers.ts";
import { at, fill, type Numbers, product, transposed } from "../support/reference.ts";

const sizes = fc.oneof(
  fc.integer({ min: 0, max: 14 }),
  fc.integer({ min: 90, max: 110 }),
  fc.constantFrom(255, 257, 300),
);
const factors = fc.constantFrom(0, 1, -1, 0.5);
const problem = fc.record({
  m: sizes,
  n: sizes,
  k: sizes,
  transposeA: fc.boolean(),
  transposeB: fc.boolean(),
  alpha: factors,
  beta: factors,
  weighted: fc.boolean(),
  gap: fc.constantFrom(0, 3),
  seed: fc.nat(),
});
type Problem = typeof problem extends fc.Arbitrary<infer P> ? P : never;

/** Every element within the error that a sum of k products may have: k + 3 roundings of the sum of their magnitudes. */
function expectClose(found: Numbers, expected: Numbers, magnitudes: Numbers, precision: Precision, k: number): void {
  let excess = 0;
  for (let i = 0; i < expected.length; i++) {
    const allowed = (k + 3) * epsilon[precision] * (1 + magnitudes[i]);
    excess = Math.max(excess, Math.abs(found[i] - expected[i]) / allowed);
  }
  expect(found.length).toBe(expected.length);
  expect(excess).toBeLessThanOrEqual(1);
}
const magnitude = (x: Float64Array): Float64Array => x.map(Math.abs);

function checkGemm(core: Core, precision: Precision, p: Problem): void {
  const [aRows, aColumns] = p.transposeA ? [p.k, p.m] : [p.m, p.k];
  const [bRows, bColumns] = p.transposeB ? [p.n, p.k] : [p.k, p.n];
  const aValues = randomNumbers(aRows * aColumns, p.seed);
  const bValues = randomNumbers(bRows * bColumns, p.seed + 1);
  const cValues = randomNumbers(p.m * p.n, p.seed + 2);
  const wValues = randomNumbers(p.k, p.seed + 3);
  const found = scoped((scope) => {
    // Blocks inside wider matrices: strides, and neighbours that must not change.
    const place = (rows: number, columns: number, values: Float64Array) =>
      scope
        .keep(matrix(core, rows, columns + p.gap, precision))
        .block(0, 0, rows, columns)
        .set(values);
    const a = place(aRows, aColumns, aValues);
    const b = place(bRows, bColumns, bValues);
    const wide = scope.keep(matrix(core, p.m, p.n + p.gap, precision));
    const c = wide.block(0, 0, p.m, p.n).set(cValues);
    const weights = scope.keep(matrixFrom(core, 1, p.k, wValues, precision));
    gemm(a, b, c, { ...p, ...(p.weighted ? { weights } : {}) });
    const edges = wide.toArray();
    for (let i = 0; i < p.m; i++) for (let j = p.n; j < p.n + p.gap; j++) expect(at(edges, p.n + p.gap, i, j)).toBe(0);
    return c.toArray();
  });
  const a = p.transposeA ? transposed(aRows, aColumns, aValues) : aValues;
  const weightedA = fill(p.m, p.k, (i, j) => at(a, p.k, i, j) * (p.weighted ? wValues[j] : 1));
  const b = p.transposeB ? transposed(bRows, bColumns, bValues) : bValues;
  const ab = product(p.m, p.n, p.k, weightedA, b);
  const expected = fill(p.m, p.n, (i, j) => p.beta * at(cValues, p.n, i, j) + p.alpha * at(ab, p.n, i, j));
  expectClose(found, expected, product(p.m, p.n, p.k, magnitude(weightedA), magnitude(b)), precision, p.k);
}

function checkSyrk(core: Core, precision: Precision, p: Problem, part: "full" | "lower"): void {
  const [rows, columns] = p.transposeA ? [p.k, p.n] : [p.n, p.k];
  const values = randomNumbers(rows * columns, p.seed);
  const start = randomNumbers(p.n * p.n, p.seed + 1);
  const wValues = randomNumbers(p.k, p.seed + 3);
  const found = scoped((scope) => {
    const a = scope.keep(matrixFrom(core, rows, columns, values, precision));
    const c = scope.keep(matrixFrom(core, p.n, p.n, start, precision));
    const weights = scope.keep(matrixFrom(core, 1, p.k, wValues, precision));
    const { alpha, beta } = p;
    syrk(a, c, { transpose: p.transposeA, alpha, beta, part, ...(p.weighted ? { weights } : {}) });
    return c.toArray();
  });
  const a = p.transposeA ? transposed(rows, columns, values) : values;
  const weighted = fill(p.n, p.k, (i, j) => at(a, p.k, i, j) * (p.weighted ? wValues[j] : 1));
  const full = product(p.n, p.n, p.k, weighted, transposed(p.n, p.k, a));
  const expected = fill(p.n, p.n, (i, j) => {
    if (j > i && part === "lower") return at(start, p.n, i, j);
    const [row, column] = j > i ? [j, i] : [i, j];
    return p.beta * at(start, p.n, row, column) + p.alpha * at(full, p.n, row, column);
  });
  const magnitudes = product(p.n, p.n, p.k, magnitude(weighted), magnitude(transposed(p.n, p.k, a)));
  expectClose(found, expected, magnitudes, precision, p.k);
}

for (const kind of coreKinds) {
  for (const precision of precisions) {
    describe(`products, ${precision}, ${kind.name}`, () => {
      test("gemm equals the double loop", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(problem, (p) => checkGemm(core, precision, p)),
            { numRuns: 60 },
          );
        });
      });
      test("A diag(w) A' equals the double loop, full or lower", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(problem, fc.constantFrom("full", "lower"), (p, part) => checkSyrk(core, precision, p, part)),
            {
              numRuns: 40,
            },
          );
        });
      });
    });
  }
}

describe("products refuse what does not fit", () => {
  test("by naming the argument", async () => {
    await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
      scoped((scope) => {
        const a = scope.keep(matrix(core, 3, 4));
        const b = scope.keep(matrix(core, 5, 2));
        const double = scope.keep(matrix(core, 4, 2, "f64"));
        const out = scope.keep(matrix(core, 3, 2));
        expect(() => gemm(a, b, out)).toThrow("b: found 5 rows, expected 4");
        expect(() => gemm(a, double, out)).toThrow("b: found f64, expected f32");
        expect(() => gemm(a, b.rowRange(0, 4), a)).toThrow("out: found 3 x 4, expected 3 x 2");
        expect(() => gemm(a, b.rowRange(0, 4), out, { alpha: Number.NaN })).toThrow(ArgumentError);
        expect(() => gemm(a, a, scope.keep(matrix(core, 3, 3)), { transposeB: true, weights: b })).toThrow(
          "weights: found",
        );
        const square = scope.keep(matrix(core, 3, 3));
        expect(() => gemm(square, square, square)).toThrow("out: found the same memory as a");
        expect(() => matrix(core, -1, 3)).toThrow("rows: found -1, expected a whole number of at least 0");
        expect(() => matrix(core, 1.5, 3)).toThrow(ArgumentError);
      });
    });
  });
});
