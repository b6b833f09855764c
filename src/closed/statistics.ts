// What the sparse form needs of the points: sums over them, so that points are learned by adding, forgotten by taking
// away, and parts of a data set add up to the whole. With f(x) = [phi(x) ; x], the features without their weights,
//
//     A = sum f f'      B = sum f y'      and the totals m, n_k, N
//
// The kernel's features stand first: then the block X'Phi of A's lower triangle has contiguous rows. Weights of the
// two parts are not in here but in the ridge (ridge.ts), so that they can be chosen after the sums are made.
// Blocks of points in single precision are multiplied in single precision and added up in double precision, always in
// the order of the points.

import type { Core } from "../core/core.ts";
import { convert, scale, syrk } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { type Matrix, matrix } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import { addLabelSums, addMatrix, addSparseGram, addTransposeTimes, type Sign } from "../core/sums.ts";
import type { RidgeSums } from "./ridge.ts";
import { type FeatureBlock, type SumsShape, Totals } from "./totals.ts";

/** Sums over points, in the memory of a core. */
export class Statistics extends Totals implements RidgeSums {
  /** A [M+D, M+D], its lower triangle. */
  readonly gram: Matrix;
  #cross: Matrix;

  constructor(core: Core, shape: SumsShape) {
    super(core, shape);
    try {
      this.gram = matrix(core, this.features, this.features, "f64");
      this.#cross = matrix(core, shape.labels, this.features, "f64");
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** B' [K, M+D]: a row for each label. */
  get cross(): Matrix {
    return this.#cross;
  }

  writeGram(out: Matrix): Promise<void> {
    convert(this.gram, out);
    return Promise.resolve();
  }

  writeCross(firstLabel: number, out: Matrix): void {
    scale(1, this.#cross.rowRange(firstLabel, firstLabel + out.rows), out);
  }

  override add(block: FeatureBlock, labels: Pattern, sign: Sign = 1): void {
    super.add(block, labels, sign);
    const { from, to, points, phi, square } = block;
    const { kernel: m, linear: d } = this;
    const range = { from, to, sign };
    if (phi) {
      if (square) addMatrix(square, this.gram.block(0, 0, m, m), { sign, part: "lower" });
      else this.#addSquare(phi, sign);
      addTransposeTimes(labels, phi, this.#cross.block(0, 0, this.labels, m), range);
    }
    if (points) {
      addSparseGram(points.x, this.gram.block(m, m, d, d), range);
      if (phi) addTransposeTimes(points.x, phi, this.gram.block(m, 0, d, m), range);
      addLabelSums(labels, points.x, this.#cross.block(0, m, this.labels, d), range);
    }
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

  override growLabels(labels: number): void {
    const before = this.labels;
    super.growLabels(labels);
    if (this.labels === before) return;
    const cross = matrix(this.core, labels, this.features, "f64");
    scale(1, this.#cross, cross.rowRange(0, before));
    this.#cross.free();
    this.#cross = cross;
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

  override free(): void {
    super.free();
    this.gram?.free();
    this.#cross?.free();
  }
}
