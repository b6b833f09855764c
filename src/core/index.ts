// mlgpf/core: the numeric core on its own.

export { ArgumentError, NotFiniteError, OutOfMemoryError } from "../base/errors.ts";
export type { WorkOptions } from "../base/progress.ts";
export * from "./adam.ts";
export { Arena } from "./arena.ts";
export * from "./calibrator.ts";
export { Core, type CoreOptions, createCore, hasRelaxedSimd, type Precision } from "./core.ts";
export { type CovarianceInputs, covariance, covarianceGradient } from "./covariance.ts";
export {
  Csr,
  type CsrArrays,
  csr,
  gram,
  gramTimes,
  type PartOptions,
  type RowRange,
  rowRange,
  rowSquares,
  type SparseOptions,
  scaleRows,
  sparseTimes,
  sparseTransposeTimes,
} from "./csr.ts";
export * from "./dense.ts";
export * from "./factor.ts";
export * from "./inverse.ts";
export * from "./kernelrows.ts";
export * from "./kmeans.ts";
export { Integers, integers, Matrix, matrix, matrixFrom, type RealArray, Scope, scoped } from "./matrix.ts";
export { type Lists, Pattern, patternTimes, patternTransposeTimes, sampledProducts } from "./pattern.ts";
export * from "./quadrature.ts";
export * from "./random.ts";
export * from "./spectral.ts";
export * from "./sums.ts";
