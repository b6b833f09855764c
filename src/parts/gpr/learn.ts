// Learning into the exact form. C = inverse(K + lam I) of the first documents is kept and grows by the rows of those behind them, N^2
// operations each (core/inverse.ts); all else is made from C as in a training. Kernel, noise, vocabulary and weights of the words stay.
//
// How many documents are the first ones, and the steps by which C of them grew from one that was made from K, depend on the number of
// all alone: a model is the same to the bit whatever was learned and forgotten on the way. Corrected documents leave the first ones by
// as many operations, until they are many; where documents are forgotten that C of the first has seen, it is made anew.

import { inTurns, type WorkOptions } from "../../base/progress.ts";
import type { Core } from "../../core/core.ts";
import { growInverse, inverseInPlace, mirrored, shrinkInverse } from "../../core/inverse.ts";
import { keeping, type Matrix, matrix, scoped } from "../../core/matrix.ts";
import { transformedRows } from "../../data/transform.ts";
import type { Fit, ModelSchema, PartLearner } from "../part.ts";
import { canBeExact, exactCost, isAffordable } from "../regression/cost.ts";
import { type Change, type LabelledRows, LearningError } from "../regression/documents.ts";
import { Kernel, type KernelNoise, kernelMatrix } from "../regression/kernel.ts";
import { packedLength, packLower, unpackLower } from "../regression/packed.ts";
import type { Points } from "../regression/points.ts";
import { type StateInverse, sizeOf } from "../regression/state.ts";
import { addNoise } from "./exact.ts";
import { fitDocuments, type GprPart, type KnownOf } from "./posterior.ts";

/** Fewer documents are fitted anew as fast. */
const FEWEST_KEPT = 512;

/** C is kept of so many documents. */
const keepsInverse = (points: number): boolean =>
  points >= FEWEST_KEPT && isAffordable(exactCost({ points, labels: 1 }, "inverse"));

/** The first of so many documents, whose C is made from K: a power of two. Others join in 128th parts of them, by half of the work of making C of all. */
function stepsOf(points: number): { made: number; step: number } {
  const made = 2 ** (31 - Math.clz32(points));
  return { made, step: made / 128 };
}

/** An exact part that learns. */
export interface ExactLearner extends PartLearner<GprPart> {
  /** The part of documents, as if there had been no others. */
  fit(documents: LabelledRows, schema: ModelSchema, work: WorkOptions, known?: KnownOf): Promise<Fit<GprPart>>;
}

export function exactLearner(
  core: Core,
  choice: KernelNoise,
  { transform }: ModelSchema,
  known?: StateInverse,
): ExactLearner {
  let learned = known;
  let next = known;
  /** C of points that grew from those that are known. */
  const grown =
    (weights: Int32Array | undefined, work: WorkOptions, from?: StateInverse) =>
    async (points: Points): Promise<Matrix> => {
      const made = await inverseOf(points, weights, choice, from, work);
      next = made.first;
      return made.inverse;
    };
  return {
    keepsAll: true,
    rows: (features) => transformedRows(features, transform, 0, features.rows),
    async fit(documents, schema, work, { placed, products, form } = {}) {
      learned = undefined;
      if (!keepsInverse(documents.features.rows))
        return await fitDocuments(core, documents, schema, choice, work, { placed, products, form });
      for (const made of [products, form]) made?.free();
      const inverse = grown(documents.weights, work);
      const fit = await fitDocuments(core, documents, schema, choice, work, { placed, inverse });
      learned = next;
      return fit;
    },
    async learn(change, schema, work) {
      const { after } = change;
      const documents = after.ids.length;
      if (!canBeExact(documents, schema.labels))
        throw new LearningError(
          `found ${documents} documents with those to learn, expected fewer: exact GP regression keeps every document; train a new model`,
        );
      next = undefined;
      const from = learned && without(learned, change);
      const inverse = keepsInverse(documents) ? grown(after.weights, work, from) : undefined;
      return await fitDocuments(core, after, schema, choice, work, { inverse });
    },
    settle() {
      learned = next;
    },
    capture: (plan, whole) => ({ plan, labels: 0, ...(whole && learned && { inverse: learned }) }),
    free() {},
  };
}

/** The first documents without those that a change takes away; undefined where C is to be made anew. */
function without(first: StateInverse, { places, out, corrected, after }: Change): StateInverse | undefined {
  const size = sizeOf(first);
  const before = new Set(first.removed);
  const here = Array.from({ length: size }, (_, i) => i).filter((i) => !before.has(i));
  const removed = Int32Array.from([...before, ...places.filter((place) => place < here.length).map((i) => here[i])]);
  const documents = after.ids.length;
  if (removed.length === 0) return stepsOf(documents).made === stepsOf(size).made ? first : undefined;
  const changed = removed.length + documents - (size - removed.length);
  return out.ids.length === corrected && changed <= documents / 16 ? { ...first, removed: removed.sort() } : undefined;
}

/** C of all points, both triangles, yours to free; with that of the first ones. */
async function inverseOf(
  points: Points,
  weights: Int32Array | undefined,
  { noise, kernel: choice }: KernelNoise,
  known: StateInverse | undefined,
  work: WorkOptions,
): Promise<{ inverse: Matrix; first: StateInverse }> {
  const { core, precision } = points.x;
  const { rows } = points;
  const { made, step } = stepsOf(rows);
  return await keeping(async (kept) => {
    const inverse = kept.keep(matrix(core, rows, rows, precision));
    let first = known ? sizeOf(known) - known.removed.length : made;
    if (known) await unpackLess(known, inverse, work);
    const from = known ? first : 0;
    await scoped(async (scope) => {
      const kernel = scope.keep(new Kernel(core, precision, choice));
      await kernelMatrix(points, kernel, inverse, { ...work, first: from });
    });
    addNoise(inverse.block(from, from, rows - from, rows - from), noise, weights?.subarray(from));
    if (!known) await inverseInPlace(inverse.block(0, 0, first, first), work);
    if (known && known.removed.length > 0) return { inverse: await growInverse(inverse, first, work), first: known };
    for (; first + step <= rows; first += step)
      await growInverse(inverse.block(0, 0, first + step, first + step), first, work);
    const isKnown = known && first === sizeOf(known);
    const packed = isKnown ? known.inverse : (packLower(inverse.block(0, 0, first, first)) as Float32Array);
    return { inverse: await growInverse(inverse, first, work), first: { inverse: packed, removed: new Int32Array(0) } };
  });
}

/** C of the first documents but those removed, both triangles, into the first rows and columns of out. */
async function unpackLess(known: StateInverse, out: Matrix, work: WorkOptions): Promise<void> {
  const { inverse, removed } = known;
  const size = sizeOf(known);
  const own = out.block(0, 0, size, size);
  if (removed.length === 0) {
    mirrored(unpackLower(inverse, own));
    return;
  }
  const gone = new Set(removed);
  const order = Int32Array.from({ length: size }, (_, i) => i).filter((i) => !gone.has(i));
  await inTurns(unpacking(inverse, Int32Array.from([...order, ...removed]), own), work);
  await shrinkInverse(own, order.length, work);
}

/** Puts rows and columns of a triangle in this order into the lower triangle of out. */
function* unpacking(packed: Float32Array, order: Int32Array, out: Matrix): Generator<void> {
  for (let row = 0; row < order.length; row++) {
    const own = out.block(row, 0, 1, row + 1).view();
    const from = order[row];
    for (let column = 0; column <= row; column++) {
      const other = order[column];
      own[column] = from > other ? packed[packedLength(from) + other] : packed[packedLength(other) + from];
    }
    yield;
  }
}
