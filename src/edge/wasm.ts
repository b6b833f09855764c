// The label layer in SIMD. The labels' matrix is copied into the module's memory once, its rows padded with zeros to
// whole vectors; everything else stays where it lies.

import type { CompactModel } from "./read.ts";
import { type LabelLayer, roundMeans } from "./utilities.ts";

/** What assembly/edge/ exports; sizes count elements, addresses bytes. */
interface EdgeKernels {
  memory: WebAssembly.Memory;
  heapBase(): number;
  utilitiesI8(
    labels: number,
    vectors: number,
    phi: number,
    scale: number,
    bias: number,
    mean: number,
    unit: number,
    out: number,
  ): void;
  utilitiesF32(labels: number, vectors: number, phi: number, bias: number, mean: number, out: number): void;
  utilitiesF16(labels: number, vectors: number, phi: number, bias: number, mean: number, out: number): void;
}

const PAGE = 65536;
/** Elements of a row that are worked on together. */
const LANES = { I8: 16, F32: 4, F16: 4 } as const;

export function wasmLayer({ phi, bias, about }: CompactModel, module: WebAssembly.Module): LabelLayer {
  const kernels = new WebAssembly.Instance(module, {}).exports as unknown as EdgeKernels;
  const { labels, factors } = about;
  const { dtype, data, scale } = phi;
  const vectors = Math.ceil(factors / LANES[dtype]);
  const width = vectors * LANES[dtype];

  let next = kernels.heapBase();
  const reserve = (bytes: number): number => {
    const address = next;
    next = Math.ceil((next + bytes) / 16) * 16;
    return address;
  };
  const [phiAt, scaleAt, biasAt] = [
    reserve(labels * width * data.BYTES_PER_ELEMENT),
    reserve(4 * labels),
    reserve(4 * labels),
  ] as const;
  const [meanAt, outAt] = [reserve(8 * width), reserve(8 * labels)] as const;
  const { memory } = kernels;
  const missing = Math.ceil((next - memory.buffer.byteLength) / PAGE);
  if (missing > 0) memory.grow(missing);

  const { buffer } = memory;
  const rows = new (data.constructor as Uint8ArrayConstructor)(buffer, phiAt, labels * width);
  for (let label = 0; label < labels; label++)
    rows.set(data.subarray(label * factors, (label + 1) * factors), label * width);
  new Float32Array(buffer, biasAt, labels).set(bias);
  const out = new Float64Array(buffer, outAt, labels);
  if (scale) {
    new Float32Array(buffer, scaleAt, labels).set(scale);
    const rounded = new Int16Array(buffer, meanAt, factors);
    return {
      utilities(mean) {
        const unit = roundMeans(mean, rounded);
        kernels.utilitiesI8(labels, vectors, phiAt, scaleAt, biasAt, meanAt, unit, outAt);
        return out;
      },
    };
  }
  const held = new Float64Array(buffer, meanAt, factors);
  const run = dtype === "F32" ? kernels.utilitiesF32 : kernels.utilitiesF16;
  return {
    utilities(mean) {
      held.set(mean);
      run(labels, vectors, phiAt, biasAt, meanAt, outAt);
      return out;
    },
  };
}
