// What a command made and must not lose: it is written where it was asked for or else somewhere that works.

import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { FileError } from "../io/errors.ts";
import { type Content, writeAtomically } from "../io/files.ts";

/** The path itself where nothing has it, or else with a number after it: `model.checkpoint.1`. */
export function freeName(path: string): string {
  if (!existsSync(path)) return path;
  for (let number = 1; ; number++) if (!existsSync(`${path}.${number}`)) return `${path}.${number}`;
}

/** Where something was written, and why it is not where it was asked for. */
export interface Written {
  path: string;
  problem?: FileError;
}

/** Writes to the path or, if that fails, to the current, the home or the temporary folder. */
export async function writeSomewhere(path: string, content: Content): Promise<Written> {
  try {
    await writeAtomically(path, content);
    return { path };
  } catch (problem) {
    if (!(problem instanceof FileError)) throw problem;
    for (const folder of [process.cwd(), homedir(), tmpdir()]) {
      const other = freeName(join(folder, basename(path)));
      const written = await writeAtomically(other, content).then(
        () => true,
        () => false,
      );
      if (written) return { path: other, problem };
    }
    throw problem;
  }
}
