// Bayesian linear regression at the edge: s(x) = x W + offset. Of W the largest weights may be all that is kept.

import { sumScorer } from "../regression/row.ts";
import type { OpenRow } from "../row.ts";

export const linearRow: OpenRow = (reader, _, { features, labels }) => {
  const offset = reader.vector("offset", labels);
  const weights = reader.sparse("weights", features, labels);
  const sum = sumScorer(offset, ({ columns, values }, scores) => weights.add(columns, values, columns.length, scores));
  return { ...sum, info: {}, linear: true };
};
