// Typed input as a row of features: words for a model of texts, `name:value` pairs for any other.

import { type SparseRows, TfidfVectoriser, tokenise } from "../../src/data/index.ts";
import type { Reading } from "../../src/predict/reading.ts";

export interface TypedRow {
  /** By the ids of the training data. */
  features: SparseRows;
  /** Words or names that the model has never seen. */
  unknown: string[];
}

export interface TypedReader {
  input: "text" | "names" | "numbers";
  example: string;
  read(text: string): TypedRow;
}

/** One row out of columns and values; a column named twice counts its last value. */
function oneRow(columns: number, entries: ReadonlyMap<number, number>): SparseRows {
  const sorted = [...entries].filter(([, value]) => value !== 0).sort(([a], [b]) => a - b);
  return {
    rows: 1,
    columns,
    rowStart: Int32Array.of(0, sorted.length),
    columnIndex: Int32Array.from(sorted, ([column]) => column),
    values: Float32Array.from(sorted, ([, value]) => value),
  };
}

function readerOfTexts(vectoriser: TfidfVectoriser): TypedReader {
  const known = new Set(vectoriser.terms);
  return {
    input: "text",
    example: "",
    read: (text) => ({
      features: { ...vectoriser.transform([text]), texts: [text] },
      unknown: [...new Set(tokenise(text))].filter((word) => !known.has(word)),
    }),
  };
}

/** Pairs are parted by blanks, or by commas and new lines where names have blanks; a lone name counts 1. */
function readerOfPairs({ features, featureNames, columnIds }: Reading): TypedReader {
  const columns = columnIds ? (columnIds.at(-1) as number) + 1 : features;
  const ids = columnIds && new Set(columnIds);
  const columnOf = featureNames && new Map(featureNames.map((name, column) => [name, column]));
  const find = (name: string): number | undefined => {
    if (columnOf) return columnOf.get(name);
    const number = Number(name);
    const right = name !== "" && Number.isInteger(number) && number >= 0 && number < columns;
    return right && (ids?.has(number) ?? true) ? number : undefined;
  };
  const nameOf = (column: number): string => featureNames?.[column] ?? String(columnIds?.[column] ?? column);
  const first = Array.from({ length: Math.min(3, features) }, (_, column) => `${nameOf(column)}:1`);
  return {
    input: columnOf ? "names" : "numbers",
    example: first.join(columnOf ? ", " : " "),
    read(text) {
      const entries = new Map<number, number>();
      const unknown: string[] = [];
      for (const pair of text.split(columnOf ? /[,\n]+/ : /[\s,]+/).map((part) => part.trim())) {
        if (pair === "") continue;
        const colon = pair.lastIndexOf(":");
        const name = colon < 0 ? pair : pair.slice(0, colon).trim();
        const value = colon < 0 ? 1 : Number(pair.slice(colon + 1));
        const column = find(name);
        if (column === undefined || !Number.isFinite(value)) unknown.push(pair);
        else entries.set(column, value);
      }
      return { features: oneRow(columns, entries), unknown };
    },
  };
}

export function typedReader(model: Reading): TypedReader {
  return model.vectoriser ? readerOfTexts(TfidfVectoriser.fromJSON(model.vectoriser)) : readerOfPairs(model);
}
