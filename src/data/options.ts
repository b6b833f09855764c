// Options of the readers and what they give back.

import type { ByteSource } from "./bytes.ts";
import type { Dataset } from "./dataset.ts";
import type { TfidfOptions, TfidfVectoriser } from "./tfidf.ts";

/** Formats that are text: "json" is one list of records, "annif" short texts with URIs. */
export const textFormats = ["xc", "svmlight", "jsonl", "json", "csv", "annif"] as const;
/** The name of one of them. */
export type TextFormat = (typeof textFormats)[number];

/** Formats of files: "numpy" is .npy and .npz. */
export type FileFormat = TextFormat | "numpy" | "parquet";
export const fileFormats: readonly FileFormat[] = [...textFormats, "numpy", "parquet"];

/** Formats of data: those of files, and "rows", which are objects in memory. */
export type DataFormat = FileFormat | "rows";

/** A row in memory. Other keys mean nothing, or what the options say. */
export interface DataRow {
  readonly text?: string | null;
  /** In place of a text: values by name, by column, or of all columns. */
  readonly features?:
    | Readonly<Record<string, number>>
    | readonly number[]
    | readonly (readonly [column: number, value: number])[]
    | { readonly indices: readonly number[]; readonly values: readonly number[] };
  readonly labels?: string | number | readonly (string | number)[] | null;
  readonly id?: string | number;
  readonly [key: string]: unknown;
}

/** How far a reader is. */
export interface ReadProgress {
  /** Taken from the source so far (packed bytes, when it is gzip). */
  readonly bytes: number;
  /** Of the whole source, where it is known. */
  readonly total?: number;
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
  /**
   * Only these rows, counted among those that have labels, are wanted with their features: others may be left with their labels
   * alone, which takes less time. Of no effect when read leniently, since a row may be broken behind its labels.
   */
  readonly featuresOf?: { readonly from: number; readonly to: number };
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Bytes of the source, for the progress, where the source itself does not know them. */
  readonly size?: number;
  /** How messages call an option, e.g. `--label-separator`. Default: `option labelSeparator`. */
  readonly nameOption?: (option: string) => string;

  /** Number of features D, when it is known: ids must lie below it. */
  readonly columns?: number;
  /** Ids of the columns a model has, rising: these become columns 0, 1, ...; other ids are left out and counted. */
  readonly columnIds?: Int32Array;
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
  /** Keeps the words of each text where the `vectoriser` makes stems or runs of characters of them: reasons show words. */
  readonly written?: boolean;

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

  /** JSONL and CSV: key or column that holds the text; of several the texts are joined. Default "text". */
  readonly text?: string | readonly string[];
  /**
   * JSONL and CSV: key or column that holds the labels; those of several are united. Default "labels", or else
   * "label".
   */
  readonly labels?: string | readonly string[];
  /**
   * JSON and CSV: keys or columns that are labels themselves, with 1 or 0 (true or false) in them; `*` stands for
   * anything.
   */
  readonly oneHot?: string | readonly string[];
  /** JSONL and CSV: key or column that holds the id of a row. Default "id", where there is one. */
  readonly id?: string;
  /** JSON, CSV and Parquet: keys or columns whose content is kept with each row, as it is. */
  readonly keep?: readonly string[];
  /** numpy: the file with the labels, where they are not beside the features. */
  readonly labelsFrom?: ByteSource;
  /** CSV and Parquet: columns that are no features. Default ["id"]. */
  readonly ignore?: readonly string[];
  /** CSV: default a tab, semicolon or comma, the one the first line has most of. */
  readonly delimiter?: string;
  /**
   * Between the labels of a CSV cell, or of a JSON text where a list is expected. Default: of "|", ";" and ","
   * the first that the first cell with any has. "" for labels that are never split.
   */
  readonly labelSeparator?: string;
}

/** A broken row, and what is wrong with it. */
export interface SkippedRow {
  readonly line: number;
  /** The kind of fault, e.g. "duplicate feature". */
  readonly reason: string;
  /** What was found and what was expected, in one sentence. */
  readonly message: string;
  /** How many rows of the data set (of the batch) come before it. */
  readonly rowsBefore: number;
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
  /** Rows with neither text nor features. */
  readonly emptyRows: number;
  /** Features that neither `featureNames` nor `columnIds` has. */
  readonly unknownFeatures: number;
  /** What a person should know but is no error, each one sentence. */
  readonly notes: readonly string[];
}

/** Rows of a source that is read piece by piece, and the broken ones among them. */
export interface Batch extends Dataset {
  /** Rows that were left out of this batch. A last batch may have such rows alone. */
  readonly skipped: readonly SkippedRow[];
}

/** A source read piece by piece; what there is to say about it is complete after the last batch. */
export interface Batches extends AsyncIterable<Batch> {
  readonly skipped: SkippedRows;
  readonly emptyRows: number;
  readonly unknownFeatures: number;
  readonly notes: readonly string[];
}
