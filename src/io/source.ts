// Where a person says that something is: a path (in Node, Deno and Bun), an address, a Blob or a Response, or bytes already.

import { FileError, FormatError } from "../base/errors.ts";
import { readSource } from "../base/source.ts";
import { joined, pulled, streamChunks } from "../data/bytes.ts";

/** A path (in Node, Deno and Bun), an address, a Blob, a Response, or the bytes themselves. */
export type FileSource =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | { arrayBuffer(): Promise<ArrayBuffer>; readonly ok?: boolean; readonly status?: number };

/** A server that says nothing for so long is given up. */
const PATIENCE = 30_000;
const MOST_BYTES = 2 ** 33;

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be looked up",
  ECONNREFUSED: "nobody answers there",
  ConnectionRefused: "nobody answers there", // Bun
  ECONNRESET: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut", // Node
  UND_ERR_CONNECT_TIMEOUT: "nobody answers there",
  ETIMEDOUT: `no answer for ${PATIENCE / 1000} s`,
};

/** Deno has no codes, only words. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/connection refused/i, "ECONNREFUSED"],
  [/connection reset/i, "ECONNRESET"],
  [/dns error|failed to lookup/i, "ENOTFOUND"],
];

export function webAddress(place: string | URL): URL | undefined {
  if (typeof place !== "string") return place.protocol === "file:" ? undefined : place;
  if (!/^https?:\/\//i.test(place)) return undefined;
  try {
    return new URL(place);
  } catch {
    throw new FileError("read", place, "it is no address", "EINVAL");
  }
}

/** The path that is meant; refused where there is no file system. */
export async function localPath(place: string | URL, action: "read" | "write", instead: string): Promise<string> {
  const { process } = globalThis as { process?: { versions?: { node?: string } } }; // Deno and Bun have one too
  if (process?.versions?.node === undefined)
    throw new FileError(action, String(place), `there is no file system here; ${instead}`, "ENOSYS");
  return typeof place === "string" ? place : (await import("node:url")).fileURLToPath(place);
}

/** An address as messages show it: without user, password and query, in which secrets may stand. */
export const shownAddress = ({ origin, pathname, search }: URL): string => `${origin}${pathname}${search && "?..."}`;

/** A part of an address; one that has a bare percent sign is meant as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Why a request failed: the engine's own words stand deep in what it throws. */
function reasonOf(error: unknown): { code: string; why: string } {
  let deepest = error as Error & { code?: unknown; errors?: unknown[] };
  for (let next = deepest; next; next = (next.cause ?? next.errors?.[0]) as typeof deepest) deepest = next;
  const [line] = String(deepest.message ?? deepest).split("\n", 1);
  const said = WORDS.find(([words]) => words.test(line))?.[1] ?? "UNKNOWN";
  const code = typeof deepest.code === "string" ? deepest.code : said;
  return { code, why: REASONS[code] ?? line.replaceAll(/https?:\/\/\S+/g, "the address") };
}

/** A file at an address: its bytes as they come. User and password go with the request, not with any message. */
export async function fetchStream(
  address: URL,
  signal?: AbortSignal,
): Promise<{ stream: ReadableStream<Uint8Array>; size: number | undefined; file: string }> {
  const file = shownAddress(address);
  const target = new URL(address);
  [target.username, target.password] = ["", ""];
  const user = [address.username, address.password].map(decoded).join(":");
  const secret = btoa(String.fromCharCode(...new TextEncoder().encode(user)));
  const headers = new Headers(user === ":" ? [] : [["authorization", `Basic ${secret}`]]);
  const controller = new AbortController();
  const giveUp = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", giveUp, { once: true });
  /** Result of some work within the time that there is for it. */
  const within = async <T>(work: Promise<T>): Promise<T> => {
    const late = Object.assign(new Error("late"), { code: "ETIMEDOUT" });
    const timer = setTimeout(() => controller.abort(late), PATIENCE);
    try {
      return await work;
    } catch (error) {
      signal?.throwIfAborted();
      const { code, why } = reasonOf(controller.signal.aborted ? controller.signal.reason : error);
      throw new FileError("read", file, why, code);
    } finally {
      clearTimeout(timer);
    }
  };
  const response = await within(fetch(target, { headers, signal: controller.signal }));
  if (!response.ok || response.body === null) {
    await response.body?.cancel().catch(() => {});
    throw new FileError("read", file, `the answer is status ${response.status}`, "ENOENT");
  }
  const reader = response.body.getReader();
  const stream = pulled(
    async () => (await within(reader.read())).value,
    () => reader.cancel(),
  );
  const size = Number(response.headers.get("content-length"));
  return { stream, size: size > 0 ? size : undefined, file };
}

/** All bytes of a source, and what errors call it; `what` is what a source without a name is called, such as "the model". */
export async function bytesFrom(source: FileSource, what: string): Promise<{ bytes: Uint8Array; file: string }> {
  if (typeof source === "string" || source instanceof URL) {
    const address = webAddress(source);
    if (address) {
      const { stream, file } = await fetchStream(address);
      const bytes = await joined(streamChunks(stream), () => MOST_BYTES);
      if (bytes === undefined) throw new FileError("read", file, `it has more than ${MOST_BYTES} bytes`, "EFBIG");
      return { bytes, file };
    }
    const path = await localPath(source, "read", "give bytes, a Blob or a Response instead of a path");
    const { readWhole } = await import("./files.ts");
    return { bytes: await readWhole(path), file: path };
  }
  if (typeof source !== "object" || source === null)
    throw new FormatError(what, typeof source, "a path, an address, a Blob, a Response or bytes");
  return { bytes: await readSource(source, undefined, what), file: what };
}
