// Where a person says that something is: a path (in Node, Deno and Bun) or an address.

import { FileError } from "./errors.ts";

/** The address that is meant, if it is one on the web. */
export function webAddress(place: string | URL): URL | undefined {
  if (typeof place === "string") return /^https?:\/\//i.test(place) ? new URL(place) : undefined;
  return place.protocol === "file:" ? undefined : place;
}

/** The path that is meant; refused where there is no file system. */
export async function localPath(
  place: string | URL,
  action: "read" | "write",
  instead: string,
): Promise<string> {
  const { process } = globalThis as { process?: { versions?: { node?: string } } }; // Deno and Bun have one too
  if (process?.versions?.node === undefined)
    throw new FileError(action, String(place), `there is no file system here; ${instead}`, "ENOSYS");
  return typeof place === "string" ? place : (await import("node:url")).fileURLToPath(place);
}
