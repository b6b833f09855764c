// Products of sparse rows with sparse rows, and sums over points, against plain double loops.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ArgumentError,
  addColumnSums,
  addLabelSums,
  addMatrix,
  addSparseGram,
  addTransposeTimes,
  type Core,
  type CsrArrays,
  csr,
  matrix,
  matrixFrom,
  Pattern,
  Postings,
  type Precision,
  type Scope,
  scoped,
  sparseProducts,
  sparseQuadratic,
} from "../../src/core/index.ts";
import { coreKinds, epsilon, precisions, withCore } from "../support/cores.ts";
import { generator, randomNumbers } from "../support/numbers.ts";
import { at, dense, fill, product, transposed, worst } from "../support/reference.ts";

/** Sparse rows, some of them empty; one column in `crowded` is in nearly every row. */
function sparseRows(rows: number, columns: number, most: number, seed: number): CsrArrays {
  const next = generator(seed);
  const rowStart = [0];
  const columnIndex: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const chance = j === columns >> 1 ? 0.8 : most / columns;
      if (i % 7 === 3 || next() >= chance) continue;
      columnIndex.push(j);
      values.push(Math.fround(2 * next() - 1));
    }
    rowStart.push(columnIndex.length);
  }
  return { rows, columns, rowStart, columnIndex, values };
}

function lists(rows: number, labels: number, seed: number): { rowStart: Int32Array; labelIndex: Int32Array } {
  const next = generator(seed);
  const rowStart = [0];
  const labelIndex: number[] = [];
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < labels; k++) if (next() < 0.3) labelIndex.push(k);
    rowStart.push(labelIndex.length);
  }
  return { rowStart: Int32Array.from(rowStart), labelIndex: Int32Array.from(labelIndex) };
}

const sizes = fc.record({
  rows: fc.integer({ min: 0, max: 40 }),
  others: fc.integer({ min: 0, max: 40 }),
  columns: fc.integer({ min: 1, max: 90 }),
  labels: fc.integer({ min: 1, max: 9 }),
  width: fc.constantFrom(0, 1, 5, 16, 37),
  most: fc.integer({ min: 0, max: 12 }),
  seed: fc.nat(),
  from: fc.integer({ min: 0, max: 10 }),
});

/** Rows `from` on of a rows x columns array. */
const tail = (x: Float64Array, columns: number, from: number): Float64Array => x.slice(from * columns);
const lowerOnly = (n: number, x: Float64Array): Float64Array => fill(n, n, (i, j) => (j <= i ? at(x, n, i, j) : 0));

for (const kind of coreKinds) {
  for (const precision of precisions) {
    const tolerance = 2000 * epsilon[precision];
    describe(`kernel rows and sums, ${precision}, ${kind.name}`, () => {
      test("X Z', all of it and its lower half", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(sizes, (size) => scoped((scope) => products(core, precision, size, scope, tolerance))),
            { numRuns: 60 },
          );
        });
      });

      test("sums over points, added and taken away", async () => {
        await withCore(kind, (core) => {
          fc.assert(
            fc.property(sizes, (size) => scoped((scope) => sums(core, precision, size, scope))),
            { numRuns: 60 },
          );
        });
      });
    });
  }
}

type Sizes = typeof sizes extends fc.Arbitrary<infer T> ? T : never;

function products(core: Core, precision: Precision, size: Sizes, scope: Scope, tolerance: number): void {
  const { rows, others, columns, most, seed } = size;
  const from = Math.min(size.from, rows);
  const [xs, zs] = [sparseRows(rows, columns, most, seed), sparseRows(others, columns, most, seed + 1)];
  const [x, z] = [scope.keep(csr(core, xs, precision)), scope.keep(csr(core, zs, precision))];
  const index = scope.keep(new Postings(z));
  const out = scope.keep(matrix(core, rows - from, others, precision));
  const expected = product(rows, others, columns, dense(xs), transposed(others, columns, dense(zs)));
  expect(worst(sparseProducts(x, index, out, { from }).toArray(), tail(expected, others, from))).toBeLessThan(
    tolerance,
  );
  const own = scope.keep(new Postings(x));
  const half = scope.keep(matrix(core, rows - from, rows, precision));
  half.set(new Float64Array((rows - from) * rows).fill(7));
  const gram = product(rows, rows, columns, dense(xs), transposed(rows, columns, dense(xs)));
  const halfExpected = fill(rows, rows, (i, j) => (j <= i ? at(gram, rows, i, j) : 7));
  expect(
    worst(sparseProducts(x, own, half, { from, lower: true }).toArray(), tail(halfExpected, rows, from)),
  ).toBeLessThan(tolerance);
}

/** Every term is exact in double precision, so single and double give sums of the same quality. */
function sums(core: Core, precision: Precision, size: Sizes, scope: Scope): void {
  const { rows, columns, labels, width, most, seed } = size;
  const from = Math.min(size.from, rows);
  const tolerance = 1e-12;
  const arrays = sparseRows(rows, columns, most, seed);
  const ys = lists(rows, labels, seed + 2);
  const x = scope.keep(csr(core, arrays, precision));
  const y = scope.keep(new Pattern(core, labels, ys));
  const bs = randomNumbers((rows - from) * width, seed + 3);
  const b = scope.keep(matrixFrom(core, rows - from, width, bs, precision));
  const double = (m: number, n: number) => scope.keep(matrix(core, m, n, "f64"));
  const count = rows - from;
  const xFull = tail(dense(arrays), columns, from);
  const yFull = tail(
    dense({
      rows,
      columns: labels,
      rowStart: ys.rowStart,
      columnIndex: ys.labelIndex,
      values: ys.labelIndex.map(() => 1),
    }),
    labels,
    from,
  );
  const xTurned = transposed(count, columns, xFull);
  const yTurned = transposed(count, labels, yFull);
  const ones = new Float64Array(count).fill(1);
  const cs = randomNumbers(columns * columns, seed + 4);
  const c = scope.keep(matrixFrom(core, columns, columns, cs, precision));
  const symmetric = fill(columns, columns, (i, j) => at(cs, columns, Math.max(i, j), Math.min(i, j)));
  const range = { from };
  const cut = columns >> 1;
  const found = {
    gram: (sign: 1 | -1) => addSparseGram(x, double(columns, columns), { ...range, sign }),
    someOfGram: (sign: 1 | -1) =>
      addSparseGram(x, double(columns - cut, columns), { ...range, sign, firstColumn: cut }),
    sparse: (sign: 1 | -1) => addTransposeTimes(x, b, double(columns, width), { ...range, sign }),
    labels: (sign: 1 | -1) => addTransposeTimes(y, b, double(labels, width), { ...range, sign }),
    both: (sign: 1 | -1) => addLabelSums(y, x, double(labels, columns), { ...range, sign }),
    denseSums: (sign: 1 | -1) => addColumnSums(b, double(1, width), { sign }),
    sparseSums: (sign: 1 | -1) => addColumnSums(x, double(1, columns), { ...range, sign }),
    full: (sign: 1 | -1) => addMatrix(b, double(count, width), { sign }),
    lower: (sign: 1 | -1) => addMatrix(c, double(columns, columns), { sign, part: "lower" }),
  };
  const expected: Record<keyof typeof found, Float64Array> = {
    gram: lowerOnly(columns, product(columns, columns, count, xTurned, xFull)),
    someOfGram: tail(lowerOnly(columns, product(columns, columns, count, xTurned, xFull)), columns, cut),
    sparse: product(columns, width, count, xTurned, bs),
    labels: product(labels, width, count, yTurned, bs),
    both: product(labels, columns, count, yTurned, xFull),
    denseSums: product(1, width, count, ones, bs),
    sparseSums: product(1, columns, count, ones, xFull),
    full: bs,
    lower: lowerOnly(columns, cs),
  };
  for (const [name, sum] of Object.entries(found)) {
    for (const sign of [1, -1] as const) {
      const wanted = expected[name as keyof typeof found].map((value) => sign * value);
      expect(worst(sum(sign).toArray(), wanted), `${name} ${sign}`).toBeLessThan(tolerance);
    }
  }
  const quadratic = sparseQuadratic(x, c, scope.keep(matrix(core, 1, count, precision)), range).toArray();
  const xc = product(count, columns, columns, xFull, symmetric);
  const forms = fill(1, count, (_, i) => {
    let sum = 0;
    for (let j = 0; j < columns; j++) sum += at(xc, columns, i, j) * at(xFull, columns, i, j);
    return sum;
  });
  expect(worst(quadratic, forms), "quadratic").toBeLessThan(100 * epsilon[precision]);
}

test("arguments that do not fit are refused by name", async () => {
  await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
    scoped((scope) => {
      const x = scope.keep(csr(core, sparseRows(5, 8, 3, 1)));
      const z = scope.keep(new Postings(scope.keep(csr(core, sparseRows(4, 9, 3, 2)))));
      const out = scope.keep(matrix(core, 5, 4));
      expect(() => sparseProducts(x, z, out)).toThrow(ArgumentError);
      expect(() => sparseProducts(x, z, out)).toThrow(/z: found 9 columns, expected 8/);
      expect(() => addSparseGram(x, scope.keep(matrix(core, 8, 8)))).toThrow(/out: found f32, expected f64/);
      expect(() => addColumnSums(x, scope.keep(matrix(core, 1, 8, "f64")), { from: 3, to: 9 })).toThrow(/to:/);
    });
  });
});
