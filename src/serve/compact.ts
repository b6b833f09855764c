// A compact model made ready to serve, in this thread or in another.

import { Buffer } from "node:buffer";
import { loadStemmer } from "../data/stemmers.ts";
import { load } from "../edge/index.ts";
import { base64 } from "../generated/edge.ts";
import type { ServedModel } from "./project.ts";

let compiled: Promise<WebAssembly.Module> | undefined;

/** Loads a compact model; `name` is what errors call it. */
export async function loadCompact(bytes: Uint8Array, name = "the model"): Promise<ServedModel> {
  compiled ??= WebAssembly.compile(Buffer.from(base64, "base64"));
  const tagger = await load(bytes, { stem: loadStemmer, wasm: await compiled, name });
  return { tagger, labels: tagger.info.labels, bytes };
}
