// A model's figures on data with known labels.

import { ArgumentError } from "../base/errors.ts";
import { chosenThreshold, type ThresholdChoice } from "../base/prediction.ts";
import { type Dataset, mapColumns } from "../data/dataset.ts";
import { type Evaluation, EvaluationMeter, type EvaluationOptions } from "../metrics/evaluation.ts";
import { inversePropensities, tailOrder, tailWeights } from "../metrics/propensity.ts";
import type { Predictor, RankName } from "../parts/predictor.ts";
import { numberedFor } from "./reading.ts";

export type { Evaluation } from "../metrics/evaluation.ts";

/** How a model is measured. */
export interface EvaluateOptions extends Omit<EvaluationOptions, "threshold" | "guarantees">, ThresholdChoice {
  /** Guarantees of the model beside observed figures (default: where `thresholds` are asked for). */
  guarantees?: boolean;
  /** Labels are ranked by this (default probability). */
  rank?: RankName;
  /** Rare labels first: ranks by p (1/propensity)^tail, from 0 (the probability, default) to 1. */
  tail?: number;
}

type Order = (probability: ArrayLike<number>, utility: ArrayLike<number>) => ArrayLike<number>;

function orderOf({ schema }: Predictor, { rank = "probability", tail = 0 }: EvaluateOptions): Order {
  if (rank === "utility" && tail !== 0)
    throw new ArgumentError("tail", `found ${tail} with the rank utility, expected the rank probability`);
  if (rank === "utility") return (_, utility) => utility;
  if (tail === 0) return (probability) => probability;
  const weights = tailWeights(inversePropensities(schema.labelCounts, schema.points), tail);
  return (probability) => tailOrder(probability, weights);
}

/** P@k, nDCG@k and the rest over all points; what needs every probability is left out unless asked for. */
export async function evaluatePredictor(
  predictor: Predictor,
  data: Dataset,
  options: EvaluateOptions & { onProgress?: (fraction: number) => void } = {},
): Promise<Evaluation> {
  const { schema, thresholds } = predictor;
  const { labels, labelCounts, points, columnIds } = schema;
  const { features, labels: truth } = numberedFor(schema, mapColumns(data, columnIds));
  const { threshold: _, guarantees: asked = Boolean(options.thresholds), ...others } = options;
  const threshold = chosenThreshold(options, thresholds);
  const guarantees = asked ? thresholds?.guarantees : undefined;
  const subject = { labels, labelCounts, trainingPoints: points, truth };
  const meter = new EvaluationMeter(subject, { ...others, threshold, guarantees });
  const order = orderOf(predictor, options);
  const byProbability = (options.rank ?? "probability") === "probability" && !options.tail;
  const passes = meter.twice ? 2 : 1;
  const progress = (pass: number, { firstRow, rows }: { firstRow: number; rows: number }): void =>
    options.onProgress?.((pass + (firstRow + rows) / features.rows) / passes);
  if (!meter.wholeRows && byProbability && predictor.best) {
    for await (const best of predictor.best(features, meter.depth)) {
      meter.updateBest(best.labels, best.values, best.firstRow, best.beyond);
      progress(0, best);
    }
    return meter.report();
  }
  for (let pass = 0; pass < passes; pass++) {
    for await (const scores of predictor.score(features, { probability: true })) {
      const { firstRow, utility, probability = [], beyond } = scores;
      if (pass === 0) meter.update(probability, firstRow, order(probability, utility), beyond);
      else meter.recount(probability, firstRow);
      progress(pass, scores);
    }
  }
  return meter.report();
}
