// Calibration in blocks: probabilities of whole matrices of scores, and the sums a fit takes over pairs of a point and a
// label. assembly/calibrator.ts has the formulas.

import { type ScoreTerm, TERM_SHAPES } from "../base/calibrator.ts";
import { sameSize, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import type { Core, Precision } from "./core.ts";
import { addresses, type Integers, integers, type Matrix, matrix, matrixFrom, Scope, scoped } from "./matrix.ts";
import { areStarts, compatible, hasShape } from "./shapes.ts";

export type { ScoreTerm, TermShape } from "../base/calibrator.ts";

/** The terms as the kernels read them. */
function termTables(core: Core, precision: Precision, terms: readonly ScoreTerm[], scope: Scope) {
  const kinds = integers(
    core,
    terms.flatMap(({ score, shape }) => [score, TERM_SHAPES.indexOf(shape)]),
  );
  const places = terms.flatMap(({ centre, width }) => [centre, 4 * width * width]);
  return { kinds: scope.keep(kinds), places: scope.keep(matrixFrom(core, 1, places.length, places, precision)) };
}

/** Terms of so many scores that a kernel can read. */
function checkTerms(terms: readonly ScoreTerm[], scores: number): void {
  for (const { score, shape, centre, width } of terms) {
    wholeNumber("terms", score, 0, scores - 1);
    const fits = Number.isFinite(centre) && Number.isFinite(width) && (shape === "linear" || width > 0);
    if (!TERM_SHAPES.includes(shape) || !fits)
      throw new ArgumentError(
        "terms",
        `found ${shape} at ${centre} of width ${width}, expected ${TERM_SHAPES.join(", ")} with a centre and a width above 0`,
      );
  }
}

/** Inputs and output of calibrateScores(). */
export interface CalibrationArguments {
  /** One matrix [rows,K] for each score. */
  scores: readonly Matrix[];
  terms: readonly ScoreTerm[];
  /** A constant and the weights of the terms, for each row and each gate of the labels. */
  weights: Float64Array; // [rows, gates, 1 + terms]
  gates: number;
  /** A label's place among the gates, and the logit is shift + slope z; a slope of 1 if not given. */
  place: ArrayLike<number>;
  slope?: ArrayLike<number>;
  shift: ArrayLike<number>;
  /** Write logits: they rank as the probabilities do, and never tie at 1. */
  logit?: boolean;
  /** [rows,K]; may be one of the scores. */
  out: Matrix;
}

/** Probabilities (or logits) of a block of scores. */
export function calibrateScores(given: CalibrationArguments): Matrix {
  const { scores, terms, weights, gates, place, shift, logit = false, out } = given;
  const slope = given.slope ?? new Float64Array(place.length).fill(1);
  const { core, precision, rows, columns } = out;
  compatible({ out, ...Object.fromEntries(scores.map((score, i) => [`scores[${i}]`, score])) });
  for (const [i, score] of scores.entries()) hasShape({ [`scores[${i}]`]: score }, rows, columns);
  checkTerms(terms, scores.length);
  wholeNumber("gates", gates, 1);
  sameSize("weights", "elements", weights.length, rows * gates * (1 + terms.length));
  for (const [name, values] of Object.entries({ place, slope, shift }))
    sameSize(name, "elements", values.length, columns);
  return scoped((scope) => {
    const vector = (values: ArrayLike<number>) =>
      scope.keep(matrixFrom(core, 1, values.length, values, precision)).address;
    const sources = scores.flatMap(({ address, stride }) => [address | 0, stride]);
    const { kinds, places } = termTables(core, precision, terms, scope);
    const tables = addresses(kinds, places);
    const ofLabels = [vector(place), vector(slope), vector(shift)] as const;
    const blend = [gates, vector(weights), ...ofLabels, logit] as const;
    const sourced = scope.keep(integers(core, sources)).address;
    out.kernels.calibrate(rows, columns, sourced, terms.length, ...tables, ...blend, ...out.strided);
    return out;
  });
}

/** Pairs of a point and a label, those of a label together. */
export interface PairArrays {
  /** Values of each score at the pairs. */
  scores: readonly ArrayLike<number>[];
  /** Pairs of label k are labelStart[k] to labelStart[k + 1]. */
  labelStart: Int32Array; // [K + 1]
  /** Weight of each pair: above 0 where the label is present, below where it is absent. */
  signedWeight: ArrayLike<number>;
}

/** The curves to blend: their terms, and the place of each pair among the gates of labels and of points. */
export interface PairCurves {
  terms: readonly ScoreTerm[];
  labelGates: number;
  pointGates: number;
  labelPlace: ArrayLike<number>;
  pointPlace: ArrayLike<number>;
}

/** Offsets of labels with their variances by the curvature of the loss. */
export interface FittedOffsets {
  offsets: Float64Array; // [K]
  variances: Float64Array; // [K]
}

const doubles = (values: Matrix): Float64Array => values.toArray() as Float64Array;

/** So many columns have their sums in the memory of a thread. */
const MOST_COLUMNS = 500;

/** Pairs in the memory of a core. Parameters: for each gate of the labels, for each of the points, a constant and a weight a term. */
export class ScorePairs {
  readonly core: Core;
  readonly pairs: number;
  readonly labels: number;
  /** Parameters of one curve, and of all. */
  readonly width: number;
  readonly columns: number;
  readonly #scope = new Scope();
  /** Pads the pairs to an even number. */
  readonly #count: number;
  readonly #start: Integers;
  readonly #signedWeight: Matrix;
  /** First arguments of every kernel over pairs. */
  readonly #design: () => [number, number, number, number, number, number, number];

  constructor(core: Core, { terms, labelGates, pointGates, ...places }: PairCurves, given: PairArrays) {
    const { scores, labelStart, signedWeight } = given;
    checkTerms(terms, scores.length);
    this.core = core;
    this.labels = wholeNumber("labelStart", labelStart.length - 1, 0);
    this.pairs = labelStart[this.labels];
    areStarts("labelStart", labelStart, this.labels, this.pairs);
    this.width = terms.length + 1;
    this.columns = this.width * wholeNumber("labelGates", labelGates, 1) * wholeNumber("pointGates", pointGates, 1);
    wholeNumber("parameters", this.columns, 1, MOST_COLUMNS);
    this.#count = this.pairs + (this.pairs % 2);
    this.#start = this.#scope.keep(integers(core, labelStart));
    this.#signedWeight = this.#padded(signedWeight, this.#scope);
    const labelPlace = this.#padded(places.labelPlace, this.#scope);
    const pointPlace = this.#padded(places.pointPlace, this.#scope);
    const values = this.#termsOf(scores, terms);
    this.#design = () => {
      const sizes = [terms.length, values.address, labelGates, pointGates] as const;
      return [this.#count, ...sizes, ...addresses(labelPlace, pointPlace)];
    };
  }

  /** The terms of every pair [terms, pairs]. */
  #termsOf(scores: PairArrays["scores"], terms: readonly ScoreTerm[]): Matrix {
    const { core } = this;
    const out = this.#scope.keep(matrix(core, terms.length, this.#count, "f64"));
    return scoped((scope) => {
      const held = scope.keep(matrix(core, scores.length, this.#count, "f64"));
      for (const [i, values] of scores.entries()) this.#put(held.rowRange(i, i + 1), values);
      const { kinds, places } = termTables(core, "f64", terms, scope);
      core.kernels.pairTerms(this.#count, held.address, terms.length, ...addresses(kinds, places), out.address);
      return out;
    });
  }

  #put(row: Matrix, values: ArrayLike<number>): Matrix {
    sameSize("pairs", "elements", values.length, this.pairs);
    row.block(0, 0, 1, this.pairs).set(values);
    return row;
  }

  /** A number for each pair, padded. */
  #padded(values: ArrayLike<number>, scope: Scope): Matrix {
    return this.#put(scope.keep(matrix(this.core, 1, this.#count, "f64")), values);
  }

  #parameters(values: ArrayLike<number>, scope: Scope): Matrix {
    sameSize("parameters", "elements", values.length, this.columns);
    return scope.keep(matrixFrom(this.core, 1, values.length, values, "f64"));
  }

  /** Weighted loss of the logits offset + z, and its gradient. */
  loss(parameters: ArrayLike<number>, offsets: Float64Array): { value: number; gradient: Float64Array } {
    const sums = this.#statistics(parameters, offsets, [], 1 + this.columns);
    return { value: sums[0], gradient: sums.slice(1) };
  }

  /** Curvature of the loss by some of the parameters, rising, a lower triangle row by row: estimated from one pair of `stride`. */
  curvature(
    parameters: ArrayLike<number>,
    offsets: Float64Array,
    columns: readonly number[],
    stride = 1,
  ): Float64Array {
    columns.forEach((column, i) => {
      wholeNumber("columns", column, i === 0 ? 0 : columns[i - 1] + 1, this.columns - 1);
    });
    const size = (columns.length * (columns.length + 1)) / 2;
    if (size === 0) return new Float64Array(0);
    const sums = this.#statistics(parameters, offsets, columns, size, wholeNumber("stride", stride, 1));
    return sums.map((sum) => sum * stride);
  }

  /** Sums over all pairs: each task's own, added in the order of the tasks whatever the number of threads. */
  #statistics(
    parameters: ArrayLike<number>,
    offsets: Float64Array,
    columns: readonly number[],
    size: number,
    stride = 1,
  ): Float64Array {
    const { core } = this;
    return scoped((scope) => {
      const out = scope.keep(matrix(core, core.kernels.pairTasks(this.#count), size, "f64"));
      const added = this.#padded(offsets, scope);
      const chosen = scope.keep(integers(core, columns));
      const held = addresses(this.#parameters(parameters, scope), out, added, this.#signedWeight, chosen);
      core.kernels.pairStatistics(...this.#design(), ...held, columns.length, stride);
      const written = out.view();
      const total = new Float64Array(size);
      for (let i = 0; i < written.length; i++) total[i % size] += written[i];
      return total;
    });
  }

  /** z of every pair. */
  logits(parameters: ArrayLike<number>): Float64Array {
    const { core } = this;
    return scoped((scope) => {
      const z = scope.keep(matrix(core, 1, this.#count, "f64"));
      core.kernels.pairLogits(...this.#design(), ...addresses(this.#parameters(parameters, scope), z));
      return doubles(z.block(0, 0, 1, this.pairs));
    });
  }

  /**
   * The offset of each label beside these logits, expected near `mean` with this variance, from the pairs that
   * `takes` names (default all); the search begins at `begin`.
   */
  labelOffsets(
    logits: Float64Array,
    { mean, variance }: { mean: Float64Array; variance: number },
    begin: Float64Array,
    takes?: (pair: number) => boolean,
  ): FittedOffsets {
    const { core, labels } = this;
    sameSize("logits", "elements", logits.length, this.pairs);
    return scoped((scope) => {
      const z = scope.keep(matrixFrom(core, 1, this.pairs, logits, "f64"));
      const vector = (values: ArrayLike<number>) => scope.keep(matrixFrom(core, 1, labels, values, "f64"));
      const [offsets, variances] = [vector(begin), vector(begin)];
      const weight = takes ? scope.keep(matrix(core, 1, this.#count, "f64")) : this.#signedWeight;
      if (takes) {
        const all = this.#signedWeight.view();
        weight.set(all.map((own, pair) => (takes(pair) ? own : 0)));
      }
      const given = addresses(this.#start, z, weight);
      const found = addresses(vector(mean), offsets, variances);
      core.kernels.labelOffsets(labels, ...given, 1 / variance, ...found);
      return { offsets: doubles(offsets), variances: doubles(variances) };
    });
  }

  free(): void {
    this.#scope.free();
  }
}
