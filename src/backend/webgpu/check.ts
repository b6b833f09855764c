// Start-up check of a device: every shader on a tiny problem, against WASM. A driver that computes wrong is found before
// anyone trains on it.

import type { Backend, LikelihoodOutputs, Tensor } from "../backend.ts";
import type { WasmBackend } from "../wasm.ts";
import type { WebGpuBackend } from "./backend.ts";

/** Greatest difference allowed, relative to the greatest element. Rounding alone stays below 1e-5. */
const TOLERANCE = 1e-4;

/** What a check makes of its scratch tensors; all it made are freed after it. */
interface Scratch {
  backend: Backend;
  /** A new tensor of numbers from -1 to 1, or of those given. */
  make(rows: number, columns: number, values?: ArrayLike<number>): Tensor;
  /** To be freed too. */
  keep<T extends Parameters<Backend["free"]>[0]>(thing: T): T;
}

/** The shaders that a check looks at, and a problem whose outcome is in the tensors returned. */
interface Check {
  shader: string;
  run(scratch: Scratch): Tensor[];
}

const numbers = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => (((i + seed) * 37 + 11 * seed) % 101) / 50 - 1);
/** From 0.5 to 1.5. */
const positives = (count: number, seed: number): Float32Array =>
  numbers(count, seed).map((value) => 1 + value / 2);

/** Sizes beyond one tile of every shader, and no multiple of any. */
const [ROWS, COLUMNS, DEPTH] = [37, 41, 35];

const dense: Check[] = [
  {
    shader: "fill",
    run({ backend, make }) {
      const out = make(ROWS, COLUMNS);
      backend.fill(out, 0.25);
      return [out];
    },
  },
  {
    shader: "combine",
    run({ backend, make }) {
      const [x, row, out] = [
        make(ROWS, COLUMNS),
        make(1, COLUMNS, positives(COLUMNS, 1)),
        make(4 * ROWS, COLUMNS),
      ];
      (["add", "subtract", "multiply", "divide"] as const).forEach((op, i) => {
        backend.combine(op, x, row, backend.rowRange(out, i * ROWS, (i + 1) * ROWS));
      });
      backend.combine("multiply", x, make(ROWS, 1), x);
      return [out, x];
    },
  },
  {
    shader: "blend",
    run({ backend, make }) {
      const [x, y, out] = [make(ROWS, COLUMNS), make(ROWS, COLUMNS), make(ROWS, COLUMNS)];
      backend.blend(0.5, x, -2, y, out);
      backend.blend(1, x, 3, y, y);
      return [out, y];
    },
  },
  {
    shader: "map",
    run({ backend, make }) {
      const [x, out] = [make(1, COLUMNS, positives(COLUMNS, 2)), make(4, COLUMNS)];
      (["exp", "log", "square", "reciprocal"] as const).forEach((op, i) => {
        backend.map(op, x, backend.rowRange(out, i, i + 1));
      });
      return [out];
    },
  },
  {
    shader: "gemm",
    run({ backend, make }) {
      const [a, b, out, square] = [
        make(ROWS, DEPTH),
        make(COLUMNS, DEPTH),
        make(ROWS, COLUMNS),
        make(DEPTH, DEPTH),
      ];
      backend.gemm(a, b, out, { transposeB: true, alpha: 0.5, beta: 2 });
      backend.syrk(a, square, { transpose: true, weights: make(1, ROWS) });
      return [out, square];
    },
  },
  ...(["rowSums", "columnSums"] as const).map((shader) => ({
    shader,
    run({ backend, make }: Scratch) {
      const [x, plain, weighted] = [make(COLUMNS, COLUMNS), make(1, COLUMNS), make(1, COLUMNS)];
      backend[shader](x, plain);
      backend[shader](x, weighted, make(COLUMNS, COLUMNS));
      return [plain, weighted];
    },
  })),
  {
    shader: "transpose",
    run({ backend, make }) {
      const out = make(COLUMNS, ROWS);
      backend.transpose(make(ROWS, COLUMNS), out);
      return [out];
    },
  },
  {
    shader: "diagonal",
    run({ backend, make }) {
      const out = make(1, ROWS);
      backend.diagonal(make(ROWS, ROWS), out);
      return [out];
    },
  },
  {
    shader: "addDiagonal",
    run({ backend, make }) {
      const out = make(ROWS, ROWS);
      backend.addDiagonal(out, make(1, ROWS));
      return [out];
    },
  },
  {
    shader: "gatherRows",
    run({ backend, make, keep }) {
      const out = make(3, COLUMNS);
      backend.gatherRows(make(ROWS, COLUMNS), chosenRows(backend, keep), out);
      return [out];
    },
  },
  {
    shader: "adam",
    run({ backend, make }) {
      const [parameter, gradient] = [make(1, ROWS), make(1, ROWS)];
      const moments = [make(1, ROWS), make(1, ROWS, positives(ROWS, 3))] as const;
      backend.adam(parameter, gradient, ...moments, { rate: 0.1, step: 2 });
      return [parameter, ...moments];
    },
  },
];

/** Three rows, one of them twice. */
function chosenRows(backend: Backend, keep: Scratch["keep"]) {
  const rows = keep(backend.indices(3));
  backend.writeIndices(rows, Int32Array.of(5, 30, 5));
  return rows;
}

/** A stack of symmetric positive definite matrices: one that fits a tile, or one that takes several panels. */
function definite({ backend, make }: Scratch, size: number, count: number): Tensor {
  const stack = make(count * size, size);
  for (let i = 0; i < count; i++) {
    const one = backend.rowRange(stack, i * size, (i + 1) * size);
    backend.syrk(make(size, size, numbers(size * size, i + 1)), one, { alpha: 1 / size });
    backend.addDiagonal(one, make(1, size, positives(size, i + 1)));
  }
  return stack;
}

const factors: Check[] = [
  ...[
    { size: 20, count: 2 },
    { size: 70, count: 1 },
  ].map(({ size, count }) => ({
    shader: "cholesky",
    run(scratch: Scratch) {
      const stack = definite(scratch, size, count);
      scratch.backend.factorise(stack, count);
      return [stack];
    },
  })),
  {
    shader: "solveLower",
    run(scratch) {
      const stack = definite(scratch, ROWS, 2);
      const out = scratch.make(2 * ROWS, ROWS);
      scratch.backend.factorise(stack, 2);
      scratch.backend.inverseFromFactor(stack, out, 2);
      return [out];
    },
  },
  {
    shader: "logDeterminant",
    run(scratch) {
      const stack = definite(scratch, ROWS, 2);
      const out = scratch.make(1, 2);
      scratch.backend.factorise(stack, 2);
      scratch.backend.logDeterminant(stack, out, 2);
      return [out];
    },
  },
];

function covarianceInputs({ make }: Scratch) {
  return {
    terms: { linear: true, stationary: "matern52" as const },
    products: make(ROWS, COLUMNS),
    rowSquares: make(1, ROWS, positives(ROWS, 1)),
    columnSquares: make(1, COLUMNS, positives(COLUMNS, 2)),
    hyper: make(1, 3, [0.1, -0.2, 0.3]),
  };
}

/** Means far out on both sides and near 0, variances from nothing to large. */
const spread = (count: number): Float32Array => numbers(count, 4).map((value) => 12 * value * value * value);
const lists = (rows: number) => ({
  rowStart: Int32Array.from({ length: rows + 1 }, (_, i) => 2 * i),
  labelIndex: Int32Array.from({ length: 2 * rows }, (_, e) => (e % 2) * 20 + ((e >> 1) % 20)),
});

const model: Check[] = [
  {
    shader: "covariance",
    run(scratch) {
      const out = scratch.make(ROWS, COLUMNS);
      scratch.backend.covariance(covarianceInputs(scratch), out);
      return [out];
    },
  },
  {
    shader: "covarianceGradient",
    run(scratch) {
      const [d, part, sums] = [
        scratch.make(ROWS, COLUMNS),
        scratch.make(ROWS, COLUMNS),
        scratch.make(ROWS, 3),
      ] as const;
      scratch.backend.covarianceGradient(covarianceInputs(scratch), d, part, sums);
      return [d, part, sums];
    },
  },
  ...(["closed", 20] as const).map((quadrature) => ({
    shader: "likelihood",
    run({ backend, make }: Scratch) {
      const mean = make(ROWS, COLUMNS, spread(ROWS * COLUMNS));
      const variance = {
        ofRow: make(1, ROWS, positives(ROWS, 5)),
        ofLabel: make(1, COLUMNS, positives(COLUMNS, 6)),
      };
      const out: LikelihoodOutputs = { rowValue: make(1, ROWS), dMean: mean, dVariance: make(ROWS, COLUMNS) };
      backend.expectedLogLikelihood({ mean, variance, positives: lists(ROWS), scale: -2, quadrature }, out);
      return [out.rowValue, out.dMean, out.dVariance];
    },
  })),
  {
    shader: "listedLikelihood",
    run({ backend, make }) {
      const [mean, variance] = [make(1, COLUMNS, spread(COLUMNS)), make(1, COLUMNS, positives(COLUMNS, 7))];
      const [value, slope] = [make(1, COLUMNS), make(1, COLUMNS)];
      const inputs = {
        mean,
        variance,
        signedWeight: make(1, COLUMNS),
        scale: 3,
        quadrature: "closed" as const,
      };
      backend.listedLogLikelihood(inputs, { value, dMean: mean, dVariance: slope });
      return [value, mean, slope];
    },
  },
  {
    shader: "probability",
    run({ backend, make }) {
      const [mean, out] = [make(1, COLUMNS, spread(COLUMNS)), make(1, COLUMNS)];
      backend.probability(mean, make(1, COLUMNS, positives(COLUMNS, 8)), out);
      return [out];
    },
  },
];

const sparseProducts: Check[] = [
  ...(["sparseTimes", "sparseTransposeTimes"] as const).map((operation) => ({
    shader: operation === "sparseTimes" ? operation : "sparseTransposeTimes with markRows",
    run({ backend, make, keep }: Scratch) {
      const { rowStart, labelIndex } = lists(ROWS);
      const x = keep(backend.sparse(ROWS, COLUMNS, rowStart, labelIndex, numbers(2 * ROWS, 9)));
      const rows = chosenRows(backend, keep);
      const [b, out] = operation === "sparseTimes" ? [COLUMNS, 3] : [3, COLUMNS];
      const result = make(out, DEPTH);
      backend[operation](x, rows, make(b, DEPTH), result);
      backend[operation](x, rows, make(b, DEPTH), result);
      return [result];
    },
  })),
  ...(["sampledProducts", "patternTransposeTimes"] as const).map((shader) => ({
    shader,
    run({ backend, make, keep }: Scratch) {
      const pattern = keep(backend.pattern(COLUMNS, lists(ROWS)));
      const [a, b, values] = [make(ROWS, DEPTH), make(COLUMNS, DEPTH), make(1, pattern.entries)];
      if (shader === "sampledProducts") backend.sampledProducts(pattern, a, b, values);
      else backend.patternTransposeTimes(pattern, values, a, b);
      return [values, b];
    },
  })),
];

/** Everything a check makes, with the outcome of its run. */
async function outcome(backend: Backend, check: Check): Promise<Float64Array[]> {
  const kept: Parameters<Backend["free"]>[0][] = [];
  const keep: Scratch["keep"] = (thing) => {
    kept.push(thing);
    return thing;
  };
  const make: Scratch["make"] = (rows, columns, values) =>
    keep(backend.tensor(rows, columns, values ?? numbers(rows * columns, kept.length + 1)));
  try {
    const results = check.run({ backend, make, keep });
    return (await Promise.all(results.map((tensor) => backend.read(tensor)))).map((values) =>
      Float64Array.from(values),
    );
  } finally {
    backend.free(...kept);
  }
}

/** Greatest difference relative to the greatest element; NaN counts as infinite. */
function relativeError(found: Float64Array, expected: Float64Array): number {
  let [worst, scale] = [0, Number.MIN_VALUE];
  expected.forEach((value, i) => {
    const difference = Math.abs((found[i] as number) - value);
    worst = Math.max(worst, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
    scale = Math.max(scale, Math.abs(value));
  });
  return worst / scale;
}

async function checkRanking(backend: Backend, reference: Backend): Promise<void> {
  const [found, expected] = await Promise.all(
    [backend, reference].map(async (one) => {
      const scores = one.tensor(ROWS, COLUMNS, numbers(ROWS * COLUMNS, 1));
      const top = await one.topScores(scores, 5);
      one.free(scores);
      return top.indices.join();
    }),
  );
  if (found !== expected)
    throw new Error("shader topScores: found another ranking than WASM's, expected the same");
}

/** Throws an error that names the first shader whose results are not those of WASM. */
export async function checkShaders(backend: WebGpuBackend, reference: WasmBackend): Promise<void> {
  for (const check of [...dense, ...factors, ...model, ...sparseProducts]) {
    const found = await outcome(backend, check);
    const expected = await outcome(reference, check);
    const error = Math.max(...found.map((values, i) => relativeError(values, expected[i] as Float64Array)));
    if (error > TOLERANCE)
      throw new Error(
        `shader ${check.shader}: found a relative error of ${error.toExponential(1)} against WASM, expected at most ${TOLERANCE}`,
      );
  }
  await checkRanking(backend, reference);
}
