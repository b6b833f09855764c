// The Gaussian posterior of a kernel, s(x) = k(x,Z) a + mu: the data that gpr (Z = X) and sgpr (some points) have in common, and
// everything that is done with it once it is fitted.

import { kernelNames } from "../../base/kernels.ts";
import { type SparseRows, selectFeatures } from "../../base/sparse.ts";
import { integerTensor, realTensor, type TensorReader, viewWeights } from "../../base/tensors.ts";
import type { Core } from "../../core/core.ts";
import { blend, columnSums, combine, gemm, scale } from "../../core/dense.ts";
import { type Matrix, matrix, matrixFrom, Scope, scoped } from "../../core/matrix.ts";
import { viewRanges } from "../../data/transform.ts";
import { largest, largestColumn, largestCovariance, longestRow } from "../overflow.ts";
import type { BlockScorer, Family, LeftOutPoints, ModelSchema, PartFile } from "../part.ts";
import { compactKernel } from "./compact.ts";
import { choiceOf, Kernel, type KernelNoise, type KernelPart } from "./kernel.ts";
import { type InnerProducts, narrowing, PointIndex, type Points, piecesOf, placeRows, spreadOver } from "./points.ts";
import { posteriorVariance, type UnexplainedVariance, unexplainedDeviation } from "./variance.ts";

/** A posterior as a part of a model: the points that carry the mean, and their weights. */
export const kernelPart = <Name extends string>(
  family: Name,
  { kernel, noise }: KernelNoise,
  rows: SparseRows,
  { dual, mean }: { dual: Matrix; mean: Matrix },
  looVariances?: Float32Array,
): KernelPart<Name> => ({
  family,
  kernel: kernel.name,
  hyper: [1, 1, kernel.lengthScale ?? 1],
  noise,
  ...(kernel.views && { views: kernel.views }),
  rows,
  dual: dual.toArray() as Float32Array,
  mean: mean.toArray() as Float32Array,
  ...(looVariances && { looVariances }),
});

/** The abilities that do not depend on how the part was fitted. */
export const kernelFamily = <Name extends string>(name: Name): Omit<Family<KernelPart<Name>>, "name" | "title"> => ({
  score: "gaussian",
  open: (part, schema, { core }) => openKernel(part, schema, core),
  variance: (part, { transform }, core, work) => posteriorVariance(core, part, transform, work),
  toFile: kernelFile,
  fromFile: (reader, about, schema) => ({ family: name, ...kernelFromFile(reader, about, schema) }),
  compact: compactKernel,
  compactChoices: () => ({ allLabels: true }),
  leaveOut: leftOutPoints,
  bounds({ kernel, hyper: [a, v, l], views, rows, dual, mean }, { labels }) {
    const hyper = [a, v, Math.min(l, ...(views ?? []).map(({ lengthScale }) => lengthScale))] as const;
    const [weights, z, offset] = [largestColumn(dual, labels, 1), longestRow(rows), largest(mean)];
    return (x) => {
      const [kx, distance] = largestCovariance(kernel, hyper, x, z);
      return [distance, kx, kx * weights + offset];
    };
  },
});

/** Some of the last points, whose variances v are known: left out they have the scores s - v a. */
function leftOutPoints<Name extends string>(
  part: KernelPart<Name>,
  { labels }: ModelSchema,
  count: number,
): LeftOutPoints<KernelPart<Name>> | undefined {
  const { rows, looVariances: variances, dual } = part;
  if (!variances) return undefined;
  const first = rows.rows - variances.length;
  const taken = spreadOver(variances.length, count).map((i) => first + i);
  const rest = new Float32Array(taken.length * labels);
  taken.forEach((point, i) => {
    const own = dual.subarray(point * labels, (point + 1) * labels);
    for (let k = 0; k < labels; k++) rest[i * labels + k] = -variances[point - first] * own[k];
  });
  return { part: { ...part, intact: new Set(taken) }, rows: selectFeatures(rows, taken), rest };
}

function openKernel(part: KernelPart, { labels, transform }: ModelSchema, core: Core): BlockScorer {
  const scope = new Scope();
  const mean = scope.keep(matrixFrom(core, 1, labels, part.mean, "f32"));
  const narrow = narrowing(part.rows, transform);
  const placed = (rows: SparseRows, inner: Scope): Points => placeRows(core, rows, transform, inner, { narrow });
  const training = scope.keep(new PointIndex(placed(part.rows, scope)));
  const size = part.rows.rows;
  const kernel = scope.keep(new Kernel(core, "f32", choiceOf(part).kernel));
  const dual = scope.keep(matrixFrom(core, size, labels, part.dual, "f32"));
  let variance: UnexplainedVariance | undefined;
  /** k(x,Z) [n,M] */
  const covariances = (rows: SparseRows, inner: Scope, index: InnerProducts = training): Matrix => {
    const room = (): Matrix => inner.keep(matrix(core, rows.rows, size, "f32"));
    return kernel.rows(placed(rows, inner), index, { from: 0, to: rows.rows, lower: false }, room(), room());
  };
  /** Products of a row, and of the same row without some of its entries, with Z: from the products of the pieces. */
  const withoutEntries = (rows: SparseRows, inner: Scope): InnerProducts => {
    const { pieces, scales } = piecesOf(rows, viewRanges(transform));
    const points = placed(pieces, inner);
    return {
      points: training.points,
      products(_, view, out, range) {
        training.products(points, view, out, range);
        const whole = columnSums(out, inner.keep(matrix(core, 1, size, "f32")));
        scale(1, whole, out.rowRange(0, 1));
        for (let i = 1; i < rows.rows; i++) {
          const [longer, row] = [scales[view][i], out.rowRange(i, i + 1)];
          blend(longer, whole, -longer, row, row);
        }
        return out;
      },
      free() {},
    };
  };
  return {
    async score({ rows }, out, deviations) {
      scoped((inner) => gemm(covariances(rows, inner), dual, out));
      combine("add", out, mean, out);
      if (!deviations) return undefined;
      variance ??= await posteriorVariance(core, part, transform);
      return unexplainedDeviation(part.mean, variance.unexplained(rows));
    },
    scoreOf: (rows, wanted) =>
      scoped((inner) => {
        const width = wanted.length;
        const of = inner.keep(matrix(core, size, width, "f32"));
        const into = of.view();
        for (let z = 0; z < size; z++)
          for (let i = 0; i < width; i++) into[z * width + i] = part.dual[z * labels + wanted[i]];
        const out = gemm(
          covariances(rows, inner, withoutEntries(rows, inner)),
          of,
          inner.keep(matrix(core, rows.rows, width, "f32")),
        );
        return out.toArray().map((score, at) => score + part.mean[wanted[at % width]]);
      }),
    free() {
      scope.free();
      variance?.free();
    },
  };
}

function kernelFile(
  { kernel, hyper, noise, views, rows, dual, mean, looVariances }: KernelPart,
  { labels }: ModelSchema,
): PartFile {
  return {
    about: {
      kernel,
      hyper,
      noise,
      ...(views && { views: views.map(({ weight, lengthScale }) => [weight, lengthScale]) }),
    },
    tensors: {
      rowStart: integerTensor(rows.rowStart),
      columnIndex: integerTensor(rows.columnIndex),
      values: realTensor(rows.values),
      dual: realTensor(dual, [rows.rows, labels]),
      mean: realTensor(mean),
      ...(looVariances && { looVariances: realTensor(looVariances) }),
    },
  };
}

/** Hyper-parameters whose logarithms single precision holds. */
const [LEAST, MOST] = [1e-36, 1e36];
/** Sums that were added to and taken from may be off by this. */
const ROUNDING = 1e-3;

/** mu, frequencies but for rounding. */
export const meanFromFile = (reader: TensorReader, labels: number): Float32Array =>
  reader.within("mean", reader.singles("mean", [labels]), -ROUNDING, 1 + ROUNDING);

function kernelFromFile(
  reader: TensorReader,
  about: Readonly<Record<string, unknown>>,
  { features, labels, transform }: ModelSchema,
): Omit<KernelPart, "family"> {
  const [points] = reader.shape("dual", 2);
  const views = transform.views && viewWeights(reader, about, transform.views.length + 1);
  const [known] = reader.has("looVariances") ? reader.shape("looVariances", 1) : [0];
  if (known > points) reader.refuse(`${known} looVariances`, `at most ${points}, one for each point`);
  return {
    ...(views && { views: views.map(([weight, lengthScale]) => ({ weight, lengthScale })) }),
    kernel: reader.word(about, "kernel", kernelNames),
    hyper: reader.numbers(about, "hyper", 3, LEAST, MOST) as [number, number, number],
    noise: reader.number(about, "noise", LEAST, MOST),
    rows: rowsFromFile(reader, points, features),
    dual: reader.singles("dual", [points, labels]),
    mean: meanFromFile(reader, labels),
    ...(known > 0 && { looVariances: reader.singles("looVariances", [known]) }),
  };
}

function rowsFromFile(reader: TensorReader, rows: number, columns: number): SparseRows {
  const [entries] = reader.shape("values", 1);
  const rowStart = reader.integers("rowStart", rows + 1, entries + 1);
  const columnIndex = reader.integers("columnIndex", entries, columns);
  let whole = rowStart[0] === 0 && rowStart[rows] === entries;
  for (let i = 0; i < rows && whole; i++) {
    const [from, to] = [rowStart[i], rowStart[i + 1]];
    whole = from <= to;
    for (let e = from + 1; e < to && whole; e++) whole = columnIndex[e - 1] < columnIndex[e];
  }
  if (!whole) reader.refuse("training rows that are not in order", "rows with rising columns");
  return { rows, columns, rowStart, columnIndex, values: reader.singles("values", [entries]) };
}
