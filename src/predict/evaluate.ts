// A model's figures on data with known labels: rankings and, on request, how honest its probabilities are.

import type { Dataset } from "../data/dataset.ts";
import { CalibrationMeter, type CalibrationReport } from "../metrics/calibration.ts";
import { inversePropensities } from "../metrics/propensity.ts";
import { RankingMeter, type RankingReport } from "../metrics/ranking.ts";
import { topLabels } from "../metrics/top.ts";
import type { Predictor } from "./predictor.ts";

/** Figures of a model on data with known labels. */
export interface Evaluation {
  ranking: RankingReport;
  calibration?: CalibrationReport;
}

const DEPTH = 5;

/** P@k, nDCG@k and the rest over all points; calibration takes longer and is left out unless asked for. */
export async function evaluate(
  predictor: Predictor,
  data: Dataset,
  options: { calibration?: boolean } = {},
): Promise<Evaluation> {
  const { labels: k, labelCounts, summary } = predictor.model;
  // Labels that training never saw come after those it knows; nobody can rank them.
  const counts = Array.from(
    { length: Math.max(k, data.labels.labels) },
    (_, label) => labelCounts[label] ?? 0,
  );
  const ranking = new RankingMeter({
    depth: DEPTH,
    inversePropensity: inversePropensities(counts, summary.points),
  });
  const calibration = options.calibration
    ? new CalibrationMeter(k, { trainingCounts: labelCounts })
    : undefined;
  if (calibration === undefined && k >= DEPTH) {
    for await (const { firstRow, labels } of predictor.best(data.features, DEPTH))
      ranking.update(labels, DEPTH, data.labels, firstRow);
    return { ranking: ranking.report() };
  }
  for await (const { firstRow, rows, utility, probability } of predictor.score(data.features, {
    probability: calibration !== undefined,
  })) {
    ranking.update(topLabels(utility, rows, k, DEPTH), DEPTH, data.labels, firstRow);
    if (probability) calibration?.update(probability, data.labels, firstRow);
  }
  return { ranking: ranking.report(), ...(calibration ? { calibration: calibration.report() } : {}) };
}
