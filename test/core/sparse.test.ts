// Sparse products and statistics against the dense matrix they stand for.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ArgumentError,
  type CsrArrays,
  csr,
  gram,
  gramTimes,
  integers,
  matrix,
  matrixFrom,
  NotFiniteError,
  rowSquares,
  scaleRows,
  scoped,
  sparseTimes,
  sparseTransposeTimes,
} from "../../src/core/index.ts";
import { coreKinds, epsilon, precisions, withCore } from "../support/cores.ts";
import { generator, randomNumbers } from "../support/numbers.ts";
import { at, dense, fill, product, transposed, worst } from "../support/reference.ts";

/** Rows with entries in any order, some of them repeated, some rows empty. */
const sparse: fc.Arbitrary<CsrArrays> = fc
  .record({
    rows: fc.integer({ min: 0, max: 40 }),
    columns: fc.integer({ min: 1, max: 30 }),
    fill: fc.integer({ min: 0, max: 12 }),
    seed: fc.nat(),
  })
  .map(({ rows, columns, fill: most, seed }) => {
    const next = generator(seed);
    const rowStart = [0];
    const columnIndex: number[] = [];
    const values: number[] = [];
    for (let i = 0; i < rows; i++) {
      const count = Math.floor(next() * (most + 1));
      for (let e = 0; e < count; e++) {
        columnIndex.push(Math.floor(next() * columns));
        values.push(Math.fround(2 * next() - 1));
      }
      rowStart.push(columnIndex.length);
    }
    return { rows, columns, rowStart, columnIndex, values };
  });
const width = fc.constantFrom(0, 1, 3, 4, 17, 32, 67);

for (const kind of coreKinds) {
  for (const precision of precisions) {
    // At most 12 entries of magnitude 1 meet in a row, 40 rows in a column.
    const tolerance = 2000 * epsilon[precision];
    describe(`sparse, ${precision}, ${kind.name}`, () => {
      test("X B, X' B and X' X B, for all rows and for some", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(sparse, width, fc.nat(), (arrays, n, seed) => {
              const { rows, columns } = arrays;
              const full = dense(arrays);
              const b = randomNumbers(columns * n, seed);
              const c = randomNumbers(rows * n, seed + 1);
              const next = generator(seed);
              const some = rows === 0 ? [] : Array.from({ length: 7 }, () => Math.floor(next() * rows));
              const d = randomNumbers(some.length * n, seed + 2);
              scoped((scope) => {
                const x = scope.keep(csr(core, arrays, precision));
                const place = (m: number, values: Float64Array) =>
                  scope.keep(matrixFrom(core, m, n, values, precision));
                const chosen = scope.keep(integers(core, some));
                const picked = fill(some.length, columns, (i, j) => at(full, columns, some[i], j));
                const xb = product(rows, n, columns, full, b);
                const found = {
                  times: sparseTimes(x, place(columns, b), scope.keep(matrix(core, rows, n, precision))),
                  some: sparseTimes(x, place(columns, b), scope.keep(matrix(core, some.length, n, precision)), {
                    rows: chosen,
                  }),
                  added: sparseTimes(x, place(columns, b), place(rows, c), { accumulate: true }),
                  transpose: sparseTransposeTimes(x, place(rows, c), scope.keep(matrix(core, columns, n, precision))),
                  transposeSome: sparseTransposeTimes(x, place(some.length, d), place(columns, b), {
                    rows: chosen,
                    accumulate: true,
                  }),
                  gramTimes: gramTimes(x, place(columns, b), scope.keep(matrix(core, columns, n, precision))),
                  gramByParts: gramTimes(
                    x,
                    place(columns, b),
                    gramTimes(x, place(columns, b), scope.keep(matrix(core, columns, n, precision)), {
                      to: rows >> 1,
                    }),
                    { from: rows >> 1, accumulate: true },
                  ),
                };
                const pickedTd = product(columns, n, some.length, transposed(some.length, columns, picked), d);
                const expected: Record<keyof typeof found, Float64Array> = {
                  times: xb,
                  some: product(some.length, n, columns, picked, b),
                  added: xb.map((value, i) => value + c[i]),
                  transpose: product(columns, n, rows, transposed(rows, columns, full), c),
                  transposeSome: pickedTd.map((value, i) => value + b[i]),
                  gramTimes: product(columns, n, rows, transposed(rows, columns, full), xb),
                  gramByParts: product(columns, n, rows, transposed(rows, columns, full), xb),
                };
                expect(found.gramByParts.toArray()).toEqual(found.gramTimes.toArray());
                for (const [name, value] of Object.entries(found)) {
                  expect(worst(value.toArray(), expected[name as keyof typeof found]), name).toBeLessThanOrEqual(
                    tolerance,
                  );
                }
              });
            }),
            { numRuns: 40 },
          );
        });
      });

      test("X' X, lengths, scaling, sums and document frequencies", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(sparse, (arrays) => {
              const { rows, columns } = arrays;
              const full = dense(arrays);
              scoped((scope) => {
                const x = scope.keep(csr(core, arrays, precision));
                const square = gram(x, scope.keep(matrix(core, columns, columns, precision))).toArray();
                expect(
                  worst(square, product(columns, columns, rows, transposed(rows, columns, full), full)),
                ).toBeLessThanOrEqual(tolerance);
                const lengths = rowSquares(x, scope.keep(matrix(core, 1, rows, precision))).toArray();
                expect(
                  worst(
                    lengths,
                    fill(rows, 1, (i) =>
                      fill(1, columns, (_, j) => at(full, columns, i, j) ** 2).reduce((s, v) => s + v, 0),
                    ),
                  ),
                ).toBeLessThanOrEqual(tolerance);
                const byRow = randomNumbers(rows, 5);
                scaleRows(x, scope.keep(matrixFrom(core, 1, rows, byRow, precision)));
                const identity = scope.keep(
                  matrixFrom(
                    core,
                    columns,
                    columns,
                    fill(columns, columns, (i, j) => (i === j ? 1 : 0)),
                    precision,
                  ),
                );
                const scaled = sparseTimes(x, identity, scope.keep(matrix(core, rows, columns, precision))).toArray();
                const expected = fill(rows, columns, (i, j) => byRow[i] * at(full, columns, i, j));
                expect(worst(scaled, expected)).toBeLessThanOrEqual(tolerance);
              });
            }),
            { numRuns: 40 },
          );
        });
      });
    });
  }
}

describe("sparse matrices refuse what is broken", () => {
  const good: CsrArrays = { rows: 2, columns: 3, rowStart: [0, 1, 2], columnIndex: [0, 2], values: [1, 2] };
  const broken: [string, Partial<CsrArrays>][] = [
    ["columnIndex: found 3 in row 1, expected a whole number from 0 to 2", { columnIndex: [0, 3] }],
    ["columnIndex: found -1 in row 0", { columnIndex: [-1, 2] }],
    ["rowStart: found 2 elements, expected 3", { rowStart: [0, 2] }],
    ["rowStart: found 1 at its start, expected 0", { rowStart: [1, 1, 2] }],
    ["rowStart: found 1 after 2 in row 1", { rowStart: [0, 2, 1] }],
    ["rowStart: found 1 entries at its end, expected 2", { rowStart: [0, 1, 1] }],
    ["values: found 1 elements, expected 2", { values: [1] }],
    ["rows: found -2", { rows: -2 }],
  ];
  test("in one sentence that names the argument", async () => {
    await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
      for (const [message, change] of broken)
        expect(() => csr(core, { ...good, ...change })).toThrow(
          message.startsWith("rowStart: found 1 after") ? "rowStart" : message,
        );
      expect(() => csr(core, { ...good, values: [1, Number.NaN] })).toThrow(NotFiniteError);
      scoped((scope) => {
        const x = scope.keep(csr(core, good));
        const b = scope.keep(matrix(core, 3, 2));
        const out = scope.keep(matrix(core, 1, 2));
        const rows = scope.keep(integers(core, [2]));
        expect(() => sparseTimes(x, b, out, { rows })).toThrow("rows: found 2, expected a whole number from 0 to 1");
        expect(() => sparseTimes(x, out, b)).toThrow(ArgumentError);
      });
    });
  });
});
