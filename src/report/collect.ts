// Measures a trained model for its report: everything that needs the model's scores or parameters.

import { mapColumns } from "../data/columns.ts";
import type { Dataset } from "../data/dataset.ts";
import { rowsWithLabels, selectFeatures } from "../data/dataset.ts";
import { isMarked } from "../data/text.ts";
import { transformedRows } from "../data/transform.ts";
import { type Evaluation, everyFigure, isFull } from "../metrics/evaluation.ts";
import { topLabels } from "../metrics/top.ts";
import { isClosed, type TrainedModel } from "../model/model.ts";
import type { Predictor } from "../model/predictor.ts";
import { evaluate } from "../predict/evaluate.ts";
import { labelGroups } from "./groups.ts";
import type { TrainingHistory } from "./history.ts";
import type { Measured, ReportInput, ReportModel, ReportRun, Sample } from "./input.ts";

/** What a reader sees of a point. */
export interface PointText {
  title: string;
  text: string;
}

/** Data with known labels that was not trained on. */
export interface ReportData {
  data: Dataset;
  file: string;
  textOf?: (row: number) => PointText;
  /** Its figures, every one, where they were made already. */
  evaluation?: Evaluation;
}

export interface ReportSource {
  model: TrainedModel;
  /** Size of the model file. */
  bytes: number;
  title: string;
  run: ReportRun;
  history?: TrainingHistory;
  /** What to measure on, and the model ready to score it. */
  measure?: ReportData & { predictor: Predictor };
  onProgress?: (fraction: number) => void;
}

const SAMPLES = 8;
const SAMPLE_LABELS = 5;
const SAMPLE_WORDS = 12;

export async function collectReport(source: ReportSource): Promise<ReportInput> {
  const { model, bytes, title, run, history, measure } = source;
  const latent = isClosed(model) ? model.latent : model;
  const measured = measure && (await measureModel(model, measure, source.onProgress));
  return {
    title,
    model: aboutModel(model, bytes),
    summary: model.summary,
    run,
    ...(history ? { history } : {}),
    ...(measured ? { measured } : {}),
    ...(latent ? { groups: await labelGroups(latent) } : {}),
  };
}

function aboutModel(model: TrainedModel, bytes: number): ReportModel {
  const { features, labels, labelCounts, labelNames } = model;
  return {
    features,
    labels,
    bytes,
    labelCounts,
    ...(labelNames ? { labelNames } : {}),
    fromText: model.vectoriser !== undefined,
  };
}

type Measure = NonNullable<ReportSource["measure"]>;

async function measureModel(
  model: TrainedModel,
  measure: Measure,
  onProgress?: (fraction: number) => void,
): Promise<Measured> {
  const { predictor, file } = measure;
  const data = mapColumns(measure.data, model.columnIds);
  onProgress?.(0);
  const evaluation =
    measure.evaluation ??
    (await evaluate(predictor, data, { ...everyFigure, ...(onProgress && { onProgress }) }));
  if (!isFull(evaluation))
    throw new Error("the report: found figures that were left out, expected every figure");
  return { ...evaluation, file, samples: await samplesOf(model, { ...measure, data }) };
}

/** A few points, evenly spread over those that have labels. */
async function samplesOf(model: TrainedModel, { predictor, data, textOf }: Measure): Promise<Sample[]> {
  const labelled = rowsWithLabels(data.labels);
  const count = Math.min(SAMPLES, labelled.length);
  const rows = Array.from(
    { length: count },
    (_, i) => labelled[Math.floor(((i + 0.5) * labelled.length) / count)] as number,
  );
  const { labels: k } = model;
  const depth = Math.min(SAMPLE_LABELS, k);
  const describe = textOf ?? ((row: number) => strongestWords(model, data, row));
  const samples: Sample[] = [];
  for await (const { firstRow, rows: scored, probability = [] } of predictor.score(
    selectFeatures(data.features, rows),
    { probability: true },
  )) {
    const ranked = topLabels(probability, scored, k, depth);
    for (let i = 0; i < scored; i++) {
      const row = rows[firstRow + i] as number;
      const truth = [
        ...data.labels.labelIndex.subarray(data.labels.rowStart[row], data.labels.rowStart[row + 1]),
      ];
      const predicted = Array.from(ranked.subarray(i * depth, (i + 1) * depth), (label) => ({
        label,
        probability: probability[i * k + label] as number,
        right: truth.includes(label),
      }));
      const missed = truth.filter((label) => !predicted.some((each) => each.label === label));
      samples.push({ ...describe(row), predicted, missed });
    }
  }
  return samples;
}

/** Stands for a text that was not kept: the words that weigh most in it, or how many features there are. */
function strongestWords(model: TrainedModel, data: Dataset, row: number): PointText {
  const title = `Point ${row + 1}`;
  const names = model.vectoriser?.terms ?? model.featureNames;
  const { columnIndex, values } = transformedRows(data.features, model.transform, row, 1);
  if (names === undefined) return { title, text: `${columnIndex.length} features, without names` };
  const words = Array.from(columnIndex, (column, i) => ({ column, weight: Math.abs(values[i] as number) }))
    .sort((a, b) => b.weight - a.weight || a.column - b.column)
    .map(({ column }) => names[column] as string)
    .filter((name) => !(model.vectoriser && isMarked(name)))
    .slice(0, SAMPLE_WORDS);
  return { title, text: words.join(", ") };
}
