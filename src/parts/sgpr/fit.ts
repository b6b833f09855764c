// Fitting sparse GP regression, where points are too many for each to carry the mean: some of them, drawn at random, carry it for
// all as inducing points. The stored weight of each is a = inverse(L)' W: scores are k(x,Z) a + mu, as in the exact form.

import type { WorkOptions } from "../../base/progress.ts";
import type { Core } from "../../core/core.ts";
import { gemm, scale } from "../../core/dense.ts";
import { keeping, type Matrix, matrix } from "../../core/matrix.ts";
import { selectRows } from "../../data/dataset.ts";
import { type KernelProblem, kernelProblem } from "../gpr/fit.ts";
import type { Cost, Fit, FitContext, PartLearner } from "../part.ts";
import { isAffordable, LEFT_OUT } from "../regression/cost.ts";
import { documentsOf, selectLabelled, withIds } from "../regression/documents.ts";
import { inducingFeatures } from "../regression/inducing.ts";
import type { KernelPart } from "../regression/kernel.ts";
import { kernelPart } from "../regression/kernelpart.ts";
import { type PointRange, someOf } from "../regression/leaveoneout.ts";
import { placeDocuments } from "../regression/points.ts";
import { LABELS_AT_ONCE, solveRidge } from "../regression/ridge.ts";
import { BLOCK_ROWS, featuresOf, learnPoints, leaveOneOutOf } from "../regression/sparse.ts";
import { Statistics } from "../regression/totals.ts";
import { learnerOf } from "./learn.ts";

export type SgprPart = KernelPart<"sgpr">;

/** More inducing points than this gain little, and their square leaves a core little room. */
const MOST_INDUCING = 8000;

/** Cost of the fit for M inducing points: whitening, features in single precision, sums and C in double precision. */
export function costOf(m: number, points: number, labels: number): Cost {
  const sums = 8 * m * (m + labels);
  const solving = 8 * m ** 2 + 4 * m * labels + Math.max(4 * m ** 2, 32 * m * Math.min(LABELS_AT_ONCE, labels));
  const blocks = 4 * m * (2 * m + 2 * Math.min(BLOCK_ROWS, points));
  return {
    bytes: sums + solving + blocks,
    operations: 2 * m ** 3 + 2 * points * m ** 2 + 2 * (m ** 3 + 2 * m ** 2 * labels),
  };
}

/** M: as many as the exact form's time and memory allow. */
export function inducingCount(points: number, labels: number): number {
  let count = Math.min(MOST_INDUCING, points);
  while (count > 1 && !isAffordable(costOf(count, points, labels))) count = Math.floor(0.95 * count);
  return count;
}

/** Cost of the fit, beside the calibrator. */
export const inducingCost = (points: number, labels: number): Cost =>
  costOf(inducingCount(points, labels), points, labels);

export async function fitSgpr(context: FitContext): Promise<Fit<SgprPart>> {
  const problem = await kernelProblem(context);
  const { schema, options, documents } = problem;
  for (const made of [problem.products, problem.form]) made?.free();
  const { core, data, run, work } = context;
  const count = inducingCount(documents.features.rows, schema.labels);
  const { learner, ...fit } = await fitInducing(core, problem, count, work, run.onState !== undefined);
  const known = learner && withIds(documentsOf(selectRows(data, problem.order), documents.features));
  const learning = learner && known && { learner, documents: known };
  return { ...fit, loo: fit.loo && { ...fit.loo, order: problem.order }, schema, options, learning };
}

/** The first points carry the mean, the last ones are left out for the calibrator: a new point is none of the first. */
export async function fitInducing(
  core: Core,
  { documents, schema, choice, placed }: Omit<KernelProblem, "order" | "options" | "products" | "form">,
  count: number,
  work: WorkOptions,
  learns = false,
): Promise<Fit<SgprPart> & { readonly learner?: PartLearner<SgprPart> | undefined }> {
  const { features, labels: sets } = documents;
  return await keeping(async (scope) => {
    const { points, labels } = scope.keep(placed);
    const inducing = selectLabelled(documents, [...Array(count).keys()]);
    const z = scope.keep(placeDocuments(core, inducing, schema.labels, schema));
    const basis = scope.keep(await inducingFeatures(z.points, choice.kernel, work));
    const walk = featuresOf(basis, points);
    const statistics = new Statistics(core, { features: count, labels: schema.labels });
    const sums = scope.keep(matrix(core, 1, count, "f64"));
    const solution = scope.keep(
      await learnPoints(statistics, walk, labels, work)
        .then(() => scale(1, statistics.sums, sums))
        .then(() => solveRidge(statistics, { noise: choice.noise }, "f32", { ...work, keepExact: learns }))
        .finally(() => statistics.free()),
    );
    const dual = scope.keep(dualOf(basis.whitening, solution.weights));
    const part = kernelPart("sgpr", choice, inducing.features, { dual, mean: solution.mean });
    const source = leaveOneOutOf(solution, walk, labels);
    const ranges = someOf([lastOf(features.rows, count)], LEFT_OUT);
    const learner = learns ? await learnerOf(part, schema, { basis, solution, sums, points, labels }, work) : undefined;
    return { part, learner, loo: { source, ranges, labels, sets, texts: features.texts }, free: () => scope.free() };
  });
}

/** Points that are not inducing ones, where there are enough; else all. */
const lastOf = (points: number, inducing: number): PointRange => ({
  from: points - inducing >= LEFT_OUT ? inducing : 0,
  to: points,
});

/** a [M,K] = inverse(L)' W */
const dualOf = (whitening: Matrix, weights: Matrix): Matrix =>
  gemm(whitening, weights, matrix(weights.core, weights.rows, weights.columns, "f32"), { transposeA: true });
