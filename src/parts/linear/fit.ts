// The Gaussian posterior of a linear function of the features, in closed form, for wide data: W = (X'X + lam I)^-1 X'(Y - mu)
// by one dense factorisation over the features that occur often enough. Words of fewer than ten texts hold about one
// entry in a hundred and more than half of the columns (EUR-Lex: 15,626 of 39,662 columns hold 99 % of the entries).

import { ArgumentError } from "../../base/errors.ts";
import { documentFrequencies, onColumns, type SparseRows, selectFeatures } from "../../base/sparse.ts";
import type { Core } from "../../core/core.ts";
import { keeping, Scope, scoped } from "../../core/matrix.ts";
import type { Dataset } from "../../data/dataset.ts";
import { transformedRows } from "../../data/transform.ts";
import type { Cost, Fit, FitContext, ModelSchema, PartLearner } from "../part.ts";
import { documentsOf } from "../regression/documents.ts";
import { LearnedRidge } from "../regression/learn.ts";
import { type LearnedSums, restoredSums, ridgeLearner } from "../regression/learner.ts";
import { placeDocuments, type Subset, spreadOver } from "../regression/points.ts";
import {
  LABELS_AT_ONCE,
  type Probed,
  type RidgeOptions,
  type RidgeSolution,
  type RidgeSums,
  solveRidge,
} from "../regression/ridge.ts";
import type { LearningState } from "../regression/state.ts";
import { PointSums } from "../regression/totals.ts";
import { LEAST_ROWS } from "../split.ts";
import { changedPrecision, fitPrecision, type LinearPart } from "./posterior.ts";

/** lam; between 0.25 and 0.5 figures are flat. */
export const NOISE = 0.3;
/** Points that a feature must occur in, and how many features there may be: A [D,D] in single precision is 1 GB. */
const FEWEST_POINTS = 10;
export const MOST_COLUMNS = 16_000;

/** Features that get weights, rising: the most frequent ones. */
export function linearColumns(features: Dataset["features"], most: number = MOST_COLUMNS): Int32Array {
  const counts = documentFrequencies(features);
  const used = Int32Array.from(counts.keys()).filter((column) => counts[column] > 0);
  if (used.length <= most / 2) return used;
  const frequent = used.filter((column) => counts[column] >= FEWEST_POINTS);
  if (frequent.length <= most) return frequent;
  return frequent
    .sort((a, b) => counts[b] - counts[a] || a - b)
    .subarray(0, most)
    .sort();
}

/** Cost in single precision: the points, A, its factor in place and the weights, all in a core's memory. */
export function linearCost(sizes: { points: number; columns: number; labels: number; entries: number }): Cost {
  const { points, columns, labels, entries } = sizes;
  const solving = 4 * columns * (columns + labels) + 24 * columns * Math.min(LABELS_AT_ONCE, labels);
  return {
    bytes: solving + 8 * entries + 8 * points,
    operations: columns ** 3 / 3 + 2 * columns ** 2 * labels,
  };
}

/** The same for these rows. */
export const costFor = (features: SparseRows, labels: number): Cost & { readonly columns: number } => {
  const sizes = { points: features.rows, columns: linearColumns(features).length, entries: features.values.length };
  return { ...linearCost({ ...sizes, labels }), columns: sizes.columns };
};

/** Limits of `auto`: operations (some five minutes on two cores), and bytes of a core's four gigabytes. */
const [MOST_OPERATIONS, MOST_BYTES] = [1.2e13, 3.2e9];
/** To shorter rows the linear part has nothing to add (WordNet). */
const FEWEST_ENTRIES = 40;

/** Why `auto` does not take it for these rows. */
export function linearObstacle(features: SparseRows, labels: number): string | undefined {
  const each = features.values.length / features.rows;
  if (each < FEWEST_ENTRIES) return `rows have ${each.toFixed(0)} entries, too few for linear regression to add to it`;
  const { operations, bytes, columns } = costFor(features, labels);
  if (operations <= MOST_OPERATIONS && bytes <= MOST_BYTES) return undefined;
  const would = `${(bytes / 1e9).toFixed(1)} GB and ${operations.toExponential(1)} operations`;
  return `linear regression on ${columns} features and ${labels} labels would take ${would}`;
}

/** Up to so many features C is kept in double precision, beyond in single for room. */
const EXACT_FEATURES = 6000;

/** Weights, noise and columns are solved for; how much is known is judged on points that are held out. */
export async function fitLinear(context: FitContext): Promise<Fit<LinearPart>> {
  const { core, data, heldOut, schema, run, work } = context;
  if (heldOut === undefined)
    throw new ArgumentError(
      "model",
      `found linear with ${data.features.rows} rows, expected at least ${LEAST_ROWS} (fewer are for gpr)`,
    );
  const learns = run.onState !== undefined;
  const columns = linearColumns(data.features);
  const probes = probesFrom(heldOut.features, schema, columns);
  return await keeping((kept) =>
    scoped(async (scope) => {
      const { points, labels } = scope.keep(placedRows(core, data, schema, columns));
      const sums = (learns ? kept : scope).keep(new PointSums(points.x, labels));
      const { solution, part } = await solveLinear(sums, { noise: NOISE, columns }, probes, {
        ...work,
        working: learns && columns.length <= EXACT_FEATURES ? "f64" : "f32",
        inverse: learns,
        keepExact: learns,
      });
      (learns ? kept : scope).keep(solution);
      if (!learns) return { part };
      const both = new Scope();
      const totals = both.keep(sums);
      const learned = both.keep(LearnedRidge.from(totals, solution));
      const learner = linearLearner(part, schema, { totals, learned, free: () => both.free() });
      const documents = documentsOf(data, learner.rows(data.features));
      return { part, learning: { learner, documents }, free: () => learner.free() };
    }),
  );
}

/**
 * Values of rows of unit length are rounded to so many parts of 1 before they are learned from. A product of two is then a whole
 * number of 1 / GRID^2, and sums in double precision are exact up to 2^21: the same whichever way the points are cut into
 * parts (plan.ts). Bibtex: weights move by 0.005 % (root mean square), P@1/3/5 not at all.
 */
export const GRID: number = 2 ** 16;

/** In a function of its own, so that the rows outside the core go when they are in it. */
const placedRows = (core: Core, { features, labels }: Dataset, schema: ModelSchema, columns: Int32Array): Subset =>
  placeDocuments(core, { features: linearRows(features, schema, columns), labels }, schema.labels);

/** Rows that are weighted together: of all of them there is one copy, and it has the wanted columns alone. */
const ROWS_AT_ONCE = 8192;

/** Rows as a linear part learns from them: weighted, scaled, on the grid, with its columns alone. */
export function linearRows(
  features: SparseRows,
  { transform }: Pick<ModelSchema, "transform">,
  columns: Int32Array,
): SparseRows {
  const wanted = new Uint8Array(features.columns);
  for (const column of columns) wanted[column] = 1;
  let entries = 0;
  for (const column of features.columnIndex) entries += wanted[column];
  const rowStart = new Int32Array(features.rows + 1);
  const columnIndex = new Int32Array(entries);
  const values = new Float32Array(entries);
  const kept = onColumns(columns);
  for (let first = 0; first < features.rows; first += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, features.rows - first);
    const rows = kept(transformedRows(features, transform, first, count));
    const begin = rowStart[first];
    rows.rowStart.forEach((start, i) => {
      rowStart[first + i] = begin + start;
    });
    columnIndex.set(rows.columnIndex, begin);
    values.set(transform.normalise ? rows.values.map(onGrid) : rows.values, begin);
  }
  return { rows: features.rows, columns: columns.length, rowStart, columnIndex, values };
}

/** The posterior of these sums, which is yours to free, and as a part of a model; how much it knows is judged on `probes`. */
export async function solveLinear(
  sums: RidgeSums,
  { noise, columns }: Pick<LinearPart, "noise" | "columns">,
  probes: SparseRows,
  options: Omit<RidgeOptions, "probes">,
): Promise<{ solution: RidgeSolution; part: LinearPart }> {
  const solution = await solveRidge(sums, { noise }, "f32", { ...options, probes });
  const precision = fitPrecision(probes, solution.probed as Probed, noise);
  return { solution, part: linearPart(solution, { noise, columns, precision }) };
}

/** The mean of v over so many points is known to a few hundredths, and their rows take little beside A. */
const PROBES = 256;

/** Some of these points, as a linear part sees them. */
export function probesFrom(
  features: SparseRows,
  schema: Pick<ModelSchema, "transform">,
  columns: Int32Array,
): SparseRows {
  return linearRows(selectFeatures(features, spreadOver(features.rows, PROBES)), schema, columns);
}

const onGrid = (value: number): number => Math.round(value * GRID) / GRID;

const linearPart = (
  { weights, mean }: Pick<RidgeSolution, "weights" | "mean">,
  known: Pick<LinearPart, "noise" | "columns" | "precision">,
): LinearPart => ({
  family: "linear",
  ...known,
  weights: weights.toArray() as Float32Array,
  mean: mean.toArray() as Float32Array,
});

/** Learning into the solution. */
const linearLearner = (
  start: LinearPart,
  schema: Pick<ModelSchema, "transform">,
  sums: LearnedSums,
): PartLearner<LinearPart> =>
  ridgeLearner(
    start,
    {
      noise: start.noise,
      rows: (features) => linearRows(features, schema, start.columns),
      changed: ({ noise, columns, precision }, learned, change) =>
        linearPart(learned, { noise, columns, precision: changedPrecision(precision, change) }),
    },
    sums,
  );

/** The learner of a part from its state. */
export const restoredLearner = (
  part: LinearPart,
  schema: ModelSchema,
  core: Core,
  state: LearningState,
): PartLearner<LinearPart> => linearLearner(part, schema, restoredSums(core, state, part.weights));
