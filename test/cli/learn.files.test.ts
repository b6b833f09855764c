// mlgpf learn from the command line: model and state go on together, or nothing is changed at all.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, test } from "vitest";
import { takeLock } from "../../src/io/lock.ts";
import { finishTogether, writeTogether } from "../../src/io/together.ts";
import { expectSentence, inFolder, mlgpf } from "./support.ts";

const SUBJECTS = ["cats", "ships", "music", "bread"];
const WORDS: Record<string, string> = {
  cats: "whiskers paw purr feline",
  ships: "harbour sail mast anchor",
  music: "violin chord melody rhythm",
  bread: "flour oven dough yeast",
  kites: "string tail windy glider",
};

/** So many texts, a subject each in turn; the first has the given number. */
function texts(count: number, first = 0, subjects: readonly string[] = SUBJECTS): string {
  const line = (_: unknown, i: number): string => {
    const subject = subjects[i % subjects.length];
    const words = WORDS[subject].split(" ");
    const text = `the ${words[i % 4]} and the ${words[(i >> 2) % 4]} of number ${(first + i) % 7}`;
    return JSON.stringify({ id: `t${first + i}`, text, labels: [subject] });
  };
  return `${Array.from({ length: count }, line).join("\n")}\n`;
}

const lines = (text: string): string[] => text.trimEnd().split("\n");

describe("mlgpf learn", () => {
  test("learns, corrects and forgets; new labels are suggested; forgetting gives back the same answers", async () => {
    await inFolder(async (path) => {
      const run = async (...args: string[]) => {
        const done = await mlgpf(args);
        expect(done.code, done.err).toBe(0);
        return done;
      };
      const [model, state] = [path("model"), path("state")];
      // All words are in the vocabulary from the start, but nothing is about kites yet.
      const kites = texts(8, 100, ["kites"]);
      writeFileSync(path("old.jsonl"), texts(80) + kites.replaceAll('["kites"]', '["cats"]'));
      const trained = await run("train", path("old.jsonl"), "--out", model, "--state", state);
      expect(trained.err).toMatch(/state written \([\d.]+ kB\); pass it to mlgpf learn/);
      const answers = async (): Promise<string> => (await run("predict", model, path("old.jsonl"), "--top", "1")).out;
      const before = await answers();

      writeFileSync(path("right.jsonl"), kites);
      const learned = await run("learn", model, path("right.jsonl"), "--state", state, "--json");
      expect(JSON.parse(learned.out)).toEqual({
        learned: 8,
        corrected: 8,
        forgotten: 0,
        newLabels: 1,
        documents: 88,
      });
      expect(
        lines(await answers())
          .slice(-8)
          .every((line) => line.includes("kites")),
      ).toBe(true);

      writeFileSync(path("more.jsonl"), texts(20, 200).replace("number", "zeppelin"));
      const more = await run("learn", model, path("more.jsonl"), "--state", state);
      expect(more.err).toMatch(/1 words are new to the vocabulary and were left out/);
      expect(more.err).toMatch(/^Learned 20 documents \(\d+ replaced earlier versions\).*; 108 documents in all$/m);
      writeFileSync(path("gone.csv"), `id\n${Array.from({ length: 20 }, (_, i) => `t${200 + i}`).join("\n")}\n`);
      await run("learn", model, path("gone.csv"), "--state", state, "--forget");
      writeFileSync(path("wrong.jsonl"), kites.replaceAll('["kites"]', '["cats"]'));
      await run("learn", model, path("wrong.jsonl"), "--state", state);
      const labels = (out: string): unknown[] => lines(out).map((line) => JSON.parse(line).labels?.[0]?.label);
      expect(labels(await answers())).toEqual(labels(before));
    });
  });

  test("lets each document count as several, and forgetting takes as much away", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("old.jsonl"), texts(40));
      writeFileSync(path("new.jsonl"), texts(4, 40));
      await mlgpf(["train", path("old.jsonl"), "--out", path("model"), "--state", path("state")]);
      const learn = async (...more: string[]) => {
        const done = await mlgpf([
          "learn",
          path("model"),
          path("new.jsonl"),
          "--state",
          path("state"),
          "--json",
          ...more,
        ]);
        return done.code === 0 ? JSON.parse(done.out) : done;
      };
      expect(await learn("--weight", "3")).toMatchObject({ learned: 4, documents: 52 });
      const refused = await learn("--forget", "--weight", "3");
      expect(refused.code).toBe(2);
      expectSentence(refused);
      expect(await learn("--forget")).toMatchObject({ forgotten: 4, documents: 40 });
    });
  });

  test("refuses in one sentence and changes nothing", async () => {
    await inFolder(async (path) => {
      const [model, state] = [path("model"), path("state")];
      writeFileSync(path("a.jsonl"), texts(60));
      writeFileSync(path("b.jsonl"), texts(70, 5));
      await mlgpf(["train", path("a.jsonl"), "--out", model, "--state", state]);
      await mlgpf(["train", path("b.jsonl"), "--out", path("other"), "--state", path("other.state")]);
      await mlgpf(["train", path("a.jsonl"), "--out", path("steps"), "--epochs", "1"]);
      const kept = () => [readFileSync(model, "hex"), readFileSync(state, "hex")];
      const before = kept();
      writeFileSync(path("gone.jsonl"), '{"id":"t3"}\n{"id":"t999"}\n');
      writeFileSync(path("nameless.jsonl"), '{"text":"a cat"}\n');
      writeFileSync(path("cut"), readFileSync(state).subarray(0, 900));
      const refusals: [args: string[], said: RegExp][] = [
        [[model, path("b.jsonl"), "--state", path("other.state")], /found the state of another model/],
        [[path("steps"), path("b.jsonl"), "--state", state], /SVGP.*cannot go on learning/],
        [[model, path("b.jsonl"), "--state", model], /a state made by mlgpf/],
        [[model, path("b.jsonl"), "--state", path("cut")], /found/],
        [[model, path("b.jsonl"), "--state", path("none")], /there is no such file/],
        [[model, path("b.jsonl")], /needs --state/],
        [[model, path("gone.jsonl"), "--state", state, "--forget"], /"t999" among those to forget/],
        [[model, path("nameless.jsonl"), "--state", state, "--forget"], /expected "id"/],
        [[model, path("nameless.jsonl"), "--state", state], /labels/],
      ];
      for (const [args, said] of refusals) {
        const done = await mlgpf(["learn", ...args, "--quiet"]);
        expect(done.code, done.err).toBeGreaterThan(0);
        expectSentence(done);
        expect(done.err).toMatch(said);
        expect(kept()).toEqual(before);
      }
    });
  });
});

describe("mlgpf query", () => {
  test("writes the documents to label next as CSV, the labels that it would give beside them", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("a.jsonl"), texts(60));
      await mlgpf(["train", path("a.jsonl"), "--out", path("model"), "--model", "gpr"]);
      writeFileSync(
        path("new.jsonl"),
        `${texts(6, 100)}{"id":"both, of them","text":"the violin and the harbour"}\n{"id":"none","text":"zzz"}\n`,
      );
      const done = await mlgpf(["query", path("model"), path("new.jsonl"), "--top", "5", "--quiet"]);
      expect(done.code, done.err).toBe(0);
      const [head, ...rows] = lines(done.out);
      expect(head).toBe("id,line,value,variance,uncertainty,labels,probabilities");
      expect(rows.length).toBe(5);
      expect(rows.some((row) => row.startsWith('"both, of them",7,'))).toBe(true);
      expect(rows.some((row) => row.startsWith("none,"))).toBe(false);
      const wrong = await mlgpf(["query", path("model")]);
      expect(wrong.code).toBe(2);
      expectSentence(wrong);
    });
  });
});

describe("model and state of mlgpf learn", () => {
  test("may be links, keep who may read them, and are written by one process at a time", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("old.jsonl"), texts(40));
      writeFileSync(path("new.jsonl"), texts(4, 200));
      mkdirSync(path("volume"));
      const [model, state] = [path("volume/model"), path("volume/state")];
      const trained = await mlgpf(["train", path("old.jsonl"), "--out", model, "--state", state]);
      expect(trained.code, trained.err).toBe(0);
      for (const name of ["model", "state"]) {
        chmodSync(path(`volume/${name}`), 0o600);
        symlinkSync(path(`volume/${name}`), path(name));
      }
      const before = readFileSync(state);
      const learned = await mlgpf(["learn", path("model"), path("new.jsonl"), "--state", path("state")]);
      expect(learned.code, learned.err).toBe(0);
      expect(readFileSync(state).equals(before)).toBe(false);
      for (const name of ["model", "state"]) {
        expect(lstatSync(path(name)).isSymbolicLink()).toBe(true);
        expect(lstatSync(path(`volume/${name}`)).mode & 0o777).toBe(0o600);
      }
      expect(readdirSync(path("volume")).sort()).toEqual(["model", "state"]);
      const lock = await takeLock(state);
      for (const args of [
        ["learn", path("model"), path("new.jsonl"), "--state", path("state")],
        ["train", path("old.jsonl"), "--out", path("other"), "--state", path("state")],
      ]) {
        const refused = await mlgpf(args);
        expect(refused.code).toBe(1);
        expect(refused.err).toMatch(/state: process \d+ on .* is using it \(delete .*state.lock if it is gone\)/);
      }
      await lock.release();
      const other = await takeLock(model);
      const refused = await mlgpf(["calibrate", model, path("new.jsonl")]);
      expect(refused.err).toMatch(/model: process \d+ on .* is using it/);
      await other.release();
    });
  });
});

describe("files that are replaced together", () => {
  const content = (text: string): Uint8Array => new TextEncoder().encode(text);

  test("are both new, or can be made so by whoever comes next", async () => {
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
        writeFileSync(record, JSON.stringify({ replace: [a, b] }));
        await finishTogether(record);
        expect(read()).toEqual([`new ${placed}`, `new ${placed}`]);
        expect(existsSync(record)).toBe(false);
      }
      writeFileSync(record, "{");
      await expect(finishTogether(record)).rejects.toThrow(/expected the record/);
    });
  });

  test("stay as they are where the check before the last step fails", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("a"), "a1");
      const files = [{ path: path("a"), content: content("a2") }];
      const check = (): Promise<void> => Promise.reject(new Error("not ours"));
      await expect(writeTogether(path("record"), files, check)).rejects.toThrow("not ours");
      expect(readFileSync(path("a"), "utf8")).toBe("a1");
      expect(readdirSync(path("."))).toEqual(["a"]);
    });
  });

  test("stay as they are where one cannot be written", async () => {
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
});
