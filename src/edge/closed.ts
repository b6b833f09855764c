// The Gaussian posterior at the edge: scores that are linear in the features, or in the covariances with training points, or both.
//
//     s(x) = x W + sum_z (k(x,z) - t0 - t1 x.z) a_z + offset        s2 = ((s - mu) E) Bs + mu
//
// t0 + t1 x.z is the tangent of the covariance of points that have nothing in common. Far points lie on it: what it says is in W
// and the offset already, and few training points are left to look at.

import { type ScalarKernel, scalarKernel } from "../model/kernels/index.ts";
import type { ClosedAbout } from "./format.ts";
import { LARGEST_SQUARE } from "./limits.ts";
import { type Row, type RowMatrix, squareSum } from "./matrix.ts";
import type { Parts } from "./parts.ts";
import type { SparseMatrix } from "./sparse.ts";
import { wasmSparse } from "./wasmsparse.ts";

/** What is left of a covariance beside the tangent, of that of a point with itself, to be worth a look. */
const NEAR = 5e-4;

export interface ClosedNumbers {
  readonly about: ClosedAbout;
  readonly offset: Float32Array;
  readonly weights: SparseMatrix | undefined;
  readonly points: { z: SparseMatrix; squares: Float32Array; dual: SparseMatrix } | undefined;
  readonly stack: { mean: Float32Array; vectors: RowMatrix; weights: RowMatrix } | undefined;
}

/** The tensors of a closed form; which there are is said by the metadata. */
export function closedOf(parts: Parts): ClosedNumbers | undefined {
  const { closed: about, features: d, labels: k } = parts.about;
  if (about === undefined) return undefined;
  const { points: m, tangent, stack: p } = about;
  parts.fits(p);
  const bent = m > 0;
  return {
    about,
    offset: parts.reals("closed.offset", k),
    weights: !bent || tangent.some((value) => value !== 0) ? parts.sparse("closed.weights", d, k) : undefined,
    points: bent
      ? {
          z: parts.sparse("closed.points", d, m),
          squares: parts.reals("closed.squares", m, LARGEST_SQUARE),
          dual: parts.sparse("closed.dual", m, k),
        }
      : undefined,
    stack:
      p > 0
        ? {
            mean: parts.reals("stack.mean", k),
            vectors: parts.matrix("stack.vectors", k, p),
            weights: parts.matrix("stack.weights", p, k),
          }
        : undefined,
  };
}

/** Names of the scores, as a calibrator has them. */
export function scoreNames(closed: ClosedNumbers | undefined, latent: boolean): string[] {
  return [
    ...(closed ? ["gaussian"] : []),
    ...(closed?.stack ? ["stack"] : []),
    ...(latent ? ["utility"] : []),
  ];
}

/** What is left of a covariance beside its tangent. */
export interface BesideTangent {
  excess(product: number, xSquare: number, zSquare: number): number;
  /** Whether so much of it is worth a look. */
  matters(excess: number): boolean;
}

export function besideTangent(kernel: ScalarKernel, [level, slope]: ClosedAbout["tangent"]): BesideTangent {
  const least = level === 0 && slope === 0 ? 0 : NEAR * kernel.own(1);
  return {
    excess: (product, xSquare, zSquare) =>
      kernel.covariance(product, xSquare, zSquare) - level - slope * product,
    matters: (excess) => Math.abs(excess) > least,
  };
}

export class ClosedForm {
  readonly #numbers: ClosedNumbers;
  /** The sparse matrices of it, where they are added up. */
  readonly #weights: RowMatrix | undefined;
  readonly #z: RowMatrix | undefined;
  readonly #dual: RowMatrix | undefined;
  readonly #beside: BesideTangent;
  /** x.z of all points; those that are worth a look, and their covariance beside the tangent. */
  readonly #products: Float64Array;
  readonly #near: Int32Array;
  readonly #excess: Float64Array;

  constructor(numbers: ClosedNumbers, wasm?: WebAssembly.Module) {
    const { kernel, hyper, points, tangent } = numbers.about;
    const held = (matrix: SparseMatrix | undefined): RowMatrix | undefined =>
      matrix && wasm ? wasmSparse(matrix, wasm) : matrix;
    this.#numbers = numbers;
    this.#weights = held(numbers.weights);
    this.#z = held(numbers.points?.z);
    this.#dual = held(numbers.points?.dual);
    this.#beside = besideTangent(scalarKernel(kernel, hyper), tangent);
    this.#products = new Float64Array(points);
    this.#near = new Int32Array(points);
    this.#excess = new Float64Array(points);
  }

  /** Scores of all labels, and those of the stack where there is one. */
  scores(x: Row): Float64Array[] {
    const { offset, stack } = this.#numbers;
    const scores = Float64Array.from(offset);
    this.#weights?.add(x.columns, x.values, x.columns.length, scores);
    this.#addPoints(x, scores);
    return stack ? [scores, stacked(scores, stack)] : [scores];
  }

  /** Scores of some labels, without what every text has. */
  scoresOf(x: Row, labels: readonly number[]): Float64Array {
    const { weights, points } = this.#numbers;
    const count = this.#findNear(x);
    return Float64Array.from(labels, (label) => {
      let score = 0;
      for (let e = 0; weights && e < x.columns.length; e++)
        score += (x.values[e] as number) * weights.element(x.columns[e] as number, label);
      for (let i = 0; points && i < count; i++)
        score += (this.#excess[i] as number) * points.dual.element(this.#near[i] as number, label);
      return score;
    });
  }

  #addPoints(x: Row, scores: Float64Array): void {
    this.#dual?.add(this.#near, this.#excess, this.#findNear(x), scores);
  }

  /** How many points are worth a look: #near and #excess have them. */
  #findNear(x: Row): number {
    const { about, points } = this.#numbers;
    if (!points) return 0;
    const { squares } = points;
    const products = this.#products.fill(0);
    this.#z?.add(x.columns, x.values, x.columns.length, products);
    const square = Math.max(about.whole ? 1 : 0, squareSum(x.values));
    let count = 0;
    for (let i = 0; i < products.length; i++) {
      const excess = this.#beside.excess(products[i] as number, square, squares[i] as number);
      if (!this.#beside.matters(excess)) continue;
      this.#near[count] = i;
      this.#excess[count++] = excess;
    }
    return count;
  }
}

/** s2 = ((s - mu) E) Bs + mu */
function stacked(scores: Float64Array, stack: NonNullable<ClosedNumbers["stack"]>): Float64Array {
  const { mean, vectors, weights } = stack;
  const centred = scores.map((score, label) => score - (mean[label] as number));
  const projected = new Float64Array(vectors.columns);
  vectors.add([...centred.keys()], centred, centred.length, projected);
  const out = Float64Array.from(mean);
  weights.add([...projected.keys()], projected, projected.length, out);
  return out;
}
