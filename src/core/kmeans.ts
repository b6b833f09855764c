// k-means on dense or sparse rows: k-means++ start, then Lloyd's sweeps.

import { finiteNumber, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { byParts, type WorkOptions, yieldToHost } from "../base/progress.ts";
import { STREAMS } from "../base/streams.ts";
import { Csr, rowSquares, sparseTimes, valuesOf } from "./csr.ts";
import { fill, gatherRows, gemm, rowSums, scale, transpose } from "./dense.ts";
import {
  addresses,
  type Integers,
  integers,
  type Matrix,
  matrix,
  type RealArray,
  type Scope,
  scoped,
} from "./matrix.ts";
import { permutation, uniformNumbers } from "./random.ts";
import { compatible } from "./shapes.ts";

/** How clusters are looked for. */
export interface KmeansOptions extends WorkOptions {
  clusters: number;
  /** Most sweeps. */
  iterations?: number;
  /** It ends when a sweep lowers the sum of squares by less than this part of it. */
  tolerance?: number;
  /** The start looks at so many rows at the most, chosen at random. */
  startRows?: number;
  seed?: number;
}

/** Clusters that were found. */
export interface Kmeans {
  /** clusters x columns. Yours to free. */
  centres: Matrix;
  /** The cluster of each row. */
  assignments: Int32Array;
  /** Sum of squared distances to the nearest centre. */
  inertia: number;
  iterations: number;
}

/** Rows looked at together. */
const CHUNK = 1024;

/** Clusters the rows of a matrix around centres, which begin as k-means++ puts them. */
export async function kmeans(rows: Matrix | Csr, options: KmeansOptions): Promise<Kmeans> {
  compatible({ rows: rows instanceof Csr ? valuesOf("rows", rows) : rows });
  const clusters = wholeNumber("clusters", options.clusters, 1);
  if (clusters > rows.rows)
    throw new ArgumentError("clusters", `found ${clusters}, expected no more than the ${rows.rows} rows`);
  const iterations = wholeNumber("iterations", options.iterations ?? 25, 0);
  const tolerance = finiteNumber("tolerance", options.tolerance ?? 1e-4);
  const centres = matrix(rows.core, clusters, rows.columns, rows.precision);
  return await scoped(async (scope) => {
    const points = new Points(rows, clusters, scope);
    await start(points, centres, options);
    const done = await lloyd(points, centres, iterations, tolerance, options);
    const { inertia } = await points.assign(centres, options);
    return { centres, assignments: points.assignments.slice(), inertia, iterations: done };
  }).catch((error) => {
    centres.free();
    throw error;
  });
}

/** The rows, dense or sparse, with their squared lengths, nearest centres and distances to them. */
class Points {
  readonly rows: Matrix | Csr;
  readonly squares: Float64Array;
  readonly assignments: Int32Array;
  readonly distances: Float64Array;
  readonly #products: Matrix;
  readonly #halfNorms: Matrix;
  readonly #indices: Integers;
  readonly #values: Matrix;
  /** Centres as columns, for the sparse product. */
  readonly #transposed: Matrix | undefined;

  constructor(rows: Matrix | Csr, clusters: number, scope: Scope) {
    const { core, precision } = rows;
    this.rows = rows;
    this.assignments = new Int32Array(rows.rows).fill(-1);
    this.distances = new Float64Array(rows.rows);
    this.#products = scope.keep(matrix(core, CHUNK, clusters, precision));
    this.#halfNorms = scope.keep(matrix(core, 1, clusters, precision));
    this.#indices = scope.keep(integers(core, CHUNK));
    this.#values = scope.keep(matrix(core, 1, CHUNK, precision));
    this.#transposed = rows instanceof Csr ? scope.keep(matrix(core, rows.columns, clusters, precision)) : undefined;
    const squares = scope.keep(matrix(core, 1, rows.rows, precision));
    this.squares = Float64Array.from(
      (rows instanceof Csr ? rowSquares(rows, squares) : rowSums(rows, squares, rows)).view(),
    );
  }

  /** Finds the nearest of the centres for all rows. */
  async assign(centres: Matrix, options: WorkOptions): Promise<{ inertia: number; moved: number }> {
    const { rows } = this;
    const halfNorms = rowSums(centres, this.#halfNorms, centres);
    const norms = halfNorms.view();
    for (let c = 0; c < norms.length; c++) norms[c] /= 2;
    if (this.#transposed) transpose(centres, this.#transposed);
    let inertia = 0;
    let moved = 0;
    const assignChunk = (from: number): void => {
      const size = Math.min(CHUNK, rows.rows - from);
      const products = this.#multiply(centres, from, this.#products.rowRange(0, size));
      const found = addresses(halfNorms, this.#indices, this.#values);
      products.kernels.nearest(size, centres.rows, ...products.strided, ...found);
      const indices = this.#indices.view();
      const values = this.#values.view();
      for (let i = 0; i < size; i++) {
        const row = from + i;
        const distance = Math.max(0, this.squares[row] - 2 * values[i]);
        if (this.assignments[row] !== indices[i]) moved++;
        this.assignments[row] = indices[i];
        this.distances[row] = distance;
        inertia += distance;
      }
    };
    const perRow = rows instanceof Csr ? rows.nonzeros / Math.max(1, rows.rows) : rows.columns;
    const chunks = Math.ceil(rows.rows / CHUNK);
    await byParts(options, chunks, 2 * CHUNK * centres.rows * perRow, (first, last) => {
      for (let chunk = first; chunk < last; chunk++) assignChunk(chunk * CHUNK);
    });
    return { inertia, moved };
  }

  /** products = rows times centres', for as many rows from one on as products has. */
  #multiply(centres: Matrix, from: number, products: Matrix): Matrix {
    const { rows } = this;
    const to = from + products.rows;
    return rows instanceof Csr
      ? sparseTimes(rows, this.#transposed as Matrix, products, { from, to })
      : gemm(rows.rowRange(from, to), centres, products, { transposeB: true });
  }

  /** Adds row numbers[i] to row targets[i] of out. */
  addRows(numbers: Int32Array, targets: Int32Array, out: Matrix): void {
    const { rows } = this;
    const pairs = [integers(rows.core, numbers), integers(rows.core, targets)] as const;
    const where = [...addresses(...pairs), ...out.strided] as const;
    const count = numbers.length;
    if (rows instanceof Csr) rows.kernels.addSparseRows(count, ...rows.entries(), ...where);
    else rows.kernels.addDenseRows(count, out.columns, ...rows.strided, ...where);
    for (const list of pairs) list.free();
  }
}

/** k-means++: each next centre is a row, chosen with probability proportional to its squared distance so far. */
async function start(points: Points, centres: Matrix, options: KmeansOptions): Promise<void> {
  const { rows } = points;
  const { core, precision } = rows;
  const seed = options.seed ?? 0;
  const most = wholeNumber("startRows", options.startRows ?? Math.max(8 * centres.rows, 2048), centres.rows);
  const order = permutation(core, rows.rows, { seed, stream: STREAMS.kmeansRows });
  const sample = order.slice(0, Math.min(most, rows.rows)).sort();
  const draws = uniformNumbers(core, centres.rows, { seed, stream: STREAMS.kmeansPicks });
  const distances = new Float64Array(sample.length).fill(Number.POSITIVE_INFINITY);
  return await scoped(async (scope) => {
    const productsWith = productsWithOne(rows, sample, scope);
    const newest = scope.keep(matrix(core, 1, rows.columns, precision));
    for (let c = 0; c < centres.rows; c++) {
      if (c % 64 === 0) await yieldToHost(options, "k-means++", c / centres.rows);
      const pick = choose(distances, draws[c]);
      fill(newest, 0);
      points.addRows(sample.slice(pick, pick + 1), new Int32Array(1), newest);
      scale(1, newest, centres.rowRange(c, c + 1));
      const products = productsWith(newest);
      const square = points.squares[sample[pick]];
      for (let i = 0; i < sample.length; i++) {
        const distance = points.squares[sample[i]] - 2 * products[i] + square;
        distances[i] = Math.max(0, Math.min(distances[i], distance));
      }
      distances[pick] = 0;
    }
  });
}

/** A function that gives the inner products of the sampled rows with one centre. */
function productsWithOne(rows: Matrix | Csr, sample: Int32Array, scope: Scope): (centre: Matrix) => RealArray {
  const { core, precision } = rows;
  const products = scope.keep(matrix(core, sample.length, 1, precision));
  const chosen = scope.keep(integers(core, sample));
  if (rows instanceof Csr) {
    const transposed = scope.keep(matrix(core, rows.columns, 1, precision));
    return (centre) => sparseTimes(rows, transpose(centre, transposed), products, { rows: chosen }).view();
  }
  const gathered = scope.keep(matrix(core, sample.length, rows.columns, precision));
  gatherRows(rows, chosen, gathered);
  return (centre) => rowSums(gathered, products, centre).view();
}

/** An index with probability proportional to its weight; uniform while the weights are still infinite or all zero. */
function choose(weights: Float64Array, draw: number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0 && total < Number.POSITIVE_INFINITY)) return Math.floor(draw * weights.length);
  let rest = draw * total;
  let last = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i];
    if (weight > 0) last = i;
    rest -= weight;
    if (rest < 0) return last;
  }
  return last;
}

async function lloyd(
  points: Points,
  centres: Matrix,
  iterations: number,
  tolerance: number,
  options: KmeansOptions,
): Promise<number> {
  const everyRow = Int32Array.from({ length: points.rows.rows }, (_, i) => i);
  let before = Number.POSITIVE_INFINITY;
  for (let sweep = 0; sweep < iterations; sweep++) {
    await yieldToHost(options, "k-means", sweep / iterations);
    const { inertia, moved } = await points.assign(centres, options);
    if (moved === 0 || (sweep > 0 && before - inertia <= tolerance * before)) return sweep;
    before = inertia;
    fillEmptyClusters(points, centres.rows);
    const counts = new Float64Array(centres.rows);
    for (const cluster of points.assignments) counts[cluster]++;
    fill(centres, 0);
    points.addRows(everyRow, points.assignments, centres);
    counts.forEach((count, c) => {
      const centre = centres.rowRange(c, c + 1).view();
      for (let j = 0; j < centre.length; j++) centre[j] *= 1 / count;
    });
  }
  return iterations;
}

/** A cluster without rows takes the row that lies farthest from its centre, of those whose cluster can spare one. */
function fillEmptyClusters(points: Points, clusters: number): void {
  const counts = new Int32Array(clusters);
  for (const cluster of points.assignments) counts[cluster]++;
  for (let c = 0; c < clusters; c++) {
    if (counts[c] !== 0) continue;
    let farthest = -1;
    for (let i = 0; i < points.distances.length; i++) {
      const spare = counts[points.assignments[i]] > 1;
      if (spare && (farthest < 0 || points.distances[i] > points.distances[farthest])) farthest = i;
    }
    const from = points.assignments[farthest];
    counts[from]--;
    counts[c] = 1;
    points.assignments[farthest] = c;
    points.distances[farthest] = 0;
  }
}
