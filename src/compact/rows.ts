// Features that cannot matter: no text can tell whether their weights are there. They stay features (a text's length
// counts them, and so does its variance) but get no row in the large matrices.

import type { LatentModel } from "../model/model.ts";
import type { Collapsed } from "./collapse.ts";
import type { NumberType } from "./options.ts";

type Real = Float32Array | Float64Array;

/** A feature alone in a text may move a utility by so much, and the latent variance by so much of the kernel's. */
const UTILITY = 0.01;
const VARIANCE = 0.001;

/**
 * The features that keep their rows, or undefined where leaving others out would not save anything. In few bits only those
 * among `frequent`, where these are given: words of a few texts are most of the rows and one entry in a hundred.
 */
export function keptRows(
  model: LatentModel,
  collapsed: Collapsed,
  type: NumberType,
  frequent?: Int32Array,
): Int32Array | undefined {
  const { features: d, factors: p, inducingPoints: m } = model;
  const { weights, cover, root, rank } = collapsed;
  // In full precision only what is zero is left out.
  const exact = type === "f32";
  const largestLabel = Math.max(1e-30, greatest(squareSums(model.phi, model.labels, p)));
  const limits: [Real, columns: number, limit: number][] = [];
  if (weights) limits.push([weights, p, exact ? 0 : (UTILITY * UTILITY) / largestLabel]);
  if (cover) limits.push([cover, rank, exact ? 0 : VARIANCE]);
  if (!weights || root) limits.push([model.inducingInputs, m, 0]);
  const kept = new Uint8Array(d);
  const among = !exact && frequent ? new Set(frequent) : undefined;
  for (const [values, columns, limit] of limits)
    squareSums(values, d, columns).forEach((sum, feature) => {
      if (sum > limit && (!among || among.has(feature))) kept[feature] = 1;
    });
  const rows = Int32Array.from([...kept.keys()].filter((feature) => kept[feature] === 1));
  const bits = exact ? 32 : type === "f16" ? 16 : Number(type.slice(3));
  const rowBytes = limits.reduce((sum, [, columns]) => sum + (columns * bits) / 8, 0);
  const pays = (d - rows.length) * rowBytes > 4 * d;
  return pays && rows.length > 0 ? rows : undefined;
}

/** Those rows of a matrix. */
export function selectRows(values: Real, rows: Int32Array, columns: number): Float64Array {
  const out = new Float64Array(rows.length * columns);
  rows.forEach((row, i) => {
    out.set(values.subarray(row * columns, (row + 1) * columns), i * columns);
  });
  return out;
}

function squareSums(values: Real, rows: number, columns: number): Float64Array {
  const sums = new Float64Array(rows);
  for (let i = 0, row = 0; row < rows; row++) {
    let sum = 0;
    for (let column = 0; column < columns; column++, i++)
      sum += (values[i] as number) * (values[i] as number);
    sums[row] = sum;
  }
  return sums;
}

function greatest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
