// A trained model's parameters as predicting needs them, in full precision: the mean's weights and the variance's matrix.
// With C = Kz + diag(sigma) = L L', s(x) = k(x,x) - |k(x,Z) L^-T|^2; for the linear kernel k(x,Z) = a x Z', so that
// V = a Z' L^-T [D,M] does for the features what L^-T does for the inducing inputs.

import { type Core, createCore } from "../core/core.ts";
import { gemm, syrk } from "../core/dense.ts";
import { eigenSymmetric } from "../core/eigen.ts";
import { cholesky, FACTORED, solveTriangular } from "../core/factor.ts";
import { type Matrix, matrix, matrixFrom, type RealArray } from "../core/matrix.ts";
import { isLinear, plainHyper, scalarKernel } from "../model/kernels/index.ts";
import type { LatentModel } from "../model/model.ts";
import { groupsOf } from "../model/posteriors/index.ts";
import type { FullCompactOptions } from "./options.ts";

export interface Collapsed {
  /** [D,P] for linear kernels; else mu [M,P] is used. */
  weights?: RealArray;
  /** The variance through the features: own [D] and cover [D,rank]. */
  own?: Float64Array;
  cover?: RealArray;
  /** The variance through the inducing inputs [groups M,rank]. */
  root?: RealArray;
  /** Columns of cover or root, 0 where there is neither. */
  rank: number;
  groups: number;
}

export async function collapse(model: LatentModel, options: FullCompactOptions): Promise<Collapsed> {
  const core = await createCore({ threads: 1 });
  try {
    const weights = isLinear(model.kernel) ? meanWeights(core, model) : undefined;
    return { ...(weights && { weights }), ...variance(core, model, options) };
  } finally {
    core.dispose();
  }
}

/** mu itself, or a Z' mu. */
function meanWeights(core: Core, model: LatentModel): RealArray {
  if (model.mean === "features") return model.mu;
  const z = inducingInputs(core, model);
  const { precision } = z;
  const mu = matrixFrom(core, model.inducingPoints, model.factors, model.mu, precision);
  const out = matrix(core, model.features, model.factors, precision);
  gemm(z, mu, out, { alpha: plainHyper(model.hyper)[0] });
  const weights = out.toArray();
  for (const each of [z, mu, out]) each.free();
  return weights;
}

function inducingInputs(core: Core, model: LatentModel): Matrix {
  const precision = model.inducingInputs instanceof Float32Array ? "f32" : "f64";
  return matrixFrom(core, model.features, model.inducingPoints, model.inducingInputs, precision);
}

function variance(core: Core, model: LatentModel, options: FullCompactOptions): Omit<Collapsed, "weights"> {
  if (options.variance === "none") return { rank: 0, groups: 1 };
  const z = inducingInputs(core, model);
  const kz = innerCovariance(core, model, z);
  const exact = options.variance === "exact";
  const throughFeatures = isLinear(model.kernel) && (!exact || groupsOf(model) === 1);
  try {
    if (!throughFeatures && exact) return exactRoots(core, model, kz);
    const factor = factorise(core, model, kz, meanSigma(model));
    if (!throughFeatures) return truncatedRoot(core, kz, factor, options.rank);
    const v = featureRoot(core, model, z, factor);
    const [a] = plainHyper(model.hyper);
    if (exact)
      return {
        own: new Float64Array(model.features).fill(a),
        cover: v.toArray(),
        rank: v.columns,
        groups: 1,
      };
    return lowRank(core, v, options.variance === "diagonal" ? 0 : options.rank, a);
  } finally {
    z.free();
  }
}

/** Kz [M,M] in double precision. */
function innerCovariance(core: Core, model: LatentModel, z: Matrix): Float64Array {
  const m = model.inducingPoints;
  const { covariance } = scalarKernel(model.kernel, plainHyper(model.hyper));
  const products = matrix(core, m, m, z.precision);
  syrk(z, products, { transpose: true });
  const inner = Float64Array.from(products.toArray());
  products.free();
  const square = (i: number): number => inner[i * (m + 1)] as number;
  return inner.map((product, i) => covariance(product, square(Math.floor(i / m)), square(i % m)));
}

/** L of Kz + diag(sigma), double precision. */
function factorise(core: Core, model: LatentModel, kz: Float64Array, sigma: ArrayLike<number>): Matrix {
  const m = model.inducingPoints;
  const c = matrixFrom(core, m, m, kz, "f64");
  const elements = c.view();
  for (let i = 0; i < m; i++)
    elements[i * (m + 1)] = (elements[i * (m + 1)] as number) + (sigma[i] as number);
  if (cholesky(c)[0] !== FACTORED)
    throw new Error("the model: found no Cholesky factor of C, expected a positive definite C");
  return c;
}

/** Sigma, or its mean over the factors. */
function meanSigma(model: LatentModel): Float64Array {
  const { sigma, inducingPoints: m } = model;
  const groups = groupsOf(model);
  return Float64Array.from({ length: m }, (_, j) => {
    let sum = 0;
    for (let group = 0; group < groups; group++) sum += sigma[group * m + j] as number;
    return sum / groups;
  });
}

/** L^-T [M,M] */
function inverseTransposed(core: Core, factor: Matrix): Matrix {
  const m = factor.rows;
  const unit = matrix(core, m, m, "f64");
  const elements = unit.view();
  for (let i = 0; i < m; i++) elements[i * (m + 1)] = 1;
  return solveTriangular(factor, unit, { transpose: true });
}

/** One L^-T for each group, one below the other. */
function exactRoots(core: Core, model: LatentModel, kz: Float64Array): Omit<Collapsed, "weights"> {
  const m = model.inducingPoints;
  const groups = groupsOf(model);
  const root = new Float64Array(groups * m * m);
  for (let group = 0; group < groups; group++) {
    const factor = factorise(core, model, kz, model.sigma.subarray(group * m, (group + 1) * m));
    const inverse = inverseTransposed(core, factor);
    root.set(inverse.toArray(), group * m * m);
    factor.free();
    inverse.free();
  }
  return { root, rank: m, groups };
}

/** L^-T in the directions that matter most at the inducing inputs themselves. */
function truncatedRoot(
  core: Core,
  kz: Float64Array,
  factor: Matrix,
  rank: number,
): Omit<Collapsed, "weights"> {
  const m = factor.rows;
  const inverse = inverseTransposed(core, factor);
  const here = matrix(core, m, m, "f64");
  gemm(matrixFrom(core, m, m, kz, "f64"), inverse, here);
  const directions = leadingDirections(core, here, rank);
  const out = matrix(core, m, rank, "f64");
  gemm(inverse, directions, out, { transposeB: true });
  return { root: out.toArray(), rank, groups: 1 };
}

/** V = a Z' L^-T */
function featureRoot(core: Core, model: LatentModel, z: Matrix, factor: Matrix): Matrix {
  const [a] = plainHyper(model.hyper);
  const v = matrixFrom(
    core,
    z.rows,
    z.columns,
    z.toArray().map((value) => a * value),
    z.precision,
  );
  const lower = matrixFrom(core, factor.rows, factor.columns, factor.toArray(), z.precision);
  solveTriangular(lower, v, { side: "right", transpose: true });
  lower.free();
  return v;
}

/** Right singular vectors of the greatest singular values, as rows [rank,M]. */
function leadingDirections(core: Core, x: Matrix, rank: number): Matrix {
  const gram = matrix(core, x.columns, x.columns, x.precision);
  syrk(x, gram, { transpose: true });
  const wide = matrixFrom(core, x.columns, x.columns, gram.toArray(), "f64");
  return eigenSymmetric(wide, rank).vectors;
}

/** The leading directions of V, and a |x|^2 less the diagonal of what they leave out. */
function lowRank(core: Core, v: Matrix, rank: number, a: number): Omit<Collapsed, "weights"> {
  const full = v.toArray();
  const own = new Float64Array(v.rows);
  for (let row = 0; row < v.rows; row++) own[row] = a - squareSum(full, row, v.columns);
  if (rank === 0) return { own, rank, groups: 1 };
  const directions = leadingDirections(core, v, rank);
  const leading = matrixFrom(core, rank, v.columns, directions.toArray(), v.precision);
  const out = matrix(core, v.rows, rank, v.precision);
  gemm(v, leading, out, { transposeB: true });
  const cover = out.toArray();
  for (let row = 0; row < v.rows; row++) own[row] = (own[row] as number) + squareSum(cover, row, rank);
  return { own, cover, rank, groups: 1 };
}

function squareSum(values: RealArray, row: number, columns: number): number {
  let sum = 0;
  for (let i = row * columns; i < (row + 1) * columns; i++)
    sum += (values[i] as number) * (values[i] as number);
  return sum;
}
