// How data are read for a model.

import type { ReadOptions } from "../data/options.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import type { TrainedModel } from "./model.ts";

type Known = "features" | "labels" | "vectoriser" | "featureNames" | "columnIds" | "labelNames";

/** What of a model decides how data are read for it. */
export type Reading = Pick<TrainedModel, Known>;

/** What a model fixes about the data it can be used with. */
export function readingFor(model: Reading): ReadOptions {
  const { features, labels, vectoriser, featureNames, columnIds, labelNames } = model;
  return {
    ...(!(vectoriser || featureNames || columnIds) && { columns: features }),
    ...(columnIds && { columnIds }),
    ...(labelNames ? { labelNames } : { labelCount: labels }),
    ...(featureNames && { featureNames }),
    ...(vectoriser && { vectoriser: TfidfVectoriser.fromJSON(vectoriser) }),
  };
}
