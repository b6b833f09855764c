// What every form of learning needs to know of the points learned so far: how many there are, how many have each
// label, and the sum of their features.
//
//     m = sum f      n_k = points that have label k      N = points      mu_k = n_k / N

import type { Core } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import { type Matrix, matrix } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import { addColumnSums, type Sign } from "../core/sums.ts";
import type { Points } from "./points.ts";

/** How many features and labels there are. */
export interface SumsShape {
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
  /** phi' phi [M,M] in its lower triangle, where a device has made it. */
  readonly square?: Matrix | undefined;
}

/** Totals over points. */
export class Totals {
  readonly core: Core;
  readonly kernel: number;
  readonly linear: number;
  /** m [1, M+D], the kernel's features first. */
  readonly sums: Matrix;
  /** n_k [K] */
  labelCounts: Float64Array;
  /** N */
  points = 0;

  constructor(core: Core, { kernel, linear, labels }: SumsShape) {
    this.core = core;
    this.kernel = kernel;
    this.linear = linear;
    this.labelCounts = new Float64Array(labels);
    this.sums = matrix(core, 1, kernel + linear, "f64");
  }

  /** M + D */
  get features(): number {
    return this.kernel + this.linear;
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
  add(block: FeatureBlock, labels: Pattern, sign: Sign = 1): void {
    const { from, to, points, phi } = block;
    this.check(block, labels);
    if (phi) addColumnSums(phi, this.sums.block(0, 0, 1, this.kernel), { sign });
    if (points) addColumnSums(points.x, this.sums.block(0, this.kernel, 1, this.linear), { from, to, sign });
    const starts = labels.start.view();
    const ids = labels.column.view();
    for (let e = starts[from] as number; e < (starts[to] as number); e++)
      (this.labelCounts[ids[e] as number] as number) += sign;
    this.points += sign * (to - from);
  }

  /** Makes room for new labels behind those there are: no point so far has them. */
  growLabels(labels: number): void {
    if (labels <= this.labels) return;
    const counts = new Float64Array(labels);
    counts.set(this.labelCounts);
    this.labelCounts = counts;
  }

  /** Refuses a block that does not fit. */
  protected check({ from, to, points, phi }: FeatureBlock, labels: Pattern): void {
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
    this.sums.free();
  }
}
