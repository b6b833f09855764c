// Inputs (texts, features, a data set) as rows in the model's columns, and how much of each the model knows.

import { isObject } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { type Input, listOfInputs, plainInput, plainVectors, type Refuse, rowMaker, vectorRow } from "../base/input.ts";
import { mapFeatures, type SparseRows, weighRow } from "../base/sparse.ts";
import { SparseRowsBuilder } from "../data/builders.ts";
import { type Dataset, mapColumns } from "../data/dataset.ts";
import type { TfidfVectoriser } from "../data/tfidf.ts";
import type { ModelSchema } from "../parts/part.ts";

/** A list of inputs, rows of features by the ids of the training data, or a data set. */
export type ModelInput = readonly Input[] | SparseRows | Dataset;

export interface ModelRows {
  features: SparseRows;
  /** Part of the words or features of each row that the model has. */
  known: ArrayLike<number>;
}

const isRows = (value: unknown): value is SparseRows => isObject(value) && "rowStart" in value;
const isDataset = (value: unknown): value is Dataset => isObject(value) && isRows(value.features);

/** True for one input, which has one list of labels as its answer. */
export const isSingle = (input: Input | ModelInput): input is Input =>
  !isRows(input) && !isDataset(input) && listOfInputs(input) === undefined;

/** Rows for a model with these columns, whose vocabulary is `vectoriser`. */
export function modelRows(
  input: Input | ModelInput,
  schema: Pick<ModelSchema, "features" | "columnIds" | "featureNames" | "transform">,
  vectoriser?: TfidfVectoriser,
): ModelRows {
  const { columnIds: ids } = schema;
  if (isDataset(input)) {
    const { features } = mapColumns(input, ids);
    const known = input.coverage ?? shares(input.features, features);
    return { features, known };
  }
  if (isRows(input)) {
    const features = ids ? mapFeatures(input, ids) : input;
    return { features, known: shares(input, features) };
  }
  const list = listOfInputs(input) ?? [input];
  const builder = new SparseRowsBuilder();
  const texts: string[] = [];
  const rowOf = rowMaker({ columns: schema.features, ids, find: finder(schema, vectoriser) });
  const known = list.map((each, i) => {
    const refuse: Refuse = (found, expected) => {
      throw new ArgumentError(list.length > 1 ? `input ${i}` : "input", `found ${found}, expected ${expected}`);
    };
    const vectors = plainVectors(each, refuse);
    const plain = plainInput(each, refuse, vectoriser !== undefined);
    if (typeof plain === "string") {
      if (vectoriser === undefined) return refuse("a text", "features: this model was not trained on texts");
      texts[i] = plain;
      return vectoriser.appendRow(plain, builder, vectorRow(vectoriser.vectors ?? [], vectors, refuse));
    }
    const { columns, values, coverage } = rowOf(plain, refuse);
    // Words by name stand for a text of which all is known, whatever they are counted in.
    if ("names" in plain && vectoriser?.normalises) toLength1(columns, values, schema.transform.columnWeights);
    columns.forEach((column, e) => {
      builder.add(column, values[e]);
    });
    builder.endRow();
    return coverage;
  });
  const features = builder.build(vectoriser?.columns ?? schema.features);
  const all = texts.length > 0 ? { ...features, texts: list.map((_, row) => texts[row] ?? "") } : features;
  return { features: all, known };
}

/** The columns of a model by their names, where they have any. */
function finder({ featureNames }: Pick<ModelSchema, "featureNames">, vectoriser: TfidfVectoriser | undefined) {
  if (vectoriser) return (name: string): number => vectoriser.find(name);
  if (!featureNames) return undefined;
  const columns = new Map(featureNames.map((name, column) => [name, column]));
  return (name: string): number => columns.get(name) ?? -1;
}

/** Scales a row so that it has length 1 once its columns are weighted. */
function toLength1(columns: Int32Array, values: Float32Array, columnWeights: Float32Array | undefined): void {
  weighRow(columns, values, 0, values.length, columnWeights, true);
  if (columnWeights) for (let e = 0; e < values.length; e++) values[e] /= columnWeights[columns[e]];
}

/** The part of the entries of each row that was kept. */
function shares(given: SparseRows, kept: SparseRows): Float64Array {
  const entries = ({ rowStart }: SparseRows, row: number): number => rowStart[row + 1] - rowStart[row];
  return Float64Array.from({ length: given.rows }, (_, row) =>
    entries(given, row) === 0 ? 0 : entries(kept, row) / entries(given, row),
  );
}
