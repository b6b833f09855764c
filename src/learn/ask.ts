// What to label next: documents from which a model would learn most about all of the file. What an answer about document i tells is
// how much the variance of what is not known shrinks in the others, and it counts where their labels stand near the threshold,
// so that knowing would decide:
//
//     value_i = sum_j doubt_j C_ij^2 / (C_ii + lam)  /  sum_j doubt_j C_jj
//     doubt_j = sum over the best labels of min(odds / odds at the threshold, its inverse)
//
// over documents j that stand for all, C being the posterior covariance. They are chosen one after another, and C is what
// remains once those before are known for good: near-duplicates of a document that is asked about are worth little.

import { spreadOver } from "../closed/subset.ts";
import { mapColumns } from "../data/columns.ts";
import { type SparseRows, selectFeatures } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import { type DatasetInput, datasetFrom } from "../io/dataset.ts";
import type { Prediction } from "../metrics/prediction.ts";
import type { TrainedModel } from "../model/model.ts";
import { readingFor } from "../model/reading.ts";
import { loadModel } from "../predict/load.ts";
import { type Knowledge, knowledgeOf } from "./knowledge.ts";
import type { LearnOptions } from "./learner.ts";

/** A document to ask about. */
export interface Question {
  /** Its place in the data. */
  readonly row: number;
  /** Part of what is not known of all documents, each counted by its doubt, that an answer would take away. */
  readonly value: number;
  /** Part of what could be known of it that is not: 1 far from all documents. */
  readonly unknown: number;
  /** How near its labels stand to the threshold: about as many labels as are in doubt. */
  readonly doubt: number;
  /** What the model would say, most probable first. */
  readonly labels: readonly Prediction[];
}

/** Options of ask(). */
export interface AskOptions extends LearnOptions {
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
 * for (const { row, labels } of await ask(model, "unlabelled.jsonl", { top: 10 })) console.log(row, labels[0]?.label);
 * ```
 */
export async function ask(
  model: TrainedModel,
  input: DatasetInput,
  options: AskOptions = {},
): Promise<Question[]> {
  const dataset = await datasetFrom(input, { ...readingFor(model), requireLabels: false });
  const { features } = mapColumns(dataset, model.columnIds);
  const { top = DEFAULT_TOP, threads } = options;
  const labels = await predicted(model, features, threads);
  const threshold = model.thresholds?.f1.overall ?? EVEN;
  const doubts = labels.map((row) => doubtOf(row, threshold));
  const written = [...doubts.keys()].filter(
    (i) => (features.rowStart[i + 1] as number) > (features.rowStart[i] as number),
  );
  const rowsOf = (places: readonly number[]): SparseRows =>
    transformedRows(selectFeatures(features, places), model.transform, 0, places.length);
  const others = spreadOver(written.length, MOST_OTHERS).map((i) => written[i] as number);
  using knowledge = await knowledgeOf(model, options);
  const standIns = { rows: rowsOf(others), weights: others.map((row) => doubts[row] as number) };
  const candidates = bestOf(knowledge, written, rowsOf, standIns);
  return spread(knowledge, candidates, standIns, top).map(({ row, value, unknown }) => ({
    row,
    value,
    unknown,
    doubt: doubts[row] as number,
    labels: labels[row] as Prediction[],
  }));
}

async function predicted(
  model: TrainedModel,
  features: SparseRows,
  threads: LearnOptions["threads"],
): Promise<Prediction[][]> {
  using loaded = await loadModel(model, threads === undefined ? {} : { threads });
  return await loaded.predict(features, { topK: Math.min(DEPTH, model.labels) });
}

/** The sum over labels of how near their odds are to those of the threshold: 1 at it. */
function doubtOf(labels: readonly Prediction[], threshold: number): number {
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
  /** Of each with each that stands for all [n,m]. */
  readonly towards: Float32Array;
}

/** What an answer about each would tell: sum_j w_j C_ij^2 / (C_ii + lam). */
function gains(
  { variances, towards }: Pick<Candidates, "variances" | "towards">,
  weights: readonly number[],
  noise: number,
): Float64Array {
  const m = weights.length;
  return variances.map((variance, i) => {
    let sum = 0;
    for (let j = 0; j < m; j++) sum += (weights[j] as number) * (towards[i * m + j] as number) ** 2;
    return sum / (variance + noise);
  });
}

/** The documents of the greatest value at the start, looked at by blocks. */
function bestOf(
  knowledge: Knowledge,
  places: readonly number[],
  rowsOf: (places: readonly number[]) => SparseRows,
  { rows: others, weights }: StandIns,
): Candidates {
  const m = weights.length;
  const towards = new Float32Array(places.length * m);
  const variances = new Float64Array(places.length);
  for (let from = 0; from < places.length; from += BLOCK) {
    const rows = rowsOf(places.slice(from, from + BLOCK));
    towards.set(knowledge.covariances(rows, others), from * m);
    variances.set(knowledge.variances(rows), from);
  }
  const gain = gains({ variances, towards }, weights, knowledge.noise);
  const best = [...gain.keys()]
    .sort((a, b) => (gain[b] as number) - (gain[a] as number) || a - b)
    .slice(0, MOST_CANDIDATES);
  const kept = best.map((i) => places[i] as number);
  const own = new Float32Array(best.length * m);
  for (const [i, from] of best.entries()) own.set(towards.subarray(from * m, (from + 1) * m), i * m);
  const left = Float64Array.from(best, (i) => variances[i] as number);
  return { places: kept, rows: rowsOf(kept), variances: left, towards: own };
}

/** The best one after another; what the ones before will tell is taken from what is not known of the rest. */
function spread(
  knowledge: Knowledge,
  { places, rows, variances, towards }: Candidates,
  { rows: others, weights }: StandIns,
  top: number,
): { row: number; value: number; unknown: number }[] {
  const m = weights.length;
  const whole = knowledge
    .variances(others)
    .reduce((sum, variance, j) => sum + variance * (weights[j] as number), 0);
  const covariancesOf = knowledge.among(rows);
  const left = variances.slice();
  const told: Float64Array[] = [];
  const taken = new Set<number>();
  const chosen: { row: number; value: number; unknown: number }[] = [];
  while (chosen.length < Math.min(top, places.length)) {
    const gain = gains({ variances: left, towards }, weights, knowledge.noise);
    let place = -1;
    for (let i = 0; i < gain.length; i++)
      if (!taken.has(i) && !((gain[i] as number) <= (gain[place] ?? -1))) place = i;
    const unknown = left[place] as number;
    taken.add(place);
    chosen.push({
      row: places[place] as number,
      value: whole > 0 ? (gain[place] as number) / whole : 0,
      unknown,
    });
    if (unknown <= NOTHING * (variances[place] as number)) continue;
    const both = covariancesOf(place);
    for (const each of told)
      for (let i = 0; i < both.length; i++)
        (both[i] as number) -= (each[i] as number) * (each[place] as number);
    const scale = 1 / Math.sqrt(unknown);
    const next = both.map((covariance) => covariance * scale);
    const nextOthers = towards.slice(place * m, (place + 1) * m).map((covariance) => covariance * scale);
    for (let i = 0; i < left.length; i++) {
      const own = next[i] as number;
      left[i] = Math.max(0, (left[i] as number) - own ** 2);
      for (let j = 0; j < m; j++) (towards[i * m + j] as number) -= own * (nextOthers[j] as number);
    }
    told.push(next);
  }
  return chosen;
}
