// Fits blended curves to pairs: a logistic regression whose term weights may not be negative. The search runs in terms of mean
// 0 and deviation 1, where one ridge fits all; curves at neighbouring knots are drawn to each other, so that few data
// give one curve.

import { deterministicExp, deterministicLog } from "../base/math.ts";
import { type BoundedProblem, minimise, triangular } from "../base/newton.ts";
import { type PairArrays, type PairCurves, ScorePairs, type ScoreTerm } from "../core/calibrator.ts";
import type { Core } from "../core/core.ts";
import { logistic, termValue } from "./forward.ts";

/** Where the weights are expected, in standardised terms: (x - mean)' precision (x - mean) / 2. */
interface Expectation {
  mean: Float64Array;
  precision: Float64Array; // lower triangle
}

/** Pull of each standardised weight to what is expected, and of neighbouring curves to each other. */
const RIDGE = 1;
const TIE = 0.1;
/** Pull of the constants: they have pseudo pairs. */
const CONSTANT_RIDGE = 1e-6;
/** Pairs that means and deviations are taken from. */
const SAMPLE = 20_000;
/** Pairs that a curvature is taken from: the search needs no better, its end is by the gradient of all. */
const CURVATURE_PAIRS = 60_000;

export class CurveFit {
  readonly pairs: ScorePairs;
  readonly #corners: number;
  /** Means and deviations of 1 and each term: 0 and 1 for the first. */
  readonly #means: Float64Array;
  readonly #deviations: Float64Array;
  readonly #lower: Float64Array;
  readonly #share: number;
  #expectation: Expectation;

  /** expect() counts as if such pairs had led to it before, `share` times as many as there are. */
  constructor(core: Core, curves: PairCurves, pairs: PairArrays, share: number) {
    this.#share = share;
    this.pairs = new ScorePairs(core, curves, pairs);
    const { width, columns } = this.pairs;
    this.#corners = columns / width;
    const { means, deviations } = moments(curves.terms, pairs, share);
    this.#means = means;
    this.#deviations = deviations;
    this.#lower = Float64Array.from({ length: columns }, (_, i) => (i % width === 0 ? -Infinity : 0));
    this.#expectation = { mean: new Float64Array(columns), precision: precisionOf(curves, width) };
  }

  free(): void {
    this.pairs.free();
  }

  /** Expects the given weights beside these offsets of the logits. */
  expect(weights: Float64Array, offsets: Float64Array): void {
    const mean = this.#standardised(weights);
    const all = Array.from(mean, (_, i) => i);
    const curvature = this.#dataCurvature(mean, offsets, all);
    const { precision } = this.#expectation;
    this.#expectation = {
      mean,
      precision: precision.map((ridge, e) => ridge + this.#share * curvature[e]),
    };
  }

  /** The best weights beside these offsets of the logits, and whether the search came to its end; `pause` is between its steps. */
  async fit(
    offsets: Float64Array,
    start: Float64Array,
    pause: () => Promise<void>,
  ): Promise<{ weights: Float64Array; converged: boolean }> {
    const problem: BoundedProblem = {
      lower: this.#lower,
      evaluate: (x) => this.#evaluate(x, offsets),
      curvature: (x, chosen) => this.#curvature(x, offsets, chosen),
      pause,
    };
    const { x, converged } = await minimise(problem, this.#standardised(start));
    return { weights: this.#raw(x), converged };
  }

  #standardised(weights: Float64Array): Float64Array {
    return this.#each(
      weights,
      (own, j) => own * this.#deviations[j],
      (own, j) => own * this.#means[j],
    );
  }

  #raw(x: Float64Array): Float64Array {
    const own = (value: number, j: number) => value / this.#deviations[j];
    return this.#each(x, own, (value, j) => -own(value, j) * this.#means[j]);
  }

  /** Maps each weight of a curve; its constant gets what each of them adds. */
  #each(
    values: Float64Array,
    map: (value: number, j: number) => number,
    toConstant: (value: number, j: number) => number,
  ): Float64Array {
    const { width } = this.pairs;
    const out = new Float64Array(values.length);
    for (let i = 0; i < values.length; i++) {
      const j = i % width;
      const value = values[i];
      out[i] = out[i] + (j === 0 ? value : map(value, j));
      if (j > 0) out[i - j] = out[i - j] + toConstant(value, j);
    }
    return out;
  }

  #evaluate(x: Float64Array, offsets: Float64Array): { value: number; gradient: Float64Array } {
    const { width } = this.pairs;
    const { value, gradient: raw } = this.pairs.loss(this.#raw(x), offsets);
    const gradient = raw.map((own, i) => this.#ofTerm(own, raw[i - (i % width)], i % width));
    const { mean, precision } = this.#expectation;
    let penalty = 0;
    for (let i = 0; i < x.length; i++) {
      let pull = 0;
      for (let j = 0; j < x.length; j++)
        pull += precision[triangular(Math.max(i, j), Math.min(i, j))] * (x[j] - mean[j]);
      gradient[i] = gradient[i] + pull;
      penalty += 0.5 * pull * (x[i] - mean[i]);
    }
    // Pseudo pairs of weight 1/2 of either kind at the mean of all terms, so that the constants end somewhere.
    const constant = this.#constant(x);
    for (let i = 0; i < x.length; i += width) gradient[i] = gradient[i] + (logistic(constant) - 0.5) / this.#corners;
    const away = Math.abs(constant);
    return { value: value + penalty + away / 2 + deterministicLog(1 + deterministicExp(-away)), gradient };
  }

  /** Derivative by a standardised term from those by the term and by its curve's constant. */
  #ofTerm(own: number, ofConstant: number, j: number): number {
    return j === 0 ? own : (own - this.#means[j] * ofConstant) / this.#deviations[j];
  }

  #constant(x: Float64Array): number {
    let sum = 0;
    for (let i = 0; i < x.length; i += this.pairs.width) sum += x[i];
    return sum / this.#corners;
  }

  #curvature(x: Float64Array, offsets: Float64Array, chosen: readonly number[]): Float64Array {
    const curvature = this.#dataCurvature(x, offsets, chosen);
    const p = logistic(this.#constant(x));
    const ofConstants = (p * (1 - p)) / (this.#corners * this.#corners);
    const { width } = this.pairs;
    chosen.forEach((i, a) => {
      for (let b = 0; b <= a; b++) {
        const j = chosen[b];
        let entry = this.#expectation.precision[triangular(i, j)];
        if (i % width === 0 && j % width === 0) entry += ofConstants;
        curvature[triangular(a, b)] = curvature[triangular(a, b)] + entry;
      }
    });
    return curvature;
  }

  /** Curvature of the loss by chosen standardised weights; constants have no bounds and are always chosen. */
  #dataCurvature(x: Float64Array, offsets: Float64Array, chosen: readonly number[]): Float64Array {
    const { width } = this.pairs;
    const stride = Math.max(1, Math.floor(this.pairs.pairs / CURVATURE_PAIRS));
    const raw = this.pairs.curvature(this.#raw(x), offsets, chosen, stride);
    const entry = (a: number, b: number) => raw[triangular(Math.max(a, b), Math.min(a, b))];
    const constantOf = new Map(chosen.map((i, a) => [i, a]));
    const out = new Float64Array(raw.length);
    chosen.forEach((i, a) => {
      const constantA = constantOf.get(i - (i % width)) as number;
      for (let b = 0; b <= a; b++) {
        const j = chosen[b];
        const constantB = constantOf.get(j - (j % width)) as number;
        const own = this.#ofTerm(entry(a, b), entry(a, constantB), j % width);
        const constant = this.#ofTerm(entry(constantA, b), entry(constantA, constantB), j % width);
        out[triangular(a, b)] = this.#ofTerm(own, constant, i % width);
      }
    });
    return out;
  }
}

/** Ridge on every weight, ties between curves that stand beside each other. */
function precisionOf({ labelGates, pointGates }: PairCurves, width: number): Float64Array {
  const columns = labelGates * pointGates * width;
  const precision = new Float64Array(triangular(columns, 0));
  const add = (i: number, j: number, value: number) => {
    const place = triangular(Math.max(i, j), Math.min(i, j));
    precision[place] = precision[place] + value;
  };
  for (let i = 0; i < columns; i++) {
    add(i, i, i % width === 0 ? CONSTANT_RIDGE : RIDGE);
    const corner = Math.floor(i / width);
    const beside = (corner + 1) % pointGates === 0 ? [] : [i + width];
    if (corner + pointGates < labelGates * pointGates) beside.push(i + pointGates * width);
    for (const j of beside) {
      add(i, i, TIE);
      add(j, j, TIE);
      add(i, j, -TIE);
    }
  }
  return precision;
}

/** Weighted mean and deviation of 1 and each term over some pairs; pairs from before, `share` times as many, deviate by 1. */
function moments(terms: readonly ScoreTerm[], { scores, signedWeight }: PairArrays, share: number) {
  const means = new Float64Array(1 + terms.length);
  const deviations = new Float64Array(1 + terms.length).fill(1);
  const stride = Math.max(1, Math.floor(signedWeight.length / SAMPLE));
  terms.forEach((term, t) => {
    const values = scores[term.score];
    let [weight, sum, squares] = [0, 0, 0];
    for (let e = 0; e < signedWeight.length; e += stride) {
      const own = Math.abs(signedWeight[e]);
      const value = termValue(term, values[e]);
      weight += own;
      sum += own * value;
      squares += own * value * value;
    }
    if (weight === 0) return;
    const mean = sum / weight;
    means[1 + t] = mean;
    deviations[1 + t] = Math.sqrt((Math.max(0, squares / weight - mean * mean) + share) / (1 + share));
  });
  return { means, deviations };
}
