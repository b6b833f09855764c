// Sums over the points learned so far: f is the dense row phi(x) of inducing inputs, or the sparse row x itself.
//
//     m = sum f      n_k = points that have label k      N = points      mu_k = n_k / N      A = sum f f'      B = sum f y'

import { ArgumentError } from "../../base/errors.ts";
import { type WorkOptions, yieldToHost } from "../../base/progress.ts";
import { labelsWithin } from "../../base/sparse.ts";
import type { Core } from "../../core/core.ts";
import { Csr } from "../../core/csr.ts";
import { convert, scale, syrk } from "../../core/dense.ts";
import { type Matrix, matrix, scoped } from "../../core/matrix.ts";
import { Pattern } from "../../core/pattern.ts";
import {
  addColumnSums,
  addLabelSums,
  addMatrix,
  addSparseGram,
  addTransposeTimes,
  type Sign,
} from "../../core/sums.ts";
import type { PointRange } from "./leaveoneout.ts";
import type { RidgeSums } from "./ridge.ts";

/** How many features and labels there are: P and K. */
export interface SumsShape {
  readonly features: number;
  readonly labels: number;
}

/** Features of points from to to: a dense row for each of these, or the sparse rows of all points. */
export interface FeatureBlock<F extends Matrix | Csr = Matrix | Csr> extends PointRange {
  readonly f: F;
}

/** m, n_k and N. */
export class Totals {
  readonly core: Core;
  /** m [1,P] */
  readonly sums: Matrix;
  /** n_k [K] */
  labelCounts: Float64Array;
  /** N */
  points = 0;

  constructor(core: Core, { features, labels }: SumsShape) {
    this.core = core;
    this.labelCounts = new Float64Array(labels);
    this.sums = matrix(core, 1, features, "f64");
  }

  /** P */
  get features(): number {
    return this.sums.columns;
  }

  /** K */
  get labels(): number {
    return this.labelCounts.length;
  }

  /** mu [K] */
  mean(): Float64Array {
    return this.labelCounts.map((count) => (this.points > 0 ? count / this.points : 0));
  }

  /** Learns the points of a block (or forgets them, with sign -1). The labels have a row for every point of the set. */
  add({ from, to, f }: FeatureBlock, labels: Pattern, sign: Sign = 1): void {
    const refuse = (what: string, found: number, expected: number): void => {
      if (found !== expected) throw new ArgumentError("block", `found ${found} ${what}, expected ${expected}`);
    };
    refuse("features", f.columns, this.features);
    refuse("rows", f.rows, f instanceof Csr ? labels.rows : to - from);
    refuse("labels", labels.columns, this.labels);
    addColumnSums(f, this.sums, f instanceof Csr ? { from, to, sign } : { sign });
    const starts = labels.start.view();
    const ids = labels.column.view();
    for (let e = starts[from]; e < starts[to]; e++) this.labelCounts[ids[e]] += sign;
    this.points += sign * (to - from);
  }

  /** Makes room for new labels behind those there are: no point so far has them. */
  growLabels(labels: number): void {
    if (labels <= this.labels) return;
    const counts = new Float64Array(labels);
    counts.set(this.labelCounts);
    this.labelCounts = counts;
  }

  free(): void {
    this.sums.free();
  }
}

/** The totals with A and B. */
export class Statistics extends Totals implements RidgeSums {
  /** A [P,P], its lower triangle. */
  readonly gram: Matrix;
  readonly #cross: Matrix;

  constructor(core: Core, shape: SumsShape) {
    super(core, shape);
    try {
      this.gram = matrix(core, shape.features, shape.features, "f64");
      this.#cross = matrix(core, shape.labels, shape.features, "f64");
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** B' [K,P]: a row for each label. */
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
    const { from, to, f } = block;
    const range = { from, to, sign };
    if (f instanceof Csr) {
      addSparseGram(f, this.gram, range);
      addLabelSums(labels, f, this.#cross, range);
      return;
    }
    this.#addSquare(f, sign);
    addTransposeTimes(labels, f, this.#cross, range);
  }

  /** A += sign f'f; in single precision through a product of the block. */
  #addSquare(f: Matrix, sign: Sign): void {
    if (f.precision === "f64") {
      syrk(f, this.gram, { transpose: true, alpha: sign, beta: 1, part: "lower" });
      return;
    }
    scoped((scope) => {
      const product = scope.keep(matrix(this.core, this.features, this.features, "f32"));
      addMatrix(syrk(f, product, { transpose: true, part: "lower" }), this.gram, { sign, part: "lower" });
    });
  }

  override free(): void {
    super.free();
    this.gram?.free();
    this.#cross?.free();
  }
}

/** Rows of X'X that are in double precision together. */
const ROWS_AT_ONCE = 512;

/**
 * Totals of sparse rows that stay at hand; A and B are made anew whenever they are wanted. X'X [D,D] in double precision does not fit
 * beside what it is turned into where D goes beyond some 10,000; from sparse rows it takes seconds to make.
 */
export class PointSums extends Totals implements RidgeSums {
  readonly #x: Csr;
  readonly #labels: Pattern;

  constructor(x: Csr, labels: Pattern) {
    super(x.core, { features: x.columns, labels: labels.columns });
    this.#x = x;
    this.#labels = labels;
    this.add({ from: 0, to: x.rows, f: x }, labels);
  }

  async writeGram(out: Matrix, options: WorkOptions): Promise<void> {
    const { core, features: d } = this;
    for (let first = 0; first < d; first += ROWS_AT_ONCE) {
      await yieldToHost(options, "sums", first / d);
      const count = Math.min(ROWS_AT_ONCE, d - first);
      scoped((scope) => {
        const rows = scope.keep(matrix(core, count, d, "f64"));
        addSparseGram(this.#x, rows, { firstColumn: first });
        convert(rows, out.rowRange(first, first + count));
      });
    }
  }

  writeCross(firstLabel: number, out: Matrix): void {
    const { start, column } = this.#labels;
    const lists = { rowStart: start.view(), labelIndex: column.view() };
    const some = labelsWithin(lists, firstLabel, firstLabel + out.rows);
    scoped((scope) => addLabelSums(scope.keep(new Pattern(this.core, out.rows, some)), this.#x, out));
  }
}
