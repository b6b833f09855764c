// Documents with vectors: the covariance is the weighted sum of one for the words and one for each vector,
//
//     k(x, z) = sum_v w_v k_v(x_v, z_v),      sum_v w_v = 1
//
// with weights and length scales by leave-one-out. A vector that does not help has the weight 0.

import { isLinear } from "../../base/kernels.ts";
import type { View } from "../../base/sparse.ts";
import { type Scope, scoped } from "../../core/matrix.ts";
import type { FitContext, ModelSchema } from "../part.ts";
import { type LabelledRows, selectLabelled } from "../regression/documents.ts";
import type { KernelNoise, ViewKernel } from "../regression/kernel.ts";
import { climb } from "../regression/leaveoneout.ts";
import { spreadOver } from "../regression/points.ts";

/** Points that weights and length scales are compared on. */
const LOOKED_AT = 2000;
/** Weight of a vector beside what comes before it, and its length scale. */
const WEIGHTS = [0.15, 0.3, 0.5, 0.7, 0.85, 1];
const LENGTHS = [0.35, 0.5, 0.7, 1, 1.4];
const [FIRST_WEIGHT, FIRST_LENGTH] = [0.5, 0.7];

/** Squared errors of left-out points of some documents, by choice; what they need is put into the scope. */
export type ErrorsOf = (some: LabelledRows, room: Scope) => Promise<(choice: KernelNoise) => Promise<number>>;

/** The choice for the words, with the weights and length scales of the vectors that make the least squared error of left-out points. */
export async function chooseViews(
  { schema, note }: FitContext,
  documents: LabelledRows,
  words: KernelNoise,
  errorsOf: ErrorsOf,
): Promise<KernelNoise> {
  return await scoped(async (room) => {
    const some = selectLabelled(documents, spreadOver(documents.features.rows, LOOKED_AT));
    return await bestViews(schema, note, words, await errorsOf(some, room));
  });
}

async function bestViews(
  schema: ModelSchema,
  note: FitContext["note"],
  words: KernelNoise,
  errorOf: (choice: KernelNoise) => Promise<number>,
): Promise<KernelNoise> {
  const views = schema.transform.views as readonly View[];
  const withKernels = (kernels: readonly ViewKernel[]): KernelNoise => ({
    ...words,
    kernel: { ...words.kernel, views: kernels },
  });
  const lossAt = (kernels: readonly ViewKernel[]): Promise<number> => errorOf(withKernels(kernels));
  const off: ViewKernel = { weight: 0, lengthScale: 1 };
  let chosen: readonly ViewKernel[] = [
    { weight: 1, lengthScale: words.kernel.lengthScale ?? 1 },
    ...views.map(() => off),
  ];
  let least = await lossAt(chosen);
  const alone = least;
  for (const [place] of views.entries()) {
    const before = chosen;
    const beside = (weight: number, lengthScale: number): readonly ViewKernel[] =>
      before.map((each, i) =>
        i === place + 1 ? { weight, lengthScale } : { ...each, weight: (1 - weight) * each.weight },
      );
    const best = (list: readonly number[], first: number, of: (value: number) => readonly ViewKernel[]) =>
      climb(
        list.length,
        list.indexOf(first),
        async (i) => ({ value: list[i], loss: await lossAt(of(list[i])) }),
        ({ loss }) => -loss,
      );
    const lengths = isLinear(words.kernel.name) ? [FIRST_LENGTH] : LENGTHS;
    const length = await best(lengths, FIRST_LENGTH, (value) => beside(FIRST_WEIGHT, value));
    const weight = await best(WEIGHTS, FIRST_WEIGHT, (value) => beside(value, length.value));
    if (weight.loss < least) [chosen, least] = [beside(weight.value, length.value), weight.loss];
  }
  const inWords = chosen.slice(1).map(({ weight, lengthScale }, i) => {
    const { name } = views[i];
    return weight === 0 ? `${name} is left out` : `${name} has weight ${weight} and length scale ${lengthScale}`;
  });
  note(
    `Vectors beside the words: ${inWords.join(", ")}; squared error ${least.toFixed(3)}, ${alone.toFixed(3)} with words alone (leave-one-out)`,
  );
  return withKernels(chosen);
}
