// Fits a calibrator to scores that were made without their points' labels: the curves and the offsets of the labels in turn,
// these shrunk by as much as labels differ; then the finish, and offsets of ranks. Everything is summed in a fixed order: the
// same scores give the same calibrator in every runtime and on any number of threads.

import type { PairCurves } from "../core/calibrator.ts";
import type { Core } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import type { Lists } from "../core/pattern.ts";
import { pause, type WorkOptions } from "../core/progress.ts";
import type { BlendedCurves, Calibrator, Curve, LabelFrequencies } from "./calibrator.ts";
import { CurveFit } from "./curvefit.ts";
import { knotsAmong, placeAmong, termValue } from "./curves.ts";
import { logFrequency, logistic } from "./forward.ts";
import { OffsetFit } from "./offsets.ts";
import { type HeldOutBlock, type HeldOutPairs, PairCollector } from "./pairs.ts";
import { fitRanks } from "./ranks.ts";
import { FINISH_TERMS, IDENTITY, naturalCurve, strengthOf, termsOf } from "./terms.ts";

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

/** Scores whose first labels are surer than they come true; with a closed form beside them the curves see to it. */
const LUCKY = "utility";
/** Rounds of curves and offsets: at the third the loss moves in the sixth place. */
const ROUNDS = 3;
/** Curves stand where these shares of all positives have rarer labels, and where these shares of the points are weaker. */
const LABEL_QUANTILES: readonly number[] = [0.05, 0.5, 0.95];
const POINT_QUANTILES: readonly number[] = [0.01, 0.99];
/** Least distance of knots. */
const LABEL_GAP = 0.5;
const POINT_GAP = 0.1;
/** What an earlier calibrator counts for at a refit, in points. */
const EARLIER_POINTS = 200;
/** Without one, up to so many points the scores at their word count for as many; beyond, for less and less. */
const NATURAL_POINTS = 20;

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
  const natural = NATURAL_POINTS / Math.max(1, points);
  const share = from ? EARLIER_POINTS / Math.max(1, points) : natural * Math.min(1, natural);
  const strength = from ? from.strength : strengthOf(scores);
  const body = await fitBody(core, { data, pairs, strength, from, share }, options);
  const end = await fitFinish(core, { pairs, logits: body.logits, from: from?.finish, share }, options);
  const ranks = scores.join() === LUCKY ? fitRanks(pairs, end.logits) : undefined;
  const { curves, labelOffsets, offsetVariance } = body;
  return {
    calibrator: {
      scores,
      ...(strength && { strength }),
      curves,
      labelOffsets,
      offsetVariance,
      finish: end.finish,
      ...(ranks && { rankOffsets: ranks.offsets }),
    },
    pairs,
    probabilities: (ranks ?? end).logits.map(logistic),
    converged: body.converged && end.converged,
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

/** What curves and offsets are fitted on. */
interface BodyInputs {
  data: CalibrationData;
  pairs: HeldOutPairs;
  strength: Calibrator["strength"];
  from: Calibrator | undefined;
  /** What is expected counts for so many times the pairs. */
  share: number;
}

interface FittedBody extends Pick<Calibrator, "curves" | "labelOffsets" | "offsetVariance"> {
  /** Of each pair, with the offset that the pairs of other points give its label. */
  logits: Float64Array;
  converged: boolean;
}

/** Curves by frequency and strength, and the offsets of the labels, in turn. */
async function fitBody(core: Core, inputs: BodyInputs, options: WorkOptions): Promise<FittedBody> {
  const { data, pairs, from, share } = inputs;
  const { curves: shape, places } = shapeOf(inputs);
  const search = new CurveFit(core, places, pairs, share);
  try {
    const { labelCounts } = data.frequencies;
    const offsets = new OffsetFit(search.pairs, pairs, labelCounts, from);
    let weights = from?.curves.weights ?? atEveryKnot(naturalCurve(data.scores), shape);
    search.expect(weights, offsets.ofPairs);
    let logits: Float64Array = new Float64Array(0);
    let converged = true;
    for (let round = 0; round < ROUNDS; round++) {
      const between = (): Promise<void> => pause(options, "calibration", round / ROUNDS);
      const found = await search.fit(offsets.ofPairs, weights, between);
      weights = found.weights;
      converged &&= found.converged;
      logits = search.pairs.logits(weights);
      offsets.fit(logits);
    }
    return {
      curves: { ...shape, weights },
      labelOffsets: offsets.ofLabels,
      offsetVariance: offsets.variance,
      logits: logits.map((z, e) => z + (offsets.ofPairs[e] as number)),
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
  const labelLog = Float64Array.from(label, (k) => logFrequency(labelCounts[k] as number, points));
  const strengths = pairs.strengths.map((mean) => (strength ? termValue(strength, mean) : 0));
  const curves = from?.curves ?? {
    terms: termsOf(data.scores),
    labelKnots: knotsAmong(
      labelLog.filter((_, e) => (signedWeight[e] as number) > 0),
      LABEL_QUANTILES,
      LABEL_GAP,
    ),
    pointKnots: knotsAmong(
      Float64Array.from(new Set(row), (i) => strengths[i] as number),
      POINT_QUANTILES,
      POINT_GAP,
    ),
  };
  const { terms, labelKnots, pointKnots } = curves;
  const pointPlaces = strengths.map((value) => placeAmong(pointKnots, value));
  const places = {
    terms,
    labelGates: labelKnots.length,
    pointGates: pointKnots.length,
    labelPlace: labelLog.map((value) => placeAmong(labelKnots, value)),
    pointPlace: Float64Array.from(row, (i) => pointPlaces[i] as number),
  };
  return { curves, places };
}

/** The same curve at every knot. */
function atEveryKnot(
  curve: Float64Array,
  { labelKnots, pointKnots }: Omit<BlendedCurves, "weights">,
): Float64Array {
  const out = new Float64Array(labelKnots.length * pointKnots.length * curve.length);
  return out.map((_, i) => curve[i % curve.length] as number);
}

/** What the finish is fitted on: the logits of pairs, and the finish expected, if not the identity. */
interface FinishInputs {
  pairs: HeldOutPairs;
  logits: Float64Array;
  from: Curve | undefined;
  share: number;
}

/** A curve of the logits near the identity. */
async function fitFinish(
  core: Core,
  { pairs, logits, from, share }: FinishInputs,
  options: WorkOptions,
): Promise<{ finish: Curve; logits: Float64Array; converged: boolean }> {
  const { terms, weights: expected } = from ?? { terms: FINISH_TERMS, weights: IDENTITY };
  const same = new Float64Array(logits.length);
  const places = { terms, labelGates: 1, pointGates: 1, labelPlace: same, pointPlace: same };
  const search = new CurveFit(core, places, { ...pairs, scores: [logits] }, share);
  try {
    search.expect(expected, same);
    const between = (): Promise<void> => pause(options, "calibration", 1);
    const { weights, converged } = await search.fit(same, expected, between);
    return { finish: { terms, weights }, logits: search.pairs.logits(weights), converged };
  } finally {
    search.free();
  }
}
