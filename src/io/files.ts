// Files by their path, in Node, Deno and Bun. The only file of the library that needs a file system; the
// modules of the runtime are loaded when a function is called, so that bundles for pages never meet them.

import { FileError } from "./errors.ts";
import { headerLength, readSafetensorsHeader, type TensorFile, viewTensors } from "./safetensors.ts";

export interface InputFile {
  readonly stream: ReadableStream<Uint8Array>;
  /** For messages: the path, or "standard input". */
  readonly name: string;
  /** In bytes, where it is known. */
  readonly size: number | undefined;
}

const CHUNK = 1 << 18;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the disk is read-only",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  EEXIST: "it exists already",
};

/** What the system says of a file, as a sentence. */
export function fileError(action: "read" | "write", path: string, error: unknown): FileError {
  if (error instanceof FileError) return error;
  const { code, name, message } = error as { code?: unknown; name?: string; message?: string };
  if (name === "NotCapable" || name === "PermissionDenied") {
    return new FileError(action, path, `Deno was not given --allow-${action}`, "EACCES");
  }
  const known = typeof code === "string" ? code : "UNKNOWN";
  const missingFolder = known === "ENOENT" && action === "write";
  const why = missingFolder
    ? "there is no such folder"
    : (REASONS[known] ?? String(message ?? error).split("\n", 1)[0] ?? "");
  return new FileError(action, path, why, known);
}

async function attempt<T>(action: "read" | "write", path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(action, path, error);
  }
}

async function openStandardInput(): Promise<InputFile> {
  const { stdin } = (await import("node:process")).default;
  const chunks = stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await attempt("read", "standard input", () => chunks.next());
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, name: "standard input", size: undefined };
}

/** Opens a path, or "-" for standard input, as a stream of bytes. */
export async function openInput(path: string): Promise<InputFile> {
  if (path === "-") return openStandardInput();
  const { open } = await import("node:fs/promises");
  const handle = await attempt("read", path, () => open(path, "r"));
  const stat = await attempt("read", path, () => handle.stat());
  if (stat.isDirectory()) {
    await handle.close();
    throw new FileError("read", path, REASONS.EISDIR as string, "EISDIR");
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { bytesRead, buffer } = await handle.read(new Uint8Array(CHUNK), 0, CHUNK);
          if (bytesRead > 0) {
            controller.enqueue(buffer.subarray(0, bytesRead));
            return;
          }
          await handle.close();
          controller.close();
        } catch (error) {
          await handle.close().catch(() => {});
          throw fileError("read", path, error);
        }
      },
      async cancel() {
        await handle.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, name: path, size: stat.isFile() ? stat.size : undefined };
}

/** All bytes of a file. */
export async function readWhole(path: string): Promise<Uint8Array> {
  const { readFile } = await import("node:fs/promises");
  const bytes = await attempt("read", path, () => readFile(path));
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface Readable {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** Bytes [from, to) of a file into `target` at `from`; stops early where the file ends. */
async function readRange(handle: Readable, target: Uint8Array, from: number, to: number): Promise<void> {
  for (let at = from; at < to; ) {
    const { bytesRead } = await handle.read(target, at, Math.min(to - at, 1 << 30), at);
    if (bytesRead === 0) return;
    at += bytesRead;
  }
}

/** Opens a safetensors file. Its header is checked before memory is taken for the rest. */
export async function readSafetensorsFile(path: string): Promise<TensorFile> {
  const { open } = await import("node:fs/promises");
  const handle = await attempt("read", path, () => open(path, "r"));
  const read = (target: Uint8Array, from: number, to: number): Promise<void> =>
    attempt("read", path, () => readRange(handle, target, from, to));
  try {
    const { size } = await attempt("read", path, () => handle.stat());
    const prefix = new Uint8Array(Math.min(8, size));
    await read(prefix, 0, prefix.length);
    const start = new Uint8Array(8 + headerLength(prefix, size, path));
    await read(start, 0, start.length);
    const header = readSafetensorsHeader(start, size, path);
    const bytes = new Uint8Array(size);
    bytes.set(start);
    await read(bytes, start.length, size);
    return viewTensors(bytes, header);
  } finally {
    await handle.close();
  }
}

/** A name in the folder of a file for what is not whole yet. */
const temporaryName = (path: string): string => `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;

/** Refuses a path that `writeAtomically` could not write to: before the work whose outcome is to go there. */
export async function checkWritable(path: string): Promise<void> {
  const { access, constants, open, stat, unlink } = await import("node:fs/promises");
  const there = await stat(path).catch(() => undefined);
  if (there?.isDirectory()) throw new FileError("write", path, REASONS.EISDIR as string, "EISDIR");
  if (there && !there.isFile()) throw new FileError("write", path, "it is not a plain file", "EINVAL");
  if (there) await attempt("write", path, () => access(path, constants.W_OK));
  const trial = temporaryName(path);
  const handle = await attempt("write", path, () => open(trial, "wx"));
  await handle.close();
  await attempt("write", path, () => unlink(trial));
}

/**
 * Writes a file so that its path holds either what it held before or all of the new content: first under a
 * temporary name in the same folder, flushed to the disk, then renamed. When anything fails the temporary
 * file is removed.
 */
export async function writeAtomically(
  path: string,
  content: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const { open, rename, unlink } = await import("node:fs/promises");
  const temporary = temporaryName(path);
  const handle = await attempt("write", path, () => open(temporary, "wx"));
  try {
    try {
      for await (const chunk of content instanceof Uint8Array ? [content] : content) {
        await attempt("write", path, () => writeFully(handle, chunk));
      }
      await attempt("write", path, () => handle.sync());
    } finally {
      await handle.close();
    }
    await attempt("write", path, () => rename(temporary, path));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await syncFolder(path);
}

interface Writable {
  write(buffer: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
}

async function writeFully(handle: Writable, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) {
    at += (await handle.write(chunk, at, chunk.length - at)).bytesWritten;
  }
}

/** The rename itself reaches the disk with the folder; systems that cannot open a folder do without. */
async function syncFolder(path: string): Promise<void> {
  const [{ open }, { dirname }] = await Promise.all([import("node:fs/promises"), import("node:path")]);
  const folder = await open(dirname(path), "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
