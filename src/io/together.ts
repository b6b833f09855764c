// Several files that are replaced together: after a crash at any moment either all of them are new, or all can be made so.
//
// The new contents are written beside the files as `NAME.next`. Then a record names them, and from that moment on the
// change stands: the files take their places, and the record goes. Whoever finds a record finishes what it says.

import { FormatError } from "./errors.ts";
import { writeAtomically } from "./files.ts";

/** A file and what is to be in it. */
export interface Replacement {
  readonly path: string;
  readonly content: Uint8Array | Iterable<Uint8Array>;
}

/** The record of a model and its state. */
export const recordOf = (state: string): string => `${state}.replacing`;

const nextOf = (path: string): string => `${path}.next`;

/** Replaces files together; the record is a path of its own that the same files always have. */
export async function writeTogether(record: string, files: readonly Replacement[]): Promise<void> {
  const { resolve } = await import("node:path");
  try {
    for (const { path, content } of files) await writeAtomically(nextOf(path), content);
    const paths = files.map(({ path }) => resolve(path));
    await writeAtomically(record, new TextEncoder().encode(JSON.stringify({ replace: paths })));
  } catch (error) {
    const { rm } = await import("node:fs/promises");
    for (const { path } of files) await rm(nextOf(path), { force: true }).catch(() => {});
    throw error;
  }
  await finishTogether(record);
}

/** Finishes a change that was cut off after it stood; without a record there is none. */
export async function finishTogether(record: string): Promise<void> {
  const { readFile, rename, rm } = await import("node:fs/promises");
  const text = await readFile(record, "utf8").catch((error: { code?: string }) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return;
  for (const path of pathsIn(text, record))
    await rename(nextOf(path), path).catch((error: { code?: string }) => {
      // It took its place before the crash.
      if (error.code !== "ENOENT") throw error;
    });
  await rm(record, { force: true });
}

function pathsIn(text: string, record: string): string[] {
  try {
    const { replace } = JSON.parse(text) as { replace?: unknown };
    if (Array.isArray(replace) && replace.every((path) => typeof path === "string")) return replace;
  } catch {
    // Refused below.
  }
  throw new FormatError(record, "something else", "the record of files that are replaced together");
}
