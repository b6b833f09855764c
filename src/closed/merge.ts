// States of parts of a data set add up to the state of the whole: sums are added, documents stand one after another.
// Labels are matched by their names where both states have names, else by their numbers. A solution cannot be added;
// it is solved for anew from the sums.

import { excerpt } from "../data/errors.ts";
import { type Documents, join, LearningError } from "./documents.ts";
import type { LearningState, StateSums, StateTotals } from "./state.ts";

/** The state of both parts together, without a solution. */
export function mergeStates(a: LearningState, b: LearningState): LearningState {
  if (a.plan.identity !== b.plan.identity) {
    throw new LearningError(
      `found parts of plans ${a.plan.identity} and ${b.plan.identity}, expected parts of one plan ` +
        "(vocabulary, inducing inputs and covariance)",
    );
  }
  for (const section of ["totals", "sums", "documents"] as const) {
    if ((a[section] === undefined) !== (b[section] === undefined))
      throw new LearningError(`found ${section} in one part only, expected them in both or in neither`);
  }
  const { labels, names, places } = matchLabels(a, b);
  const features = a.plan.kernel + a.plan.linear;
  return {
    plan: a.plan,
    labels,
    labelNames: names,
    totals: a.totals && b.totals && mergeTotals(a.totals, b.totals, labels, places),
    sums: a.sums && b.sums && mergeSums(a.sums, b.sums, labels, features, places),
    documents: a.documents && b.documents && mergeDocuments(a.documents, b.documents, labels, places),
  };
}

/** Where each label of b stands among those of both. */
function matchLabels(
  a: LearningState,
  b: LearningState,
): { labels: number; names: readonly string[] | undefined; places: Int32Array } {
  const numbers = Int32Array.from({ length: b.labels }, (_, k) => k);
  if (!a.labelNames || !b.labelNames)
    return { labels: Math.max(a.labels, b.labels), names: a.labelNames ?? b.labelNames, places: numbers };
  const names = [...a.labelNames];
  const known = new Map(names.map((name, k) => [name, k]));
  const places = numbers.map((k) => {
    const name = b.labelNames?.[k] as string;
    const place = known.get(name) ?? names.push(name) - 1;
    known.set(name, place);
    return place;
  });
  return { labels: names.length, names, places };
}

/** out += b */
function addTo(out: Float64Array, b: Float64Array): Float64Array {
  for (let i = 0; i < b.length; i++) (out[i] as number) += b[i] as number;
  return out;
}

/** Rows of a and, added at their places, rows of b; `width` numbers a row. */
function addRows(
  a: Float64Array,
  b: Float64Array,
  rows: number,
  width: number,
  places: Int32Array,
): Float64Array {
  const out = new Float64Array(rows * width);
  out.set(a);
  places.forEach((place, k) => {
    addTo(out.subarray(place * width, (place + 1) * width), b.subarray(k * width, (k + 1) * width));
  });
  return out;
}

function mergeTotals(a: StateTotals, b: StateTotals, labels: number, places: Int32Array): StateTotals {
  return {
    points: a.points + b.points,
    labelCounts: addRows(a.labelCounts, b.labelCounts, labels, 1, places),
    sums: addTo(a.sums.slice(), b.sums),
  };
}

function mergeSums(
  a: StateSums,
  b: StateSums,
  labels: number,
  features: number,
  places: Int32Array,
): StateSums {
  return {
    gram: addTo(a.gram.slice(), b.gram),
    cross: addRows(a.cross, b.cross, labels, features, places),
  };
}

function mergeDocuments(a: Documents, b: Documents, labels: number, places: Int32Array): Documents {
  const known = new Set(a.ids);
  const twice = b.ids.find((id) => id !== "" && known.has(id));
  if (twice !== undefined)
    throw new LearningError(`found document ${excerpt(twice)} in both parts, expected each in one`);
  return join({ ...a, labels: { ...a.labels, labels } }, renumbered(b, labels, places));
}

/** The same documents with their labels at other numbers, rising within each. */
function renumbered(documents: Documents, labels: number, places: Int32Array): Documents {
  const { rows, rowStart } = documents.labels;
  const labelIndex = documents.labels.labelIndex.map((label) => places[label] as number);
  for (let i = 0; i < rows; i++) labelIndex.subarray(rowStart[i], rowStart[i + 1]).sort();
  return { ...documents, labels: { rows, labels, rowStart, labelIndex } };
}
