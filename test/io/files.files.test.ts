import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { FileError, FormatError } from "../../src/base/errors.ts";
import { writeSafetensors } from "../../src/base/safetensors.ts";
import { readDataset } from "../../src/data/reader.ts";
import {
  checkKeepable,
  checkWritable,
  openInput,
  readSafetensorsFile,
  readWhole,
  writeAtomically,
} from "../../src/io/files.ts";
import { gzip } from "../data/support.ts";

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "mlgpf-test-"));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    expect(error instanceof FileError || error instanceof FormatError).toBe(true);
    return (error as Error).message;
  }
  return "no error";
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Uint8Array.of(1);
  throw new Error("out of ideas");
}

describe("reading", () => {
  test("a data set from a packed file, with its size", () =>
    inFolder(async (folder) => {
      const path = join(folder, "train.txt.gz");
      const bytes = await gzip(`3000 5 3\n${"1,2 0:0.5 4:1\n".repeat(3000)}`);
      await writeFile(path, bytes);
      const input = await openInput(path);
      expect([input.name, input.size]).toEqual([path, bytes.length]);
      const { dataset } = await readDataset(input.stream, { file: input.name });
      expect(dataset.features.rows).toBe(3000);
    }));
  test("a large file arrives whole", () =>
    inFolder(async (folder) => {
      const path = join(folder, "large");
      const bytes = Uint8Array.from({ length: 1_000_003 }, (_, i) => i % 251);
      await writeFile(path, bytes);
      const same = (read: Uint8Array): boolean =>
        read.length === bytes.length && read.every((byte, i) => byte === bytes[i]);
      const { stream } = await openInput(path);
      expect(same(new Uint8Array(await new Response(stream as BodyInit).arrayBuffer()))).toBe(true);
      expect(same(await readWhole(path))).toBe(true);
    }));
  test("a stream that nobody reads holds no file open", () =>
    inFolder(async (folder) => {
      const path = join(folder, "unread");
      await writeFile(path, "text");
      const { stream } = await openInput(path);
      const open = await Promise.all(
        (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
      );
      expect(open).not.toContain(path);
      await stream.cancel();
    }));
  test("stopping early closes the file", () =>
    inFolder(async (folder) => {
      const path = join(folder, "f");
      await writeFile(path, "text");
      const { stream } = await openInput(path);
      await stream.cancel();
    }));
  test("what is not there, or is a folder", () =>
    inFolder(async (folder) => {
      const path = join(folder, "none.txt");
      expect(await messageOf(openInput(path))).toBe(`cannot read ${path}: there is no such file`);
      expect(await messageOf(readWhole(path))).toBe(`cannot read ${path}: there is no such file`);
      expect(await messageOf(readSafetensorsFile(path))).toBe(`cannot read ${path}: there is no such file`);
      expect(await messageOf(openInput(folder))).toBe(`cannot read ${folder}: it is a folder`);
      expect(await messageOf(readWhole(folder))).toBe(`cannot read ${folder}: it is a folder`);
    }));
  test("what may have no end, or is larger than it may be, is not read whole", () =>
    inFolder(async (folder) => {
      const path = (name: string): string => join(folder, name);
      const notPlain = (name: string): string => `cannot read ${name}: it is not a plain file`;
      await symlink("/dev/zero", path("zeros"));
      for (const name of ["/dev/zero", path("zeros")]) {
        expect(await messageOf(readWhole(name))).toBe(notPlain(name));
        expect(await messageOf(readSafetensorsFile(name))).toBe(notPlain(name));
      }
      if (makeFifo(path("pipe"))) expect(await messageOf(readWhole(path("pipe")))).toBe(notPlain(path("pipe")));
      await writeFile(path("large"), "");
      await truncate(path("large"), 2 ** 34);
      expect(await messageOf(readWhole(path("large")))).toContain("it has 17179869184 bytes, more than 8589934592");
      await writeFile(path("list"), "abc");
      expect(await messageOf(readWhole(path("list"), { most: 2 }))).toContain("it has 3 bytes, more than 2");
      expect((await readWhole(path("list"), { most: 3 })).length).toBe(3);
    }));
  test("links that lead out of a folder are not followed where they must not", () =>
    inFolder(async (folder) => {
      const path = (...names: string[]): string => join(folder, ...names);
      await mkdir(path("inside"));
      await mkdir(path("inside..too"));
      await writeFile(path("outside.txt"), "secret");
      await writeFile(path("inside", "..a.txt"), "own");
      await symlink("../outside.txt", path("inside", "out.txt"));
      await symlink("..a.txt", path("inside", "in.txt"));
      const read = (name: string): Promise<Uint8Array> => readWhole(path("inside", name), { folder: path("inside") });
      expect(await messageOf(read("out.txt"))).toContain("it is a link out of its folder");
      expect((await readWhole(path("inside", "out.txt"))).length).toBe(6);
      expect((await read("in.txt")).length).toBe(3);
      expect((await read("..a.txt")).length).toBe(3);
    }));
});

describe("writing", () => {
  test("replaces the file and leaves nothing else", () =>
    inFolder(async (folder) => {
      const path = join(folder, "model");
      await writeAtomically(path, Uint8Array.of(1, 2, 3));
      await writeAtomically(path, [Uint8Array.of(4), new Uint8Array(0), Uint8Array.of(5, 6)]);
      expect(Array.from(await readFile(path))).toEqual([4, 5, 6]);
      expect(await readdir(folder)).toEqual(["model"]);
    }));
  test("keeps the old file when anything fails", () =>
    inFolder(async (folder) => {
      const path = join(folder, "model");
      await writeAtomically(path, Uint8Array.of(1));
      let message = "";
      await writeAtomically(path, failing()).catch((error: Error) => {
        message = error.message;
      });
      expect(message).toBe("out of ideas");
      expect(Array.from(await readFile(path))).toEqual([1]);
      expect(await readdir(folder)).toEqual(["model"]);
    }));
  test("where it cannot", () =>
    inFolder(async (folder) => {
      const path = join(folder, "no", "model");
      expect(await messageOf(writeAtomically(path, Uint8Array.of(1)))).toBe(
        `cannot write ${path}: there is no such folder`,
      );
      await mkdir(join(folder, "taken", "inner"), { recursive: true });
      const taken = join(folder, "taken");
      expect(await messageOf(writeAtomically(taken, Uint8Array.of(1)))).toContain(`cannot write ${taken}: `);
      expect((await readdir(folder)).sort()).toEqual(["taken"]);
    }));
  test("without permission", () =>
    inFolder(async (folder) => {
      await chmod(folder, 0o500);
      const path = join(folder, "model");
      const message = await messageOf(writeAtomically(path, Uint8Array.of(1)));
      await chmod(folder, 0o700);
      // The superuser may write everywhere.
      expect(["no error", `cannot write ${path}: permission denied`]).toContain(message);
    }));
});

/** A FIFO, where the system has them. */
function makeFifo(path: string): boolean {
  try {
    execFileSync("mkfifo", [path]);
    return true;
  } catch {
    return false;
  }
}

describe("what is no plain file", () => {
  test("a link stays one, and its file is replaced", () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, "there"));
      await writeFile(join(folder, "there", "model"), "old");
      await symlink(join("there", "model"), join(folder, "first"));
      await symlink("first", join(folder, "second"));
      await checkWritable(join(folder, "second"));
      await writeAtomically(join(folder, "second"), Uint8Array.of(1, 2));
      expect(await readlink(join(folder, "second"))).toBe("first");
      expect(await readlink(join(folder, "first"))).toBe(join("there", "model"));
      expect(Array.from(await readFile(join(folder, "there", "model")))).toEqual([1, 2]);
      expect(await readdir(join(folder, "there"))).toEqual(["model"]);
    }));
  test("a link to nothing gets its file", () =>
    inFolder(async (folder) => {
      await symlink("model", join(folder, "link"));
      await writeAtomically(join(folder, "link"), Uint8Array.of(3));
      expect(await readlink(join(folder, "link"))).toBe("model");
      expect(Array.from(await readFile(join(folder, "model")))).toEqual([3]);
    }));
  test("links in a circle are refused", () =>
    inFolder(async (folder) => {
      const path = join(folder, "a");
      await symlink("b", path);
      await symlink("a", join(folder, "b"));
      const message = `cannot write ${path}: its links go round in a circle`;
      expect(await messageOf(checkWritable(path))).toBe(message);
      expect(await messageOf(writeAtomically(path, Uint8Array.of(1)))).toBe(message);
      expect((await lstat(path)).isSymbolicLink()).toBe(true);
    }));
  test("a FIFO is written through", () =>
    inFolder(async (folder) => {
      const path = join(folder, "fifo");
      if (!makeFifo(path)) return;
      await checkWritable(path);
      const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => i % 251);
      // The reader is another process all through: Deno does nothing else while it writes.
      const reader = spawn("sh", ["-c", 'cat "$0" > "$0.read"', path], { stdio: "ignore" });
      await Promise.all([writeAtomically(path, bytes), once(reader, "close")]);
      const read = await readFile(`${path}.read`);
      expect(read.every((byte, i) => byte === bytes[i]) && read.length).toBe(bytes.length);
      expect((await stat(path)).isFIFO()).toBe(true);
      expect((await readdir(folder)).sort()).toEqual(["fifo", "fifo.read"]);
      expect(await messageOf(checkKeepable(path))).toBe(`cannot write ${path}: it is not a plain file`);
    }));
  test("a device is refused, and is one still", async () => {
    for (const path of ["/dev/full", "/dev/null"].filter(existsSync)) {
      const message = `cannot write ${path}: it is not a plain file`;
      expect(await messageOf(checkWritable(path))).toBe(message);
      expect(await messageOf(writeAtomically(path, Uint8Array.of(1)))).toBe(message);
      expect((await stat(path)).isCharacterDevice()).toBe(true);
    }
  });
  test("a file keeps who may read it", () =>
    inFolder(async (folder) => {
      const path = join(folder, "model");
      await writeFile(path, "secret", { mode: 0o600 });
      await writeAtomically(path, Uint8Array.of(1));
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }));
});

describe("what a killed process has left", () => {
  test("is removed with the next writing, and nothing else is", () =>
    inFolder(async (folder) => {
      // No system has so many processes.
      const ended = 99_999_999;
      const path = join(folder, "model");
      const others = [`model.${process.ppid}.0123abcd.tmp`, `models.${ended}.0123abcd.tmp`, "model.tmp"];
      // In a container the one before had the same number.
      const left = [ended, process.pid].map((pid) => `model.${pid}.0123abcd.tmp`);
      for (const name of [...left, ...others]) await writeFile(join(folder, name), "");
      await writeAtomically(path, Uint8Array.of(1));
      expect((await readdir(folder)).sort()).toEqual(["model", ...others].sort());
    }));
});

describe("a model file", () => {
  const bytes = writeSafetensors({
    tensors: new Map([["w", { dtype: "F32", shape: [2], data: Float32Array.of(1, 2) }]]),
    metadata: { a: "b" },
  });
  test("is read whole", () =>
    inFolder(async (folder) => {
      const path = join(folder, "m.safetensors");
      await writeAtomically(path, bytes);
      const { tensors, metadata } = await readSafetensorsFile(path);
      expect(tensors.get("w")?.data).toEqual(Float32Array.of(1, 2));
      expect(metadata).toEqual({ a: "b" });
    }));
  test("cut short or foreign is refused with its name", () =>
    inFolder(async (folder) => {
      const path = join(folder, "m.safetensors");
      for (const length of [0, 5, 20, bytes.length - 1]) {
        await writeFile(path, bytes.subarray(0, length));
        expect(await messageOf(readSafetensorsFile(path))).toMatch(/m\.safetensors: found .+, expected .+/);
      }
      await writeFile(path, "PK\u0003\u0004 something else entirely");
      expect(await messageOf(readSafetensorsFile(path))).toContain("expected a safetensors file");
    }));
});
