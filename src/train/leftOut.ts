// What a calibrator is fitted on and judged by: scores of points that their model has not seen, and their labels.

import { calibrateBlock } from "../calibrate/block.ts";
import type { Calibrator } from "../calibrate/calibrator.ts";
import { fitCalibrator } from "../calibrate/fit.ts";
import { prepareCalibrator } from "../calibrate/forward.ts";
import type { Core } from "../core/core.ts";
import { type Matrix, matrix } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import type { LabelSets } from "../data/dataset.ts";
import { EvaluationMeter } from "../metrics/evaluation.ts";
import type { ModelFrame } from "../model/model.ts";

/** Rows scored and calibrated together. */
const BLOCK = 256;

export interface UnseenScores {
  /** Names of the scores, and for each a matrix [rows,K]. */
  names: readonly string[];
  scores: readonly Matrix[];
  /** The rows' labels. */
  labels: LabelSets;
}

export interface CalibratedFit {
  calibrator: Calibrator;
  /** Figures on these points: what to expect of new ones. */
  figures: Record<string, number>;
}

/** Fits a calibrator and measures what it makes of the points it was fitted on. */
export async function calibrate(
  core: Core,
  frame: ModelFrame,
  unseen: UnseenScores,
  options: WorkOptions,
): Promise<CalibratedFit> {
  const { names, scores, labels } = unseen;
  const blocks = blocksOf(scores);
  const { calibrator } = await fitCalibrator(
    core,
    { scores: names, blocks, labels, frequencies: frame },
    options,
  );
  return { calibrator, figures: measure(core, frame, calibrator, unseen) };
}

function* blocksOf(scores: readonly Matrix[]): Generator<{ scores: Matrix[]; rows: Int32Array }> {
  const { rows } = scores[0] as Matrix;
  for (let from = 0; from < rows; from += BLOCK) {
    const to = Math.min(rows, from + BLOCK);
    yield {
      scores: scores.map((all) => all.rowRange(from, to)),
      rows: Int32Array.from({ length: to - from }, (_, i) => from + i),
    };
  }
}

function measure(
  core: Core,
  frame: ModelFrame,
  calibrator: Calibrator,
  { scores, labels: truth }: UnseenScores,
): Record<string, number> {
  const prepared = prepareCalibrator(calibrator, frame);
  const subject = { ...frame, trainingPoints: frame.points, truth };
  const meter = new EvaluationMeter(subject, { calibration: true });
  const out = matrix(core, BLOCK, frame.labels, "f32");
  for (const { scores: block, rows } of blocksOf(scores)) {
    const part = out.rowRange(0, rows.length);
    meter.update(calibrateBlock(prepared, { scores: block }, part).view(), rows[0] as number);
  }
  out.free();
  const { ranking, calibration } = meter.report();
  return { ...ranking.metrics, ...(calibration ? { logLoss: calibration.logLoss } : {}) };
}
