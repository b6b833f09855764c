// Products with a packed symmetric matrix, and what is taken from it, beside plain double loops; sizes of one block of rows and of more.

import { expect, test } from "vitest";
import { matrix, type Precision, scoped } from "../../../src/core/index.ts";
import { matrixFrom, type RealArray } from "../../../src/core/matrix.ts";
import { packedLength, packedLess, packedTimes, packLower } from "../../../src/parts/regression/packed.ts";
import { coreKinds, withCore } from "../../support/cores.ts";
import { generator } from "../../support/numbers.ts";

/** A symmetric matrix by rows, and in single or double precision. */
function symmetric(size: number, precision: Precision, next: () => number): { full: Float64Array; packed: RealArray } {
  const full = new Float64Array(size * size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j <= i; j++) {
      const value = Math.fround(next() - 0.5);
      full[i * size + j] = value;
      full[j * size + i] = value;
    }
  const packed = new (precision === "f32" ? Float32Array : Float64Array)(packedLength(size));
  for (let i = 0, at = 0; i < size; i++) for (let j = 0; j <= i; j++) packed[at++] = full[i * size + j];
  return { full, packed };
}

const largestGap = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

for (const kind of coreKinds)
  for (const precision of ["f32", "f64"] as const)
    test(`${kind.name}, ${precision}`, async () => {
      await withCore(kind, async (core) => {
        for (const size of [1, 9, 256, 257, 530]) {
          const next = generator(size);
          const tolerance = precision === "f32" ? 2e-5 : 1e-12;
          const { full, packed } = symmetric(size, precision, next);
          scoped((scope) => {
            const square = scope.keep(matrixFrom(core, size, size, full, precision));
            expect([...packLower(square)]).toEqual([...packed]);
          });
          // The second row has no entry.
          const entries = Array.from({ length: 3 }, (_, i) =>
            Array.from({ length: size }, (_, c) => c).filter(() => i !== 1 && next() < 0.2),
          );
          const columnIndex = Int32Array.from(entries.flat());
          const rowStart = Int32Array.of(0, entries[0].length, entries[0].length, columnIndex.length);
          const values = Float32Array.from(columnIndex, () => next() - 0.5);
          const product = new Float64Array(3 * size);
          for (let i = 0; i < 3; i++)
            for (let e = rowStart[i]; e < rowStart[i + 1]; e++)
              for (let j = 0; j < size; j++) product[i * size + j] += values[e] * full[columnIndex[e] * size + j];
          scoped((scope) => {
            const out = scope.keep(matrix(core, 3, size, precision));
            packedTimes({ rows: 3, columns: size, rowStart, columnIndex, values }, packed, out);
            expect(largestGap(out.toArray(), product)).toBeLessThan(tolerance);
          });
          const directions = ([1, -1] as const).map((sign, k) => {
            const factors = new (precision === "f32" ? Float32Array : Float64Array)((k + 1) * size);
            return { sign, factors: factors.map(() => Math.fround(next() - 0.5)) };
          });
          const before = packed.slice();
          const less = packedLess(core, packed, size, directions);
          expect([...packed]).toEqual([...before]);
          const expected = Float64Array.from(packed);
          for (const { sign, factors } of directions)
            for (let row = 0; row < factors.length; row += size)
              for (let i = 0, at = 0; i < size; i++)
                for (let j = 0; j <= i; j++) expected[at++] -= sign * factors[row + i] * factors[row + j];
          expect(largestGap(less, expected)).toBeLessThan(tolerance);
        }
      });
    });
