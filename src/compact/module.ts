// The WASM module of mlgpf/edge for hosts that may compile: what `mlgpf compact` measures with and `mlgpf serve` runs.

import { compileBase64 } from "../base/wasm.ts";
import { base64 } from "../generated/edge.ts";

let compiled: Promise<WebAssembly.Module> | undefined;

export function edgeModule(): Promise<WebAssembly.Module> {
  compiled ??= compileBase64(base64);
  return compiled;
}
