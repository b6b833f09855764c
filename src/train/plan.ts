// Training in parts, on as many machines as there are: a plan says what every part must agree on, a part is the sums of some of
// the points, and all parts together give the model. The sums of the linear closed form are exact (linear.ts rounds rows to a
// grid), so that the model has the same bytes however the points were cut, and those of training in one piece.

import { placeDocuments } from "../closed/change.ts";
import { mergeStates } from "../closed/merge.ts";
import { packedLength } from "../closed/packed.ts";
import { captureState, restoreState } from "../closed/restore.ts";
import { type LearningState, planIdentity, type StatePlan } from "../closed/state.ts";
import { Statistics } from "../closed/statistics.ts";
import { type Core, createCore } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import { Scope } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { checkDataset } from "../data/check.ts";
import { type Dataset, rowsWithLabels, selectRows } from "../data/dataset.ts";
import type { TfidfState } from "../data/tfidf.ts";
import { FormatError } from "../io/errors.ts";
import type { ClosedModel, ModelFrame } from "../model/model.ts";
import { calibrateHeldOut, heldOutRows } from "./heldOut.ts";
import { GRID, linearColumns, linearRows, MOST_COLUMNS, NOISE, probesFrom, solveLinear } from "./linear.ts";
import { completeOptions, type TrainOptions } from "./options.ts";
import { frameFor, summaryFor } from "./train.ts";

export const PLAN_FORMAT = "mlgpf-plan";
const PLAN_VERSION = 1;

/** What all parts of a training agree on; plain JSON. */
export interface TrainingPlan {
  format: typeof PLAN_FORMAT;
  version: typeof PLAN_VERSION;
  /** D and K; the points that have labels, and how many have none. */
  features: number;
  labels: number;
  points: number;
  dropped: number;
  normalise: boolean;
  /** Of each feature, where they are weighted. */
  columnWeights?: number[];
  /** Features that get weights, rising, and lam. */
  columns: number[];
  noise: number;
  labelNames?: readonly string[];
  featureNames?: readonly string[];
  vectoriser?: TfidfState;
  /** Ids of the columns as the file has them, where only some were kept. */
  columnIds?: number[];
  /** Every option that is in force. */
  options: Record<string, unknown>;
}

/** Part `index` of `count`, counted from 1. */
export interface Shard {
  index: number;
  count: number;
}

/** Of the work on a part or on all of them. */
export interface PartOptions extends WorkOptions {
  threads?: number | "auto";
}

/** Points that have labels: the others say nothing. */
function labelledPoints(dataset: Dataset): Dataset {
  checkDataset(dataset);
  const rows = rowsWithLabels(dataset.labels);
  return rows.length === dataset.features.rows ? dataset : selectRows(dataset, rows);
}

/** The plan of a training in closed form, linear in the features, on these data. */
export function makePlan(dataset: Dataset, options: TrainOptions = {}): TrainingPlan {
  const data = labelledPoints(dataset);
  const { rows: points, columns: features } = data.features;
  const sizes = { points, features, labels: data.labels.labels };
  const full = completeOptions({ ...options, likelihood: "gaussian" }, sizes);
  if (!full.normalise)
    throw new ArgumentError(
      "normalise",
      "found false, expected true: parts add up exactly for rows of unit length alone",
    );
  const held = heldOutRows(points);
  if (held === undefined)
    throw new ArgumentError(
      "dataset",
      `found ${points} points with labels, expected more of them for a training in parts`,
    );
  const fitted = selectRows(data, held.kept);
  const { transform } = frameFor(fitted, full, fitted.features.rows);
  return {
    format: PLAN_FORMAT,
    version: PLAN_VERSION,
    ...sizes,
    dropped: dataset.features.rows - points,
    normalise: transform.normalise,
    ...(transform.columnWeights ? { columnWeights: [...transform.columnWeights] } : {}),
    columns: [...linearColumns(fitted.features, mostColumns(sizes.labels))],
    noise: NOISE,
    ...(data.labelNames ? { labelNames: data.labelNames } : {}),
    ...(data.featureNames ? { featureNames: data.featureNames } : {}),
    ...(data.vectoriser ? { vectoriser: data.vectoriser.toJSON() } : {}),
    ...(data.columnIds ? { columnIds: [...data.columnIds] } : {}),
    options: { ...summaryFor(full, points, 0).options },
  };
}

/** Bytes that A [D,D] and B' [K,D] may take in double precision, beside the points in a core's four gigabytes. */
const MOST_BYTES = 2.8e9;

/** The most features whose sums have room: D^2 + K D numbers. */
const mostColumns = (labels: number): number =>
  Math.min(MOST_COLUMNS, Math.floor((Math.sqrt(labels * labels + MOST_BYTES / 2) - labels) / 2));

/** A plan from its file. */
export function planFromText(text: string, file = "the plan"): TrainingPlan {
  let plan: unknown;
  try {
    plan = JSON.parse(text);
  } catch {
    throw new FormatError(file, "no JSON", "a plan made by mlgpf plan");
  }
  return checkedPlan(plan, file);
}

function checkedPlan(found: unknown, file: string): TrainingPlan {
  const plan = (found ?? {}) as Partial<TrainingPlan>;
  if (plan.format !== PLAN_FORMAT)
    throw new FormatError(file, `format ${JSON.stringify(plan.format)}`, "a plan made by mlgpf plan");
  if (plan.version !== PLAN_VERSION)
    throw new FormatError(file, `plan version ${plan.version}`, `version ${PLAN_VERSION}`);
  for (const name of ["features", "labels", "points", "dropped"] as const)
    if (!Number.isSafeInteger(plan[name]) || (plan[name] as number) < 0)
      throw new FormatError(file, `${name} ${JSON.stringify(plan[name])}`, "a whole number");
  const { columns = [], features } = plan as TrainingPlan;
  if (
    !columns.every(
      (column, i) => Number.isInteger(column) && column < features && column > (columns[i - 1] ?? -1),
    )
  )
    throw new FormatError(file, "columns that do not rise", `columns of the ${features} features, rising`);
  return plan as TrainingPlan;
}

const identityOf = (plan: TrainingPlan): string => planIdentity([JSON.stringify(plan)]);

function frameOf(plan: TrainingPlan, points: number, labelCounts: Int32Array): ModelFrame {
  const { features, labels, normalise, columnWeights, labelNames, columnIds } = plan;
  return {
    features,
    labels,
    points,
    transform: { normalise, ...(columnWeights ? { columnWeights: Float32Array.from(columnWeights) } : {}) },
    labelCounts,
    ...(labelNames ? { labelNames } : {}),
    ...(columnIds ? { columnIds: Int32Array.from(columnIds) } : {}),
  };
}

/** The sums of one part of the data that the plan was made from, and those of its points that are held out. */
export async function trainPart(
  dataset: Dataset,
  plan: TrainingPlan,
  shard: Shard,
  options: PartOptions = {},
): Promise<LearningState> {
  checkShard(shard);
  const data = labelledPoints(dataset);
  const { rows: points } = data.features;
  if (points !== plan.points)
    throw new ArgumentError(
      "dataset",
      `found ${points} points with labels, expected the ${plan.points} of the plan`,
    );
  const { from, to } = rangeOf(shard, points);
  const held = heldOutRows(points) as NonNullable<ReturnType<typeof heldOutRows>>;
  const within = (rows: readonly number[]): Dataset =>
    selectRows(
      data,
      rows.filter((row) => row >= from && row < to),
    );
  const [fitted, heldOut] = [within(held.kept), within(held.held)];
  const core = await createCore({ threads: options.threads ?? "auto" });
  try {
    const state = sumsOf(core, fitted, plan, shard);
    const ids = held.held.filter((row) => row >= from && row < to).map((row) => `row ${row}`);
    const documents = { ids, features: heldOut.features, labels: heldOut.labels };
    return { ...state, ...(plan.labelNames ? { labelNames: plan.labelNames } : {}), documents };
  } finally {
    core.dispose();
  }
}

/** A, B and the totals of some points. */
function sumsOf(core: Core, data: Dataset, plan: TrainingPlan, shard: Shard): LearningState {
  const columns = Int32Array.from(plan.columns);
  const features = linearRows(data.features, frameOf(plan, 0, new Int32Array(0)), columns);
  const shape = { kernel: 0, linear: columns.length, labels: plan.labels };
  const about = { form: "linear", shard, plan };
  const identity = identityOf(plan);
  const statePlan: StatePlan = { identity, kernel: 0, linear: columns.length, columns: plan.features, about };
  const scope = new Scope();
  try {
    const { points, labels } = scope.keep(
      placeDocuments(core, { features, labels: data.labels }, plan.labels, "f32"),
    );
    const sums = scope.keep(new Statistics(core, shape));
    sums.add({ from: 0, to: points.rows, points }, labels);
    return captureState(statePlan, sums);
  } finally {
    scope.free();
  }
}

/** The model of all parts of a plan, given in any order. */
export async function mergeParts(
  parts: readonly LearningState[],
  options: PartOptions = {},
): Promise<ClosedModel> {
  const { plan, whole } = addUp(parts);
  const core = await createCore({ threads: options.threads ?? "auto" });
  const scope = new Scope();
  try {
    const restored = restoreState(core, whole);
    if (!(restored?.totals instanceof Statistics) || whole.documents === undefined)
      throw new ArgumentError(
        "parts",
        "found a state without sums, expected parts made by mlgpf train --plan",
      );
    const { totals } = scope.keep(restored) as { totals: Statistics; free(): void };
    const { noise } = plan;
    const columns = Int32Array.from(plan.columns);
    const frame = frameOf(plan, totals.points, Int32Array.from(totals.labelCounts));
    const probes = probesFrom(whole.documents.features, frame, columns);
    const way = { ...options, working: "f32", inverse: false } as const;
    const { solution, numbers } = await solveLinear(totals, { noise, columns }, probes, way);
    scope.keep(solution);
    const closed = { ...numbers, labels: plan.labels };
    const { figures, ...honest } = await calibrateHeldOut(core, { frame, closed }, whole.documents, options);
    const { points, ...known } = frame;
    const { featureNames, vectoriser, dropped: droppedPoints } = plan;
    const names = { ...(featureNames ? { featureNames } : {}), ...(vectoriser ? { vectoriser } : {}) };
    const summary = { options: plan.options, points, droppedPoints, leftOut: figures };
    return { ...known, ...names, likelihood: "gaussian", ...closed, ...honest, summary };
  } finally {
    scope.free();
    core.dispose();
  }
}

/** The greatest sum of squares below which no addition is rounded: products are whole multiples of 1 / GRID^2, sums have 53 bits. */
const EXACT_BELOW = 2 ** 53 / GRID ** 2;

/** The sums of all parts, each of which must be there once. */
function addUp(parts: readonly LearningState[]): { plan: TrainingPlan; whole: LearningState } {
  const [first] = parts;
  if (first === undefined) throw new ArgumentError("parts", "found none, expected all parts of a plan");
  const shardOf = ({ plan: { about } }: LearningState): Shard => about.shard as Shard;
  const plan = checkedPlan(first.plan.about.plan, "the parts");
  const { count } = checkShard(shardOf(first));
  const places: (LearningState | undefined)[] = new Array(count).fill(undefined);
  for (const part of parts) {
    const { index, count: its } = checkShard(shardOf(part));
    if (its !== count)
      throw new ArgumentError(
        "parts",
        `found part ${index} of ${its} beside one of ${count}, expected parts of one cut`,
      );
    if (places[index - 1])
      throw new ArgumentError("parts", `found part ${index} of ${count} twice, expected each once`);
    places[index - 1] = part;
  }
  const missing = places.indexOf(undefined);
  if (missing >= 0)
    throw new ArgumentError("parts", `found no part ${missing + 1} of ${count}, expected all of them`);
  const whole = (places as LearningState[]).reduce(mergeStates);
  const { gram = new Float64Array(0) } = whole.sums ?? {};
  for (let feature = 0; feature < plan.columns.length; feature++)
    if ((gram[packedLength(feature + 1) - 1] as number) >= EXACT_BELOW)
      throw new ArgumentError(
        "parts",
        `found a feature whose squares add up to ${EXACT_BELOW} or more, expected fewer points`,
      );
  return { plan, whole };
}

function checkShard(shard: Shard | undefined): Shard {
  const { index, count } = shard ?? { index: 0, count: 0 };
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(index) || index < 1 || index > count)
    throw new ArgumentError("shard", `found ${index}/${count}, expected a part I/N with I from 1 to N`);
  return { index, count };
}

/** The rows of a part: all parts are of one size, give or take a row. */
export function rangeOf({ index, count }: Shard, rows: number): { from: number; to: number } {
  const edge = (part: number): number => Math.floor((part * rows) / count);
  return { from: edge(index - 1), to: edge(index) };
}
