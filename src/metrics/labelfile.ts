// The figures of every label as a file to sort and filter: CSV for a spreadsheet, JSON for a program.

import type { LabelFigures } from "./perlabel.ts";

/** A label's figures with what the model knows of it. */
export interface NamedLabelFigures extends LabelFigures {
  readonly name: string;
  readonly trainingPoints: number;
}

/** Column of the CSV and key of the JSON; a figure that is not defined is an empty cell, and null. */
const COLUMNS: readonly (readonly [column: string, key: keyof NamedLabelFigures])[] = [
  ["label", "label"],
  ["name", "name"],
  ["training_points", "trainingPoints"],
  ["points", "positives"],
  ["kept", "kept"],
  ["right", "right"],
  ["precision", "precision"],
  ["recall", "recall"],
  ["f1", "f1"],
  ["average_precision", "averagePrecision"],
  ["found_in_best_five", "found"],
  ["expected_points", "expected"],
  ["predictions_over_5_percent", "overFivePercent"],
  ["said", "said"],
  ["came_true", "came"],
];

/** Digits that say more than chance does. */
const DIGITS = 6;

function cell(value: string | number): string {
  if (typeof value === "string") return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  return Number.isNaN(value) ? "" : String(rounded(value));
}

const rounded = (value: number): number =>
  Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));

/** One line for each label, under a line of column names. */
export function labelsAsCsv(figures: readonly NamedLabelFigures[]): string {
  const lines = figures.map((each) => COLUMNS.map(([, key]) => cell(each[key])).join(","));
  return `${[COLUMNS.map(([column]) => column).join(","), ...lines].join("\n")}\n`;
}

/** A list with one object for each label. */
export function labelsAsJson(figures: readonly NamedLabelFigures[]): string {
  const objects = figures.map((each) =>
    JSON.stringify(
      Object.fromEntries(
        COLUMNS.map(([, key]) => [key, typeof each[key] === "number" ? rounded(each[key]) : each[key]]),
      ),
    ),
  );
  return `[\n${objects.join(",\n")}\n]\n`;
}
