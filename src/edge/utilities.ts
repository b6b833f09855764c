// The label layer: utilities of all labels from the latent means. Two forms that give the same bits: plain TypeScript,
// and SIMD in the module that the caller imported.
//
// Whole numbers (I8): the means are rounded to whole numbers too, so fine (up to 15 bits) that it does not show beside
// the labels' 8, and the sum is exact. Floating point numbers: four running sums in single precision, element i in sum
// i mod 4, added up as (0 + 2) + (1 + 3).

import type { CompactAbout } from "./format.ts";
import { fromHalf } from "./half.ts";
import type { CompactModel, LatentNumbers } from "./read.ts";

/** Most texts whose labels are scored together: the labels' matrix comes through the cache once for all of them. */
export const GROUP = 16;

export interface LabelLayer {
  /**
   * Utilities of all labels for the latent means [P] of at most GROUP texts, one array for each; the arrays are used
   * again by the next call.
   */
  utilities(means: readonly Float64Array[]): readonly Float64Array[];
}

/** The largest whole number a mean may be, so that the sum over the factors stays below 2^31. */
export function largestMean(factors: number): number {
  return Math.max(1, Math.min(32767, Math.floor((2 ** 31 - 1) / (128 * factors))));
}

/** Rounds means to whole numbers; returns the unit they count. */
export function roundMeans(mean: Float64Array, out: Int16Array | Int32Array): number {
  let greatest = 0;
  for (let i = 0; i < mean.length; i++) greatest = Math.max(greatest, Math.abs(mean[i] as number));
  if (greatest === 0) {
    out.fill(0);
    return 0;
  }
  const most = largestMean(mean.length);
  const unit = greatest / most;
  for (let i = 0; i < mean.length; i++) out[i] = Math.round((mean[i] as number) / unit);
  return unit;
}

export function plainLayer({ about }: CompactModel, numbers: LatentNumbers): LabelLayer {
  const one = plainUtilities(about, numbers);
  const out: Float64Array[] = [];
  return {
    utilities(means) {
      means.forEach((mean, i) => {
        out[i] ??= new Float64Array(about.labels);
        one(mean, out[i] as Float64Array);
      });
      return out;
    },
  };
}

function plainUtilities(
  about: CompactAbout,
  { phi, bias }: LatentNumbers,
): (mean: Float64Array, out: Float64Array) => void {
  const { labels, factors } = about;
  const { dtype, scale } = phi;
  if (dtype === "I8") {
    const rounded = new Int32Array(factors);
    const data = phi.data as Int8Array;
    return (mean, out) => {
      const unit = roundMeans(mean, rounded);
      for (let label = 0; label < labels; label++) {
        const sum = wholeProduct(data, label * factors, rounded);
        out[label] = (bias[label] as number) + sum * (unit * ((scale as Float32Array)[label] as number));
      }
    };
  }
  // Half precision is widened once: doing so at each use takes three times as long as the product itself.
  const data = dtype === "F16" ? widened(phi.data as Uint16Array) : (phi.data as Float32Array);
  const single = new Float32Array(factors);
  return (mean, out) => {
    single.set(mean);
    for (let label = 0; label < labels; label++)
      out[label] = (bias[label] as number) + product(data, label * factors, single);
  };
}

function widened(halves: Uint16Array): Float32Array {
  const data = new Float32Array(halves.length);
  for (let i = 0; i < data.length; i++) data[i] = fromHalf(halves[i] as number);
  return data;
}

/** Inner product of a row that begins at `base`; Math.imul spares checks (0.42, not 0.55 ms for 400,000). */
function wholeProduct(rows: Int8Array, base: number, mean: Int32Array): number {
  const whole = mean.length & ~3;
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
  let i = 0;
  for (; i < whole; i += 4) {
    sum0 = (sum0 + Math.imul(rows[base + i] as number, mean[i] as number)) | 0;
    sum1 = (sum1 + Math.imul(rows[base + i + 1] as number, mean[i + 1] as number)) | 0;
    sum2 = (sum2 + Math.imul(rows[base + i + 2] as number, mean[i + 2] as number)) | 0;
    sum3 = (sum3 + Math.imul(rows[base + i + 3] as number, mean[i + 3] as number)) | 0;
  }
  for (; i < mean.length; i++) sum0 = (sum0 + Math.imul(rows[base + i] as number, mean[i] as number)) | 0;
  return (sum0 + sum1 + sum2 + sum3) | 0;
}

/** Inner product of a row that begins at `base`, in four sums of single precision. */
function product(rows: Float32Array, base: number, mean: Float32Array): number {
  const { fround } = Math;
  const whole = mean.length & ~3;
  let [sum0, sum1, sum2, sum3] = [fround(0), fround(0), fround(0), fround(0)];
  let i = 0;
  for (; i < whole; i += 4) {
    sum0 = fround(sum0 + fround((rows[base + i] as number) * (mean[i] as number)));
    sum1 = fround(sum1 + fround((rows[base + i + 1] as number) * (mean[i + 1] as number)));
    sum2 = fround(sum2 + fround((rows[base + i + 2] as number) * (mean[i + 2] as number)));
    sum3 = fround(sum3 + fround((rows[base + i + 3] as number) * (mean[i + 3] as number)));
  }
  const rest = mean.length - whole;
  if (rest > 0) sum0 = fround(sum0 + fround((rows[base + i] as number) * (mean[i] as number)));
  if (rest > 1) sum1 = fround(sum1 + fround((rows[base + i + 1] as number) * (mean[i + 1] as number)));
  if (rest > 2) sum2 = fround(sum2 + fround((rows[base + i + 2] as number) * (mean[i + 2] as number)));
  return fround(fround(sum0 + sum2) + fround(sum1 + sum3));
}
