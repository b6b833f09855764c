// Scores of one row at the edge. Each family has a file row.ts that reads its tensors from a compact file and scores rows by the
// same formulas as its block scorer; it imports these types and the ground floor alone, so that mlgpf/edge has no training code.

import type { Reason } from "../base/prediction.ts";
import type { Tensor } from "../base/safetensors.ts";
import type { Stems } from "../base/stem.ts";
import type { Fields, TensorReader } from "../base/tensors.ts";
import type { RankedValue } from "../base/top.ts";

/** A sparse row, columns rising, weighted and scaled. */
export interface Row {
  readonly columns: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** A matrix that stays as it lies in the file; its rows are decoded as they are added up. */
export interface RowMatrix {
  readonly rows: number;
  readonly columns: number;
  /** into[i] += factor times element i of the row, for the first `count` rows and their factors, one after another. */
  add(rows: ArrayLike<number>, factors: ArrayLike<number>, count: number, into: Float64Array): void;
}

/** Labels as mixtures of latent functions. */
export interface LabelLayer {
  /** Phi [K,P] */
  readonly phi: RowMatrix;
  /** Utilities [K] for the latent means [P] of each row; the arrays are used again by the next call. */
  utilities(means: readonly Float64Array[]): readonly Float64Array[];
}

/** Opens the layer of labels of a part. */
export type OpenLayer = (reader: RowReader, labels: number, factors: number) => LabelLayer;

/** A matrix with the numbers that it is stored as, for those who multiply by all of it. */
export interface StoredMatrix {
  readonly matrix: RowMatrix;
  readonly dtype: Tensor["dtype"];
  readonly data: Float32Array | Uint16Array | Int8Array | Uint8Array;
  /** Scales of the rows, of whole numbers. */
  readonly scale: Float32Array | undefined;
}

/** Scores of all labels of a row. */
export interface LabelScores {
  readonly values: Float64Array; // [K]
  /** Variance of a label's score, where the probability is the expected sigmoid of the score. */
  variance?(label: number): number;
  /** The logits of these probabilities. */
  readonly logits?: LazyLogits;
}

/** Logits that cost so much that each is worked out when it is asked for. */
export interface LazyLogits {
  /** log p - log (1 - p) of each label; what is not worked out yet is -Infinity, below all others. */
  readonly values: Float64Array;
  probability(label: number): number;
  settle(label: number): void;
  /** Works out the best so many, and those that could be. */
  settleBest(depth: number): void;
  /** Labels of those allowed, rising, that may be among the best `most` and have at least this probability; no other is. */
  contenders(most: number, threshold: number, allowed?: Uint8Array): number[];
}

/** Scores rows with one part of a model. */
export interface RowScorer {
  /** The name of its score, as a calibrator has it. */
  readonly score: string;
  /** Its scores are utilities: the expected sigmoid of each is a probability without a calibrator. */
  readonly sigmoid?: boolean;
  /** Its variance is known. */
  readonly deviates?: boolean;
  /** Kernel and sizes, for those who ask what a model is. */
  readonly info: Readonly<Record<string, string | number>>;
  /** Scores of some rows; `before` has for each row those of the parts before this one. Arrays may be used again by the next call. */
  scores(rows: readonly Row[], before: readonly (readonly LabelScores[])[]): LabelScores[];
  /** Scores are linear in the features. */
  readonly linear?: boolean;
  /** Scores of some labels, without what every row has; of a part that can be the first of a model. */
  scoresOf?(row: Row, labels: readonly number[]): Float64Array;
}

/** Sizes of a model that its parts have in common. */
export interface RowSizes {
  readonly features: number;
  readonly labels: number;
  /** The columns of the words and of each vector, where documents have vectors. */
  readonly views?: readonly { readonly from: number; readonly to: number }[] | undefined;
  /** Rows count as of length 1 at least: words outside the vocabulary fill them up. */
  readonly unit: boolean;
  /** How many parts come before this one. */
  readonly before: number;
}

/** Reads the tensors of a part, each checked as it is taken. */
export interface RowReader extends TensorReader {
  /** Single precision [size]; no magnitude is above `most`. */
  vector(name: string, size: number, most?: number): Float32Array;
  /** Squared lengths. */
  squares(name: string, size: number): Float32Array;
  matrix(name: string, rows: number, columns: number): RowMatrix;
  /** A matrix most of whose elements are 0. */
  sparse(name: string, rows: number, columns: number): RowMatrix;
  /** A matrix in whole bytes at least. */
  stored(name: string, rows: number, columns: number): StoredMatrix;
  /** The module that the caller gave. */
  readonly wasm: WebAssembly.Module | undefined;
}

/** Opens a part of a compact file. */
export type OpenRow = (reader: RowReader, about: Fields, sizes: RowSizes) => RowScorer;

/** Moves the calibrated logits of a row by its text. */
export interface RowMover {
  /** Labels beyond the model's, numbered behind those. */
  readonly unseen: readonly string[];
  /** Labels that the text speaks of, with what `moved` takes. */
  standing(text: string): ReadonlyMap<number, Float64Array>;
  moved(label: number, logit: number, features: Float64Array | undefined): number;
  /** No label that the text does not speak of and that has at most this logit comes to more. */
  most(logit: number): number;
  /** The words of a text for which a label, which has this logit, was moved, and how much they add. */
  reason(text: string, label: number, logit: number): Reason | undefined;
}

/** The same for all labels at once. */
export interface LogitMover extends RowMover {
  /** Moves the logits [K] of a row; gives labels from K on with their logits. */
  move(text: string, logits: Float32Array | Float64Array): RankedValue[];
}

/** Opens a part of a compact file that moves logits; it is ready once the stemmer of the vocabulary is there. */
export type OpenMover = (
  reader: TensorReader,
  about: Fields,
) => {
  readonly info: Readonly<Record<string, string | number>>;
  open(
    stems: Stems | undefined,
    language: string | undefined,
    labelNames: readonly string[],
    labelCounts: ArrayLike<number>,
  ): RowMover;
};
