// One process at a time has a file, whatever the one before it has left behind.

import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Lock, takeLock, withLock } from "../../src/io/lock.ts";

async function inFolder(body: (file: string, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-lock-"));
  try {
    await body(join(folder, "a.state"), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The record of an owner, with something changed: of a lock that is taken and given back. */
async function record(file: string, changed: object): Promise<{ token: string }> {
  const lock = await takeLock(file);
  const owner = JSON.parse(readFileSync(`${file}.lock`, "utf8"));
  await lock.release();
  return { ...owner, token: crypto.randomUUID(), socket: false, ...changed };
}

/** A process that has ended: its number and when it was started. */
async function ended(): Promise<{ pid: number; started: string }> {
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 1e6)"]);
  const { pid } = child as { pid: number };
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const started = text.slice(text.lastIndexOf(")") + 2).split(" ")[19];
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await gone;
  return { pid, started };
}

const taken = (lock: Promise<Lock>): Promise<Lock | string> =>
  lock.catch((error: { code: string; message: string }) => error.code);

describe("a lock", () => {
  test("has one owner at a time, and is gone when it is given back", () =>
    inFolder(async (file, folder) => {
      const lock = await takeLock(file);
      await lock.check();
      await expect(takeLock(file)).rejects.toThrow(
        new RegExp(
          `cannot write .*a.state: process ${process.pid} on .* is using it \\(delete .*a.state.lock if it is gone\\)`,
        ),
      );
      await lock.release();
      await expect(lock.check()).rejects.toThrow(/another process has taken it over/);
      await (await takeLock(file)).release();
      await new Promise((done) => setTimeout(done, 20));
      expect(readdirSync(folder)).toEqual([]);
    }));

  test("is that of the file itself, whatever link leads there", () =>
    inFolder(async (file, folder) => {
      writeFileSync(file, "");
      symlinkSync(file, join(folder, "link"));
      const lock = await takeLock(join(folder, "link"));
      expect(await taken(takeLock(file))).toBe("EBUSY");
      expect(existsSync(`${file}.lock`)).toBe(true);
      await lock.release();
    }));

  test("of a process that is gone is taken over at once, also where its number has a new owner", () =>
    inFolder(async (file) => {
      const { pid } = process;
      for (const gone of [await ended(), { pid, started: "1" }]) {
        writeFileSync(`${file}.lock`, JSON.stringify(await record(file, gone)));
        await (await takeLock(file)).release();
      }
    }));

  test("of another machine, or of another container without a socket, counts while it is touched", () =>
    inFolder(async (file) => {
      for (const other of [
        { boot: "another", pid: 1, host: "b" },
        { namespace: "pid:[7]", pid: process.pid },
      ]) {
        writeFileSync(`${file}.lock`, JSON.stringify(await record(file, other)));
        expect(await taken(takeLock(file))).toBe("EBUSY");
        const past = Date.now() / 1000 - 61;
        utimesSync(`${file}.lock`, past, past);
        await (await takeLock(file)).release();
      }
    }));

  test("of another container on this machine counts as long as somebody listens", () =>
    inFolder(async (file) => {
      const other = await record(file, { namespace: "pid:[7]", socket: true });
      writeFileSync(`${file}.lock`, JSON.stringify(other));
      const socket = `${file}.lock.${other.token}.sock`;
      const program = `require("net").createServer().listen(${JSON.stringify(socket)}, () => console.log("up"))`;
      const child = spawn(process.execPath, ["-e", program]);
      await new Promise((up) => child.stdout.once("data", up));
      const past = Date.now() / 1000 - 1000;
      utimesSync(`${file}.lock`, past, past);
      expect(await taken(takeLock(file))).toBe("EBUSY");
      const gone = new Promise((done) => child.once("exit", done));
      child.kill("SIGKILL");
      await gone;
      expect(existsSync(socket)).toBe(true);
      await (await takeLock(file)).release();
      expect(existsSync(socket)).toBe(false);
    }));

  test("that is no record counts until nobody has touched it for a minute", () =>
    inFolder(async (file) => {
      for (const content of ["", "4711", "{", '{"token":"../../x"}']) {
        writeFileSync(`${file}.lock`, content);
        expect(await taken(takeLock(file))).toBe("EBUSY");
        const past = Date.now() / 1000 - 61;
        utimesSync(`${file}.lock`, past, past);
        await (await takeLock(file)).release();
      }
    }));

  test("that is no plain file, or leads to itself, does not hold anybody up", () =>
    inFolder(async (file) => {
      spawnSync("mkfifo", [`${file}.lock`]);
      await expect(takeLock(file)).rejects.toThrow(/a.state.lock: it is not a plain file/);
      rmSync(`${file}.lock`);
      symlinkSync("/dev/zero", `${file}.lock`);
      await expect(takeLock(file)).rejects.toThrow(/a.state.lock: it is not a plain file/);
      rmSync(`${file}.lock`);
      // As two that were killed before they had written their names leave them.
      for (const name of [`${file}.lock`, `${file}.lock.unreadable.next`]) writeFileSync(name, "");
      expect(await taken(takeLock(file))).toBe("EBUSY");
    }));

  test("of another owner is not removed, and no longer ours", () =>
    inFolder(async (file) => {
      const lock = await takeLock(file);
      const other = await record(join(file, "..", "b.state"), {});
      rmSync(`${file}.lock`);
      writeFileSync(`${file}.lock`, JSON.stringify(other));
      await expect(lock.check()).rejects.toMatchObject({ code: "ESTALE" });
      await lock.release();
      expect(JSON.parse(readFileSync(`${file}.lock`, "utf8"))).toEqual(other);
    }));

  test("that was left behind goes to one of many that start at once", () =>
    inFolder(async (file, folder) => {
      const gone = await ended();
      for (let round = 0; round < 60; round++) {
        const left = await record(file, gone);
        writeFileSync(`${file}.lock`, JSON.stringify(left));
        // The one that took over from it may have been killed too, before it was done.
        if (round % 3 === 0)
          writeFileSync(`${file}.lock.${left.token}.next`, JSON.stringify(await record(`${file}2`, gone)));
        const outcomes = await Promise.all(Array.from({ length: 8 }, () => taken(takeLock(file))));
        const owners = outcomes.filter((outcome) => typeof outcome !== "string");
        expect(outcomes.filter((outcome) => outcome === "EBUSY").length).toBe(7);
        expect(owners.length).toBe(1);
        await (owners[0] as Lock).check();
        await (owners[0] as Lock).release();
      }
      await new Promise((done) => setTimeout(done, 20));
      expect(readdirSync(folder)).toEqual([]);
    }));
});

describe("withLock", () => {
  test("locks several files, and lets go of them whatever comes of the work", () =>
    inFolder(async (file, folder) => {
      const other = join(folder, "a.model");
      const found = await withLock([file, other, file, "/dev/stdout"], async (check) => {
        await check();
        return [await taken(takeLock(file)), await taken(takeLock(other))];
      });
      expect(found).toEqual(["EBUSY", "EBUSY"]);
      await expect(withLock([file], () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
      const held = await takeLock(file);
      await expect(withLock([other, file], async () => {})).rejects.toThrow(/is using it/);
      await held.release();
      await (await takeLock(other)).release();
      await new Promise((done) => setTimeout(done, 20));
      expect(readdirSync(folder)).toEqual([]);
    }));
});
