// Labels of the data that are probably mistakes: given ones that are improbable and absent ones that are probable, by probabilities
// of models that have not seen the row. Were one label in fifty wrong or missing, and labels wrongly given as often as they are given,
//
//     odds of a mistake  =  r f (1 - p) / p  of a given label,     r p / (1 - p)  of an absent one
//
// with r = 1/50 and f the label's frequency: an absent label is surprising sooner than a given one, for most labels are absent.

import { type SparseRows, squaredNorms, transpose } from "../base/sparse.ts";
import { topLabels } from "../base/top.ts";
import { type Dataset, labelledPart, mapColumns, selectRows } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import type { DatasetInput } from "../io/dataset.ts";
import type { Model } from "../model/model.ts";
import { familyOf } from "../parts/index.ts";
import { type TrainOptions, trainOptions } from "../parts/options.ts";
import type { ModelSchema } from "../parts/part.ts";
import type { RunOptions, UnseenRows } from "../parts/run.ts";
import { ModelHost } from "../predict/host.ts";
import { dataFor } from "../predict/reading.ts";
import { folds, readAlready } from "./holdout.ts";
import { train } from "./train.ts";

/** A label that is probably a mistake of the data. */
export interface Suspect {
  /** Its row among those with known labels. */
  readonly row: number;
  /** The row's own id and line, where it has them. */
  readonly id?: string;
  readonly line?: number;
  readonly label: string;
  /** True: given, and probably wrong. False: absent, and probably missing. */
  readonly given: boolean;
  /** Its probability by a model that has not seen the row. */
  readonly probability: number;
  /** Chance of a mistake, if one label in fifty were one. */
  readonly chance: number;
  /** The row's labels. */
  readonly labels: readonly string[];
  /** A row with nearly the same words that disagrees about the label. */
  readonly near?: Pick<Suspect, "row" | "id" | "line" | "labels"> & { readonly similarity: number };
}

/** Options of audit(). */
export interface AuditOptions extends Pick<RunOptions, "threads" | "signal" | "onProgress"> {
  /** At most so many (default 500). */
  readonly top?: number;
  /** The model was not trained on these rows: its predictions are taken as they are, and nothing is trained again. */
  readonly unseen?: boolean;
}

/** Mistakes among labels. */
const RATE = 1 / 50;
/** Least chance of what is listed. */
const LEAST = 0.01;
/** Absent labels of a row that are looked at. */
const DEPTH = 20;
const FOLDS = 5;
/** Cosine from which rows are near-duplicates. */
const NEAR = 0.8;

type Found = Pick<Suspect, "row" | "given" | "probability" | "chance"> & { readonly label: number };

/** Takes probabilities of rows that their model has not seen. */
export class Auditor {
  readonly #found: Found[] = [];
  #data: Dataset | undefined;
  #schema: ModelSchema | undefined;
  #rows = 0;

  /** Every row has been taken. */
  get complete(): boolean {
    return this.#rows > 0 && this.#rows === this.#data?.features.rows;
  }

  take({ data, schema, rows, probabilities }: UnseenRows): void {
    this.#data ??= data;
    this.#schema ??= schema;
    const { labels, labelCounts, points } = schema;
    const { rowStart, labelIndex } = data.labels;
    this.#rows += rows.length;
    const best = topLabels(probabilities, rows.length, labels, Math.min(DEPTH, labels));
    const depth = best.length / rows.length;
    Array.from(rows).forEach((row, i) => {
      const own = labelIndex.subarray(rowStart[row], rowStart[row + 1]).filter((label) => label < labels);
      const judge = (label: number, given: boolean): void => {
        const probability = probabilities[i * labels + label];
        const p = Math.min(1 - 1e-9, Math.max(1e-9, probability));
        const odds = given ? (RATE * labelCounts[label] * (1 - p)) / (points * p) : (RATE * p) / (1 - p);
        const chance = odds / (1 + odds);
        if (chance >= LEAST) this.#found.push({ row, label, given, probability, chance });
      };
      for (const label of own) judge(label, true);
      for (const label of best.subarray(i * depth, (i + 1) * depth)) if (!own.includes(label)) judge(label, false);
    });
  }

  /** The worst, first. */
  suspects(top = 500): Suspect[] {
    const [data, schema] = [this.#data, this.#schema];
    if (!data || !schema) return [];
    const listed = this.#found.sort((a, b) => b.chance - a.chance || a.row - b.row || a.label - b.label).slice(0, top);
    const names = data.labelNames ?? schema.labelNames;
    const name = (label: number): string => names?.[label] ?? String(label);
    const { rowStart, labelIndex } = data.labels;
    const labelsOf = (row: number): Int32Array => labelIndex.subarray(rowStart[row], rowStart[row + 1]);
    const about = (row: number): Pick<Suspect, "row" | "id" | "line" | "labels"> => ({
      row,
      ...(data.ids?.[row] && { id: data.ids[row] }),
      ...(data.lines && { line: data.lines[row] }),
      labels: Array.from(labelsOf(row), name),
    });
    const neighbours = nearRows(transformedRows(data.features, schema.transform, 0, data.features.rows));
    return listed.map(({ row, label, given, ...found }) => {
      const near = neighbours(row).find((other) => labelsOf(other.row).includes(label) !== given);
      const beside = near && { near: { ...about(near.row), similarity: Math.min(1, near.similarity) } };
      return { ...about(row), label: name(label), given, ...found, ...beside };
    });
  }
}

/** The near-duplicates of a row, nearest first. */
function nearRows(features: SparseRows): (row: number) => { row: number; similarity: number }[] {
  const { rows, rowStart, columnIndex, values } = features;
  const lengths = squaredNorms(features).map(Math.sqrt);
  const postings = transpose(features);
  return (row) => {
    const products = new Float64Array(rows);
    for (let e = rowStart[row]; e < rowStart[row + 1]; e++) {
      const column = columnIndex[e];
      for (let at = postings.rowStart[column]; at < postings.rowStart[column + 1]; at++)
        products[postings.columnIndex[at]] += values[e] * postings.values[at];
    }
    return Array.from(products, (product, other) => ({
      row: other,
      similarity: product / (lengths[row] * lengths[other]),
    }))
      .filter(({ row: other, similarity }) => other !== row && similarity >= NEAR)
      .sort((a, b) => b.similarity - a.similarity || a.row - b.row);
  };
}

/**
 * Labels of the data that are probably mistakes, worst first. Rows that the model was trained on are left out first: by its options it
 * is fitted again, by leave-one-out where it has that, else on four fifths of the rows for each fifth.
 *
 * @param model A trained model.
 * @param input The data it was trained on, or other rows with labels (`unseen`).
 * @param options How many, threads, progress, and a signal that stops it.
 * @throws {DataError} Rows that cannot be read, with file and line.
 * @example
 * ```ts
 * for (const { id, label, given, probability } of await audit(model, "docs.jsonl")) console.log(id, label, given, probability);
 * ```
 */
export async function audit(model: Model, input: DatasetInput, options: AuditOptions = {}): Promise<Suspect[]> {
  const { top, unseen, ...run } = options;
  const { schema, parts, summary } = model;
  const data = labelledPart(mapColumns(await dataFor(schema, input), schema.columnIds));
  const auditor = new Auditor();
  const all = Array.from({ length: data.features.rows }, (_, row) => row);
  if (unseen) {
    await predicted(auditor, model, data, all, run);
    return auditor.suspects(top);
  }
  // A model of another version may have options that are gone.
  const kept = Object.entries(summary.options).filter(([name]) => Object.hasOwn(trainOptions, name));
  const again: TrainOptions & RunOptions = { ...Object.fromEntries(kept), ...run };
  if (parts.every((part) => familyOf(part).loo ?? familyOf(part).follow)) {
    const leftOut = new Auditor();
    await train(data, { ...again, onLeftOut: (rows) => leftOut.take(rows) });
    if (leftOut.complete) return leftOut.suspects(top);
  }
  const places = readAlready({ ...data, ids: all.map(String) });
  let fold = 0;
  const onProgress: typeof run.onProgress = (progress) => progress.stage !== "note" && run.onProgress?.(progress);
  for await (const { kept: fitted, held } of folds(places, FOLDS, 0)) {
    run.onProgress?.({ stage: "note", text: `Training without a part of the rows: ${++fold} of ${FOLDS}` });
    const model = await train(fitted, { ...again, onProgress });
    await predicted(auditor, model, data, (held.ids as readonly string[]).map(Number), run);
  }
  return auditor.suspects(top);
}

/** Takes the predictions of a model for rows of the data that it has not seen. */
async function predicted(
  auditor: Auditor,
  model: Model,
  data: Dataset,
  places: readonly number[],
  { threads }: AuditOptions,
): Promise<void> {
  const { schema } = model;
  const { features } = mapColumns(selectRows(data, places), schema.columnIds);
  const host = await ModelHost.start(model, { threads });
  try {
    await host.use(async (predictor) => {
      for await (const { firstRow, rows, probability = [] } of predictor.score(features, { probability: true }))
        auditor.take({ data, schema, rows: places.slice(firstRow, firstRow + rows), probabilities: probability });
    });
  } finally {
    host.dispose();
  }
}
