// Making a part small: the types that compact.ts of each family and the compact writer share.

import type { RowMatrix } from "./row.ts";

type Real = Float32Array | Float64Array;

/** Types of an element of a matrix; intN is a whole number of N bits with a scale for each row. */
export const NUMBER_TYPES = ["f32", "f16", "int8", "int7", "int6", "int5", "int4", "int3", "int2"] as const;
/** Type of the elements of a matrix. */
export type NumberType = (typeof NUMBER_TYPES)[number];

export const VARIANCE_FORMS = ["exact", "low-rank", "diagonal", "none"] as const;
/**
 * The variance that probabilities integrate. The latent variance is s(x) = k(x,x) - |x V|^2 with a matrix V of M columns.
 * - exact: V itself, in the type of the weights (for the posterior "perFactor": one for each factor).
 * - low-rank: the `rank` directions of V that carry most, and the diagonal of what is left: a text of one word is exact.
 * - diagonal: rank 0, one number for each feature. What it neglects is how words of one text go together.
 * - none: probabilities are those of the mean utility.
 * All but exact take the posterior "perFactor" as one, with the mean of Sigma over the factors.
 */
export type VarianceForm = (typeof VARIANCE_FORMS)[number];

/** Options of a compact model. */
export interface CompactOptions {
  /**
   * Type of the large matrices (default int5; f32 where inducing points carry the mean, whose weights have to be exact). The labels'
   * matrix is at least int8. Of a Gaussian posterior whole numbers are always int8, and only the largest weights are kept, as many as
   * `size` has room for; f16 and f32 keep all in single precision.
   */
  type?: NumberType;
  /** Default: diagonal for the linear kernel, else exact or, for the posterior "perFactor", low-rank. */
  variance?: VarianceForm;
  /** Rank of the low-rank variance (default 32). */
  rank?: number;
  /**
   * Megabytes that a file with a Gaussian posterior may have, about: what the rest leaves is for its weights. Default: the least at
   * which leave-one-out predictions lose at most 1 % of log loss and 0.3 of P@1, where the part keeps its points; else 9.5.
   */
  size?: number;
  /**
   * Keep labels without a training point (default: those of a Gaussian posterior, where they take little; else they are left out,
   * and can never be predicted).
   */
  allLabels?: boolean;
}

/** The options with nothing left open; no variance where no part has one to choose. */
export interface FullCompactOptions extends Required<Omit<CompactOptions, "variance">> {
  readonly variance: VarianceForm | undefined;
}

/** A family's word on the options for a part: its defaults, and which forms of the variance it can have. */
export interface CompactChoices {
  readonly type?: NumberType;
  readonly allLabels?: boolean;
  readonly variance?: VarianceForm;
  readonly variances?: readonly VarianceForm[];
  readonly mostRank?: number;
}

/** Rows of a sparse matrix, one after another: columns rising, and their values. */
export type SparseRow = (columns: ArrayLike<number>, values: ArrayLike<number>, count?: number) => void;

/** Takes the tensors of a part. What a method returns is the matrix as the edge will read it. */
export interface CompactWriter {
  /** The labels that are kept, rising. */
  readonly labels: readonly number[];
  readonly options: FullCompactOptions;
  /** Numbers are whole ones of few bits. */
  readonly whole: boolean;
  /** Features that another part has weights for, where it says so. */
  readonly columns: Int32Array | undefined;
  vector(name: string, values: ArrayLike<number>): void;
  bytes(name: string, values: Uint8Array): void;
  doubles(name: string, values: Float64Array): void;
  integers(name: string, values: Int32Array): void;
  matrix(name: string, values: Real, rows: number, columns: number, type: NumberType): RowMatrix;
  /** A matrix most of whose elements are 0, in whole numbers of eight bits or single precision. */
  sparse(name: string, rows: number, columns: number, each: (row: number, write: SparseRow) => void): RowMatrix;
  /** How many more elements of sparse matrices there is room for. */
  room(): number;
}
