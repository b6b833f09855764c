// Eigenvalues and eigenvectors of symmetric matrices, and of operators that are given by their products; singular vectors of
// sparse matrices.
//
// The leading eigenvectors of an operator come by subspace iteration with a block of R + a few columns: Q <- orthonormal basis of
// (G - shift) Q, then a Rayleigh-Ritz step. The shift is at most half the smallest value the block holds, so it can only help:
// unwanted directions shrink towards each other while wanted ones stay ahead (as in dashSVD, Feng et al. 2024). Bases are made
// orthonormal by a Cholesky factor of Y'Y that is summed and solved in double precision, all of it level 3.

import { finiteNumber, wholeNumber } from "../base/check.ts";
import { ArgumentError, NotFiniteError } from "../base/errors.ts";
import { byParts, type WorkOptions, yieldToHost } from "../base/progress.ts";
import { STREAMS } from "../base/streams.ts";
import type { Core, Precision } from "./core.ts";
import { type Csr, gram, gramTimes, rowSquares } from "./csr.ts";
import { blend, convert, fill, gemm, rowSums, scale, syrk } from "./dense.ts";
import { cholesky, FACTORED, solveTriangular } from "./factor.ts";
import {
  addresses,
  BYTES,
  type Matrix,
  matrix,
  matrixFrom,
  type RealArray,
  type Scope,
  scoped,
  sumOf,
} from "./matrix.ts";
import { fillNormal } from "./random.ts";
import { allFinite, compatible, isSquare } from "./shapes.ts";

/** Eigenvalues and eigenvectors of a symmetric matrix. */
export interface Eigen {
  /** All of them, greatest first. */
  values: Float64Array;
  /** wanted x n: eigenvectors of the greatest values as rows, orthonormal. Yours to free. */
  vectors: Matrix;
}

/** A = V' diag(values) V from the lower triangle of A, which is used up; vectors of the `wanted` greatest values only. */
export function eigenSymmetric(a: Matrix, wanted: number = a.rows): Eigen {
  compatible({ a });
  const n = isSquare("a", a);
  if (a.precision !== "f64") throw new ArgumentError("a", `found ${a.precision}, expected f64`);
  wholeNumber("wanted", wanted, 0, n);
  allFinite("a", a, "lower");
  const { core } = a;
  const { kernels } = core;
  const vectors = matrix(core, wanted, n, "f64");
  const status = scoped((scope) => {
    const values = scope.keep(matrix(core, 1, n, "f64"));
    const work = scope.keep(matrix(core, 1, Math.ceil(kernels.eigenWorkBytes(n) / 8), "f64"));
    const out = addresses(values, vectors);
    const failed = kernels.eigenSymmetric(n, ...a.strided, ...out, n, wanted, work.address);
    return failed === 0 ? (values.toArray() as Float64Array) : failed;
  });
  if (typeof status !== "number") return { values: status, vectors };
  vectors.free();
  throw new ArgumentError("a", `found a matrix whose eigenvalues did not converge (code ${status})`);
}

/** (A + ridge I)^-1/2 of a symmetric positive semi-definite A [n,n]; the ridge is that part of the mean eigenvalue. */
export function inverseRoot(core: Core, a: RealArray, n: number, ridgePart: number): RealArray {
  return scoped((scope) => {
    const { values, vectors } = eigenSymmetric(scope.keep(matrixFrom(core, n, n, a, "f64")));
    scope.keep(vectors);
    const ridge = (ridgePart * sumOf(values)) / n;
    const scaled = vectors.toArray().map((entry, at) => {
      const value = Math.max(0, values[Math.floor(at / n)]);
      return entry / Math.sqrt(value + ridge);
    });
    const scaledVectors = scope.keep(matrixFrom(core, n, n, scaled, "f64"));
    const root = scope.keep(matrix(core, n, n, "f64"));
    return gemm(vectors, scaledVectors, root, { transposeA: true }).toArray();
  });
}

/** How many eigenvectors, and how exact. */
export interface SubspaceOptions extends WorkOptions {
  /** How many values and vectors. */
  rank: number;
  /** Columns carried beyond the rank; more of them converge faster. */
  oversample?: number;
  /** Most sweeps; at least four are made. */
  iterations?: number;
  /**
   * Stop when a sweep lowers what the block does not capture of the trace by less than this part of itself. The
   * vectors that matter least are then the least settled; the subspace is what is accurate.
   */
  tolerance?: number;
  seed?: number;
}

/** G, symmetric and positive semidefinite. */
export interface SymmetricOperator {
  readonly core: Core;
  readonly precision: Precision;
  /** Order of G. */
  readonly size: number;
  /** Sum of G's diagonal. */
  readonly trace: number;
  /** y = G q */
  apply(q: Matrix, y: Matrix): void | Promise<void>;
}

/** Leading eigenvalues and eigenvectors. */
export interface LeadingEigen {
  /** Greatest first. */
  values: Float64Array;
  /** size x rank: eigenvectors as columns, orthonormal. Yours to free. */
  vectors: Matrix;
  iterations: number;
}

const FEWEST_ITERATIONS = 4;
/** As much noise again as there is of the block: where that does not make a basis, nothing does. */
const MOST_NOISE = 10;
/** Rows converted to double precision at a time. */
const CHUNK = 768;

/** The leading eigenvectors of G, by default to a change of 1 % in what is left over. */
export async function leadingEigenvectors(
  operator: SymmetricOperator,
  options: SubspaceOptions,
): Promise<LeadingEigen> {
  const { core, precision, size, trace } = operator;
  const rank = wholeNumber("rank", options.rank, 1, size);
  const oversample = wholeNumber("oversample", options.oversample ?? Math.max(10, Math.ceil(rank / 20)), 0);
  const iterations = wholeNumber("iterations", options.iterations ?? 8, FEWEST_ITERATIONS);
  const tolerance = finiteNumber("tolerance", options.tolerance ?? 1e-2);
  const width = Math.min(rank + oversample, size);
  return await scoped(async (scope) => {
    const basis = scope.keep(matrix(core, size, width, precision));
    const image = scope.keep(matrix(core, size, width, precision));
    const block = new Orthonormaliser(core, precision, width, scope, options);

    fillNormal(image, { seed: options.seed ?? 0, stream: STREAMS.subspaceStart });
    await yieldToHost(options, "singular vectors", 0);
    await block.orthonormalise(image, basis);
    let shift = 0;
    let leftOver = trace;
    let done = 0;
    for (; done < iterations; done++) {
      await yieldToHost(options, "singular vectors", done / (iterations + 2));
      await operator.apply(basis, image);
      const captured = innerProduct(basis, image, scope);
      const nowLeftOver = Math.max(0, trace - captured);
      if (done >= FEWEST_ITERATIONS && leftOver - nowLeftOver <= tolerance * leftOver) break;
      leftOver = nowLeftOver;
      if (shift > 0) blend(1, image, -shift, basis, image);
      // |smallest singular value of (G - shift) Q| + shift bounds the block's smallest value from below.
      const smallest = await block.orthonormalise(image, basis);
      shift = Math.max(shift, (smallest + shift) / 2);
    }
    await yieldToHost(options, "Rayleigh-Ritz", iterations / (iterations + 2));
    await operator.apply(basis, image);
    return { ...(await rayleighRitz(basis, image, rank, scope, options)), iterations: done };
  });
}

/** The best eigenvectors within the block: Q S, where Q' G Q = S diag(values) S'. */
async function rayleighRitz(
  basis: Matrix,
  image: Matrix,
  rank: number,
  scope: Scope,
  work: WorkOptions,
): Promise<{ values: Float64Array; vectors: Matrix }> {
  const { core, precision, rows: size, columns: width } = basis;
  const small = scope.keep(matrix(core, width, width, precision));
  await byParts(work, width, 2 * size * width, (from, to) =>
    gemm(basis.block(0, from, size, to - from), image, small.rowRange(from, to), { transposeA: true }),
  );
  const symmetric = convert(small, scope.keep(matrix(core, width, width, "f64")));
  const found = eigenSymmetric(symmetric, rank);
  scope.keep(found.vectors);
  const turn = convert(found.vectors, scope.keep(matrix(core, rank, width, precision)));
  const vectors = matrix(core, size, rank, precision);
  await byParts(work, size, 2 * width * rank, (from, to) =>
    gemm(basis.rowRange(from, to), turn, vectors.rowRange(from, to), { transposeB: true }),
  ).catch((error) => {
    vectors.free();
    throw error;
  });
  return { values: found.values.slice(0, rank), vectors };
}

function innerProduct(a: Matrix, b: Matrix, scope: Scope): number {
  return sumOf(rowSums(a, scope.keep(matrix(a.core, 1, a.rows, a.precision)), b).view());
}

/** Turns a tall block into an orthonormal one with the same span, chunk by chunk in double precision. */
class Orthonormaliser {
  readonly #gram: Matrix;
  readonly #chunk: Matrix;
  readonly #probe: Matrix;
  readonly #work: WorkOptions;

  constructor(core: Core, precision: Precision, width: number, scope: Scope, work: WorkOptions) {
    this.#work = work;
    this.#gram = scope.keep(matrix(core, width, width, "f64"));
    this.#chunk = scope.keep(matrix(core, precision === "f32" ? CHUNK : 0, width, "f64"));
    this.#probe = scope.keep(matrix(core, width, 1, "f64"));
  }

  /** out = an orthonormal basis of y's columns; returns a lower bound of y's smallest singular value. y is used up. */
  async orthonormalise(y: Matrix, out: Matrix): Promise<number> {
    await this.#pass(y, out);
    const smallest = this.#smallestSingularValue();
    // A badly conditioned block loses digits the first time; the second time it is nearly orthonormal already.
    if (this.#spread() > 1e5) {
      scale(1, out, y);
      await this.#pass(y, out);
    }
    return smallest;
  }

  async #pass(y: Matrix, out: Matrix): Promise<void> {
    await this.#factor(y, out);
    await this.#forChunks(y, (rows, from) => {
      solveTriangular(this.#gram, rows, { side: "right", transpose: true });
      convert(rows, out.rowRange(from, from + rows.rows));
    });
  }

  /** The factor of Y'Y. Where Y has not the full rank, a little noise in `spare` is added to it first. */
  async #factor(y: Matrix, spare: Matrix): Promise<void> {
    const width = y.columns;
    for (let noise = 1e-7; noise < MOST_NOISE; noise *= 10) {
      fill(this.#gram, 0);
      await this.#forChunks(y, (rows) => syrk(rows, this.#gram, { transpose: true, beta: 1, part: "lower" }));
      const elements = this.#gram.view();
      let squares = 0;
      for (let i = 0; i < width; i++) squares += elements[i * (width + 1)];
      if (!Number.isFinite(squares))
        throw new NotFiniteError("operator", "found products that are NaN or Infinity, expected finite numbers");
      if (squares > 0 && cholesky(this.#gram)[0] === FACTORED) return;
      fillNormal(spare, { seed: 0, stream: STREAMS.subspaceNoise });
      const level = squares > 0 ? noise * Math.sqrt(squares / (y.rows * width)) : 1;
      blend(1, y, level, spare, y);
    }
    throw new ArgumentError("operator", "found a block without an orthonormal basis, expected products of finite size");
  }

  /** Gives `work` the rows of y in double precision, a chunk at a time (y itself where it is in double precision). */
  async #forChunks(y: Matrix, work: (rows: Matrix, from: number) => void): Promise<void> {
    const step = y.precision === "f64" ? Math.max(1, y.rows) : CHUNK;
    const chunk = (number: number): void => {
      const from = number * step;
      const part = y.rowRange(from, Math.min(y.rows, from + step));
      work(part.precision === "f64" ? part : convert(part, this.#chunk.rowRange(0, part.rows)), from);
    };
    await byParts(this.#work, Math.ceil(y.rows / step), step * y.columns * y.columns, (from, to) => {
      for (let number = from; number < to; number++) chunk(number);
    });
  }

  /** Greatest over smallest pivot: a cheap guess at the condition. */
  #spread(): number {
    const width = this.#gram.columns;
    const pivots = Array.from({ length: width }, (_, i) => this.#gram.view()[i * (width + 1)]);
    return Math.max(...pivots) / Math.min(...pivots);
  }

  /** Inverse iteration on L L'; the result is lowered by a tenth, since the iteration approaches it from above. */
  #smallestSingularValue(): number {
    const probe = this.#probe.view();
    for (let i = 0; i < probe.length; i++) probe[i] = 1 + ((i * 7) % 5) / 5;
    let value = 0;
    for (let turn = 0; turn < 6; turn++) {
      const before = length(this.#probe);
      solveTriangular(this.#gram, this.#probe);
      solveTriangular(this.#gram, this.#probe, { transpose: true });
      const after = length(this.#probe);
      value = Math.sqrt(before / after);
      const elements = this.#probe.view();
      for (let i = 0; i < elements.length; i++) elements[i] = elements[i] / after;
    }
    return 0.9 * value;
  }
}

const length = (v: Matrix): number => Math.sqrt(sumOf(v.toArray().map((value) => value * value)));

/** A truncated singular value decomposition: eigenvectors of X'X. X B for all rows never exists. */
export interface Svd {
  /** Greatest first. */
  singularValues: Float64Array;
  /** columns x rank: right singular vectors as columns, orthonormal. Yours to free. */
  right: Matrix;
  /** |X - X V V'|_F / |X|_F. */
  residual: number;
  iterations: number;
}

/** A dense X'X is formed where its products are cheaper than two sparse ones (measured: a sparse term costs 7 dense ones). */
const DENSE_TERMS = 13;
const MOST_DENSE_BYTES = 2 ** 29;

/** Leading singular triplets of X, by default to a change of 1 % in what is left over. */
export async function truncatedSvd(x: Csr, options: SubspaceOptions): Promise<Svd> {
  wholeNumber("rank", options.rank, 1, Math.min(x.rows, x.columns));
  const { core, precision, columns: size } = x;
  return await scoped(async (scope) => {
    const trace = sumOf(rowSquares(x, scope.keep(matrix(core, 1, x.rows, precision))).view()); // |X|_F^2
    const apply = await gramOperator(x, scope, options);
    const found = await leadingEigenvectors({ core, precision, size, trace, apply }, options);
    const singularValues = found.values.map((value) => Math.sqrt(Math.max(0, value)));
    const captured = sumOf(singularValues.map((value) => value * value));
    const residual = trace > 0 ? Math.sqrt(Math.max(0, trace - captured) / trace) : 0;
    return { singularValues, right: found.vectors, residual, iterations: found.iterations };
  });
}

/** Y = X'X Q, through a dense X'X where that is cheaper. */
async function gramOperator(x: Csr, scope: Scope, work: WorkOptions): Promise<(q: Matrix, y: Matrix) => Promise<void>> {
  const { core, precision, columns, rows, nonzeros } = x;
  const perRow = nonzeros / Math.max(1, rows);
  const bytes = columns * columns * BYTES[precision];
  if (columns * columns > DENSE_TERMS * nonzeros || bytes > MOST_DENSE_BYTES)
    return (q, y) =>
      byParts(work, rows, 4 * perRow * q.columns, (from, to) => gramTimes(x, q, y, { from, to, accumulate: from > 0 }));
  const square = scope.keep(matrix(core, columns, columns, precision));
  await byParts(work, rows, 2 * perRow * perRow, (from, to) => gram(x, square, { from, to, accumulate: from > 0 }));
  return (q, y) =>
    byParts(work, columns, 2 * columns * q.columns, (from, to) =>
      gemm(square.rowRange(from, to), q, y.rowRange(from, to)),
    );
}
