// The devices of this browser, in a sentence.

import { byId, say } from "./dom.ts";
import { several } from "./words.ts";

async function graphics(): Promise<string> {
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  if (!adapter) return "no WebGPU";
  // Older browsers have an adapter without it.
  const info: Partial<GPUAdapterInfo> = adapter.info ?? {};
  const name = info.description || info.architecture || info.vendor;
  return name ? `WebGPU (${name})` : "WebGPU";
}

export async function describeMachine(): Promise<void> {
  const threads = crossOriginIsolated
    ? `WASM on up to ${several(Math.min(8, navigator.hardwareConcurrency), "thread")}`
    : "WASM on one thread (more need a server that sends the COOP and COEP headers)";
  const line = byId("machine", HTMLElement);
  say(line, `This browser has ${threads}.`);
  say(line, `This browser has ${threads} and ${await graphics()}.`);
}
