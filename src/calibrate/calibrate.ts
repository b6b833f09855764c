// Fits a calibrator, chooses thresholds and measures, all on scores of points that their model has not seen.

import type { Calibrator, LabelFrequencies } from "../base/calibrator.ts";
import { hashInteger } from "../base/hash.ts";
import type { Guarantees, Thresholds } from "../base/prediction.ts";
import { yieldToHost } from "../base/progress.ts";
import type { LabelSets } from "../base/sparse.ts";
import { insertBest } from "../base/top.ts";
import type { Core } from "../core/core.ts";
import type { Matrix } from "../core/matrix.ts";
import { EvaluationMeter, summaryFigures } from "../metrics/evaluation.ts";
import { negativeLog, negativeLogOfRest } from "../metrics/rows.ts";
import {
  type CalibrationData,
  type CalibratorFit,
  type FitOptions,
  fitCalibrator,
  fitPairs,
  pairLogits,
} from "./fit.ts";
import { logistic } from "./forward.ts";
import { chooseGuarantees, saferGuarantees } from "./guarantees.ts";
import { type HeldOutBlock, type HeldOutPairs, pairsOf } from "./pairs.ts";
import { chooseThresholds } from "./thresholds.ts";

const BLOCK = 256;
/** Fewer held-out points are not split into halves. */
const FEWEST = 40;

/** Sizes and counts that the model has. */
export type LabelSchema = LabelFrequencies & { readonly labels: number; readonly exclusive?: true };

export interface UnseenScores extends Pick<CalibrationData, "scores" | "blocks" | "distinct" | "wanted"> {
  labels: LabelSets;
  /** The points had no part in the training at all. */
  heldOut?: boolean;
  /** Fits what moves the logits further, once the calibrator is there: gives a function that does; undefined where nothing would help. */
  move?: ((pairs: LogitsOfPairs) => Promise<MovedLogits | undefined>) | undefined;
}

type LogitsOfPairs = Pick<HeldOutPairs, "row" | "label" | "signedWeight"> & { readonly logits: Float64Array };
/** The logits of pairs, and behind them those of labels that no point of these has. */
type MovedLogits = (pairs: LogitsOfPairs) => {
  readonly logits: Float64Array;
  readonly beyond: { readonly row: Int32Array; readonly logits: Float64Array };
};

export interface CalibratedFit {
  calibrator: Calibrator;
  thresholds: Thresholds;
  /** Figures on these points, each with the offset that the others give its labels: what to expect of new ones. */
  figures: Record<string, number>;
}

export async function calibrate(
  core: Core,
  schema: LabelSchema,
  unseen: UnseenScores,
  options: FitOptions,
): Promise<CalibratedFit> {
  const found = await fitCalibrator(core, { ...unseen, frequencies: schema }, options);
  const { calibrator, pairs } = found;
  const pause = (): Promise<void> => yieldToHost(options, "calibration", 1);
  await pause();
  const moved = await unseen.move?.({ ...pairs, logits: found.logits });
  await pause();
  const fit = moved ? { ...found, ...movedPairs(pairs, moved({ ...pairs, logits: found.logits })) } : found;
  const all = { ...fit.pairs, probabilities: fit.probabilities };
  const unknown = all.label.map((label) => Number(schema.labelCounts[label] <= (unseen.heldOut ? 0 : 1)));
  await pause();
  const measured = await chooseGuarantees({ ...all, unknown }, "leave-one-out", unseen.distinct, pause);
  await pause();
  const guarantees =
    unseen.heldOut && measured.rows >= FEWEST
      ? await proven(core, schema, unseen, found, measured, options, pause, moved)
      : measured;
  await pause();
  const thresholds = { ...chooseThresholds(all), guarantees };
  await pause();
  const figures = measure(schema, fit, unseen.labels);
  await pause();
  return { calibrator, thresholds, figures };
}

/** The log loss of these points with the calibrator that fits them, where no more is asked for. */
export async function calibratedLoss(
  core: Core,
  schema: LabelSchema,
  unseen: UnseenScores,
  options: FitOptions,
): Promise<number> {
  const fit = await fitCalibrator(core, { ...unseen, frequencies: schema }, options);
  return logLossOf(schema, fit, unseen.labels.rows);
}

/** Guarantees of each half of the points, by a calibrator that was fitted to the other half; the safer ones. */
async function proven(
  core: Core,
  schema: LabelSchema,
  unseen: UnseenScores,
  { pairs }: CalibratorFit,
  { rows, expectedRecall }: Guarantees,
  options: FitOptions,
  pause: () => Promise<void>,
  moved?: MovedLogits,
): Promise<Guarantees> {
  const halves = [0, 1].map((side) => pairsOf(pairs, (row) => hashInteger(row, 3) % 2 === side));
  const found: Guarantees[] = [];
  for (const [side, half] of halves.entries()) {
    const { calibrator } = await fitPairs(core, { ...unseen, frequencies: schema }, half, rows / 2, options);
    const other = halves[1 - side];
    const logits = pairLogits(calibrator, other, schema);
    const all = moved
      ? movedPairs(other, moved({ ...other, logits }))
      : { pairs: other, probabilities: logits.map(logistic) };
    const unknown = all.pairs.label.map((label) => Number(schema.labelCounts[label] === 0));
    await pause();
    const own = { ...all.pairs, probabilities: all.probabilities, unknown };
    found.push(await chooseGuarantees(own, "held-out", undefined, pause));
  }
  return { ...saferGuarantees(found[0], found[1]), expectedRecall };
}

/** Pairs with moved logits; behind them, under a number beyond all labels, those of labels that no point has. */
function movedPairs(
  pairs: HeldOutPairs,
  { logits, beyond }: ReturnType<MovedLogits>,
): Pick<CalibratorFit, "pairs" | "probabilities"> {
  const more = beyond.row.length;
  const labels = pairs.labelStart.length - 1;
  const joined = <A extends Int32Array | Float64Array>(own: A, others: A): A => {
    const all = new (own.constructor as new (length: number) => A)(own.length + more);
    all.set(own);
    all.set(others, own.length);
    return all;
  };
  return {
    pairs: {
      ...pairs,
      row: joined(pairs.row, beyond.row),
      label: joined(pairs.label, new Int32Array(more).fill(labels)),
      signedWeight: joined(pairs.signedWeight, new Float64Array(more).fill(-1)),
    },
    probabilities: joined(logits, beyond.logits).map(logistic),
  };
}

/** Matrices [rows,K] of scores in blocks. */
export function* blocksOf(scores: readonly Matrix[]): Generator<HeldOutBlock> {
  const { rows } = scores[0];
  for (let from = 0; from < rows; from += BLOCK) {
    const to = Math.min(rows, from + BLOCK);
    yield {
      scores: scores.map((all) => all.rowRange(from, to)),
      rows: Int32Array.from({ length: to - from }, (_, i) => from + i),
    };
  }
}

/** Log loss a point: of all labels, by the weights of the pairs, or of the classes where probabilities sum to one. */
function logLossOf(
  schema: LabelSchema,
  { pairs, probabilities }: Pick<CalibratorFit, "pairs" | "probabilities">,
  rows: number,
): number {
  const { signedWeight, label } = pairs;
  let loss = 0;
  probabilities.forEach((probability, e) => {
    const weight = signedWeight[e];
    if (schema.exclusive) loss += weight > 0 ? negativeLog(probability) : 0;
    else if (label[e] < schema.labels)
      loss += weight > 0 ? weight * negativeLog(probability) : -weight * negativeLogOfRest(probability);
  });
  return loss / Math.max(1, rows);
}

/** Rankings from the chosen pairs, among which are the best of each point. */
function measure(
  schema: LabelSchema,
  { pairs, probabilities }: CalibratorFit,
  truth: LabelSets,
): Record<string, number> {
  const { rows } = truth;
  const counted = { ...truth, labels: Math.max(truth.labels, schema.labels + 1) };
  const meter = new EvaluationMeter({ ...schema, trainingPoints: schema.points, truth: counted });
  const { depth } = meter;
  const ranked = new Int32Array(rows * depth).fill(-1);
  const best = new Float64Array(rows * depth).fill(-1);
  // Pairs come in the order of their labels: of equals the first stays before.
  probabilities.forEach((value, e) => {
    insertBest([{ label: pairs.label[e], value }], ranked, best, pairs.row[e] * depth, depth);
  });
  meter.updateBest(ranked, best);
  return {
    ...summaryFigures(meter.report()),
    logLoss: logLossOf(schema, { pairs, probabilities }, rows),
  };
}
