// Several files that are replaced together: after a crash at any moment either all of them are new, or all can be made so.
//
// The new contents are written beside the files as `NAME.next`. Then a record names them, and from that moment on the
// change stands: the files take their places, or their contents go behind the files that there are, and the record goes. Whoever finds a
// record finishes what it says, from the start where that was under way. Anybody may have written it: it moves files beside it alone,
// and those that its finder names.

import { FormatError } from "../base/errors.ts";
import { type Content, copyBehind, node, readSmall, targetOf, writeAtomically } from "./files.ts";

interface Replacement {
  readonly path: string;
  readonly content: Content;
  /** So many bytes of the file that there is stay, and the content goes behind them. */
  readonly behind?: number | undefined;
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
  // A change that stands needs its contents, which would be replaced: the disk may have been full in the middle of it.
  await finishTogether(record, paths);
  try {
    for (const [i, path] of paths.entries()) {
      await rm(nextOf(path), { force: true }); // a link would be followed
      await writeAtomically(nextOf(path), files[i].content);
      const { mode } = targets[i];
      if (mode !== undefined) await chmod(nextOf(path), mode);
    }
    await check();
    const names = paths.map((path) => relative(dirname(record), path));
    await writeAtomically(record, new TextEncoder().encode(JSON.stringify(recordFor(names, files))));
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
  const { replace, behind } = changesIn(text, record);
  const paths = replace.map((name) => resolve(folder, name));
  const known = new Set(files.map((file) => resolve(file)));
  const foreign = paths.find((path) => dirname(path) !== folder && !known.has(path));
  if (foreign !== undefined)
    throw new FormatError(record, `a change of ${foreign}`, "files beside it, or the model that was named");
  for (const [i, path] of paths.entries()) {
    const bytes = behind[i];
    const done = typeof bytes === "number" ? copyBehind(nextOf(path), path, bytes) : rename(nextOf(path), path);
    await done.catch((error: { code?: string }) => {
      // It took its place before the crash.
      if (error.code !== "ENOENT") throw error;
    });
  }
  await rm(record, { force: true });
}

/** Names of files, and for each how many bytes of it stay, or null where it is replaced. */
interface Changes {
  readonly replace: readonly string[];
  readonly behind: readonly (number | null)[];
}

const recordFor = (replace: readonly string[], files: readonly Replacement[]): Changes => ({
  replace,
  behind: files.map(({ behind = null }) => behind),
});

function changesIn(text: string, record: string): Changes {
  try {
    const { replace, behind = [] } = JSON.parse(text) as Partial<Record<keyof Changes, unknown>>;
    const isPlace = (place: unknown): boolean => place === null || (Number.isSafeInteger(place) && Number(place) >= 0);
    if (Array.isArray(replace) && replace.every((path) => typeof path === "string"))
      if (Array.isArray(behind) && behind.every(isPlace)) return { replace, behind };
  } catch {
    // Refused below.
  }
  throw new FormatError(record, "something else", "the record of files that are replaced together");
}
