// Options of the readers and what they give back.

import type { Dataset } from "./dataset.ts";
import type { TfidfOptions, TfidfVectoriser } from "./tfidf.ts";

/** Formats of data files. */
export type DataFormat = "xc" | "svmlight" | "jsonl" | "csv";

/** How far a reader is. */
export interface ReadProgress {
  /** Taken from the source so far (packed bytes, when it is gzip). */
  readonly bytes: number;
  readonly rows: number;
}

/** How a file is read. */
export interface ReadOptions {
  /** Name for messages; its ending helps to tell the format. */
  readonly file?: string;
  readonly format?: DataFormat | "auto";
  /** Skip broken rows and count them, instead of refusing the file. */
  readonly lenient?: boolean;
  /** Refuse rows or files without a place for labels, and a file without any label. Default true. */
  readonly requireLabels?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ReadProgress) => void;

  /** Number of features D, when it is known: ids must lie below it. */
  readonly columns?: number;
  /** Number of labels K, when it is known. */
  readonly labelCount?: number;
  /** Names of the labels, when they are known (from a model): fixes their ids. */
  readonly labelNames?: readonly string[];
  /** A label that is not in `labelNames`: gets an id after them (the default), or is an error. */
  readonly unknownLabels?: "add" | "error";
  /** Names of the columns, when they are known: fixes their ids; other features are left out and counted. */
  readonly featureNames?: readonly string[];

  /** Turns texts into rows. Without it a vocabulary is learnt from this file, as `tfidf` says. */
  readonly vectoriser?: TfidfVectoriser;
  readonly tfidf?: TfidfOptions;

  /**
   * svmlight: smallest feature id and smallest label id. Default 0: an id of 0 that never comes is an empty
   * column.
   */
  readonly firstFeature?: 0 | 1;
  readonly firstLabel?: 0 | 1;
  /**
   * JSONL: keys of a feature object are column numbers or names; auto: numbers if all keys of the first are.
   */
  readonly featureKeys?: "auto" | "names" | "ids";

  /** JSONL and CSV: key or column that holds the text. Default "text". */
  readonly text?: string;
  /** JSONL and CSV: key or column that holds the labels. Default "labels", or else "label". */
  readonly labels?: string;
  /** CSV: columns that are no features. Default ["id"]. */
  readonly ignore?: readonly string[];
  /** CSV: default a tab, semicolon or comma, the one the first line has most of. */
  readonly delimiter?: string;
  /**
   * CSV: between the labels of a cell. Default: of "|", ";" and "," the first that the first cell with any
   * has.
   */
  readonly labelSeparator?: string;
}

/** A broken row, and what is wrong with it. */
export interface SkippedRow {
  readonly line: number;
  readonly reason: string;
}

/** Broken rows that a lenient reader skipped. */
export interface SkippedRows {
  readonly total: number;
  readonly byReason: Readonly<Record<string, number>>;
  /** The first hundred. */
  readonly rows: readonly SkippedRow[];
}

/** A data set, and what there is to say about its file. */
export interface ReadResult {
  readonly dataset: Dataset;
  readonly format: DataFormat;
  readonly skipped: SkippedRows;
  /** Features that `featureNames` does not have. */
  readonly unknownFeatures: number;
  /** What a person should know but is no error, each one sentence. */
  readonly notes: readonly string[];
}
