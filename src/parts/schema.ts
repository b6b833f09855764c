// The schema of a model: what data decide of its features and labels.

import { defined } from "../base/check.ts";
import { termsOf } from "../base/kernels.ts";
import { labelFrequencies, withinColumns } from "../base/sparse.ts";
import type { DataKeys, Dataset } from "../data/dataset.ts";
import type { TfidfState } from "../data/tfidf.ts";
import { type FeatureTransform, fitTransform, withViews } from "../data/transform.ts";
import type { FullTrainOptions } from "./options.ts";

/** Features and labels of a model, whatever computes its scores. */
export interface ModelSchema {
  /** D, K */
  features: number;
  labels: number;
  /** N: how many points it was trained on. */
  points: number;
  transform: FeatureTransform;
  /** How many training points have each label. */
  labelCounts: Int32Array;
  labelNames?: readonly string[];
  /** Labels that no training point has and that are predicted all the same: their numbers go on behind those of the others. */
  unseenLabels?: readonly string[];
  /** Every point has exactly one label. */
  exclusive?: true;
  featureNames?: readonly string[];
  /** Ids of the features in the training data, rising, where only those that occur have a number of their own. */
  columnIds?: Int32Array;
  /** Makes features from texts. */
  vectoriser?: TfidfState;
  /** Keys or columns of the training data that were asked for by name. */
  keys?: DataKeys;
}

type TransformOptions = Pick<FullTrainOptions, "idf" | "normalise" | "kernel">;
type SchemaOptions = TransformOptions & Partial<Pick<FullTrainOptions, "exclusive">>;

/** Weights and scaling of the features before the model sees them. */
export const transformFor = (
  { features, vectoriser }: Dataset,
  { idf, normalise, kernel }: TransformOptions,
): FeatureTransform => {
  const ranges = vectoriser?.views;
  const words = ranges ? withinColumns(features, 0, ranges[0].from) : features;
  const transform = fitTransform(words, idf, normalise, vectoriser?.scaled, !termsOf(kernel).linear);
  return ranges ? withViews(transform, features, ranges) : transform;
};

/** The part of a model that decides how data are read for it. */
export type Reading = Omit<ModelSchema, "points" | "transform" | "labelCounts" | "exclusive">;

/** Other data are read as this data set was. */
export function readingLike({
  features,
  labels,
  labelNames,
  featureNames,
  columnIds,
  vectoriser,
  keys,
}: Dataset): Reading {
  const names = { labelNames, featureNames, columnIds, vectoriser: vectoriser?.toJSON(), keys };
  return { features: features.columns, labels: labels.labels, ...defined(names) };
}

/** The schema of a model that is trained on these data. */
export const schemaFor = (data: Dataset, options: SchemaOptions): ModelSchema => ({
  ...readingLike(data),
  points: data.features.rows,
  transform: transformFor(data, options),
  labelCounts: Int32Array.from(labelFrequencies(data.labels)),
  ...(options.exclusive && { exclusive: true as const }),
});
