// One process at a time may write a file: it has FILE.lock, which says who it is. A process that was killed leaves its lock
// behind, and the next one takes it over; which owner is gone is told
//   in the same PID namespace   by its number and the time it was started
//   on the same machine         by a socket beside the lock, which the system closes with the process
//   elsewhere, or without both  by the file's time: an owner touches it every few seconds
// so that processes of two containers, which may both be number 1, never take each other for gone.
//
// Taking over is exclusive too: whoever follows the owner X must create FILE.lock.X.next, and only one can. The owner is
// at the end of that chain, which its first act shortens: the last file is renamed to FILE.lock.

import { open, readFile, readlink, rename, rm, stat, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { hostname } from "node:os";
import { pid } from "node:process";
import { FileError } from "../base/errors.ts";
import { fileError, isGone, readSmall, targetOf } from "./files.ts";

export interface Lock {
  readonly path: string;
  readonly token: string;
  check(): Promise<void>;
  release(): Promise<void>;
}

interface Owner {
  readonly token: string;
  readonly host: string;
  /** Boot id of the running system, where it has one. */
  readonly boot: string;
  readonly namespace: string;
  readonly pid: number;
  /** When the process was started, in ticks since the system was. */
  readonly started: string;
  /** True where a socket tells that it is alive. */
  readonly socket: boolean;
}

const TOUCH_MILLISECONDS = 5000;
const STALE_MILLISECONDS = 60_000;
/** A lock that is being written is whole after a moment. */
const [READ_TIMES, READ_MILLISECONDS] = [10, 20];

type Check = () => Promise<void>;

/** Runs work that writes files, with a lock on each that is a plain file; `check` throws where one is no longer ours. */
export async function withLock<T>(paths: readonly string[], work: (check: Check) => Promise<T>): Promise<T> {
  const locks: Lock[] = [];
  try {
    const targets = await Promise.all(paths.map(targetOf));
    const files = targets.filter(({ kind }) => kind === "file").map(({ path }) => path);
    for (const path of [...new Set(files)].sort()) locks.push(await takeLock(path));
    return await work(async () => {
      for (const lock of locks) await lock.check();
    });
  } finally {
    for (const lock of locks) await lock.release();
  }
}

export async function takeLock(given: string): Promise<Lock> {
  const { path } = await targetOf(given);
  const file = `${path}.lock`;
  const token = crypto.randomUUID();
  try {
    const socket = await listenOn(socketOf(file, token));
    const owner = { token, ...(await thisProcess()), socket: socket !== undefined };
    try {
      return await acquire(path, file, owner, () => socket?.close());
    } catch (error) {
      socket?.close();
      throw error;
    }
  } catch (error) {
    throw fileError("write", given, error);
  }
}

const socketOf = (file: string, token: string): string => `${file}.${token}.sock`;
const nextOf = (file: string, token: string): string => `${file}.${token}.next`;

type Link = { readonly owner: Owner; readonly file: string };

async function acquire(path: string, file: string, owner: Owner, letGo: () => void): Promise<Lock> {
  const content = new TextEncoder().encode(JSON.stringify(owner));
  const { token } = owner;
  const isOurs = (): Promise<boolean> => isOwner(file, token);
  for (;;) {
    const chain = await chainOf(file);
    const last = chain.at(-1);
    if (last && (await isAlive(last, file))) throw busy(path, file, last.owner);
    const own = last ? nextOf(file, last.owner.token) : file;
    if (!(await create(own, content))) continue;
    if (!(await isOurs())) {
      // The chain was shortened meanwhile: somebody else has the lock.
      await rm(own, { force: true });
      continue;
    }
    if (last) await rename(own, file);
    for (const { owner: gone } of chain)
      for (const left of [nextOf(file, gone.token), socketOf(file, gone.token)]) await rm(left, { force: true });
    break;
  }
  const handle = await open(file, "r+");
  // Written, not set: the time is then that of the machine that has the disk.
  const touch = (): void => void handle.write(content, 0, content.length, 0).catch(() => {});
  const timer = setInterval(touch, TOUCH_MILLISECONDS);
  timer.unref?.();
  let released = false;
  return {
    path,
    token,
    check: () => checkLock({ path, token }),
    async release() {
      if (released) return;
      released = true;
      clearInterval(timer);
      if (await isOurs()) await rm(file, { force: true });
      await handle.close();
      letGo();
    },
  };
}

const isOwner = async (file: string, token: string): Promise<boolean> =>
  (await chainOf(file)).at(-1)?.owner.token === token;

/** Throws where the lock is no longer that of this owner: also for another thread of its process. */
export async function checkLock({ path, token }: Pick<Lock, "path" | "token">): Promise<void> {
  if (!(await isOwner(`${path}.lock`, token)))
    throw new FileError("write", path, "another process has taken it over", "ESTALE");
}

function busy(path: string, file: string, { pid, host }: Owner): FileError {
  const who = pid > 0 ? `process ${pid} on ${host}` : "another process";
  return new FileError("write", path, `${who} is using it (delete ${file} if it is gone)`, "EBUSY");
}

/** Creates a file with this content, unless it is there. */
async function create(file: string, content: Uint8Array): Promise<boolean> {
  const handle = await open(file, "wx").catch((error: { code?: string }) => {
    if (error.code !== "EEXIST") throw error;
    return undefined;
  });
  if (!handle) return false;
  try {
    await handle.writeFile(content);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return true;
}

/** Those who took the lock one from another; the last of them has it. */
async function chainOf(lock: string): Promise<Link[]> {
  const chain: Link[] = [];
  for (let file = lock; ; ) {
    const owner = await readOwner(file);
    // A file that cannot be read has one name for all: a second such file would lead to itself.
    if (owner === undefined || chain.some((each) => each.owner.token === owner.token)) return chain;
    chain.push({ owner, file });
    file = nextOf(lock, owner.token);
  }
}

async function readOwner(file: string): Promise<Owner | undefined> {
  for (let times = 0; times < READ_TIMES; times++) {
    const text = await readSmall(file);
    if (text === undefined) return undefined;
    try {
      const owner = JSON.parse(text) as Owner;
      if (typeof owner.token === "string" && /^[\w-]+$/.test(owner.token)) return owner;
    } catch {
      // Not whole yet.
    }
    await new Promise((done) => setTimeout(done, READ_MILLISECONDS));
  }
  return { token: "unreadable", host: "", boot: "", namespace: "", pid: 0, started: "", socket: false };
}

async function thisProcess(): Promise<Omit<Owner, "token" | "socket">> {
  return {
    host: hostname(),
    boot: (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim(),
    namespace: await readlink("/proc/self/ns/pid").catch(() => ""),
    pid,
    started: await startOf(pid),
  };
}

/** When a process was started; "" where that cannot be told. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // Behind the name in brackets, which may hold anything: the state, and as the twentieth field the start.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return /^[ZX]/.test(fields[0]) ? "gone" : (fields[19] ?? "");
}

/** True unless the owner is surely gone, or has not touched its lock for a minute. */
async function isAlive({ owner, file }: Link, lock: string): Promise<boolean> {
  const own = await thisProcess();
  const sameBoot = own.boot !== "" && owner.boot === own.boot;
  if (sameBoot && own.namespace !== "" && owner.namespace === own.namespace) {
    const found = await startOf(owner.pid);
    return found === "" ? !(await isGone(owner.pid)) : found === owner.started;
  }
  if (own.boot === "" && owner.host === own.host && owner.pid > 0 && (await isGone(owner.pid))) return false;
  const answers = sameBoot && owner.socket ? await answersOn(socketOf(lock, owner.token)) : undefined;
  return answers ?? (await ageOf(file)) < STALE_MILLISECONDS;
}

/** A socket that the system closes with this process; undefined where there can be none. */
async function listenOn(path: string): Promise<{ close(): void } | undefined> {
  return await new Promise((done) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => done(undefined));
    try {
      server.listen({ path, readableAll: true, writableAll: true }, () => done(server.unref()));
    } catch {
      done(undefined); // where paths of sockets are something else
    }
  });
}

/** True where a process listens, false where none does any more, undefined where that cannot be told. */
async function answersOn(path: string): Promise<boolean | undefined> {
  return await new Promise((done) => {
    const socket = connect(path, () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", ({ code }: { code?: string }) => done(code === "ECONNREFUSED" ? false : undefined));
  });
}

/** Milliseconds since a lock was touched, by the clock of the machine that has the disk. */
async function ageOf(file: string): Promise<number> {
  const probe = `${file}.${crypto.randomUUID()}.probe`;
  try {
    await writeFile(probe, "");
    const [now, touched] = await Promise.all([stat(probe), stat(file)]);
    return now.mtimeMs - touched.mtimeMs;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return Number.POSITIVE_INFINITY; // given back meanwhile
    throw error;
  } finally {
    await rm(probe, { force: true });
  }
}
