// A model into a file.

import { ArgumentError } from "../core/errors.ts";
import { localPath } from "../io/place.ts";
import { modelToBytes } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import type { LoadedModel } from "./load.ts";

/**
 * Writes a model to a path, in Node, Deno and Bun: whole or not at all. Elsewhere `modelToBytes` gives the bytes of the
 * file.
 *
 * @param model The model, as `train` or `loadModel` gave it.
 * @param place A path or a `file:` address.
 * @throws {FileError} A place that cannot be written to; what was there stays.
 * @example
 * ```ts
 * await saveModel(await train("docs.jsonl"), "tagger.safetensors");
 * ```
 */
export async function saveModel(model: TrainedModel | LoadedModel, place: string | URL): Promise<void> {
  if (typeof model !== "object" || model === null)
    throw new ArgumentError("model", `found ${JSON.stringify(model)}, expected a model, then its place`);
  const path = await localPath(place, "write", "modelToBytes(model) gives the bytes of the file");
  const { writeAtomically } = await import("../io/files.ts");
  await writeAtomically(path, modelToBytes("predict" in model ? model.model : model));
}
