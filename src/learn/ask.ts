// What to label next: documents from which a model would learn most. A document is worth asking about where the model
// knows little (the variance v of its scores) and where labels stand near the threshold, so that knowing would decide:
//
//     value = v * sum over the best labels of min(odds / odds at the threshold, its inverse)
//
// They are chosen one after another, and v is what remains unknown once those before are labelled: near-duplicates of a
// document that is asked about are worth little.

import { knownPart } from "../closed/variance.ts";
import { createCore } from "../core/core.ts";
import { mapColumns } from "../data/columns.ts";
import { type SparseRows, selectFeatures } from "../data/dataset.ts";
import { transformedRows, wholeSquares } from "../data/transform.ts";
import { type DatasetInput, datasetFrom } from "../io/dataset.ts";
import type { Prediction } from "../metrics/prediction.ts";
import { scalarKernel } from "../model/kernels/index.ts";
import { type ClosedModel, isClosed, type TrainedModel } from "../model/model.ts";
import { readingFor } from "../model/reading.ts";
import { loadModel } from "../predict/load.ts";
import type { LearnOptions } from "./learner.ts";

/** A document to ask about. */
export interface Question {
  /** Its place in the data. */
  readonly row: number;
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
/** Documents among which is chosen: those of the greatest value, one by one. */
const MOST_CANDIDATES = 4000;
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
  const core = threads === undefined ? {} : { threads };
  using loaded = await loadModel(model, core);
  const labels = await loaded.predict(features, { topK: Math.min(DEPTH, model.labels) });
  const threshold = model.thresholds?.f1.overall ?? EVEN;
  const doubts = labels.map((row) => doubtOf(row, threshold));
  const likely = [...doubts.keys()]
    .filter((i) => (features.rowStart[i + 1] as number) > (features.rowStart[i] as number))
    .sort((a, b) => (doubts[b] as number) - (doubts[a] as number) || a - b)
    .slice(0, MOST_CANDIDATES);
  const rows = transformedRows(selectFeatures(features, likely), model.transform, 0, likely.length);
  const unknown = await unknownOf(model, rows, options);
  const chosen = spread(
    unknown,
    likely.map((row) => doubts[row] as number),
    top,
  );
  return chosen.map(({ place, value, variance }) => {
    const row = likely[place] as number;
    return {
      row,
      value,
      unknown: variance,
      doubt: doubts[row] as number,
      labels: labels[row] as Prediction[],
    };
  });
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

/** What is not known of documents, and how it goes together. */
interface Unknown {
  readonly rows: number;
  /** The variance of what answering adds beside: the noise. */
  readonly noise: number;
  /** Of each document with itself, at the start. */
  readonly variances: Float64Array;
  /** Of one document with all. */
  covariances(place: number): Float64Array;
}

/** By the posterior of an exact model; of others, which keep no documents, by how alike the documents are. */
async function unknownOf(model: TrainedModel, rows: SparseRows, options: AskOptions): Promise<Unknown> {
  const exact = isClosed(model) && model.closed.form === "exact" ? model.closed : undefined;
  const known = exact ? await knownOf(model as ClosedModel, rows, options) : undefined;
  const size = known === undefined ? 0 : known.length / Math.max(1, rows.rows);
  const kernel = exact ? scalarKernel(exact.kernel, exact.hyper) : scalarKernel("linear", [1, 1, 1]);
  const squares =
    wholeSquares(rows, model.transform) ??
    Float32Array.from({ length: rows.rows }, (_, i) =>
      rows.values
        .subarray(rows.rowStart[i], rows.rowStart[i + 1])
        .reduce((sum, value) => sum + value * value, 0),
    );
  const partOf = (i: number, j: number): number => {
    let sum = 0;
    for (let m = 0; m < size; m++)
      sum += (known?.[i * size + m] as number) * (known?.[j * size + m] as number);
    return sum;
  };
  return {
    rows: rows.rows,
    noise: exact?.noise ?? (isClosed(model) ? model.closed.noise : 1),
    variances: Float64Array.from(squares, (square, i) => Math.max(0, kernel.own(square) - partOf(i, i))),
    covariances(place) {
      const own = spreadOut(rows, place);
      const square = squares[place] as number;
      return Float64Array.from({ length: rows.rows }, (_, i) =>
        i === place
          ? Math.max(0, kernel.own(square) - partOf(i, i))
          : kernel.covariance(product(rows, i, own), squares[i] as number, square) - partOf(i, place),
      );
    },
  };
}

async function knownOf(model: ClosedModel, rows: SparseRows, options: AskOptions): Promise<Float32Array> {
  const { threads, ...work } = options;
  const core = await createCore(threads === undefined ? {} : { threads });
  try {
    if (model.closed.form !== "exact") return new Float32Array(0);
    const part = await knownPart(core, model.closed, model.transform, work);
    return part.of(rows);
  } finally {
    core.dispose();
  }
}

/** A row in full. */
function spreadOut({ columns, rowStart, columnIndex, values }: SparseRows, row: number): Float64Array {
  const full = new Float64Array(columns);
  for (let e = rowStart[row] as number; e < (rowStart[row + 1] as number); e++)
    full[columnIndex[e] as number] = values[e] as number;
  return full;
}

function product({ rowStart, columnIndex, values }: SparseRows, row: number, full: Float64Array): number {
  let sum = 0;
  for (let e = rowStart[row] as number; e < (rowStart[row + 1] as number); e++)
    sum += (values[e] as number) * (full[columnIndex[e] as number] as number);
  return sum;
}

/** The best one after another; what the ones before will tell is taken from the variance of the rest. */
function spread(
  unknown: Unknown,
  doubts: readonly number[],
  top: number,
): { place: number; value: number; variance: number }[] {
  const left = unknown.variances.slice();
  const told: Float64Array[] = [];
  const taken = new Set<number>();
  const chosen: { place: number; value: number; variance: number }[] = [];
  while (chosen.length < Math.min(top, unknown.rows)) {
    let place = -1;
    let value = -1;
    for (let i = 0; i < left.length; i++) {
      const own = (left[i] as number) * (doubts[i] as number);
      if (own > value && !taken.has(i)) [place, value] = [i, own];
    }
    const start = unknown.variances[place] as number;
    taken.add(place);
    chosen.push({ place, value, variance: left[place] as number });
    if (start <= 0) continue;
    const both = unknown.covariances(place);
    for (const each of told)
      for (let i = 0; i < both.length; i++)
        (both[i] as number) -= (each[i] as number) * (each[place] as number);
    const scale = 1 / Math.sqrt(Math.max(both[place] as number, 0) + unknown.noise);
    const next = both.map((covariance) => covariance * scale);
    for (let i = 0; i < left.length; i++)
      left[i] = Math.max(0, (left[i] as number) - (next[i] as number) ** 2);
    told.push(next);
  }
  return chosen;
}
