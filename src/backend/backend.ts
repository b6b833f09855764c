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
export type ListedLikelihoodInputs = core.ListedLikelihoodInputs<Tensor>;
export type ListedLikelihoodOutputs = core.ListedLikelihoodOutputs<Tensor>;
/** For each row of a batch the labels that count there: entries rowStart[i] to rowStart[i + 1] of labelIndex. */
export type LabelLists = core.Lists;
export type ProductOptions = Omit<core.GemmOptions, "weights">;
export type SymmetricProductOptions = Omit<core.SyrkOptions<Tensor>, "part">;

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
export interface RowSteps {
  /** Takes the batch of a step, counted from 0: its features' weights become what they are before that step. */
  enter(rows: IndexTensor, step: number): void;
  /** That step, with G = d bound / d m [B,P]. */
  step(g: Tensor, step: number): void;
  /** All weights and moments become what they are after so many steps. */
  settle(steps: number): void;
  /** The weights and moments were set to what they are after so many steps. */
  restart(steps: number): void;
  free(): void;
}

/** Some columns of a matrix, weighted so that sums over them are on average the sums over all. */
export interface DrawnColumns {
  /** Which they are: one entry in each of its rows. */
  columns: PatternTensor;
  /** [rows,drawn]: these columns times their weights. */
  weighted: Tensor;
}

/** How factorisations went since the last time it was asked. */
export interface FactorisationReport {
  /** Factorisations that went through only after their diagonal was raised. */
  raised: number;
  /** Factor that failed even so, or -1. */
  failed: number;
}

export interface Backend {
  readonly name: "wasm" | "webgpu";
  readonly precision: "f32" | "f64";
  /** Tensors are matrices of the core: nothing has to be uploaded, reading does not wait, and no device can be lost. */
  readonly onCore: boolean;

  tensor(rows: number, columns: number, values?: ArrayLike<number>): Tensor;
  sparse(x: SparseRows<core.RealArray>): SparseTensor;
  /** These whole numbers, or so many zeros. */
  indices(values: number | Int32Array): IndexTensor;
  write(tensor: Tensor, values: ArrayLike<number>): void;
  writeIndices(indices: IndexTensor, values: Int32Array): void;
  read(tensor: Tensor): Promise<core.RealArray>;
  free(...tensors: (Tensor | SparseTensor | IndexTensor | PatternTensor)[]): void;
  /** Rows `from` to `to` as a view of the same memory. */
  rowRange(tensor: Tensor, from: number, to: number): Tensor;
  /** The same elements in another shape, as a view. */
  reshape(tensor: Tensor, rows: number, columns: number): Tensor;

  /** out = beta out + alpha A B */
  gemm(a: Tensor, b: Tensor, out: Tensor, options?: ProductOptions): void;
  /** out = beta out + alpha A diag(w) A', in full */
  syrk(a: Tensor, out: Tensor, options?: SymmetricProductOptions): void;
  /** out_i = x[rows[i]] B */
  sparseTimes(x: SparseTensor, rows: IndexTensor, b: Tensor, out: Tensor): void;
  /** out += sum_i x[rows[i]]' b_i */
  sparseTransposeTimes(x: SparseTensor, rows: IndexTensor, b: Tensor, out: Tensor): void;
  /** out_i = x[rows[i]] */
  gatherRows(x: Tensor, rows: IndexTensor, out: Tensor): void;

  /** out = x op y; y may be a row, a column or one value for all. */
  combine(op: "add" | "subtract" | "multiply" | "divide", x: Tensor, y: Tensor, out: Tensor): void;
  /** out = alpha x + beta y */
  blend(alpha: number, x: Tensor, beta: number, y: Tensor, out: Tensor): void;
  map(op: "exp" | "log" | "square" | "reciprocal", x: Tensor, out: Tensor): void;
  fill(out: Tensor, value: number): void;
  /** out_i = sum_j x_ij y_ij; y may be a row. */
  rowSums(x: Tensor, out: Tensor, y?: Tensor): void;
  /** out_j = sum_i x_ij y_ij; y may be a column. */
  columnSums(x: Tensor, out: Tensor, y?: Tensor): void;
  /** out = x' */
  transpose(x: Tensor, out: Tensor): void;
  diagonal(x: Tensor, out: Tensor): void;
  /** Adds a vector to the diagonal. */
  addDiagonal(x: Tensor, values: Tensor): void;

  /**
   * L L' = A for each of `count` matrices one below the other, in place. One that fails gets its diagonal raised by
   * 1e-6 of its mean, then ten times as much, three times in all.
   */
  factorise(a: Tensor, count: number): void;
  factorisationReport(): Promise<FactorisationReport>;
  /** inverse(L L'), for each factor */
  inverseFromFactor(factor: Tensor, out: Tensor, count: number): void;
  /** log|L L'| of each factor */
  logDeterminant(factor: Tensor, out: Tensor, count: number): void;

  covariance(inputs: CovarianceInputs, out: Tensor): void;
  /**
   * d (by the covariances) becomes the gradient by the inner products; stationaryPart what of it comes from the stationary
   * term; sums (rows x 3) the rows' shares of the gradient by hyper.
   */
  covarianceGradient(inputs: CovarianceInputs, d: Tensor, stationaryPart: Tensor, sums: Tensor): void;
  expectedLogLikelihood(inputs: LikelihoodInputs, out: LikelihoodOutputs): void;

  pattern(columns: number, lists: LabelLists): PatternTensor;
  /** out_e = a_i . b_k for each entry e = (i, k) */
  sampledProducts(pattern: PatternTensor, a: Tensor, b: Tensor, out: Tensor): void;
  /** out = V B, V having the values at the entries */
  patternTimes(pattern: PatternTensor, values: Tensor, b: Tensor, out: Tensor): void;
  /** out += V' B */
  patternTransposeTimes(pattern: PatternTensor, values: Tensor, b: Tensor, out: Tensor): void;
  listedLogLikelihood(inputs: ListedLikelihoodInputs, out: ListedLikelihoodOutputs): void;

  /** E sigmoid(f), f ~ N(mean, variance) */
  probability(mean: Tensor, variance: Tensor, out: Tensor): void;
  /** The k greatest of each row, read back. NaN counts as the least. */
  topScores(scores: Tensor, k: number): Promise<core.TopK>;
  /** One step of Adam up the gradient. Where the gradient is not finite nothing moves. */
  adam(parameter: Tensor, gradient: Tensor, state: core.AdamState<Tensor>, step: core.AdamOptions): void;
  /** Steps that touch few rows, where the backend has them; `inverse` [1,1] is 1 over the prior's variance. */
  rowSteps?(
    x: SparseTensor,
    weights: Tensor,
    state: core.AdamState<Tensor>,
    inverse: Tensor,
    schedule: core.RowSchedule,
  ): RowSteps;
  /** Draws columns of x in proportion to the absolute value of `sizes` [1,columns], where the backend can. */
  drawColumns?(x: Tensor, sizes: Tensor, draw: ColumnDraw): DrawnColumns;
  /** Starts what was enqueued, for a device that collects operations; called after each step. */
  flush?(): void;
  dispose(): void;
}
