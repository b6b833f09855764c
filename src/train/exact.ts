// Training in closed form where every point carries the mean: one factorisation for all labels, and everything that is
// chosen or calibrated is so by leaving each point out.

import { placeDocuments } from "../closed/change.ts";
import { chooseExact, type ExactChoice } from "../closed/choose.ts";
import { exactCost } from "../closed/cost.ts";
import type { Documents } from "../closed/documents.ts";
import { type ExactOptions, fitExact } from "../closed/exact.ts";
import { someOf } from "../closed/leaveoneout.ts";
import type { Core } from "../core/core.ts";
import { Scope } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { permutation } from "../core/random.ts";
import { type Dataset, selectRows } from "../data/dataset.ts";
import { transformedRows, wholeSquares } from "../data/transform.ts";
import type { ModelFrame } from "../model/model.ts";
import type { KernelName } from "../model/names.ts";
import { CALIBRATED, type ClosedFit, finishedFit, kernelPart } from "./kernelFit.ts";

/** Up to so many points the smaller noise is better. */
const FEW_POINTS = 10_000;
/** Points in a random order: those with left-out scores may be the last ones, and are a fair sample. */
export const ORDER_STREAM = 77;

/** Length scale and noise: wide, or narrow with less noise; left-out figures are flat in between. */
export const choicesFor = (name: KernelName, points: number): ExactChoice[] => [
  { noise: points > FEW_POINTS ? 0.4 : 0.2, kernel: { name, lengthScale: 1 } },
  { noise: 0.1, kernel: { name, lengthScale: 0.7 } },
];

/** What the exact form may cost: operations (some two minutes on two cores), and bytes of a core's four gigabytes. */
export const MOST_OPERATIONS = 6e12;
export const MOST_BYTES = 3.2e9;

/** Whether there are few enough points for each of them to carry the mean. */
export function canBeExact(points: number, labels: number): boolean {
  const { operations, bytes } = exactCost({ points, labels }, "f32", { leftOut: CALIBRATED });
  return operations <= MOST_OPERATIONS && bytes <= MOST_BYTES;
}

/** The most points that can be exact. */
export function mostExact(labels: number): number {
  let [most, beyond] = [0, 2 ** 20];
  while (beyond - most > 1) {
    const middle = (most + beyond) >> 1;
    if (canBeExact(middle, labels)) most = middle;
    else beyond = middle;
  }
  return most;
}

/** What was fitted, and the order that the points were put in for it. */
export interface TrainedExact extends ClosedFit {
  readonly order: ArrayLike<number>;
}

/** How it runs, and what computes, if not the core. */
export type ExactWork = Pick<ExactOptions, "device" | keyof WorkOptions>;

export async function trainExact(
  core: Core,
  given: Dataset,
  frame: ModelFrame,
  choices: readonly ExactChoice[],
  seed: number,
  work: ExactWork,
  note: (text: string) => void,
): Promise<TrainedExact> {
  const { order, documents } = documentsInOrder(core, given, frame, seed);
  const choice = await chosenOf(choices, core, documents, frame.labels, work, note);
  return { order, ...(await fitChosen(core, documents, frame, choice, work)) };
}

/** All points as the kernel sees them, in a random order. */
export function documentsInOrder(
  core: Core,
  given: Dataset,
  frame: ModelFrame,
  seed: number,
): { order: ArrayLike<number>; documents: Omit<Documents, "ids"> } {
  const order = permutation(core, given.features.rows, { seed, stream: ORDER_STREAM });
  const data = selectRows(given, order);
  const rows = transformedRows(data.features, frame.transform, 0, data.features.rows);
  const squares = wholeSquares(rows, frame.transform);
  return { order, documents: { features: rows, labels: data.labels, squares } };
}

/** The best of several choices, by leaving points out. */
export async function chosenOf(
  choices: readonly ExactChoice[],
  core: Core,
  documents: Omit<Documents, "ids">,
  labels: number,
  work: ExactWork,
  note: (text: string) => void,
): Promise<ExactChoice> {
  if (choices.length === 1) return choices[0] as ExactChoice;
  const placed = placeDocuments(core, documents, labels, "f32");
  try {
    const { choice } = await chooseExact(placed.points, placed.labels, { ...work, choices });
    note(`length scale ${choice.kernel.lengthScale}, noise ${choice.noise}: chosen by leaving points out`);
    return choice;
  } finally {
    placed.free();
  }
}

/** Posterior, stack and calibrator of points for one choice; the last points are those that are left out. */
export async function fitChosen(
  core: Core,
  documents: Omit<Documents, "ids">,
  frame: ModelFrame,
  choice: ExactChoice,
  work: ExactWork,
): Promise<ClosedFit> {
  const scope = new Scope();
  try {
    const squares = documents.squares ?? wholeSquares(documents.features, frame.transform);
    const { points, labels } = scope.keep(
      placeDocuments(core, { ...documents, squares }, frame.labels, "f32"),
    );
    const { weights } = documents;
    const of = { ...work, ...choice, weights, leftOut: CALIBRATED, variances: false };
    const form = scope.keep(await fitExact(points, labels, of));
    const closed = kernelPart("exact", choice, documents.features, form.dual);
    const unseen = { leftOut: form, ranges: someOf(form.ranges, CALIBRATED), labels, sets: documents.labels };
    return await finishedFit(core, closed, frame, unseen, work);
  } finally {
    scope.free();
  }
}
