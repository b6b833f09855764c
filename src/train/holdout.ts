// Rows to train on and rows to measure on, split before words are read: vocabulary, weights of words and the set of labels come from the
// rows that are trained on alone. Rows with the same words stay on one side.

import { ArgumentError } from "../base/errors.ts";
import { equalGroups, firstEqualRows } from "../base/sparse.ts";
import { type Dataset, labelledPart, selectRows, splitRows } from "../data/dataset.ts";
import type { ReadOptions } from "../data/options.ts";
import { comparedFrom } from "../data/transform.ts";
import { readingLike } from "../parts/schema.ts";
import { readingFor } from "../predict/reading.ts";

/** Rows to train on and rows to measure on. */
export interface Halves {
  kept: Dataset;
  held: Dataset;
}

/** Reads the data, all of them or some rows, in words of their own or those of other data. */
export type Read = (options: Pick<ReadOptions, "rows">) => Promise<Dataset>;

/** Data that are read already: their words are what they are. */
export const readAlready =
  (dataset: Dataset): Read =>
  async ({ rows }) => {
    if (!rows) return dataset;
    const all = Array.from({ length: dataset.features.rows }, (_, row) => row);
    return selectRows(dataset, all.filter(rows));
  };

/** Rows that are split together, by their numbers. */
async function groupsOf(read: Read): Promise<number[][]> {
  const data = labelledPart(await read({}));
  const { features } = data;
  const firstEqual = firstEqualRows(features, comparedFrom(data));
  return equalGroups(
    Array.from({ length: features.rows }, (_, row) => row),
    firstEqual,
  );
}

async function halves(read: Read, rows: readonly number[]): Promise<Halves> {
  const own = new Set(rows);
  const kept = await read({ rows: (row) => !own.has(row) });
  const like = readingFor(readingLike(kept));
  return { kept, held: await read({ ...like, rows: (row) => own.has(row) }) };
}

/** Holds out a part of the rows; the seed says which. */
export async function holdOut(read: Read, part: number, seed: number): Promise<Halves> {
  const groups = await groupsOf(read);
  const { kept, held } = splitRows(groups.length, part, seed);
  if (kept.length === 0 || held.length === 0)
    throw new ArgumentError("validation", `found ${groups.length} different rows, expected enough to split`);
  return await halves(read, Array.from(held, (group) => groups[group]).flat());
}

/** The rows split into parts of about the same size: each is held out once. */
export async function* folds(read: Read, count: number, seed: number): AsyncGenerator<Halves> {
  const groups = await groupsOf(read);
  if (groups.length < count)
    throw new ArgumentError("crossValidate", `found ${groups.length} different rows, expected at least ${count}`);
  const heldUpTo = (parts: number): Int32Array => splitRows(groups.length, parts / count, seed).held;
  for (let fold = 0; fold < count; fold++) {
    // A larger part holds out what a smaller one does, and more.
    const before = new Set(heldUpTo(fold));
    const held = [...heldUpTo(fold + 1)].filter((group) => !before.has(group));
    yield await halves(
      read,
      held.flatMap((group) => groups[group]),
    );
  }
}
