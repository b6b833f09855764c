// Which columns of a table are text, labels and id, and what terms are made of the text, as the flags say it.

import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { expectSentence, inFolder, mlgpf } from "./support.ts";

const HEAD = "Key,Title,Body,Kind,Place,is_tame";
const rows = Array.from({ length: 12 }, (_, i) =>
  i % 2 ? `k${i},a cat,purring ${i},cat,house,1` : `k${i},a shark,swimming ${i},fish,sea,0`,
);

test("several columns of text and labels, labels that are columns, and an id", async () => {
  await inFolder(async (path) => {
    writeFileSync(path("pets.csv"), `${[HEAD, ...rows].join("\n")}\n`);
    const texts = ["--text", "Title", "--text", "Body", "--id", "Key"];
    const labels = ["--labels", "Kind", "--labels", "Place", "--one-hot", "is_*"];
    const trained = await mlgpf(["train", path("pets.csv"), "--out", path("model"), ...texts, ...labels]);
    expect(trained.code, trained.err).toBe(0);
    const { labelNames } = JSON.parse((await mlgpf(["inspect", path("model"), "--json"])).out);
    expect([...labelNames].sort()).toEqual(["cat", "fish", "house", "is_tame", "sea"]);
    const predicted = await mlgpf(["predict", path("model"), path("pets.csv"), ...texts, "--top", "3"]);
    const [shark, cat] = predicted.out.split("\n").map((line) => line && JSON.parse(line));
    expect([shark.id, cat.id]).toEqual(["k0", "k1"]);
    const names = ({ labels: found }: { labels: { label: string }[] }): string[] =>
      found.map(({ label }) => label).sort();
    expect(names(cat)).toEqual(["cat", "house", "is_tame"]);
    expect(names(shark).slice(0, 1)).toEqual(["fish"]);
  });
});

test("a column that is not there: its flag is named, and the columns that are", async () => {
  await inFolder(async (path) => {
    writeFileSync(path("pets.csv"), `${[HEAD, ...rows].join("\n")}\n`);
    const train = ["train", path("pets.csv"), "--out", path("model")];
    const chosen = ["--text", "Title", "--labels", "Kind"];
    const found = 'line 1: found columns "Key, Title, Body, Kind, Place, is_tame", expected a column';
    const cases: [args: string[], said: string][] = [
      [[], `${found} "labels" (--labels names another column)`],
      [["--text", "Name", "--labels", "Kind"], `${found} "Name" (--text names another column)`],
      [[...chosen, "--one-hot", "has_*"], `${found} "has_*" (--one-hot names another column)`],
      [[...chosen, "--id", "Number"], `${found} "Number" (--id names another column)`],
    ];
    for (const [args, said] of cases) {
      const refused = await mlgpf([...train, ...args]);
      expect(refused.code).toBe(1);
      expectSentence(refused);
      expect(refused.err).toContain(said);
    }
  });
});

test("runs of characters as terms, alone or beside words", async () => {
  await inFolder(async (path) => {
    writeFileSync(path("pets.csv"), `${[HEAD, ...rows].join("\n")}\n`);
    const train = ["train", path("pets.csv"), "--out", path("model"), "--text", "Title", "--labels", "Kind"];
    const known = async (...terms: string[]): Promise<number> => {
      const trained = await mlgpf([...train, ...terms]);
      expect(trained.code, trained.err).toBe(0);
      const question = '{"text": "sharks"}\n';
      return JSON.parse((await mlgpf(["predict", path("model")], question)).out).known;
    };
    expect(await known("--ngrams", "0", "--char-ngrams", "3-4")).toBeGreaterThan(0.5);
    expect(await known("--char-ngrams", "no")).toBe(0);
    for (const wrong of ["4-3", "0-3", "few"]) {
      const refused = await mlgpf([...train, "--char-ngrams", wrong]);
      expect(refused.code).toBe(2);
      expectSentence(refused);
      expect(refused.err).toContain(`--char-ngrams: found ${wrong}, expected no, or two numbers from 1 to 9`);
    }
  });
});
