// Whether a model, its state and new documents belong together; whatever does not is refused before anything is changed.

import { LearningError } from "../closed/documents.ts";
import { type LearningState, stateIdentity } from "../closed/state.ts";
import { checkDataset } from "../data/check.ts";
import { mapColumns } from "../data/columns.ts";
import type { Dataset, LabelSets } from "../data/dataset.ts";
import { excerpt } from "../data/errors.ts";
import { NameIndex } from "../data/names.ts";
import { type ClosedModel, isClosed, type TrainedModel } from "../model/model.ts";
import { planOf } from "../train/state.ts";

function refuse(found: string, expected: string): never {
  throw new LearningError(`found ${found}, expected ${expected}`);
}

/** The model as one that learns with this state. */
export function checkState(model: TrainedModel, state: LearningState): ClosedModel {
  if (!isClosed(model))
    return refuse(
      "a bernoulli model, which is learned step by step and cannot go on learning",
      "a gaussian one or one of both",
    );
  const { learning } = model.summary;
  if (learning === undefined)
    return refuse("a model that was trained without a state", "one trained with --state (option onState)");
  if (state.plan.identity !== planOf(model).identity)
    refuse("the state of another model", "the state that was written with this one");
  if (stateIdentity(state) !== learning.state)
    refuse(
      "a state of other documents than the model has learned",
      "the state that was written with this model",
    );
  checkNames(model, state);
  return model;
}

/** Labels are numbered alike in both. */
function checkNames(model: ClosedModel, state: LearningState): void {
  const [mine, theirs] = [model.labelNames ?? [], state.labelNames ?? []];
  const other = mine.findIndex((name, k) => name !== theirs[k]);
  if (other >= 0)
    refuse(
      `label ${other} called ${excerpt(theirs[other] ?? "nothing")} in the state and ${excerpt(mine[other] as string)} in the model`,
      "the same labels in both",
    );
  if (state.labels !== model.labels)
    refuse(`${state.labels} labels in the state and ${model.labels} in the model`, "the same labels in both");
}

/** Documents to learn, with labels numbered as the model has them and new ones behind. */
export interface Arrivals extends Dataset {
  readonly ids: readonly string[];
}

/** Checks documents against the model; those without labels say nothing and are refused. */
export function arrivalsFor(model: ClosedModel, given: Dataset): Arrivals {
  checkDataset(given);
  const dataset = mapColumns(given, model.columnIds);
  const { features, vectoriser, featureNames } = dataset;
  const { terms } = model.vectoriser ?? {};
  const other = (mine: readonly string[] | undefined, theirs: readonly string[] | undefined): boolean =>
    mine !== undefined &&
    theirs !== undefined &&
    mine !== theirs &&
    theirs.some((name, i) => name !== mine[i]);
  if (features.columns !== model.features)
    refuse(`documents of ${features.columns} features`, `${model.features} as the model has`);
  if (other(terms, vectoriser?.terms) || other(model.featureNames, featureNames))
    refuse("documents with features of their own", "documents read with the vocabulary of the model");
  const ids = dataset.ids ?? new Array<string>(features.rows).fill("");
  const { rowStart, rows } = dataset.labels;
  for (let i = 0; i < rows; i++)
    if (rowStart[i] === rowStart[i + 1])
      refuse(
        `document ${excerpt(ids[i] || String(i))} without labels`,
        "labels (forgetting takes documents out)",
      );
  return { ...dataset, ids, ...labelsAs(model, dataset) };
}

/** The labels by the numbers of the model, new ones behind them. */
function labelsAs(
  { labels: known, labelNames: names }: ClosedModel,
  { labels, labelNames }: Dataset,
): Pick<Dataset, "labels" | "labelNames"> {
  if (names === undefined || labelNames === undefined) {
    if ((names === undefined) !== (labelNames === undefined))
      refuse(
        `labels ${labelNames ? "with" : "without"} names`,
        `labels ${names ? "with" : "without"} them, as the model has`,
      );
    return { labels: { ...labels, labels: Math.max(known, labels.labels) } };
  }
  const index = new NameIndex(names);
  const places = labelNames.map((name) => index.findOrAdd(name));
  return { labels: renumbered(labels, places, index.size), labelNames: index.names };
}

function renumbered({ rows, rowStart, labelIndex }: LabelSets, places: number[], labels: number): LabelSets {
  const numbers = labelIndex.map((label) => places[label] as number);
  for (let i = 0; i < rows; i++) numbers.subarray(rowStart[i], rowStart[i + 1]).sort();
  return { rows, labels, rowStart, labelIndex: numbers };
}
