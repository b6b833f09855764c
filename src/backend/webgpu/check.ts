// Start-up check of a device: every shader on a tiny problem, against WASM. A driver that computes wrong is found before
// anyone trains on it.

import type { Backend, CovarianceInputs, LikelihoodOutputs, Tensor } from "../backend.ts";

/** Greatest difference allowed, relative to the greatest element. Rounding alone stays below 1e-5. */
const TOLERANCE = 1e-4;

/** The tensors of a check; all that it made are freed after it. */
interface Scratch {
  backend: Backend;
  /** A new tensor of numbers from -1 to 1, or of those given. */
  make(rows: number, columns: number, values?: ArrayLike<number>): Tensor;
  /** To be freed too. */
  keep<T extends Parameters<Backend["free"]>[0]>(thing: T): T;
}

/** A tiny problem whose outcome is in the tensors returned. */
type Check = (scratch: Scratch) => Tensor[];

const numbers = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => (((i + seed) * 37 + 11 * seed) % 101) / 50 - 1);
/** From 0.5 to 1.5. */
const positives = (count: number, seed: number): Float32Array => numbers(count, seed).map((value) => 1 + value / 2);

/** Sizes beyond one tile of every shader, and no multiple of any. */
const [ROWS, COLUMNS, DEPTH] = [37, 41, 35];

/** Does something with tensors, all of which are the outcome: what is only read must stay as it is. */
function after(tensors: Tensor[], work: (...tensors: Tensor[]) => void): Tensor[] {
  work(...tensors);
  return tensors;
}

/** Sums of the elements, and of their products with others. */
const sums =
  (shader: "rowSums" | "columnSums"): Check =>
  ({ backend, make }) =>
    after(
      [make(COLUMNS, COLUMNS), make(COLUMNS, COLUMNS), make(1, COLUMNS), make(1, COLUMNS)],
      (x, y, plain, weighted) => {
        backend[shader](x, plain);
        backend[shader](x, weighted, y);
      },
    );

const dense: Record<string, Check> = {
  fill: ({ backend, make }) => after([make(ROWS, COLUMNS)], (out) => backend.fill(out, 0.25)),
  combine: ({ backend, make }) =>
    after([make(ROWS, COLUMNS), make(1, COLUMNS, positives(COLUMNS, 1)), make(4 * ROWS, COLUMNS)], (x, row, out) => {
      for (const [i, op] of (["add", "subtract", "multiply", "divide"] as const).entries())
        backend.combine(op, x, row, backend.rowRange(out, i * ROWS, (i + 1) * ROWS));
      backend.combine("multiply", x, make(ROWS, 1), x);
    }),
  blend: ({ backend, make }) =>
    after([make(ROWS, COLUMNS), make(ROWS, COLUMNS), make(ROWS, COLUMNS)], (x, y, out) => {
      backend.blend(0.5, x, -2, y, out);
      backend.blend(1, x, 3, y, y);
    }),
  map: ({ backend, make }) =>
    after([make(1, COLUMNS, positives(COLUMNS, 2)), make(4, COLUMNS)], (x, out) => {
      for (const [i, op] of (["exp", "log", "square", "reciprocal"] as const).entries())
        backend.map(op, x, backend.rowRange(out, i, i + 1));
    }),
  gemm: ({ backend, make }) =>
    after([make(ROWS, DEPTH), make(COLUMNS, DEPTH), make(ROWS, COLUMNS), make(DEPTH, DEPTH)], (a, b, out, square) => {
      backend.gemm(a, b, out, { transposeB: true, alpha: 0.5, beta: 2 });
      backend.syrk(a, square, { transpose: true, weights: make(1, ROWS) });
    }),
  rowSums: sums("rowSums"),
  columnSums: sums("columnSums"),
  transpose: ({ backend, make }) => after([make(ROWS, COLUMNS), make(COLUMNS, ROWS)], backend.transpose),
  diagonal: ({ backend, make }) => after([make(ROWS, ROWS), make(1, ROWS)], backend.diagonal),
  addDiagonal: ({ backend, make }) => after([make(ROWS, ROWS), make(1, ROWS)], backend.addDiagonal),
  gatherRows: ({ backend, make, keep }) =>
    after([make(ROWS, COLUMNS), make(3, COLUMNS)], (x, out) => backend.gatherRows(x, chosenRows(backend, keep), out)),
  adam: ({ backend, make }) =>
    after(
      [make(1, ROWS), make(1, ROWS), make(1, ROWS), make(1, ROWS, positives(ROWS, 3))],
      (x, gradient, first, second) => backend.adam(x, gradient, { first, second }, { rate: 0.1, step: 2 }),
    ),
};

/** Three rows, one of them twice. */
function chosenRows(backend: Backend, keep: Scratch["keep"]) {
  return keep(backend.indices(Int32Array.of(5, 30, 5)));
}

/** Factors of a stack of symmetric positive definite matrices: of one that fits a tile, or of one that takes several panels. */
function factorised({ backend, make }: Scratch, size: number, count: number): Tensor {
  const stack = make(count * size, size);
  for (let i = 0; i < count; i++) {
    const one = backend.rowRange(stack, i * size, (i + 1) * size);
    backend.syrk(make(size, size, numbers(size * size, i + 1)), one, { alpha: 1 / size });
    backend.addDiagonal(one, make(1, size, positives(size, i + 1)));
  }
  backend.factorise(stack, count);
  return stack;
}

const factors: Record<string, Check> = {
  cholesky: (scratch) => [factorised(scratch, 20, 2)],
  "cholesky of several panels": (scratch) => [factorised(scratch, 70, 1)],
  solveLower: (scratch) =>
    after([factorised(scratch, ROWS, 2), scratch.make(2 * ROWS, ROWS)], (factor, out) =>
      scratch.backend.inverseFromFactor(factor, out, 2),
    ),
  logDeterminant: (scratch) =>
    after([factorised(scratch, ROWS, 2), scratch.make(1, 2)], (factor, out) =>
      scratch.backend.logDeterminant(factor, out, 2),
    ),
};

const covarianceInputs = ({ make }: Scratch): CovarianceInputs => ({
  terms: { linear: true, stationary: "matern52" },
  products: make(ROWS, COLUMNS),
  rowSquares: make(1, ROWS, positives(ROWS, 1)),
  columnSquares: make(1, COLUMNS, positives(COLUMNS, 2)),
  hyper: make(1, 3, [0.1, -0.2, 0.3]),
});

/** Means far out on both sides and near 0, variances from nothing to large. */
const spread = (count: number): Float32Array => numbers(count, 4).map((value) => 12 * value * value * value);
const lists = (rows: number) => ({
  rowStart: Int32Array.from({ length: rows + 1 }, (_, i) => 2 * i),
  labelIndex: Int32Array.from({ length: 2 * rows }, (_, e) => (e % 2) * 20 + ((e >> 1) % 20)),
});

function expectation(quadrature: number | "closed"): Check {
  return ({ backend, make }) => {
    const mean = make(ROWS, COLUMNS, spread(ROWS * COLUMNS));
    const ofRow = make(1, ROWS, positives(ROWS, 5));
    const variance = { ofRow, ofLabel: make(1, COLUMNS, positives(COLUMNS, 6)) };
    const out: LikelihoodOutputs = { rowValue: make(1, ROWS), dMean: mean, dVariance: make(ROWS, COLUMNS) };
    backend.expectedLogLikelihood({ mean, variance, positives: lists(ROWS), scale: -2, quadrature }, out);
    return Object.values(out);
  };
}

const model: Record<string, Check> = {
  covariance: (scratch) =>
    after([scratch.make(ROWS, COLUMNS)], (out) => scratch.backend.covariance(covarianceInputs(scratch), out)),
  covarianceGradient: (scratch) =>
    after([scratch.make(ROWS, COLUMNS), scratch.make(ROWS, COLUMNS), scratch.make(ROWS, 3)], (d, part, sums) =>
      scratch.backend.covarianceGradient(covarianceInputs(scratch), d, part, sums),
    ),
  likelihood: expectation("closed"),
  "likelihood by quadrature": expectation(20),
  probability: ({ backend, make }) =>
    after(
      [make(1, COLUMNS, spread(COLUMNS)), make(1, COLUMNS, positives(COLUMNS, 8)), make(1, COLUMNS)],
      backend.probability,
    ),
};

function sparseProduct(operation: "sparseTimes" | "sparseTransposeTimes"): Check {
  return ({ backend, make, keep }) => {
    const { rowStart, labelIndex: columnIndex } = lists(ROWS);
    const values = numbers(2 * ROWS, 9);
    const x = keep(backend.sparse({ rows: ROWS, columns: COLUMNS, rowStart, columnIndex, values }));
    const rows = chosenRows(backend, keep);
    const [b, out] = operation === "sparseTimes" ? [COLUMNS, 3] : [3, COLUMNS];
    return after([make(out, DEPTH)], (result) => {
      backend[operation](x, rows, make(b, DEPTH), result);
      backend[operation](x, rows, make(b, DEPTH), result);
    });
  };
}

function patternProduct(operation: "sampledProducts" | "patternTransposeTimes"): Check {
  return ({ backend, make, keep }) => {
    const pattern = keep(backend.pattern(COLUMNS, lists(ROWS)));
    return after([make(ROWS, DEPTH), make(COLUMNS, DEPTH), make(1, pattern.entries)], (a, b, values) => {
      if (operation === "sampledProducts") backend.sampledProducts(pattern, a, b, values);
      else backend.patternTransposeTimes(pattern, values, a, b);
    });
  };
}

const products: Record<string, Check> = {
  sparseTimes: sparseProduct("sparseTimes"),
  "sparseTransposeTimes with markRows": sparseProduct("sparseTransposeTimes"),
  sampledProducts: patternProduct("sampledProducts"),
  patternTransposeTimes: patternProduct("patternTransposeTimes"),
};

async function outcome(backend: Backend, check: Check): Promise<Float64Array[]> {
  const kept: Parameters<Backend["free"]>[0][] = [];
  const keep: Scratch["keep"] = (thing) => {
    kept.push(thing);
    return thing;
  };
  const make: Scratch["make"] = (rows, columns, values) =>
    keep(backend.tensor(rows, columns, values ?? numbers(rows * columns, kept.length + 1)));
  try {
    const results = check({ backend, make, keep });
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
    const difference = Math.abs(found[i] - value);
    worst = Math.max(worst, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
    scale = Math.max(scale, Math.abs(value));
  });
  return worst / scale;
}

/** Throws an error that names the first shader whose results are not those of WASM. */
export async function checkShaders(backend: Backend, reference: Backend): Promise<void> {
  for (const [shader, check] of Object.entries({ ...dense, ...factors, ...model, ...products })) {
    const found = await outcome(backend, check);
    const expected = await outcome(reference, check);
    const error = Math.max(...found.map((values, i) => relativeError(values, expected[i])));
    if (error > TOLERANCE)
      throw new Error(
        `shader ${shader}: found a relative error of ${error.toExponential(1)} against WASM, expected at most ${TOLERANCE}`,
      );
  }
}
