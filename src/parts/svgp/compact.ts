// Latent functions and labels for a compact file: parameters as predicting needs them, the mean's weights and the variance's matrix,
// in few bits. With C = Kz + diag(sigma) = L L', s(x) = k(x,x) - |k(x,Z) L^-T|^2; for the linear kernel k(x,Z) = a x Z', so that
// V = a Z' L^-T [D,M] does for the features what L^-T does for the inducing inputs.

import { ArgumentError } from "../../base/errors.ts";
import { isLinear, plainHyper, scalarKernel } from "../../base/kernels.ts";
import { type Core, createCore } from "../../core/core.ts";
import { gemm, syrk } from "../../core/dense.ts";
import { cholesky, FACTORED, solveTriangular } from "../../core/factor.ts";
import { type Matrix, matrix, matrixFrom, type RealArray } from "../../core/matrix.ts";
import { eigenSymmetric } from "../../core/spectral.ts";
import {
  type CompactChoices,
  type CompactOptions,
  type CompactWriter,
  type FullCompactOptions,
  type NumberType,
  VARIANCE_FORMS,
} from "../compact.ts";
import type { ModelSchema } from "../part.ts";
import type { RowMatrix } from "../row.ts";
import { groupsOf, type SvgpPart } from "./shape.ts";

/** Defaults, and what cannot be chosen. */
export function svgpChoices(part: SvgpPart, { variance }: CompactOptions): CompactChoices {
  const linear = isLinear(part.kernel);
  if (variance === "diagonal" && !linear)
    throw new ArgumentError(
      "variance",
      `found diagonal with the kernel ${part.kernel}, expected exact, low-rank or none`,
    );
  return {
    variance: linear ? "diagonal" : groupsOf(part) === 1 ? "exact" : "low-rank",
    variances: VARIANCE_FORMS.filter((form) => form !== "diagonal" || linear),
    mostRank: part.inducingPoints,
  };
}

export async function compactSvgp(
  part: SvgpPart,
  { features }: ModelSchema,
  writer: CompactWriter,
): Promise<Record<string, unknown>> {
  const { kernel, factors, inducingPoints, hyper } = part;
  const { variance } = writer.options;
  const collapsed = await collapse(part, features, writer.options);
  const rows = keptRows(part, features, collapsed, writer);
  writeMatrices(writer, part, features, collapsed, rows);
  writeLabels(writer, part, collapsed);
  return {
    kernel,
    hyper: plainHyper(hyper),
    variance,
    rows: rows?.length ?? features,
    factors,
    groups: collapsed.groups,
    inducing: throughInducing(collapsed) ? inducingPoints : 0,
    rank: collapsed.rank,
  };
}

interface Collapsed {
  /** [D,P] for linear kernels; else mu [M,P] is used. */
  weights?: RealArray;
  /** The variance through the features: diag [D] and lowRank [D,rank]. */
  diag?: Float64Array;
  lowRank?: RealArray;
  /** The variance through the inducing inputs [groups M,rank]. */
  cholInverse?: RealArray;
  /** Columns of lowRank or cholInverse, 0 where there is neither. */
  rank: number;
  groups: number;
}
type Variance = Omit<Collapsed, "weights">;

const throughInducing = ({ weights, cholInverse }: Collapsed): boolean => !weights || !!cholInverse;

async function collapse(part: SvgpPart, features: number, options: FullCompactOptions): Promise<Collapsed> {
  const core = await createCore({ threads: 1 });
  try {
    const { inducingInputs: inputs, inducingPoints: m } = part;
    const z = matrixFrom(core, features, m, inputs, inputs instanceof Float32Array ? "f32" : "f64");
    const weights = isLinear(part.kernel) ? meanWeights(part, z) : undefined;
    return { weights, ...varianceOf(part, z, options) };
  } finally {
    core.dispose();
  }
}

/** mu itself, or a Z' mu. */
function meanWeights({ mean, mu, inducingPoints, factors, hyper }: SvgpPart, z: Matrix): RealArray {
  if (mean === "features") return mu;
  const { core, rows, precision } = z;
  const out = matrix(core, rows, factors, precision);
  const by = matrixFrom(core, inducingPoints, factors, mu, precision);
  return gemm(z, by, out, { alpha: plainHyper(hyper)[0] }).toArray();
}

function varianceOf(part: SvgpPart, z: Matrix, { variance, rank }: FullCompactOptions): Variance {
  if (variance === "none") return { rank: 0, groups: 1 };
  const kz = innerCovariance(part, z);
  const exact = variance === "exact";
  const throughFeatures = isLinear(part.kernel) && (!exact || groupsOf(part) === 1);
  if (!throughFeatures && exact) return exactInverses(part, z.core, kz);
  const factor = factorise(z.core, kz, meanSigma(part));
  if (!throughFeatures) return truncatedInverse(kz, factor, rank);
  const [a] = plainHyper(part.hyper);
  const v = featureMatrix(a, z, factor);
  if (!exact) return leadingPart(v, variance === "diagonal" ? 0 : rank, a);
  return { diag: new Float64Array(v.rows).fill(a), lowRank: v.toArray(), rank: v.columns, groups: 1 };
}

/** Kz [M,M] in double precision. */
function innerCovariance({ kernel, hyper }: SvgpPart, z: Matrix): Float64Array {
  const m = z.columns;
  const { covariance } = scalarKernel(kernel, plainHyper(hyper));
  const products = syrk(z, matrix(z.core, m, m, z.precision), { transpose: true });
  const inner = Float64Array.from(products.toArray());
  const square = (i: number): number => inner[i * (m + 1)];
  return inner.map((product, i) => covariance(product, square(Math.floor(i / m)), square(i % m)));
}

/** L of Kz + diag(sigma), double precision. */
function factorise(core: Core, kz: Float64Array, sigma: ArrayLike<number>): Matrix {
  const m = sigma.length;
  const c = matrixFrom(core, m, m, kz, "f64");
  const elements = c.view();
  for (let i = 0; i < m; i++) elements[i * (m + 1)] += sigma[i];
  if (cholesky(c)[0] !== FACTORED)
    throw new Error("the model: found no Cholesky factor of C, expected a positive definite C");
  return c;
}

/** Sigma, or its mean over the factors. */
function meanSigma(part: SvgpPart): Float64Array {
  const { sigma, inducingPoints: m } = part;
  const groups = groupsOf(part);
  return Float64Array.from({ length: m }, (_, j) => {
    let sum = 0;
    for (let group = 0; group < groups; group++) sum += sigma[group * m + j];
    return sum / groups;
  });
}

/** L^-T [M,M] */
function inverseTransposed(factor: Matrix): Matrix {
  const m = factor.rows;
  const unit = matrix(factor.core, m, m, "f64");
  const elements = unit.view();
  for (let i = 0; i < m; i++) elements[i * (m + 1)] = 1;
  return solveTriangular(factor, unit, { transpose: true });
}

/** One L^-T for each group, one below the other. */
function exactInverses(part: SvgpPart, core: Core, kz: Float64Array): Variance {
  const m = part.inducingPoints;
  const groups = groupsOf(part);
  const cholInverse = new Float64Array(groups * m * m);
  for (let group = 0; group < groups; group++) {
    const factor = factorise(core, kz, part.sigma.subarray(group * m, (group + 1) * m));
    const inverse = inverseTransposed(factor);
    cholInverse.set(inverse.toArray(), group * m * m);
    factor.free();
    inverse.free();
  }
  return { cholInverse, rank: m, groups };
}

/** L^-T in the directions that matter most at the inducing inputs themselves. */
function truncatedInverse(kz: Float64Array, factor: Matrix, rank: number): Variance {
  const { core, rows: m } = factor;
  const inverse = inverseTransposed(factor);
  const here = gemm(matrixFrom(core, m, m, kz, "f64"), inverse, matrix(core, m, m, "f64"));
  const out = matrix(core, m, rank, "f64");
  gemm(inverse, leadingDirections(here, rank), out, { transposeB: true });
  return { cholInverse: out.toArray(), rank, groups: 1 };
}

/** V = a Z' L^-T */
function featureMatrix(a: number, z: Matrix, factor: Matrix): Matrix {
  const { core, precision } = z;
  const scaled = z.toArray().map((value) => a * value);
  const lower = matrixFrom(core, factor.rows, factor.columns, factor.toArray(), precision);
  const v = matrixFrom(core, z.rows, z.columns, scaled, precision);
  return solveTriangular(lower, v, { side: "right", transpose: true });
}

/** Right singular vectors of the greatest singular values, as rows [rank,M]. */
function leadingDirections(x: Matrix, rank: number): Matrix {
  const { core, columns: m, precision } = x;
  const gram = syrk(x, matrix(core, m, m, precision), { transpose: true });
  return eigenSymmetric(matrixFrom(core, m, m, gram.toArray(), "f64"), rank).vectors;
}

/** The leading directions of V, and a |x|^2 less the diagonal of what they leave out. */
function leadingPart(v: Matrix, rank: number, a: number): Variance {
  const full = v.toArray();
  const diag = squareSums(full, v.rows, v.columns).map((sum) => a - sum);
  if (rank === 0) return { diag, rank, groups: 1 };
  const { core, precision } = v;
  const leading = matrixFrom(core, rank, v.columns, leadingDirections(v, rank).toArray(), precision);
  const out = gemm(v, leading, matrix(core, v.rows, rank, precision), { transposeB: true });
  const lowRank = out.toArray();
  const kept = squareSums(lowRank, v.rows, rank);
  return { diag: diag.map((value, row) => value + kept[row]), lowRank, rank, groups: 1 };
}

/** A feature alone in a text may move a utility by so much, and the latent variance by so much of the kernel's. */
const [UTILITY, VARIANCE] = [0.01, 0.001];
/** Elements of the weights beyond which there would be no room beside them for those of another part. */
const MANY_ELEMENTS = 5e6;

/**
 * The features that keep their rows in the large matrices, or undefined where leaving others out would not save anything: no text can
 * tell whether the weights of those are there. They stay features: a text's length counts them, and so does its variance. In few
 * bits, where room is short, only those that another part has weights for: words of a few texts are most of the rows and one entry in
 * a hundred.
 */
function keptRows(
  part: SvgpPart,
  features: number,
  collapsed: Collapsed,
  { options: { type }, columns: others }: CompactWriter,
): Int32Array | undefined {
  const { factors: p, inducingPoints: m, phi, bias } = part;
  const { weights, lowRank, rank } = collapsed;
  // In full precision only what is zero is left out.
  const exact = type === "f32";
  const largestLabel = squareSums(phi, bias.length, p).reduce((most, sum) => Math.max(most, sum), 1e-30);
  const limits: [RealArray, columns: number, limit: number][] = [];
  if (weights) limits.push([weights, p, exact ? 0 : (UTILITY * UTILITY) / largestLabel]);
  if (lowRank) limits.push([lowRank, rank, exact ? 0 : VARIANCE]);
  if (throughInducing(collapsed)) limits.push([part.inducingInputs, m, 0]);
  const kept = new Uint8Array(features);
  const among = !exact && others && features * p > MANY_ELEMENTS ? new Set(others) : undefined;
  for (const [values, columns, limit] of limits)
    squareSums(values, features, columns).forEach((sum, feature) => {
      if (sum > limit && (!among || among.has(feature))) kept[feature] = 1;
    });
  const rows = Int32Array.from(kept.keys()).filter((feature) => kept[feature] === 1);
  const bits = exact ? 32 : type === "f16" ? 16 : Number(type.slice(3));
  const rowBytes = limits.reduce((sum, [, columns]) => sum + (columns * bits) / 8, 0);
  const pays = (features - rows.length) * rowBytes > 4 * features;
  return pays && rows.length > 0 ? rows : undefined;
}

function writeMatrices(
  writer: CompactWriter,
  part: SvgpPart,
  features: number,
  collapsed: Collapsed,
  rows: Int32Array | undefined,
): void {
  const { inducingPoints: m, factors: p, inducingInputs, mu } = part;
  const { weights, diag, lowRank, cholInverse, rank, groups } = collapsed;
  const { type } = writer.options;
  const small = smallType(type);
  const large = (name: string, values: RealArray, columns: number): RowMatrix =>
    writer.matrix(name, rows ? selectRows(values, rows, columns) : values, rows?.length ?? features, columns, type);
  if (rows) {
    const rowOf = new Int32Array(features).fill(-1);
    rows.forEach((feature, row) => {
      rowOf[feature] = row;
    });
    writer.integers("rows", rowOf);
  }
  if (weights) large("weights", weights, p);
  else writer.matrix("mu", mu, m, p, small);
  if (throughInducing(collapsed)) {
    large("inducing", inducingInputs, m);
    const squares = new Float64Array(m);
    inducingInputs.forEach((value, i) => {
      squares[i % m] += value * value;
    });
    writer.vector("inducingSquares", squares);
  }
  const stored = lowRank && large("lowRank", lowRank, rank);
  if (diag)
    writer.matrix("diag", lowRank && stored ? corrected(diag, lowRank, stored, rows) : diag, features, 1, small);
  if (cholInverse) writer.matrix("cholInverse", cholInverse, groups * m, rank, small);
}

/** Small matrices are not worth less than half precision. */
const smallType = (type: NumberType): NumberType => (type === "f32" ? "f32" : "f16");

/** A diagonal that makes up for what few bits did to the rest: a text of one word stays as it was. */
function corrected(
  diag: Float64Array,
  lowRank: RealArray,
  stored: RowMatrix,
  rows: Int32Array | undefined,
): Float64Array {
  const rank = stored.columns;
  const squares = squareSums(lowRank, diag.length, rank);
  const out = diag.map((value, feature) => value - squares[feature]);
  for (let row = 0; row < stored.rows; row++) {
    const elements = new Float64Array(rank);
    stored.add([row], [1], 1, elements);
    out[rows ? rows[row] : row] += squareSums(elements, 1, rank)[0];
  }
  return out;
}

function writeLabels(writer: CompactWriter, part: SvgpPart, { rank, groups, diag }: Collapsed): void {
  const { factors: p, phi, bias } = part;
  const { labels, options } = writer;
  const rows = selectRows(phi, labels, p);
  writer.matrix("phi", rows, labels.length, p, writer.whole ? "int8" : options.type);
  writer.vector(
    "bias",
    Float32Array.from(labels, (label) => bias[label]),
  );
  if ((diag || rank > 0) && groups === 1) writer.vector("spread", squareSums(rows, labels.length, p));
}

function selectRows(values: RealArray, rows: ArrayLike<number>, columns: number): Float64Array {
  const out = new Float64Array(rows.length * columns);
  for (let i = 0; i < rows.length; i++)
    out.set(values.subarray(rows[i] * columns, (rows[i] + 1) * columns), i * columns);
  return out;
}

/** Sums of the squares of each row. */
function squareSums(values: RealArray, rows: number, columns: number): Float64Array {
  const sums = new Float64Array(rows);
  for (let i = 0, row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++, i++) sums[row] += values[i] * values[i];
  return sums;
}
