// How labels lie in the factors: Phi's rows by the angle between them. Two labels whose rows point the same way share
// their latent functions and rise and fall together.

import { createCore } from "../core/core.ts";
import { gemm, syrk } from "../core/dense.ts";
import { matrix, scoped } from "../core/matrix.ts";
import { eigenSymmetric } from "../core/spectral.ts";
import type { LabelFactors, ModelSchema } from "../parts/part.ts";

export interface LabelGroups {
  /** P */
  factors: number;
  neighbours: readonly { label: number; near: readonly { label: number; cosine: number }[] }[];
  /** Places of labels in the plane in which they are spread most, and the part of the spread that it shows, 0 to 1. */
  map: { labels: Int32Array; x: Float64Array; y: Float64Array; shown: number };
}

const LABELS_WITH_NEIGHBOURS = 24;
const NEIGHBOURS = 5;
const MOST_ON_MAP = 400;

/** Labels by how many training points they have, most first. */
export function byFrequency(labelCounts: ArrayLike<number>): Int32Array {
  return Int32Array.from({ length: labelCounts.length }, (_, label) => label).sort(
    (a, b) => labelCounts[b] - labelCounts[a] || a - b,
  );
}

/** Rows of Phi, each of unit length (or zero). */
function directions({ phi, factors: p }: LabelFactors, k: number): Float64Array {
  const unit = Float64Array.from(phi);
  for (let label = 0; label < k; label++) {
    const row = unit.subarray(label * p, (label + 1) * p);
    const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
    if (length > 0) for (let j = 0; j < p; j++) row[j] = row[j] / length;
  }
  return unit;
}

function nearest(unit: Float64Array, k: number, p: number, label: number): LabelGroups["neighbours"][number] {
  const own = unit.subarray(label * p, (label + 1) * p);
  const near = Array.from({ length: k }, (_, other) => {
    let cosine = 0;
    for (let j = 0; j < p; j++) cosine += own[j] * unit[other * p + j];
    return { label: other, cosine };
  })
    .filter((other) => other.label !== label)
    .sort((a, b) => b.cosine - a.cosine || a.label - b.label)
    .slice(0, NEIGHBOURS);
  return { label, near };
}

/** Principal components of the labels' directions, computed in double precision on the core. */
async function planeOf(unit: Float64Array, p: number, labels: Int32Array): Promise<LabelGroups["map"]> {
  const n = labels.length;
  const centred = new Float64Array(n * p);
  const mean = new Float64Array(p);
  labels.forEach((label, i) => {
    centred.set(unit.subarray(label * p, (label + 1) * p), i * p);
    for (let j = 0; j < p; j++) mean[j] = mean[j] + unit[label * p + j] / n;
  });
  for (let e = 0; e < centred.length; e++) centred[e] = centred[e] - mean[e % p];
  const core = await createCore({ threads: 1 });
  try {
    return scoped((scope) => {
      const rows = scope.keep(matrix(core, n, p, "f64")).set(centred);
      const spread = syrk(rows, scope.keep(matrix(core, p, p, "f64")), { transpose: true });
      const wanted = Math.min(2, p);
      const { values, vectors } = eigenSymmetric(spread, wanted);
      const places = gemm(rows, scope.keep(vectors), scope.keep(matrix(core, n, wanted, "f64")), {
        transposeB: true,
      }).toArray();
      const sum = values.reduce((a, b) => a + b, 0);
      return {
        labels,
        x: Float64Array.from(labels, (_, i) => places[i * wanted]),
        y: Float64Array.from(labels, (_, i) => (wanted > 1 ? places[i * wanted + 1] : 0)),
        shown: sum > 0 ? (values[0] + (wanted > 1 ? values[1] : 0)) / sum : 0,
      };
    });
  } finally {
    core.dispose();
  }
}

/** Neighbours of the most frequent labels, and a map of at most a page full of them. */
export async function labelGroups(
  part: LabelFactors,
  { labels: k, labelCounts }: Pick<ModelSchema, "labels" | "labelCounts">,
): Promise<LabelGroups> {
  const { factors: p } = part;
  const unit = directions(part, k);
  const order = byFrequency(labelCounts);
  return {
    factors: p,
    neighbours: Array.from(order.subarray(0, LABELS_WITH_NEIGHBOURS), (label) => nearest(unit, k, p, label)),
    map: await planeOf(unit, p, order.slice(0, MOST_ON_MAP)),
  };
}
