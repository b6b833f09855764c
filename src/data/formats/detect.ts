// Which format a file has, by its name and its first line; and what a reader of lines asks of the parser of a format.

import { excerpt } from "../../base/errors.ts";
import type { DatasetBuilder } from "../builder.ts";
import type { DataKeys } from "../dataset.ts";
import type { TextFormat } from "../options.ts";

/** Blank lines that came one after another. */
export interface BlankRun {
  readonly first: number;
  readonly count: number;
}

/** A blank line before another line is a row with nothing in it, or one without even a place for labels. */
export type BlankLine = "row" | "unlabelled";

/** Turns lines into rows of a data set; the builder knows the number of the line. */
export interface RowParser {
  /** True inside a record that goes on in the next line. */
  readonly midRecord?: boolean;
  /** Where it is undefined, blank lines mean nothing. */
  readonly blank?: BlankLine | undefined;
  line(bytes: Uint8Array, start: number, end: number): void;
  finish?(blankAtEnd: BlankRun): void;
}

const ENDINGS: Readonly<Record<string, TextFormat>> = {
  jsonl: "jsonl",
  ndjson: "jsonl",
  json: "jsonl",
  csv: "csv",
  tsv: "csv",
  svm: "svmlight",
  svmlight: "svmlight",
  libsvm: "svmlight",
  xc: "xc",
};

const XC_HEADER = /^\s*\d+[ \t]+\d+[ \t]+\d+\s*$/;
const COLUMN_NAMES = ["text", "label", "labels", "subject_uris"];
const ANNIF_LINE = /^[^\t]*\t\s*(?:<[^<>\s]+>|https?:\/\/\S+)(?:\s+(?:<[^<>\s]+>|https?:\/\/\S+))*\s*$/;
/** Excel's line before the names of the columns. */
export const DELIMITER_LINE: RegExp = /^"?sep=(.)"?\s*$/i;

/** A line has the name of a column: a usual one, or one of a model's data. */
function namesColumns(line: string, { text = [], labels = [], id = "text" }: DataKeys = {}): boolean {
  const names = new Set([...COLUMN_NAMES, ...text, ...labels, id].map((name) => name.toLowerCase()));
  return line.split(/[,;\t]/).some((cell) =>
    names.has(
      cell
        .trim()
        .replace(/^"(.*)"$/, "$1")
        .toLowerCase(),
    ),
  );
}

/** The format that a first line tells by itself; undefined where it may be anything. */
export function formatOfLine(line: string, keys?: DataKeys): TextFormat | undefined {
  if (XC_HEADER.test(line)) return "xc";
  if (/^\s*\{/.test(line)) return "jsonl";
  if (/^\s*\[\s*(?:[{\]]|$)/.test(line)) return "json";
  if (ANNIF_LINE.test(line)) return "annif";
  return namesColumns(line, keys) || DELIMITER_LINE.test(line) ? "csv" : undefined;
}

/**
 * svmlight is taken by its name or on demand only: without a header it looks like an XC file whose header is
 * missing, and that must be said rather than guessed away.
 */
export function detectFormat(builder: DatasetBuilder, firstLine: string): TextFormat {
  const { format, text, labels, keys } = builder.options;
  if (format === "parquet") builder.refuse(excerpt(firstLine), `a file of format ${format}`);
  if (format !== "auto") return format;
  const ending = /\.(\w+)$/.exec(builder.file.replace(/\.gz$/i, ""))?.[1]?.toLowerCase() ?? "";
  const byName = Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
  if (byName === "jsonl" && /^\s*\[/.test(firstLine)) return "json";
  if (byName === "csv" && ANNIF_LINE.test(firstLine)) return "annif";
  const byLine = formatOfLine(firstLine, keys);
  if (byName === "svmlight" && byLine === "xc") return "xc";
  if (byName ?? byLine) return (byName ?? byLine) as TextFormat;
  if (/[,;\t]/.test(firstLine) && (text !== undefined || labels !== undefined)) return "csv";
  if (/^\s*[-+\d]/.test(firstLine)) return "xc";
  builder.refuse(
    excerpt(firstLine),
    'an XC header "rows features labels", a JSON object or the column names of a CSV file',
  );
}
