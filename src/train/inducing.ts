// Training in closed form where points are too many for each to carry the mean: some of them, drawn at random, carry it for
// all, as inducing points (the sparse form of closed/sparse.ts). What is stored is the weight of each, a = inverse(L)' W:
// scores are then k(x,Z) a + mu, as in the exact form.

import { placeDocuments } from "../closed/change.ts";
import type { ExactChoice } from "../closed/choose.ts";
import { type Cost, sparseCost } from "../closed/cost.ts";
import type { Documents } from "../closed/documents.ts";
import { inducingFeatures } from "../closed/inducing.ts";
import { type PointRange, someOf } from "../closed/leaveoneout.ts";
import { solveRidge } from "../closed/ridge.ts";
import { featuresOf, learnPoints, leaveOneOutOf } from "../closed/sparse.ts";
import { Statistics } from "../closed/statistics.ts";
import type { Core } from "../core/core.ts";
import { gemm } from "../core/dense.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import { type Dataset, selectFeatures, selectLabels } from "../data/dataset.ts";
import type { ModelFrame } from "../model/model.ts";
import { chosenOf, documentsInOrder, type ExactWork, MOST_BYTES, MOST_OPERATIONS } from "./exact.ts";
import { CALIBRATED, type ClosedFit, finishedFit, kernelPart } from "./kernelFit.ts";

/** More inducing points than this gain little, and their square leaves a core little room. */
const MOST_INDUCING = 8000;

/** What so many inducing points take. */
const costOf = (inducing: number, points: number, labels: number): Cost =>
  sparseCost({ points, kernel: inducing, linear: 0, labels }, "f32");

/** M: as many as the exact form's time and memory allow. */
export function inducingCount(points: number, labels: number): number {
  let count = Math.min(MOST_INDUCING, points);
  const isTooMuch = ({ operations, bytes }: Cost): boolean =>
    operations > MOST_OPERATIONS || bytes > MOST_BYTES;
  while (count > 1 && isTooMuch(costOf(count, points, labels))) count = Math.floor(0.95 * count);
  return count;
}

/** What it takes in all, beside the calibrator. */
export const inducingCost = (points: number, labels: number): Cost =>
  costOf(inducingCount(points, labels), points, labels);

/** How many points carry the mean, if not as many as can be. */
export interface InducingWork extends ExactWork {
  readonly count?: number;
}

export async function trainInducing(
  core: Core,
  given: Dataset,
  frame: ModelFrame,
  choices: readonly ExactChoice[],
  seed: number,
  work: InducingWork,
  note: (text: string) => void,
): Promise<ClosedFit> {
  const { documents } = documentsInOrder(core, given, frame, seed);
  const choice = await chosenOf(choices, core, documents, frame.labels, work, note);
  const count = work.count ?? inducingCount(documents.features.rows, frame.labels);
  return await fitInducing(core, documents, count, frame, choice, work);
}

/** The first points carry the mean, the last ones are left out for the calibrator: a new point is none of the first. */
async function fitInducing(
  core: Core,
  documents: Omit<Documents, "ids">,
  count: number,
  frame: ModelFrame,
  choice: ExactChoice,
  work: ExactWork,
): Promise<ClosedFit> {
  const { features, labels: sets } = documents;
  const scope = new Scope();
  try {
    const { points, labels } = scope.keep(placeDocuments(core, documents, frame.labels, "f32"));
    const inducing = firstOf(documents, count);
    const z = scope.keep(placeDocuments(core, inducing, frame.labels, "f32"));
    const basis = scope.keep(await inducingFeatures({ points: z.points }, choice.kernel, work));
    const walk = featuresOf({ inducing: basis, linear: false, device: work.device }, points);
    const sums = new Statistics(core, { kernel: count, linear: 0, labels: frame.labels });
    const solution = scope.keep(
      await learnPoints(sums, walk, labels, work)
        .then(() => solveRidge(sums, { noise: choice.noise }, "f32", work))
        .finally(() => sums.free()),
    );
    const dual = scope.keep(dualOf(basis.whitening, solution.weights));
    const closed = kernelPart("inducing", choice, inducing.features, dual);
    const leftOut = leaveOneOutOf(solution, walk, labels);
    const ranges = someOf([lastOf(features.rows, count)], CALIBRATED);
    return await finishedFit(core, closed, frame, { leftOut, ranges, labels, sets }, work);
  } finally {
    scope.free();
  }
}

/** Points that are not inducing ones, where there are enough; else all. */
const lastOf = (points: number, inducing: number): PointRange => ({
  from: points - inducing >= CALIBRATED ? inducing : 0,
  to: points,
});

function firstOf(
  { features, labels, squares }: Omit<Documents, "ids">,
  count: number,
): Omit<Documents, "ids"> {
  const rows = Array.from({ length: count }, (_, i) => i);
  return {
    features: selectFeatures(features, rows),
    labels: selectLabels(labels, rows),
    squares: squares?.subarray(0, count),
  };
}

/** a [M,K] = inverse(L)' W */
const dualOf = (whitening: Matrix, weights: Matrix): Matrix =>
  gemm(whitening, weights, matrix(weights.core, weights.rows, weights.columns, "f32"), { transposeA: true });
