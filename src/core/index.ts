// mlgpf/core: the numeric core on its own.

export * from "./adam.ts";
export { Arena } from "./arena.ts";
export * from "./calibrator.ts";
export { Core, type CoreOptions, createCore, hasRelaxedSimd, type Precision } from "./core.ts";
export { type CovarianceInputs, covariance, covarianceGradient } from "./covariance.ts";
export {
  type ColumnStatistics,
  Csr,
  type CsrArrays,
  columnStatistics,
  csr,
  gram,
  gramTimes,
  type PartOptions,
  type RowRange,
  rowRange,
  rowSquares,
  type SparseOptions,
  scaleColumns,
  scaleRows,
  sparseTimes,
  sparseTransposeTimes,
} from "./csr.ts";
export * from "./dense.ts";
export * from "./eigen.ts";
export * from "./errors.ts";
export * from "./factor.ts";
export * from "./inverse.ts";
export * from "./kernelrows.ts";
export * from "./kmeans.ts";
export { Integers, integers, Matrix, matrix, matrixFrom, type RealArray, Scope, scoped } from "./matrix.ts";
export { type Lists, Pattern, patternTimes, patternTransposeTimes, sampledProducts } from "./pattern.ts";
export type { WorkOptions } from "./progress.ts";
export * from "./quadrature.ts";
export * from "./random.ts";
export { type RowSchedule, RowSteps } from "./rowsteps.ts";
export * from "./select.ts";
export {
  type LeadingEigen,
  leadingEigenvectors,
  type SubspaceOptions,
  type SymmetricOperator,
} from "./subspace.ts";
export * from "./sums.ts";
export * from "./svd.ts";
