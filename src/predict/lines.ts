// Predictions for a file that is read piece by piece: an answer for each row, with its id and line, and answers as CSV.

import type { Expected, Prediction } from "../base/prediction.ts";
import type { Batch } from "../data/options.ts";
import type { LabelChoice } from "../parts/choose.ts";
import { type Explained, explainRows } from "./explain.ts";
import type { ModelHost } from "./host.ts";
import { predictRows } from "./load.ts";

export interface Answer extends Expected {
  line: number;
  /** The row's own id, where it has one. */
  id?: string;
  /** Values of the keys or columns to keep. */
  kept?: readonly string[];
  /** Part of the words (or features) of the row that the model knows. */
  known?: number;
  labels?: readonly Prediction[];
  /** The best labels that no training point has, where these were asked for. */
  unseen?: readonly Prediction[];
  /** Why the row was left out. */
  error?: string;
}

export interface PredictionFormat {
  /** The first line, where there is one. */
  head?: string;
  line(answer: Answer): string;
}

/** How CSV is written. */
export interface CsvStyle {
  delimiter?: string;
  /** A byte-order mark before the first line. */
  bom?: boolean;
  /** Cells as they are, even those that a spreadsheet would run. */
  raw?: boolean;
}

/** Between labels in a cell. */
const BETWEEN = "|";

/** Figures of a prediction as they are written; undefined stays so. */
export const rounded = <V extends number | undefined>(value: V): V =>
  (value === undefined ? value : Number(value.toPrecision(6))) as V;

/** A spreadsheet takes these for formulas. */
const isFormula = (text: string): boolean =>
  /^[=+\-@\t\r]/.test(text) && (text.trim() === "" || !Number.isFinite(Number(text)));

/**
 * A cell of a file whose cells are between such delimiters. One that a spreadsheet would run gets an apostrophe before it, which
 * spreadsheets do not show.
 */
export function csvCell(value: string | number | undefined, delimiter: string, raw = false): string {
  const text = String(value ?? "");
  const safe = !raw && isFormula(text) ? `'${text}` : text;
  return /["\r\n]/.test(safe) || safe.includes(delimiter) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Labels in one cell, as the readers take them apart: `red|rock\|pop`. */
export const labelsCell = (labels: readonly Prediction[]): string =>
  labels.map(({ label }) => String(label).replaceAll(BETWEEN, `\\${BETWEEN}`)).join(BETWEEN);

/** `purring +1.32, water -0.41` */
const reasonsInWords = ({ reasons = [] }: Prediction): string =>
  reasons
    .map(({ word, share, stands }) => {
      const amount = `${share < 0 ? "" : "+"}${Number(share.toPrecision(3))}`;
      return `${word}${stands ? " (stands in the text)" : ""} ${amount}`;
    })
    .join(", ");

const probabilityCell = (labels: readonly Prediction[] | undefined): string | undefined =>
  labels?.map(({ probability }) => rounded(probability)).join(BETWEEN);

/** CSV with the columns of `keep`, with reasons and with expected precision and recall where these are wanted. */
export function csvFormat(
  keep: readonly string[],
  { reasons = false, expected = false, unseen = false }: { reasons?: boolean; expected?: boolean; unseen?: boolean },
  { delimiter = ",", bom = false, raw = false }: CsvStyle = {},
): Required<PredictionFormat> {
  const row = (cells: readonly (string | number | undefined)[]): string =>
    cells.map((cell) => csvCell(cell, delimiter, raw)).join(delimiter);
  const names = ["known", "labels", "probabilities", ...(reasons ? ["reasons"] : [])];
  if (expected) names.push("expected_precision", "expected_recall");
  if (unseen) names.push("unseen", "unseen_probabilities");
  names.push("error");
  return {
    head: `${bom ? "\ufeff" : ""}${row(["id", "line", ...keep, ...names])}`,
    line: ({ id, line, kept, known, labels, unseen: others, expectedPrecision, expectedRecall, error }) =>
      row([
        id,
        line,
        ...keep.map((_, i) => kept?.[i]),
        rounded(known),
        labels && labelsCell(labels),
        probabilityCell(labels),
        ...(reasons ? [labels?.map(reasonsInWords).join(BETWEEN)] : []),
        ...(expected ? [expectedPrecision, expectedRecall].map(rounded) : []),
        ...(unseen ? [others && labelsCell(others), probabilityCell(others)] : []),
        error,
      ]),
  };
}

export interface AnswerOptions extends LabelChoice {
  /** Words for and against each label; without it none are looked for. */
  explain?: number | undefined;
}

/** An answer for each row of a piece that was read and each that was left out, in the order of the file. */
export async function answersOf(
  batch: Batch,
  host: Pick<ModelHost, "use">,
  model: Explained,
  { explain, ...choice }: AnswerOptions,
): Promise<Answer[]> {
  const { features, ids, lines, kept, coverage: known, skipped } = batch;
  const rows = await host.use((predictor) => predictRows(predictor, features, choice));
  if (explain !== undefined) await host.use((predictor) => explainRows(predictor, model, features, rows, explain));
  const answers: Answer[] = [];
  const left = [...skipped];
  for (let i = 0; i <= rows.length; i++) {
    for (; left[0]?.rowsBefore === i; left.shift()) answers.push({ line: left[0].line, error: left[0].message });
    const labels = rows[i];
    if (labels === undefined) break;
    answers.push({
      line: lines?.[i] as number,
      id: ids?.[i],
      kept: kept?.[i],
      known: known?.[i],
      labels,
      ...labels.expected,
      ...(labels.unseen && { unseen: labels.unseen }),
    });
  }
  return answers;
}
