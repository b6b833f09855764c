// How much is computed between two moments at which a cancellation is heard: counted in products, never timed.

import { describe, expect, test } from "vitest";
import type { WorkOptions } from "../../src/base/progress.ts";
import { type Core, createCore } from "../../src/core/core.ts";
import { type Csr, csr } from "../../src/core/csr.ts";
import { solveInTurns } from "../../src/core/factor.ts";
import { factorInPlace, inverseInPlace } from "../../src/core/inverse.ts";
import { kmeans } from "../../src/core/kmeans.ts";
import { type Matrix, matrixFrom } from "../../src/core/matrix.ts";
import { truncatedSvd } from "../../src/core/spectral.ts";
import { generator, randomNumbers } from "../support/numbers.ts";

/** Products between two looks at the signal: half a second for a thread that does one of them a nanosecond. */
const MOST_PRODUCTS = 5e8;

type Products = (...sizes: number[]) => number;

/** Products of a call by its sizes; of all other kernels the first two sizes, which are rows and columns. */
const PRODUCTS: Readonly<Record<string, Products>> = {
  gemm: (m, n, k) => m * n * k,
  cholesky: (count, n) => (count * n ** 3) / 3,
  inverseFromFactor: (count, n) => count * n ** 3,
  solveLower: (n, m, ...[, , , , , , from, to]) => ((to - from) * (2 * n - from - to) * m) / 2,
  eigenSymmetric: (n) => 4 * n ** 3,
};

/** Kernels that multiply a sparse matrix, by where its rows, its starts and the columns of the other stand in their arguments. */
const SPARSE: Readonly<Record<string, readonly [rows: number, start: number, columns: number, times: number]>> = {
  sparseTimes: [0, 1, 5, 1],
  sparseTransposeTimes: [0, 1, 5, 1],
  sparseGramTimes: [0, 1, 4, 2],
};

/** Counts the products of a core's kernels, and how many there are at most between two looks at a signal. */
class Watch {
  most = 0;
  total = 0;
  #since = 0;
  readonly options: WorkOptions;

  constructor(core: Core) {
    const signal = { throwIfAborted: () => this.#look() } as AbortSignal;
    this.options = { signal };
    const kernels = core.kernels as unknown as Record<string, object>;
    for (const precision of ["f32", "f64"]) kernels[precision] = this.#counted(core, kernels[precision] as object);
    Object.assign(core, { kernels: this.#counted(core, kernels) });
  }

  #look(): void {
    this.most = Math.max(this.most, this.#since);
    this.#since = 0;
  }

  #counted(core: Core, kernels: object): object {
    return new Proxy(kernels, {
      get: (target, name: string) => {
        const kernel: unknown = Reflect.get(target, name);
        if (typeof kernel !== "function") return kernel;
        return (...args: number[]) => {
          const products = productsOf(core, name, args);
          this.#since += products;
          this.total += products;
          return kernel.apply(target, args);
        };
      },
    });
  }

  /** Runs a piece of work and says what was counted. */
  async during(work: (options: WorkOptions) => Promise<unknown>): Promise<{ most: number; total: number }> {
    this.most = this.total = this.#since = 0;
    await work(this.options);
    this.#look();
    return { most: this.most, total: this.total };
  }
}

function productsOf({ memory }: Core, name: string, args: readonly number[]): number {
  const sparse = SPARSE[name];
  if (sparse === undefined) {
    const [rows = 1, columns = 1] = args;
    return PRODUCTS[name]?.(...args) ?? rows * (columns < 1e5 ? columns : 1);
  }
  const [rows, start, columns, times] = sparse.map((place, i) => (i < 3 ? args[place] : place));
  const starts = new Int32Array(memory.buffer, start as number, (rows as number) + 1);
  return (starts[rows as number] - starts[0]) * (columns as number) * (times as number);
}

/** Diagonally dominant, so positive definite. */
function positive(core: Core, n: number): Matrix {
  const numbers = randomNumbers(n * n, 1);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) numbers[j * n + i] = numbers[i * n + j];
    numbers[i * n + i] = 2 * n;
  }
  return matrixFrom(core, n, n, numbers, "f32");
}

/** Sparse rows of so many entries each, spread over the columns. */
function sparseRows(core: Core, rows: number, columns: number, each: number): Csr {
  const next = generator(2);
  const width = columns / each;
  const columnIndex = Int32Array.from(
    { length: rows * each },
    (_, i) => width * (i % each) + Math.floor(width * next()),
  );
  return csr(core, {
    rows,
    columns,
    rowStart: Int32Array.from({ length: rows + 1 }, (_, i) => i * each),
    columnIndex,
    values: Float32Array.from(columnIndex, () => next()),
  });
}

/** Work on a core, and a check of how often it looked up. */
async function check(work: (core: Core, options: WorkOptions) => Promise<unknown>): Promise<void> {
  const core = await createCore({ threads: 1 });
  try {
    const { most, total } = await new Watch(core).during((options) => work(core, options));
    expect(total).toBeGreaterThan(1.5 * MOST_PRODUCTS); // else it says nothing
    expect(most).toBeLessThanOrEqual(MOST_PRODUCTS);
  } finally {
    core.dispose();
  }
}

describe("a cancellation is heard", () => {
  test(
    "while a matrix is inverted",
    () => check((core, options) => inverseInPlace(positive(core, 1024), options)),
    60_000,
  );

  test(
    "while a matrix is factorised",
    () => check((core, options) => factorInPlace(positive(core, 1536), options)),
    60_000,
  );

  test(
    "while a triangle is solved for many columns",
    () =>
      check((core, options) => {
        const l = positive(core, 3000);
        return solveInTurns(l, matrixFrom(core, 3000, 256, randomNumbers(3000 * 256, 4)), options);
      }),
    60_000,
  );

  test(
    "while singular vectors are computed",
    () =>
      check((core, options) =>
        truncatedSvd(sparseRows(core, 4000, 3000, 20), { ...options, rank: 300, iterations: 4 }),
      ),
    60_000,
  );

  test(
    "while rows are clustered",
    () =>
      check((core, options) => {
        const rows = matrixFrom(core, 6000, 100, randomNumbers(600_000, 3), "f32");
        return kmeans(rows, { ...options, clusters: 1000, iterations: 1 });
      }),
    60_000,
  );
});
