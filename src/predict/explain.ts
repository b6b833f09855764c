// Why a label came: what each word of a text (each feature of a row) brings to the label's score.
//
// Where the score is linear in the features, s_k = b_k + sum_d x_d w_dk, a word's share x_d w_dk can be read off, and the
// shares add up to the score:
//
//     mean through the features    w_d = mu[d,:] Phi'
//     through inducing inputs      w_d = a Z'[d,:] mu Phi'
//     closed form, linear          w_d = W[d,:]
//
// Any other score is computed again without the word: its share is what is then missing. Of a long text only the words that
// weigh most are tried, so that a row takes at most so many times what predicting it takes.

import type { RealArray } from "../core/matrix.ts";
import { placeAmong } from "../data/columns.ts";
import { type SparseRows, selectFeatures } from "../data/dataset.ts";
import { type FeatureTransform, transformedRows } from "../data/transform.ts";
import type { Prediction, Reason } from "../metrics/prediction.ts";
import { asWritten, reasonsOf, type Word, weightiest, wordsOfRow } from "../metrics/reasons.ts";
import { plainHyper } from "../model/kernels/index.ts";
import { isClosed, type LatentModel, type LinearPart, type TrainedModel } from "../model/model.ts";
import type { Predictor } from "../model/predictor.ts";
import type { ModelRows } from "./input.ts";

/** A full model, or what else has its names: scores of that are computed again without the word. */
export type Explained = TrainedModel | Pick<TrainedModel, "vectoriser" | "featureNames" | "columnIds">;

/** Shares of the entries of a row [entries], or of its words, in the score of one of some labels. */
type Shares = (label: number) => Float64Array;

/** Adds to the labels of each row their reasons. */
export async function explainRows(
  predictor: Predictor,
  model: Explained,
  { features, written }: Pick<ModelRows, "features" | "written">,
  rows: readonly (readonly (Prediction & { id: number })[])[],
  count: number,
): Promise<void> {
  for (const [row, labels] of rows.entries()) {
    const ids = labels.map(({ id }) => id);
    const words = written?.(row);
    const reasons = await explainRow(predictor, model, features, row, words?.keys(), ids, count);
    labels.forEach((label, i) => {
      const own = reasons[i] as Reason[];
      label.reasons = words ? own.map((each) => ({ ...each, word: asWritten(each.word, words) })) : own;
    });
  }
}

/** For each of the labels of a row its reasons: at most `count` for it and as many against it, greatest share first. */
async function explainRow(
  predictor: Predictor,
  model: Explained,
  features: SparseRows,
  row: number,
  inText: Iterable<string> | undefined,
  labels: readonly number[],
  count: number,
): Promise<Reason[][]> {
  const one = selectFeatures(features, [row]);
  const names = Array.from(one.columnIndex, (column) => nameOf(model, column));
  const words = wordsOfRow(names, model.vectoriser !== undefined, inText);
  const linear = linearShares(model, one);
  const shares = linear ? summed(linear, words) : await leftOutShares(predictor, one, words, labels);
  return labels.map((label) => reasonsOf(words, shares(label), count));
}

/** Shares of words from those of their entries. */
function summed(shares: Shares, words: readonly Word[]): Shares {
  return (label) => {
    const own = shares(label);
    return Float64Array.from(words, ({ entries }) =>
      entries.reduce((sum, entry) => sum + (own[entry] as number), 0),
    );
  };
}

/** What a column is called: its term, its name, or its id. */
function nameOf({ vectoriser, featureNames, columnIds }: Explained, column: number): string {
  return (vectoriser?.terms ?? featureNames)?.[column] ?? String(columnIds?.[column] ?? column);
}

/** Where the score is a sum over the features. */
function linearShares(model: Explained, one: SparseRows): Shares | undefined {
  if (!("summary" in model)) return undefined;
  if (isClosed(model)) {
    const { closed, labels, transform } = model;
    return closed.form === "linear" ? closedShares(closed, labels, transform, one) : undefined;
  }
  return model.kernel === "linear" ? latentShares(model, one) : undefined;
}

function closedShares(
  { columns, weights }: LinearPart,
  labels: number,
  transform: FeatureTransform,
  one: SparseRows,
): Shares {
  const { columnIndex, values } = transformedRows(one, transform, 0, 1);
  const places = columnIndex.map((column) => placeAmong(columns, column));
  return (label) =>
    Float64Array.from(places, (at, entry) =>
      at < 0 ? 0 : (values[entry] as number) * (weights[at * labels + label] as number),
    );
}

function latentShares(model: LatentModel, one: SparseRows): Shares {
  const { columnIndex, values } = transformedRows(one, model.transform, 0, 1);
  const { factors, phi } = model;
  const weights = Array.from(columnIndex, (column) => factorWeights(model, column));
  return (label) =>
    Float64Array.from(values, (value, entry) => {
      const own = weights[entry] as ArrayLike<number>;
      let product = 0;
      for (let p = 0; p < factors; p++) product += (own[p] as number) * (phi[label * factors + p] as number);
      return value * product;
    });
}

/** What a feature brings to each latent function [P]. */
function factorWeights(model: LatentModel, column: number): RealArray {
  const { factors, inducingPoints, inducingInputs, mu, hyper } = model;
  if (model.mean === "features") return mu.subarray(column * factors, (column + 1) * factors);
  const [linear] = plainHyper(hyper);
  const out = new Float64Array(factors);
  for (let m = 0; m < inducingPoints; m++) {
    const z = linear * (inducingInputs[column * inducingPoints + m] as number);
    for (let p = 0; p < factors; p++) out[p] = (out[p] as number) + z * (mu[m * factors + p] as number);
  }
  return out;
}

/** The row as it is and without each of its weightiest words, all scored. */
async function leftOutShares(
  predictor: Predictor,
  one: SparseRows,
  words: readonly Word[],
  labels: readonly number[],
): Promise<Shares> {
  const { values } = transformedRows(one, predictor.frame.transform, 0, 1);
  const tried = weightiest(words, values);
  const k = predictor.frame.labels;
  const scores = new Map(labels.map((label) => [label, new Float64Array(tried.length + 1)]));
  const rest = without(
    one,
    tried.map((at) => (words[at] as Word).entries),
  );
  for await (const { firstRow, rows, utility } of predictor.score(rest))
    for (const [label, own] of scores)
      for (let i = 0; i < rows; i++) own[firstRow + i] = utility[i * k + label] as number;
  return (label) => {
    const [whole = 0, ...others] = scores.get(label) ?? [];
    const shares = new Float64Array(words.length);
    tried.forEach((at, i) => {
      shares[at] = whole - (others[i] as number);
    });
    return shares;
  };
}

/** A row, and under it the same row without each of these lists of entries. */
function without(
  { columns, columnIndex, values }: SparseRows,
  left: readonly (readonly number[])[],
): SparseRows {
  const kept = left.map((entries) => {
    const out = new Set(entries);
    return Array.from(columnIndex.keys()).filter((each) => !out.has(each));
  });
  const all = [Array.from(columnIndex.keys()), ...kept];
  const rowStart = Int32Array.of(0, ...all.map((_, row) => row));
  let end = 0;
  all.forEach((row, i) => {
    end += row.length;
    rowStart[i + 1] = end;
  });
  const order = all.flat();
  return {
    rows: all.length,
    columns,
    rowStart,
    columnIndex: Int32Array.from(order, (entry) => columnIndex[entry] as number),
    values: Float32Array.from(order, (entry) => values[entry] as number),
  };
}
