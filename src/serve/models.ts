// Model files as the server holds them: compact, a full model made so in memory without loss; they can be read again.

import { stat } from "node:fs/promises";
import { readSafetensors } from "../base/safetensors.ts";
import { compactModel } from "../compact/index.ts";
import { edgeModule } from "../compact/module.ts";
import { type OpenCompact, openCompact } from "../compact/open.ts";
import { loadStemmer } from "../data/stemmers.ts";
import { COMPACT_FORMAT } from "../edge/format.ts";
import { load } from "../edge/index.ts";
import { readWhole } from "../io/files.ts";
import { modelFromTensors } from "../model/file.ts";
import { Embedding } from "./embedding.ts";
import type { Project, ServedModel } from "./project.ts";
import type { Subjects } from "./subjects.ts";

export async function loadCompact(bytes: Uint8Array, name = "the model"): Promise<ServedModel> {
  const tagger = await load(bytes, { stem: loadStemmer, wasm: await edgeModule(), name });
  return { tagger, labels: tagger.info.labels, bytes };
}

async function openModel(path: string, embed: string | undefined): Promise<ServedModel> {
  const bytes = await readWhole(path);
  const file = readSafetensors(bytes, path);
  const full = file.metadata.format === COMPACT_FORMAT ? undefined : modelFromTensors(file, path);
  const compact = full ? await compactModel(full, { type: "f32", variance: "exact", allLabels: true }) : bytes;
  const model = { ...(await loadCompact(compact, path)), modified: (await stat(path)).mtime };
  if (embed === undefined) return model;
  const embedding = await Embedding.open(embed, (full ?? (await compactSchema(bytes, path))).schema.vectoriser);
  // Another thread would need an embedder of its own: large requests wait for their turn in this one.
  return { ...model, tagger: embedding.before(model.tagger), bytes: undefined };
}

async function compactSchema(bytes: Uint8Array, path: string): Promise<Pick<OpenCompact, "schema">> {
  const { schema, predictor } = await openCompact(bytes, path);
  predictor.free();
  return { schema };
}

export interface ProjectOptions {
  readonly id: string;
  readonly language: string;
  readonly subjects?: Subjects;
  /** An ES module whose embed(texts) makes the vectors of texts that come without. */
  readonly embed?: string | undefined;
}

export interface FileProject extends Project {
  readonly path: string;
  /** Reads the file again; requests that have begun go on with the model as it was. A file that is wrong changes nothing. */
  reload(): Promise<void>;
}

export async function openProject(
  path: string,
  { id, language, subjects, embed }: ProjectOptions,
): Promise<FileProject> {
  let model = await openModel(path, embed);
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
      model = await openModel(path, embed);
    },
  };
}
