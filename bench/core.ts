// The numeric core beside its peers: products, factorisations, sparse products, SVD and quadrature.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Core,
  type Csr,
  cholesky,
  createCore,
  csr,
  expectedLogLikelihood,
  gemm,
  hasRelaxedSimd,
  inverseFromFactor,
  type Matrix,
  matrix,
  type Precision,
  scale,
  solveTriangular,
  sparseTimes,
  sparseTransposeTimes,
  truncatedSvd,
} from "../src/core/index.ts";
import { type BenchOptions, type Case, type Contender, clocked, clockedAsync, report } from "./harness.ts";
import { loadPeer, type Python, python, startPython, writeCsr } from "./peers.ts";
import { randomMatrix, textLikeCsr } from "./problems.ts";

interface Cores {
  [name: string]: Core;
}

async function createCores(): Promise<Cores> {
  const cores: Cores = {
    "ours, 1 thread": await createCore({ threads: 1 }),
    "ours, 2 threads": await createCore({ threads: 2 }),
  };
  if (hasRelaxedSimd()) {
    cores["ours relaxed, 1 thread"] = await createCore({ threads: 1, relaxed: true });
    cores["ours relaxed, 2 threads"] = await createCore({ threads: 2, relaxed: true });
  } else console.error("this runtime has no relaxed SIMD: that build is not measured");
  for (const threads of [1, 2]) {
    const core = await createCore({ threads, wide: true });
    if (core.wide) cores[`ours wide, ${threads} thread${threads > 1 ? "s" : ""}`] = core;
    else if (threads === 1) console.error(`that build is not measured: ${core.wideReason}`);
    if (!core.wide) core.dispose();
  }
  return cores;
}

/** One contender for each of our cores. */
function ours(cores: Cores, make: (core: Core) => () => unknown): Contender[] {
  return Object.entries(cores).map(([name, core]) => ({ name, run: clocked(make(core)) }));
}

const dtype = (precision: Precision): string => (precision === "f32" ? "float32" : "float64");

/** The libraries of JavaScript: each gives a way to make a runner for a kind of work, or nothing. */
interface JavaScriptPeers {
  gemm(n: number): Promise<Contender[]>;
  cholesky(n: number): Promise<Contender[]>;
  mlMatrixGemm(n: number): Promise<Contender[]>;
}

interface Tensor {
  data(): Promise<unknown>;
  dispose(): void;
}
interface TensorFlow {
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
  tensor2d(values: Float32Array, shape: [number, number]): Tensor;
  matMul(a: Tensor, b: Tensor): Tensor;
}
interface JaxArray {
  ref: JaxArray;
  reshape(shape: number[]): JaxArray;
  data(): Promise<unknown>;
}
interface Jax {
  init(device: string): Promise<unknown>;
  defaultDevice(device: string): void;
  numpy: {
    array(values: Float32Array): JaxArray;
    matmul(a: JaxArray, b: JaxArray): JaxArray;
    linalg: { cholesky(a: JaxArray): JaxArray };
  };
}
interface MlMatrix {
  Matrix: { rand(rows: number, columns: number): { mmul(other: unknown): unknown } };
}

async function loadPeers(): Promise<JavaScriptPeers> {
  const also = { "@tensorflow/tfjs-backend-wasm": "4.22.0" };
  const tf = (await loadPeer("@tensorflow/tfjs-core", "4.22.0", also)) as unknown as TensorFlow | undefined;
  if (tf && (await loadPeer("@tensorflow/tfjs-backend-wasm", "4.22.0"))) {
    await tf.setBackend("wasm");
    await tf.ready();
  }
  // jax-js looks for a browser's navigator.
  if (!("navigator" in globalThis)) Object.assign(globalThis, { navigator: {} });
  const jax = (await loadPeer("@jax-js/jax", "0.1.25")) as unknown as Jax | undefined;
  if (jax) {
    await jax.init("wasm");
    jax.defaultDevice("wasm");
  }
  const ml = (await loadPeer("ml-matrix", "6.15.1")) as unknown as MlMatrix | undefined;
  return {
    gemm: async (n) => {
      const found: Contender[] = [];
      const values = randomMatrix(n, n, 1);
      if (tf) {
        const a = tf.tensor2d(values, [n, n]);
        const work = async (): Promise<void> => {
          const c = tf.matMul(a, a);
          await c.data();
          c.dispose();
        };
        found.push({ name: "TensorFlow.js wasm", run: clockedAsync(work) });
      }
      if (jax) {
        const a = jax.numpy.array(values).reshape([n, n]);
        found.push({ name: "jax-js wasm", run: clockedAsync(() => jax.numpy.matmul(a.ref, a.ref).data()) });
      }
      return found;
    },
    cholesky: async (n) => {
      if (!jax) return [];
      const x = randomMatrix(n, n, 1);
      const values = new Float32Array(n * n);
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          for (let k = 0; k < n; k++) values[i * n + j] = values[i * n + j] + x[i * n + k] * x[j * n + k];
        }
        values[i * n + i] = values[i * n + i] + n;
      }
      const a = jax.numpy.array(values).reshape([n, n]);
      return [{ name: "jax-js wasm", run: clockedAsync(() => jax.numpy.linalg.cholesky(a.ref).data()) }];
    },
    mlMatrixGemm: async (n) => {
      if (!ml) return [];
      const a = ml.Matrix.rand(n, n);
      return [{ name: "ml-matrix", run: clocked(() => a.mmul(a)) }];
    },
  };
}

/** A positive definite matrix, and its factor. */
function positive(core: Core, n: number, precision: Precision): { a: Matrix; factor: Matrix } {
  const x = matrix(core, n, n, precision).set(randomMatrix(n, n, 1));
  const a = gemm(x, x, matrix(core, n, n, precision), { transposeB: true });
  const elements = a.view();
  for (let i = 0; i < n; i++) elements[i * n + i] = elements[i * n + i] + n;
  const factor = scale(1, a, matrix(core, n, n, precision));
  cholesky(factor);
  return { a, factor };
}

async function denseCases(cores: Cores, peers: JavaScriptPeers, py: Python | undefined): Promise<Case[]> {
  const cases: Case[] = [];
  for (const precision of ["f32", "f64"] as const) {
    for (const n of [512, 768, 1024]) {
      cases.push({
        name: `gemm ${precision} ${n}`,
        flops: 2 * n ** 3,
        contenders: [
          ...ours(cores, (core) => {
            const [a, b, c] = [1, 2, 3].map((seed) => matrix(core, n, n, precision).set(randomMatrix(n, n, seed))) as [
              Matrix,
              Matrix,
              Matrix,
            ];
            return () => gemm(a, b, c);
          }),
          ...(precision === "f32" ? await peers.gemm(n) : n === 512 ? await peers.mlMatrixGemm(n) : []),
          ...python(py, "OpenBLAS, 1 thread", { work: "gemm", n, dtype: dtype(precision) }),
        ],
      });
    }
  }
  const n = 500;
  for (const precision of ["f32", "f64"] as const) {
    cases.push(
      {
        name: `Cholesky ${precision} ${n}`,
        flops: n ** 3 / 3,
        contenders: [
          ...ours(cores, (core) => {
            const { a, factor } = positive(core, n, precision);
            return () => cholesky(scale(1, a, factor));
          }),
          ...(precision === "f32" ? await peers.cholesky(n) : []),
          ...python(py, "LAPACK, 1 thread", { work: "cholesky", n, dtype: dtype(precision) }),
        ],
      },
      {
        name: `triangular solve ${precision} ${n} x ${n}`,
        flops: n ** 3,
        contenders: [
          ...ours(cores, (core) => {
            const { factor } = positive(core, n, precision);
            const start = matrix(core, n, n, precision).set(randomMatrix(n, n, 2));
            const b = matrix(core, n, n, precision);
            return () => solveTriangular(factor, scale(1, start, b));
          }),
          ...python(py, "LAPACK, 1 thread", { work: "solve", n, dtype: dtype(precision) }),
        ],
      },
      {
        name: `inverse from factor ${precision} ${n}`,
        flops: (2 / 3) * n ** 3,
        contenders: [
          ...ours(cores, (core) => {
            const { factor } = positive(core, n, precision);
            const out = matrix(core, n, n, precision);
            return () => inverseFromFactor(factor, out);
          }),
          ...python(py, "LAPACK, 1 thread", { work: "inverse", n, dtype: dtype(precision) }),
        ],
      },
    );
  }
  return cases;
}

const ROWS = 8000;
const COLUMNS = 5000;
const PER_ROW = 100;
const WIDTH = 256;

async function sparseCases(
  cores: Cores,
  folder: string,
  one: Python | undefined,
  two: Python | undefined,
  options: BenchOptions,
): Promise<Case[]> {
  const arrays = textLikeCsr(ROWS, COLUMNS, PER_ROW);
  const path = join(folder, "x");
  writeCsr(path, arrays);
  const shape = { path, rows: ROWS, columns: COLUMNS };
  const sparse = new Map<Core, Csr>(Object.values(cores).map((core) => [core, csr(core, arrays)]));
  const flops = 2 * arrays.values.length * WIDTH;
  const cases: Case[] = [
    {
      name: `CSR X B, ${ROWS} x ${COLUMNS}, ${arrays.values.length} entries, ${WIDTH} columns`,
      flops,
      contenders: [
        ...ours(cores, (core) => {
          const b = matrix(core, COLUMNS, WIDTH).set(randomMatrix(COLUMNS, WIDTH, 1));
          const out = matrix(core, ROWS, WIDTH);
          return () => sparseTimes(sparse.get(core) as Csr, b, out);
        }),
        ...python(one, "scipy", { work: "times", ...shape, n: WIDTH }),
      ],
    },
    {
      name: `CSR X' B, the same`,
      flops,
      contenders: [
        ...ours(cores, (core) => {
          const b = matrix(core, ROWS, WIDTH).set(randomMatrix(ROWS, WIDTH, 1));
          const out = matrix(core, COLUMNS, WIDTH);
          return () => sparseTransposeTimes(sparse.get(core) as Csr, b, out);
        }),
        ...python(one, "scipy", { work: "transpose_times", ...shape, n: WIDTH }),
      ],
    },
  ];
  for (const rank of [200, 1000]) {
    const residuals: Record<string, number> = {};
    const request = { work: "svd", ...shape, rank, iterations: 4 };
    const name = `truncated SVD, rank ${rank}, of the same`;
    if (options.only !== undefined && !name.includes(options.only)) continue;
    cases.push({
      name,
      rounds: 3,
      note: () => ({ "|X - X V V'| / |X|": residuals }),
      contenders: [
        ...Object.entries(cores).map(([core, value]) => ({
          name: core,
          run: clockedAsync(async () => {
            const { right, residual } = await truncatedSvd(sparse.get(value) as Csr, { rank });
            residuals[core] = residual;
            right.free();
          }),
        })),
        ...(two === undefined
          ? []
          : [
              {
                name: "randomized_svd, 2 threads",
                run: async () => {
                  const { milliseconds, residual } = await two.call(request);
                  residuals["randomized_svd, n_iter = 4"] = residual as number;
                  return milliseconds as number;
                },
              },
            ]),
      ],
    });
  }
  return cases;
}

function quadratureCase(cores: Cores, py: Python | undefined): Case {
  const [rows, columns] = [500, 4000];
  return {
    name: `expected log-likelihood with both derivatives, ${rows} x ${columns}`,
    contenders: [
      ...ours(cores, (core) => {
        const start = matrix(core, rows, columns).set(randomMatrix(rows, columns, 1).map((x) => 4 * x - 3));
        const variance = matrix(core, rows, columns).set(randomMatrix(rows, columns, 2).map((x) => 2 + 2 * x));
        const dMean = matrix(core, rows, columns);
        const dVariance = matrix(core, rows, columns);
        const rowValue = matrix(core, 1, rows);
        const positives = { rowStart: new Int32Array(rows + 1), labelIndex: new Int32Array(0) };
        return () => expectedLogLikelihood({ mean: start, variance, positives }, { dMean, dVariance, rowValue });
      }),
      ...python(py, "numpy, 20 Gauss-Hermite nodes", { work: "quadrature", rows, columns, nodes: 20 }),
    ],
  };
}

export async function coreBench(options: BenchOptions): Promise<void> {
  const cores = await createCores();
  const peers = await loadPeers();
  const one = startPython(1);
  const two = startPython(2);
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-bench-"));
  try {
    const cases = [
      ...(await denseCases(cores, peers, one)),
      ...(await sparseCases(cores, folder, one, two, options)),
      quadratureCase(cores, one),
    ];
    for (const benchmark of cases) await report(benchmark, options);
  } finally {
    rmSync(folder, { recursive: true });
    for (const core of Object.values(cores)) core.dispose();
  }
}
