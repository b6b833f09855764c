// Active learning: which documents to label next. An answer about document i reduces the posterior variance of the others, and that
// counts where their labels stand near the threshold, so that knowing would decide:
//
//     value_i = sum_j uncertainty_j C_ij^2 / (C_ii + lam)  /  sum_j uncertainty_j C_jj
//     uncertainty_j = sum over the best labels of min(odds / odds at the threshold, its inverse)
//
// over documents j that stand for all, C being the posterior covariance. They are chosen one after another, and C is what
// remains once those before are known: near-duplicates of a document that is asked about are worth little.

import type { Prediction } from "../base/prediction.ts";
import { type SparseRows, selectFeatures } from "../base/sparse.ts";
import { createCore } from "../core/core.ts";
import { mapColumns } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import { type DatasetInput, datasetFrom } from "../io/dataset.ts";
import type { Model } from "../model/model.ts";
import { familyOf } from "../parts/index.ts";
import { rowKernel } from "../parts/regression/kernel.ts";
import { spreadOver } from "../parts/regression/points.ts";
import { loadModel } from "../predict/load.ts";
import { readingFor } from "../predict/reading.ts";
import type { LearnOptions } from "./learner.ts";

/** A document to ask about. */
export interface QueriedDocument {
  /** Its place in the data, and its id where it has one. */
  readonly row: number;
  readonly id?: string;
  /** Part of the posterior variance of all documents, each counted by its uncertainty, that an answer would take away. */
  readonly value: number;
  /** Posterior variance: 1 far from all documents. */
  readonly variance: number;
  /** How near its labels stand to the threshold: about as many labels as are in uncertainty. */
  readonly uncertainty: number;
  /** The model's labels, most probable first. */
  readonly labels: readonly Prediction[];
}

/** Options of query(). */
export interface QueryOptions extends LearnOptions {
  /** How many documents to ask about (default 50). */
  top?: number;
}

const DEFAULT_TOP = 50;
/** Labels that are looked at for each document. */
const DEPTH = 20;
/** Documents that stand for all of the file, spread over it. */
const MOST_OTHERS = 400;
/** Documents among which is chosen one by one: those of the greatest value at the start. */
const MOST_CANDIDATES = 4000;
/** Documents that are looked at at once. */
const BLOCK = 2000;
/** A document of which no more than this part is unknown tells nothing of others. */
const NOTHING = 1e-6;
/** The threshold of a model that has none of its own. */
const EVEN = 0.5;

/**
 * Documents (without labels) that are worth labelling, best first; those without a known word never are.
 *
 * @param model Any trained model; what an exact one knows of the documents counts too.
 * @param input A data set read with the model's vocabulary, or a file or rows that are read so.
 * @param options How many documents to ask about, and threads.
 * @example
 * ```ts
 * for (const { row, labels } of await query(model, "unlabelled.jsonl", { top: 10 })) console.log(row, labels[0]?.label);
 * ```
 */
export async function query(model: Model, input: DatasetInput, options: QueryOptions = {}): Promise<QueriedDocument[]> {
  const dataset = await datasetFrom(input, { ...readingFor(model.schema), requireLabels: false });
  const { features } = mapColumns(dataset, model.schema.columnIds);
  const { top = DEFAULT_TOP, threads } = options;
  const labels = await predicted(model, features, threads);
  const threshold = model.thresholds?.f1.overall ?? EVEN;
  const uncertainties = labels.map((row) => uncertaintyOf(row, threshold));
  const written = [...uncertainties.keys()].filter((i) => features.rowStart[i + 1] > features.rowStart[i]);
  const rowsOf = (places: readonly number[]): SparseRows =>
    transformedRows(selectFeatures(features, places), model.schema.transform, 0, places.length);
  const others = spreadOver(written.length, MOST_OTHERS).map((i) => written[i]);
  const covariance = await covarianceOf(model, options);
  const standIns = { rows: rowsOf(others), weights: others.map((row) => uncertainties[row]) };
  const chosen = ((): ReturnType<typeof spread> => {
    try {
      return spread(covariance, bestOf(covariance, written, rowsOf, standIns), standIns, top);
    } finally {
      covariance.free();
    }
  })();
  return chosen.map(({ row, value, variance }) => ({
    row,
    ...(dataset.ids?.[row] && { id: dataset.ids[row] }),
    value,
    variance,
    uncertainty: uncertainties[row],
    labels: labels[row],
  }));
}

async function predicted(
  model: Model,
  features: SparseRows,
  threads: LearnOptions["threads"],
): Promise<Prediction[][]> {
  const loaded = await loadModel(model, threads === undefined ? {} : { threads });
  return await loaded.predict(features, { topK: Math.min(DEPTH, model.schema.labels) }).finally(() => loaded.dispose());
}

/** The sum over labels of how near their odds are to those of the threshold: 1 at it. */
function uncertaintyOf(labels: readonly Prediction[], threshold: number): number {
  const odds = (p: number): number => Math.max(p, 1e-9) / Math.max(1 - p, 1e-9);
  const middle = odds(threshold);
  return labels.reduce((sum, { probability }) => {
    const ratio = odds(probability) / middle;
    return sum + Math.min(ratio, 1 / ratio);
  }, 0);
}

/** Documents that stand for all, and how much each counts. */
interface StandIns {
  readonly rows: SparseRows;
  readonly weights: readonly number[];
}

/** Documents that may be asked about. */
interface Candidates {
  /** Their places in the data. */
  readonly places: readonly number[];
  readonly rows: SparseRows;
  readonly variances: Float64Array;
  /** C of each with each that stands for all [n,m]. */
  readonly towards: Float32Array;
}

/** Variance that an answer about each would take away: sum_j w_j C_ij^2 / (C_ii + lam). */
function gains(
  { variances, towards }: Pick<Candidates, "variances" | "towards">,
  weights: readonly number[],
  noise: number,
): Float64Array {
  const m = weights.length;
  return variances.map((variance, i) => {
    let sum = 0;
    for (let j = 0; j < m; j++) sum += weights[j] * towards[i * m + j] ** 2;
    return sum / (variance + noise);
  });
}

/** The documents of the greatest value at the start, looked at by blocks. */
function bestOf(
  covariance: DocumentCovariance,
  places: readonly number[],
  rowsOf: (places: readonly number[]) => SparseRows,
  { rows: others, weights }: StandIns,
): Candidates {
  const m = weights.length;
  const towards = new Float32Array(places.length * m);
  const variances = new Float64Array(places.length);
  for (let from = 0; from < places.length; from += BLOCK) {
    const rows = rowsOf(places.slice(from, from + BLOCK));
    const block = covariance.together(rows, others);
    towards.set(block.covariances, from * m);
    variances.set(block.variances, from);
  }
  const gain = gains({ variances, towards }, weights, covariance.noise);
  const best = [...gain.keys()].sort((a, b) => gain[b] - gain[a] || a - b).slice(0, MOST_CANDIDATES);
  const kept = best.map((i) => places[i]);
  const own = new Float32Array(best.length * m);
  for (const [i, from] of best.entries()) own.set(towards.subarray(from * m, (from + 1) * m), i * m);
  const left = Float64Array.from(best, (i) => variances[i]);
  return { places: kept, rows: rowsOf(kept), variances: left, towards: own };
}

/** The best one after another; what the ones before will tell is taken from what is not known of the rest. */
function spread(
  covariance: DocumentCovariance,
  { places, rows, variances, towards }: Candidates,
  { rows: others, weights }: StandIns,
  top: number,
): { row: number; value: number; variance: number }[] {
  const m = weights.length;
  const whole = covariance
    .together(others, others)
    .variances.reduce((sum, variance, j) => sum + variance * weights[j], 0);
  const covariancesOf = covariance.among(rows);
  const left = variances.slice();
  const told: Float64Array[] = [];
  const taken = new Set<number>();
  const chosen: { row: number; value: number; variance: number }[] = [];
  while (chosen.length < Math.min(top, places.length)) {
    const gain = gains({ variances: left, towards }, weights, covariance.noise);
    let place = -1;
    for (let i = 0; i < gain.length; i++) if (!taken.has(i) && !(gain[i] <= (gain[place] ?? -1))) place = i;
    const variance = left[place];
    taken.add(place);
    chosen.push({
      row: places[place],
      value: whole > 0 ? gain[place] / whole : 0,
      variance,
    });
    if (variance <= NOTHING * variances[place]) continue;
    const both = covariancesOf(place);
    for (const each of told) for (let i = 0; i < both.length; i++) both[i] -= each[i] * each[place];
    const scale = 1 / Math.sqrt(variance);
    const next = both.map((covariance) => covariance * scale);
    const nextOthers = towards.slice(place * m, (place + 1) * m).map((covariance) => covariance * scale);
    for (let i = 0; i < left.length; i++) {
      const own = next[i];
      left[i] = Math.max(0, left[i] - own ** 2);
      for (let j = 0; j < m; j++) towards[i * m + j] -= own * nextOthers[j];
    }
    told.push(next);
  }
  return chosen;
}

/** The posterior covariance C of the scores of documents that are weighted and scaled, the same for each label. */
interface DocumentCovariance {
  /** lam: the noise of an answer. */
  readonly noise: number;
  /** C of each with itself [n], and with each of others [n,m]. */
  together(rows: SparseRows, others: SparseRows): { variances: Float64Array; covariances: Float32Array };
  /** C of one with all of these [n], for one after another. */
  among(rows: SparseRows): (place: number) => Float64Array;
  free(): void;
}

/** By the posterior of a part that has one; of others, which keep no documents, by how alike the documents are. */
async function covarianceOf({ schema, parts }: Model, { threads, ...work }: LearnOptions): Promise<DocumentCovariance> {
  const [first] = parts;
  const { variance } = familyOf(first);
  const core = variance && (await createCore(threads === undefined ? {} : { threads }));
  const part =
    core &&
    (await variance(first, schema, core, work).catch((error) => {
      core.dispose();
      throw error;
    }));
  const prior = part?.prior ?? rowKernel({ name: "linear" }, schema.transform);
  const size = part?.size ?? 0;
  const productOf = (known: Float32Array, i: number, j: number): number => {
    let sum = 0;
    for (let m = 0; m < size; m++) sum += known[i * size + m] * known[j * size + m];
    return sum;
  };
  return {
    noise: part?.noise ?? 1,
    together(rows, others) {
      if (part) return part.together(rows, others);
      const { own, with: withOther } = prior(rows, others);
      const covariances = new Float32Array(rows.rows * others.rows);
      for (let j = 0; j < others.rows; j++)
        withOther(j).forEach((value, i) => {
          covariances[i * others.rows + j] = value;
        });
      return { variances: own, covariances };
    },
    among(rows) {
      const [{ own, with: withOther }, known] = [prior(rows), part?.of(rows) ?? new Float32Array(0)];
      return (place) =>
        withOther(place).map((value, i) =>
          i === place ? Math.max(0, own[i] - productOf(known, i, i)) : value - productOf(known, i, place),
        );
    },
    free() {
      part?.free();
      core?.dispose();
    },
  };
}
