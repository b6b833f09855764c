// Which format a file has, by its name and its first line.

import { excerpt } from "../errors.ts";
import type { Intake } from "../intake.ts";
import type { TextFormat } from "../options.ts";
import { ANNIF_LINE } from "./annif.ts";

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
const COLUMN_NAMES = /(?:^|[,;\t])\s*"?(?:text|labels?|subject_uris)"?\s*(?:$|[,;\t])/i;
const DELIMITER_LINE = /^"?sep=."?\s*$/i;

/**
 * svmlight is taken by its name or on demand only: without a header it looks like an XC file whose header is
 * missing, and that must be said rather than guessed away.
 */
export function detectFormat(intake: Intake, firstLine: string, line: number): TextFormat {
  const { format, text, labels } = intake.options;
  if (format === "numpy" || format === "parquet" || format === "rows")
    intake.refuse(line, excerpt(firstLine), `a file of format ${format}`);
  if (format !== undefined && format !== "auto") return format;
  const ending = /\.(\w+)$/.exec(intake.file.replace(/\.gz$/i, ""))?.[1]?.toLowerCase() ?? "";
  const byName = Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
  if (byName === "jsonl" && /^\s*\[/.test(firstLine)) return "json";
  if (byName === "csv" && ANNIF_LINE.test(firstLine)) return "annif";
  if (byName && byName !== "svmlight") return byName;
  if (XC_HEADER.test(firstLine)) return "xc";
  if (byName) return byName;
  if (/^\s*\{/.test(firstLine)) return "jsonl";
  if (/^\s*\[\s*(?:[{\]]|$)/.test(firstLine)) return "json";
  if (ANNIF_LINE.test(firstLine)) return "annif";
  if (COLUMN_NAMES.test(firstLine) || DELIMITER_LINE.test(firstLine)) return "csv";
  if (/[,;\t]/.test(firstLine) && (text !== undefined || labels !== undefined)) return "csv";
  if (/^\s*[-+\d]/.test(firstLine)) return "xc";
  intake.refuse(
    line,
    excerpt(firstLine),
    'an XC header "rows features labels", a JSON object or the column names of a CSV file',
  );
}
