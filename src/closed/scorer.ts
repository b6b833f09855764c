// A closed-form posterior from its saved numbers, to score new points with.
//
//     exact:  s(x) = k(x,X) a + mu      linear:  s(x) = x W + mu      stack:  s2 = ((s - mu) E) Bs + mu

import type { Core } from "../core/core.ts";
import { csr, sparseTimes } from "../core/csr.ts";
import { combine, gemm } from "../core/dense.ts";
import { type Matrix, matrix, matrixFrom, Scope, scoped } from "../core/matrix.ts";
import { keptColumns } from "../data/columns.ts";
import type { SparseRows } from "../data/dataset.ts";
import type { FeatureTransform } from "../data/transform.ts";
import type { ClosedModel, KernelPart, LinearPart } from "../model/model.ts";
import { IndexedPoints, PlacedRows } from "./indexed.ts";
import { Kernel } from "./kernel.ts";

/** Scores points, as many at a time as the caller has room for. */
export interface ClosedScorer {
  /** out [n,K] = s of rows that are weighted and scaled already. */
  scores(rows: SparseRows, out: Matrix): void;
  /** out [n,K] = s2 from s [n,K]; only where the model has a stack. */
  stacked(scores: Matrix, out: Matrix): void;
  free(): void;
}

export function closedScorer(
  core: Core,
  { closed, labelMean, stack, labels }: Pick<ClosedModel, "closed" | "labelMean" | "stack" | "labels">,
  transform: FeatureTransform,
): ClosedScorer {
  const scope = new Scope();
  const mean = scope.keep(matrixFrom(core, 1, labels, labelMean, "f32"));
  const first =
    closed.form !== "linear"
      ? exactScores(core, closed, labels, transform, scope)
      : linearScores(core, closed, labels, scope);
  const vectors = stack && scope.keep(matrixFrom(core, labels, stack.rank, stack.vectors, "f32"));
  const weights = stack && scope.keep(matrixFrom(core, stack.rank, labels, stack.weights, "f32"));
  return {
    scores(rows, out) {
      first(rows, out);
      combine("add", out, mean, out);
    },
    stacked(scores, out) {
      if (vectors === undefined || weights === undefined) return;
      scoped((inner) => {
        const projected = inner.keep(matrix(core, scores.rows, vectors.columns, "f32"));
        gemm(combine("subtract", scores, mean, out), vectors, projected);
        combine("add", gemm(projected, weights, out), mean, out);
      });
    },
    free: () => scope.free(),
  };
}

type Scores = (rows: SparseRows, out: Matrix) => void;

function exactScores(
  core: Core,
  part: KernelPart,
  labels: number,
  transform: FeatureTransform,
  scope: Scope,
): Scores {
  const placed = (rows: SparseRows, room: Scope): PlacedRows =>
    room.keep(new PlacedRows(core, rows, transform));
  const training = scope.keep(new IndexedPoints(core, placed(part.rows, scope)));
  const { rows: size, squares } = training.points;
  const [linearVariance, variance, lengthScale] = part.hyper;
  const choice = { name: part.kernel, linearVariance, variance, lengthScale };
  const kernel = scope.keep(new Kernel(core, "f32", choice));
  const dual = scope.keep(matrixFrom(core, size, labels, part.dual, "f32"));
  return (rows, out) =>
    scoped((inner) => {
      const points = placed(rows, inner);
      const room = (): Matrix => inner.keep(matrix(core, rows.rows, size, "f32"));
      const products = training.products(points, room());
      gemm(kernel.map(products, points.squares, squares, room()), dual, out);
    });
}

function linearScores(core: Core, part: LinearPart, labels: number, scope: Scope): Scores {
  const { columns } = part;
  const weights = scope.keep(matrixFrom(core, columns.length, labels, part.weights, "f32"));
  return (rows, out) =>
    scoped((inner) => {
      const x = inner.keep(csr(core, keptColumns(rows, columns), "f32"));
      sparseTimes(x, weights, out);
    });
}
