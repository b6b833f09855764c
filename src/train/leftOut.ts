// What a calibrator is fitted on and judged by: scores of points that their model has not seen, and their labels.

import type { Calibrator } from "../calibrate/calibrator.ts";
import {
  type CalibrationData,
  type CalibratorFit,
  type FitOptions,
  fitCalibrator,
} from "../calibrate/fit.ts";
import type { HeldOutBlock } from "../calibrate/pairs.ts";
import { chooseThresholds } from "../calibrate/thresholds.ts";
import type { Core } from "../core/core.ts";
import type { Matrix } from "../core/matrix.ts";
import type { LabelSets } from "../data/dataset.ts";
import { negativeLog, negativeLogOfRest } from "../metrics/calibration.ts";
import type { Thresholds } from "../metrics/cut.ts";
import { EvaluationMeter } from "../metrics/evaluation.ts";
import type { ModelFrame } from "../model/model.ts";

/** Rows given to the calibrator together. */
const BLOCK = 256;

export interface UnseenScores extends Pick<CalibrationData, "scores" | "blocks"> {
  /** The rows' labels. */
  labels: LabelSets;
}

export interface CalibratedFit {
  calibrator: Calibrator;
  thresholds: Thresholds;
  /** Figures on these points, each with what the others say of its labels: what to expect of new ones. */
  figures: Record<string, number>;
}

/** Fits a calibrator, chooses thresholds and measures, all on the same points. */
export async function calibrate(
  core: Core,
  frame: ModelFrame,
  unseen: UnseenScores,
  options: FitOptions,
): Promise<CalibratedFit> {
  const fit = await fitCalibrator(core, { ...unseen, frequencies: frame }, options);
  const { calibrator, pairs, probabilities } = fit;
  const thresholds = chooseThresholds({ ...pairs, probabilities });
  return { calibrator, thresholds, figures: measure(frame, fit, unseen.labels) };
}

/** Matrices [rows,K] of scores in blocks. */
export function* blocksOf(scores: readonly Matrix[]): Generator<HeldOutBlock> {
  const { rows } = scores[0] as Matrix;
  for (let from = 0; from < rows; from += BLOCK) {
    const to = Math.min(rows, from + BLOCK);
    yield {
      scores: scores.map((all) => all.rowRange(from, to)),
      rows: Int32Array.from({ length: to - from }, (_, i) => from + i),
    };
  }
}

/** Rankings from the chosen pairs, among which are the best of each point; the log loss from all, by their weights. */
function measure(
  frame: ModelFrame,
  { pairs, probabilities }: CalibratorFit,
  truth: LabelSets,
): Record<string, number> {
  const { rows } = truth;
  const meter = new EvaluationMeter({ ...frame, trainingPoints: frame.points, truth });
  const { depth } = meter;
  const ranked = new Int32Array(rows * depth).fill(-1);
  const best = new Float64Array(rows * depth);
  let loss = 0;
  probabilities.forEach((probability, e) => {
    const weight = pairs.signedWeight[e] as number;
    loss += weight > 0 ? weight * negativeLog(probability) : -weight * negativeLogOfRest(probability);
    // Pairs come in the order of their labels: of equals the first stays before.
    const first = (pairs.row[e] as number) * depth;
    let at = first + depth;
    while (at > first && (ranked[at - 1] === -1 || probability > (best[at - 1] as number))) at--;
    if (at === first + depth) return;
    ranked.copyWithin(at + 1, at, first + depth - 1);
    best.copyWithin(at + 1, at, first + depth - 1);
    ranked[at] = pairs.label[e] as number;
    best[at] = probability;
  });
  meter.updateBest(ranked, best);
  return { ...meter.report().ranking.metrics, logLoss: loss / Math.max(1, rows) };
}
