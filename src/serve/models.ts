// Model files as the server holds them: compact, a full model made so in memory without loss; they can be read again.

import { stat } from "node:fs/promises";
import { readSafetensors } from "../base/safetensors.ts";
import { compactModel } from "../compact/index.ts";
import { edgeModule } from "../compact/module.ts";
import { loadStemmer } from "../data/stemmers.ts";
import { COMPACT_FORMAT } from "../edge/format.ts";
import { load } from "../edge/index.ts";
import { readWhole } from "../io/files.ts";
import { modelFromTensors } from "../model/file.ts";
import type { Project, ServedModel } from "./project.ts";
import type { Subjects } from "./subjects.ts";

let compiled: Promise<WebAssembly.Module> | undefined;

/** Loads a compact model; `name` is what errors call it. */
export async function loadCompact(bytes: Uint8Array, name = "the model"): Promise<ServedModel> {
  compiled ??= edgeModule();
  const tagger = await load(bytes, { stem: loadStemmer, wasm: await compiled, name });
  return { tagger, labels: tagger.info.labels, bytes };
}

async function openModel(path: string): Promise<ServedModel> {
  const bytes = await readWhole(path);
  const file = readSafetensors(bytes, path);
  const compact =
    file.metadata.format === COMPACT_FORMAT
      ? bytes
      : await compactModel(modelFromTensors(file, path), { type: "f32", variance: "exact", allLabels: true });
  return { ...(await loadCompact(compact, path)), modified: (await stat(path)).mtime };
}

export interface ProjectOptions {
  readonly id: string;
  readonly language: string;
  readonly subjects?: Subjects;
}

export interface FileProject extends Project {
  readonly path: string;
  /** Reads the file again; requests that have begun go on with the model as it was. A file that is wrong changes nothing. */
  reload(): Promise<void>;
}

export async function openProject(path: string, { id, language, subjects }: ProjectOptions): Promise<FileProject> {
  let model = await openModel(path);
  return {
    path,
    id,
    name: id,
    language,
    subjects,
    get model() {
      return model;
    },
    async reload() {
      model = await openModel(path);
    },
  };
}
