// Calibration in blocks: probabilities of whole matrices of scores, and the sums a fit takes over pairs of a point and a
// label. assembly/calibrator.ts has the formulas.

import { sameSize, wholeNumber } from "./check.ts";
import type { Core, Precision } from "./core.ts";
import { ArgumentError } from "./errors.ts";
import { type Integers, integers, type Matrix, matrix, matrixFrom, Scope, scoped } from "./matrix.ts";
import { type ScoreTerm, TERM_SHAPES } from "./scoreterms.ts";
import { alike, areStarts, hasShape } from "./shapes.ts";

export type { ScoreTerm, TermShape } from "./scoreterms.ts";

/** The terms as the kernels read them. */
function termTables(core: Core, precision: Precision, terms: readonly ScoreTerm[], scope: Scope) {
  const kinds = integers(
    core,
    terms.flatMap(({ score, shape }) => [score, TERM_SHAPES.indexOf(shape)]),
  );
  const places = terms.flatMap(({ centre, width }) => [centre, 4 * width * width]);
  return {
    kinds: scope.keep(kinds),
    places: scope.keep(matrixFrom(core, 1, places.length, places, precision)),
  };
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

/** What calibrateScores() reads, and where it writes. */
export interface CalibrationArguments {
  /** One matrix [rows,K] for each score. */
  scores: readonly Matrix[];
  terms: readonly ScoreTerm[];
  /** Of each row and each gate of the labels: a constant and the weights of the terms. */
  weights: Float64Array; // [rows, gates, 1 + terms]
  gates: number;
  /** Of each label: its place among the gates, and the logit is shift + slope z. */
  place: ArrayLike<number>;
  slope: ArrayLike<number>;
  shift: ArrayLike<number>;
  /** Write logits: they rank as the probabilities do, and never tie at 1. */
  logit?: boolean;
  /** [rows,K]; may be one of the scores. */
  out: Matrix;
}

/** Probabilities (or logits) of a block of scores. */
export function calibrateScores(given: CalibrationArguments): Matrix {
  const { scores, terms, weights, gates, place, slope, shift, logit = false, out } = given;
  const { core, precision, rows, columns } = out;
  alike({ out, ...Object.fromEntries(scores.map((score, i) => [`scores[${i}]`, score])) });
  scores.forEach((score, i) => {
    hasShape(`scores[${i}]`, score, rows, columns);
  });
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
    core.kernels[precision].calibrate(
      rows,
      columns,
      scope.keep(integers(core, sources)).address,
      terms.length,
      kinds.address,
      places.address,
      gates,
      vector(weights),
      vector(place),
      vector(slope),
      vector(shift),
      logit,
      out.address,
      out.stride,
    );
    return out;
  });
}

/** Pairs of a point and a label, those of a label together. */
export interface PairArrays {
  /** Of each score, its value at each pair. */
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
  readonly #design: () => [number, number, number, number, number, number, number, number, number];

  constructor(core: Core, { terms, labelGates, pointGates, ...places }: PairCurves, given: PairArrays) {
    const { scores, labelStart, signedWeight } = given;
    checkTerms(terms, scores.length);
    this.core = core;
    this.labels = wholeNumber("labelStart", labelStart.length - 1, 0);
    this.pairs = labelStart[this.labels] as number;
    areStarts("labelStart", labelStart, this.labels, this.pairs);
    this.width = terms.length + 1;
    this.columns =
      this.width * wholeNumber("labelGates", labelGates, 1) * wholeNumber("pointGates", pointGates, 1);
    wholeNumber("parameters", this.columns, 1, MOST_COLUMNS);
    this.#count = this.pairs + (this.pairs % 2);
    const held = this.#scope.keep(matrix(core, scores.length, this.#count, "f64"));
    scores.forEach((values, i) => {
      this.#put(held.block(i, 0, 1, this.pairs), values);
    });
    const padded = (values: ArrayLike<number>): Matrix => {
      const vector = this.#scope.keep(matrix(core, 1, this.#count, "f64"));
      this.#put(vector.block(0, 0, 1, this.pairs), values);
      return vector;
    };
    this.#start = this.#scope.keep(integers(core, labelStart));
    this.#signedWeight = padded(signedWeight);
    const [labelPlace, pointPlace] = [padded(places.labelPlace), padded(places.pointPlace)];
    const table = termTables(core, "f64", terms, this.#scope);
    this.#design = () => [
      this.#count,
      held.address,
      terms.length,
      table.kinds.address,
      table.places.address,
      labelGates,
      pointGates,
      labelPlace.address,
      pointPlace.address,
    ];
  }

  #put(to: Matrix, values: ArrayLike<number>): void {
    sameSize("pairs", "elements", values.length, this.pairs);
    to.set(values);
  }

  /** Weighted loss of the logits offset + z, and its gradient. */
  loss(parameters: ArrayLike<number>, offsets: Float64Array): { value: number; gradient: Float64Array } {
    const sums = this.#statistics(parameters, offsets, [], 1 + this.columns);
    return { value: sums[0] as number, gradient: sums.slice(1) };
  }

  /** Curvature of the loss by some of the parameters, a lower triangle row by row: estimated from one pair of `stride`. */
  curvature(
    parameters: ArrayLike<number>,
    offsets: Float64Array,
    columns: readonly number[],
    stride = 1,
  ): Float64Array {
    for (const column of columns) wholeNumber("columns", column, 0, this.columns - 1);
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
    sameSize("parameters", "elements", parameters.length, this.columns);
    return scoped((scope) => {
      const out = scope.keep(matrix(core, core.kernels.pairTasks(this.#count), size, "f64"));
      const held = scope.keep(matrixFrom(core, 1, parameters.length, parameters, "f64"));
      const added = scope.keep(matrix(core, 1, this.#count, "f64"));
      this.#put(added.block(0, 0, 1, this.pairs), offsets);
      const chosen = scope.keep(integers(core, columns));
      core.kernels.pairStatistics(
        ...this.#design(),
        held.address,
        out.address,
        added.address,
        this.#signedWeight.address,
        chosen.address,
        columns.length,
        stride,
      );
      const written = out.view();
      const total = new Float64Array(size);
      for (let i = 0; i < written.length; i++)
        total[i % size] = (total[i % size] as number) + (written[i] as number);
      return total;
    });
  }

  /** z of every pair. */
  logits(parameters: ArrayLike<number>): Float64Array {
    const { core } = this;
    sameSize("parameters", "elements", parameters.length, this.columns);
    return scoped((scope) => {
      const z = scope.keep(matrix(core, 1, this.#count, "f64"));
      const held = scope.keep(matrixFrom(core, 1, parameters.length, parameters, "f64"));
      core.kernels.pairLogits(...this.#design(), held.address, z.address);
      return z.block(0, 0, 1, this.pairs).toArray() as Float64Array;
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
      core.kernels.labelOffsets(
        labels,
        this.#start.address,
        z.address,
        weight.address,
        1 / variance,
        vector(mean).address,
        offsets.address,
        variances.address,
      );
      return {
        offsets: offsets.toArray() as Float64Array,
        variances: variances.toArray() as Float64Array,
      };
    });
  }

  free(): void {
    this.#scope.free();
  }
}
