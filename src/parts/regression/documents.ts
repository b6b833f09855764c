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
  /** Where those that go out stood. */
  readonly places: readonly number[];
  readonly in: Documents;
  readonly after: Documents;
  /** How many of those that come in are new versions of known ones. */
  readonly corrected: number;
}

/** Documents that leave a list, by their places, and those that come in behind the rest. */
export type DocumentChange = Pick<Change, "places" | "in">;

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
  for (const id of placesOf(coming).keys()) {
    const old = places.get(id);
    if (old === undefined) continue;
    if (out.has(old)) refuse(`document ${excerpt(id)} both to learn and to forget`, "one of the two");
    out.add(old);
  }
  const leaving = [...out].sort((a, b) => a - b);
  return {
    out: select(known, leaving),
    places: leaving,
    in: coming,
    after: changed(known, [{ places: leaving, in: coming }]),
    corrected: out.size - forgotten,
  };
}

/** The documents after changes, one after another. */
export function changed(known: Documents, changes: readonly DocumentChange[]): Documents {
  const all = join(known, ...changes.map((change) => change.in));
  if (changes.every(({ places }) => places.length === 0)) return all;
  let rows = [...known.ids.keys()];
  let next = rows.length;
  for (const { places, in: coming } of changes) {
    const leaving = new Set(places);
    rows = rows.filter((_, place) => !leaving.has(place));
    for (let i = 0; i < coming.ids.length; i++) rows.push(next++);
  }
  return select(all, rows);
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
  const { features, labels, weights } = documents;
  return {
    features: selectFeatures(features, rows),
    labels: selectLabels(labels, rows),
    weights: weights && Int32Array.from(rows, (row) => weights[row]),
  };
}

/** One after another; labels are those of all. */
export function join(...all: readonly Documents[]): Documents {
  return {
    ids: all.flatMap(({ ids }) => ids),
    features: {
      rows: all.reduce((sum, { features }) => sum + features.rows, 0),
      columns: all[0].features.columns,
      rowStart: joinStarts(all.map(({ features }) => features.rowStart)),
      columnIndex: joinArrays(
        Int32Array,
        all.map(({ features }) => features.columnIndex),
      ),
      values: joinArrays(
        Float32Array,
        all.map(({ features }) => features.values),
      ),
    },
    labels: {
      rows: all.reduce((sum, { labels }) => sum + labels.rows, 0),
      labels: Math.max(...all.map(({ labels }) => labels.labels)),
      rowStart: joinStarts(all.map(({ labels }) => labels.rowStart)),
      labelIndex: joinArrays(
        Int32Array,
        all.map(({ labels }) => labels.labelIndex),
      ),
    },
    weights: all.some(({ weights }) => weights) ? joinArrays(Int32Array, all.map(everyWeight)) : undefined,
  };
}

/** As how many documents each counts. */
const everyWeight = ({ ids, weights }: Documents): Int32Array => weights ?? new Int32Array(ids.length).fill(1);

function joinStarts(all: readonly Int32Array[]): Int32Array {
  let end = 0;
  const ends = all.map((starts) => {
    const before = end;
    end += starts[starts.length - 1];
    return starts.subarray(1).map((start) => before + start);
  });
  return joinArrays(Int32Array, [Int32Array.of(0), ...ends]);
}

function joinArrays<A extends Int32Array | Float32Array>(make: new (length: number) => A, all: readonly A[]): A {
  const out = new make(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const each of all) {
    out.set(each, at);
    at += each.length;
  }
  return out;
}
