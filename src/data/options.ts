// Options of the readers, and what they give back. What is where in a file is said by options of the table below: checks, defaults
// and the flags of the command line are made from it.

import type { FeatureInput } from "../base/input.ts";
import { completeTable, none, type OptionTable, type Settled } from "../options/table.ts";
import type { RowEntries } from "./builders.ts";
import type { ByteSource } from "./bytes.ts";
import type { DataKeys, Dataset } from "./dataset.ts";
import type { TfidfVectoriser } from "./tfidf.ts";
import type { TfidfOptions } from "./tfidfoptions.ts";
import type { Embedder } from "./vectors.ts";

/** Formats that are text: "json" is one list of records, "annif" short texts with URIs. */
export const textFormats = ["xc", "svmlight", "jsonl", "json", "csv", "annif"] as const;
/** The name of one of them. */
export type TextFormat = (typeof textFormats)[number];

export type FileFormat = TextFormat | "parquet";

/** Formats of data: those of files, and "rows", which are objects in memory. */
export type DataFormat = FileFormat | "rows";

/** A row in memory. Other keys mean nothing, or what the options say. */
export interface DataRow {
  readonly text?: string | null;
  /** In place of a text: values by name, by column, or of all columns. */
  readonly features?: FeatureInput;
  /** Beside a text: a vector (embedding, measurements) or several by name; the same ones in every row. */
  readonly vector?: ArrayLike<number>;
  readonly vectors?: Readonly<Record<string, ArrayLike<number>>>;
  /** An empty list is a row of which no label is true; a row without labels, or with null, is not labelled. */
  readonly labels?: string | number | readonly (string | number)[] | null;
  readonly id?: string | number;
  readonly [key: string]: unknown;
}

/** How far a reader is. */
export interface ReadProgress {
  /** Taken from the source so far (packed bytes, when it is gzip). */
  readonly bytes: number;
  /** Bytes of the whole source, where known. */
  readonly total?: number;
  readonly rows: number;
  /** Texts that were embedded, once all are read. */
  readonly embedded?: number;
}

/** Keys and columns of a file. */
export interface ReadChoices {
  /** Default: told by name and content. */
  readonly format?: FileFormat | "auto";
  /** Skip broken rows and count them, instead of refusing the file. Default false. */
  readonly lenient?: boolean;
  /** JSON, CSV and Parquet: key or column that holds the text; of several the texts are joined. Default "text". */
  readonly text?: string | readonly string[];
  /**
   * JSON, CSV and Parquet: key or column that holds the labels; those of several are united. Default "labels", or else "label",
   * "subjects" or "subject_uris".
   */
  readonly labels?: string | readonly string[];
  /**
   * JSON, CSV and Parquet: keys or columns that are labels themselves, with 1 or 0 (true or false) in them; `*` stands for
   * anything.
   */
  readonly oneHot?: string | readonly string[];
  /** JSON, CSV and Parquet: key or column that holds the id of a row. Default "id" or "document_id", where there is one. */
  readonly id?: string;
  /**
   * Between the labels of a CSV cell, or of a JSON text where a list is expected; with a backslash before it, it belongs to a
   * label. Default: of "|", ";" and "," the first that the first cell with any has. "" for labels that are never split.
   */
  readonly labelSeparator?: string;
  /**
   * Rows without a key, cell or file for labels, or with null there: left out and counted, or taken as rows of which no label is
   * true. A row whose labels are there and empty is such a row anyway. Default: "skip" where labels are required; else they are
   * kept, and marked in `unlabelled` of the data set.
   */
  readonly unlabelled?: "skip" | "empty";
  /** CSV: default a tab, semicolon or comma, the one the first line has most of. */
  readonly delimiter?: string;
  /** CSV and Parquet: columns that are no features. Default ["id"]. */
  readonly ignore?: string | readonly string[];
  /** JSON: keys of a feature object are column numbers or names; auto: numbers if all keys of the first are. */
  readonly featureKeys?: "auto" | "names" | "ids";
  /**
   * Most bytes that a packed file (Parquet, gzip around vectors) may unpack to. Default: 100 times the bytes of the file, at least 64 MB and at
   * most 4 GB.
   */
  readonly maxUnpacked?: number;
  /** Path or address of a file with a vector for each text: a numpy array [rows, numbers]. */
  readonly vectors?: string;
  /** An ES module that exports `embed(texts)`, which makes a vector of each text. */
  readonly embed?: string;
}

type Lists = "text" | "labels" | "oneHot";

export type ReadSettings = Omit<
  Settled<ReadChoices, "id" | "labelSeparator" | "unlabelled" | "delimiter" | "maxUnpacked" | "vectors" | "embed">,
  Lists | "ignore"
> &
  Readonly<Record<Lists, readonly string[] | undefined> & Record<"ignore", readonly string[]>>;

export const readOptions: OptionTable<ReadChoices, ReadSettings, { requireLabels: boolean } & ReadSettings> = {
  format: {
    kind: "choice",
    choices: ["auto", ...textFormats, "parquet"],
    default: "auto",
    meaning: "format of the data; auto: detected from name and content",
  },
  lenient: { kind: "switch", default: false, meaning: "skip broken rows and count them" },
  text: {
    kind: "names",
    default: none("text"),
    meaning: "key or column with the text; several (a,b) are joined",
  },
  labels: {
    kind: "names",
    default: none("labels"),
    meaning: "key or column with the labels; those of several (a,b) are united",
  },
  oneHot: {
    kind: "names",
    default: none("none"),
    meaning: "columns that are labels themselves, with 1 or 0 in them; * matches anything",
  },
  id: {
    kind: "text",
    default: none("id"),
    meaning: "key or column with the id of a row",
    flag: { value: "NAME" },
  },
  labelSeparator: {
    kind: "text",
    default: none("| ; or ,"),
    meaning:
      'separator of several labels in one cell or text (\\ before one that belongs to a label); "" to keep them whole',
  },
  unlabelled: {
    kind: "choice",
    choices: ["skip", "empty"],
    default: { words: "skip", of: ({ requireLabels }) => (requireLabels ? "skip" : undefined) },
    meaning: "rows without the labels key or column: skip leaves them out, empty takes them as rows with no label",
  },
  delimiter: {
    kind: "text",
    default: none("told by the first line"),
    meaning: "between cells",
    flag: false,
  },
  ignore: { kind: "names", default: ["id"], meaning: "columns that are no features", flag: false },
  featureKeys: {
    kind: "choice",
    choices: ["auto", "names", "ids"],
    default: "auto",
    flag: false,
    meaning: "keys of features are names or column numbers",
  },
  maxUnpacked: {
    kind: "whole",
    to: Number.MAX_SAFE_INTEGER,
    default: none("100 times the file, 64 MB to 4 GB"),
    meaning: "maximum size of a compressed file once unpacked",
    flag: { unit: 2 ** 20, value: "MB" },
  },
  vectors: {
    kind: "text",
    default: none("none"),
    meaning: "numpy array with a vector for each text, used beside its words",
    flag: { value: "FILE.npy" },
  },
  embed: {
    kind: "text",
    default: none("none"),
    meaning: "ES module whose embed(texts) gives a vector for each text, used beside its words",
    flag: { value: "MODULE" },
  },
};

/** How data are read. */
export interface ReadOptions extends ReadChoices {
  /** Name for messages; its ending helps to tell the format. */
  readonly file?: string;
  /** Refuse files without a place for labels, and files without any label. Default true. */
  readonly requireLabels?: boolean;
  /**
   * Only these rows are wanted with their features: others may be left with their labels
   * alone, which takes less time. Of no effect when read leniently, since a row may be broken behind its labels.
   */
  readonly featuresOf?: { readonly from: number; readonly to: number };
  /** Only these rows, by their numbers among those that would be read; the words and labels of others are not looked at. */
  readonly rows?: (row: number) => boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Bytes of the source, for the progress, where the source itself does not know them. */
  readonly size?: number;
  /** How messages call an option, e.g. `--label-separator`. Default: `option labelSeparator`. */
  readonly nameOption?: (option: string) => string;

  /** Number of features D, when it is known: ids must lie below it, and rows of all columns have so many. */
  readonly columns?: number;
  /** Ids of the columns a model has, rising: these become columns 0, 1, ...; other ids are left out and counted. */
  readonly columnIds?: Int32Array;
  /** Number of labels K, when it is known. */
  readonly labelCount?: number;
  /** Names of the labels, when they are known (from a model): fixes their ids; other labels get ids after them. */
  readonly labelNames?: readonly string[];
  /** Names of the columns, when they are known: fixes their ids; other features are left out and counted. */
  readonly featureNames?: readonly string[];
  /** Says what is wrong with a row of features beside the model it is read for; the row is then a broken one. */
  readonly refuseRow?: (row: RowEntries) => RowFault | undefined;

  /** Keys or columns of the data of a model: taken where none are asked for and the file has them. */
  readonly keys?: DataKeys;
  /** Turns texts into rows. Without it a vocabulary is learnt from this file, as `tfidf` says. */
  readonly vectoriser?: TfidfVectoriser;
  readonly tfidf?: TfidfOptions;
  /** JSON, CSV and Parquet: keys or columns whose content is kept with each row, as it is. */
  readonly keep?: readonly string[];
  /** The file with a vector for each text (.npy), as `vectors` names it. */
  readonly vectorsFrom?: () => Promise<ByteSource>;
  /** Makes a vector of each text, as `embed` names it. */
  readonly embedder?: () => Promise<Embedder>;
}

export interface RowFault {
  readonly found: string;
  readonly expected: string;
}

export type CheckedOptions = Omit<ReadOptions, keyof ReadChoices> & ReadSettings & { readonly requireLabels: boolean };

export function checkedOptions(options: ReadOptions): CheckedOptions {
  const { requireLabels = true } = options;
  return { ...options, ...completeTable(readOptions, options, { requireLabels }), requireLabels };
}

/** A broken row, and what is wrong with it. */
export interface SkippedRow {
  readonly line: number;
  /** The kind of fault, e.g. "duplicate feature". */
  readonly reason: string;
  /** Found and expected, in one sentence. */
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

/** Notes and faults of a source. */
export interface ReadReport {
  readonly skipped: SkippedRows;
  /** Rows with neither text nor features. */
  readonly emptyRows: number;
  /** Rows that were left out because nothing says which labels they have. */
  readonly unlabelled: number;
  /** Features that neither `featureNames` nor `columnIds` has. */
  readonly unknownFeatures: number;
  /** Notes that are no errors, each one sentence. */
  readonly notes: readonly string[];
}

/** A data set, and what there is to say about its file. */
export interface ReadResult extends ReadReport {
  readonly dataset: Dataset;
  readonly format: DataFormat;
}

/** Rows of a source that is read piece by piece, and the broken ones among them. */
export interface Batch extends Dataset {
  /** Rows that were left out of this batch. A last batch may have such rows alone. */
  readonly skipped: readonly SkippedRow[];
}

/** A source read piece by piece; what there is to say about it is complete after the last batch. */
export interface Batches extends AsyncIterable<Batch>, ReadReport {}
