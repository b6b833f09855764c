// The exact posterior of documents for one kernel and noise, as a part of a model.

import type { WorkOptions } from "../../base/progress.ts";
import { firstEqualRows, type SparseRows } from "../../base/sparse.ts";
import type { Core } from "../../core/core.ts";
import { keeping, type Matrix } from "../../core/matrix.ts";
import { type FeatureTransform, isDense } from "../../data/transform.ts";
import type { Fit, ModelSchema } from "../part.ts";
import { LEFT_OUT } from "../regression/cost.ts";
import type { LabelledRows } from "../regression/documents.ts";
import type { KernelNoise, KernelPart } from "../regression/kernel.ts";
import { kernelPart } from "../regression/kernelpart.ts";
import { someOf } from "../regression/leaveoneout.ts";
import { type InnerProducts, type Points, placeDocuments, type Subset } from "../regression/points.ts";
import { type ExactForm, fitExact } from "./exact.ts";

export type GprPart = KernelPart<"gpr">;

/** Documents with what is known of them, all of it yours to free. */
export interface PlacedDocuments {
  /** The documents in the memory of the core. */
  readonly placed: Subset;
  /** Their inner products, where kernels were compared on all of them. */
  readonly products?: InnerProducts | undefined;
  /** Or the fit of the choice to all of them. */
  readonly form?: ExactForm | undefined;
}

/** Results that a fit may take over. */
export interface KnownOf extends Partial<PlacedDocuments> {
  /** Gives C of the points, both triangles, where it is not made from them alone. */
  readonly inverse?: ((points: Points) => Promise<Matrix>) | undefined;
}

/** The posterior of documents for one choice; the last points are those that have leave-one-out scores. */
export async function fitDocuments(
  core: Core,
  documents: LabelledRows,
  schema: ModelSchema,
  choice: KernelNoise,
  work: WorkOptions,
  { placed, products, form, inverse: inverseOf }: KnownOf = {},
): Promise<Fit<GprPart>> {
  return await keeping(async (scope) => {
    const { points, labels } = scope.keep(placed ?? placeDocuments(core, documents, schema.labels, schema));
    const { weights, features } = documents;
    const firstEqual = equalRows(features, schema.transform);
    const inverse = await inverseOf?.(points);
    const of = { ...work, ...choice, weights, firstEqual, products, inverse };
    const source = scope.keep(
      form ?? (await fitExact(points, labels, of).finally(() => (inverse ?? products)?.free())),
    );
    const { pivots } = source;
    const variances = Float32Array.from(pivots.view(), (pivot, i) => {
      const weight = weights?.[points.rows - pivots.columns + i] ?? 1;
      return Math.max(0, 1 / pivot - choice.noise / weight);
    });
    const part = kernelPart("gpr", choice, documents.features, source, variances);
    const distinct = firstEqual && new Set(firstEqual).size;
    const ranges = someOf(source.ranges, LEFT_OUT);
    const loo = { source, ranges, labels, sets: documents.labels, distinct, texts: features.texts };
    return { part, loo, free: () => scope.free() };
  });
}

/** Rows of measurements are equal by their values, others by their words. */
export const equalRows = (features: SparseRows, { views }: FeatureTransform): Int32Array | undefined =>
  firstEqualRows(features, views?.[0].from ?? (isDense(features) ? 0 : features.columns));
