// The documents a model was learned from, by id: their rows as the model sees them and their labels. Learning a
// corrected document takes the old version out and the new one in, so old versions must be at hand.

import { excerpt } from "../../base/errors.ts";
import { type LabelSets, type SparseRows, selectFeatures, selectLabels } from "../../base/sparse.ts";
import type { Dataset } from "../../data/dataset.ts";

/** Documents without their ids. */
export interface LabelledRows {
  /** Rows as the model sees them: weighted and scaled. */
  readonly features: SparseRows;
  readonly labels: LabelSets;
  /** |x|^2 of each row, where words outside the vocabulary count in it. */
  readonly squares?: Float32Array | undefined;
  /** As how many documents each counts, where one counts as more than one. */
  readonly weights?: Int32Array | undefined;
}

/** Documents with their ids; "" stands for none: such a document can be learned, but not corrected or forgotten. */
export interface Documents extends LabelledRows {
  readonly ids: readonly string[];
}

/** A document counts as so many at most. */
export const MOST_WEIGHT = 1000;

/** As how many documents they count. */
export function countOf({ ids, weights }: Documents): number {
  return weights ? weights.reduce((sum, weight) => sum + weight, 0) : ids.length;
}

/** Each document as often as it counts: what sums over documents take. */
export function repeated(documents: Documents): Documents {
  const { weights } = documents;
  if (!weights) return documents;
  const rows = Array.from(weights, (weight, row) => new Array<number>(weight).fill(row)).flat();
  return { ...select(documents, rows), weights: undefined };
}

/** Documents of a data set whose rows the model sees as these. */
export function documentsOf({ ids, labels }: Pick<Dataset, "ids" | "labels">, features: SparseRows): Documents {
  return { ids: ids ?? new Array<string>(features.rows).fill(""), features, labels };
}

/** Only the documents that have ids: others can be neither corrected nor forgotten, and sums need no rows. */
export function withIds(documents: Documents): Documents {
  const named = [...documents.ids.keys()].filter((i) => documents.ids[i] !== "");
  return named.length === documents.ids.length ? documents : select(documents, named);
}

/** Refuses ids that come twice: it would not be known which of the documents is meant. */
export function checkIds({ ids = [] }: Pick<Dataset, "ids">): void {
  placesOf({ ids });
}

/** Something that cannot be learned or forgotten; nothing was changed. */
export class LearningError extends Error {
  override readonly name: string = "LearningError";
}

/** Documents to learn, and the ids of those to forget. */
export interface Request {
  readonly learn?: Documents;
  readonly forget?: readonly string[];
}

/** A request as sums see it: documents that go out, documents that come in, and all that there are then. */
export interface Change {
  readonly out: Documents;
  readonly in: Documents;
  readonly after: Documents;
  /** How many of those that come in are new versions of known ones. */
  readonly corrected: number;
}

/** Checks a request against the documents there are and says what it means. */
export function changeOf(known: Documents, { learn, forget = [] }: Request): Change {
  const places = placesOf(known);
  const out = new Set<number>();
  for (const id of forget) {
    const place = places.get(id);
    if (id === "") refuse("a document without an id among those to forget", "the id it was learned with");
    if (place === undefined) refuse(`document ${excerpt(id)} among those to forget`, "one that was learned");
    else if (out.has(place)) refuse(`document ${excerpt(id)} twice among those to forget`, "each once");
    else out.add(place);
  }
  const forgotten = out.size;
  const coming = learn ?? select(known, []);
  if (coming.features.columns !== known.features.columns)
    refuse(`documents of ${coming.features.columns} features`, `${known.features.columns} as those learned have`);
  if ((coming.squares === undefined) !== (known.squares === undefined) && known.ids.length > 0)
    refuse("lengths with some documents only", "lengths with all documents or with none");
  for (const id of placesOf(coming).keys()) {
    const old = places.get(id);
    if (old === undefined) continue;
    if (out.has(old)) refuse(`document ${excerpt(id)} both to learn and to forget`, "one of the two");
    out.add(old);
  }
  const kept = known.ids.map((_, i) => i).filter((i) => !out.has(i));
  const leaving = [...out].sort((a, b) => a - b);
  return {
    out: select(known, leaving),
    in: coming,
    after: join(select(known, kept), coming),
    corrected: out.size - forgotten,
  };
}

/** Refuses a request or a state; nothing was changed. */
export function refuse(found: string, expected: string): never {
  throw new LearningError(`found ${found}, expected ${expected}`);
}

/** Where each id stands; one that stands twice is refused. */
function placesOf({ ids }: Pick<Documents, "ids">): Map<string, number> {
  const places = new Map<string, number>();
  ids.forEach((id, i) => {
    if (id === "") return;
    if (places.has(id)) refuse(`document ${excerpt(id)} twice`, "each id once");
    places.set(id, i);
  });
  return places;
}

/** Some of the documents, in the order given. */
export const select = (documents: Documents, rows: readonly number[]): Documents => ({
  ids: rows.map((row) => documents.ids[row]),
  ...selectLabelled(documents, rows),
});

/** The same of documents without ids. */
export function selectLabelled(documents: LabelledRows, rows: readonly number[]): LabelledRows {
  const { features, labels, squares, weights } = documents;
  return {
    features: selectFeatures(features, rows),
    labels: selectLabels(labels, rows),
    squares: squares && Float32Array.from(rows, (row) => squares[row]),
    weights: weights && Int32Array.from(rows, (row) => weights[row]),
  };
}

/** One after another; labels are those of both. */
export function join(a: Documents, b: Documents): Documents {
  return {
    ids: [...a.ids, ...b.ids],
    features: {
      rows: a.features.rows + b.features.rows,
      columns: a.features.columns,
      rowStart: joinStarts(a.features.rowStart, b.features.rowStart),
      columnIndex: joinArrays(Int32Array, a.features.columnIndex, b.features.columnIndex),
      values: joinArrays(Float32Array, a.features.values, b.features.values),
    },
    labels: {
      rows: a.labels.rows + b.labels.rows,
      labels: Math.max(a.labels.labels, b.labels.labels),
      rowStart: joinStarts(a.labels.rowStart, b.labels.rowStart),
      labelIndex: joinArrays(Int32Array, a.labels.labelIndex, b.labels.labelIndex),
    },
    squares: b.squares && joinArrays(Float32Array, a.squares ?? new Float32Array(0), b.squares),
    weights: a.weights || b.weights ? joinArrays(Int32Array, everyWeight(a), everyWeight(b)) : undefined,
  };
}

/** As how many documents each counts. */
const everyWeight = ({ ids, weights }: Documents): Int32Array => weights ?? new Int32Array(ids.length).fill(1);

function joinStarts(a: Int32Array, b: Int32Array): Int32Array {
  const end = a.at(-1) as number;
  return joinArrays(
    Int32Array,
    a,
    b.subarray(1).map((start) => start + end),
  );
}

function joinArrays<A extends Int32Array | Float32Array>(make: new (length: number) => A, a: A, b: A): A {
  const out = new make(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}
