// What a form will take before it is begun: bytes of a core's memory at its height, beside the points, and operations
// (multiplications and additions, those in double precision counted twice). Kernel rows and sparse products are left
// out: they are the smaller part.

import type { Precision } from "../core/core.ts";
import { inverseBytes } from "../core/inverse.ts";
import { LABELS_AT_ONCE as DUAL_LABELS } from "./dual.ts";
import { LABELS_AT_ONCE as RIDGE_LABELS } from "./ridge.ts";
import { BLOCK_ROWS } from "./sparse.ts";

/** Bytes and operations. */
export interface Cost {
  readonly bytes: number;
  readonly operations: number;
}

const SIZES: Record<Precision, number> = { f32: 4, f64: 8 };

/** How a of the exact form is found. */
export type ExactWay = "inverse" | "factor";

/** Points with left-out scores where not all have them. */
export const LEFT_OUT = 6000;

function exactOperations(points: number, labels: number, by: ExactWay, leftOut: number): number {
  if (by === "inverse") return points ** 3;
  return points ** 3 / 3 + 2 * points ** 2 * labels + Math.min(points, leftOut) ** 3 / 3;
}

/** The way with fewer operations for so many points and labels. */
export function exactWay(points: number, labels: number, leftOut: number = LEFT_OUT): ExactWay {
  const of = (by: ExactWay): number => exactOperations(points, labels, by, leftOut);
  return of("factor") < of("inverse") ? "factor" : "inverse";
}

/** The exact form, by the way given or by the one with fewer operations. */
export function exactCost(
  { points, labels }: { points: number; labels: number },
  precision: Precision,
  { by, leftOut = LEFT_OUT }: { by?: ExactWay; leftOut?: number } = {},
): Cost {
  const size = SIZES[precision];
  const way = by ?? exactWay(points, labels, leftOut);
  const dual = points * labels * size;
  const solving =
    way === "factor" ? points * Math.min(DUAL_LABELS, labels) * size : 2 * DUAL_LABELS * labels * 8;
  return {
    bytes: points * points * size + Math.max(inverseBytes(points, precision), dual + solving),
    operations: exactOperations(points, labels, way, leftOut) * (precision === "f64" ? 2 : 1),
  };
}

/** Sizes of a sparse form: M, D and K. */
export interface SparseSizes {
  readonly points: number;
  readonly kernel: number;
  readonly linear: number;
  readonly labels: number;
}

/** How a sparse form is solved; `remade`: X'X and X'Y are made anew from the points (pointsums.ts). */
export interface SparseWay {
  readonly working?: Precision;
  readonly inverse?: boolean;
  readonly remade?: boolean;
}

/** The sparse form for one noise: whitening, features, sums and solution. */
export function sparseCost(
  { points, kernel, linear, labels }: SparseSizes,
  precision: Precision,
  { working = "f64", inverse = true, remade = false }: SparseWay = {},
): Cost {
  const features = kernel + linear;
  const [size, workingSize] = [SIZES[precision], SIZES[working]];
  const kept = remade ? kernel : features;
  const sums = 8 * kept * (kept + labels) + (remade ? 8 * linear * kernel : 0);
  const rounded = inverse && working !== precision ? features ** 2 * size : 0;
  const labelsAtOnce = features * Math.min(RIDGE_LABELS, labels) * (16 + 2 * workingSize);
  const solving = features ** 2 * workingSize + features * labels * size + Math.max(rounded, labelsAtOnce);
  const blocks = kernel * (kernel + 2 * Math.min(BLOCK_ROWS, points)) * size + kernel ** 2 * size;
  const doubled = working === "f64" ? 2 : 1;
  const matrix = inverse ? features ** 3 : features ** 3 / 3;
  return {
    bytes: sums + solving + blocks,
    operations: 2 * kernel ** 3 + 2 * points * kernel ** 2 + doubled * (matrix + 2 * features ** 2 * labels),
  };
}
