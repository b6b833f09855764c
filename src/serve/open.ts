// A model file as the server holds it: a compact model as it is, a full one made compact in memory without any loss.

import { stat } from "node:fs/promises";
import { compactModel } from "../compact/index.ts";
import { COMPACT_FORMAT } from "../edge/format.ts";
import { readWhole } from "../io/files.ts";
import { readSafetensors } from "../io/safetensors.ts";
import { modelFromTensors } from "../model/file.ts";
import { loadCompact } from "./compact.ts";
import type { ServedModel } from "./project.ts";

/** Opens either kind of model; what is wrong with the file is said with its path. */
export async function openModel(path: string): Promise<ServedModel> {
  const bytes = await readWhole(path);
  const file = readSafetensors(bytes, path);
  const compact =
    file.metadata.format === COMPACT_FORMAT
      ? bytes
      : await compactModel(modelFromTensors(file, path), { type: "f32", variance: "exact", allLabels: true });
  return { ...(await loadCompact(compact, path)), modified: (await stat(path)).mtime };
}
