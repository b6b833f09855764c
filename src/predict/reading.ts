// Data for a model: read with its vocabulary and in its columns, labels under its numbers.

import { ArgumentError } from "../core/errors.ts";
import type { Dataset } from "../data/dataset.ts";
import { labelsByName } from "../data/labelnames.ts";
import type { ReadOptions } from "../data/options.ts";
import { type DatasetInput, datasetFrom } from "../io/dataset.ts";
import { type Reading, readingFor } from "../model/reading.ts";

/** What a data set decides of others that are to be like it. */
export function readingLike(dataset: Dataset): Reading {
  const { features, labels, labelNames, featureNames, columnIds, vectoriser } = dataset;
  return {
    features: features.columns,
    labels: labels.labels,
    ...(labelNames && { labelNames }),
    ...(featureNames && { featureNames }),
    ...(columnIds && { columnIds }),
    ...(vectoriser && { vectoriser: vectoriser.toJSON() }),
  };
}

/** Data as a person has them, for this model; `options` say how they are read where that is still to be done. */
export async function dataFor(
  model: Reading,
  input: DatasetInput,
  options: ReadOptions = {},
): Promise<Dataset> {
  const data = await datasetFrom(input, { ...readingFor(model), ...options });
  const other = differing(data, model);
  if (other !== undefined)
    throw new ArgumentError(
      "data",
      `found data with ${other} of their own, expected those of the model: give the file or the rows themselves`,
    );
  const { labelNames } = model;
  const renamed = labelNames && data.labelNames && !startsWith(data.labelNames, labelNames);
  return renamed ? labelsByName(data, labelNames) : data;
}

/** What the data have that is not the model's, if anything. */
function differing(data: Dataset, { vectoriser, featureNames }: Reading): string | undefined {
  if (data.vectoriser && !same(data.vectoriser.terms, vectoriser?.terms)) return "a vocabulary";
  return data.featureNames && !same(data.featureNames, featureNames) ? "features" : undefined;
}

const startsWith = (all: readonly string[], start: readonly string[]): boolean =>
  start.every((name, i) => name === all[i]);

const same = (a: readonly string[], b: readonly string[] = []): boolean =>
  a === b || (a.length === b.length && startsWith(a, b));
