// Predictions as lines of a file: JSON, or CSV for a spreadsheet.

import type { Prediction } from "../metrics/prediction.ts";
import { given, UsageError } from "./flags.ts";

/** What there is to say about a row of the data. */
export interface Answer {
  line: number;
  /** The row's own id, where it has one. */
  id?: string;
  /** What stood under the keys or columns to keep. */
  kept?: readonly string[];
  /** Part of the words (or features) of the row that the model knows. */
  known?: number;
  labels?: readonly Prediction[];
  /** Why the row was left out. */
  error?: string;
}

export interface PredictionFormat {
  /** The first line, where there is one. */
  head?: string;
  line(answer: Answer): string;
}

/** Keys of our own, which a column to keep would hide. */
const OWN = ["id", "line", "known", "labels", "probabilities", "reasons", "error"];
/** Between labels in a cell. */
const BETWEEN = "|";

const round = (value: number): number => Number(value.toPrecision(6));

/** By the ending of the file; standard output is JSON. `reasons`: whether there is a column of them in CSV. */
export function formatOf(
  out: string | undefined,
  keep: readonly string[],
  reasons: boolean,
): PredictionFormat {
  const hidden = keep.find((name) => OWN.includes(name));
  if (hidden !== undefined)
    throw new UsageError(
      `--keep: found ${hidden}, which predict writes itself, expected another key or column`,
    );
  const ending = /\.(csv|tsv|jsonl|ndjson)$/i.exec(out ?? ".jsonl")?.[1]?.toLowerCase();
  if (ending === undefined)
    throw new UsageError(`--out: found ${out}, expected a name that ends with .csv, .tsv, .jsonl or .ndjson`);
  if (ending === "csv" || ending === "tsv") return csvFormat(keep, ending === "csv" ? "," : "\t", reasons);
  return { line: (answer) => jsonLine(answer, keep) };
}

function jsonLine({ id, line, kept, known, labels, error }: Answer, keep: readonly string[]): string {
  const found = labels?.map(({ label, probability, sd, score, reasons }) => ({
    label,
    probability: round(probability),
    ...(sd === undefined ? {} : { sd: round(sd) }),
    ...(score === undefined ? {} : { score: round(score) }),
    ...(reasons === undefined
      ? {}
      : { reasons: reasons.map(({ word, share }) => ({ word, share: round(share) })) }),
  }));
  const carried = Object.fromEntries(keep.map((name, i) => [name, kept?.[i]]));
  return JSON.stringify({
    ...given({ id }),
    line,
    ...given(carried),
    ...given({ known: known === undefined ? known : round(known), labels: found, error }),
  });
}

/** A cell of a file whose cells are between such delimiters. */
export function csvCell(value: string | number | undefined, delimiter: string): string {
  const text = String(value ?? "");
  return /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** `purring +1.32, water -0.41` */
const reasonsInWords = ({ reasons = [] }: Prediction): string =>
  reasons
    .map(({ word, share }) => `${word} ${share < 0 ? "" : "+"}${Number(share.toPrecision(3))}`)
    .join(", ");

function csvFormat(keep: readonly string[], delimiter: string, reasons: boolean): PredictionFormat {
  const row = (cells: readonly (string | number | undefined)[]): string =>
    cells.map((cell) => csvCell(cell, delimiter)).join(delimiter);
  return {
    head: row([
      "id",
      "line",
      ...keep,
      "known",
      "labels",
      "probabilities",
      ...(reasons ? ["reasons"] : []),
      "error",
    ]),
    line: ({ id, line, kept, known, labels, error }) =>
      row([
        id,
        line,
        ...keep.map((_, i) => kept?.[i]),
        known === undefined ? known : round(known),
        labels?.map(({ label }) => label).join(BETWEEN),
        labels?.map(({ probability }) => round(probability)).join(BETWEEN),
        ...(reasons ? [labels?.map(reasonsInWords).join(BETWEEN)] : []),
        error,
      ]),
  };
}
