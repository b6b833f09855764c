// Sums of a wide linear part, made anew from the points whenever they are wanted. X'X [D,D] in double precision does
// not fit beside what it is turned into where D goes beyond some 10,000; from sparse rows it takes seconds to make
// (the squares of the rows' lengths, added up). Only some rows of it are in double precision at a time. The kernel's
// part, if there is one, is summed up as usual and kept.

import { convert, scale } from "../core/dense.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import { pause, type WorkOptions } from "../core/progress.ts";
import { addColumnSums, addLabelSums, addSparseGram, addTransposeTimes } from "../core/sums.ts";
import { labelsFrom } from "./labels.ts";
import type { Points } from "./points.ts";
import type { RidgeSums } from "./ridge.ts";
import type { FeatureWalk } from "./sparse.ts";
import { Statistics } from "./statistics.ts";
import type { FeatureBlock } from "./totals.ts";

/** Rows of X'X that are in double precision together. */
const ROWS_AT_ONCE = 512;

/** Sums over points that stay at hand. Made by sumsOfPoints. */
class PointSums implements RidgeSums {
  readonly #points: Points;
  readonly #labels: Pattern;
  /** A and B of the kernel's part, and mu. */
  readonly #own: Statistics;
  /** X'Phi [D,M] */
  readonly #mixed: Matrix;
  readonly sums: Matrix;

  constructor(points: Points, labels: Pattern, own: Statistics, mixed: Matrix, sums: Matrix) {
    this.#points = points;
    this.#labels = labels;
    this.#own = own;
    this.#mixed = mixed;
    this.sums = sums;
  }

  get core() {
    return this.#own.core;
  }
  get kernel(): number {
    return this.#own.kernel;
  }
  get linear(): number {
    return this.#points.x.columns;
  }
  get labels(): number {
    return this.#labels.columns;
  }
  mean(): Float64Array {
    return this.#own.mean();
  }

  async writeGram(out: Matrix, options: WorkOptions): Promise<void> {
    const { kernel: m, linear: d } = this;
    convert(this.#own.gram, out.block(0, 0, m, m));
    convert(this.#mixed, out.block(m, 0, d, m));
    for (let first = 0; first < d; first += ROWS_AT_ONCE) {
      await pause(options, "sums", first / d);
      const count = Math.min(ROWS_AT_ONCE, d - first);
      const rows = matrix(this.core, count, d, "f64");
      try {
        addSparseGram(this.#points.x, rows, { firstColumn: first });
        convert(rows, out.block(m + first, m, count, d));
      } finally {
        rows.free();
      }
    }
  }

  writeCross(firstLabel: number, out: Matrix): void {
    const { kernel: m, linear: d } = this;
    scale(1, this.#own.cross.rowRange(firstLabel, firstLabel + out.rows), out.block(0, 0, out.rows, m));
    const some = labelsFrom(this.#labels, firstLabel, out.rows);
    try {
      addLabelSums(some, this.#points.x, out.block(0, m, out.rows, d));
    } finally {
      some.free();
    }
  }

  free(): void {
    this.#own.free();
    this.#mixed.free();
    this.sums.free();
  }
}

/** The sums of points whose linear part is wide; `kernel` walks over their other features, M of them. */
export async function sumsOfPoints(
  points: Points,
  labels: Pattern,
  options: WorkOptions & { kernel?: { features: FeatureWalk; count: number } } = {},
): Promise<RidgeSums & { free(): void }> {
  const { kernel, ...work } = options;
  const { core, columns } = points.x;
  const count = kernel?.count ?? 0;
  const scope = new Scope();
  try {
    const own = scope.keep(new Statistics(core, { kernel: count, linear: 0, labels: labels.columns }));
    const mixed = scope.keep(matrix(core, columns, count, "f64"));
    const sums = scope.keep(matrix(core, 1, count + columns, "f64"));
    const add = ({ from, to, phi, square }: FeatureBlock): void => {
      own.add({ from, to, phi, square }, labels);
      if (phi) addTransposeTimes(points.x, phi, mixed, { from, to });
    };
    if (kernel) await kernel.features.forBlocks("sums", add, { ...work, squares: true });
    else add({ from: 0, to: points.rows });
    scale(1, own.sums, sums.block(0, 0, 1, count));
    addColumnSums(points.x, sums.block(0, count, 1, columns));
    return new PointSums(points, labels, own, mixed, sums);
  } catch (error) {
    scope.free();
    throw error;
  }
}
