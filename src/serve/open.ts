// A model file as a tagger: a compact model as it is, a full one made compact in memory without any loss.

import { Buffer } from "node:buffer";
import { compactModel } from "../compact/index.ts";
import { COMPACT_FORMAT } from "../edge/format.ts";
import { load, type Tagger } from "../edge/index.ts";
import { base64 } from "../generated/edge.ts";
import { FormatError } from "../io/errors.ts";
import { readWhole } from "../io/files.ts";
import { modelFromTensors } from "../io/modelfile.ts";
import { readSafetensors } from "../io/safetensors.ts";

/** Opens either kind of model; what is wrong with the file is said with its path. */
export async function openTagger(path: string): Promise<Tagger> {
  const bytes = await readWhole(path);
  const file = readSafetensors(bytes, path);
  const compact =
    file.metadata.format === COMPACT_FORMAT
      ? bytes
      : await compactModel(modelFromTensors(file, path), { type: "f32", variance: "exact", allLabels: true });
  try {
    return await load(compact, { wasm: await WebAssembly.compile(Buffer.from(base64, "base64")) });
  } catch (error) {
    throw error instanceof FormatError ? new FormatError(path, error.found, error.expected) : error;
  }
}
