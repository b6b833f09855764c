// Measures a trained model for its report: everything that needs the model's scores or parameters. What comes out is plain data.

import { rowsWithLabels, selectFeatures } from "../base/sparse.ts";
import { isMarked } from "../base/text.ts";
import { type Dataset, mapColumns } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import { type Evaluation, everyFigure, type FullEvaluation, isFull } from "../metrics/evaluation.ts";
import type { Model } from "../model/model.ts";
import type { ModelSchema } from "../parts/part.ts";
import type { Predictor } from "../parts/predictor.ts";
import type { TrainingSummary } from "../parts/run.ts";
import { evaluatePredictor } from "../predict/evaluate.ts";
import { predictRows } from "../predict/load.ts";
import { evidenceOf } from "./figures.ts";
import type { TrainingHistory } from "./history.ts";
import { shorten } from "./html.ts";

export interface ReportInput {
  /** The data of the training, or the model that was measured, as a person calls it. */
  title: string;
  schema: ModelSchema;
  bytes: number;
  summary: TrainingSummary;
  /** Seconds of the whole training, reading not counted, where it was watched; its notes: threads, device, memory. */
  run: { seconds?: number; machine?: string; notes: readonly string[] };
  /** How the training went, where it was watched. */
  history?: TrainingHistory;
  measured?: Measured;
  /** How the model's guarantees were found, in words. */
  evidence?: string;
}

export interface Measured extends FullEvaluation {
  file: string;
  samples: readonly Sample[];
}

/** One point with its true and predicted labels. */
export interface Sample {
  title: string;
  /** Its text, or its strongest words. */
  text: string;
  predicted: readonly { label: number; probability: number; right: boolean }[];
  /** True labels that are not among the predicted ones. */
  missed: readonly number[];
}

/** Data with known labels that was not trained on. */
export interface ReportData {
  data: Dataset;
  file: string;
  /** Its figures, every one, where they were made already. */
  evaluation?: Evaluation;
}

export interface ReportSource extends Pick<ReportInput, "title" | "bytes" | "run" | "history"> {
  model: Model;
  /** The data to measure on, and the model ready to score them. */
  measure?: ReportData & { predictor: Predictor };
  onProgress?: (fraction: number) => void;
}

const SAMPLES = 8;
const SAMPLE_LABELS = 5;
const SAMPLE_WORDS = 12;
/** Characters of a text that are shown. */
const MOST_TEXT = 200;

export async function collectReport(source: ReportSource): Promise<ReportInput> {
  const { model, measure, onProgress, ...about } = source;
  const { schema, summary } = model;
  const figures = measure && (await measured(model, measure, onProgress));
  const evidence = model.thresholds && evidenceOf(model.thresholds.guarantees);
  return { ...about, schema, summary, measured: figures, evidence };
}

type Measure = NonNullable<ReportSource["measure"]>;

async function measured(model: Model, measure: Measure, onProgress: ReportSource["onProgress"]): Promise<Measured> {
  const { predictor, file } = measure;
  const data = mapColumns(measure.data, model.schema.columnIds);
  onProgress?.(0);
  const evaluation = measure.evaluation ?? (await evaluatePredictor(predictor, data, { ...everyFigure, onProgress }));
  if (!isFull(evaluation)) throw new Error("the report: found figures that were left out, expected every figure");
  return { ...evaluation, file, samples: await samplesOf(model, { ...measure, data }) };
}

/** A few points, evenly spread over those that have labels. */
async function samplesOf(model: Model, { predictor, data }: Measure): Promise<Sample[]> {
  const labelled = rowsWithLabels(data.labels);
  const count = Math.min(SAMPLES, labelled.length);
  const rows = Array.from({ length: count }, (_, i) => labelled[Math.floor(((i + 0.5) * labelled.length) / count)]);
  const { rowStart, labelIndex } = data.labels;
  const chosen = await predictRows(predictor, selectFeatures(data.features, rows), { topK: SAMPLE_LABELS }, false);
  return chosen.map((labels, i) => {
    const row = rows[i];
    const truth = [...labelIndex.subarray(rowStart[row], rowStart[row + 1])];
    const predicted = labels.map(({ id: label, probability }) => ({
      label,
      probability,
      right: truth.includes(label),
    }));
    const missed = truth.filter((label) => !predicted.some((each) => each.label === label));
    return { title: `Row ${row + 1}`, text: textOf(model.schema, data, row), predicted, missed };
  });
}

/** A row's text; where it was not kept the words that weigh most in it, or how many features there are. */
export function textOf(schema: ModelSchema, data: Dataset, row: number): string {
  const text = data.features.texts?.[row];
  if (text) return shorten(text, MOST_TEXT);
  const names = schema.vectoriser?.terms ?? schema.featureNames;
  const { columnIndex, values } = transformedRows(data.features, schema.transform, row, 1);
  if (names === undefined) return `${columnIndex.length} features, without names`;
  return Array.from(columnIndex, (column, i) => ({ column, weight: Math.abs(values[i]) }))
    .sort((a, b) => b.weight - a.weight || a.column - b.column)
    .map(({ column }) => names[column])
    .filter((name) => !(schema.vectoriser && isMarked(name)))
    .slice(0, SAMPLE_WORDS)
    .join(", ");
}
