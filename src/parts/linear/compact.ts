// Bayesian linear regression for a compact file: the largest weights, and an offset that makes up for what the others give on
// average.

import { placeOf } from "../../base/sparse.ts";
import { inverseFrequency } from "../../base/terms.ts";
import type { CompactWriter } from "../compact.ts";
import type { ModelSchema } from "../part.ts";
import { addLost, leastKept, writeLargest, writeOffset } from "../regression/compact.ts";
import type { LinearPart } from "./posterior.ts";

export function compactLinear(
  { columns, weights, mean }: LinearPart,
  schema: ModelSchema,
  writer: CompactWriter,
): Record<string, unknown> {
  const { features: rows, labels } = schema;
  const place = (feature: number): number => placeOf(feature, columns);
  const full = { values: weights, labels, rows, place };
  const kept = writeLargest(writer, "weights", full, leastKept([full], writer.room()));
  const lost = new Float64Array(writer.labels.length);
  const typical = typicalRow(schema);
  if (typical)
    addLost(
      lost,
      writer,
      weights,
      Float64Array.from(columns, (column) => typical[column]),
      kept,
      typical,
    );
  writeOffset(writer, mean, lost);
  return {};
}

/**
 * About the mean of each feature over texts, from how many have it: each present one has its idf, and rows are of unit length.
 * Undefined where the model knows no frequencies.
 */
function typicalRow({ vectoriser, features }: ModelSchema): Float64Array | undefined {
  if (!vectoriser) return undefined;
  const { documentFrequency, documents, options } = vectoriser;
  const rules = { idf: options.idf ?? true };
  const idf = Float64Array.from({ length: features }, (_, j) =>
    inverseFrequency(rules, documents, documentFrequency[j] ?? 0),
  );
  const share = (j: number): number => (documentFrequency[j] ?? 0) / documents;
  let square = 0;
  for (let j = 0; j < features; j++) square += share(j) * idf[j] * idf[j];
  return idf.map((weight, j) => (share(j) * weight) / Math.sqrt(square));
}
