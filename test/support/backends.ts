// The backends of the runtime that the tests run in: WASM in both precisions, and the GPU.

import { expect } from "vitest";
import type { Backend, Tensor } from "../../src/backend/backend.ts";
import { wasmBackend } from "../../src/backend/wasm.ts";
import { type WebGpuBackend, webGpuBackend } from "../../src/backend/webgpu/backend.ts";
import { createCore, type Precision } from "../../src/core/index.ts";
import { epsilon } from "./cores.ts";
import { countBuffers } from "./devices.ts";

export interface BackendKind {
  name: string;
  /** Distance from 1 to the next number. */
  epsilon: number;
  /** Runs a body with a backend of this kind, and fails if anything of it is left when it is disposed. */
  with(body: (backend: Backend) => Promise<void>): Promise<void>;
}

const wasm = (precision: Precision): BackendKind => ({
  name: `wasm ${precision}`,
  epsilon: epsilon[precision],
  async with(body) {
    const core = await createCore({ threads: 1 });
    const before = core.arena.used;
    const backend = wasmBackend(core, precision);
    await body(backend);
    backend.dispose();
    expect(core.arena.used, "bytes in the arena").toBe(before);
    core.dispose();
  },
});

/** MLGPF_GPU: "none" for tests without a GPU, or a word that the adapter's description must have. */
const wanted = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env.MLGPF_GPU;

/** navigator.gpu, or in Node the package `webgpu`. Bun has neither. */
async function findGpu(): Promise<GPU | undefined> {
  if (wanted === "none") return undefined;
  const host = globalThis as { navigator?: { gpu?: GPU }; process?: { versions?: Record<string, string> } };
  if (host.navigator?.gpu) return host.navigator.gpu;
  if (host.process?.versions?.node === undefined || "Bun" in globalThis) return undefined;
  // Not a literal: bundlers of other runtimes need not find it.
  const name = "webgpu";
  const { create, globals } = await import(/* @vite-ignore */ name);
  Object.assign(globalThis, globals);
  return create([]);
}

const gpu = await findGpu();
export const hasGpu: boolean = gpu !== undefined;

let shared: Promise<GPUDevice> | undefined;

/** A new device with default limits. */
export async function newDevice(): Promise<GPUDevice> {
  const adapter = await gpu?.requestAdapter();
  if (!adapter)
    throw new Error("found no WebGPU adapter, expected SwiftShader: see scripts/vulkan.ts for what Node and Deno need");
  const { vendor, device, description } = adapter.info;
  const found = `${vendor} ${device} ${description}`;
  if (wanted && !found.toLowerCase().includes(wanted))
    throw new Error(`found the WebGPU adapter ${found}, expected ${wanted}`);
  return adapter.requestDevice();
}

/** One device for all tests of a file: its shaders are compiled once. */
export function sharedDevice(): Promise<GPUDevice> {
  shared ??= newDevice();
  return shared;
}

export async function withGpu(body: (backend: WebGpuBackend) => Promise<void>): Promise<void> {
  const device = await sharedDevice();
  const left = countBuffers(device);
  const before = left();
  const backend = await webGpuBackend(device);
  await body(backend);
  backend.dispose();
  expect(left(), "buffers left").toEqual(before);
}

const onGpu: BackendKind = {
  name: "webgpu",
  epsilon: epsilon.f32,
  with: (body) => withGpu(body),
};

export const backendKinds: readonly BackendKind[] = [wasm("f32"), wasm("f64"), ...(hasGpu ? [onGpu] : [])];

/** Values of a tensor in double precision. */
export async function valuesOf(backend: Backend, tensor: Tensor): Promise<Float64Array> {
  return Float64Array.from(await backend.read(tensor));
}
