// The label layer: utilities of all labels from the latent means. Two forms that give the same bits: plain TypeScript,
// and SIMD in the module that the caller imported.
//
// Whole numbers (I8): the means are rounded to whole numbers too, so fine (up to 15 bits) that it does not show beside
// the labels' 8, and the sum is exact. Floating point numbers: four running sums in single precision, element i in sum
// i mod 4, added up as (0 + 2) + (1 + 3).

import { ArgumentError } from "../base/errors.ts";
import type { LabelLayer, OpenLayer, StoredMatrix } from "../parts/row.ts";
import { GROUP } from "./format.ts";
import { fromHalf } from "./matrix.ts";
import { WasmMemory } from "./wasm.ts";

/** Largest latent mean: far beyond where any probability is 0 or 1. */
const LARGEST_MEAN = 1e30;
/** Largest sum of the magnitudes of a label's weights, where they are multiplied in single precision. */
export const LARGEST_ROW = 1e7;

type Utilities = LabelLayer["utilities"];

/** Phi [K,P] as it is stored, and the biases [K]. */
interface StoredLayer extends StoredMatrix {
  readonly bias: Float32Array;
}

/** The labels of a compact file, checked. */
export const openLayer: OpenLayer = (reader, labels, factors) => {
  const phi = reader.stored("phi", labels, factors);
  const { matrix, dtype } = phi;
  const own = new Float64Array(factors);
  for (let label = 0; dtype !== "I8" && label < labels; label++) {
    matrix.add([label], [1], 1, own.fill(0));
    if (own.reduce((sum, weight) => sum + Math.abs(weight), 0) > LARGEST_ROW)
      reader.refuse("a row of phi that is too large", `magnitudes that add up to ${LARGEST_ROW} at most`);
  }
  const stored = { ...phi, bias: reader.vector("bias", labels) };
  const utilities = reader.wasm ? wasmLayer(reader.wasm, stored) : plainLayer(stored);
  return {
    phi: matrix,
    utilities(means) {
      // Single precision goes on with the means; beyond it there is nothing to compute with.
      for (const mean of means)
        if (!mean.every((value) => Math.abs(value) <= LARGEST_MEAN))
          throw new ArgumentError("input", "found values too large to compute with, expected smaller ones");
      return utilities(means);
    },
  };
};

/** Rounds means to whole numbers so small that the sum over the factors stays below 2^31; returns the unit they count. */
function roundMeans(mean: Float64Array, out: Int16Array | Int32Array): number {
  const most = Math.max(1, Math.min(32767, Math.floor((2 ** 31 - 1) / (128 * mean.length))));
  let greatest = 0;
  for (let i = 0; i < mean.length; i++) greatest = Math.max(greatest, Math.abs(mean[i]));
  const unit = greatest / most;
  for (let i = 0; i < mean.length; i++) out[i] = unit === 0 ? 0 : Math.round(mean[i] / unit);
  return unit;
}

function plainLayer({ matrix: { rows: labels, columns: factors }, dtype, data, scale, bias }: StoredLayer): Utilities {
  const out: Float64Array[] = [];
  const each =
    (one: (mean: Float64Array, out: Float64Array) => void): Utilities =>
    (means) => {
      means.forEach((mean, i) => {
        out[i] ??= new Float64Array(labels);
        one(mean, out[i]);
      });
      return out;
    };
  if (dtype === "I8") {
    const rounded = new Int32Array(factors);
    return each((mean, into) => {
      const unit = roundMeans(mean, rounded);
      for (let label = 0; label < labels; label++) {
        const sum = wholeProduct(data as Int8Array, label * factors, rounded);
        into[label] = bias[label] + sum * (unit * (scale as Float32Array)[label]);
      }
    });
  }
  // Half precision is widened once: doing so at each use takes three times as long as the product itself.
  const reals = dtype === "F16" ? Float32Array.from(data, fromHalf) : (data as Float32Array);
  const single = new Float32Array(factors);
  return each((mean, into) => {
    single.set(mean);
    for (let label = 0; label < labels; label++) into[label] = bias[label] + product(reals, label * factors, single);
  });
}

/** Inner product of a row that begins at `base`; Math.imul spares checks (0.42, not 0.55 ms for 400,000). */
function wholeProduct(rows: Int8Array, base: number, mean: Int32Array): number {
  const whole = mean.length & ~3;
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
  let i = 0;
  for (; i < whole; i += 4) {
    sum0 = (sum0 + Math.imul(rows[base + i], mean[i])) | 0;
    sum1 = (sum1 + Math.imul(rows[base + i + 1], mean[i + 1])) | 0;
    sum2 = (sum2 + Math.imul(rows[base + i + 2], mean[i + 2])) | 0;
    sum3 = (sum3 + Math.imul(rows[base + i + 3], mean[i + 3])) | 0;
  }
  for (; i < mean.length; i++) sum0 = (sum0 + Math.imul(rows[base + i], mean[i])) | 0;
  return (sum0 + sum1 + sum2 + sum3) | 0;
}

/** Inner product of a row that begins at `base`, in four sums of single precision. */
function product(rows: Float32Array, base: number, mean: Float32Array): number {
  const { fround } = Math;
  const whole = mean.length & ~3;
  let [sum0, sum1, sum2, sum3] = [fround(0), fround(0), fround(0), fround(0)];
  let i = 0;
  for (; i < whole; i += 4) {
    sum0 = fround(sum0 + fround(rows[base + i] * mean[i]));
    sum1 = fround(sum1 + fround(rows[base + i + 1] * mean[i + 1]));
    sum2 = fround(sum2 + fround(rows[base + i + 2] * mean[i + 2]));
    sum3 = fround(sum3 + fround(rows[base + i + 3] * mean[i + 3]));
  }
  const rest = mean.length - whole;
  if (rest > 0) sum0 = fround(sum0 + fround(rows[base + i] * mean[i]));
  if (rest > 1) sum1 = fround(sum1 + fround(rows[base + i + 1] * mean[i + 1]));
  if (rest > 2) sum2 = fround(sum2 + fround(rows[base + i + 2] * mean[i + 2]));
  return fround(fround(sum0 + sum2) + fround(sum1 + sum3));
}

/** Exports of assembly/edge/: all take the addresses and sizes that they name there. */
type LayerKernels = Record<"utilitiesI8" | "utilitiesF32" | "utilitiesF16", (...numbers: number[]) => void>;

/** Labels that are worked on together. */
const TILE = 4;

/** The labels' matrix is copied into the module's memory once, its rows padded with zeros to whole vectors. */
function wasmLayer(module: WebAssembly.Module, { matrix, dtype, data, scale, bias }: StoredLayer): Utilities {
  const { rows: labels, columns: factors } = matrix;
  const whole = dtype === "I8";
  const memory = new WasmMemory<LayerKernels>(module);
  const { kernels } = memory;
  const lanes = whole ? 16 : 4;
  const vectors = Math.ceil(factors / lanes);
  const width = vectors * lanes;
  const padded = Math.ceil(labels / TILE) * TILE;
  const phiAt = memory.reserve(padded * width * data.BYTES_PER_ELEMENT);
  const [scaleAt, biasAt] = [memory.reserve(4 * padded), memory.reserve(4 * padded)];
  const [meansAt, unitsAt] = [memory.reserve(GROUP * width * (whole ? 2 : 4)), memory.reserve(8 * GROUP)];
  const outAt = memory.reserve(GROUP * 8 * padded);
  const buffer = memory.grown();
  const rows = new (data.constructor as Uint8ArrayConstructor)(buffer, phiAt, labels * width);
  for (let label = 0; label < labels; label++)
    rows.set(data.subarray(label * factors, (label + 1) * factors), label * width);
  new Float32Array(buffer, biasAt, labels).set(bias);
  if (scale) new Float32Array(buffer, scaleAt, labels).set(scale);
  const slots = <T>(make: (slot: number) => T): T[] => Array.from({ length: GROUP }, (_, slot) => make(slot));
  const out = slots((i) => new Float64Array(buffer, outAt + 8 * padded * i, labels));
  if (whole) {
    const rounded = slots((i) => new Int16Array(buffer, meansAt + 2 * width * i, factors));
    const units = new Float64Array(buffer, unitsAt, GROUP);
    return (means) => {
      means.forEach((mean, i) => {
        units[i] = roundMeans(mean, rounded[i]);
      });
      kernels.utilitiesI8(padded, vectors, phiAt, scaleAt, biasAt, means.length, meansAt, unitsAt, outAt);
      return out;
    };
  }
  const held = slots((i) => new Float32Array(buffer, meansAt + 4 * width * i, factors));
  const run = dtype === "F32" ? kernels.utilitiesF32 : kernels.utilitiesF16;
  return (means) => {
    means.forEach((mean, i) => {
      held[i].set(mean);
    });
    run(padded, vectors, phiAt, biasAt, means.length, meansAt, outAt);
    return out;
  };
}
