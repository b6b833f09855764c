// Eigenvectors, truncated SVD and k-means by their defining properties.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CsrArrays,
  csr,
  eigenSymmetric,
  kmeans,
  matrix,
  matrixFrom,
  NotFiniteError,
  scoped,
  truncatedSvd,
} from "../../src/core/index.ts";
import { inverseRoot } from "../../src/core/spectral.ts";
import { coreKinds, epsilon, precisions, withCore } from "../support/cores.ts";
import { generator, randomNumbers, symmetricMatrix } from "../support/numbers.ts";
import { at, dense, fill, oneNorm, product, transposed, worst } from "../support/reference.ts";

const firstKind = coreKinds[0] as (typeof coreKinds)[number];
const secondKind = coreKinds[1] as (typeof coreKinds)[number];

/** Spectra that trouble eigensolvers. */
const spectra: Record<string, (n: number) => number[]> = {
  spread: (n) => Array.from({ length: n }, (_, i) => 1 - i / n),
  graded: (n) => Array.from({ length: n }, (_, i) => 10 ** (-12 * (i / n))),
  clustered: (n) => Array.from({ length: n }, (_, i) => (i < n / 2 ? 1 + i * 1e-15 : -1)),
  identity: (n) => Array<number>(n).fill(1),
  zero: (n) => Array<number>(n).fill(0),
  lowRank: (n) => Array.from({ length: n }, (_, i) => (i < 2 ? 3 - i : 0)),
};

describe("symmetric eigenvectors", () => {
  for (const [name, spectrum] of Object.entries(spectra)) {
    test(`A V' = V' L and V V' = I, ${name}`, async () => {
      await withCore(secondKind, (core) => {
        for (const n of [0, 1, 2, 3, 5, 31, 32, 33, 64, 100, 129]) {
          const a = symmetricMatrix(n, 1, n + 3, spectrum(n));
          const { values, v } = scoped((scope) => {
            const eigen = eigenSymmetric(scope.keep(matrixFrom(core, n, n, a, "f64")));
            return { values: eigen.values, v: Float64Array.from(scope.keep(eigen.vectors).toArray()) };
          });
          if (n === 0) continue;
          const scale = n * epsilon.f64 * Math.max(oneNorm(n, n, a), Number.MIN_VALUE);
          const av = product(n, n, n, a, transposed(n, n, v));
          const vl = fill(n, n, (i, j) => at(v, n, j, i) * values[j]);
          expect(worst(av, vl) / (scale || 1), `residual, n = ${n}`).toBeLessThan(30);
          const identity = fill(n, n, (i, j) => (i === j ? 1 : 0));
          expect(
            worst(product(n, n, n, v, transposed(n, n, v)), identity) / (n * epsilon.f64),
            `orthogonality, n = ${n}`,
          ).toBeLessThan(30);
          expect([...values]).toEqual([...values].sort((p, q) => q - p));
        }
      });
    });
  }
  test("only the wanted vectors, and no numbers that are not finite", async () => {
    await withCore(firstKind, (core) => {
      scoped((scope) => {
        const a = symmetricMatrix(40, 1, 3, spectra.spread?.(40));
        const all = scope.keep(eigenSymmetric(scope.keep(matrixFrom(core, 40, 40, a, "f64"))).vectors).toArray();
        const some = scope.keep(eigenSymmetric(scope.keep(matrixFrom(core, 40, 40, a, "f64")), 7).vectors).toArray();
        expect(worst(some, all.slice(0, 7 * 40))).toBeLessThan(1e-12);
        expect(() => eigenSymmetric(scope.keep(matrixFrom(core, 1, 1, [Number.NaN], "f64")))).toThrow(NotFiniteError);
        expect(() => eigenSymmetric(scope.keep(matrix(core, 2, 2, "f32")))).toThrow("a: found f32, expected f64");
      });
    });
  });
});

/** Rows that lie near a low-dimensional space, with a slowly falling tail: what documents look like. */
function documents(rows: number, columns: number, seed: number): CsrArrays {
  const next = generator(seed);
  const rowStart = [0];
  const columnIndex: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < rows; i++) {
    const topic = Math.floor(next() * 12);
    const seen = new Set<number>();
    for (let e = 0; e < 15; e++) {
      const word =
        next() < 0.6 ? (topic * 31 + Math.floor(next() ** 2 * 30)) % columns : Math.floor(columns * next() ** 3);
      if (!seen.has(word)) {
        seen.add(word);
        columnIndex.push(word);
        values.push(Math.fround(0.2 + next()));
      }
    }
    rowStart.push(columnIndex.length);
  }
  return { rows, columns, rowStart, columnIndex, values };
}

/** Columns of y (n x k) made orthonormal, twice for safety. */
function orthonormal(n: number, k: number, y: Float64Array): Float64Array {
  for (let turn = 0; turn < 2; turn++) {
    for (let j = 0; j < k; j++) {
      for (let p = 0; p <= j; p++) {
        let inner = 0;
        for (let i = 0; i < n; i++) inner += at(y, k, i, p) * at(y, k, i, j);
        for (let i = 0; i < n; i++) {
          y[i * k + j] = p === j ? at(y, k, i, j) / Math.sqrt(inner) : at(y, k, i, j) - inner * at(y, k, i, p);
        }
      }
    }
  }
  return y;
}

/** |X - X V V'|_F for V with orthonormal columns. */
function leftOver(m: number, n: number, k: number, x: Float64Array, v: Float64Array): number {
  const back = product(m, n, k, product(m, k, n, x, v), transposed(n, k, v));
  return Math.sqrt(x.reduce((sum, value, i) => sum + (value - back[i]) ** 2, 0));
}

/** Randomised SVD with power iterations, as Halko, Martinsson and Tropp have it: its right space. */
function randomised(m: number, n: number, x: Float64Array, rank: number, iterations: number): Float64Array {
  const width = rank + 10;
  let q = orthonormal(m, width, product(m, width, n, x, randomNumbers(n * width, 99)));
  for (let i = 0; i < iterations; i++) {
    const z = orthonormal(n, width, product(n, width, m, transposed(m, n, x), q));
    q = orthonormal(m, width, product(m, width, n, x, z));
  }
  // The right space of Q Q' X, cut to the rank by orthogonal iteration on its small side.
  const b = product(n, width, m, transposed(m, n, x), q);
  let s = orthonormal(width, rank, randomNumbers(width * rank, 5).slice());
  const gram = product(width, width, n, transposed(n, width, b), b);
  for (let i = 0; i < 300; i++) s = orthonormal(width, rank, product(width, rank, width, gram, s));
  return orthonormal(n, rank, product(n, rank, width, b, s));
}

describe("truncated SVD", () => {
  const [rows, columns, rank] = [150, 90, 20];
  const arrays = documents(rows, columns, 5);
  const x = dense(arrays);
  for (const precision of precisions) {
    test(`no worse than randomised SVD with four power iterations, orthonormal, ${precision}`, async () => {
      await withCore(secondKind, async (core) => {
        const sparse = csr(core, arrays, precision);
        const { right, singularValues, residual } = await truncatedSvd(sparse, { rank, oversample: 10 });
        const v = Float64Array.from(right.toArray());
        for (const m of [sparse, right]) m.free();
        const identity = fill(rank, rank, (i, j) => (i === j ? 1 : 0));
        expect(worst(product(rank, rank, columns, transposed(columns, rank, v), v), identity)).toBeLessThan(1e-6);
        const ours = leftOver(rows, columns, rank, x, v);
        const theirs = leftOver(rows, columns, rank, x, randomised(rows, columns, x, rank, 4));
        expect(ours).toBeLessThanOrEqual(theirs * (1 + (precision === "f32" ? 1e-6 : 1e-9)));
        const norm = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
        expect(Math.abs(residual - ours / norm)).toBeLessThan(1e-5);
        // X v = sigma u
        const xv = product(rows, rank, columns, x, v);
        const lengths = fill(1, rank, (_, j) =>
          Math.sqrt(fill(rows, 1, (i) => at(xv, rank, i, j) ** 2).reduce((s, value) => s + value, 0)),
        );
        expect(worst(lengths, singularValues)).toBeLessThan(1e-4);
      });
    });
  }

  test("numbers of any size give vectors or a sentence, and an end", async () => {
    for (const precision of precisions)
      await withCore(firstKind, async (core) => {
        for (const size of [1e-38, 1e-20, 1e9, 1e18, 1e20, 3e38]) {
          const rows = csr(
            core,
            {
              rows: 6,
              columns: 8,
              rowStart: Array.from({ length: 7 }, (_, i) => 4 * i),
              columnIndex: Array.from({ length: 24 }, (_, e) => 2 * (e % 4) + (e % 3 === 0 ? 1 : 0)),
              values: Array.from({ length: 24 }, (_, e) => (e % 5 < 2 ? -size : size)),
            },
            precision,
          );
          const found = await truncatedSvd(rows, { rank: 5 }).catch((error) => error as Error);
          if (found instanceof Error) expect(found).toBeInstanceOf(NotFiniteError);
          else expect(found.singularValues.every(Number.isFinite)).toBe(true);
          expect(found instanceof Error).toBe(precision === "f32" && size > 1e18);
          if (!(found instanceof Error)) found.right.free();
          rows.free();
        }
      });
  });

  test("sparse and dense routes, rank deficiency, full rank, cancelling and progress", async () => {
    await withCore(firstKind, async (core) => {
      // Wide and nearly empty: takes the sparse route.
      const wide = csr(core, {
        rows: 40,
        columns: 3000,
        rowStart: Array.from({ length: 41 }, (_, i) => 2 * i),
        columnIndex: Array.from({ length: 80 }, (_, e) => (e * 37) % 3000).sort((p, q) => p - q),
        values: Array.from({ length: 80 }, (_, e) => 1 + (e % 7)),
      });
      const thin = await truncatedSvd(wide, { rank: 40 });
      expect(thin.residual).toBeLessThan(1e-3);
      // Twenty equal rows have rank one.
      const flat = csr(core, {
        rows: 20,
        columns: 9,
        rowStart: Array.from({ length: 21 }, (_, i) => 3 * i),
        columnIndex: Array.from({ length: 60 }, (_, e) => (e % 3) * 2),
        values: Array.from({ length: 60 }, () => 1),
      });
      const one = await truncatedSvd(flat, { rank: 5 });
      expect(one.singularValues[0]).toBeCloseTo(Math.sqrt(60), 4);
      expect(one.singularValues[1]).toBeLessThan(1e-2);
      const v = Float64Array.from(one.right.toArray());
      expect(
        worst(
          product(5, 5, 9, transposed(9, 5, v), v),
          fill(5, 5, (i, j) => (i === j ? 1 : 0)),
        ),
      ).toBeLessThan(1e-5);
      const abort = new AbortController();
      const stages: string[] = [];
      const cancelled = truncatedSvd(flat, {
        rank: 3,
        signal: abort.signal,
        onProgress: ({ stage }) => {
          stages.push(stage);
          abort.abort(new Error("enough"));
        },
      });
      await expect(cancelled).rejects.toThrow("enough");
      expect(stages).toEqual(["singular vectors"]);
      await expect(truncatedSvd(flat, { rank: 10 })).rejects.toThrow(
        "rank: found 10, expected a whole number from 1 to 9",
      );
      for (const m of [wide, thin.right, flat, one.right]) m.free();
    });
  });
});

describe("k-means", () => {
  for (const kind of coreKinds.slice(0, 2)) {
    for (const precision of precisions) {
      test(`every row goes to its nearest centre, every centre is its rows' mean, ${precision}, ${kind.name}`, async () => {
        await withCore(kind, async (core) => {
          const [rows, columns] = [130, 11];
          const x = randomNumbers(rows * columns, 3).map((value, e) =>
            Math.fround(value + 4 * (Math.floor(e / columns) % 5)),
          );
          const points = matrixFrom(core, rows, columns, x, precision);
          const found = await kmeans(points, { clusters: 5, iterations: 50, tolerance: 0 });
          checkClusters(rows, columns, x, found, precision);
          expect(new Set(found.assignments).size).toBe(5);
          found.centres.free();
          points.free();
        });
      });
      test(`sparse rows give what the same dense rows give, ${precision}, ${kind.name}`, async () => {
        await withCore(kind, async (core) => {
          const arrays = documents(90, 40, 8);
          const sparse = csr(core, arrays, precision);
          const full = matrixFrom(core, 90, 40, dense(arrays), precision);
          const options = { clusters: 7, seed: 4, tolerance: 0, iterations: 40 };
          const a = await kmeans(sparse, options);
          const b = await kmeans(full, options);
          expect(a.inertia / b.inertia).toBeCloseTo(1, 2);
          checkClusters(90, 40, dense(arrays), a, precision);
          for (const m of [sparse, full, a.centres, b.centres]) m.free();
        });
      });
    }
  }

  test("repeated rows leave no cluster empty; too many clusters are refused", async () => {
    await withCore(firstKind, async (core) => {
      const repeated = matrixFrom(
        core,
        12,
        2,
        [...Array(12).keys()].flatMap((i) => [i % 3, 1]),
      );
      const found = await kmeans(repeated, { clusters: 6, seed: 1 });
      expect(found.inertia).toBeLessThan(1e-6);
      expect([...found.centres.toArray()].every(Number.isFinite)).toBe(true);
      await expect(kmeans(repeated, { clusters: 13 })).rejects.toThrow(
        "clusters: found 13, expected no more than the 12 rows",
      );
      for (const m of [repeated, found.centres]) m.free();
    });
  });
});

function checkClusters(
  rows: number,
  columns: number,
  x: Float64Array,
  found: {
    centres: { toArray(): ArrayLike<number>; rows: number };
    assignments: Int32Array;
    inertia: number;
  },
  precision: "f32" | "f64",
): void {
  const centres = found.centres.toArray();
  const distance = (i: number, c: number): number => {
    let sum = 0;
    for (let j = 0; j < columns; j++) sum += (at(x, columns, i, j) - at(centres, columns, c, j)) ** 2;
    return sum;
  };
  const slack = precision === "f32" ? 1e-3 : 1e-9;
  let inertia = 0;
  const sums = fill(found.centres.rows, columns, () => 0);
  const counts = new Float64Array(found.centres.rows);
  for (let i = 0; i < rows; i++) {
    const own = distance(i, found.assignments[i]);
    for (let c = 0; c < found.centres.rows; c++) expect(own).toBeLessThanOrEqual(distance(i, c) + slack);
    inertia += own;
    const c = found.assignments[i];
    counts[c] = counts[c] + 1;
    for (let j = 0; j < columns; j++) sums[c * columns + j] = sums[c * columns + j] + at(x, columns, i, j);
  }
  expect(Math.abs(found.inertia - inertia) / inertia).toBeLessThan(slack);
  const means = fill(found.centres.rows, columns, (c, j) => at(sums, columns, c, j) / counts[c]);
  expect(worst(centres, means)).toBeLessThan(slack);
}

describe("svd of random sparse matrices", () => {
  test("captures what the best subspace captures", async () => {
    await withCore(firstKind, async (core) => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 2, max: 30 }),
          fc.integer({ min: 2, max: 25 }),
          fc.nat(),
          async (rows, columns, seed) => {
            const arrays = documents(rows, columns, seed);
            const rank = Math.min(rows, columns, 4);
            const sparse = csr(core, arrays, "f64");
            const { right, singularValues } = await truncatedSvd(sparse, {
              rank,
              iterations: 60,
              tolerance: 0,
            });
            const x = dense(arrays);
            const exact = scoped((scope) => {
              const square = scope.keep(
                matrixFrom(
                  core,
                  columns,
                  columns,
                  product(columns, columns, rows, transposed(rows, columns, x), x),
                  "f64",
                ),
              );
              const { values, vectors } = eigenSymmetric(square, 0);
              vectors.free();
              return values;
            });
            singularValues.forEach((value, i) => {
              expect(value ** 2).toBeCloseTo(Math.max(0, exact[i]), 5);
            });
            right.free();
            sparse.free();
          },
        ),
        { numRuns: 15 },
      );
    });
  });
});

describe("the inverse root", () => {
  test("turns a matrix of any scale into the identity, but for the ridge", async () => {
    await withCore(firstKind, (core) => {
      const n = 17;
      for (const scale of [1e-6, 1, 1e6]) {
        const b = randomNumbers(n * n, 5);
        // A = B B' + I
        const a = new Float64Array(n * n);
        for (let i = 0; i < n; i++)
          for (let j = 0; j < n; j++) {
            let sum = i === j ? 1 : 0;
            for (let k = 0; k < n; k++) sum += b[i * n + k] * b[j * n + k];
            a[i * n + j] = scale * sum;
          }
        const root = inverseRoot(core, a, n, 1e-4);
        const ridge = (1e-4 * a.filter((_, at) => at % (n + 1) === 0).reduce((x, y) => x + y)) / n;
        // T (A + ridge I) T = I, T symmetric
        for (let i = 0; i < n; i++)
          for (let j = 0; j < n; j++) {
            let sum = 0;
            for (let k = 0; k < n; k++)
              for (let l = 0; l < n; l++) {
                const entry = a[k * n + l] + (k === l ? ridge : 0);
                sum += root[i * n + k] * entry * root[l * n + j];
              }
            expect(Math.abs(sum - (i === j ? 1 : 0))).toBeLessThan(1e-10);
          }
      }
    });
  });

  test("takes a matrix without full rank", async () => {
    await withCore(firstKind, (core) => {
      const root = inverseRoot(core, new Float64Array(25).fill(3), 5, 1e-4);
      expect(root.every(Number.isFinite)).toBe(true);
    });
  });
});
