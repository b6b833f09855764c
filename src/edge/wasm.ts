// The label layer in SIMD. The labels' matrix is copied into the module's memory once, its rows padded with zeros to
// whole vectors; everything else stays where it lies.

import type { CompactModel, LatentNumbers } from "./read.ts";
import { Room } from "./room.ts";
import { GROUP, type LabelLayer, roundMeans } from "./utilities.ts";

/** What assembly/edge/ exports; sizes count elements, addresses bytes. */
interface EdgeKernels {
  utilitiesI8(
    labels: number,
    vectors: number,
    phi: number,
    scale: number,
    bias: number,
    texts: number,
    means: number,
    units: number,
    out: number,
  ): void;
  utilitiesF32: RealKernel;
  utilitiesF16: RealKernel;
}
type RealKernel = (
  labels: number,
  vectors: number,
  phi: number,
  bias: number,
  texts: number,
  means: number,
  out: number,
) => void;

/** Elements of a row that are worked on together, and bytes of a mean beside them. */
const LANES = { I8: 16, F32: 4, F16: 4 } as const;
const MEAN_BYTES = { I8: 2, F32: 4, F16: 4 } as const;
/** Labels that are worked on together. */
const TILE = 4;

export function wasmLayer(
  { about }: CompactModel,
  { phi, bias }: LatentNumbers,
  module: WebAssembly.Module,
): LabelLayer {
  const room = new Room<EdgeKernels>(module);
  const { kernels } = room;
  const { labels, factors } = about;
  const { dtype, data, scale } = phi;
  const vectors = Math.ceil(factors / LANES[dtype]);
  const width = vectors * LANES[dtype];
  const padded = Math.ceil(labels / TILE) * TILE;

  const phiAt = room.reserve(padded * width * data.BYTES_PER_ELEMENT);
  const [scaleAt, biasAt] = [room.reserve(4 * padded), room.reserve(4 * padded)] as const;
  const [meansAt, unitsAt] = [
    room.reserve(GROUP * width * MEAN_BYTES[dtype]),
    room.reserve(8 * GROUP),
  ] as const;
  const outAt = room.reserve(GROUP * 8 * padded);
  const buffer = room.grown();
  const rows = new (data.constructor as Uint8ArrayConstructor)(buffer, phiAt, labels * width);
  for (let label = 0; label < labels; label++)
    rows.set(data.subarray(label * factors, (label + 1) * factors), label * width);
  new Float32Array(buffer, biasAt, labels).set(bias);
  if (scale) new Float32Array(buffer, scaleAt, labels).set(scale);
  const out = slots((i) => new Float64Array(buffer, outAt + 8 * padded * i, labels));
  if (dtype === "I8") {
    const rounded = slots((i) => new Int16Array(buffer, meansAt + 2 * width * i, factors));
    const units = new Float64Array(buffer, unitsAt, GROUP);
    return {
      utilities(means) {
        means.forEach((mean, i) => {
          units[i] = roundMeans(mean, rounded[i] as Int16Array);
        });
        kernels.utilitiesI8(padded, vectors, phiAt, scaleAt, biasAt, means.length, meansAt, unitsAt, outAt);
        return out;
      },
    };
  }
  const held = slots((i) => new Float32Array(buffer, meansAt + 4 * width * i, factors));
  const run = dtype === "F32" ? kernels.utilitiesF32 : kernels.utilitiesF16;
  return {
    utilities(means) {
      means.forEach((mean, i) => {
        (held[i] as Float32Array).set(mean);
      });
      run(padded, vectors, phiAt, biasAt, means.length, meansAt, outAt);
      return out;
    },
  };
}

/** One of these for each text of a group. */
function slots<T>(make: (index: number) => T): T[] {
  return Array.from({ length: GROUP }, (_, index) => make(index));
}
