// Predictions as lines of CSV, for a spreadsheet: a line for each row of the data, with its id and its line.

import type { Prediction } from "../metrics/prediction.ts";

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

/** Between labels in a cell. */
const BETWEEN = "|";

/** Figures of a prediction as they are written. */
export const rounded = (value: number): number => Number(value.toPrecision(6));

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

/** CSV with the columns of `keep`; `reasons`: whether there is a column of them. */
export function csvFormat(
  keep: readonly string[],
  delimiter: string,
  reasons: boolean,
): Required<PredictionFormat> {
  const row = (cells: readonly (string | number | undefined)[]): string =>
    cells.map((cell) => csvCell(cell, delimiter)).join(delimiter);
  const names = ["known", "labels", "probabilities", ...(reasons ? ["reasons"] : []), "error"];
  return {
    head: row(["id", "line", ...keep, ...names]),
    line: ({ id, line, kept, known, labels, error }) =>
      row([
        id,
        line,
        ...keep.map((_, i) => kept?.[i]),
        known === undefined ? known : rounded(known),
        labels?.map(({ label }) => label).join(BETWEEN),
        labels?.map(({ probability }) => rounded(probability)).join(BETWEEN),
        ...(reasons ? [labels?.map(reasonsInWords).join(BETWEEN)] : []),
        error,
      ]),
  };
}
