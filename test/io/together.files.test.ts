// Files that are replaced together, whatever a crash leaves behind and whoever wrote the record of it.

import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finishTogether, writeTogether } from "../../src/io/together.ts";

async function inFolder(body: (path: (name: string) => string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-together-"));
  try {
    await body((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const content = (text: string): Uint8Array => new TextEncoder().encode(text);

test("files are both new, or can be made so by whoever comes next", async () => {
  await inFolder(async (path) => {
    const [a, b, record] = [path("a"), path("b"), path("record")];
    await writeTogether(record, [
      { path: a, content: content("a1") },
      { path: b, content: content("b1") },
    ]);
    const read = (): string[] => [a, b].map((each) => readFileSync(each, "utf8"));
    expect(read()).toEqual(["a1", "b1"]);
    expect(existsSync(record)).toBe(false);
    // Cut off before the record: the new contents mean nothing yet.
    writeFileSync(`${a}.next`, "a2");
    await finishTogether(record);
    expect(read()).toEqual(["a1", "b1"]);
    // Cut off after it, before, between and after the two took their places.
    for (const placed of [0, 1, 2]) {
      [a, b].forEach((each, i) => {
        writeFileSync(`${each}.next`, `new ${placed}`);
        if (i < placed) renameSync(`${each}.next`, each);
      });
      writeFileSync(record, JSON.stringify({ replace: ["a", "b"] }));
      await finishTogether(record);
      expect(read()).toEqual([`new ${placed}`, `new ${placed}`]);
      expect(existsSync(record)).toBe(false);
    }
    writeFileSync(record, "{");
    await expect(finishTogether(record)).rejects.toThrow(/expected the record/);
  });
});

test("content goes behind a file once, wherever that was cut off", async () => {
  await inFolder(async (path) => {
    const [a, b, record] = [path("a"), path("b"), path("record")];
    const read = (): string[] => [a, b].map((each) => readFileSync(each, "utf8"));
    writeFileSync(a, "a1");
    writeFileSync(b, "old and torn");
    await writeTogether(record, [
      { path: a, content: content("a2") },
      { path: b, content: content(", new"), behind: 3 },
    ]);
    expect(read()).toEqual(["a2", "old, new"]);
    expect(existsSync(`${b}.next`)).toBe(false);
    const names = JSON.stringify({ replace: ["a", "b"], behind: [null, 8] });
    // Cut off before it began, in the middle, when it was there, and when the next content was gone.
    for (const [found, next] of [
      ["old, new", true],
      ["old, new, ne", true],
      ["old, new, newer", true],
      ["old, new, newer", false],
    ] as const) {
      writeFileSync(a, "a3");
      writeFileSync(b, found);
      if (next) writeFileSync(`${b}.next`, ", newer");
      writeFileSync(record, names);
      await finishTogether(record);
      expect(read()).toEqual(["a3", "old, new, newer"]);
      expect([`${b}.next`, record].some((each) => existsSync(each))).toBe(false);
    }
    writeFileSync(b, "short");
    writeFileSync(`${b}.next`, ", newer");
    writeFileSync(record, names);
    await expect(finishTogether(record)).rejects.toThrow(/b: found 5 bytes, expected 8 or more/);
    expect(existsSync(record)).toBe(true);
  });
});

test("files stay as they are where one cannot be written", async () => {
  await inFolder(async (path) => {
    writeFileSync(path("a"), "a1");
    const files = [
      { path: path("a"), content: content("a2") },
      { path: path("none/b"), content: content("b2") },
    ];
    await expect(writeTogether(path("record"), files)).rejects.toThrow(/cannot write/);
    expect(readFileSync(path("a"), "utf8")).toBe("a1");
    expect(existsSync(path("a.next"))).toBe(false);
  });
});

test("a change that was cut off is finished before the next one begins, which may fail", async () => {
  await inFolder(async (path) => {
    const [a, b, record] = [path("a"), path("b"), path("record")];
    // As a disk leaves them that was full when the content of b was to go behind it.
    writeFileSync(a, "a2");
    writeFileSync(b, "old, n");
    writeFileSync(`${b}.next`, ", new");
    writeFileSync(record, JSON.stringify({ replace: ["a", "b"], behind: [null, 3] }));
    const files = [
      { path: a, content: content("a3") },
      { path: b, content: content(", newer"), behind: 3 },
    ];
    const failing = async (): Promise<void> => {
      throw new Error("no longer ours");
    };
    const read = (): string[] => [a, b].map((each) => readFileSync(each, "utf8"));
    await expect(writeTogether(record, files, failing)).rejects.toThrow("no longer ours");
    await finishTogether(record);
    expect(read()).toEqual(["a2", "old, new"]);
    await writeTogether(record, files);
    expect(read()).toEqual(["a3", "old, newer"]);
  });
});

test("a link in the place of new content is not followed", async () => {
  await inFolder(async (path) => {
    writeFileSync(path("other"), "precious");
    symlinkSync(path("other"), path("a.next"));
    await writeTogether(path("record"), [{ path: path("a"), content: content("a1") }]);
    expect([path("a"), path("other")].map((each) => readFileSync(each, "utf8"))).toEqual(["a1", "precious"]);
    expect(lstatSync(path("a")).isSymbolicLink()).toBe(false);
  });
});

test("a record moves files beside it, and those that are named to whoever finishes it, and no others", async () => {
  await inFolder(async (path) => {
    mkdirSync(path("here"));
    const [record, there] = [path("here/state.replacing"), path("model")];
    for (const name of [there, path("../model"), "../model", "x/../../model"]) {
      writeFileSync(there, "old");
      writeFileSync(`${there}.next`, "theirs");
      writeFileSync(record, JSON.stringify({ replace: [name] }));
      await expect(finishTogether(record)).rejects.toThrow(/found a change of .*, expected files beside it/);
      await expect(finishTogether(record, [path("other")])).rejects.toThrow(/found a change of/);
      expect(readFileSync(there, "utf8")).toBe("old");
    }
    writeFileSync(record, JSON.stringify({ replace: ["../model"] }));
    await finishTogether(record, [there]);
    expect(readFileSync(there, "utf8")).toBe("theirs");
    // What is written is such a record.
    await writeTogether(record, [
      { path: there, content: content("m2") },
      { path: path("here/state"), content: content("s2") },
    ]);
    expect([there, path("here/state")].map((each) => readFileSync(each, "utf8"))).toEqual(["m2", "s2"]);
  });
});

test("a record that is no plain file is refused, not waited for", async () => {
  await inFolder(async (path) => {
    spawnSync("mkfifo", [path("record")]);
    await expect(finishTogether(path("record"))).rejects.toThrow(/cannot read .*record: it is not a plain file/);
  });
});
