// Files by their path, in Node, Deno and Bun. The only file of the library that needs a file system; the
// modules of the runtime are loaded when a function is called, so that bundles for pages never meet them.

import type { FileHandle } from "node:fs/promises";
import { FileError, FormatError } from "../base/errors.ts";
import { headerLength, readSafetensorsHeader, type TensorFile, viewTensors } from "../base/safetensors.ts";
import { pulled } from "../data/bytes.ts";

export interface InputFile {
  readonly stream: ReadableStream<Uint8Array>;
  readonly name: string;
  /** In bytes, where it is known. */
  readonly size: number | undefined;
}

const CHUNK = 1 << 18;

export const node = async (): Promise<typeof import("node:fs/promises") & typeof import("node:path")> => ({
  ...(await import("node:fs/promises")),
  ...(await import("node:path")),
});

const runtime = async (): Promise<NodeJS.Process> => (await import("node:process")).default;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file may not grow so large",
  EROFS: "the disk is read-only",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  EEXIST: "it exists already",
  ELOOP: "its links go round in a circle",
  EPIPE: "nobody reads it any more",
  EINVAL: "it is not a plain file",
};

const refusal = (action: "read" | "write", path: string, code: string): FileError =>
  new FileError(action, path, REASONS[code], code);

/** The system's error for a file, as a sentence. */
export function fileError(action: "read" | "write", path: string, error: unknown): Error {
  if (error instanceof FileError || error instanceof FormatError) return error;
  const { code, name, message } = error as { code?: unknown; name?: string; message?: string };
  if (name === "NotCapable" || name === "PermissionDenied") {
    return new FileError(action, path, `Deno was not given --allow-${action}`, "EACCES");
  }
  // Engines have messages of their own for an array that cannot be had.
  if (error instanceof RangeError) return new FileError(action, path, "it does not fit into memory", "ENOMEM");
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
  const { stdin } = await runtime();
  const chunks = stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const next = async (): Promise<Uint8Array | undefined> => (await chunks.next()).value;
  const close = async (): Promise<unknown> => await chunks.return?.();
  const name = "standard input";
  return { stream: pulled(() => attempt("read", name, next), close), name, size: undefined };
}

/** A path, or "-" for standard input, as a stream of bytes. The file is opened when its first bytes are asked for: a stream that nobody reads holds none. */
export async function openInput(path: string): Promise<InputFile> {
  if (path === "-") return openStandardInput();
  const { access, constants, open, stat } = await node();
  const found = await attempt("read", path, async () => {
    await access(path, constants.R_OK);
    return await stat(path);
  });
  if (found.isDirectory()) throw refusal("read", path, "EISDIR");
  let handle: FileHandle | undefined;
  const next = async (): Promise<Uint8Array | undefined> => {
    handle ??= await open(path, "r");
    const { bytesRead, buffer } = await handle.read(new Uint8Array(CHUNK), 0, CHUNK);
    return bytesRead > 0 ? buffer.subarray(0, bytesRead) : undefined;
  };
  const close = async (): Promise<void> => await handle?.close();
  const stream = pulled(() => attempt("read", path, next), close);
  return { stream, name: path, size: found.isFile() ? found.size : undefined };
}

const MOST_WHOLE = 2 ** 33;
const MOST_SMALL = 2 ** 20;

interface PlainFile {
  readonly size: number;
  /** Bytes [from, to) into `target` at `from`; stops early where the file ends. */
  read(target: Uint8Array, from: number, to: number): Promise<void>;
}

/**
 * Opens a file that is to be read whole and gives it to `use`. Folders, devices and pipes, which may have no end, and files of more
 * than `most` bytes are refused; where it is to be inside of a folder, so are links that lead out of it.
 */
async function withPlainFile<T>(
  path: string,
  { most = MOST_WHOLE, folder }: { most?: number; folder?: string },
  use: (file: PlainFile) => Promise<T>,
): Promise<T> {
  const { open, realpath, relative, sep, stat } = await node();
  const check = (found: Awaited<ReturnType<typeof stat>>): number => {
    if (found.isDirectory()) throw refusal("read", path, "EISDIR");
    if (!found.isFile()) throw refusal("read", path, "EINVAL");
    const size = Number(found.size);
    if (size > most) throw new FileError("read", path, `it has ${size} bytes, more than ${most}`, "EFBIG");
    return size;
  };
  return await attempt("read", path, async () => {
    check(await stat(path)); // opening a pipe waits for somebody to write
    if (folder !== undefined) {
      const inside = relative(await realpath(folder), await realpath(path));
      if (inside.split(sep)[0] === "..") throw new FileError("read", path, "it is a link out of its folder", "ELOOP");
    }
    const handle = await open(path, "r");
    try {
      const read = async (target: Uint8Array, from: number, to: number): Promise<void> => {
        for (let at = from; at < to; ) {
          const { bytesRead } = await handle.read(target, at, Math.min(to - at, 1 << 30), at);
          if (bytesRead === 0) return;
          at += bytesRead;
        }
      };
      return await use({ size: check(await handle.stat()), read });
    } finally {
      await handle.close();
    }
  });
}

/** All bytes of a plain file, of at most `most`; inside of `folder`, where one is given. */
export async function readWhole(path: string, limits: { most?: number; folder?: string } = {}): Promise<Uint8Array> {
  return await withPlainFile(path, limits, async ({ size, read }) => {
    const bytes = new Uint8Array(size);
    await read(bytes, 0, size);
    return bytes;
  });
}

/** The text of a small file that stands beside another, such as a lock; undefined where there is none. */
export async function readSmall(path: string): Promise<string | undefined> {
  const bytes = await readWhole(path, { most: MOST_SMALL }).catch((error: FileError) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
  return bytes && new TextDecoder().decode(bytes);
}

/** Opens a safetensors file. Its header is checked before memory is taken for the rest. */
export async function readSafetensorsFile(path: string): Promise<TensorFile> {
  return await withPlainFile(path, {}, async ({ size, read }) => {
    const prefix = new Uint8Array(Math.min(8, size));
    await read(prefix, 0, prefix.length);
    const start = new Uint8Array(8 + headerLength(prefix, size, path));
    await read(start, 0, start.length);
    const header = readSafetensorsHeader(start, size, path);
    const bytes = new Uint8Array(size);
    bytes.set(start);
    await read(bytes, start.length, size);
    return viewTensors(bytes, header);
  });
}

/**
 * Where something is to be written. A plain file, or none yet, is replaced as a whole: `path` has links followed, so that
 * they stay what they are, and `mode` is that of the file that is there. A pipe (FIFO) is written through, and so is
 * standard output under its names, whatever it goes to. Devices are refused.
 */
export interface Target {
  readonly kind: "file" | "pipe" | "standard output";
  readonly path: string;
  readonly mode?: number;
}

const STANDARD_OUTPUT = /^\/(dev\/stdout|dev\/fd\/1|proc\/self\/fd\/1)$/;

/** As many as systems follow. */
const MOST_LINKS = 40;

/** Where a path leads to in the end, whether there is anything or not. */
async function linksFollowed(path: string): Promise<string> {
  const { dirname, readlink, resolve } = await node();
  let place = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const next = await readlink(place).catch(() => undefined); // not there, or no link
    if (next === undefined) return place;
    place = resolve(dirname(place), next);
  }
  throw refusal("write", path, "ELOOP");
}

export async function targetOf(path: string): Promise<Target> {
  if (STANDARD_OUTPUT.test(path)) return { kind: "standard output", path };
  const { access, constants, stat } = await node();
  const there = await stat(path).catch((error) => {
    // Deno that may write and not read finds out below whether it can.
    if (error.code === "ENOENT" || error.name === "NotCapable") return undefined;
    throw fileError("write", path, error);
  });
  if (there === undefined) return { kind: "file", path: await linksFollowed(path) };
  if (there.isDirectory()) throw refusal("write", path, "EISDIR");
  if (!there.isFile() && !there.isFIFO()) throw refusal("write", path, "EINVAL");
  await attempt("write", path, () => access(path, constants.W_OK));
  if (there.isFIFO()) return { kind: "pipe", path };
  return { kind: "file", path: await linksFollowed(path), mode: there.mode & 0o7777 };
}

/** A name in the folder of a file for what is not whole yet; it says whose it is. */
const temporaryName = async (path: string): Promise<string> =>
  `${path}.${(await runtime()).pid}.${crypto.randomUUID().slice(0, 8)}.tmp`;

/** Paths whose folder was looked through. */
const cleaned = new Set<string>();

/** Removes what processes that were killed have left of this file: once, before it is written for the first time. */
async function removeLeftovers(path: string): Promise<void> {
  if (cleaned.has(path)) return;
  cleaned.add(path);
  const { basename, dirname, join, readdir, unlink } = await node();
  const [folder, name] = [dirname(path), basename(path)];
  // Our own number is that of a process before us: in a container it is often the same after a restart.
  const { pid: own } = await runtime();
  for (const entry of await readdir(folder).catch(() => [])) {
    const [, pid] = (entry.startsWith(name) && /^\.(\d+)\.[0-9a-f]{8}\.tmp$/.exec(entry.slice(name.length))) || [];
    if (pid !== undefined && (Number(pid) === own || (await isGone(Number(pid)))))
      await unlink(join(folder, entry)).catch(() => {});
  }
}

/** There is surely no such process. */
export async function isGone(pid: number): Promise<boolean> {
  const { kill } = await runtime();
  try {
    kill(pid, 0);
    return false;
  } catch (error) {
    return (error as { code?: unknown }).code === "ESRCH";
  }
}

/** Refuses a path that could not be read: before the work that needs it. Standard input and addresses are left to it. */
export async function checkReadable(path: string): Promise<void> {
  if (path === "-" || /^https?:\/\//i.test(path)) return;
  const { access, constants } = await node();
  await attempt("read", path, () => access(path, constants.R_OK));
}

/** Refuses a path that `writeAtomically` could not write to: before the work whose outcome is to go there. */
export async function checkWritable(path: string): Promise<void> {
  const target = await targetOf(path);
  if (target.kind !== "file") return;
  const { open, unlink } = await node();
  await removeLeftovers(target.path);
  const trial = await temporaryName(target.path);
  const handle = await attempt("write", path, () => open(trial, "wx"));
  await handle.close();
  await attempt("write", path, () => unlink(trial));
}

/** Refuses, too, what could be written through but not be kept: for files that are to be read again. */
export async function checkKeepable(path: string): Promise<void> {
  if ((await targetOf(path)).kind !== "file") throw refusal("write", path, "EINVAL");
}

export type Content = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Writes a file so that its path holds either what it held before or all of the new content: first under a
 * temporary name in the same folder, flushed to the disk, then renamed. When anything fails the temporary
 * file is removed. A pipe or /dev/stdout just gets the content.
 */
export async function writeAtomically(path: string, content: Content): Promise<void> {
  const { chmod, dirname, open, rename, unlink } = await node();
  const target = await targetOf(path);
  if (target.kind === "standard output") return await writeContent(await standardOutput(), path, content);
  if (target.kind === "pipe")
    return await writeContent(await attempt("write", path, () => open(path, "w")), path, content);
  await removeLeftovers(target.path);
  const temporary = await temporaryName(target.path);
  const handle = await attempt("write", path, () => open(temporary, "wx"));
  try {
    await writeContent(handle, path, content, async () => {
      // Who owns the folder need not own the file that is replaced: what may not be kept is let go.
      if (target.mode !== undefined) await chmod(temporary, target.mode).catch(() => {});
      await attempt("write", path, () => handle.sync());
    });
    await attempt("write", path, () => rename(temporary, target.path));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  // The rename itself reaches the disk with the folder; systems that cannot open a folder do without.
  const folder = await open(dirname(target.path), "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

/** Writes behind the end of a file, which is made where there is none, and flushes that to the disk. */
export async function appendDurably(path: string, content: Uint8Array): Promise<void> {
  const { open } = await node();
  await checkKeepable(path);
  await attempt("write", path, async () => {
    const handle = await open(path, "a");
    try {
      await handle.appendFile(content);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  });
}

/** Puts what a file has behind so many bytes of another and removes the file; begun again, it goes on from the start. */
export async function copyBehind(from: string, path: string, bytes: number): Promise<void> {
  const { stat, truncate, unlink } = await node();
  const content = await readWhole(from);
  const { size } = await attempt("write", path, () => stat(path));
  if (size < bytes) throw new FormatError(path, `${size} bytes`, `${bytes} or more, behind which ${from} goes`);
  await attempt("write", path, () => truncate(path, bytes));
  await appendDurably(path, content);
  await unlink(from);
}

interface Writable {
  write(buffer: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  close(): Promise<void>;
}

async function standardOutput(): Promise<Writable> {
  const { stdout } = await runtime();
  return {
    write: (buffer, offset, length) =>
      new Promise((resolve, reject) => {
        const done = (error?: Error | null): void => (error ? reject(error) : resolve({ bytesWritten: length }));
        stdout.write(buffer.subarray(offset, offset + length), done);
      }),
    close: async () => {},
  };
}

/** Writes all of it, does what is left to do, and closes. */
async function writeContent(
  handle: Writable,
  path: string,
  content: Content,
  finish?: () => Promise<void>,
): Promise<void> {
  try {
    for await (const chunk of content instanceof Uint8Array ? [content] : content)
      await attempt("write", path, async () => {
        for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at, chunk.length - at)).bytesWritten;
      });
    await finish?.();
  } finally {
    await handle.close();
  }
}
