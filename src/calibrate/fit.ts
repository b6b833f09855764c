// Fits a calibrator to scores that were made without their points' labels: the curves of the first step and the offsets of the
// labels in turn, these shrunk by as much as labels differ; then the curves of the second step. Everything is summed in
// a fixed order: the same scores give the same calibrator in every runtime and on any number of threads.

import type { FittedOffsets, PairCurves, ScorePairs } from "../core/calibrator.ts";
import type { Core } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import type { Lists } from "../core/pattern.ts";
import { pause, type WorkOptions } from "../core/progress.ts";
import { hashInteger } from "../data/hash.ts";
import type { BlendedCurves, Calibrator, LabelFrequencies } from "./calibrator.ts";
import { CurveFit } from "./curvefit.ts";
import { placeAmong, termValue } from "./curves.ts";
import { logFrequency, logistic, logOfExpected } from "./forward.ts";
import { evenKnots, quantiles } from "./knots.ts";
import { type HeldOutBlock, type HeldOutPairs, PairCollector } from "./pairs.ts";
import { LOGIT_TERMS, strengthOf, termsOf } from "./terms.ts";

/** What a calibrator is fitted on. */
export interface CalibrationData {
  /** Names of the scores in the blocks: "gaussian", "stack", "utility". */
  scores: readonly string[];
  /** Scores made without the points' labels, block by block; a row comes once. */
  blocks: Iterable<HeldOutBlock> | AsyncIterable<HeldOutBlock>;
  /** What the points really have. */
  labels: Lists;
  /** Counts in the data that the model was trained on. */
  frequencies: LabelFrequencies;
  /** Whether the points are among the training data, each left out for its own scores: then it does not count itself. */
  leftOut?: boolean;
}

/** Options of fitCalibrator(). */
export interface FitOptions extends WorkOptions {
  /** Keep near this one, the more so the fewer the new points are. */
  from?: Calibrator;
}

/** A calibrator and the pairs it was fitted on, with their probabilities: thresholds are chosen from these. */
export interface CalibratorFit {
  calibrator: Calibrator;
  pairs: HeldOutPairs;
  /** Of each pair. */
  probabilities: Float64Array;
  /** Whether every search came to its end. */
  converged: boolean;
}

/** Rounds of curves and offsets, and of offsets and their variance in each. */
const ROUNDS = 3;
const VARIANCE_ROUNDS = 5;
/** Parts of the points whose offsets are made from the others. */
const FOLDS = 4;
/** Variance of the offsets to begin with, the least and the greatest. */
const VARIANCE = { begin: 0.25, least: 1e-3, most: 4 };
/** Knots among labels and points. */
const LABEL_KNOTS = 2;
const POINT_QUANTILES: readonly number[] = [0.01, 0.99];
/** What an earlier calibrator counts for at a refit, in points. */
const EARLIER_POINTS = 200;

/** Fits a calibrator. */
export async function fitCalibrator(
  core: Core,
  data: CalibrationData,
  options: FitOptions = {},
): Promise<CalibratorFit> {
  const { from } = options;
  const { scores } = data;
  if (from && JSON.stringify(scores) !== JSON.stringify(from.scores))
    throw new ArgumentError(
      "scores",
      `found ${scores.join(", ")}, expected ${from.scores.join(", ")} as before`,
    );
  const { pairs, points } = await collect(data, options);
  const share = from && EARLIER_POINTS / Math.max(1, points);
  const strength = from ? from.strength : strengthOf(scores);
  const strengths = pairs.strengths.map((mean) => (strength ? termValue(strength, mean) : 0));
  const first = await fitFirst(core, { data, pairs, strengths, from, share }, options);
  const second = fitSecond(core, pairs, first.logits, from?.second, share);
  const { curves, offsets, variance } = first;
  return {
    calibrator: {
      scores,
      ...(strength && { strength }),
      first: curves,
      labelOffsets: offsets,
      offsetVariance: variance,
      second: second.curves,
    },
    pairs,
    probabilities: second.logits.map(logistic),
    converged: first.converged && second.converged,
  };
}

/** The chosen pairs of all blocks, and how many points there were. */
async function collect(
  { scores, labels, frequencies, blocks }: CalibrationData,
  options: WorkOptions,
): Promise<{ pairs: HeldOutPairs; points: number }> {
  const collector = new PairCollector(scores, labels, frequencies.labelCounts.length);
  const rows = Math.max(1, labels.rowStart.length - 1);
  let points = 0;
  for await (const block of blocks) {
    collector.add(block);
    points += block.rows.length;
    await pause(options, "scores", Math.min(1, points / rows));
  }
  return { pairs: collector.finish(), points };
}

/** What the first step is fitted on. */
interface FirstStep {
  data: CalibrationData;
  pairs: HeldOutPairs;
  /** Of each row. */
  strengths: Float64Array;
  /** An earlier calibrator, and what it counts for beside the data. */
  from: Calibrator | undefined;
  share: number | undefined;
}

interface FittedCurves {
  curves: BlendedCurves;
  /** Of every pair. */
  logits: Float64Array;
  converged: boolean;
}

/** Curves by frequency and strength, and the offsets of the labels, in turn. */
async function fitFirst(
  core: Core,
  { data, pairs, strengths, from, share }: FirstStep,
  options: WorkOptions,
): Promise<FittedCurves & { offsets: Float64Array; variance: number }> {
  const { labelCounts, points } = data.frequencies;
  const labelLog = Float64Array.from(pairs.label, (k, e) => {
    const itself = data.leftOut && (pairs.signedWeight[e] as number) > 0 ? 1 : 0;
    return logFrequency((labelCounts[k] as number) - itself, points);
  });
  const most = Array.from(labelCounts).reduce((high, count) => Math.max(high, count), 0);
  const shape = from?.first ?? {
    terms: termsOf(data.scores),
    labelKnots: evenKnots(logFrequency(0, points), logFrequency(most, points), LABEL_KNOTS),
    pointKnots: quantiles(rowValues(strengths, pairs.row), POINT_QUANTILES),
  };
  const search = new CurveFit(core, placesOf(shape, labelLog, strengths, pairs.row), pairs);
  try {
    const mean = new Float64Array(labelCounts.length);
    if (from) mean.set(from.labelOffsets.subarray(0, mean.length));
    let offsets: Float64Array = mean;
    let variance = from?.offsetVariance ?? VARIANCE.begin;
    let weights = from?.first.weights;
    let converged = true;
    let spread: Float64Array = Float64Array.from(pairs.label, (k) => offsets[k] as number);
    if (weights && share !== undefined) search.expect(weights, spread, share);
    let z: Float64Array = new Float64Array(pairs.row.length);
    for (let round = 0; round < ROUNDS; round++) {
      await pause(options, "calibration", round / ROUNDS);
      const found = search.fit(spread, weights);
      weights = found.weights;
      converged &&= found.converged;
      z = search.pairs.logits(weights);
      for (let step = 0; step < VARIANCE_ROUNDS; step++) {
        const fitted = search.pairs.labelOffsets(z, { mean, variance }, offsets);
        offsets = fitted.offsets;
        if (!from) variance = varianceOf(fitted, labelCounts);
      }
      spread = crossOffsets(search.pairs, pairs, z, { mean, variance }, offsets);
    }
    const logits = spread.map((offset, e) => offset + (z[e] as number));
    return { curves: { ...shape, weights: weights as Float64Array }, logits, converged, offsets, variance };
  } finally {
    search.free();
  }
}

/** Of each pair the offset of its label as the pairs of other points have it: what a pair helped to make would flatter it. */
function crossOffsets(
  search: ScorePairs,
  { row, label }: HeldOutPairs,
  z: Float64Array,
  prior: { mean: Float64Array; variance: number },
  begin: Float64Array,
): Float64Array {
  const fold = Uint8Array.from(row, (i) => hashInteger(i, 2) % FOLDS);
  const ofFold = Array.from(
    { length: FOLDS },
    (_, f) => search.labelOffsets(z, prior, begin, (pair) => fold[pair] !== f).offsets,
  );
  return Float64Array.from(label, (k, e) => ofFold[fold[e] as number]?.[k] as number);
}

/** Curves of the logit by how many labels the first step expects of the point. */
function fitSecond(
  core: Core,
  pairs: HeldOutPairs,
  logits: Float64Array,
  from: BlendedCurves | undefined,
  share: number | undefined,
): FittedCurves {
  const expected = expectedOf(pairs, logits);
  const shape = from ?? {
    terms: LOGIT_TERMS,
    labelKnots: Float64Array.from([0]),
    pointKnots: quantiles(rowValues(expected, pairs.row), POINT_QUANTILES),
  };
  const same = new Float64Array(logits.length);
  const search = new CurveFit(
    core,
    placesOf(shape, same, expected, pairs.row),
    { ...pairs, scores: [logits] },
    true,
  );
  try {
    if (from && share !== undefined) search.expect(from.weights, same, share);
    const { weights, converged } = search.fit(same, from?.weights);
    return { curves: { ...shape, weights }, logits: search.pairs.logits(weights), converged };
  } finally {
    search.free();
  }
}

/** Of each row the log of how many labels are expected among its best. */
function expectedOf({ row, isBest, strengths }: HeldOutPairs, logits: Float64Array): Float64Array {
  const sums = new Float64Array(strengths.length);
  for (let e = 0; e < row.length; e++)
    if (isBest[e])
      sums[row[e] as number] = (sums[row[e] as number] as number) + logistic(logits[e] as number);
  return sums.map(logOfExpected);
}

/** The values of the rows that have pairs. */
function rowValues(values: Float64Array, row: Int32Array): Float64Array {
  return Float64Array.from(new Set(row), (i) => values[i] as number);
}

/** Terms and gates, and where each pair stands among them. */
function placesOf(
  { terms, labelKnots, pointKnots }: Omit<BlendedCurves, "weights">,
  labelLog: Float64Array,
  strengths: Float64Array,
  row: Int32Array,
): PairCurves {
  const ofRow = strengths.map((strength) => placeAmong(pointKnots, strength));
  return {
    terms,
    labelGates: labelKnots.length,
    pointGates: pointKnots.length,
    labelPlace: labelLog.map((value) => placeAmong(labelKnots, value)),
    pointPlace: Float64Array.from(row, (i) => ofRow[i] as number),
  };
}

/** Mean square of the offsets of labels that were seen, what is not known of each included. */
function varianceOf({ offsets, variances }: FittedOffsets, labelCounts: ArrayLike<number>): number {
  let [sum, count] = [0, 0];
  offsets.forEach((offset, k) => {
    if ((labelCounts[k] as number) === 0) return;
    sum += offset * offset + (variances[k] as number);
    count++;
  });
  return count === 0 ? VARIANCE.begin : Math.min(VARIANCE.most, Math.max(VARIANCE.least, sum / count));
}
