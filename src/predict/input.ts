// What a caller gives a model (texts, rows of features, a data set) as rows in the model's columns, and how much of each
// the model knows.

import { ArgumentError } from "../core/errors.ts";
import { SparseRowsBuilder } from "../data/builders.ts";
import { mapColumns, mapFeatures } from "../data/columns.ts";
import type { Dataset, SparseRows } from "../data/dataset.ts";
import type { TfidfVectoriser } from "../data/tfidf.ts";

/** Texts, rows of features by the ids of the training data, or a data set. */
export type ModelInput = readonly string[] | SparseRows | Dataset;

export interface ModelRows {
  features: SparseRows;
  /** Part of the words or features of each row that the model has. */
  known: ArrayLike<number>;
  /** The words of a row as written, by their stems, where somebody kept them. */
  written?: ((row: number) => ReadonlyMap<string, string> | undefined) | undefined;
}

/** Rows for a model with this vocabulary, or with these ids of its features. */
export function modelRows(
  input: ModelInput,
  vectoriser: TfidfVectoriser | undefined,
  columnIds: Int32Array | undefined,
): ModelRows {
  const refuse = (what: string): never => {
    throw new ArgumentError("input", what);
  };
  if (typeof input !== "object" || input === null)
    return refuse(`found ${String(input)}, expected a text, texts or rows of features`);
  if ("features" in input) {
    const { features } = mapColumns(input, columnIds);
    const known = input.known ?? shares(input.features, features);
    return { features, known, written: (row) => input.written?.[row] };
  }
  if ("columns" in input) {
    const features = columnIds ? mapFeatures(input, columnIds) : input;
    return { features, known: shares(input, features) };
  }
  if (!Array.isArray(input))
    return refuse("found another object, expected a text, texts or rows of features");
  if (input.some((text) => typeof text !== "string"))
    return refuse("found something else than texts in the list, expected texts");
  if (vectoriser === undefined)
    return refuse("found texts, expected features: this model was not trained on texts");
  const builder = new SparseRowsBuilder();
  const known = input.map((text) => vectoriser.appendRow(text, builder));
  const written: ModelRows["written"] = (row) => vectoriser.written(input[row] as string);
  return { features: builder.build(vectoriser.columns), known, written };
}

/** Of the entries of each row the part that was kept. */
function shares(given: SparseRows, kept: SparseRows): Float64Array {
  const entries = ({ rowStart }: SparseRows, row: number): number =>
    (rowStart[row + 1] as number) - (rowStart[row] as number);
  return Float64Array.from({ length: given.rows }, (_, row) =>
    entries(given, row) === 0 ? 0 : entries(kept, row) / entries(given, row),
  );
}
