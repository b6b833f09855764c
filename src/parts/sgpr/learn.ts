// Learning into sparse GP regression. The weights a of the inducing points are those of ridge regression on the covariances k(x,Z), so
// that new documents change them and C in as many directions as there are of them (regression/learn.ts). A training solves for the
// whitened features phi(x) = inverse(L) k(Z,x); with C and t of these,
//
//     C of k(x,Z) = inverse(L') C inverse(L)      t of k(x,Z) = inverse(L') t      a = inverse(L') W
//
// Inducing points, kernel and noise stay.

import type { WorkOptions } from "../../base/progress.ts";
import type { Core } from "../../core/core.ts";
import { convert, gemm, scale } from "../../core/dense.ts";
import { keeping, type Matrix, matrix, Scope, scoped } from "../../core/matrix.ts";
import type { Pattern } from "../../core/pattern.ts";
import { transformedRows } from "../../data/transform.ts";
import type { ModelSchema, PartLearner } from "../part.ts";
import type { InducingFeatures } from "../regression/inducing.ts";
import { choiceOf, Kernel, type KernelPart } from "../regression/kernel.ts";
import { LearnedRidge } from "../regression/learn.ts";
import { type LearnedSums, type RidgePart, restoredSums, ridgeLearner } from "../regression/learner.ts";
import { allPoints, forEachBlock, type PointRange } from "../regression/leaveoneout.ts";
import { packLower } from "../regression/packed.ts";
import { PointIndex, type Points, placeRows } from "../regression/points.ts";
import type { RidgeSolution } from "../regression/ridge.ts";
import { featuresOf, learnPoints } from "../regression/sparse.ts";
import type { LearningState } from "../regression/state.ts";
import { Totals } from "../regression/totals.ts";

type SgprPart = KernelPart<"sgpr">;

/** Fewer at a time, and most of it would be packing. */
const COLUMNS_AT_ONCE = 64;

/** The solution of a training, with its points. */
interface Solved {
  readonly basis: InducingFeatures;
  readonly solution: RidgeSolution;
  /** Sums of the whitened features [1,M]. */
  readonly sums: Matrix;
  readonly points: Points;
  readonly labels: Pattern;
}

/** The learner of a training's solution, which takes its exact inverse over. */
export async function learnerOf(
  part: SgprPart,
  schema: ModelSchema,
  { basis, solution, sums, points, labels }: Solved,
  work: WorkOptions,
): Promise<PartLearner<SgprPart>> {
  const { core } = basis.z.x;
  const { mean, exactInverse } = solution;
  return await keeping(async (scope) => {
    const inverse = exactInverse as Matrix;
    const direction = scope.keep(matrix(core, 1, basis.count, "f64"));
    await scoped(async (inner) => {
      const whitening = inner.keep(matrix(core, basis.count, basis.count, "f64"));
      convert(basis.whitening, whitening);
      gemm(gemm(sums, inverse, inner.keep(matrix(core, 1, basis.count, "f64"))), whitening, direction);
      await unwhiten(inverse, whitening, work);
    });
    const totals = scope.keep(new Totals(core, { features: basis.count, labels: schema.labels }));
    await learnPoints(totals, featuresOf(basis, points, "covariances"), labels, work);
    const own = scope.keep(matrix(core, 1, schema.labels, "f32"));
    const weights = scope.keep(matrix(core, basis.count, schema.labels, "f32").set(part.dual));
    const known = { inverse: packLower(inverse), direction: direction.toArray(), pending: [] };
    inverse.free();
    const learned = new LearnedRidge(totals, { weights, mean: scale(1, mean, own) }, known);
    return sgprLearner(core, part, schema, { totals, learned, free: () => scope.free() });
  });
}

/** C becomes inverse(L') C inverse(L), in its lower triangle. */
async function unwhiten(c: Matrix, whitening: Matrix, work: WorkOptions): Promise<void> {
  const { core, rows: m } = c;
  await scoped(async (scope) => {
    const half = scope.keep(matrix(core, m, m, "f64"));
    /** inverse(L) is zero above its diagonal. */
    const below = ({ from, to }: PointRange): Matrix => whitening.block(from, from, m - from, to - from);
    const forColumns = (make: (range: PointRange) => void): Promise<void> =>
      forEachBlock(allPoints(m), COLUMNS_AT_ONCE, "inverse", work, make);
    await forColumns((range) => {
      const { from, to } = range;
      gemm(c.block(0, from, m, m - from), below(range), half.block(0, from, m, to - from));
    });
    await forColumns((range) => {
      const { from, to } = range;
      gemm(below(range), half.block(from, 0, m - from, to), c.block(from, 0, to - from, to), { transposeA: true });
    });
  });
}

function sgprLearner(
  core: Core,
  start: SgprPart,
  { transform }: ModelSchema,
  sums: LearnedSums,
): PartLearner<SgprPart> {
  const scope = new Scope();
  const kernel = scope.keep(new Kernel(core, "f32", choiceOf(start).kernel));
  const z = scope.keep(new PointIndex(placeRows(core, start.rows, transform, scope)));
  const columns = start.rows.rows;
  const own: RidgePart<SgprPart> = {
    noise: start.noise,
    rows: (features) => transformedRows(features, transform, 0, features.rows),
    featuresOf: (given) =>
      scoped((room) => {
        const { rows } = given;
        const make = (): Matrix => room.keep(matrix(core, rows, columns, "f32"));
        const range = { from: 0, to: rows, lower: false };
        const values = kernel.rows(placeRows(core, given, transform, room), z, range, make(), make());
        return {
          rows,
          columns,
          rowStart: Int32Array.from({ length: rows + 1 }, (_, i) => i * columns),
          columnIndex: Int32Array.from({ length: rows * columns }, (_, e) => e % columns),
          values: values.toArray() as Float32Array,
        };
      }),
    changed: (part, { weights, mean }) => ({
      ...part,
      dual: weights.toArray() as Float32Array,
      mean: mean.toArray() as Float32Array,
    }),
  };
  const free = (): void => {
    scope.free();
    sums.free();
  };
  return ridgeLearner(start, own, { ...sums, free });
}

/** The learner of a part from its state. */
export const restoredLearner = (
  part: SgprPart,
  schema: ModelSchema,
  core: Core,
  state: LearningState,
): PartLearner<SgprPart> => sgprLearner(core, part, schema, restoredSums(core, state, part.dual));
