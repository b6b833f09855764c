// Notes in Markdown, dropped as files or as a folder, made into one file of JSON lines, which trains and is labelled like any other.

import { DataError } from "../../src/base/errors.ts";
import { isMarkdown, markdownRow } from "../../src/io/markdown.ts";

/** A file with its path below the folder that was dropped or chosen. */
export interface PlacedFile {
  path: string;
  file: File;
}

export interface NoteOptions {
  /** Keys of the front matter that hold labels, where they have other names than `tags`. */
  keys?: readonly string[] | undefined;
  /** Leave out notes whose front matter is broken. */
  lenient: boolean;
  /** Notes without labels too: they are to be labelled. */
  unlabelled: boolean;
}

export interface NotesFile {
  file: File;
  /** Files and rows that were left out, a sentence each. */
  remarks: readonly string[];
}

/** Notes among the files, in the order of their paths; those in hidden folders are none. */
export const notesAmong = (files: readonly PlacedFile[]): PlacedFile[] =>
  files
    .filter(({ path }) => isMarkdown(path) && !/(^|\/)(\.|node_modules\/)/.test(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1));

/** The notes as JSON lines, named after `name`. */
export async function notesFile(
  name: string,
  notes: readonly PlacedFile[],
  { keys, lenient, unlabelled }: NoteOptions,
): Promise<NotesFile> {
  const yaml = await import("yaml");
  const lines: string[] = [];
  let without = 0;
  let broken = 0;
  for (const { path, file } of notes)
    try {
      const { text, labels } = markdownRow(yaml, await file.text(), path, keys);
      if (labels === null) without++;
      if (labels !== null || unlabelled) lines.push(`${JSON.stringify({ id: path, text, labels: labels ?? [] })}\n`);
    } catch (error) {
      if (!lenient || !(error instanceof DataError)) throw error;
      broken++;
    }
  if (lines.length === 0) {
    const key = (keys ?? ["tags"]).join(" or ");
    throw new Error(`${name}: found ${notes.length} notes without labels, expected ${key} in their front matter`);
  }
  const remarks = [
    ...(without > 0 && !unlabelled ? [`${without} of ${notes.length} notes have no tags and are left out`] : []),
    ...(broken > 0 ? [`${broken} of ${notes.length} notes have broken front matter and are left out`] : []),
  ];
  return { file: new File(lines, `${name}.jsonl`), remarks };
}
