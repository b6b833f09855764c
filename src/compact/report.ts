// The cost of a choice of types and variance: bytes, rankings and calibration on data with known labels, beside the
// original model.

import { type Dataset, mapColumns } from "../data/dataset.ts";
import { type Evaluation, EvaluationMeter } from "../metrics/evaluation.ts";
import type { Model } from "../model/model.ts";
import { type CompactOptions, NUMBER_TYPES } from "../parts/compact.ts";
import { compactModel, keptLabels } from "./index.ts";
import { openCompact } from "./open.ts";
import { choicesFor, completeCompactOptions } from "./options.ts";

export interface CompactFigures {
  name: string;
  bytes: number;
  "P@1": number;
  "P@3": number;
  "P@5": number;
  /** ECE@5: calibration error of the top five labels of each point. */
  ece: number;
  /** A point. */
  logLoss: number;
}

/** The figures of an evaluation, beside a name and a size. */
export function figuresOf(name: string, bytes: number, { ranking, calibration }: Evaluation): CompactFigures {
  const at = (k: number): number => ranking.metrics[`P@${k}`];
  return {
    name,
    bytes,
    "P@1": at(1),
    "P@3": at(3),
    "P@5": at(5),
    ece: calibration?.top5.ece ?? Number.NaN,
    logLoss: calibration?.logLoss ?? Number.NaN,
  };
}

/** Name of a choice: "int5, diagonal variance". */
export function choiceName(model: Model, given: CompactOptions): string {
  const { type, variance, rank } = completeCompactOptions(model, given);
  if (variance === undefined) return type.startsWith("int") ? "int8, largest weights" : "f32";
  return `${type}, ${variance === "low-rank" ? `rank-${rank}` : variance === "none" ? "no" : variance} variance`;
}

/** The choices worth knowing beside one: other types with its variance, other variances with its type. */
export function otherChoices(model: Model, given: CompactOptions): CompactOptions[] {
  const chosen = completeCompactOptions(model, given);
  const { variances } = choicesFor(model, given);
  if (!variances) return [{ ...chosen, type: chosen.type.startsWith("int") ? "f32" : "int8" }];
  const types = NUMBER_TYPES.filter((type) => !["int7", "int3", "int2"].includes(type));
  return [
    ...types.map((type) => ({ ...chosen, type })),
    ...variances.map((variance) => ({ ...chosen, variance })),
  ].filter(({ type, variance }) => type !== chosen.type || variance !== chosen.variance);
}

/** Measures a compact model made with these options; labels it left out have probability 0. */
export async function evaluateCompact(
  model: Model,
  options: CompactOptions,
  data: Dataset,
  onProgress: (fraction: number) => void = () => {},
): Promise<CompactFigures> {
  const { labels: k, labelCounts, points, columnIds } = model.schema;
  const bytes = await compactModel(model, options);
  const { predictor } = await openCompact(bytes);
  const kept = keptLabels(model.schema, completeCompactOptions(model, options).allLabels);
  const { features, labels: truth } = mapColumns(data, columnIds);
  const meter = new EvaluationMeter({ labels: k, labelCounts, trainingPoints: points, truth }, { calibration: true });
  for await (const { firstRow, rows, probability = [] } of predictor.score(features, { probability: true })) {
    const all = new Float64Array(rows * k);
    for (let i = 0; i < rows; i++)
      for (const [place, label] of kept.entries()) all[i * k + label] = probability[i * kept.length + place];
    meter.update(all, firstRow);
    onProgress((firstRow + rows) / features.rows);
  }
  predictor.free();
  return figuresOf(choiceName(model, options), bytes.length, meter.report());
}
