// The Gaussian posterior for a compact file (src/edge/closed.ts has the formula). In few bits only the largest weights are kept. With
// all training points in the mean, the covariance's tangent at points that have nothing in common goes into weights of the
// features: what is left of the covariance is 0 but for near points, and few of the dual's elements matter.

import { createCore } from "../core/core.ts";
import { csr, sparseTransposeTimes } from "../core/csr.ts";
import { matrix, matrixFrom } from "../core/matrix.ts";
import type { SparseRows } from "../data/dataset.ts";
import { wholeSquares } from "../data/transform.ts";
import type { ClosedAbout } from "../edge/format.ts";
import { isLinear, scalarKernel } from "../model/kernels/index.ts";
import type { ClosedModel, ExactPart } from "../model/model.ts";
import type { FullCompactOptions } from "./options.ts";
import type { Parcel } from "./parcel.ts";
import { leastKept, SparseWriter } from "./sparse.ts";

/** Bytes that a file may have by default, and at least for the weights; an element takes two. */
const MOST_BYTES = 9.5e6;
const LEAST_BYTES = 1e6;
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
  { type }: FullCompactOptions,
): Promise<ClosedAbout> {
  const { closed, labelMean } = model;
  const whole = type.startsWith("int");
  addStack(parcel, model, labels, whole);
  if (closed.form === "linear") {
    addWeights(parcel, model, labels, closed, whole, elementsLeft(parcel, whole));
    addOffset(parcel, labels, labelMean);
    return { kernel: "linear", hyper: [1, 1, 1], points: 0, tangent: [0, 0], stack: model.stack?.rank ?? 0 };
  }
  return await addExact(parcel, model, closed, labels, whole);
}

async function addExact(
  parcel: Parcel,
  model: ClosedModel,
  part: ExactPart,
  labels: number[],
  whole: boolean,
): Promise<ClosedAbout> {
  const { labels: k, labelMean, features, transform } = model;
  const { kernel, hyper, rows, dual } = part;
  const linear = isLinear(kernel);
  const tangent =
    linear || (whole && (transform.normalise || transform.whole)) ? tangentOf(part) : ([0, 0] as const);
  const [level, slope] = tangent;
  addOffset(parcel, labels, levelled(labelMean, dual, k, level));
  if (!linear) {
    parcel.sparse("closed.points", pointsByFeature(rows, whole));
    parcel.reals("closed.squares", wholeSquares(rows, transform) ?? squaresOf(rows));
  }
  const left = elementsLeft(parcel, whole);
  const ofFeatures = linear ? left : Math.max(FEATURES_SHARE * left, left - dual.length);
  if (slope !== 0) {
    const weights = await featureWeights(part, k, slope);
    const columns = Int32Array.from({ length: features }, (_, feature) => feature);
    addWeights(parcel, model, labels, { columns, weights }, whole, ofFeatures);
  }
  if (!linear) {
    const most = Math.floor(elementsLeft(parcel, whole));
    const writer = new SparseWriter(whole);
    const write = rowWriter(writer, dual, k, labels, leastKept(dual, most));
    for (let i = 0; i < rows.rows; i++) write(i);
    parcel.sparse("closed.dual", writer.finish());
  }
  return {
    kernel,
    hyper,
    points: linear ? 0 : rows.rows,
    tangent: linear ? [0, 0] : [level, slope],
    stack: model.stack?.rank ?? 0,
    ...(transform.whole && { whole: true }),
  };
}

/** How many more elements there is room for. */
function elementsLeft(parcel: Parcel, whole: boolean): number {
  return whole ? Math.max(LEAST_BYTES, MOST_BYTES - parcel.size) / ELEMENT_BYTES : Number.POSITIVE_INFINITY;
}

/** Level and slope of k(x,z) as a function of x.z at 0, for points of unit length. */
function tangentOf({ kernel, hyper }: ExactPart): [number, number] {
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
async function featureWeights({ rows, dual }: ExactPart, k: number, slope: number): Promise<Float32Array> {
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

function addOffset(parcel: Parcel, labels: number[], offset: ArrayLike<number>): void {
  parcel.reals(
    "closed.offset",
    Float64Array.from(labels, (label) => offset[label] as number),
  );
}

/** The largest weights of the features. */
function addWeights(
  parcel: Parcel,
  { features, labels: k }: ClosedModel,
  labels: number[],
  { columns, weights }: FeatureWeights,
  whole: boolean,
  most: number,
): void {
  const writer = new SparseWriter(whole);
  const write = rowWriter(writer, weights, k, labels, leastKept(weights, Math.floor(most)));
  for (let feature = 0, at = 0; feature < features; feature++) {
    if (columns[at] === feature) write(at++);
    else writer.row([], []);
  }
  parcel.sparse("closed.weights", writer.finish());
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
