// The latent functions and the labels' mixtures of them for a compact file.

import type { CompactAbout } from "../edge/format.ts";
import { plainHyper } from "../model/kernels/index.ts";
import type { LatentModel } from "../model/model.ts";
import { type Collapsed, collapse } from "./collapse.ts";
import type { FullCompactOptions, NumberType } from "./options.ts";
import type { Parcel } from "./parcel.ts";
import { keptRows, selectRows } from "./rows.ts";

type Real = Float32Array | Float64Array;

/** What a file says of its latent functions. */
export type LatentAbout = Pick<
  CompactAbout,
  "kernel" | "rows" | "factors" | "groups" | "inducing" | "rank" | "hyper"
>;

/** Adds the latent functions, and these labels; of the features only the frequent ones, where these are given. */
export async function addLatent(
  parcel: Parcel,
  model: LatentModel,
  labels: number[],
  options: FullCompactOptions,
  frequent?: Int32Array,
): Promise<LatentAbout> {
  const collapsed = await collapse(model, options);
  const rows = keptRows(model, collapsed, options.type, frequent);
  addMatrices(parcel, model, collapsed, options, rows);
  addLabels(parcel, model, labels, collapsed, options);
  return {
    kernel: model.kernel,
    rows: rows?.length ?? model.features,
    factors: model.factors,
    groups: collapsed.groups,
    inducing: parcel.tensors.has("inducing") ? model.inducingPoints : 0,
    rank: collapsed.rank,
    hyper: plainHyper(model.hyper),
  };
}

/** Small matrices are not worth less than half precision. */
function smallType(type: NumberType): NumberType {
  return type === "f32" ? "f32" : "f16";
}

function addMatrices(
  parcel: Parcel,
  model: LatentModel,
  { weights, own, cover, root, rank, groups }: Collapsed,
  { type }: FullCompactOptions,
  rows: Int32Array | undefined,
): void {
  const { features: d, inducingPoints: m, factors: p, inducingInputs } = model;
  const small = smallType(type);
  const large = (name: string, values: Real, columns: number): void =>
    parcel.matrix(name, rows ? selectRows(values, rows, columns) : values, rows?.length ?? d, columns, type);
  if (rows) {
    const rowOf = new Int32Array(d).fill(-1);
    rows.forEach((feature, row) => {
      rowOf[feature] = row;
    });
    parcel.integers("rows", rowOf);
  }
  if (weights) large("weights", weights, p);
  else parcel.matrix("mu", model.mu, m, p, small);
  if (!weights || root) {
    large("inducing", inducingInputs, m);
    const squares = new Float64Array(m);
    inducingInputs.forEach((value, i) => {
      squares[i % m] = (squares[i % m] as number) + value * value;
    });
    parcel.reals("inducingSquares", squares);
  }
  if (cover) large("cover", cover, rank);
  if (own) parcel.matrix("own", cover ? parcel.corrected(own, cover, rows, rank) : own, d, 1, small);
  if (root) parcel.matrix("root", root, groups * m, rank, small);
}

function addLabels(
  parcel: Parcel,
  model: LatentModel,
  labels: number[],
  { own, root, groups }: Collapsed,
  { type }: FullCompactOptions,
): void {
  const { factors: p, phi, bias } = model;
  const rows = new Float64Array(labels.length * p);
  const spread = new Float64Array(labels.length);
  labels.forEach((label, i) => {
    for (let q = 0; q < p; q++) {
      const value = phi[label * p + q] as number;
      rows[i * p + q] = value;
      spread[i] = (spread[i] as number) + value * value;
    }
  });
  parcel.matrix("phi", rows, labels.length, p, type.startsWith("int") ? "int8" : type);
  parcel.reals(
    "bias",
    Float64Array.from(labels, (label) => bias[label] as number),
  );
  if ((own || root) && groups === 1) parcel.reals("spread", spread);
}
