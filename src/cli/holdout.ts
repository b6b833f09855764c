// What a training is measured on: another file, a part of the data (--valid 10%), or each part in turn
// (--cross-validate 5).

import { type Dataset, rowsWithLabels, selectRows, splitRows } from "../data/dataset.ts";
import { UsageError } from "./flags.ts";

/** What --valid says: the path of a file, or the part of the data that is held out. */
export type Validation = { readonly file: string } | { readonly part: number };

export function validationOf(valid: string): Validation {
  const percent = /^([\d.]+)\s*%$/.exec(valid)?.[1];
  if (percent === undefined) return { file: valid };
  const part = Number(percent) / 100;
  if (!(part > 0 && part < 1))
    throw new UsageError(`--valid: found ${valid}, expected a file, or more than 0% and less than 100%`);
  return { part };
}

/** Points to train on and points to measure on. */
export interface Halves {
  kept: Dataset;
  held: Dataset;
}

/** Holds out a part of the points that have labels; the seed says which. */
export function holdOut(dataset: Dataset, part: number, seed: number): Halves {
  const labelled = rowsWithLabels(dataset.labels);
  const { kept, held } = splitRows(labelled.length, part, seed);
  if (kept.length === 0 || held.length === 0)
    throw new UsageError(`--valid: found ${labelled.length} points with labels, expected enough to split`);
  return halves(dataset, labelled, kept, held);
}

/** The data split into parts of about the same size: each is held out once. */
export function* folds(dataset: Dataset, count: number, seed: number): Generator<Halves> {
  const labelled = rowsWithLabels(dataset.labels);
  if (labelled.length < count)
    throw new UsageError(
      `--cross-validate: found ${labelled.length} points with labels, expected at least ${count}`,
    );
  const heldUpTo = (parts: number): Int32Array => splitRows(labelled.length, parts / count, seed).held;
  for (let fold = 0; fold < count; fold++) {
    // A larger part holds out what a smaller one does, and more.
    const before = new Set(heldUpTo(fold));
    const held = heldUpTo(fold + 1).filter((place) => !before.has(place));
    const own = new Set(held);
    const kept = labelled.map((_, place) => place).filter((place) => !own.has(place));
    yield halves(dataset, labelled, kept, held);
  }
}

function halves(
  dataset: Dataset,
  labelled: Int32Array,
  kept: ArrayLike<number>,
  held: ArrayLike<number>,
): Halves {
  const rows = (places: ArrayLike<number>): Int32Array =>
    Int32Array.from(places, (place) => labelled[place] as number);
  return { kept: selectRows(dataset, rows(kept)), held: selectRows(dataset, rows(held)) };
}

type Figures = Readonly<Record<string, number>>;

/** Mean and standard deviation of each figure over the folds. */
export function spreadOf(folds: readonly Figures[]): Record<string, { mean: number; spread: number }> {
  const names = Object.keys(folds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const values = folds.map((figures) => figures[name] as number);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      return [name, { mean, spread: Math.sqrt(squares / Math.max(1, values.length - 1)) }];
    }),
  );
}
