// Data for a model: read with its vocabulary and in its columns, labels under its numbers.

import { defined } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { type Dataset, labelsByName } from "../data/dataset.ts";
import type { ReadOptions } from "../data/options.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { refuseLongRows } from "../data/transform.ts";
import { type DatasetInput, datasetFrom } from "../io/dataset.ts";
import type { Model } from "../model/model.ts";
import { familyOf } from "../parts/index.ts";
import { maxNorm } from "../parts/overflow.ts";
import type { Reading } from "../parts/schema.ts";

/** Data as a person has them, for this model; `options` say how they are read where that is still to be done. */
export async function dataFor(model: Reading, input: DatasetInput, options: ReadOptions = {}): Promise<Dataset> {
  const data = await datasetFrom(input, { ...readingFor(model), ...options });
  const other = differing(data, model);
  if (other !== undefined)
    throw new ArgumentError(
      "data",
      `found data with ${other} of their own, expected those of the model: give the file or the rows themselves`,
    );
  return numberedFor(model, data);
}

/** Data with the labels under the numbers of a model. */
export function numberedFor({ labelNames, unseenLabels = [] }: Reading, data: Dataset): Dataset {
  if (!labelNames || !data.labelNames) return data;
  const all = unseenLabels.length > 0 ? [...labelNames, ...unseenLabels] : labelNames;
  return startsWith(data.labelNames, all) ? data : labelsByName(data, all);
}

/** The first thing in data that is not as the model has it; undefined where they can be used. */
export function differing(data: Dataset, { vectoriser, featureNames }: Reading): string | undefined {
  if (data.vectoriser && !same(data.vectoriser.terms, vectoriser?.terms)) return "a vocabulary";
  return data.featureNames && !same(data.featureNames, featureNames) ? "features" : undefined;
}

const startsWith = (all: readonly string[], start: readonly string[]): boolean =>
  start.every((name, i) => name === all[i]);

const same = (a: readonly string[], b: readonly string[] = []): boolean =>
  a === b || (a.length === b.length && startsWith(a, b));

/** Rows that are too long for a model are broken ones, each for itself. */
export function refusing({ schema, parts }: Pick<Model, "schema" | "parts">): Pick<ReadOptions, "refuseRow"> {
  const most = maxNorm(parts.map((part) => familyOf(part).bounds(part, schema)));
  return { refuseRow: refuseLongRows(most, schema.transform) };
}

/** How data for a model are read. */
export function readingFor(model: Reading): ReadOptions {
  const { features, labels, vectoriser, featureNames, columnIds, labelNames, unseenLabels = [], keys } = model;
  return {
    ...(!(vectoriser || featureNames || columnIds) && { columns: features }),
    ...(labelNames ? { labelNames: [...labelNames, ...unseenLabels] } : { labelCount: labels }),
    ...defined({ columnIds, featureNames, keys, vectoriser: vectoriser && TfidfVectoriser.fromJSON(vectoriser) }),
  };
}
