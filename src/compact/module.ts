// The WASM module of mlgpf/edge for hosts that may compile: what `mlgpf compact` measures with and `mlgpf serve` runs.

import { base64 } from "../generated/edge.ts";

export function edgeModule(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}
