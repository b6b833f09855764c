// The Gaussian posterior of a kernel for a compact file (row.ts has the formula). In few bits only the largest weights are kept, and
// the offset makes up for what the others give on average. The tangent of the covariance at points that have nothing in common goes
// into weights of the features: what is left of the covariance is 0 but for near points, and few of the dual's elements matter.

import { isLinear, scalarKernel } from "../../base/kernels.ts";
import { denseRow, dot, type SparseRows, squaredNorms, transpose, withinColumns } from "../../base/sparse.ts";
import { createCore } from "../../core/core.ts";
import { csr, sparseTransposeTimes } from "../../core/csr.ts";
import { matrix, matrixFrom, sumOf } from "../../core/matrix.ts";
import { type FeatureTransform, unitSquares, viewRanges } from "../../data/transform.ts";
import type { CompactWriter } from "../compact.ts";
import type { ModelSchema } from "../part.ts";
import type { RowMatrix } from "../row.ts";
import { choiceOf, type KernelPart, rowKernel, type ViewKernel } from "./kernel.ts";
import { besideTangent, type Tangent } from "./row.ts";

export async function compactKernel(
  part: KernelPart,
  { labels: k, transform, features }: ModelSchema,
  writer: CompactWriter,
): Promise<Record<string, unknown>> {
  const { kernel, hyper, views, rows, dual, mean } = part;
  const linear = isLinear(kernel);
  // Vectors have much in common, whatever they are of: the tangent would say little.
  const unit = !views && (transform.normalise || transform.unitNorm);
  const [level, slope] = linear || (writer.whole && unit) ? tangentOf(part) : [0, 0];
  const tangent: Tangent = linear ? [0, 0] : [level, slope];
  const words = viewRanges(transform)?.[0];
  const squares =
    unitSquares(rows, transform) ?? squaredNorms(words ? withinColumns(rows, words.from, words.to) : rows);
  // Where the points alone are larger than the file shall be, only some are kept.
  const isCrowded = !linear && rows.values.length > writer.room();
  if (!linear) {
    if (!isCrowded) writePoints(writer, rows, () => true);
    const others = (transform.views ?? []).map(({ from, to }) => squaredNorms(withinColumns(rows, from, to)));
    writer.vector("squares", Float32Array.from([squares, ...others].flatMap((each) => Array.from(each))));
  }
  const lost = new Float64Array(writer.labels.length);
  let prepared = preparedParts.get(part);
  if (prepared?.slope !== slope) {
    const weights = slope === 0 ? new Float32Array(0) : await featureWeights(part, k, slope);
    if (slope !== 0) weighViews(weights, k, views, transform);
    prepared = { slope, weights, means: meansOf(part, squares, tangent, transform) };
    preparedParts.set(part, prepared);
  }
  const { weights, means } = prepared;
  const { features: ofFeatures, excess, near } = means;
  const pruned = {
    weights: { values: weights, labels: k, rows: slope === 0 ? 0 : features, sizes: ofFeatures.sizes },
    dual: {
      values: dual,
      labels: k,
      rows: linear ? 0 : rows.rows,
      ...(isCrowded ? pointSizes(part, k, near.sizes) : { sizes: near.sizes }),
      intact: part.intact,
    },
  };
  const least = leastKept(Object.values(pruned), writer.room());
  if (slope !== 0) {
    const kept = writeLargest(writer, "weights", pruned.weights, least);
    addLost(lost, writer, weights, ofFeatures.means, kept, ofFeatures.means);
  }
  if (!linear) {
    const kept = writeLargest(writer, "dual", pruned.dual, least);
    if (isCrowded) writePoints(writer, rows, (point) => hasLarge(pruned.dual, point, writer.labels, least));
    addLost(lost, writer, dual, excess.means, kept, near.means);
  }
  writeOffset(writer, levelled(mean, dual, level), lost);
  const weighed = views?.map(({ weight, lengthScale }) => [weight, lengthScale]);
  return { kernel, hyper: [...hyper], ...(weighed && { views: weighed }), points: linear ? 0 : rows.rows, tangent };
}

/** Rows of weights [D,K] times the weight of the view that they are of. */
function weighViews(
  weights: Float32Array,
  k: number,
  views: readonly ViewKernel[] | undefined,
  transform: FeatureTransform,
): void {
  viewRanges(transform)?.forEach(({ from, to }, view) => {
    for (let i = from * k; i < to * k; i++) weights[i] *= views?.[view].weight ?? 1;
  });
}

/** Results that are the same in every size, while sizes are tried. */
const preparedParts = new WeakMap<KernelPart, { slope: number; means: Means; weights: Float32Array }>();

/** Training points that stand for all where means are taken. */
const SAMPLED = 300;
/** So many points of the usual size are added to those that a factor's size is taken from. */
const USUAL_POINTS = 30;

/** Factors of the rows of a matrix: their means over points, and the roots of their mean squares. */
class Factors {
  readonly means: Float64Array;
  readonly #squares: Float64Array;
  readonly #points: number;

  constructor(count: number, points: number) {
    this.means = new Float64Array(count);
    this.#squares = new Float64Array(count);
    this.#points = points;
  }

  add(row: number, factor: number): void {
    this.means[row] += factor / this.#points;
    this.#squares[row] += factor * factor;
  }

  get sizes(): Float64Array {
    const usual = (USUAL_POINTS * sumOf(this.#squares)) / (this.#points * this.means.length);
    return this.#squares.map((sum) => Math.sqrt((sum + usual) / (this.#points + USUAL_POINTS)));
  }
}

interface Means {
  features: Factors;
  /** The rest of the covariance with each training point beside the tangent, and the part of it that the edge looks at. */
  excess: Factors;
  near: Factors;
}

/** Over the training points, of which none is compared with itself: what a new text will find. */
function meansOf(
  part: KernelPart,
  squares: Float32Array | Float64Array,
  tangent: Tangent,
  transform: FeatureTransform,
): Means {
  const { kernel, hyper, rows, views } = part;
  const n = rows.rows;
  const summed = views && rowKernel(choiceOf(part).kernel, transform)(rows);
  const features = new Factors(rows.columns, n);
  rows.columnIndex.forEach((column, e) => {
    features.add(column, rows.values[e]);
  });
  const step = Math.ceil(n / SAMPLED);
  const sampled = Math.ceil(n / step);
  const [excess, near] = [new Factors(n, sampled), new Factors(n, sampled)];
  const beside = besideTangent(scalarKernel(kernel, hyper), tangent, squares);
  for (let i = 0; i < n; i += step) {
    const dense = denseRow(rows, i);
    const covariances = summed?.with(i);
    const reach = covariances ? -1 : beside.reach(squares[i]);
    for (let j = 0; j < n; j++) {
      if (i === j) continue;
      const product = covariances ? 0 : dot(rows, j, dense);
      const factor = covariances?.[j] ?? beside.excess(product, squares[i], squares[j]);
      excess.add(j, factor);
      if (Math.abs(product) > reach) near.add(j, factor);
    }
  }
  return { features, excess, near };
}

/** Level and slope of k(x,z) as a function of x.z at 0, for points of unit length. */
function tangentOf({ kernel, hyper }: KernelPart): Tangent {
  const { covariance } = scalarKernel(kernel, hyper);
  const step = 1 / 1024;
  return [covariance(0, 1, 1), (covariance(step, 1, 1) - covariance(-step, 1, 1)) / (2 * step)];
}

/** mu + level times the sum over the training points of a */
function levelled(mean: Float32Array, dual: Float32Array, level: number): Float64Array {
  const k = mean.length;
  const sums = new Float64Array(k);
  for (let i = 0, label = 0; i < dual.length; i++, label = label + 1 === k ? 0 : label + 1) sums[label] += dual[i];
  return sums.map((sum, label) => mean[label] + level * sum);
}

/** slope X' a [D,K] */
async function featureWeights({ rows, dual }: KernelPart, k: number, slope: number): Promise<Float32Array> {
  const core = await createCore({ threads: 1 });
  try {
    const x = csr(core, rows, "f32");
    const out = matrix(core, rows.columns, k, "f32");
    sparseTransposeTimes(x, matrixFrom(core, rows.rows, k, dual, "f32"), out);
    return (out.toArray() as Float32Array).map((value) => slope * value);
  } finally {
    core.dispose();
  }
}

/**
 * A point takes room for its features as soon as one element of its row of the dual is kept. That is shared out to as many elements as
 * the row is made of in effect, (sum e^2)^2 / sum e^4: an element is worth e^2 for the room that it takes.
 */
function pointSizes(
  { dual, rows: { rowStart } }: KernelPart,
  labels: number,
  near: Float64Array,
): Required<Pick<FullMatrix, "sizes" | "costs">> {
  const costs = Float64Array.from(near, (_, i) => rowStart[i + 1] - rowStart[i]);
  const sizes = near.map((size, i) => {
    let [squares, fourth] = [0, 0];
    for (let e = i * labels; e < (i + 1) * labels; e++) {
      const square = dual[e] ** 2;
      squares += square;
      fourth += square * square;
    }
    return squares === 0 ? 0 : size / Math.sqrt(1 + (costs[i] * fourth) / squares ** 2);
  });
  return { sizes, costs };
}

/** Z' [D,M], the training points of each feature. */
function writePoints(writer: CompactWriter, rows: SparseRows, keeps: (point: number) => boolean): void {
  const { rowStart, columnIndex, values } = transpose(rows);
  const isKept = Array.from({ length: rows.rows }, (_, point) => keeps(point));
  const room = { columns: new Int32Array(rows.rows), values: new Float32Array(rows.rows) };
  writer.sparse("points", rows.columns, rows.rows, (j, write) => {
    let count = 0;
    for (let e = rowStart[j]; e < rowStart[j + 1]; e++) {
      if (!isKept[columnIndex[e]]) continue;
      room.columns[count] = columnIndex[e];
      room.values[count++] = values[e];
    }
    write(room.columns, room.values, count);
  });
}

/** A matrix in full, all labels in a row; `place` is where a row of the file stands in it, -1 for nowhere. */
interface FullMatrix {
  readonly values: Float32Array; // [.,K]
  readonly labels: number;
  readonly rows: number;
  readonly place?: (row: number) => number;
  /** How large the factors of its rows are, which the sizes of its elements are multiplied by; 1 if not given. */
  readonly sizes?: Float64Array;
  /** Elements elsewhere that each of its rows takes along as soon as it has one. */
  readonly costs?: Float64Array;
  /** Rows all of whose elements are written. */
  readonly intact?: ReadonlySet<number> | undefined;
}

const sizeOf = ({ sizes, intact }: FullMatrix, row: number): number =>
  intact?.has(row) ? Number.POSITIVE_INFINITY : sizes ? sizes[row] : 1;

const hasLarge = (full: FullMatrix, row: number, labels: readonly number[], least: number): boolean =>
  labels.some((label) => isLarge(full.values[row * full.labels + label], sizeOf(full, row), least));

const isLarge = (value: number, size: number, least: number): boolean => Math.fround(Math.abs(value) * size) >= least;

/** Writes the elements of a matrix that are at least so large, times the size of their row, for the labels that are kept. */
export function writeLargest(writer: CompactWriter, name: string, full: FullMatrix, least: number): RowMatrix {
  const { values, labels: k, rows, place = (row) => row } = full;
  const { labels } = writer;
  const columns = new Int32Array(labels.length);
  const kept = new Float32Array(labels.length);
  return writer.sparse(name, rows, labels.length, (row, write) => {
    const from = place(row) * k;
    const size = sizeOf(full, row);
    let count = 0;
    for (let i = 0; from >= 0 && i < labels.length; i++) {
      const value = values[from + labels[i]];
      if (!isLarge(value, size, least)) continue;
      columns[count] = i;
      kept[count++] = value;
    }
    write(columns, kept, count);
  });
}

/** Adds to `lost` what the rows of a matrix give on average, with these factors, and those that were kept do not. */
export function addLost(
  lost: Float64Array,
  { labels }: CompactWriter,
  values: Float32Array,
  factors: Float64Array,
  kept: RowMatrix,
  keptFactors: Float64Array,
): void {
  const given = new Float64Array(labels.length);
  kept.add([...keptFactors.keys()], keptFactors, keptFactors.length, given);
  const k = values.length / factors.length;
  const all = new Float64Array(k);
  factors.forEach((factor, row) => {
    for (let label = 0; label < k; label++) all[label] += factor * values[row * k + label];
  });
  labels.forEach((label, i) => {
    lost[i] = lost[i] + all[label] - given[i];
  });
}

/** The offset of each label, with what it makes up for. */
export function writeOffset(writer: CompactWriter, offset: ArrayLike<number>, lost: Float64Array): void {
  writer.vector(
    "offset",
    Float32Array.from(writer.labels, (label, i) => offset[label] + lost[i]),
  );
}

/** Bits of a magnitude that tell it from others: sign, exponent and the first eight of the fraction. */
const LOW_BITS = 15;

/** A size that at most so many of the elements reach, and nearly as many as there may be; 0 where all may stay. */
export function leastKept(
  matrices: readonly Pick<FullMatrix, "values" | "labels" | "sizes" | "costs">[],
  most: number,
): number {
  if (matrices.reduce((sum, { values, costs }) => sum + values.length + (costs ? sumOf(costs) : 0), 0) <= most)
    return 0;
  const counts = new Float64Array(1 << (31 - LOW_BITS));
  const real = new Float32Array(1);
  const bits = new Uint32Array(real.buffer);
  const binOf = (size: number): number => {
    real[0] = size;
    return bits[0] >>> LOW_BITS;
  };
  for (const { values, labels, sizes, costs } of matrices)
    for (let row = 0; row * labels < values.length; row++) {
      const size = sizes ? sizes[row] : 1;
      let greatest = 0;
      for (let i = row * labels; i < (row + 1) * labels; i++) {
        const own = binOf(Math.abs(values[i]) * size);
        counts[own]++;
        if (own > greatest) greatest = own;
      }
      if (costs) counts[greatest] += costs[row];
    }
  let bin = counts.length - 1;
  for (let kept = 0; bin >= 0; bin--) {
    kept += counts[bin];
    if (kept > most) break;
  }
  bits[0] = (bin + 1) << LOW_BITS;
  return real[0];
}
