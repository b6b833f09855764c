// Where a training starts: the basis, the inducing inputs and the first parameters.

import type { Backend } from "../backend/backend.ts";
import type { Core } from "../core/core.ts";
import { type Csr, sparseTimes } from "../core/csr.ts";
import { gemm, transpose } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { kmeans } from "../core/kmeans.ts";
import { type Matrix, matrix, matrixFrom, type RealArray } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { fillNormal } from "../core/random.ts";
import { type LabelSets, labelFrequencies } from "../data/dataset.ts";
import { deterministicLog } from "../data/elementary.ts";
import { hyperStart } from "../model/kernels/index.ts";
import { likelihoods } from "../model/likelihoods/index.ts";
import { type Parameters, parameterSizes } from "../model/parameters.ts";
import type { ModelShape } from "../model/shape.ts";
import type { Range } from "../ranks/share.ts";
import type { FullTrainOptions } from "./options.ts";
import { SAMPLE_POINTS, sampledSvd, withSample } from "./sample.ts";

/** Xtilde' [D,R] in the core's memory, and whether its columns are orthonormal. */
export interface Basis {
  transposed: Matrix;
  orthonormal: boolean;
}

export async function makeBasis(
  x: Csr,
  options: FullTrainOptions,
  work: WorkOptions,
  note: (text: string) => void,
): Promise<Basis> {
  const { core, precision, columns } = x;
  const { basis, rank, seed } = options;
  if (basis === "svd")
    return { transposed: await sampledSvd(x, { rank, seed, note, ...work }), orthonormal: true };
  if (basis === "kmeans") {
    const { centres } = await withSample(x, Math.max(SAMPLE_POINTS, rank), seed, (rows) =>
      kmeans(rows, { clusters: rank, seed, ...work }),
    );
    const transposed = transpose(centres, matrix(core, columns, rank, precision));
    centres.free();
    return { transposed, orthonormal: false };
  }
  if (basis.rows !== rank || basis.values.length !== rank * columns) {
    throw new ArgumentError(
      "basis",
      `found ${basis.rows} rows and ${basis.values.length} numbers, expected ${rank} rows of ${columns}`,
    );
  }
  const given = matrixFrom(core, rank, columns, basis.values, precision);
  const transposed = transpose(given, matrix(core, columns, rank, precision));
  given.free();
  return { transposed, orthonormal: false };
}

/** Xtilde Xtilde' [R,R]. */
export function basisGram({ transposed }: Basis): Matrix {
  const { core, precision, columns } = transposed;
  return gemm(transposed, transposed, matrix(core, columns, columns, precision), { transposeA: true });
}

/** X Xtilde' [N,R]: the projections of all points. */
export function projectAll(x: Csr, basis: Basis): Matrix {
  return sparseTimes(x, basis.transposed, matrix(x.core, x.rows, basis.transposed.columns, x.precision));
}

/** Centroids of the points, or of some where there are very many: in the subspace A [M,R], free Z' [D,M]. */
export async function inducingStart(
  x: Csr,
  projected: Matrix | undefined,
  basis: Basis | undefined,
  options: FullTrainOptions,
  work: WorkOptions,
): Promise<Matrix> {
  const { inducingPoints, seed } = options;
  const settings = { clusters: inducingPoints, seed, iterations: 10, tolerance: 1e-3, ...work };
  const count = Math.max(SAMPLE_POINTS, inducingPoints);
  if (basis === undefined) {
    const { centres } = await withSample(x, count, seed, (rows) => kmeans(rows, settings));
    const transposed = transpose(centres, matrix(x.core, x.columns, inducingPoints, x.precision));
    centres.free();
    return transposed;
  }
  return await withSample(x, count, seed, async (rows) => {
    const points = rows === x && projected ? projected : projectAll(rows, basis);
    try {
      return (await kmeans(points, settings)).centres;
    } finally {
      if (points !== projected) points.free();
    }
  });
}

const PHI_STREAM = 101;
const MU_STREAM = 102;

function normalNumbers(
  core: Core,
  count: number,
  deviation: number,
  seed: number,
  stream: number,
): RealArray {
  const numbers = fillNormal(matrix(core, 1, count, "f32"), { seed, stream });
  const values = numbers.toArray().map((value) => value * deviation);
  numbers.free();
  return values;
}

/** Phi ~ N(0, 1/P), mu ~ 0.01 N(0, 1), sigma = 1, b at the labels' frequencies; Phi and b have those of `own` labels. */
export function startParameters(
  backend: Backend,
  core: Core,
  shape: ModelShape,
  parameters: Parameters,
  inducing: RealArray,
  labels: LabelSets,
  seed: number,
  own: Range = { from: 0, to: shape.labels },
): void {
  const sizes = parameterSizes(shape);
  const count = (name: keyof Parameters): number => sizes[name][0] * sizes[name][1];
  backend.write(parameters.inducingInputs, inducing);
  backend.write(
    parameters.phi,
    normalNumbers(core, count("phi"), 1 / Math.sqrt(shape.factors), seed, PHI_STREAM).subarray(
      own.from * shape.factors,
      own.to * shape.factors,
    ),
  );
  backend.write(parameters.mu, normalNumbers(core, count("mu"), 0.01, seed, MU_STREAM));
  backend.fill(parameters.logSigma, deterministicLog(1 - shape.floor));
  const { biasStart } = likelihoods[shape.likelihood];
  backend.write(
    parameters.bias,
    Float64Array.from(labelFrequencies(labels).subarray(own.from, own.to), (count) =>
      biasStart(count, labels.rows),
    ),
  );
  backend.write(parameters.hyper, hyperStart(shape.kernel));
}
