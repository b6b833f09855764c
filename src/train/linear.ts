// The Gaussian posterior of a linear function of the features, in closed form, for wide data: W = (X'X + lam I)^-1 X'(Y - mu)
// by one dense factorisation over the features that occur often enough. Words of fewer than ten texts hold about one
// entry in a hundred and more than half of the columns (EUR-Lex: 15,626 of 39,662 columns hold 99 % of the entries).

import { placeDocuments } from "../closed/change.ts";
import { type Cost, sparseCost } from "../closed/cost.ts";
import { fitEvidence } from "../closed/evidence.ts";
import { LearnedRidge } from "../closed/learn.ts";
import { sumsOfPoints } from "../closed/pointsums.ts";
import type { Restored } from "../closed/restore.ts";
import {
  type Probed,
  type RidgeOptions,
  type RidgeSolution,
  type RidgeSums,
  solveRidge,
} from "../closed/ridge.ts";
import { featuresOf, learnPoints } from "../closed/sparse.ts";
import { type Subset, spreadOver } from "../closed/subset.ts";
import { Totals } from "../closed/totals.ts";
import type { Core } from "../core/core.ts";
import { Scope } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { keptColumns } from "../data/columns.ts";
import { type Dataset, documentFrequencies, type SparseRows, selectFeatures } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import type { ClosedModel, LinearPart, ModelFrame } from "../model/model.ts";

/** lam; between 0.25 and 0.5 figures are flat. */
export const NOISE = 0.3;
/** Points that a feature must occur in, and how many features there may be: A [D,D] in single precision is 1 GB. */
const FEWEST_POINTS = 10;
export const MOST_COLUMNS = 16_000;

/** Features that get weights, rising: the most frequent ones. */
export function linearColumns(features: Dataset["features"], most: number = MOST_COLUMNS): Int32Array {
  const counts = documentFrequencies(features);
  const used = Int32Array.from(counts.keys()).filter((column) => (counts[column] as number) > 0);
  if (used.length <= most / 2) return used;
  const frequent = used.filter((column) => (counts[column] as number) >= FEWEST_POINTS);
  if (frequent.length <= most) return frequent;
  return frequent
    .sort((a, b) => (counts[b] as number) - (counts[a] as number) || a - b)
    .subarray(0, most)
    .sort();
}

/** What it takes: the points, A, its factor in place and the weights, all in a core's memory. */
export function linearCost(sizes: {
  points: number;
  columns: number;
  labels: number;
  entries: number;
}): Cost {
  const { points, columns, labels, entries } = sizes;
  const way = { working: "f32", inverse: false, remade: true } as const;
  const { bytes, operations } = sparseCost({ points, kernel: 0, linear: columns, labels }, "f32", way);
  return { bytes: bytes + 8 * entries + 8 * points, operations };
}

/** Up to so many features C is kept in double precision, beyond in single for room. */
const EXACT_FEATURES = 6000;

/** The posterior and, where learning is to go on, what learns: yours to free. */
export interface LinearFit extends LinearNumbers {
  readonly learning?: Learning | undefined;
}

export type LinearNumbers = Pick<ClosedModel, "labelMean"> & { readonly closed: LinearPart };

/** A solution that learns, with its totals. */
export type Learning = Restored & { readonly learned: LearnedRidge };

/** Learns from `data`; how much it knows is judged on points that are `unseen`. */
export async function trainLinear(
  core: Core,
  { data, unseen }: { data: Dataset; unseen: SparseRows },
  frame: ModelFrame,
  { device, ...work }: Pick<RidgeOptions, "device" | keyof WorkOptions>,
  learning: boolean,
): Promise<LinearFit> {
  const columns = linearColumns(data.features);
  const probes = probesFrom(unseen, frame, columns);
  const scope = new Scope();
  const kept = new Scope();
  try {
    const { points, labels } = scope.keep(placedRows(core, data, frame, columns));
    const sums = scope.keep(await sumsOfPoints(points, labels, work));
    const { solution, numbers } = await solveLinear(sums, { noise: NOISE, columns }, probes, {
      ...work,
      device,
      working: learning && columns.length <= EXACT_FEATURES ? "f64" : "f32",
      inverse: learning,
      keepExact: learning,
    });
    (learning ? kept : scope).keep(solution);
    if (!learning) return numbers;
    const shape = { kernel: 0, linear: columns.length, labels: frame.labels };
    const totals = kept.keep(new Totals(core, shape));
    await learnPoints(totals, featuresOf({ linear: true }, points), labels, work);
    const learned = new LearnedRidge(totals, solution);
    const both = new Scope();
    both.keep(totals);
    both.keep(learned);
    return { ...numbers, learning: { totals, learned, free: () => both.free() } };
  } catch (error) {
    kept.free();
    throw error;
  } finally {
    scope.free();
  }
}

/**
 * Values of rows of unit length are rounded to so many parts of 1 before they are learned from. A product of two is then a whole
 * number of 1 / GRID^2, and sums in double precision are exact up to 2^21: the same whichever way the points are cut into
 * parts (plan.ts). Bibtex: weights move by 0.005 % (root mean square), P@1/3/5 not at all.
 */
export const GRID: number = 2 ** 16;

/** In a function of its own, so that the rows outside the core go when they are in it. */
const placedRows = (
  core: Core,
  { features, labels }: Dataset,
  frame: ModelFrame,
  columns: Int32Array,
): Subset =>
  placeDocuments(core, { features: linearRows(features, frame, columns), labels }, frame.labels, "f32");

/** Rows that are weighted together: of all of them there is one copy, and it has the wanted columns alone. */
const ROWS_AT_ONCE = 8192;

/** Rows as a linear part learns from them: weighted, scaled, on the grid, with its columns alone. */
export function linearRows(
  features: SparseRows,
  { transform }: Pick<ModelFrame, "transform">,
  columns: Int32Array,
): SparseRows {
  const wanted = new Uint8Array(features.columns);
  for (const column of columns) wanted[column] = 1;
  let entries = 0;
  for (const column of features.columnIndex) entries += wanted[column] as number;
  const rowStart = new Int32Array(features.rows + 1);
  const columnIndex = new Int32Array(entries);
  const values = new Float32Array(entries);
  for (let first = 0; first < features.rows; first += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, features.rows - first);
    const rows = keptColumns(transformedRows(features, transform, first, count), columns);
    const begin = rowStart[first] as number;
    rows.rowStart.forEach((start, i) => {
      rowStart[first + i] = begin + start;
    });
    columnIndex.set(rows.columnIndex, begin);
    values.set(transform.normalise ? rows.values.map(onGrid) : rows.values, begin);
  }
  return { rows: features.rows, columns: columns.length, rowStart, columnIndex, values };
}

/** The posterior of these sums, which is yours to free, and as the part of a model; how much it knows is judged on `probes`. */
export async function solveLinear(
  sums: RidgeSums,
  { noise, columns }: Pick<LinearPart, "noise" | "columns">,
  probes: SparseRows,
  options: Omit<RidgeOptions, "probes">,
): Promise<{ solution: RidgeSolution; numbers: LinearNumbers }> {
  const solution = await solveRidge(sums, { noise }, "f32", { ...options, probes });
  const evidence = fitEvidence(probes, solution.probed as Probed, noise);
  return { solution, numbers: linearNumbers(solution, { noise, columns, evidence }) };
}

/** The mean of v over so many points is known to a few hundredths, and their rows take little beside A. */
const PROBES = 256;

/** Some of these points, as a linear part sees them. */
export function probesFrom(
  features: SparseRows,
  frame: Pick<ModelFrame, "transform">,
  columns: Int32Array,
): SparseRows {
  return linearRows(selectFeatures(features, spreadOver(features.rows, PROBES)), frame, columns);
}

const onGrid = (value: number): number => Math.round(value * GRID) / GRID;

/** A solution as the part of a model. */
export function linearNumbers(
  { weights, mean }: Pick<RidgeSolution, "weights" | "mean">,
  { noise, columns, evidence }: Omit<LinearPart, "form" | "weights">,
): LinearNumbers {
  const part = { noise, columns, ...(evidence && { evidence }) };
  return {
    closed: { form: "linear", ...part, weights: weights.toArray() as Float32Array },
    labelMean: mean.toArray() as Float32Array,
  };
}
