// The seam between the model and the machine: matrices on a device, and the few operations the model is made of.
// An operation only enqueues; reading back is the only thing to wait for. `out` is always given, never hidden.

import type { SparseRows } from "../base/sparse.ts";
import type { ColumnDraw } from "../core/draw.ts";
import type * as core from "../core/index.ts";

export type { ColumnDraw } from "../core/draw.ts";

/** A matrix on the device. Which one it is, only its backend knows. */
export interface Tensor {
  readonly rows: number;
  readonly columns: number;
}

/** A sparse matrix on the device: the rows of the data. */
export interface SparseTensor {
  readonly rows: number;
  readonly columns: number;
}

/** Whole numbers on the device: which rows are in the batch. */
export interface IndexTensor {
  readonly length: number;
}

/** Inputs and outputs of operations, as the core has them. */
export type CovarianceInputs = core.CovarianceInputs<Tensor>;
export type LikelihoodInputs = core.LikelihoodInputs<Tensor>;
export type LikelihoodOutputs = core.LikelihoodOutputs<Tensor>;
/** For each row of a batch the labels that count there: entries rowStart[i] to rowStart[i + 1] of labelIndex. */
export type LabelLists = core.Lists;

/** Entries of a sparse batch x labels matrix: which labels are looked at for each point. Values come separately. */
export interface PatternTensor {
  readonly rows: number;
  readonly columns: number;
  readonly entries: number;
}

/**
 * Steps of Adam on weights of features [D,P] with a prior that pulls them towards zero, of which a step touches only the rows
 * of the features in its batch. The numbers are those of steps on all rows.
 */
export interface RowSteps<T extends Tensor = Tensor, Rows extends IndexTensor = IndexTensor> {
  /** Takes the batch of a step, counted from 0: its features' weights become what they are before that step. */
  enter(rows: Rows, step: number): void;
  /** That step, with G = d bound / d m [B,P]. */
  step(g: T, step: number): void;
  /** All weights and moments become what they are after so many steps. */
  settle(steps: number): void;
  /** The weights and moments were set to what they are after so many steps. */
  restart(steps: number): void;
  free(): void;
}

/** Some columns of a matrix, weighted so that sums over them are on average the sums over all. */
export interface DrawnColumns<T extends Tensor = Tensor, Pattern extends PatternTensor = PatternTensor> {
  /** Which they are: one entry in each of its rows. */
  columns: Pattern;
  /** [rows,drawn]: these columns times their weights. */
  weighted: T;
}

/** How factorisations went since the last time it was asked. */
export interface FactorisationReport {
  /** Factorisations that went through only after their diagonal was raised. */
  raised: number;
  /** Factor that failed even so, or -1. */
  failed: number;
}

/** The operations, on tensors as a device has them. */
export interface Backend<
  T extends Tensor = Tensor,
  Sparse extends SparseTensor = SparseTensor,
  Rows extends IndexTensor = IndexTensor,
  Pattern extends PatternTensor = PatternTensor,
> {
  readonly name: "wasm" | "webgpu";
  readonly precision: "f32" | "f64";
  /** Tensors are matrices of the core: nothing has to be uploaded, reading does not wait, and no device can be lost. */
  readonly onCore: boolean;

  tensor(rows: number, columns: number, values?: ArrayLike<number>): T;
  sparse(x: SparseRows<core.RealArray>): Sparse;
  /** These whole numbers, or so many zeros. */
  indices(values: number | Int32Array): Rows;
  write(tensor: T, values: ArrayLike<number>): void;
  writeIndices(indices: Rows, values: Int32Array): void;
  read(tensor: T): Promise<core.RealArray>;
  free(...tensors: (T | Sparse | Rows | Pattern)[]): void;
  /** Rows `from` to `to` as a view of the same memory. */
  rowRange(tensor: T, from: number, to: number): T;
  /** The same elements in another shape, as a view. */
  reshape(tensor: T, rows: number, columns: number): T;

  /** out = beta out + alpha A B */
  gemm(a: T, b: T, out: T, options?: Omit<core.GemmOptions, "weights">): void;
  /** out = beta out + alpha A diag(w) A', in full */
  syrk(a: T, out: T, options?: Omit<core.SyrkOptions<T>, "part">): void;
  /** out_i = x[rows[i]] B */
  sparseTimes(x: Sparse, rows: Rows, b: T, out: T): void;
  /** out += sum_i x[rows[i]]' b_i */
  sparseTransposeTimes(x: Sparse, rows: Rows, b: T, out: T): void;
  /** out_i = x[rows[i]] */
  gatherRows(x: T, rows: Rows, out: T): void;

  /** out = x op y; y may be a row, a column or one value for all. */
  combine(op: "add" | "subtract" | "multiply" | "divide", x: T, y: T, out: T): void;
  /** out = alpha x + beta y */
  blend(alpha: number, x: T, beta: number, y: T, out: T): void;
  map(op: "exp" | "log" | "square" | "reciprocal", x: T, out: T): void;
  fill(out: T, value: number): void;
  /** out_i = sum_j x_ij y_ij; y may be a row. */
  rowSums(x: T, out: T, y?: T): void;
  /** out_j = sum_i x_ij y_ij; y may be a column. */
  columnSums(x: T, out: T, y?: T): void;
  /** out = x' */
  transpose(x: T, out: T): void;
  diagonal(x: T, out: T): void;
  /** Adds a vector to the diagonal. */
  addDiagonal(x: T, values: T): void;

  /**
   * L L' = A for each of `count` matrices one below the other, in place. One that fails gets its diagonal raised by
   * 1e-6 of its mean, then ten times as much, three times in all.
   */
  factorise(a: T, count: number): void;
  factorisationReport(): Promise<FactorisationReport>;
  /** inverse(L L'), for each factor */
  inverseFromFactor(factor: T, out: T, count: number): void;
  /** log|L L'| of each factor */
  logDeterminant(factor: T, out: T, count: number): void;

  covariance(inputs: core.CovarianceInputs<T>, out: T): void;
  /**
   * d (by the covariances) becomes the gradient by the inner products; stationaryPart what of it comes from the stationary
   * term; sums (rows x 3) the rows' shares of the gradient by hyper.
   */
  covarianceGradient(inputs: core.CovarianceInputs<T>, d: T, stationaryPart: T, sums: T): void;
  expectedLogLikelihood(inputs: core.LikelihoodInputs<T>, out: core.LikelihoodOutputs<T>): void;

  pattern(columns: number, lists: LabelLists): Pattern;
  /** out_e = a_i . b_k for each entry e = (i, k) */
  sampledProducts(pattern: Pattern, a: T, b: T, out: T): void;
  /** out = V B, V having the values at the entries */
  patternTimes(pattern: Pattern, values: T, b: T, out: T): void;
  /** out += V' B */
  patternTransposeTimes(pattern: Pattern, values: T, b: T, out: T): void;

  /** E sigmoid(f), f ~ N(mean, variance) */
  probability(mean: T, variance: T, out: T): void;
  /** One step of Adam up the gradient. Where the gradient is not finite nothing moves. */
  adam(parameter: T, gradient: T, state: core.AdamState<T>, step: core.AdamOptions): void;
  /** Steps that touch few rows, where the backend has them; `inverse` [1,1] is 1 over the prior's variance. */
  rowSteps?(x: Sparse, weights: T, state: core.AdamState<T>, inverse: T, schedule: core.RowSchedule): RowSteps<T, Rows>;
  /** Draws columns of x in proportion to the absolute value of `sizes` [1,columns], where the backend can. */
  drawColumns?(x: T, sizes: T, draw: ColumnDraw): DrawnColumns<T, Pattern>;
  /** Starts what was enqueued, for a device that collects operations; called after each step. */
  flush?(): void;
  dispose(): void;
}
