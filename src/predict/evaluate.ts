// A model's figures on data with known labels.

import type { Dataset } from "../data/dataset.ts";
import { type Evaluation, EvaluationMeter, type EvaluationOptions } from "../metrics/evaluation.ts";
import type { Predictor, RankName } from "../model/predictor.ts";

export type { Evaluation } from "../metrics/evaluation.ts";

/** How a model is measured. */
export interface EvaluateOptions extends EvaluationOptions {
  /** What labels are ranked by (default probability). */
  rank?: RankName;
}

/** P@k, nDCG@k and the rest over all points; what needs every probability is left out unless asked for. */
export async function evaluate(
  predictor: Predictor,
  { features, labels: truth }: Dataset,
  options: EvaluateOptions & { onProgress?: (fraction: number) => void } = {},
): Promise<Evaluation> {
  const { labels, labelCounts, points } = predictor.frame;
  const meter = new EvaluationMeter({ labels, labelCounts, trainingPoints: points, truth }, options);
  const { rank = "probability" } = options;
  const passes = meter.twice ? 2 : 1;
  const progress = (pass: number, { firstRow, rows }: { firstRow: number; rows: number }): void =>
    options.onProgress?.((pass + (firstRow + rows) / features.rows) / passes);
  if (!meter.wholeRows && rank === "probability") {
    for await (const best of predictor.best(features, meter.depth)) {
      meter.updateBest(best.labels, best.values, best.firstRow);
      progress(0, best);
    }
    return meter.report();
  }
  for (let pass = 0; pass < passes; pass++) {
    for await (const scores of predictor.score(features, { probability: true })) {
      const { firstRow, utility, probability = [] } = scores;
      if (pass === 0) meter.update(probability, firstRow, rank === "utility" ? utility : probability);
      else meter.recount(probability, firstRow);
      progress(pass, scores);
    }
  }
  return meter.report();
}
