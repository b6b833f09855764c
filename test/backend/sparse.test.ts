// Products with sparse rows and with patterns of labels, of every backend, against dense double loops.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Backend } from "../../src/backend/backend.ts";
import { backendKinds, valuesOf } from "../support/backends.ts";
import { generator, randomNumbers } from "../support/numbers.ts";
import { at, dense, fill, worst } from "../support/reference.ts";

interface Rows {
  rows: number;
  columns: number;
  rowStart: Int32Array;
  columnIndex: Int32Array;
  values: Float64Array;
}

/** Rows with a few entries each, some with none, in rising order. */
function sparseRows(rows: number, columns: number, seed: number): Rows {
  const next = generator(seed);
  const rowStart = [0];
  const columnIndex: number[] = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) if (i % 5 !== 3 && next() < 0.2) columnIndex.push(j);
    rowStart.push(columnIndex.length);
  }
  return {
    rows,
    columns,
    rowStart: Int32Array.from(rowStart),
    columnIndex: Int32Array.from(columnIndex),
    values: randomNumbers(columnIndex.length, seed + 1),
  };
}

async function checkBatch(
  backend: Backend,
  tolerance: number,
  x: Rows,
  chosen: number[],
  columns: number,
): Promise<void> {
  const full = dense(x);
  const data = backend.sparse(x);
  const rows = backend.indices(chosen.length);
  backend.writeIndices(rows, Int32Array.from(chosen));
  const right = randomNumbers(x.columns * columns, 3);
  const b = backend.tensor(x.columns, columns, right);
  const out = backend.tensor(chosen.length, columns);
  backend.sparseTimes(data, rows, b, out);
  const wanted = fill(chosen.length, columns, (i, j) => {
    let sum = 0;
    for (let k = 0; k < x.columns; k++) sum += at(full, x.columns, chosen[i], k) * at(right, columns, k, j);
    return sum;
  });
  expect(worst(await valuesOf(backend, out), wanted)).toBeLessThan(tolerance);

  const left = randomNumbers(chosen.length * columns, 4);
  backend.write(out, left);
  // Twice: what the first left behind must not disturb the second.
  for (let times = 1; times <= 2; times++) {
    backend.fill(b, 1);
    backend.sparseTransposeTimes(data, rows, out, b);
    const back = fill(x.columns, columns, (k, j) => {
      let sum = 1;
      chosen.forEach((row, i) => {
        sum += at(full, x.columns, row, k) * at(left, columns, i, j);
      });
      return sum;
    });
    expect(worst(await valuesOf(backend, b), back)).toBeLessThan(tolerance);
  }
  backend.free(data, rows, b, out);
}

for (const kind of backendKinds) {
  describe(`sparse operations, ${kind.name}`, () => {
    test("products with the rows of a batch, rows repeated or not", async () => {
      await kind.with(async (backend) => {
        const tolerance = 100 * kind.epsilon;
        await checkBatch(backend, tolerance, sparseRows(1, 1, 1), [0], 1);
        await checkBatch(backend, tolerance, sparseRows(40, 90, 2), [7, 3, 39, 0, 12], 70);
        await checkBatch(backend, tolerance, sparseRows(300, 20, 3), [5, 5, 299, 5, 0, 299], 3);
        await checkBatch(backend, tolerance, sparseRows(9, 130, 4), [3], 65);
        await fc.assert(
          fc.asyncProperty(
            fc.integer({ min: 1, max: 30 }),
            fc.integer({ min: 1, max: 40 }),
            fc.integer({ min: 1, max: 20 }),
            fc.array(fc.nat(1000), { minLength: 1, maxLength: 80 }),
            fc.nat(1000),
            async (rows, columns, width, draws, seed) => {
              const chosen = draws.map((draw) => draw % rows);
              await checkBatch(backend, tolerance, sparseRows(rows, columns, seed), chosen, width);
            },
          ),
          { numRuns: 8 },
        );
      });
    });

    test("products with a pattern", async () => {
      await kind.with(async (backend) => {
        for (const [rows, labels, columns] of [
          [1, 1, 1],
          [7, 50, 9],
          [20, 33, 70],
        ] as const) {
          const { rowStart, columnIndex, values } = sparseRows(rows, labels, rows + labels);
          const entries = columnIndex.length;
          const pattern = backend.pattern(labels, { rowStart, labelIndex: columnIndex });
          expect([pattern.rows, pattern.columns, pattern.entries]).toEqual([rows, labels, entries]);
          const [left, right] = [randomNumbers(rows * columns, 1), randomNumbers(labels * columns, 2)];
          const [a, b] = [backend.tensor(rows, columns, left), backend.tensor(labels, columns, right)];
          const out = backend.tensor(1, entries);
          backend.sampledProducts(pattern, a, b, out);
          const dots: number[] = [];
          for (let i = 0; i < rows; i++) {
            for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
              let sum = 0;
              for (let j = 0; j < columns; j++) sum += at(left, columns, i, j) * at(right, columns, columnIndex[e], j);
              dots.push(sum);
            }
          }
          const tolerance = 200 * kind.epsilon;
          expect(worst(await valuesOf(backend, out), dots)).toBeLessThan(tolerance);

          const full = dense({ rows, columns: labels, rowStart, columnIndex, values });
          backend.write(out, values);
          backend.patternTimes(pattern, out, b, a);
          const times = fill(rows, columns, (i, j) => {
            let sum = 0;
            for (let k = 0; k < labels; k++) sum += at(full, labels, i, k) * at(right, columns, k, j);
            return sum;
          });
          expect(worst(await valuesOf(backend, a), times)).toBeLessThan(tolerance);

          backend.write(a, left);
          backend.fill(b, 2);
          backend.patternTransposeTimes(pattern, out, a, b);
          const back = fill(labels, columns, (k, j) => {
            let sum = 2;
            for (let i = 0; i < rows; i++) sum += at(full, labels, i, k) * at(left, columns, i, j);
            return sum;
          });
          expect(worst(await valuesOf(backend, b), back)).toBeLessThan(tolerance);
          backend.free(pattern, a, b, out);
        }
      });
    });
  });
}
