// A file that one process at a time may have. What a process that was killed has left behind counts for nothing.

import { FileError } from "./errors.ts";
import { isGone } from "./files.ts";

/** Takes a lock, or says which process has it; returns how to let it go. */
export async function takeLock(path: string, held: string): Promise<() => Promise<void>> {
  const { open, readFile, rm } = await import("node:fs/promises");
  const { pid } = (await import("node:process")).default;
  for (;;) {
    const handle = await open(path, "wx").catch((error: { code?: string }) => {
      if (error.code !== "EEXIST") throw error;
      return undefined;
    });
    if (handle) {
      await handle.writeFile(String(pid));
      await handle.close();
      return () => rm(path, { force: true });
    }
    const owner = Number(await readFile(path, "utf8").catch(() => ""));
    // A number of our own is that of a process before us: after a restart of a container it is often the same.
    if (owner > 0 && owner !== pid && !(await isGone(owner)))
      throw new FileError("write", held, `process ${owner} is learning with it (${path} says so)`, "EBUSY");
    await rm(path, { force: true });
  }
}
