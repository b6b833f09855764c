// Calibrators and thresholds in a file: numbers as tensors by name, the rest as JSON. Reading checks everything, for a file may have
// been altered: an accepted calibrator gives a number for every finite score.

import { type Calibrator, type ScoreTerm, TERM_SHAPES } from "../base/calibrator.ts";
import type { Guarantee, Guarantees, Thresholds } from "../base/prediction.ts";
import type { Tensor } from "../base/safetensors.ts";
import { type Fields, realTensor, type TensorReader } from "../base/tensors.ts";
import { RANKS } from "./forward.ts";

export interface CalibrationFile {
  tensors: Map<string, Tensor>;
  metadata: Record<string, string>;
}

const MOST_TERMS = 64;
const MOST_KNOTS = 16;
const MOST_GUARANTEES = 64;
/** Numbers beyond it make no sense. */
const MOST = 1e6;
const LEAST_WIDTH = 1e-9;
/** Weight of a basis function, where scores hardly differ: 64 such terms of 1e15, which is as far as one goes, are still numbers. */
const MOST_WEIGHT = 1e12;

export function calibratorToFile(calibrator: Calibrator): CalibrationFile {
  const { scores, strength, curves, outer, labelOffsets, offsetVariance, rankOffsets, sharpness } = calibrator;
  const { terms, labelKnots, pointKnots, weights } = curves;
  const tensors = new Map<string, Tensor>([
    ["calibrator.labelKnots", realTensor(labelKnots)],
    ["calibrator.pointKnots", realTensor(pointKnots)],
    ["calibrator.weights", realTensor(weights, [labelKnots.length, pointKnots.length, 1 + terms.length])],
    ["calibrator.labelOffsets", realTensor(labelOffsets)],
    ["calibrator.outer", realTensor(outer.weights)],
  ]);
  if (rankOffsets) tensors.set("calibrator.rankOffsets", realTensor(rankOffsets));
  const about = { scores, strength, terms, outerTerms: outer.terms, offsetVariance, sharpness };
  return { tensors, metadata: { calibrator: JSON.stringify(about) } };
}

/** The calibrator of a file that has one, for a model of so many labels whose parts give these scores. */
export function calibratorFromFile(file: TensorReader, labels: number, scores: readonly string[]): Calibrator {
  const about = file.object("calibrator");
  if (JSON.stringify(about.scores) !== JSON.stringify(scores))
    file.refuse("a calibrator of other scores", `one of ${scores.join(", ")}`);
  const reader = file.section("calibrator");
  const terms = termsFrom(reader, about, "terms", scores.length);
  const outerTerms = termsFrom(reader, about, "outerTerms", 1);
  const [strength] = termsFrom(reader, { strength: [about.strength] }, "strength", 1);
  const [labelKnots, pointKnots] = [knots(reader, "labelKnots"), knots(reader, "pointKnots")];
  const shape = [labelKnots.length, pointKnots.length, 1 + terms.length];
  return {
    scores,
    strength,
    curves: { terms, labelKnots, pointKnots, weights: weightsFrom(reader, "weights", shape) },
    labelOffsets: upTo(reader, "labelOffsets", labels, "label"),
    offsetVariance: reader.number(about, "offsetVariance", 0, MOST),
    outer: { terms: outerTerms, weights: weightsFrom(reader, "outer", [1 + outerTerms.length]) },
    ...(about.sharpness !== undefined && { sharpness: reader.number(about, "sharpness", LEAST_WIDTH, MOST) }),
    ...(reader.has("rankOffsets") && { rankOffsets: upTo(reader, "rankOffsets", RANKS, "rank") }),
  };
}

function termsFrom(reader: TensorReader, about: Fields, name: string, scores: number): ScoreTerm[] {
  return reader.objects(about, name, MOST_TERMS).map((term) => {
    const shape = reader.word(term, "shape", TERM_SHAPES);
    return {
      score: reader.integer(term, "score", 0, scores - 1),
      shape,
      centre: reader.number(term, "centre", -MOST, MOST),
      width: reader.number(term, "width", shape === "linear" ? 0 : LEAST_WIDTH, MOST),
    };
  });
}

function knots(reader: TensorReader, name: string): Float64Array {
  const found = reader.within(name, reader.doubles(name, [-1]), -MOST, MOST);
  const rising = found.every((knot, i) => i === 0 || knot > found[i - 1]);
  if (found.length > MOST_KNOTS || !rising)
    reader.refuse(`no right calibrator.${name}`, `1 to ${MOST_KNOTS} rising numbers`);
  return found;
}

/** Constants, and weights of 0 or more behind each. */
function weightsFrom(reader: TensorReader, name: string, shape: readonly number[]): Float64Array {
  const width = shape.at(-1) as number;
  const weights = reader.within(name, reader.doubles(name, shape), -MOST_WEIGHT, MOST_WEIGHT);
  if (weights.some((weight, i) => weight < 0 && i % width !== 0))
    reader.refuse(`a weight in calibrator.${name} below 0`, "weights of 0 or more");
  return weights;
}

/** A number for each label or rank, or for the first of them. */
function upTo(reader: TensorReader, name: string, most: number, each: "label" | "rank"): Float64Array {
  const [count] = reader.shape(name, 1);
  if (count > most) reader.refuse(`${count} numbers in calibrator.${name}`, `at most ${most}, one for each ${each}`);
  return reader.within(name, reader.doubles(name, [count]), -MOST, MOST);
}

export function thresholdsToFile({ f1, macroF1, expected, guarantees }: Thresholds): CalibrationFile {
  return {
    tensors: new Map([
      ["thresholds.f1", realTensor(f1.labels)],
      ["thresholds.macroF1", realTensor(macroF1)],
    ]),
    metadata: { thresholds: JSON.stringify({ overall: f1.overall, expected, guarantees }) },
  };
}

/** The thresholds of a file, for a model with so many labels. */
export function thresholdsFromFile(file: TensorReader, labels: number): Thresholds {
  const about = file.object("thresholds");
  const reader = file.section("thresholds");
  const fractions = (name: string): Float32Array => reader.within(name, reader.singles(name, [labels]), 0, 1);
  const expected = Object(about.expected) as Fields;
  return {
    f1: { overall: reader.number(about, "overall", 0, 1), labels: fractions("f1") },
    macroF1: fractions("macroF1"),
    expected: {
      precision: reader.number(expected, "precision", 0, 1),
      recall: reader.number(expected, "recall", 0, 1),
      f1: reader.number(expected, "f1", 0, 1),
    },
    guarantees: guaranteesFrom(reader, Object(about.guarantees) as Fields),
  };
}

function guaranteesFrom(reader: TensorReader, about: Fields): Guarantees {
  const all = (name: "recall" | "precision"): Guarantee[] =>
    reader.objects(about, name, MOST_GUARANTEES).map((each) => ({
      target: reader.number(each, "target", 0, 1),
      ...(each.confidence !== undefined && { confidence: reader.number(each, "confidence", 0, 1) }),
      threshold: reader.number(each, "threshold", 0, 1),
    }));
  const curve = Object(about.expectedRecall) as Fields;
  return {
    evidence: reader.word(about, "evidence", ["held-out", "leave-one-out"]),
    rows: reader.integer(about, "rows", 0),
    recall: all("recall"),
    precision: all("precision"),
    expectedRecall: {
      rest: reader.number(curve, "rest", LEAST_WIDTH, MOST),
      intercept: reader.number(curve, "intercept", -MOST, MOST),
      slope: reader.number(curve, "slope", -MOST, MOST),
    },
  };
}
