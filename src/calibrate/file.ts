// Calibrators and thresholds as parts of a model file: numbers as tensors by name, the rest as JSON. Reading checks everything,
// for a file may have been altered: whatever is accepted gives a number for every finite score.

import { type ScoreTerm, TERM_SHAPES } from "../core/scoreterms.ts";
import { FormatError, shownJson } from "../io/errors.ts";
import type { Tensor, TensorFile } from "../io/safetensors.ts";
import type { Cut, Thresholds } from "../metrics/cut.ts";
import type { Calibrator } from "./calibrator.ts";
import { RANKS } from "./ranks.ts";

/** Tensors and texts of one part of a file. */
export interface CalibrationPart {
  tensors: Map<string, Tensor>;
  metadata: Record<string, string>;
}

const MOST_SCORES = 8;
const MOST_TERMS = 64;
const MOST_KNOTS = 16;
const MOST_PRECISIONS = 64;
/** Numbers beyond it make no sense. */
const MOST = 1e6;
const LEAST_WIDTH = 1e-9;
/** Of a term's weight, where scores hardly differ: 64 such terms of 1e15, which is as far as a term goes, are still numbers. */
const MOST_WEIGHT = 1e12;

const doubles = (data: Float64Array, shape: number[]): Tensor => ({ dtype: "F64", shape, data });
const singles = (data: Float32Array, shape: number[]): Tensor => ({ dtype: "F32", shape, data });

/** A calibrator for a file. */
export function calibratorToPart(calibrator: Calibrator): CalibrationPart {
  const { scores, strength, curves, finish, labelOffsets, labelSlopes, centre, offsetVariance, rankOffsets } =
    calibrator;
  const { terms, labelKnots, pointKnots, weights } = curves;
  const tensors = new Map<string, Tensor>([
    ["calibrator.labelKnots", doubles(labelKnots, [labelKnots.length])],
    ["calibrator.pointKnots", doubles(pointKnots, [pointKnots.length])],
    ["calibrator.weights", doubles(weights, [labelKnots.length, pointKnots.length, 1 + terms.length])],
    ["calibrator.labelOffsets", doubles(labelOffsets, [labelOffsets.length])],
  ]);
  if (labelSlopes) tensors.set("calibrator.labelSlopes", doubles(labelSlopes, [labelSlopes.length]));
  if (finish) tensors.set("calibrator.finish", doubles(finish.weights, [finish.weights.length]));
  if (rankOffsets) tensors.set("calibrator.rankOffsets", doubles(rankOffsets, [rankOffsets.length]));
  const about = { scores, strength, terms, finishTerms: finish?.terms, centre, offsetVariance };
  return { tensors, metadata: { calibrator: JSON.stringify(about) } };
}

/** The calibrator of a file, for a model with so many labels, or undefined where there is none. */
export function calibratorFromPart(part: TensorFile, labels: number, file: string): Calibrator | undefined {
  if (part.metadata.calibrator === undefined) return undefined;
  const read = new PartReader(part, file);
  const about = read.json("calibrator");
  const scores = read.texts(about.scores, "scores", MOST_SCORES);
  const terms = read.terms(about.terms, "terms", scores.length);
  const strength = about.strength === undefined ? undefined : read.terms([about.strength], "strength", 1)[0];
  const labelKnots = read.knots("calibrator.labelKnots");
  const pointKnots = read.knots("calibrator.pointKnots");
  const shape = [labelKnots.length, pointKnots.length, 1 + terms.length];
  const weights = read.weights("calibrator.weights", shape);
  const finishTerms =
    about.finishTerms === undefined ? undefined : read.terms(about.finishTerms, "finishTerms", 1);
  return {
    scores,
    ...(strength && { strength }),
    curves: { terms, labelKnots, pointKnots, weights },
    labelOffsets: read.upTo("calibrator.labelOffsets", labels, "label"),
    ...(part.tensors.has("calibrator.labelSlopes") && {
      labelSlopes: read.upTo("calibrator.labelSlopes", labels, "label", -1),
      centre: read.number(about.centre, "centre", -MOST, MOST),
    }),
    offsetVariance: read.number(about.offsetVariance, "offsetVariance", 0, MOST),
    ...(finishTerms && {
      finish: { terms: finishTerms, weights: read.weights("calibrator.finish", [1 + finishTerms.length]) },
    }),
    ...(part.tensors.has("calibrator.rankOffsets") && {
      rankOffsets: read.upTo("calibrator.rankOffsets", RANKS, "rank"),
    }),
  };
}

/** Thresholds for a file. */
export function thresholdsToPart({ f1, expected, precisions }: Thresholds): CalibrationPart {
  const labels = f1.labels.length;
  const all = new Float32Array(precisions.length * labels);
  precisions.forEach(({ cut }, i) => {
    all.set(cut.labels, i * labels);
  });
  const about = {
    overall: f1.overall,
    expected,
    precisions: precisions.map(({ precision, cut }) => ({ precision, overall: cut.overall })),
  };
  return {
    tensors: new Map([
      ["thresholds.f1", singles(f1.labels, [labels])],
      ["thresholds.precisions", singles(all, [precisions.length, labels])],
    ]),
    metadata: { thresholds: JSON.stringify(about) },
  };
}

/** The thresholds of a file, for a model with so many labels, or undefined where there are none. */
export function thresholdsFromPart(part: TensorFile, labels: number, file: string): Thresholds | undefined {
  if (part.metadata.thresholds === undefined) return undefined;
  const read = new PartReader(part, file);
  const about = read.json("thresholds");
  const aims = read.list(about.precisions, "precisions", MOST_PRECISIONS);
  const fraction = (value: unknown, name: string): number => read.number(value, name, 0, 1);
  const all = read.fractions("thresholds.precisions", [aims.length, labels]);
  let before = 0;
  const precisions = aims.map((aim, i): { precision: number; cut: Cut } => {
    const precision = fraction(aim.precision, "precision");
    if (precision <= before) read.refuse("precisions that do not rise", "each above the one before");
    before = precision;
    const ofLabels = all.slice(i * labels, (i + 1) * labels);
    return { precision, cut: { overall: fraction(aim.overall, "overall"), labels: ofLabels } };
  });
  const expected = (about.expected ?? {}) as Record<string, unknown>;
  return {
    f1: {
      overall: fraction(about.overall, "overall"),
      labels: read.fractions("thresholds.f1", [labels]),
    },
    expected: {
      precision: fraction(expected.precision, "expected precision"),
      recall: fraction(expected.recall, "expected recall"),
      f1: fraction(expected.f1, "expected F1"),
    },
    precisions,
  };
}

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads and checks, and names what it refuses. */
class PartReader {
  readonly #part: TensorFile;
  readonly #file: string;

  constructor(part: TensorFile, file: string) {
    this.#part = part;
    this.#file = file;
  }

  refuse(found: string, expected: string): never {
    throw new FormatError(this.#file, found, expected);
  }

  json(name: string): Fields {
    try {
      const found: unknown = JSON.parse(this.#part.metadata[name] as string);
      if (isFields(found)) return found;
    } catch {
      // The same words for all that is no object.
    }
    return this.refuse(`metadata ${name} that is no JSON object`, "one");
  }

  number(value: unknown, name: string, least: number, most: number): number {
    if (typeof value === "number" && value >= least && value <= most) return value;
    return this.refuse(`${name} ${shownJson(value)}`, `a number from ${least} to ${most}`);
  }

  texts(value: unknown, name: string, most: number): string[] {
    const right =
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= most &&
      value.every((text) => typeof text === "string") &&
      new Set(value).size === value.length;
    return right ? (value as string[]) : this.refuse(`no right ${name}`, `1 to ${most} different names`);
  }

  list(value: unknown, name: string, most: number): Fields[] {
    const right = Array.isArray(value) && value.length <= most && value.every(isFields);
    return right ? (value as Fields[]) : this.refuse(`no right ${name}`, `a list of at most ${most}`);
  }

  terms(value: unknown, name: string, scores: number): ScoreTerm[] {
    return this.list(value, name, MOST_TERMS).map(({ score, shape, centre, width }) => {
      const known = TERM_SHAPES.find((one) => one === shape);
      if (!known) return this.refuse(`a term of shape ${shownJson(shape)}`, TERM_SHAPES.join(", "));
      const index = this.number(score, `score in ${name}`, 0, scores - 1);
      if (!Number.isInteger(index)) this.refuse(`score ${index} in ${name}`, "a whole number");
      const least = known === "linear" ? 0 : LEAST_WIDTH;
      return {
        score: index,
        shape: known,
        centre: this.number(centre, `centre in ${name}`, -MOST, MOST),
        width: this.number(width, `width in ${name}`, least, MOST),
      };
    });
  }

  /** A tensor of that type and shape. */
  #tensor<D extends "F64" | "F32">(name: string, dtype: D, shape: readonly number[] | undefined) {
    const tensor = this.#part.tensors.get(name);
    const sizes = JSON.stringify(tensor?.shape);
    if (tensor?.dtype !== dtype || (shape && sizes !== JSON.stringify(shape)))
      return this.refuse(
        tensor ? `tensor ${name} of ${tensor.dtype} ${sizes}` : `no tensor ${name}`,
        `${dtype} ${shape ? JSON.stringify(shape) : "of one dimension"}`,
      );
    return tensor as Extract<Tensor, { dtype: D }>;
  }

  #doubles(
    name: string,
    shape: readonly number[] | undefined,
    least: (index: number) => number,
    most: number = MOST,
  ): Float64Array {
    const { data } = this.#tensor(name, "F64", shape);
    data.forEach((value, i) => {
      if (!(value >= least(i) && value <= most))
        this.refuse(`${value} in ${name}`, `a number from ${least(i)} to ${most}`);
    });
    return data;
  }

  knots(name: string): Float64Array {
    const knots = this.#doubles(name, undefined, () => -MOST);
    const rising = knots.every((knot, i) => i === 0 || knot > (knots[i - 1] as number));
    if (knots.length < 1 || knots.length > MOST_KNOTS || !rising)
      this.refuse(`no right ${name}`, `1 to ${MOST_KNOTS} rising numbers`);
    return knots;
  }

  /** Constants, and weights of 0 or more behind each. */
  weights(name: string, shape: readonly number[]): Float64Array {
    const width = shape.at(-1) as number;
    return this.#doubles(name, shape, (i) => (i % width === 0 ? -MOST_WEIGHT : 0), MOST_WEIGHT);
  }

  /** A number for each label or rank, or for the first of them. */
  upTo(name: string, most: number, each: "label" | "rank", least: number = -MOST): Float64Array {
    const found = this.#doubles(name, undefined, () => least);
    return found.length <= most
      ? found
      : this.refuse(`${found.length} numbers in ${name}`, `at most ${most}, one for each ${each}`);
  }

  fractions(name: string, shape: readonly number[]): Float32Array {
    const { data } = this.#tensor(name, "F32", shape);
    if (!data.every((value) => value >= 0 && value <= 1))
      this.refuse(`a number in ${name} that is no threshold`, "numbers from 0 to 1");
    return data;
  }
}
