// Wide kernels: V8 can fuse two neighbouring vectors of 128 bits to one of 256, lane by lane, so that results keep their bits.
// It does so behind a flag of the process; the wide build has register tiles that fuse, and is slower where they do not.

import { compileBase64 } from "../base/wasm.ts";
import { isNode } from "./threads.ts";

const FLAG = "--experimental-wasm-revectorize";
/** V8 of Node 24. An older one may not have the flag, and writes of it to standard error. */
const FIRST_V8 = 13;

/** Terms of a sum in the probe: its panels stay in the nearest cache. */
const DEPTH = 128;
const TILE_ROWS = 3;
const VECTORS = 6;
const CALLS = 20;
const MOST_MILLISECONDS = 60;
/** Fused, the tile took 0.54 of the time of narrow ones; not fused 1.55, and 0.8 before V8 had optimised either. */
const ENOUGH = 0.67;

interface ProbeExports {
  heapBase(): number;
  probeTile_f32(wide: boolean, rows: number, columns: number, depth: number, out: number): void;
  probeTile_f64(wide: boolean, rows: number, columns: number, depth: number, out: number): void;
}

const { process } = globalThis as {
  process?: { arch?: string; env?: Record<string, string | undefined>; versions?: { v8?: string } };
};

/** This engine has the flag. */
export const mayBeWide = (): boolean =>
  isNode() && process?.arch === "x64" && Number.parseInt(process.versions?.v8 ?? "", 10) >= FIRST_V8;

/** Who starts this process has asked for wide kernels (the command does, for its threads too). */
export const wideByEnvironment = (): boolean => isNode() && process?.env?.MLGPF_WIDE === "1";

export interface Wide {
  /** The wide build, where it is the faster one. */
  module?: WebAssembly.Module;
  reason: string;
}
let found: Promise<Wide> | undefined;

/** The wide build for this process, whose flag is set. It is tried once. */
export function wideModule(): Promise<Wide> {
  found ??= findWide();
  return found;
}

async function findWide(): Promise<Wide> {
  if (!mayBeWide()) return { reason: "no 256-bit vectors: only V8 13 (Node 24) and later on x64 have them" };
  (await import("node:v8")).setFlagsFromString(FLAG);
  const module = await compileBase64((await import("../generated/core-wide.ts")).base64);
  const fault = await probeWide(module);
  return fault === undefined ? { module, reason: "256-bit vectors" } : { reason: `no 256-bit vectors: ${fault}` };
}

/**
 * Why a wide build is not to be used here, or undefined. Its tile and narrow ones compute the same numbers, in one function, which
 * the engine optimises as a whole, over and over until that has happened; all bits must agree.
 */
export async function probeWide(module: WebAssembly.Module): Promise<string | undefined> {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true });
  const exports = (await WebAssembly.instantiate(module, { env: { memory } })).exports as unknown as ProbeExports;
  const base = (exports.heapBase() + 63) & ~63;
  const outBytes = TILE_ROWS * VECTORS * 16;
  const [narrowOut, wideOut] = [base, base + outBytes];
  const rows = wideOut + outBytes;
  const columns = rows + TILE_ROWS * DEPTH * 8;
  const end = columns + VECTORS * DEPTH * 16;
  const [narrowBits, wideBits] = [narrowOut, wideOut].map((at) => new Int32Array(memory.buffer, at, outBytes / 4));
  const timed = (wide: boolean): number => {
    const begin = performance.now();
    for (let i = 0; i < CALLS; i++) {
      exports.probeTile_f32(wide, rows, columns, DEPTH, wide ? wideOut : narrowOut);
      exports.probeTile_f64(wide, rows, columns, DEPTH, wide ? wideOut : narrowOut);
    }
    return performance.now() - begin;
  };
  // Sixteen bits of noise below a number near one are a number in both precisions.
  const words = new Uint32Array(memory.buffer, rows, (end - rows) / 4);
  for (let i = 0; i < words.length; i++) words[i] = 0x3f800000 + (Math.imul(i + 1, 0x9e3779b1) >>> 16);
  const limit = performance.now() + MOST_MILLISECONDS;
  for (let faster = 0; performance.now() < limit; ) {
    narrowBits?.fill(0);
    wideBits?.fill(0);
    faster = timed(true) < ENOUGH * timed(false) ? faster + 1 : 0;
    if (!wideBits?.every((bits, i) => bits === narrowBits?.[i]))
      return "the wide kernel gives other bits than the narrow one";
    if (faster === 4) return undefined;
  }
  return "they are not faster here";
}
