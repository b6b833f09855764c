// k-means on dense or sparse rows: k-means++ start, then Lloyd's sweeps or mini-batches.

import { finiteNumber, oneOf, wholeNumber } from "./check.ts";
import { Csr, rowSquares, sparseTimes, valuesOf } from "./csr.ts";
import { fill, gatherRows, gemm, rowSums, scale, transpose } from "./dense.ts";
import { ArgumentError } from "./errors.ts";
import { type Integers, integers, type Matrix, matrix, type RealArray, Scope } from "./matrix.ts";
import { byParts, pause, type WorkOptions } from "./progress.ts";
import { permutation, uniformNumbers } from "./random.ts";
import { alike } from "./shapes.ts";

/** How clusters are looked for. */
export interface KmeansOptions extends WorkOptions {
  clusters: number;
  /** "lloyd" looks at every row in each sweep; "minibatch" at some, for many rows. */
  method?: "lloyd" | "minibatch";
  /** Most sweeps (Lloyd) or batches (mini-batch). */
  iterations?: number;
  /** Rows of a mini-batch. */
  batch?: number;
  /** Lloyd ends when a sweep lowers the sum of squares by less than this part of it. */
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
  alike({ rows: rows instanceof Csr ? valuesOf("rows", rows) : rows });
  const clusters = wholeNumber("clusters", options.clusters, 1);
  if (clusters > rows.rows) {
    throw new ArgumentError("clusters", `found ${clusters}, expected no more than the ${rows.rows} rows`);
  }
  const method = oneOf("method", options.method ?? "lloyd", ["lloyd", "minibatch"]);
  const iterations = wholeNumber("iterations", options.iterations ?? (method === "lloyd" ? 25 : 100), 0);
  const tolerance = finiteNumber("tolerance", options.tolerance ?? 1e-4);
  const scope = new Scope();
  const centres = matrix(rows.core, clusters, rows.columns, rows.precision);
  try {
    const points = new Points(rows, clusters, scope);
    await start(points, centres, options);
    const done =
      method === "lloyd"
        ? await lloyd(points, centres, iterations, tolerance, options)
        : await miniBatches(points, centres, iterations, options);
    const { inertia } = await points.assign(centres, options);
    return { centres, assignments: points.assignments.slice(), inertia, iterations: done };
  } catch (error) {
    centres.free();
    throw error;
  } finally {
    scope.free();
  }
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
  readonly #scope: Scope;

  constructor(rows: Matrix | Csr, clusters: number, scope: Scope) {
    const { core, precision } = rows;
    this.rows = rows;
    this.#scope = scope;
    this.assignments = new Int32Array(rows.rows).fill(-1);
    this.distances = new Float64Array(rows.rows);
    this.#products = scope.keep(matrix(core, CHUNK, clusters, precision));
    this.#halfNorms = scope.keep(matrix(core, 1, clusters, precision));
    this.#indices = scope.keep(integers(core, CHUNK));
    this.#values = scope.keep(matrix(core, 1, CHUNK, precision));
    this.#transposed =
      rows instanceof Csr ? scope.keep(matrix(core, rows.columns, clusters, precision)) : undefined;
    const squares = scope.keep(matrix(core, 1, rows.rows, precision));
    this.squares = Float64Array.from(
      (rows instanceof Csr ? rowSquares(rows, squares) : rowSums(rows, squares, rows)).view(),
    );
  }

  /** Finds the nearest of the centres for all rows, or for the chosen ones. */
  async assign(
    centres: Matrix,
    options: WorkOptions,
    chosen?: Int32Array,
  ): Promise<{ inertia: number; moved: number }> {
    const clusters = centres.rows;
    const halfNorms = this.#halfNorms.block(0, 0, 1, clusters);
    rowSums(centres, halfNorms, centres);
    const norms = halfNorms.view();
    for (let c = 0; c < clusters; c++) norms[c] = (norms[c] as number) / 2;
    const transposed =
      this.#transposed && transpose(centres, this.#transposed.block(0, 0, centres.columns, clusters));
    const count = chosen?.length ?? this.rows.rows;
    let inertia = 0;
    let moved = 0;
    const assignChunk = (from: number): void => {
      const size = Math.min(CHUNK, count - from);
      const numbers = Int32Array.from({ length: size }, (_, i) => chosen?.[from + i] ?? from + i);
      const products = this.#products.block(0, 0, size, clusters);
      this.#multiply(centres, transposed, numbers, chosen === undefined ? from : undefined, products);
      this.rows.core.kernels[this.rows.precision].nearest(
        size,
        clusters,
        products.address,
        products.stride,
        halfNorms.address,
        this.#indices.address,
        this.#values.address,
      );
      const indices = this.#indices.view();
      const values = this.#values.view();
      for (let i = 0; i < size; i++) {
        const row = numbers[i] as number;
        const distance = Math.max(0, (this.squares[row] as number) - 2 * (values[i] as number));
        if (this.assignments[row] !== indices[i]) moved++;
        this.assignments[row] = indices[i] as number;
        this.distances[row] = distance;
        inertia += distance;
      }
    };
    const { rows } = this;
    const perRow = rows instanceof Csr ? rows.nonzeros / Math.max(1, rows.rows) : rows.columns;
    const chunks = Math.ceil(count / CHUNK);
    await byParts(options, chunks, 2 * CHUNK * clusters * perRow, (first, last) => {
      for (let chunk = first; chunk < last; chunk++) assignChunk(chunk * CHUNK);
    });
    return { inertia, moved };
  }

  /** products = rows times centres', for a run of rows (from) or for numbered ones. */
  #multiply(
    centres: Matrix,
    transposed: Matrix | undefined,
    numbers: Int32Array,
    from: number | undefined,
    products: Matrix,
  ): void {
    const { rows } = this;
    if (rows instanceof Csr) {
      const chosen = integers(rows.core, numbers);
      sparseTimes(rows, transposed as Matrix, products, { rows: chosen });
      chosen.free();
    } else if (from !== undefined)
      gemm(rows.rowRange(from, from + numbers.length), centres, products, { transposeB: true });
    else {
      const gathered = gather(rows, numbers);
      gemm(gathered, centres, products, { transposeB: true });
      gathered.free();
    }
  }

  /** Adds row numbers[i] to row targets[i] of out. */
  addRows(numbers: Int32Array, targets: Int32Array, out: Matrix): void {
    const { core, precision } = this.rows;
    const from = integers(core, numbers);
    const to = integers(core, targets);
    const kernel = core.kernels[precision];
    if (this.rows instanceof Csr) {
      const { start, column, value } = this.rows;
      kernel.addSparseRows(
        numbers.length,
        start.address,
        column.address,
        value.address,
        from.address,
        to.address,
        out.address,
        out.stride,
      );
    } else {
      kernel.addDenseRows(
        numbers.length,
        out.columns,
        this.rows.address,
        this.rows.stride,
        from.address,
        to.address,
        out.address,
        out.stride,
      );
    }
    from.free();
    to.free();
  }

  keep<T extends { free(): void }>(item: T): T {
    return this.#scope.keep(item);
  }
}

/** k-means++: each next centre is a row, chosen with probability proportional to its squared distance so far. */
async function start(points: Points, centres: Matrix, options: KmeansOptions): Promise<void> {
  const { rows } = points;
  const { core, precision } = rows;
  const seed = options.seed ?? 0;
  const most = wholeNumber("startRows", options.startRows ?? Math.max(8 * centres.rows, 2048), centres.rows);
  const sample = permutation(core, rows.rows, { seed, stream: 1 }).slice(0, Math.min(most, rows.rows)).sort();
  const draws = uniformNumbers(core, centres.rows, { seed, stream: 2 });
  const distances = new Float64Array(sample.length).fill(Number.POSITIVE_INFINITY);
  const scope = new Scope();
  try {
    const productsWith = productsWithOne(rows, sample, scope);
    const newest = scope.keep(matrix(core, 1, rows.columns, precision));
    for (let c = 0; c < centres.rows; c++) {
      if (c % 64 === 0) await pause(options, "k-means++", c / centres.rows);
      const pick = choose(distances, draws[c] as number);
      fill(newest, 0);
      points.addRows(sample.slice(pick, pick + 1), new Int32Array(1), newest);
      scale(1, newest, centres.rowRange(c, c + 1));
      const products = productsWith(newest);
      const square = points.squares[sample[pick] as number] as number;
      for (let i = 0; i < sample.length; i++) {
        const distance =
          (points.squares[sample[i] as number] as number) - 2 * (products[i] as number) + square;
        distances[i] = Math.max(0, Math.min(distances[i] as number, distance));
      }
      distances[pick] = 0;
    }
  } finally {
    scope.free();
  }
}

/** A function that gives the inner products of the sampled rows with one centre. */
function productsWithOne(
  rows: Matrix | Csr,
  sample: Int32Array,
  scope: Scope,
): (centre: Matrix) => RealArray {
  const { core, precision } = rows;
  const products = scope.keep(matrix(core, sample.length, 1, precision));
  if (rows instanceof Csr) {
    const chosen = scope.keep(integers(core, sample));
    const transposed = scope.keep(matrix(core, rows.columns, 1, precision));
    return (centre) => sparseTimes(rows, transpose(centre, transposed), products, { rows: chosen }).view();
  }
  const gathered = scope.keep(gather(rows, sample));
  return (centre) => rowSums(gathered, products, centre).view();
}

function gather(rows: Matrix, numbers: Int32Array): Matrix {
  const chosen = integers(rows.core, numbers);
  const out = gatherRows(rows, chosen, matrix(rows.core, numbers.length, rows.columns, rows.precision));
  chosen.free();
  return out;
}

/** An index with probability proportional to its weight; uniform while the weights are still infinite or all zero. */
function choose(weights: Float64Array, draw: number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0 && total < Number.POSITIVE_INFINITY)) return Math.floor(draw * weights.length);
  let rest = draw * total;
  let last = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] as number;
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
    await pause(options, "k-means", sweep / iterations);
    const { inertia, moved } = await points.assign(centres, options);
    if (moved === 0 || (sweep > 0 && before - inertia <= tolerance * before)) return sweep;
    before = inertia;
    fillEmptyClusters(points, centres.rows);
    const counts = new Float64Array(centres.rows);
    for (const cluster of points.assignments) counts[cluster] = (counts[cluster] as number) + 1;
    fill(centres, 0);
    points.addRows(everyRow, points.assignments, centres);
    for (let c = 0; c < centres.rows; c++) scaleRow(centres, c, 1 / (counts[c] as number));
  }
  return iterations;
}

/** A cluster without rows takes the row that lies farthest from its centre, of those whose cluster can spare one. */
function fillEmptyClusters(points: Points, clusters: number): void {
  const counts = new Int32Array(clusters);
  for (const cluster of points.assignments) counts[cluster] = (counts[cluster] as number) + 1;
  for (let c = 0; c < clusters; c++) {
    if (counts[c] !== 0) continue;
    let farthest = -1;
    for (let i = 0; i < points.distances.length; i++) {
      const spare = (counts[points.assignments[i] as number] as number) > 1;
      if (spare && (farthest < 0 || (points.distances[i] as number) > (points.distances[farthest] as number)))
        farthest = i;
    }
    const from = points.assignments[farthest] as number;
    counts[from] = (counts[from] as number) - 1;
    counts[c] = 1;
    points.assignments[farthest] = c;
    points.distances[farthest] = 0;
  }
}

/** Each batch moves its centres by their share of all rows they have seen so far (Sculley 2010). */
async function miniBatches(
  points: Points,
  centres: Matrix,
  iterations: number,
  options: KmeansOptions,
): Promise<number> {
  const { core, precision, rows: count } = points.rows;
  const size = Math.min(count, wholeNumber("batch", options.batch ?? Math.max(1024, 2 * centres.rows), 1));
  const seen = new Float64Array(centres.rows);
  const sums = points.keep(matrix(core, centres.rows, centres.columns, precision));
  let order = new Int32Array(0);
  let position = 0;
  for (let round = 0, epoch = 0; round < iterations; round++) {
    await pause(options, "k-means", round / iterations);
    if (position + size > order.length) {
      order = permutation(core, count, { seed: options.seed ?? 0, stream: 16 + epoch++ });
      position = 0;
    }
    const batch = order.slice(position, position + size);
    position += size;
    await points.assign(centres, options, batch);
    const targets = batch.map((row) => points.assignments[row] as number);
    fill(sums, 0);
    points.addRows(batch, targets, sums);
    const added = new Float64Array(centres.rows);
    for (const target of targets) added[target] = (added[target] as number) + 1;
    for (let c = 0; c < centres.rows; c++) {
      const fresh = added[c] as number;
      if (fresh === 0) continue;
      const total = (seen[c] as number) + fresh;
      const centre = centres.rowRange(c, c + 1).view();
      const sum = sums.rowRange(c, c + 1).view();
      for (let j = 0; j < centre.length; j++) {
        centre[j] = ((centre[j] as number) * (seen[c] as number) + (sum[j] as number)) / total;
      }
      seen[c] = total;
    }
  }
  return iterations;
}

function scaleRow(m: Matrix, row: number, factor: number): void {
  const elements = m.rowRange(row, row + 1).view();
  for (let j = 0; j < elements.length; j++) elements[j] = (elements[j] as number) * factor;
}
