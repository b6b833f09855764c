// Why a label came: what each word of a text (each feature of a row) brings to the label's score.
//
// Where the first score is linear in the features, s_k = b_k + sum_d x_d w_dk, a word's share x_d w_dk can be read off, and the
// shares add up to the score. Any other score is computed again without the word: its share is what is then missing. In a long
// text only the words that weigh most are tried, which bounds the time of a row.

import type { Prediction, Reason } from "../base/prediction.ts";
import { asWritten, reasonsOf, vectorName, type Word, weightiest, withName, wordsOfRow } from "../base/reasons.ts";
import { type SparseRows, selectFeatures } from "../base/sparse.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { transformedRows } from "../data/transform.ts";
import type { Model } from "../model/model.ts";
import { familyOf } from "../parts/index.ts";
import type { ModelSchema, Shares } from "../parts/part.ts";
import type { Predictor } from "../parts/predictor.ts";

/** A full model, or what else has its names: scores of that are computed again without the word. */
export type Explained = Pick<Partial<Model>, "parts"> & {
  readonly schema: Pick<ModelSchema, "vectoriser" | "featureNames" | "columnIds">;
};

/** Adds to the labels of each row their reasons. */
export async function explainRows(
  predictor: Predictor,
  model: Explained,
  features: SparseRows,
  rows: readonly (readonly (Prediction & { id: number })[])[],
  count: number,
): Promise<void> {
  const vectoriser = model.schema.vectoriser && TfidfVectoriser.fromJSON(model.schema.vectoriser);
  for (const [row, labels] of rows.entries()) {
    const { labels: known } = predictor.schema;
    const ids = labels.map(({ id }) => id).filter((id) => id < known);
    const text = features.texts?.[row];
    const words = text ? vectoriser?.written(text) : undefined;
    const reasons = await explainRow(predictor, model, features, row, words?.keys(), ids, count);
    for (const label of labels) {
      const own = reasons[ids.indexOf(label.id)]?.map((each) => ({
        ...each,
        word: words ? asWritten(each.word, words) : each.word,
      }));
      label.reasons = withName(text ? predictor.nameReason?.(text, label.id, label.probability) : undefined, own);
    }
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
  const { vectoriser, featureNames, columnIds } = model.schema;
  const named = vectoriser?.terms ?? featureNames;
  const views = vectoriser && TfidfVectoriser.fromJSON(vectoriser).views;
  const viewOf = (column: number): string | undefined =>
    views?.filter(({ from, to }) => column >= from && column < to).map(({ name }) => vectorName(name))[0];
  const names = Array.from(
    one.columnIndex,
    (column) => named?.[column] ?? viewOf(column) ?? String(columnIds?.[column] ?? column),
  );
  const words = wordsOfRow(names, vectoriser !== undefined, inText);
  const first = model.parts?.[0];
  const linear = first && familyOf(first).shares?.(first, predictor.schema, one);
  const shares = linear ? summed(linear, words) : await leftOutShares(predictor, one, words, labels);
  return labels.map((label) => reasonsOf(words, shares(label), count));
}

/** Shares of words from those of their entries. */
function summed(shares: Shares, words: readonly Word[]): Shares {
  return (label) => {
    const own = shares(label);
    return Float64Array.from(words, ({ entries }) => entries.reduce((sum, entry) => sum + own[entry], 0));
  };
}

/** The row as it is and without each of its weightiest words, all scored. */
async function leftOutShares(
  predictor: Predictor,
  one: SparseRows,
  words: readonly Word[],
  labels: readonly number[],
): Promise<Shares> {
  const { values } = transformedRows(one, predictor.schema.transform, 0, 1);
  const tried = weightiest(words, values);
  const rest = without(
    one,
    tried.map((at) => words[at].entries),
  );
  const scores = predictor.scoreOf?.(rest, labels) ?? (await scoresOf(predictor, rest, labels));
  return (label) => {
    const shares = new Float64Array(words.length);
    const column = labels.indexOf(label);
    tried.forEach((at, i) => {
      shares[at] = scores[column] - scores[(i + 1) * labels.length + column];
    });
    return shares;
  };
}

/** First scores of some labels [n,labels]. */
async function scoresOf(predictor: Predictor, rows: SparseRows, labels: readonly number[]): Promise<number[]> {
  const k = predictor.schema.labels;
  const found: number[] = [];
  for await (const { rows: count, utility } of predictor.score(rows))
    for (let i = 0; i < count; i++) found.push(...labels.map((label) => utility[i * k + label]));
  return found;
}

/** A row, and under it the same row without each of these lists of entries. */
function without({ columns, columnIndex, values }: SparseRows, left: readonly (readonly number[])[]): SparseRows {
  const entries = values.length;
  const rows = left.length + 1;
  const listOf = new Int32Array(entries);
  left.forEach((list, i) => {
    for (const entry of list) listOf[entry] = i + 1;
  });
  const rowStart = new Int32Array(rows + 1);
  const length = rows * entries - left.reduce((sum, list) => sum + list.length, 0);
  const kept = { columnIndex: new Int32Array(length), values: new Float32Array(length) };
  let at = 0;
  for (let row = 0; row < rows; row++) {
    for (let entry = 0; entry < entries; entry++) {
      if (row > 0 && listOf[entry] === row) continue;
      kept.columnIndex[at] = columnIndex[entry];
      kept.values[at++] = values[entry];
    }
    rowStart[row + 1] = at;
  }
  return { rows, columns, rowStart, ...kept };
}
