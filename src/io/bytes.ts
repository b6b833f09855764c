// The bytes of a file from wherever it is: a path, an address, a Blob or a Response, or bytes already.

import { FileError, FormatError } from "./errors.ts";
import { localPath, webAddress } from "./place.ts";

/** A path (in Node, Deno and Bun), an address, a Blob, a Response, or the bytes themselves. */
export type FileSource =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | { arrayBuffer(): Promise<ArrayBuffer>; readonly ok?: boolean; readonly status?: number };

export interface FoundBytes {
  bytes: Uint8Array;
  /** What errors call it. */
  file: string;
}

/** `what` is what a source without a name is called, such as "the model". */
export async function bytesFrom(source: FileSource, what: string): Promise<FoundBytes> {
  if (typeof source === "string" || source instanceof URL) {
    const address = webAddress(source);
    if (address) return { ...(await bytesFrom(await fetch(address), address.href)), file: address.href };
    const path = await localPath(source, "read", "give bytes, a Blob or a Response instead of a path");
    const { readWhole } = await import("./files.ts");
    return { bytes: await readWhole(path), file: path };
  }
  if (source instanceof Uint8Array) return { bytes: source, file: what };
  if (source instanceof ArrayBuffer) return { bytes: new Uint8Array(source), file: what };
  if (typeof source?.arrayBuffer === "function") {
    if (source.ok === false)
      throw new FileError("read", what, `the answer is status ${source.status}`, "ENOENT");
    return { bytes: new Uint8Array(await source.arrayBuffer()), file: what };
  }
  throw new FormatError(what, typeof source, "a path, an address, a Blob, a Response or bytes");
}
