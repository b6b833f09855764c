// The Gaussian posterior of a kernel at the edge (gpr and sgpr):
//
//     s(x) = x W + sum_z (k(x,z) - t0 - t1 x.z) a_z + offset
//
// t0 + t1 x.z is the tangent of the covariance of points that have nothing in common. Far points lie on it: what it says is in W
// and the offset already, and few training points are left to look at.

import { kernelFrom, type ScalarKernel } from "../../base/kernels.ts";
import { type Fields, viewWeights } from "../../base/tensors.ts";
import type { OpenRow, Row, RowReader, RowScorer, RowSizes } from "../row.ts";

/** Least covariance beside the tangent that is worth a look, relative to that of a point with itself. */
const NEAR = 5e-4;
/** How finely that is turned into an inner product. */
const LEAST_STEP = 1e-4;
const isUnit = (square: number): boolean => Math.abs(square - 1) < 1e-3;
/** Slope and level of a tangent lie below it. */
const MOST = 1e36;

/** t0 and t1; both 0 where nothing is in the weights. */
export type Tangent = readonly [level: number, slope: number];

/** The covariance beside its tangent. */
export interface BesideTangent {
  excess(product: number, xSquare: number, zSquare: number): number;
  /** Points whose product with a point of this squared length lies within it are not worth a look; -1: all are. */
  reach(xSquare: number): number;
}

export function besideTangent(
  kernel: ScalarKernel,
  [level, slope]: Tangent,
  squares: Float32Array | Float64Array | undefined,
): BesideTangent {
  const excess = (product: number, xSquare: number, zSquare: number): number =>
    kernel.covariance(product, xSquare, zSquare) - level - slope * product;
  let near = -1;
  // The excess of points of unit length rises with |x.z|.
  if ((level !== 0 || slope !== 0) && squares?.every(isUnit))
    for (let step = 1, least = NEAR * kernel.own(1); step > LEAST_STEP; step /= 2)
      if (Math.abs(excess(near + step, 1, 1)) <= least) near += step;
  return { excess, reach: (xSquare) => (isUnit(xSquare) ? near : -1) };
}

/** Where the entries of a row that are in some columns begin and end. */
function entriesIn({ columns }: Row, { from, to }: { from: number; to: number }): [begin: number, end: number] {
  let begin = 0;
  while (begin < columns.length && columns[begin] < from) begin++;
  let end = begin;
  while (end < columns.length && columns[end] < to) end++;
  return [begin, end];
}

/** The kernels of all views, with the columns of each; one of whole rows where there are none. */
function kernelsOf(reader: RowReader, about: Fields, { features, views }: RowSizes) {
  const kernel = kernelFrom(reader, about);
  if (!views) return [{ kernel, from: 0, to: features }];
  const [a, v] = about.hyper as [number, number, number];
  return viewWeights(reader, about, views.length).map(([weight, length], view) => {
    const own = weight === 0 ? undefined : kernelFrom(reader, { ...about, hyper: [weight * a, weight * v, length] });
    return { ...views[view], kernel: own };
  });
}

export const kernelRow: OpenRow = (reader, about, sizes) => {
  const { features, labels, unit } = sizes;
  const kernel = kernelFrom(reader, about);
  const views = kernelsOf(reader, about, sizes);
  const points = reader.integer(about, "points");
  const tangent = reader.numbers(about, "tangent", 2, -MOST, MOST) as unknown as Tangent;
  const offset = reader.vector("offset", labels);
  const weights =
    points === 0 || tangent[0] !== 0 || tangent[1] !== 0 ? reader.sparse("weights", features, labels) : undefined;
  const z = points > 0 ? reader.sparse("points", features, points) : undefined;
  const squares = z && reader.squares("squares", views.length * points);
  const dual = z && reader.sparse("dual", points, labels);
  const beside = besideTangent(kernel, tangent, squares);
  // x.z of all points; those that are worth a look, and their covariance beside the tangent.
  const products = new Float64Array(points);
  const near = new Int32Array(points);
  const excess = new Float64Array(points);

  /** How many points are worth a look: `near` and `excess` have them. */
  function findNear(row: Row): number {
    if (!z || !squares) return 0;
    let count = 0;
    excess.fill(0);
    views.forEach(({ kernel: own, ...range }, view) => {
      if (!own) return;
      const [begin, end] = entriesIn(row, range);
      const [columns, values] = [row.columns, row.values].map((list) => Array.prototype.slice.call(list, begin, end));
      z.add(columns, values, columns.length, products.fill(0));
      let square = 0;
      for (const value of values) square += value * value;
      square = Math.max(unit && view === 0 ? 1 : 0, square);
      // Only rows without vectors have a tangent; with vectors every point is worth a look.
      const one = views.length === 1;
      const reach = one ? beside.reach(square) : -1;
      for (let i = 0; i < points; i++) {
        const product = products[i];
        if (one && product <= reach && product >= -reach) continue;
        const at = one ? count++ : i;
        near[at] = i;
        excess[at] += one
          ? beside.excess(product, square, squares[i])
          : own.covariance(product, square, squares[view * points + i]);
      }
    });
    return views.length === 1 ? count : points;
  }

  return {
    ...sumScorer(offset, (row, scores) => {
      weights?.add(row.columns, row.values, row.columns.length, scores);
      dual?.add(near, excess, findNear(row), scores);
    }),
    info: { kernel: kernel.name, points },
    linear: points === 0,
  };
};

/** Scores of a Gaussian posterior: an offset of each label [K], and what `add` adds for a row. */
export function sumScorer(
  offset: Float32Array,
  add: (row: Row, scores: Float64Array) => void,
): Pick<RowScorer, "score" | "scores" | "scoresOf"> {
  const scored = (row: Row, scores: Float64Array): Float64Array => {
    add(row, scores);
    return scores;
  };
  return {
    score: "gaussian",
    scores: (rows) => rows.map((row) => ({ values: scored(row, new Float64Array(offset)) })),
    scoresOf(row, of) {
      const scores = scored(row, new Float64Array(offset.length));
      return Float64Array.from(of, (label) => scores[label]);
    },
  };
}
