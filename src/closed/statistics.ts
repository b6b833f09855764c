// What the sparse form needs of the points: sums over them, so that points are learned by adding, forgotten by taking
// away, and parts of a data set add up to the whole. With f(x) = [phi(x) ; x], the features without their weights,
//
//     A = sum f f'      B = sum f y'      m = sum f      n_k = points that have label k      N = points
//
// The kernel's features stand first: then the block X'Phi of A's lower triangle has contiguous rows. Weights of the
// two parts are not in here but in the ridge (ridge.ts), so that they can be chosen after the sums are made.
// Blocks of points in single precision are multiplied in single precision and added up in double precision, always in
// the order of the points.

import type { Core } from "../core/core.ts";
import { convert, scale, syrk } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import {
  addColumnSums,
  addLabelSums,
  addMatrix,
  addSparseGram,
  addTransposeTimes,
  type Sign,
} from "../core/sums.ts";
import type { Points } from "./points.ts";
import type { RidgeSums } from "./ridge.ts";

/** How many features and labels there are. */
export interface StatisticsShape {
  /** M, features of the kernel part; 0 for none. */
  readonly kernel: number;
  /** D, features of the linear part; 0 for none. */
  readonly linear: number;
  /** K */
  readonly labels: number;
}

/** Points from to to: their rows where there is a linear part, phi where there is a kernel part. */
export interface FeatureBlock {
  readonly from: number;
  readonly to: number;
  readonly points?: Points | undefined;
  /** phi [to - from, M] */
  readonly phi?: Matrix | undefined;
}

/** Sums over points, in the memory of a core. */
export class Statistics implements RidgeSums {
  readonly core: Core;
  readonly kernel: number;
  readonly linear: number;
  /** A [M+D, M+D], its lower triangle. */
  readonly gram: Matrix;
  /** m [1, M+D] */
  readonly sums: Matrix;
  /** n_k [K] */
  labelCounts: Float64Array;
  /** N */
  points = 0;
  #cross: Matrix;
  readonly #scope = new Scope();

  constructor(core: Core, { kernel, linear, labels }: StatisticsShape) {
    this.core = core;
    this.kernel = kernel;
    this.linear = linear;
    this.labelCounts = new Float64Array(labels);
    const features = kernel + linear;
    try {
      this.gram = this.#scope.keep(matrix(core, features, features, "f64"));
      this.sums = this.#scope.keep(matrix(core, 1, features, "f64"));
      this.#cross = matrix(core, labels, features, "f64");
    } catch (error) {
      this.#scope.free();
      throw error;
    }
  }

  /** M + D */
  get features(): number {
    return this.kernel + this.linear;
  }

  /** K */
  get labels(): number {
    return this.labelCounts.length;
  }

  /** B' [K, M+D]: a row for each label. */
  get cross(): Matrix {
    return this.#cross;
  }

  /** mu_k = n_k / N */
  mean(): Float64Array {
    return this.labelCounts.map((count) => (this.points > 0 ? count / this.points : 0));
  }

  writeGram(out: Matrix): Promise<void> {
    convert(this.gram, out);
    return Promise.resolve();
  }

  writeCross(firstLabel: number, out: Matrix): void {
    scale(1, this.#cross.rowRange(firstLabel, firstLabel + out.rows), out);
  }

  /** Learns the points of a block (or forgets them, with sign -1). The labels have a row for every point of the set. */
  add(block: FeatureBlock, labels: Pattern, sign: Sign = 1): void {
    const { from, to, points, phi } = block;
    this.#check(block, labels);
    const m = this.kernel;
    const range = { from, to, sign };
    if (phi) {
      this.#addSquare(phi, sign);
      addTransposeTimes(labels, phi, this.#cross.block(0, 0, this.labels, m), range);
      addColumnSums(phi, this.sums.block(0, 0, 1, m), { sign });
    }
    if (points) {
      const d = this.linear;
      addSparseGram(points.x, this.gram.block(m, m, d, d), range);
      if (phi) addTransposeTimes(points.x, phi, this.gram.block(m, 0, d, m), range);
      addLabelSums(labels, points.x, this.#cross.block(0, m, this.labels, d), range);
      addColumnSums(points.x, this.sums.block(0, m, 1, d), range);
    }
    const starts = labels.start.view();
    const ids = labels.column.view();
    for (let e = starts[from] as number; e < (starts[to] as number); e++)
      (this.labelCounts[ids[e] as number] as number) += sign;
    this.points += sign * (to - from);
  }

  /** Adds what another part of the data gave (or takes it away); labels that this one has not yet are taken up. */
  merge(other: Statistics, sign: Sign = 1): void {
    if (other.kernel !== this.kernel || other.linear !== this.linear) {
      throw new ArgumentError(
        "other",
        `found ${other.kernel} kernel and ${other.linear} linear features, expected ${this.kernel} and ${this.linear}`,
      );
    }
    this.growLabels(other.labels);
    addMatrix(other.gram, this.gram, { sign, part: "lower" });
    addMatrix(other.cross, this.#cross.rowRange(0, other.labels), { sign });
    addMatrix(other.sums, this.sums, { sign });
    other.labelCounts.forEach((count, k) => {
      (this.labelCounts[k] as number) += sign * count;
    });
    this.points += sign * other.points;
  }

  /** Makes room for new labels behind those there are: no point so far has them. */
  growLabels(labels: number): void {
    if (labels <= this.labels) return;
    const cross = matrix(this.core, labels, this.features, "f64");
    scale(1, this.#cross, cross.rowRange(0, this.labels));
    this.#cross.free();
    this.#cross = cross;
    const counts = new Float64Array(labels);
    counts.set(this.labelCounts);
    this.labelCounts = counts;
  }

  /** A += sign Phi'Phi; in single precision through a product of the block. */
  #addSquare(phi: Matrix, sign: Sign): void {
    const corner = this.gram.block(0, 0, this.kernel, this.kernel);
    if (phi.precision === "f64") {
      syrk(phi, corner, { transpose: true, alpha: sign, beta: 1, part: "lower" });
      return;
    }
    const product = matrix(this.core, this.kernel, this.kernel, "f32");
    try {
      addMatrix(syrk(phi, product, { transpose: true, part: "lower" }), corner, { sign, part: "lower" });
    } finally {
      product.free();
    }
  }

  #check({ from, to, points, phi }: FeatureBlock, labels: Pattern): void {
    const refuse = (what: string, found: number, expected: number): void => {
      if (found !== expected)
        throw new ArgumentError("block", `found ${found} ${what}, expected ${expected}`);
    };
    refuse("kernel features", phi?.columns ?? 0, this.kernel);
    refuse("linear features", points?.x.columns ?? 0, this.linear);
    if (phi) refuse("rows of phi", phi.rows, to - from);
    if (points) refuse("points", points.rows, labels.rows);
    refuse("labels", labels.columns, this.labels);
  }

  free(): void {
    this.#cross.free();
    this.#scope.free();
  }
}
