// The journal: whole batches whatever a crash leaves, nothing dropped without a word, and nothing of others touched.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openJournal } from "../../src/serve/learning/journal.ts";

const documents = [{ id: "ä", text: "one\ntwo", labels: ["x"] }];

async function inFolder(body: (path: string, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-journal-"));
  try {
    await body(join(folder, "journal"), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A journal of so many batches behind the fourth. */
async function written(path: string, count: number): Promise<Buffer> {
  const journal = await openJournal(path, 4);
  for (let i = 0; i < count; i++) await journal.add({ documents });
  await journal.close();
  return readFileSync(path);
}

describe("the journal", () => {
  test("has whole batches wherever it is cut off, keeps what it cuts, and goes on behind them", () =>
    inFolder(async (path) => {
      const whole = await written(path, 3);
      const ends = [...whole.keys()].filter((i) => whole[i] === 10).map((i) => i + 1);
      for (let cut = 0; cut <= whole.length; cut++) {
        rmSync(`${path}.cut`, { force: true });
        writeFileSync(path, whole.subarray(0, cut));
        const said: string[] = [];
        const left = await openJournal(path, 4, undefined, (sentence) => said.push(sentence));
        const kept = ends.filter((end) => end <= cut).length;
        const tail = whole.subarray(ends[kept - 1] ?? 0, cut);
        expect(said.length).toBe(tail.length > 0 ? 1 : 0);
        expect(existsSync(`${path}.cut`) ? readFileSync(`${path}.cut`) : Buffer.alloc(0)).toEqual(tail);
        expect(left.after(0).map(({ batch }) => batch)).toEqual([5, 6, 7].slice(0, kept));
        expect((await left.add({ documents })).batch).toBe(5 + kept);
        await left.close();
        const again = await openJournal(path, 4);
        expect(again.after(0).length).toBe(kept + 1);
        expect(again.after(4 + kept)[0]?.documents).toEqual(documents);
        await again.close();
      }
    }));

  test("refuses a byte that was changed anywhere, and leaves the file as it is", () =>
    inFolder(async (path, folder) => {
      const whole = await written(path, 3);
      for (let at = 0; at < whole.length; at++) {
        const changed = Buffer.from(whole);
        changed[at] ^= 1;
        writeFileSync(path, changed);
        const opened = openJournal(path, 4);
        await expect(opened, String(at)).rejects.toThrow(/journal: found .*expected .*move the file away/);
        expect(readFileSync(path)).toEqual(changed);
      }
      expect(readdirSync(folder).sort()).toEqual(["journal"]);
    }));

  test("refuses a file that is none, and batches that are missing", () =>
    inFolder(async (path) => {
      for (const foreign of ["hello", "hello\n", '{"text":"a"}', "\u0000\u0000x", "0123456789abcdef!"]) {
        writeFileSync(path, foreign);
        await expect(openJournal(path, 4)).rejects.toThrow(/journal: found/);
        expect(readFileSync(path, "utf8")).toBe(foreign);
      }
      rmSync(path);
      const whole = await written(path, 3);
      const lines = whole.toString().split(/(?<=\n)/);
      writeFileSync(path, `${lines[0]}${lines[2]}`);
      await expect(openJournal(path, 4)).rejects.toThrow(/found batch 7 in line 2, expected batch 6/);
      writeFileSync(path, whole);
      await expect(openJournal(path, 3)).rejects.toThrow(/found batch 5 in line 1, expected batch 4/);
      // Batches that are in the state already are no fault.
      await (await openJournal(path, 6)).close();
    }));

  test("is a plain file: a pipe is not waited for, a device is not read", () =>
    inFolder(async (path) => {
      spawnSync("mkfifo", [path]);
      await expect(openJournal(path, 0)).rejects.toThrow("journal: it is not a plain file");
      rmSync(path);
      symlinkSync("/dev/zero", path);
      await expect(openJournal(path, 0)).rejects.toThrow("journal: it is not a plain file");
      // Nor does what is cut off go anywhere else.
      rmSync(path);
      const whole = await written(path, 1);
      writeFileSync(path, whole.subarray(0, -1));
      spawnSync("mkfifo", [`${path}.cut`]);
      await expect(openJournal(path, 4)).rejects.toThrow("journal.cut: it is not a plain file");
      expect(readFileSync(path)).toEqual(whole.subarray(0, -1));
    }));

  test("lets go of what is in the state and of nothing else", () =>
    inFolder(async (path) => {
      const journal = await openJournal(path, 0);
      for (let i = 0; i < 4; i++) await journal.add({ documents, forget: ["b"] });
      await journal.drop(2);
      await journal.add({ documents });
      await journal.close();
      const left = await openJournal(path, 2);
      expect(left.after(0).map(({ batch }) => batch)).toEqual([3, 4, 5]);
      expect(left.after(0)[0]?.forget).toEqual(["b"]);
      await left.drop(5);
      expect(readFileSync(path, "utf8")).toBe("");
      expect((await left.add({ documents })).batch).toBe(6);
      await left.close();
    }));

  test("says that a batch was taken only while it is ours, before and after it is written", () =>
    inFolder(async (path) => {
      let checks = 0;
      const check = async (): Promise<void> => {
        if (++checks === 4) throw new Error("taken over");
      };
      const journal = await openJournal(path, 0, check);
      await journal.add({ documents });
      await expect(journal.add({ documents })).rejects.toThrow("taken over");
      // Nobody was told of that one; the next takes its place.
      expect((await journal.add({ documents })).batch).toBe(2);
      await journal.close();
      const left = await openJournal(path, 0);
      expect(left.after(0).map(({ batch }) => batch)).toEqual([1, 2]);
      await left.close();
    }));
});
