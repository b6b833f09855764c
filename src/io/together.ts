// Several files that are replaced together: after a crash at any moment either all of them are new, or all can be made so.
//
// The new contents are written beside the files as `NAME.next`. Then a record names them, and from that moment on the
// change stands: the files take their places, and the record goes. Whoever finds a record finishes what it says. Anybody may have
// written it: it moves files beside it alone, and those that its finder names.

import { FormatError } from "../base/errors.ts";
import { node, readSmall, targetOf, writeAtomically } from "./files.ts";

export interface Replacement {
  readonly path: string;
  readonly content: Uint8Array | Iterable<Uint8Array>;
}

export const recordOf = (state: string): string => `${state}.replacing`;

const nextOf = (path: string): string => `${path}.next`;

/**
 * Replaces files together; the record is a path of its own that the same files always have. Links stay what they are, and
 * files keep their modes. `check` is called when all is written and nothing is replaced: what it throws undoes all.
 */
export async function writeTogether(
  record: string,
  files: readonly Replacement[],
  check: () => Promise<void> = async () => {},
): Promise<void> {
  const { chmod, dirname, relative, rm } = await node();
  const targets = await Promise.all(files.map(({ path }) => targetOf(path)));
  const paths = targets.map(({ path }) => path);
  try {
    for (const [i, path] of paths.entries()) {
      await writeAtomically(nextOf(path), files[i].content);
      const { mode } = targets[i];
      if (mode !== undefined) await chmod(nextOf(path), mode);
    }
    await check();
    const names = paths.map((path) => relative(dirname(record), path));
    await writeAtomically(record, new TextEncoder().encode(JSON.stringify({ replace: names })));
  } catch (error) {
    for (const path of paths) await rm(nextOf(path), { force: true }).catch(() => {});
    throw error;
  }
  await finishTogether(record, paths);
}

/** Finishes a change of these files, or of files beside the record, that was cut off after it stood; without a record there is none. */
export async function finishTogether(record: string, files: readonly string[] = []): Promise<void> {
  const { dirname, rename, resolve, rm } = await node();
  const text = await readSmall(record);
  if (text === undefined) return;
  const folder = resolve(dirname(record));
  const paths = namesIn(text, record).map((name) => resolve(folder, name));
  const known = new Set(files.map((file) => resolve(file)));
  const foreign = paths.find((path) => dirname(path) !== folder && !known.has(path));
  if (foreign !== undefined)
    throw new FormatError(record, `a change of ${foreign}`, "files beside it, or the model that was named");
  for (const path of paths)
    await rename(nextOf(path), path).catch((error: { code?: string }) => {
      // It took its place before the crash.
      if (error.code !== "ENOENT") throw error;
    });
  await rm(record, { force: true });
}

function namesIn(text: string, record: string): string[] {
  try {
    const { replace } = JSON.parse(text) as { replace?: unknown };
    if (Array.isArray(replace) && replace.every((path) => typeof path === "string")) return replace;
  } catch {
    // Refused below.
  }
  throw new FormatError(record, "something else", "the record of files that are replaced together");
}
