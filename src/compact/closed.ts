// The Gaussian posterior for a compact file (src/edge/closed.ts has the formula). In few bits only the largest weights are kept. With
// all training points in the mean, the covariance's tangent at points that have nothing in common goes into weights of the
// features: what is left of the covariance is 0 but for near points, and few of the dual's elements matter.

import { createCore } from "../core/core.ts";
import { csr, sparseTransposeTimes } from "../core/csr.ts";
import { matrix, matrixFrom } from "../core/matrix.ts";
import type { SparseRows } from "../data/dataset.ts";
import { inverseFrequency } from "../data/terms.ts";
import { wholeSquares } from "../data/transform.ts";
import { besideTangent } from "../edge/closed.ts";
import type { ClosedAbout } from "../edge/format.ts";
import type { RowMatrix } from "../edge/matrix.ts";
import { sparseMatrix } from "../edge/sparse.ts";
import { isLinear, scalarKernel } from "../model/kernels/index.ts";
import type { ClosedModel, KernelPart } from "../model/model.ts";
import type { FullCompactOptions, NumberType } from "./options.ts";
import type { Parcel } from "./parcel.ts";
import { leastKept, SparseWriter } from "./sparse.ts";

/** Part of the file that is for the weights at least; an element takes two bytes. */
const LEAST_SHARE = 0.1;
const ELEMENT_BYTES = 2;
/** Of the elements, those that go to the features' weights where training points want some too. */
const FEATURES_SHARE = 0.4;

/** Weights [rows,K] of some features, in full. */
interface FeatureWeights {
  columns: ArrayLike<number>;
  weights: Float32Array;
}

/** Adds the closed form for these labels; everything else must be in the parcel already. */
export async function addClosed(
  parcel: Parcel,
  model: ClosedModel,
  labels: number[],
  options: FullCompactOptions,
): Promise<ClosedAbout> {
  const { closed, labelMean } = model;
  const whole = isWhole(options.type);
  addStack(parcel, model, labels, whole);
  if (closed.form === "linear") {
    const kept = addWeights(parcel, model, labels, closed, whole, elementsLeft(parcel, options));
    const lost = new Float64Array(labels.length);
    const typical = typicalRow(model);
    if (typical)
      addLost(
        lost,
        { values: closed.weights, k: model.labels, labels },
        Float64Array.from(closed.columns, (column) => typical[column] as number),
        kept,
        typical,
      );
    addOffset(parcel, labels, labelMean, lost);
    return { kernel: "linear", hyper: [1, 1, 1], points: 0, tangent: [0, 0], stack: model.stack?.rank ?? 0 };
  }
  return await addExact(parcel, model, closed, labels, options);
}

async function addExact(
  parcel: Parcel,
  model: ClosedModel,
  part: KernelPart,
  labels: number[],
  options: FullCompactOptions,
): Promise<ClosedAbout> {
  const { labels: k, labelMean, features, stack, transform } = model;
  const whole = isWhole(options.type);
  const { kernel, hyper, rows, dual } = part;
  const linear = isLinear(kernel);
  const unit = transform.normalise || transform.whole;
  const [level, slope] = linear || (whole && unit) ? tangentOf(part) : [0, 0];
  const squares = wholeSquares(rows, transform) ?? squaresOf(rows);
  const about: ClosedAbout = {
    kernel,
    hyper,
    points: linear ? 0 : rows.rows,
    tangent: linear ? [0, 0] : [level, slope],
    stack: stack?.rank ?? 0,
    ...(transform.whole && { whole: true }),
  };
  if (!linear) {
    parcel.sparse("closed.points", pointsByFeature(rows, whole));
    parcel.reals("closed.squares", squares);
  }
  const lost = new Float64Array(labels.length);
  const left = elementsLeft(parcel, options);
  const ofFeatures = linear ? left : Math.max(FEATURES_SHARE * left, left - dual.length);
  const means = meansOf(part, squares, about.tangent);
  if (slope !== 0) {
    const weights = await featureWeights(part, k, slope);
    const columns = Int32Array.from({ length: features }, (_, feature) => feature);
    const kept = addWeights(parcel, model, labels, { columns, weights }, whole, ofFeatures);
    addLost(lost, { values: weights, k, labels }, means.features, kept, means.features);
  }
  if (!linear) {
    const writer = new SparseWriter(whole);
    const least = leastKept(dual, Math.floor(elementsLeft(parcel, options)));
    const write = rowWriter(writer, dual, k, labels, least);
    for (let i = 0; i < rows.rows; i++) write(i);
    const kept = addSparse(parcel, "closed.dual", writer, rows.rows, labels.length);
    addLost(lost, { values: dual, k, labels }, means.excess, kept, means.near);
  }
  addOffset(parcel, labels, levelled(labelMean, dual, k, level), lost);
  return about;
}

/**
 * About the mean of each feature over texts, from how many have it: each present one has its idf, and rows are of unit length.
 * Undefined where the model knows no frequencies.
 */
function typicalRow({ vectoriser, features }: ClosedModel): Float64Array | undefined {
  if (!vectoriser) return undefined;
  const { documentFrequency, documents, options } = vectoriser;
  const rules = { idf: options.idf ?? true };
  const idf = Float64Array.from({ length: features }, (_, j) =>
    inverseFrequency(rules, documents, documentFrequency[j] as number),
  );
  const share = (j: number): number => (documentFrequency[j] as number) / documents;
  let square = 0;
  for (let j = 0; j < features; j++) square += share(j) * (idf[j] as number) * (idf[j] as number);
  return idf.map((weight, j) => (share(j) * weight) / Math.sqrt(square));
}

/** Training points that stand for all where means are taken. */
const SAMPLED = 300;

interface Means {
  /** Of each feature. */
  features: Float64Array;
  /** Of what is left of the covariance with each training point beside the tangent, and of what the edge looks at. */
  excess: Float64Array;
  near: Float64Array;
}

/** Means over the training points, of which none is compared with itself: what a new text will find on average. */
function meansOf(
  { kernel, hyper, rows }: KernelPart,
  squares: ArrayLike<number>,
  tangent: ClosedAbout["tangent"],
): Means {
  const n = rows.rows;
  const features = new Float64Array(rows.columns);
  rows.columnIndex.forEach((column, e) => {
    features[column] = (features[column] as number) + (rows.values[e] as number) / n;
  });
  const means: Means = { features, excess: new Float64Array(n), near: new Float64Array(n) };
  const beside = besideTangent(scalarKernel(kernel, hyper), tangent);
  const dense = new Float64Array(rows.columns);
  const step = Math.ceil(n / SAMPLED);
  for (let i = 0; i < n; i += step) {
    forRow(rows, i, (column, value) => {
      dense[column] = value;
    });
    for (let j = 0; j < n; j++) {
      if (i === j) continue;
      let product = 0;
      forRow(rows, j, (column, value) => {
        product += value * (dense[column] as number);
      });
      const excess = beside.excess(product, squares[i] as number, squares[j] as number);
      const share = step / n;
      means.excess[j] = (means.excess[j] as number) + share * excess;
      if (beside.matters(excess)) means.near[j] = (means.near[j] as number) + share * excess;
    }
    forRow(rows, i, (column) => {
      dense[column] = 0;
    });
  }
  return means;
}

function forRow(
  { rowStart, columnIndex, values }: SparseRows,
  row: number,
  each: (column: number, value: number) => void,
): void {
  const to = rowStart[row + 1] as number;
  for (let e = rowStart[row] as number; e < to; e++) each(columnIndex[e] as number, values[e] as number);
}

/** Adds to `lost` what these rows of a matrix give on average and those that were kept do not. */
function addLost(
  lost: Float64Array,
  { values, k, labels }: { values: Float32Array; k: number; labels: number[] },
  factors: Float64Array,
  kept: RowMatrix,
  keptFactors: Float64Array,
): void {
  const given = new Float64Array(labels.length);
  kept.add([...keptFactors.keys()], keptFactors, keptFactors.length, given);
  const all = new Float64Array(k);
  factors.forEach((factor, row) => {
    for (let label = 0; label < k; label++)
      all[label] = (all[label] as number) + factor * (values[row * k + label] as number);
  });
  labels.forEach((label, i) => {
    lost[i] = (lost[i] as number) + (all[label] as number) - (given[i] as number);
  });
}

/** How many more elements there is room for. */
function elementsLeft(parcel: Parcel, { type, size }: FullCompactOptions): number {
  if (!isWhole(type)) return Number.POSITIVE_INFINITY;
  const bytes = 1e6 * size;
  return Math.max(LEAST_SHARE * bytes, bytes - parcel.size) / ELEMENT_BYTES;
}

const isWhole = (type: NumberType): boolean => type.startsWith("int");

/** Level and slope of k(x,z) as a function of x.z at 0, for points of unit length. */
function tangentOf({ kernel, hyper }: KernelPart): [number, number] {
  const { covariance } = scalarKernel(kernel, hyper);
  const step = 1 / 1024;
  return [covariance(0, 1, 1), (covariance(step, 1, 1) - covariance(-step, 1, 1)) / (2 * step)];
}

/** mu + level times the sum over the training points of a */
function levelled(mean: Float32Array, dual: Float32Array, k: number, level: number): Float64Array {
  const sums = new Float64Array(k);
  for (let i = 0, label = 0; i < dual.length; i++, label = label + 1 === k ? 0 : label + 1)
    sums[label] = (sums[label] as number) + (dual[i] as number);
  return sums.map((sum, label) => (mean[label] as number) + level * sum);
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

function addOffset(
  parcel: Parcel,
  labels: number[],
  offset: ArrayLike<number>,
  lost: ArrayLike<number> = [],
): void {
  parcel.reals(
    "closed.offset",
    Float64Array.from(labels, (label, i) => (offset[label] as number) + (lost[i] ?? 0)),
  );
}

/** Adds a sparse matrix; returns it as the edge will read it. */
function addSparse(
  parcel: Parcel,
  name: string,
  writer: SparseWriter,
  rows: number,
  columns: number,
): RowMatrix {
  const { gaps, values, scale } = writer.finish();
  parcel.sparse(name, { gaps, values, ...(scale && { scale }) });
  return sparseMatrix({ gaps, values, scale }, rows, columns, (found, expected) => {
    throw new Error(`${name}: found ${found}, expected ${expected}`);
  });
}

/** The largest weights of the features. */
function addWeights(
  parcel: Parcel,
  { features, labels: k }: ClosedModel,
  labels: number[],
  { columns, weights }: FeatureWeights,
  whole: boolean,
  most: number,
): RowMatrix {
  const writer = new SparseWriter(whole);
  const write = rowWriter(writer, weights, k, labels, leastKept(weights, Math.floor(most)));
  for (let feature = 0, at = 0; feature < features; feature++) {
    if (columns[at] === feature) write(at++);
    else writer.row([], []);
  }
  return addSparse(parcel, "closed.weights", writer, features, labels.length);
}

/** Writes a row of a matrix [.,k]: those labels, and of them the elements of at least this magnitude. */
function rowWriter(
  writer: SparseWriter,
  values: Float32Array,
  k: number,
  labels: number[],
  least: number,
): (row: number) => void {
  const columns = new Int32Array(labels.length);
  const kept = new Float32Array(labels.length);
  return (row) => {
    let count = 0;
    for (let position = 0; position < labels.length; position++) {
      const value = values[row * k + (labels[position] as number)] as number;
      if (Math.abs(value) < least) continue;
      columns[count] = position;
      kept[count++] = value;
    }
    writer.row(columns, kept, count);
  };
}

/** Z' [D,M], the training points of each feature. */
function pointsByFeature(rows: SparseRows, whole: boolean): ReturnType<SparseWriter["finish"]> {
  const starts = new Int32Array(rows.columns + 1);
  for (const column of rows.columnIndex) starts[column + 1] = (starts[column + 1] as number) + 1;
  for (let j = 0; j < rows.columns; j++) starts[j + 1] = (starts[j + 1] as number) + (starts[j] as number);
  const next = starts.slice();
  const points = new Int32Array(rows.columnIndex.length);
  const values = new Float32Array(points.length);
  for (let i = 0; i < rows.rows; i++)
    for (let e = rows.rowStart[i] as number; e < (rows.rowStart[i + 1] as number); e++) {
      const column = rows.columnIndex[e] as number;
      const at = next[column] as number;
      next[column] = at + 1;
      points[at] = i;
      values[at] = rows.values[e] as number;
    }
  const writer = new SparseWriter(whole);
  for (let j = 0; j < rows.columns; j++) {
    const [from, to] = [starts[j] as number, starts[j + 1] as number];
    writer.row(points.subarray(from, to), values.subarray(from, to));
  }
  return writer.finish();
}

function squaresOf({ rows, rowStart, values }: SparseRows): Float64Array {
  return Float64Array.from({ length: rows }, (_, i) => {
    let sum = 0;
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++)
      sum += (values[e] as number) * (values[e] as number);
    return sum;
  });
}

/** E, Bs and mu of these labels. */
function addStack(
  parcel: Parcel,
  { stack, labels: k, labelMean }: ClosedModel,
  labels: number[],
  whole: boolean,
): void {
  if (!stack) return;
  const { rank, vectors, weights } = stack;
  const type = whole ? "f16" : "f32";
  const n = labels.length;
  const ofLabels = new Float32Array(n * rank);
  const toLabels = new Float32Array(rank * n);
  labels.forEach((label, i) => {
    for (let p = 0; p < rank; p++) {
      ofLabels[i * rank + p] = vectors[label * rank + p] as number;
      toLabels[p * n + i] = weights[p * k + label] as number;
    }
  });
  parcel.matrix("stack.vectors", ofLabels, n, rank, type);
  parcel.matrix("stack.weights", toLabels, rank, n, type);
  parcel.reals(
    "stack.mean",
    Float64Array.from(labels, (label) => labelMean[label] as number),
  );
}
