// Fits a calibrator to scores that were made without their points' labels: the curves and the offsets of the labels in turn,
// these shrunk by as much as labels differ; then the outer curve, and offsets of ranks. Everything is summed in a fixed order: the
// same scores give the same calibrator in every runtime and on any number of threads.

import type { BlendedCurves, Calibrator, Curve, LabelFrequencies } from "../base/calibrator.ts";
import { ArgumentError } from "../base/errors.ts";
import { hashInteger } from "../base/hash.ts";
import { deterministicExp } from "../base/math.ts";
import { type WorkOptions, yieldToHost } from "../base/progress.ts";
import type { FittedOffsets, PairCurves, ScorePairs } from "../core/calibrator.ts";
import type { Core } from "../core/core.ts";
import type { Lists } from "../core/pattern.ts";
import { CurveFit } from "./curvefit.ts";
import {
  calibratedLogit,
  excludeOthers,
  logFrequency,
  logistic,
  moveByRank,
  placeAmong,
  pointWeights,
  prepareCalibrator,
  RANKS,
  termValue,
} from "./forward.ts";
import { type HeldOutBlock, type HeldOutPairs, PairCollector } from "./pairs.ts";
import { IDENTITY, naturalCurve, OUTER_TERMS, strengthOf, termsOf } from "./terms.ts";

export interface CalibrationData {
  /** Names of the scores in the blocks: "gaussian", "stack", "utility". */
  scores: readonly string[];
  /** Scores made without the points' labels, block by block; a row comes once. */
  blocks: Iterable<HeldOutBlock> | AsyncIterable<HeldOutBlock>;
  labels: Lists;
  /** How many different points there are, where some are equal: these say the same. */
  distinct?: number | undefined;
  /** Counts in the data that the model was trained on; with `exclusive` exactly one label of a point is true. */
  frequencies: LabelFrequencies & { readonly exclusive?: true };
  /** Labels of a row that are looked at in any case. */
  wanted?: ((row: number) => readonly number[]) | undefined;
}

export interface FitOptions extends WorkOptions {
  /** Keep near this one, the more so the fewer the new points are. */
  from?: Calibrator;
}

/** A calibrator and the pairs it was fitted on, with their probabilities: thresholds are chosen from these. */
export interface CalibratorFit {
  calibrator: Calibrator;
  pairs: HeldOutPairs;
  logits: Float64Array;
  probabilities: Float64Array;
  converged: boolean;
}

/** Scores whose first labels are surer than they come true; with a closed form beside them the curves see to it. */
const LUCKY = "utility";
/** Rounds of curves and offsets: at the third the loss moves in the sixth place. */
const ROUNDS = 3;
/** Curves stand where these shares of all positives have rarer labels, and where these shares of the points are weaker. */
const LABEL_QUANTILES: readonly number[] = [0.05, 0.5, 0.95];
const POINT_QUANTILES: readonly number[] = [0.01, 0.99];
const LABEL_GAP = 0.5;
const POINT_GAP = 0.1;
/** An earlier calibrator counts for so many points at a refit. */
const EARLIER_POINTS = 200;
/** Without one, up to so many points the scores at their word count for as many; beyond, for less and less. */
const NATURAL_POINTS = 20;

export async function fitCalibrator(
  core: Core,
  data: CalibrationData,
  options: FitOptions = {},
): Promise<CalibratorFit> {
  const { pairs, points } = await collect(data, options);
  return await fitPairs(core, data, pairs, Math.min(points, data.distinct ?? points), options);
}

/** Fits a calibrator to pairs of so many different points. */
export async function fitPairs(
  core: Core,
  data: Omit<CalibrationData, "blocks">,
  pairs: HeldOutPairs,
  points: number,
  options: FitOptions,
): Promise<CalibratorFit> {
  const { from } = options;
  const { scores } = data;
  if (from && JSON.stringify(scores) !== JSON.stringify(from.scores))
    throw new ArgumentError("scores", `found ${scores.join(", ")}, expected ${from.scores.join(", ")} as before`);
  const natural = NATURAL_POINTS / Math.max(1, points);
  const share = from ? EARLIER_POINTS / Math.max(1, points) : natural * Math.min(1, natural);
  const strength = from ? from.strength : strengthOf(scores);
  const body = await fitBody(core, { data, pairs, strength, from, share }, options);
  const end = await fitOuter(core, { pairs, logits: body.logits, from: from?.outer, share }, options);
  const ranks = scores.join() === LUCKY ? fitRanks(pairs, end.logits) : undefined;
  const { logits } = ranks ?? end;
  const exclusive = data.frequencies.exclusive ? fitSharpness(pairs, logits, from?.sharpness) : undefined;
  const { curves, labelOffsets, offsetVariance } = body;
  return {
    calibrator: {
      scores,
      strength,
      curves,
      labelOffsets,
      offsetVariance,
      outer: end.outer,
      ...(ranks && { rankOffsets: ranks.offsets }),
      ...(exclusive && { sharpness: exclusive.sharpness }),
    },
    pairs,
    logits: exclusive?.logits ?? logits,
    probabilities: (exclusive?.logits ?? logits).map(logistic),
    converged: body.converged && end.converged,
  };
}

/** Figures of a calibrator on pairs that it was not fitted to. */
export function pairLogits(calibrator: Calibrator, pairs: HeldOutPairs, frequencies: LabelFrequencies): Float64Array {
  const { scores, row, label, strengths } = pairs;
  const prepared = prepareCalibrator(calibrator, frequencies);
  const { strength, curves, rankOffsets, sharpness } = prepared.calibrator;
  const ofRow = new Map<number, Float64Array>();
  const logits = Float64Array.from(row, (own, e) => {
    const weights =
      ofRow.get(own) ?? pointWeights(curves, placeAmong(curves.pointKnots, termValue(strength, strengths[own])));
    ofRow.set(own, weights);
    return calibratedLogit(prepared, { scores, weights }, label[e], e);
  });
  const moved = rankOffsets ? movedByRank(rankedPairs(row, logits), logits, rankOffsets) : logits;
  return sharpness === undefined ? moved : excluding(pairs, rankedPairs(row, moved), moved, sharpness);
}

/** The chosen pairs of all blocks, and how many points there were. */
async function collect(
  { scores, labels, frequencies, blocks, wanted }: CalibrationData,
  options: WorkOptions,
): Promise<{ pairs: HeldOutPairs; points: number }> {
  const collector = new PairCollector(scores, labels, frequencies.labelCounts.length, wanted);
  const rows = Math.max(1, labels.rowStart.length - 1);
  let points = 0;
  for await (const block of blocks) {
    collector.add(block);
    points += block.rows.length;
    await yieldToHost(options, "scores", Math.min(1, points / rows));
  }
  const pairs = collector.finish();
  await yieldToHost(options, "calibration", 0);
  return { pairs, points };
}

interface BodyInputs {
  data: Omit<CalibrationData, "blocks">;
  pairs: HeldOutPairs;
  strength: Calibrator["strength"];
  from: Calibrator | undefined;
  /** The expected weights count for so many times the pairs. */
  share: number;
}

interface FittedBody extends Pick<Calibrator, "curves" | "labelOffsets" | "offsetVariance"> {
  /** Logits of the pairs, with the offset that the pairs of other points give a label. */
  logits: Float64Array;
  converged: boolean;
}

/** Curves by frequency and strength, and the offsets of the labels, in turn. */
async function fitBody(core: Core, inputs: BodyInputs, options: WorkOptions): Promise<FittedBody> {
  const { data, pairs, from, share } = inputs;
  const { curves: shape, places } = shapeOf(inputs);
  let round = 0;
  const between = (): Promise<void> => yieldToHost(options, "calibration", round / ROUNDS);
  await between();
  const search = new CurveFit(core, places, pairs, share);
  try {
    await between();
    const { labelCounts } = data.frequencies;
    const offsets = offsetFit(search.pairs, pairs, labelCounts, from);
    let weights = from?.curves.weights ?? atEveryKnot(naturalCurve(data.scores), shape);
    await between();
    search.expect(weights, offsets.ofPairs);
    await between();
    let logits: Float64Array = new Float64Array(0);
    let converged = true;
    for (; round < ROUNDS; round++) {
      const found = await search.fit(offsets.ofPairs, weights, between);
      weights = found.weights;
      converged &&= found.converged;
      logits = search.pairs.logits(weights);
      await offsets.fit(logits, between);
    }
    return {
      curves: { ...shape, weights },
      labelOffsets: offsets.ofLabels,
      offsetVariance: offsets.variance,
      logits: logits.map((z, e) => z + offsets.ofPairs[e]),
      converged,
    };
  } finally {
    search.free();
  }
}

/** Terms and knots, and where each pair stands among them. */
function shapeOf({ data, pairs, strength, from }: BodyInputs): {
  curves: Omit<BlendedCurves, "weights">;
  places: PairCurves;
} {
  const { labelCounts, points } = data.frequencies;
  const { label, signedWeight, row } = pairs;
  // A point left out still counts itself here: without, the count would tell where the label is.
  const labelLog = Float64Array.from(label, (k) => logFrequency(labelCounts[k], points));
  const strengths = pairs.strengths.map((mean) => termValue(strength, mean));
  const ofPositives = labelLog.filter((_, e) => signedWeight[e] > 0);
  const ofPoints = Float64Array.from(new Set(row), (i) => strengths[i]);
  const curves = from?.curves ?? {
    terms: termsOf(data.scores),
    labelKnots: knotsAmong(ofPositives, LABEL_QUANTILES, LABEL_GAP),
    pointKnots: knotsAmong(ofPoints, POINT_QUANTILES, POINT_GAP),
  };
  const { terms, labelKnots, pointKnots } = curves;
  const pointPlaces = strengths.map((value) => placeAmong(pointKnots, value));
  const places = {
    terms,
    labelGates: labelKnots.length,
    pointGates: pointKnots.length,
    labelPlace: labelLog.map((value) => placeAmong(labelKnots, value)),
    pointPlace: Float64Array.from(row, (i) => pointPlaces[i]),
  };
  return { curves, places };
}

function atEveryKnot(curve: Float64Array, { labelKnots, pointKnots }: Omit<BlendedCurves, "weights">): Float64Array {
  const out = new Float64Array(labelKnots.length * pointKnots.length * curve.length);
  return out.map((_, i) => curve[i % curve.length]);
}

/** The outer curve is fitted to the logits of pairs, near `from` or the identity. */
interface OuterInputs {
  pairs: HeldOutPairs;
  logits: Float64Array;
  from: Curve | undefined;
  share: number;
}

/** A curve of the logits near the identity. */
async function fitOuter(
  core: Core,
  { pairs, logits, from, share }: OuterInputs,
  options: WorkOptions,
): Promise<{ outer: Curve; logits: Float64Array; converged: boolean }> {
  const { terms, weights: expected } = from ?? { terms: OUTER_TERMS, weights: IDENTITY };
  const same = new Float64Array(logits.length);
  const places = { terms, labelGates: 1, pointGates: 1, labelPlace: same, pointPlace: same };
  const search = new CurveFit(core, places, { ...pairs, scores: [logits] }, share);
  try {
    search.expect(expected, same);
    const between = (): Promise<void> => yieldToHost(options, "calibration", 1);
    const { weights, converged } = await search.fit(same, expected, between);
    return { outer: { terms, weights }, logits: search.pairs.logits(weights), converged };
  } finally {
    search.free();
  }
}

/** The values that these shares of all lie below, each `gap` above the one before or left out; 0 where there are none. */
function knotsAmong(values: Float64Array, shares: readonly number[], gap: number): Float64Array {
  const sorted = values.slice().sort();
  const knots: number[] = [];
  for (const share of shares) {
    const knot = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    if (knots.length === 0 || knot >= (knots.at(-1) as number) + gap) knots.push(knot);
  }
  return Float64Array.from(knots);
}

/** Rounds of offsets and of their variance. */
const VARIANCE_ROUNDS = 5;
/** The variance to begin with, the least and the greatest. */
const VARIANCE = { begin: 0.25, least: 1e-3, most: 4 };
/** Parts of the points whose pairs take the offsets that the other parts give. */
const FOLDS = 10;

/**
 * Offsets of the labels that follow the logits of the curves, shrunk by as much as labels differ: a label with few positives stays
 * where its frequency puts it. The variance is found by expectation and maximisation.
 */
function offsetFit(
  search: ScorePairs,
  { row, label }: HeldOutPairs,
  labelCounts: ArrayLike<number>,
  earlier?: Pick<Calibrator, "labelOffsets" | "offsetVariance">,
) {
  const folds = Uint8Array.from(row, (i) => hashInteger(i, 2) % FOLDS);
  const mean: Float64Array = new Float64Array(labelCounts.length); // the offsets that are expected
  if (earlier) mean.set(earlier.labelOffsets.subarray(0, mean.length));
  /** Mean square of the offsets of labels that were seen, what is not known of each included. */
  const varianceOf = ({ offsets, variances }: FittedOffsets): number => {
    let [sum, count] = [0, 0];
    offsets.forEach((offset, k) => {
      if (labelCounts[k] === 0) return;
      sum += offset * offset + variances[k];
      count++;
    });
    return count === 0 ? VARIANCE.begin : Math.min(VARIANCE.most, Math.max(VARIANCE.least, sum / count));
  };
  return {
    /** The offset of each label, and their variance. */
    ofLabels: mean,
    variance: earlier?.offsetVariance ?? VARIANCE.begin,
    /** The offset of each pair, as the pairs of other points have it: what a pair helped to make would flatter it. */
    ofPairs: Float64Array.from(label, (k) => mean[k]),
    /** `pause` is between the parts of the work. */
    async fit(logits: Float64Array, pause: () => Promise<void>): Promise<void> {
      const find = async (takes?: (pair: number) => boolean): Promise<FittedOffsets> => {
        await pause();
        return search.labelOffsets(logits, { mean, variance: this.variance }, this.ofLabels, takes);
      };
      for (let round = 0; round < VARIANCE_ROUNDS; round++) {
        const found = await find();
        this.ofLabels = found.offsets;
        if (earlier) break;
        this.variance = varianceOf(found);
      }
      const ofFold: Float64Array[] = [];
      for (let f = 0; f < FOLDS; f++) ofFold.push((await find((pair) => folds[pair] !== f)).offsets);
      this.ofPairs = Float64Array.from(label, (k, e) => ofFold[folds[e]][k]);
    },
  };
}

/** The last ranks of groups that move together, from 1; labels beyond them stay where they are. */
const RANK_GROUPS: readonly number[] = [1, 2, 3, 4, 5, 10, 20];
/** Pull of each group's offset to 0. */
const RANK_RIDGE = 100;
const MOST_STEPS = 20;

/**
 * The winner's curse: the label that a point lists first is there for its luck as well, and comes true a little less often than its
 * score says. So a rank moves the logits [RANKS], by as much as these pairs show; a label never passes the one before it.
 */
export function fitRanks(
  { row, signedWeight }: Pick<HeldOutPairs, "row" | "signedWeight">,
  logits: Float64Array,
): { offsets: Float64Array; logits: Float64Array } {
  const ranked = rankedPairs(row, logits);
  const offsets = new Float64Array(RANKS);
  let first = 0;
  for (const last of RANK_GROUPS) {
    const members = ranked.flatMap((pairs) => pairs.slice(first, last));
    offsets.fill(groupOffset(members, signedWeight, logits), first, last);
    first = last;
  }
  return { offsets, logits: movedByRank(ranked, logits, offsets) };
}

const movedByRank = (ranked: number[][], logits: Float64Array, offsets: ArrayLike<number>): Float64Array =>
  byRow(ranked, logits, (own) => moveByRank(own, offsets));

/** The logits that each row's pairs have after a change of them all. */
function byRow(
  ranked: readonly number[][],
  logits: Float64Array,
  change: (own: number[], pairs: readonly number[]) => ArrayLike<number>,
): Float64Array {
  const out = logits.slice();
  for (const pairs of ranked) {
    const given = pairs.map((pair) => logits[pair]);
    const own = change(given, pairs);
    for (let i = 0; i < pairs.length; i++) out[pairs[i]] = own[i];
  }
  return out;
}

/** The pairs of each row, best first; of equals the first. */
function rankedPairs(row: Int32Array, logits: Float64Array): number[][] {
  const ofRow = new Map<number, number[]>();
  row.forEach((own, pair) => {
    const pairs = ofRow.get(own);
    if (pairs) pairs.push(pair);
    else ofRow.set(own, [pair]);
  });
  const byLogit = (a: number, b: number): number => logits[b] - logits[a] || a - b;
  return Array.from(ofRow.values(), (pairs) => pairs.sort(byLogit));
}

/** The one offset of all these logits with the least log loss, by Newton's method. */
function groupOffset(members: readonly number[], signedWeight: Float64Array, logits: Float64Array): number {
  let offset = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    let [gradient, curvature] = [RANK_RIDGE * offset, RANK_RIDGE];
    for (const pair of members) {
      const signed = signedWeight[pair];
      const weight = Math.abs(signed);
      const p = logistic(logits[pair] + offset);
      gradient += weight * (p - (signed > 0 ? 1 : 0));
      curvature += weight * p * (1 - p);
    }
    const move = gradient / curvature;
    offset -= move;
    if (Math.abs(move) < 1e-9) break;
  }
  return offset;
}

/** Logits are taken at their word as if by so many points. */
const WORD_POINTS = 20;
const LEAST_SHARPNESS = 0.05;

/** Logits of each row's pairs where exactly one label is true; a pair that stands for others counts as often in the sum. */
const excluding = (
  { signedWeight }: Pick<HeldOutPairs, "signedWeight">,
  ranked: readonly number[][],
  logits: Float64Array,
  sharpness: number,
): Float64Array =>
  byRow(ranked, logits, (given, pairs) => {
    const own = Float64Array.from(given);
    excludeOthers(own, sharpness, (i) => Math.abs(signedWeight[pairs[i]]));
    return own;
  });

/** The factor of logits with which their softmax has the least log loss of the true labels, by Newton's method. */
export function fitSharpness(
  pairs: Pick<HeldOutPairs, "row" | "signedWeight">,
  logits: Float64Array,
  expected = 1,
): { sharpness: number; logits: Float64Array } {
  const { row, signedWeight } = pairs;
  const ranked = rankedPairs(row, logits);
  let sharpness = expected;
  for (let step = 0; step < MOST_STEPS; step++) {
    let [gradient, curvature] = [WORD_POINTS * (sharpness - expected), WORD_POINTS];
    for (const own of ranked) {
      const truth = own.find((pair) => signedWeight[pair] > 0);
      if (truth === undefined) continue;
      let [total, mean, square] = [0, 0, 0];
      for (const pair of own) {
        const z = logits[pair] - logits[own[0]];
        const odds = Math.abs(signedWeight[pair]) * deterministicExp(sharpness * z);
        total += odds;
        mean += odds * z;
        square += odds * z * z;
      }
      mean /= total;
      gradient += mean - (logits[truth] - logits[own[0]]);
      curvature += square / total - mean * mean;
    }
    const next = Math.max(LEAST_SHARPNESS, sharpness - gradient / curvature);
    const moved = Math.abs(next - sharpness);
    sharpness = next;
    if (moved < 1e-9) break;
  }
  return { sharpness, logits: excluding(pairs, ranked, logits, sharpness) };
}
