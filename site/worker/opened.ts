// A model in the page, full or compact: opened from its file, asked through one host.

import { readSafetensorsHeader } from "../../src/base/safetensors.ts";
import type { OpenCompact } from "../../src/compact/open.ts";
import { COMPACT_FORMAT } from "../../src/edge/format.ts";
import { modelFromBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import { ModelHost } from "../../src/predict/host.ts";

export interface Opened {
  readonly model: Model | OpenCompact;
  readonly host: Pick<ModelHost, "use">;
  /** The model where it is a full one: that can be made compact, and go on learning. */
  readonly full: Model | undefined;
  free(): void;
}

/** Opens the file of a model of either kind. */
export async function openBytes(bytes: Uint8Array, file: string): Promise<Opened> {
  if (!isCompact(bytes, file)) return await openFull(modelFromBytes(bytes, file));
  // Fetched by those who have one.
  const { openCompact } = await import("../../src/compact/open.ts");
  const model = await openCompact(bytes, file);
  return {
    model,
    host: { use: (work) => work(model.predictor) },
    full: undefined,
    free: () => model.predictor.free(),
  };
}

export async function openFull(model: Model): Promise<Opened> {
  // One text at a time is too little work to share out.
  const host = await ModelHost.start(model, { threads: 1 });
  return { model, host, full: model, free: () => host.dispose() };
}

const isCompact = (bytes: Uint8Array, file: string): boolean =>
  readSafetensorsHeader(bytes, bytes.length, file).metadata.format === COMPACT_FORMAT;
