// Training in parts, on as many machines as there are: a plan says what every part must agree on, a part is the sums of some of
// the points, and all parts together give the model, with the bytes of a training in one piece.

import { ArgumentError, FormatError } from "../base/errors.ts";
import type { WorkOptions } from "../base/progress.ts";
import { checkSingle, firstEqualRows } from "../base/sparse.ts";
import { createCore } from "../core/core.ts";
import { checkDataset, type Dataset, labelledPart, selectRows } from "../data/dataset.ts";
import { loadStemmer } from "../data/stemmers.ts";
import type { FeatureTransform } from "../data/transform.ts";
import { type Model, withUnseen } from "../model/model.ts";
import { families, familyNames } from "../parts/index.ts";
import { completeOptions, type TrainOptions, toldOptions } from "../parts/options.ts";
import type { ModelSchema } from "../parts/part.ts";
import { type LearningState, mergeStates, planIdentity } from "../parts/regression/state.ts";
import { schemaFor } from "../parts/schema.ts";
import { heldOutRows } from "../parts/split.ts";
import { calibrateHeldOut, type MoverPlan, moverFor, planMover } from "./calibrate.ts";

const PLAN_FORMAT = "mlgpf-plan";
const PLAN_VERSION = 3;

/** A schema as JSON has it. */
type PlannedSchema = Omit<ModelSchema, "columnIds" | "labelCounts" | "transform"> & {
  columnIds?: number[];
  transform: Omit<FeatureTransform, "columnWeights"> & { columnWeights?: number[] };
};

/** Everything that all parts of a training agree on; plain JSON. */
export interface TrainingPlan {
  format: typeof PLAN_FORMAT;
  version: typeof PLAN_VERSION;
  /** Features and labels, as the model will have them; its points are those that have labels. */
  schema: PlannedSchema;
  /** Points without labels. */
  dropped: number;
  /** Rows that are held out, where equal ones are so together. */
  held?: number[];
  /** Fixed by the part of the model. */
  part: Record<string, unknown>;
  /** The plan of a part that moves logits (names of labels): shards then carry the texts of their held-out rows. */
  mover?: MoverPlan;
  /** Every option that is in force. */
  options: Record<string, unknown>;
}

/** Part `index` of `count`, counted from 1. */
export interface Shard {
  index: number;
  count: number;
}

/** Options of the work on a part or on all of them. */
export interface PartOptions extends WorkOptions {
  threads?: number | "auto";
  /** Told what was chosen. */
  onNote?: (text: string) => void;
}

/** The family whose sums add up over parts. */
const family = familyNames.map((name) => families[name]).find(({ shards }) => shards) as (typeof families)["linear"];
const shards = family.shards as NonNullable<typeof family.shards>;

function labelledPoints(dataset: Dataset): Dataset {
  checkDataset(dataset);
  return labelledPart(dataset);
}

/** The plan of a training in closed form on these data. */
export async function makePlan(dataset: Dataset, options: TrainOptions = {}): Promise<TrainingPlan> {
  const data = labelledPoints(dataset);
  const { rows: points, columns: features } = data.features;
  const sizes = { points, features, labels: data.labels.labels };
  const full = completeOptions({ ...options, model: family.name }, sizes);
  if (typeof full.names !== "string" && !data.features.texts)
    throw new ArgumentError("names", "found some with rows that are no texts, or too many to keep, expected none");
  if (!full.normalise)
    throw new ArgumentError(
      "normalise",
      "found false, expected true: parts add up exactly for rows of unit length alone",
    );
  if (full.exclusive) checkSingle(data.labels);
  const firstEqual = firstEqualRows(data.features, data.vectoriser?.terms.length ?? Number.POSITIVE_INFINITY);
  const held = heldOutRows(points, firstEqual);
  if (held === undefined)
    throw new ArgumentError(
      "dataset",
      `found ${points} points with labels, expected more of them for a training in parts`,
    );
  const fitted = selectRows(data, held.kept);
  const counted = schemaFor(fitted, full);
  const { labelCounts: _, columnIds, transform, ...schema } = counted;
  const texts = fitted.features.texts ?? [];
  const mover = await planMover({ schema: counted, names: full.names, texts }, {});
  const { columnWeights, ...scaling } = transform;
  return {
    format: PLAN_FORMAT,
    version: PLAN_VERSION,
    schema: {
      ...schema,
      points,
      transform: { ...scaling, ...(columnWeights && { columnWeights: [...columnWeights] }) },
      ...(columnIds && { columnIds: [...columnIds] }),
    },
    dropped: dataset.features.rows - points,
    part: shards.plan(fitted),
    ...(firstEqual && { held: held.held }),
    ...(mover && { mover }),
    options: toldOptions(full),
  };
}

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
  const plan = (found ?? {}) as TrainingPlan;
  if (plan.format !== PLAN_FORMAT)
    throw new FormatError(file, `format ${JSON.stringify(plan.format)}`, "a plan made by mlgpf plan");
  if (plan.version !== PLAN_VERSION)
    throw new FormatError(file, `plan version ${plan.version}`, `version ${PLAN_VERSION}`);
  const { features, labels, points, transform } = Object(plan.schema) as PlannedSchema;
  for (const [name, size] of Object.entries({ features, labels, points, dropped: plan.dropped }))
    if (!Number.isSafeInteger(size) || size < 0)
      throw new FormatError(file, `${name} ${JSON.stringify(size)}`, "a whole number");
  if (typeof transform?.normalise !== "boolean") throw new FormatError(file, "no transform", "that of the features");
  try {
    shards.check(Object(plan.part), schemaOf(plan));
  } catch (error) {
    if (error instanceof ArgumentError) throw new FormatError(file, error.problem.slice(6), "a whole plan");
    throw error;
  }
  return plan;
}

/** The schema of the parts, which have counted nothing yet. */
export function schemaOf({ schema: { transform, columnIds, ...schema } }: TrainingPlan): ModelSchema {
  const { columnWeights, ...scaling } = transform;
  return {
    ...schema,
    points: 0,
    labelCounts: new Int32Array(0),
    transform: { ...scaling, ...(columnWeights && { columnWeights: Float32Array.from(columnWeights) }) },
    ...(columnIds && { columnIds: Int32Array.from(columnIds) }),
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
  if (points !== plan.schema.points)
    throw new ArgumentError(
      "dataset",
      `found ${points} points with labels, expected the ${plan.schema.points} of the plan`,
    );
  const { from, to } = rangeOf(shard, points);
  const held = heldOutOf(plan);
  const within = (rows: readonly number[]): number[] => rows.filter((row) => row >= from && row < to);
  const heldOut = selectRows(data, within(held.held));
  const core = await createCore({ threads: options.threads ?? "auto" });
  try {
    const { labelNames } = plan.schema;
    const identity = planIdentity([JSON.stringify(plan)]);
    const about = { family: family.name, shard, plan };
    const own = { identity, columns: plan.schema.features, about };
    const state = shards.sums(core, selectRows(data, within(held.kept)), schemaOf(plan), plan.part, own);
    const ids = within(held.held).map((row) => `row ${row}`);
    const { labels, features } = heldOut;
    if (plan.mover && !features.texts && features.values.length > 0)
      throw new ArgumentError("dataset", "found rows without texts, expected the texts that the plan was made from");
    const texts = plan.mover && (features.texts ?? new Array<string>(features.rows).fill(""));
    return { ...state, ...(labelNames && { labelNames }), documents: { ids, features, labels }, texts };
  } finally {
    core.dispose();
  }
}

function heldOutOf({ schema: { points }, held }: TrainingPlan): { held: readonly number[]; kept: readonly number[] } {
  if (!held) return heldOutRows(points) as NonNullable<ReturnType<typeof heldOutRows>>;
  const isHeld = new Set(held);
  return { held, kept: Array.from({ length: points }, (_, row) => row).filter((row) => !isHeld.has(row)) };
}

/** The model of all parts of a plan, given in any order. */
export async function mergeParts(parts: readonly LearningState[], options: PartOptions = {}): Promise<Model> {
  const { plan, whole } = addUp(parts);
  const core = await createCore({ threads: options.threads ?? "auto" });
  try {
    const fit = await shards.solve(core, whole, schemaOf(plan), plan.part, options);
    const model = { schema: fit.schema as ModelSchema, parts: [fit.part] };
    const { documents, texts } = whole as Required<LearningState>;
    const held = { ...documents, features: { ...documents.features, texts } };
    if (model.schema.vectoriser?.options.stem) await loadStemmer(model.schema.vectoriser.options.stem);
    const mover = moverFor({ schema: model.schema, work: options, note: options.onNote ?? (() => {}) }, plan.mover);
    const { figures, ...calibration } = await calibrateHeldOut(core, model, held, options, mover);
    const summary = { options: plan.options, droppedPoints: plan.dropped, leftOut: figures };
    return withUnseen({ ...model, ...calibration, summary });
  } finally {
    core.dispose();
  }
}

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
  if (missing >= 0) throw new ArgumentError("parts", `found no part ${missing + 1} of ${count}, expected all of them`);
  return { plan, whole: (places as LearningState[]).reduce(mergeStates) };
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
