// A model that learns: documents come in, are corrected (same id) and are forgotten, one request after the other. The first part
// learns; parts that follow it are fitted anew, and others make room for new labels. A part with leave-one-out scores calibrates by
// them; else documents that are new to the model are predicted first, and the calibrator goes on from how that went.

import type { Calibrator } from "../base/calibrator.ts";
import { defined } from "../base/check.ts";
import { excerpt } from "../base/errors.ts";
import { type Thresholds, withLabelCuts } from "../base/prediction.ts";
import type { WorkOptions } from "../base/progress.ts";
import { checkSingle, type LabelSets, labelFrequencies, labelsWithin } from "../base/sparse.ts";
import { type Core, type CoreOptions, createCore } from "../core/core.ts";
import { checkDataset, type Dataset, labelsByName, mapColumns, selectRows } from "../data/dataset.ts";
import { type Model, withUnseen } from "../model/model.ts";
import { familyOf, type Part } from "../parts/index.ts";
import type { ModelSchema, PartLearner } from "../parts/part.ts";
import {
  type Change,
  changeOf,
  countOf,
  type Documents,
  documentsOf,
  MOST_WEIGHT,
  refuse,
  repeated,
  withIds,
} from "../parts/regression/documents.ts";
import { type LearningState, stateIdentity } from "../parts/regression/state.ts";
import { FEWEST } from "../parts/split.ts";
import { differing } from "../predict/reading.ts";
import { calibrateByLoo, calibrateHeldOut } from "../train/calibrate.ts";
import { noted, planOf, stateOf } from "../train/state.ts";

/** Documents to learn, and the ids of documents to forget. */
export interface LearnRequest {
  readonly documents?: Dataset | undefined;
  readonly forget?: readonly string[] | undefined;
  /** As how many documents each of them counts, or every one: a whole number. Default 1. Forgetting undoes as much. */
  readonly weight?: number | readonly number[] | undefined;
}

/** Counts of what a request did. */
export interface Lessons {
  /** Documents that came in; how many of them took the place of an earlier version. */
  readonly learned: number;
  readonly corrected: number;
  readonly forgotten: number;
  /** Labels that the model did not have. */
  readonly newLabels: number;
}

/** Options of learning. */
export interface LearnOptions extends WorkOptions, Pick<CoreOptions, "threads">, Pick<LearnRequest, "weight"> {}

export class Learner {
  readonly #core: Core;
  readonly #learner: PartLearner<Part>;
  /** The model as it is now. */
  model: Model;
  /** The documents that are kept: all, or those that can be corrected and forgotten. */
  documents: Documents;
  /** Number of the last batch of a server's journal that was learned. */
  journal: number | undefined;
  /** The file that the state is in, where model and state were written. */
  file: LearningState["file"];
  /** A server's watch over the model's promises. */
  promises: LearningState["promises"];

  private constructor(core: Core, learner: PartLearner<Part>, model: Model, state: LearningState) {
    this.#core = core;
    this.#learner = learner;
    this.model = model;
    this.journal = state.journal;
    this.file = state.file;
    this.promises = state.promises;
    this.documents = state.documents ?? refuse("a state without its documents", "one that was written with a model");
  }

  /** Refuses a state that is not that of the model. Dispose of it when done. */
  static async open(model: Model, state: LearningState, options: LearnOptions = {}): Promise<Learner> {
    checkState(model, state);
    const core = await createCore(options.threads === undefined ? {} : { threads: options.threads });
    try {
      const [part] = model.parts;
      const learner = familyOf(part).learning?.open(part, model.schema, core, state);
      return new Learner(core, learner as PartLearner<Part>, model, state);
    } catch (error) {
      core.dispose();
      throw error;
    }
  }

  /** True where every document is kept. */
  get keepsAll(): boolean {
    return this.#learner.keepsAll;
  }

  /** The state of that model. */
  state(): LearningState {
    const { journal, promises, file } = this;
    return { ...stateOf(this.model, this.#learner, this.documents), ...defined({ journal, promises, file }) };
  }

  /** Learns and forgets. What is refused changes nothing. */
  async learn({ documents, forget = [], weight }: LearnRequest, work: WorkOptions = {}): Promise<Lessons> {
    const { schema } = this.model;
    const arrivals = documents && arrivalsFor(schema, documents);
    if (arrivals && schema.exclusive) checkSingle(arrivals.labels);
    const coming = arrivals && {
      ...documentsOf(arrivals, this.#learner.rows(arrivals.features)),
      weights: weightsOf(arrivals.ids.length, weight),
    };
    const labels = arrivals?.labels.labels ?? schema.labels;
    const known = { ...this.documents, labels: { ...this.documents.labels, labels } };
    let change = changeOf(known, { ...(coming && { learn: coming }), forget });
    if (change.in.ids.length + change.out.ids.length === 0) refuse("no document", "documents to learn or to forget");
    if (schema.points + countOf(change.in) - countOf(change.out) <= 0)
      refuse("all documents among those to forget", "one that stays");
    const seen = new Set(change.out.ids);
    const unseen = [...change.in.ids.keys()].filter((i) => !seen.has(change.in.ids[i]));
    let after = schemaAfter(schema, change, arrivals?.labelNames);
    const newLabels = after.labelCounts.subarray(schema.labels).filter((count) => count > 0).length;
    const { learning } = this.model.summary;
    const trained = learning?.trainedLabels ?? schema.labels;
    const { keepsAll } = this.#learner;
    if (keepsAll) [change, after] = withoutEmpty(change, after, trained);
    const model = withUnseen(await this.#changed(change, after, arrivals && selectRows(arrivals, unseen), work));
    this.#learner.settle?.();
    this.documents = keepsAll ? change.after : withIds(change.after);
    const { places } = change;
    // Changes behind a file number labels as the file does.
    const isRenumbered = change.after.labels.labels < known.labels.labels;
    const since = { places, in: keepsAll ? change.in : withIds(change.in) };
    this.file = this.file && !isRenumbered ? { ...this.file, since: [...this.file.since, since] } : undefined;
    const lessons = {
      learned: change.in.ids.length,
      corrected: change.corrected,
      forgotten: change.out.ids.length - change.corrected,
      newLabels,
    };
    this.model = noted(model, stateOf(model, this.#learner, this.documents, false), {
      learned: (learning?.learned ?? 0) + lessons.learned,
      forgotten: (learning?.forgotten ?? 0) + lessons.forgotten,
      ...(trained < after.labels && { trainedLabels: trained }),
    });
    return lessons;
  }

  /** The model after a change. */
  async #changed(
    change: Change,
    schema: ModelSchema,
    unseen: Pick<Dataset, "features" | "labels"> | undefined,
    work: WorkOptions,
  ): Promise<Model> {
    const { parts, summary } = this.model;
    const core = this.#core;
    const calibration = this.#learner.keepsAll ? undefined : await this.#recalibrated(unseen, work);
    const fit = await this.#learner.learn(change, schema, work);
    try {
      if (fit.loo) {
        const { figures, ...calibrated } = await calibrateByLoo({ core, schema, work }, fit);
        const model = { schema, ...calibrated, summary: { ...summary, leftOut: figures } };
        // A state has no texts: what moves logits by them stays as it was fitted, and so do the thresholds.
        const movers = parts.filter((part) => familyOf(part).mover);
        if (movers.length === 0) return model;
        const cuts = this.model.thresholds ?? model.thresholds;
        return { ...model, parts: [...model.parts, ...movers], thresholds: withCuts(cuts, schema.labels) };
      }
      const others = parts.slice(1).map((part) => familyOf(part).grow?.(part, schema) ?? part);
      const { calibrator, thresholds } = calibration ?? this.model;
      return {
        schema,
        parts: [fit.part, ...others],
        calibrator: calibrator && withOffsets(calibrator, schema.labels),
        thresholds: thresholds && withCuts(thresholds, schema.labels),
        summary,
      };
    } finally {
      fit.free?.();
    }
  }

  /** Calibrator and thresholds that follow from documents the model has not seen; few of them leave the thresholds. */
  async #recalibrated(
    unseen: Pick<Dataset, "features" | "labels"> | undefined,
    work: WorkOptions,
  ): Promise<Pick<Model, "calibrator" | "thresholds">> {
    const { calibrator: from, thresholds, schema } = this.model;
    if (!unseen || unseen.features.rows === 0) return { calibrator: from, thresholds };
    const { features } = unseen;
    const labels = labelsWithin(unseen.labels, 0, schema.labels);
    const fit = await calibrateHeldOut(this.#core, this.model, { features, labels }, { ...work, from });
    return features.rows < FEWEST ? { calibrator: fit.calibrator, thresholds } : fit;
  }

  dispose(): void {
    this.#learner.free();
    this.#core.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** The schema after a change: counts of points and labels, and names of labels that are new. */
function schemaAfter(schema: ModelSchema, change: Change, names: readonly string[] | undefined): ModelSchema {
  const { labels } = change.after.labels;
  const labelCounts = new Int32Array(labels);
  labelCounts.set(schema.labelCounts);
  const count = ({ labels: sets }: Documents, sign: 1 | -1): void =>
    labelFrequencies({ ...sets, labels }).forEach((each, k) => {
      labelCounts[k] += sign * each;
    });
  count(repeated(change.in), 1);
  count(repeated(change.out), -1);
  const points = schema.points + countOf(change.in) - countOf(change.out);
  const labelNames = names ?? schema.labelNames;
  return { ...schema, labels, points, labelCounts, ...(labelNames && { labelNames }) };
}

/**
 * The change without labels that came after the training and that no document has any more. Where labels are ids, their numbers
 * stay: only the last ones go.
 */
function withoutEmpty(change: Change, schema: ModelSchema, trained: number): [Change, ModelSchema] {
  const { labelCounts, labelNames } = schema;
  const last = labelCounts.findLastIndex((count, k) => k < trained || count > 0);
  const kept = [...labelCounts.keys()].filter((k) => k < trained || (labelNames ? labelCounts[k] > 0 : k <= last));
  const labels = kept.length;
  if (labels === schema.labels) return [change, schema];
  const places: number[] = [];
  for (const [place, k] of kept.entries()) places[k] = place;
  const names = labelNames && { labelNames: kept.map((k) => labelNames[k]) };
  return [
    { ...change, after: { ...change.after, labels: renumbered(change.after.labels, places, labels) } },
    { ...schema, labels, labelCounts: Int32Array.from(kept, (k) => labelCounts[k]), ...names },
  ];
}

/** As how many documents each of so many counts; undefined where each counts as one. */
function weightsOf(documents: number, weight: LearnRequest["weight"] = 1): Int32Array | undefined {
  const all = typeof weight === "number" ? new Array<number>(documents).fill(weight) : weight;
  if (all.length !== documents) refuse(`${all.length} weights`, `${documents}, one for each document`);
  const wrong = all.find((each) => !(Number.isInteger(each) && each >= 1 && each <= MOST_WEIGHT));
  if (wrong !== undefined) refuse(`weight ${wrong}`, `a whole number from 1 to ${MOST_WEIGHT}`);
  return all.some((each) => each !== 1) ? Int32Array.from(all) : undefined;
}

/** Labels that are new have no offset yet. */
function withOffsets(calibrator: Calibrator, labels: number): Calibrator {
  const labelOffsets = new Float64Array(labels);
  labelOffsets.set(calibrator.labelOffsets);
  return { ...calibrator, labelOffsets };
}

/** Labels that are new are cut where all are. */
const withCuts = (thresholds: Thresholds, labels: number): Thresholds =>
  withLabelCuts(thresholds, (own) => {
    const cuts = new Float32Array(labels).fill(thresholds.f1.overall);
    cuts.set(own);
    return cuts;
  });

/** Refuses a state that is not that of the model, and a model that cannot learn. */
function checkState(model: Model, state: LearningState): void {
  if (!familyOf(model.parts[0]).learning)
    refuse(
      `a model of ${familyOf(model.parts[0]).title}, which cannot go on learning`,
      "gpr, sgpr, linear or linear+svgp",
    );
  const { learning } = model.summary;
  if (learning === undefined)
    refuse("a model that was trained without a state", "one trained with --state (option onState)");
  if (state.plan.identity !== planOf(model).identity)
    refuse("the state of another model", "the state that was written with this one");
  if (stateIdentity(state) !== learning.state)
    refuse("a state of other documents than the model has learned", "the state that was written with this model");
  checkNames(model.schema, state);
}

/** Labels are numbered alike in both. */
function checkNames(model: ModelSchema, state: LearningState): void {
  const [mine, theirs] = [model.labelNames ?? [], state.labelNames ?? []];
  const other = mine.findIndex((name, k) => name !== theirs[k]);
  if (other >= 0)
    refuse(
      `label ${other} called ${excerpt(theirs[other] ?? "nothing")} in the state and ${excerpt(mine[other])} in the model`,
      "the same labels in both",
    );
  if (state.labels !== model.labels)
    refuse(`${state.labels} labels in the state and ${model.labels} in the model`, "the same labels in both");
}

/** Documents to learn, with labels numbered as the model has them and new ones behind. */
interface Arrivals extends Dataset {
  readonly ids: readonly string[];
}

/** Checks documents against the model. An empty set of labels is a lesson; documents without any are refused. */
function arrivalsFor(model: ModelSchema, given: Dataset): Arrivals {
  checkDataset(given);
  const dataset = mapColumns(given, model.columnIds);
  const { features } = dataset;
  if (features.columns !== model.features)
    refuse(`documents of ${features.columns} features`, `${model.features} as the model has`);
  const other = differing(dataset, model);
  if (other !== undefined)
    refuse(`documents with ${other} of their own`, "documents read with the vocabulary of the model");
  const ids = dataset.ids ?? new Array<string>(features.rows).fill("");
  const unlabelled = dataset.unlabelled?.indexOf(1) ?? -1;
  if (unlabelled >= 0)
    refuse(
      `document ${excerpt(ids[unlabelled] || String(unlabelled))} without labels`,
      "labels, or an empty list where none fits (forgetting takes documents out)",
    );
  return { ...dataset, ids, ...labelsAs(model, dataset) };
}

/** The labels by the numbers of the model, new ones behind them; where only one side has names, numbers are names too. */
function labelsAs(
  { labels: known, labelNames: names }: ModelSchema,
  given: Dataset,
): Pick<Dataset, "labels" | "labelNames"> {
  if (names === undefined && given.labelNames === undefined)
    return { labels: { ...given.labels, labels: Math.max(known, given.labels.labels) } };
  const { labels, labelNames } = labelsByName(
    given,
    names ?? Array.from({ length: known }, (_, label) => String(label)),
  );
  const stayNumbers = names === undefined && labels.labels === known;
  return { labels, labelNames: stayNumbers ? undefined : labelNames };
}

function renumbered({ rows, rowStart, labelIndex }: LabelSets, places: number[], labels: number): LabelSets {
  const numbers = labelIndex.map((label) => places[label]);
  for (let i = 0; i < rows; i++) numbers.subarray(rowStart[i], rowStart[i + 1]).sort();
  return { rows, labels, rowStart, labelIndex: numbers };
}
