// A model's figures on data with known labels.

import { ArgumentError } from "../core/errors.ts";
import { mapColumns } from "../data/columns.ts";
import type { Dataset } from "../data/dataset.ts";
import { chosenThreshold, type ThresholdChoice } from "../metrics/cut.ts";
import { type Evaluation, EvaluationMeter, type EvaluationOptions } from "../metrics/evaluation.ts";
import { inversePropensities } from "../metrics/propensity.ts";
import { tailOrder, tailWeights } from "../metrics/tail.ts";
import type { Predictor, RankName } from "../model/predictor.ts";

export type { Evaluation } from "../metrics/evaluation.ts";

/** How a model is measured. */
export interface EvaluateOptions extends Omit<EvaluationOptions, "threshold">, ThresholdChoice {
  /** What labels are ranked by (default probability). */
  rank?: RankName;
  /** Rare labels first: ranks by p (1/propensity)^tail, from 0 (the probability, default) to 1. */
  tail?: number;
}

type Order = (probability: ArrayLike<number>, utility: ArrayLike<number>) => ArrayLike<number>;

/** What the labels of a block are ranked by. */
function orderOf({ frame }: Predictor, { rank = "probability", tail = 0 }: EvaluateOptions): Order {
  if (rank === "utility" && tail !== 0)
    throw new ArgumentError("tail", `found ${tail} with the rank utility, expected the rank probability`);
  if (rank === "utility") return (_, utility) => utility;
  if (tail === 0) return (probability) => probability;
  const weights = tailWeights(inversePropensities(frame.labelCounts, frame.points), tail);
  return (probability) => tailOrder(probability, weights);
}

/** P@k, nDCG@k and the rest over all points; what needs every probability is left out unless asked for. */
export async function evaluate(
  predictor: Predictor,
  data: Dataset,
  options: EvaluateOptions & { onProgress?: (fraction: number) => void } = {},
): Promise<Evaluation> {
  const { labels, labelCounts, points, columnIds, thresholds } = predictor.frame;
  const { features, labels: truth } = mapColumns(data, columnIds);
  const { threshold: _, ...others } = options;
  const threshold = chosenThreshold(options, thresholds);
  const meter = new EvaluationMeter(
    { labels, labelCounts, trainingPoints: points, truth },
    { ...others, ...(threshold !== undefined && { threshold }) },
  );
  const order = orderOf(predictor, options);
  const byProbability = (options.rank ?? "probability") === "probability" && !options.tail;
  const passes = meter.twice ? 2 : 1;
  const progress = (pass: number, { firstRow, rows }: { firstRow: number; rows: number }): void =>
    options.onProgress?.((pass + (firstRow + rows) / features.rows) / passes);
  if (!meter.wholeRows && byProbability) {
    for await (const best of predictor.best(features, meter.depth)) {
      meter.updateBest(best.labels, best.values, best.firstRow);
      progress(0, best);
    }
    return meter.report();
  }
  for (let pass = 0; pass < passes; pass++) {
    for await (const scores of predictor.score(features, { probability: true })) {
      const { firstRow, utility, probability = [] } = scores;
      if (pass === 0) meter.update(probability, firstRow, order(probability, utility));
      else meter.recount(probability, firstRow);
      progress(pass, scores);
    }
  }
  return meter.report();
}
