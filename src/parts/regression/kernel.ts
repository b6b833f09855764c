// The covariance k(x, z) = a x.z + v g(|x - z|^2 / l^2) of the closed form, from inner products and squared lengths; where rows have
// views, the weighted sum of one for each.

import { positiveNumber } from "../../base/check.ts";
import { type KernelName, scalarKernel, termsOf } from "../../base/kernels.ts";
import { deterministicLog } from "../../base/math.ts";
import { type WorkOptions, yieldToHost } from "../../base/progress.ts";
import { denseRow, dot, type SparseRows, squaredNorms, withinColumns } from "../../base/sparse.ts";
import type { Core, Precision } from "../../core/core.ts";
import { covariance } from "../../core/covariance.ts";
import { addDiagonal, blend, diagonal } from "../../core/dense.ts";
import type { SparseProductsOptions } from "../../core/kernelrows.ts";
import { type Matrix, matrix, matrixFrom, type RealArray, scoped } from "../../core/matrix.ts";
import { type FeatureTransform, unitSquares, viewRanges, wholeSquares } from "../../data/transform.ts";
import { blocksOf } from "./leaveoneout.ts";
import { type InnerProducts, KERNEL_ROWS, PointIndex, type Points } from "./points.ts";

/** Which covariance, with its values; on unit rows and with l = v = 1, "se" is exp(x.z - 1). */
export interface KernelChoice {
  name: KernelName;
  /** l */
  lengthScale?: number;
  /** v */
  variance?: number;
  /** a, the factor of x.z. */
  linearVariance?: number;
  /** Where rows have views, the factor and length scale of each, words first: k = sum_v w_v k_v. */
  views?: readonly ViewKernel[] | undefined;
}

/** w and l of a view; 0 leaves it out. */
export interface ViewKernel {
  readonly weight: number;
  readonly lengthScale: number;
}

/** Covariance function and noise, which are chosen together. */
export interface KernelNoise {
  /** lam */
  readonly noise: number;
  readonly kernel: KernelChoice;
}

export interface KernelPart<Name extends string = string> {
  readonly family: Name;
  readonly kernel: KernelName;
  /** a, v, l of the kernel; lam */
  readonly hyper: readonly [number, number, number];
  readonly noise: number;
  readonly views?: readonly ViewKernel[] | undefined;
  /** Z as the kernel sees it. */
  readonly rows: SparseRows;
  /** a [M,K] */
  readonly dual: Float32Array;
  /** mu [K], the labels' frequencies */
  readonly mean: Float32Array;
  /** Posterior variances of the last points with each of them left out, where they are known. */
  readonly looVariances?: Float32Array;
  /** Points whose dual weights are all kept when it is made small: those are left out, and shall not meet their own faults. */
  readonly intact?: ReadonlySet<number>;
}

/** The kernel of a part, with its values. */
export function choiceOf({ kernel: name, hyper, noise, views }: Omit<KernelPart, "family">): KernelNoise {
  const [linearVariance, variance, lengthScale] = hyper;
  return { noise, kernel: { name, linearVariance, variance, lengthScale, views } };
}

/** a, v, l of each view, or undefined where it is left out; of rows without views one. */
export function hyperOf(choice: KernelChoice): readonly (readonly [number, number, number] | undefined)[] {
  const lengthScale = positiveNumber("lengthScale", choice.lengthScale ?? 1);
  const variance = positiveNumber("variance", choice.variance ?? 1);
  const slope = positiveNumber("linearVariance", choice.linearVariance ?? 1);
  const views = choice.views ?? [{ weight: 1, lengthScale }];
  return views.map(({ weight, lengthScale: own }) =>
    weight === 0 ? undefined : [weight * slope, weight * variance, positiveNumber("lengthScale", own)],
  );
}

/** Covariances of rows that are weighted and scaled, by plain numbers: k(x, x) [n], and those of all with one of the others [n]. */
export interface RowCovariances {
  readonly own: Float64Array;
  with(other: number): Float64Array;
}

/** The covariance of rows; without weights of views it is of whole rows. */
export function rowKernel(
  choice: KernelChoice,
  transform: FeatureTransform,
): (rows: SparseRows, others?: SparseRows) => RowCovariances {
  const ranges = choice.views && viewRanges(transform);
  return (all, allOthers = all) => {
    const views = hyperOf(choice).flatMap((hyper, view) => {
      if (hyper === undefined) return [];
      const range = ranges?.[view];
      const part = (rows: SparseRows): SparseRows => (range ? withinColumns(rows, range.from, range.to) : rows);
      const squaresOf = (rows: SparseRows): ArrayLike<number> => {
        if (range === undefined) return wholeSquares(rows, transform);
        return (view === 0 ? unitSquares(rows, transform) : undefined) ?? squaredNorms(part(rows));
      };
      const [rows, others] = [part(all), part(allOthers)];
      const [squares, otherSquares] = [squaresOf(all), squaresOf(allOthers)];
      return [{ ...scalarKernel(choice.name, hyper), rows, others, squares, otherSquares }];
    });
    const summed = (of: (view: (typeof views)[number]) => (row: number) => number): Float64Array => {
      const each = views.map(of);
      return Float64Array.from({ length: all.rows }, (_, i) => each.reduce((sum, value) => sum + value(i), 0));
    };
    return {
      own: summed(
        ({ own, squares }) =>
          (i) =>
            own(squares[i]),
      ),
      with: (other) =>
        summed(({ covariance, rows, others, squares, otherSquares }) => {
          const full = denseRow(others, other);
          return (i) => covariance(dot(rows, i, full), squares[i], otherSquares[other]);
        }),
    };
  };
}

/** x_i.z_j and |x_i|^2 of a view. */
export interface ViewProducts {
  readonly products: Matrix;
  readonly squares: Matrix;
}

/** A covariance in the memory of a core. */
export class Kernel {
  readonly choice: KernelChoice;
  /** log a, log v, log l of each view; undefined where it is left out. */
  readonly #hyper: readonly (Matrix | undefined)[];

  constructor(core: Core, precision: Precision, choice: KernelChoice) {
    this.choice = choice;
    this.#hyper = hyperOf(choice).map(
      (hyper) => hyper && matrixFrom(core, 1, 3, hyper.map(deterministicLog), precision),
    );
  }

  /** out_ij = w_v k_v(x_i, z_j) from x_i.z_j, |x_i|^2 and |z_j|^2 of a view. out may not be the products. */
  map(products: Matrix, rowSquares: Matrix, columnSquares: Matrix, out: Matrix, view = 0): Matrix {
    const hyper = this.#hyper[view] as Matrix;
    return covariance({ terms: termsOf(this.choice.name), products, rowSquares, columnSquares, hyper }, out);
  }

  /** out_ij = k(x_i, z_j) for points from to to; `lower`: of z_0 ... z_to alone. `room` has a row for each point and a column for each z. */
  rows(
    points: Points,
    index: InnerProducts,
    range: Required<SparseProductsOptions>,
    room: Matrix,
    out: Matrix,
  ): Matrix {
    const { from, to, lower } = range;
    const columns = lower ? to : index.points.rows;
    const of = (view: number): ViewProducts => ({
      products: index.products(points, view, room, range).block(0, 0, to - from, columns),
      squares: points.views[view].squaresOf(from, to),
    });
    return this.fromProducts(of, index.points, out);
  }

  /** out_ij = k(x_i, z_j) from what is known of each view, for as many z as out has columns. */
  fromProducts(of: (view: number) => ViewProducts, z: Points, out: Matrix): Matrix {
    return scoped((scope) => {
      let isFirst = true;
      for (const [view, { squares: all }] of z.views.entries()) {
        if (this.#hyper[view] === undefined) continue;
        const { products, squares } = of(view);
        const own = isFirst ? out : scope.keep(matrix(out.core, out.rows, out.columns, out.precision));
        this.map(products, squares, all.block(0, 0, 1, out.columns), own, view);
        if (!isFirst) blend(1, out, 1, own, out);
        isFirst = false;
      }
      return out;
    });
  }

  /** k(x, x) from |x|^2 of each view. */
  self(squares: readonly RealArray[]): Float64Array {
    const all = new Float64Array(squares[0].length);
    hyperOf(this.choice).forEach((hyper, view) => {
      const { own } = hyper ? scalarKernel(this.choice.name, hyper) : { own: () => 0 };
      squares[view].forEach((square, i) => {
        all[i] += own(square);
      });
    });
    return all;
  }

  /** The diagonal of a covariance of points with themselves becomes k(x, x). */
  writeDiagonal(square: Matrix, squares: readonly Matrix[]): Matrix {
    return scoped((scope) => {
      const { core, precision, rows } = square;
      const change = diagonal(square, scope.keep(matrix(core, 1, rows, precision)));
      const wanted = matrixFrom(core, 1, rows, this.self(squares.map((each) => each.view())), precision);
      blend(1, scope.keep(wanted), -1, change, change);
      return addDiagonal(square, change);
    });
  }

  free(): void {
    for (const hyper of this.#hyper) hyper?.free();
  }
}

/** K in the lower triangle of out, or in its rows from `first` on. */
export async function kernelMatrix(
  points: Points,
  kernel: Kernel,
  out: Matrix,
  options: WorkOptions & { readonly products?: InnerProducts | undefined; readonly first?: number } = {},
): Promise<Matrix> {
  const { rows, x } = points;
  const { first = 0 } = options;
  await scoped(async (scope) => {
    const index = options.products ?? (await PointIndex.inTurns(points, scope, options));
    const room = scope.keep(matrix(x.core, Math.min(KERNEL_ROWS, rows), rows, x.precision));
    for (const { from, to } of blocksOf([{ from: first, to: rows }], KERNEL_ROWS)) {
      await yieldToHost(options, "kernel", (from / rows) ** 2);
      const range = { from, to, lower: true };
      kernel.rows(points, index, range, room.rowRange(0, to - from), out.block(from, 0, to - from, to));
    }
  });
  const squares = points.views.map((view) => view.squaresOf(first, rows));
  kernel.writeDiagonal(out.block(first, first, rows - first, rows - first), squares);
  return out;
}
