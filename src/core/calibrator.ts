// Calibration in blocks: probabilities of whole matrices of scores, and the sums a fit takes over pairs of a point and a
// label.

import { sameSize, wholeNumber } from "./check.ts";
import type { Core, Precision } from "./core.ts";
import { ArgumentError } from "./errors.ts";
import { type Integers, integers, type Matrix, matrix, matrixFrom, Scope, scoped } from "./matrix.ts";
import { alike, hasShape, isVector } from "./shapes.ts";

/** Rising functions of x = score - centre: x, a soft positive part of x (its corner of this width), the log of that. */
export type TermShape = "linear" | "hinge" | "log";

/** One function of one score. */
export interface ScoreTerm {
  /** Which of the scores. */
  readonly score: number;
  readonly shape: TermShape;
  readonly centre: number;
  /** Above 0; a linear term has none and says 0. */
  readonly width: number;
}

const SHAPES: readonly TermShape[] = ["linear", "hinge", "log"];

/** The terms as the kernels read them. */
function termTables(core: Core, precision: Precision, terms: readonly ScoreTerm[], scope: Scope) {
  const kinds = integers(
    core,
    terms.flatMap(({ score, shape }) => [score, SHAPES.indexOf(shape)]),
  );
  const places = terms.flatMap(({ centre, width }) => [centre, 4 * width * width]);
  return {
    kinds: scope.keep(kinds),
    places: scope.keep(matrixFrom(core, 1, places.length, places, precision)),
  };
}

function checkTerms(terms: readonly ScoreTerm[], scores: number): void {
  for (const { score, shape, centre, width } of terms) {
    wholeNumber("terms", score, 0, scores - 1);
    const fits = Number.isFinite(centre) && Number.isFinite(width) && (shape === "linear" || width > 0);
    if (!SHAPES.includes(shape) || !fits)
      throw new ArgumentError(
        "terms",
        `found ${shape} at ${centre} of width ${width}, expected ${SHAPES.join(", ")} with a centre and a width above 0`,
      );
  }
}

/** What calibrateScores() reads, and where it writes. */
export interface CalibrationArguments {
  /** One matrix [rows,K] for each score. */
  scores: readonly Matrix[];
  terms: readonly ScoreTerm[];
  /** Of each term. */
  weights: ArrayLike<number>;
  /** What is added to z for each row and each label. */
  point: ArrayLike<number>;
  label: ArrayLike<number>;
  /** The logit is shift + slope z, for each label. */
  slope: ArrayLike<number>;
  shift: ArrayLike<number>;
  /** Write logits: they rank as the probabilities do, and never tie at 1. */
  logit?: boolean;
  /** [rows,K]; may be one of the scores. */
  out: Matrix;
}

/** Probabilities (or logits) of a block of scores. */
export function calibrateScores(given: CalibrationArguments): Matrix {
  const { scores, terms, weights, point, label, slope, shift, logit = false, out } = given;
  const { core, precision, rows, columns } = out;
  alike({ out, ...Object.fromEntries(scores.map((score, i) => [`scores[${i}]`, score])) });
  scores.forEach((score, i) => {
    hasShape(`scores[${i}]`, score, rows, columns);
  });
  checkTerms(terms, scores.length);
  sameSize("weights", "elements", weights.length, terms.length);
  sameSize("point", "elements", point.length, rows);
  for (const [name, values] of Object.entries({ label, slope, shift }))
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
      vector(weights),
      vector(point),
      vector(label),
      vector(slope),
      vector(shift),
      logit,
      out.address,
      out.stride,
    );
    return out;
  });
}

/** Loss of some parameters over the pairs, with its derivatives. */
export interface PairStatistics {
  loss: number;
  gradient: Float64Array; // [J]
  /** Lower triangle row by row, where asked for. */
  curvature: Float64Array; // [J (J + 1) / 2]
}

/** Pairs of a point and a label, those of a label together. */
export interface PairArrays {
  /** Of each score, its value at each pair. */
  scores: readonly ArrayLike<number>[];
  /** Pairs of label k are labelStart[k] to labelStart[k + 1]. */
  labelStart: Int32Array; // [K + 1]
  /** log v of the point of each pair. */
  pointLog: ArrayLike<number>;
  /** Weight of each pair: above 0 where the label is present, below where it is absent. */
  signedWeight: ArrayLike<number>;
  /** Log frequency of each label. */
  labelLog: ArrayLike<number>; // [K]
}

/** Pairs in the memory of a core, with the terms of a calibrator. Parameters: intercept, a weight a term, frequency, variance. */
export class ScorePairs {
  readonly core: Core;
  readonly pairs: number;
  readonly labels: number;
  readonly columns: number; // J
  readonly #terms: number;
  readonly #scope = new Scope();
  /** Pads the pairs to an even number. */
  readonly #count: number;
  readonly #scores: Matrix;
  readonly #label: Integers;
  readonly #start: Integers;
  readonly #pointLog: Matrix;
  readonly #labelLog: Matrix;
  readonly #signedWeight: Matrix;
  readonly #kinds: Integers;
  readonly #places: Matrix;

  constructor(core: Core, terms: readonly ScoreTerm[], given: PairArrays) {
    const { scores, labelStart, pointLog, signedWeight, labelLog } = given;
    checkTerms(terms, scores.length);
    this.core = core;
    this.labels = labelStart.length - 1;
    this.pairs = labelStart[this.labels] as number;
    this.columns = terms.length + 3;
    this.#terms = terms.length;
    this.#count = this.pairs + (this.pairs % 2);
    for (const values of [...scores, pointLog, signedWeight])
      sameSize("pairs", "elements", values.length, this.pairs);
    sameSize("labelLog", "elements", labelLog.length, this.labels);
    const keep = this.#scope;
    this.#scores = keep.keep(matrix(core, scores.length, this.#count, "f64"));
    scores.forEach((values, i) => {
      this.#scores.block(i, 0, 1, this.pairs).set(values);
    });
    this.#label = keep.keep(integers(core, this.#count));
    const label = this.#label.view();
    for (let k = 0; k < this.labels; k++) label.fill(k, labelStart[k] as number, labelStart[k + 1] as number);
    const padded = (values: ArrayLike<number>): Matrix => {
      const held = keep.keep(matrix(core, 1, this.#count, "f64"));
      held.block(0, 0, 1, this.pairs).set(values);
      return held;
    };
    this.#start = keep.keep(integers(core, labelStart));
    this.#pointLog = padded(pointLog);
    this.#signedWeight = padded(signedWeight);
    this.#labelLog = keep.keep(matrixFrom(core, 1, this.labels, labelLog, "f64"));
    const { kinds, places } = termTables(core, "f64", terms, keep);
    this.#kinds = kinds;
    this.#places = places;
  }

  #design(): [number, number, number, number, number, number, number, number] {
    return [
      this.#count,
      this.#scores.address,
      this.#terms,
      this.#kinds.address,
      this.#places.address,
      this.#label.address,
      this.#pointLog.address,
      this.#labelLog.address,
    ];
  }

  /** The weighted loss with logits shift_k + slope_k z. Summed in one order whatever the number of threads. */
  statistics(
    parameters: ArrayLike<number>,
    effects: { slope: ArrayLike<number>; shift: ArrayLike<number> },
    curvature: boolean,
  ): PairStatistics {
    const { core, columns } = this;
    sameSize("parameters", "elements", parameters.length, columns);
    for (const [name, values] of Object.entries(effects))
      sameSize(name, "elements", values.length, this.labels);
    const size = core.kernels.pairStatisticsSize(this.#terms);
    const tasks = core.kernels.pairTasks(this.#count);
    const sums = scoped((scope) => {
      const vector = (values: ArrayLike<number>) =>
        scope.keep(matrixFrom(core, 1, values.length, values, "f64")).address;
      const out = scope.keep(matrix(core, tasks, size, "f64"));
      core.kernels.pairStatistics(
        ...this.#design(),
        vector(effects.slope),
        vector(effects.shift),
        this.#signedWeight.address,
        vector(parameters),
        curvature,
        out.address,
      );
      const written = out.view();
      const total = new Float64Array(size);
      for (let i = 0; i < written.length; i++)
        total[i % size] = (total[i % size] as number) + (written[i] as number);
      return total;
    });
    return {
      loss: sums[0] as number,
      gradient: sums.slice(1, 1 + columns),
      curvature: sums.slice(1 + columns),
    };
  }

  /** z of every pair. */
  logits(parameters: ArrayLike<number>): Float64Array {
    return scoped((scope) =>
      scope.keep(this.#logits(parameters)).toArray().slice(0, this.pairs),
    ) as Float64Array;
  }

  #logits(parameters: ArrayLike<number>): Matrix {
    const { core } = this;
    sameSize("parameters", "elements", parameters.length, this.columns);
    const z = matrix(core, 1, this.#count, "f64");
    const held = matrixFrom(core, 1, parameters.length, parameters, "f64");
    core.kernels.pairLogits(...this.#design(), held.address, z.address);
    held.free();
    return z;
  }

  /** Fits the effects of every label beside common parameters; `begin` is where its search begins. */
  labelEffects(parameters: ArrayLike<number>, prior: EffectPrior, begin: LabelEffects): FittedEffects {
    const { core, labels } = this;
    return scoped((scope) => {
      const z = scope.keep(this.#logits(parameters));
      const vector = (values: ArrayLike<number>): Matrix => {
        const held = scope.keep(matrixFrom(core, 1, values.length, values, "f64"));
        isVector("effects", held, labels);
        return held;
      };
      const mean = { offsets: vector(prior.mean.offsets), slopes: vector(prior.mean.slopes) };
      const [offsets, slopes] = [vector(begin.offsets), vector(begin.slopes)];
      const make = () => scope.keep(matrix(core, 1, labels, "f64"));
      const [offsetVariances, slopeVariances] = [make(), make()];
      core.kernels.labelEffects(
        labels,
        this.#start.address,
        z.address,
        this.#signedWeight.address,
        prior.centre,
        1 / prior.offsetVariance,
        1 / prior.slopeVariance,
        ...prior.slopeRange,
        mean.offsets.address,
        mean.slopes.address,
        offsets.address,
        slopes.address,
        offsetVariances.address,
        slopeVariances.address,
      );
      const read = (held: Matrix) => held.toArray() as Float64Array;
      return {
        offsets: read(offsets),
        slopes: read(slopes),
        offsetVariances: read(offsetVariances),
        slopeVariances: read(slopeVariances),
      };
    });
  }

  free(): void {
    this.#scope.free();
  }
}

/** What a label adds: its logit is z + offset + slope (z - centre). */
export interface LabelEffects {
  offsets: Float64Array; // u [K]
  slopes: Float64Array; // a [K]
}

/** Effects with their variances by the curvature of the loss. */
export interface FittedEffects extends LabelEffects {
  offsetVariances: Float64Array;
  slopeVariances: Float64Array;
}

/** Where effects are expected before any pair is seen. */
export interface EffectPrior {
  mean: LabelEffects;
  offsetVariance: number; // t1
  slopeVariance: number; // t2
  slopeRange: readonly [low: number, high: number];
  centre: number; // m0
}
