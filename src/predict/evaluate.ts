// A model's figures on data with known labels.

import type { Dataset } from "../data/dataset.ts";
import { type Evaluation, EvaluationMeter, type EvaluationOptions } from "../metrics/evaluation.ts";
import type { Predictor } from "./predictor.ts";

export type { Evaluation, EvaluationOptions } from "../metrics/evaluation.ts";

/** P@k, nDCG@k and the rest over all points; what needs every probability is left out unless asked for. */
export async function evaluate(
  predictor: Predictor,
  { features, labels: truth }: Dataset,
  options: EvaluationOptions & { onProgress?: (fraction: number) => void } = {},
): Promise<Evaluation> {
  const { labels, labelCounts, summary } = predictor.model;
  const meter = new EvaluationMeter({ labels, labelCounts, trainingPoints: summary.points, truth }, options);
  const want = { probability: true };
  const passes = meter.twice ? 2 : 1;
  const progress = (pass: number, { firstRow, rows }: { firstRow: number; rows: number }): void =>
    options.onProgress?.((pass + (firstRow + rows) / features.rows) / passes);
  if (!meter.wholeRows) {
    for await (const best of predictor.best(features, meter.depth, want)) {
      meter.updateBest(best.labels, best.probability ?? [], best.firstRow);
      progress(0, best);
    }
    return meter.report();
  }
  for (let pass = 0; pass < passes; pass++) {
    for await (const scores of predictor.score(features, want)) {
      const { firstRow, utility, probability = [] } = scores;
      if (pass === 0) meter.update(probability, firstRow, utility);
      else meter.recount(probability, firstRow);
      progress(pass, scores);
    }
  }
  return meter.report();
}
