// The factor and the inverse in place: L L' = A, A inverse(A) = I in both triangles, on matrices of a known condition.

import { describe, expect, test } from "vitest";
import { factorInPlace, inverseInPlace, matrix, matrixFrom, NotPositiveError } from "../../src/core/index.ts";
import { growInverse, shrinkInverse } from "../../src/core/inverse.ts";
import { coreKinds, epsilon, precisions, withCore } from "../support/cores.ts";
import { symmetricMatrix } from "../support/numbers.ts";
import { fill, product, transposed, worst } from "../support/reference.ts";

for (const kind of coreKinds) {
  for (const precision of precisions) {
    describe(`inverse in place, ${precision}, ${kind.name}`, () => {
      test("times the matrix is the identity, for one block, several, and a part of one", async () => {
        await withCore(kind, async (core) => {
          for (const n of [0, 1, 2, 97, 256, 257, 530]) {
            const condition = 50;
            const values = symmetricMatrix(n, condition, n).map((value) => Math.fround(value));
            const a = matrixFrom(core, n, n, values, precision);
            const factor = matrixFrom(core, n, n, values, precision);
            const l = (await factorInPlace(factor)).toArray();
            factor.free();
            const square = product(n, n, n, l, transposed(n, n, l));
            expect(worst(square, values), `factor, n = ${n}`).toBeLessThanOrEqual(40 * epsilon[precision]);
            // What stands above the diagonal is not read.
            for (let i = 0; i < n; i++) a.view().fill(9, i * n + i + 1, (i + 1) * n);
            const inverse = (await inverseInPlace(a)).toArray();
            a.free();
            const identity = fill(n, n, (i, j) => (i === j ? 1 : 0));
            const error = worst(product(n, n, n, values, inverse), identity);
            expect(error, `n = ${n}`).toBeLessThanOrEqual(40 * condition * epsilon[precision]);
            expect(worst(inverse, transposed(n, n, inverse))).toBe(0);
          }
        });
      });
    });
  }
}

test("grows and shrinks to the inverse of what is there, by rows of one block and of several", async () => {
  for (const kind of coreKinds)
    await withCore(kind, async (core) => {
      for (const precision of precisions)
        for (const [n, first] of [
          [1, 0],
          [40, 39],
          [300, 30],
          [540, 270],
          [9, 9],
        ]) {
          const values = symmetricMatrix(n, 50, n).map((value) => Math.fround(value));
          const part = fill(first, first, (i, j) => values[i * n + j]);
          const whole = await inverseInPlace(matrixFrom(core, n, n, values, precision));
          const own = await inverseInPlace(matrixFrom(core, first, first, part, precision));
          const grown = matrixFrom(core, n, n, values, precision);
          for (let i = 0; i < first; i++)
            grown.block(i, 0, 1, first).set(own.toArray().slice(i * first, (i + 1) * first));
          await growInverse(grown, first);
          const most = 300 * 50 * epsilon[precision];
          expect(worst(grown.toArray(), whole.toArray()), `${n}, ${first}`).toBeLessThanOrEqual(most);
          const left = (await shrinkInverse(whole, first)).toArray();
          expect(worst(left, own.toArray()), `${n}, ${first}`).toBeLessThanOrEqual(most);
          for (const made of [whole, own, grown]) made.free();
        }
    });
});

test("a matrix that is not positive definite is refused, whichever block it fails in", async () => {
  await withCore(coreKinds[0] as (typeof coreKinds)[number], async (core) => {
    for (const bad of [3, 300]) {
      const a = matrix(core, 320, 320, "f64");
      for (let i = 0; i < 320; i++) a.view()[i * 321] = i === bad ? -1 : 1;
      await expect(inverseInPlace(a)).rejects.toThrow(NotPositiveError);
      a.free();
    }
  });
});

test("ends when its signal does, and says how far it is", async () => {
  await withCore(coreKinds[0] as (typeof coreKinds)[number], async (core) => {
    const control = new AbortController();
    const fractions: number[] = [];
    const a = matrix(core, 700, 700);
    a.set(symmetricMatrix(700, 10, 1));
    const work = inverseInPlace(a, {
      signal: control.signal,
      onProgress: ({ fraction }) => {
        fractions.push(fraction);
        if (fractions.length === 2) control.abort(new Error("enough"));
      },
    });
    await expect(work).rejects.toThrow("enough");
    expect(fractions).toEqual([0, 256 / 700]);
    a.free();
  });
});
