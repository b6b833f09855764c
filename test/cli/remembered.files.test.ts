// A model remembers the columns that it was trained by: other commands take them where none are asked for and the file has them.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { inFolder, mlgpf } from "./support.ts";

const HEAD = ["Key", "Title", "Body", "Kind"];
const rows = Array.from({ length: 16 }, (_, i) =>
  i % 2 ? [`k${i}`, "a cat", `purring ${i}`, "pet;mammal"] : [`k${i}`, "a shark", `swimming ${i}`, "fish;sea"],
);
const table = (separator: string, some = rows): string =>
  `${[HEAD, ...some].map((cells) => cells.join(separator)).join("\n")}\n`;
const records = rows.map(([Key, Title, Body, Kind]) => ({ Key, Title, Body, Kind: Kind.split(";") }));
const lines = (some: readonly object[]): string => `${some.map((row) => JSON.stringify(row)).join("\n")}\n`;
const FLAGS = ["--text", "Title", "--text", "Body", "--labels", "Kind", "--id", "Key"];

async function done(args: string[], input = ""): Promise<string> {
  const { code, out, err } = await mlgpf(args, input);
  expect(code, `${args.join(" ")}: ${err}`).toBe(0);
  return out;
}

interface Line {
  id?: string;
  labels: { label: string }[];
}
const answers = (out: string): Line[] =>
  out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("csv, tsv, jsonl and json: read by the columns of the training, full and compact", async () => {
  await inFolder(async (path) => {
    const files = {
      "pets.csv": table(","),
      "pets.tsv": table("\t"),
      "pets.jsonl": lines(records),
      "pets.json": JSON.stringify(records),
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(path(name), content);
    await done(["train", path("pets.csv"), "--out", path("model"), "--state", path("state"), ...FLAGS]);
    await done(["compact", path("model"), "--out", path("small")]);
    const first = answers(await done(["predict", path("model"), path("pets.csv"), ...FLAGS]));
    for (const model of ["model", "small"])
      for (const name of Object.keys(files)) {
        const found = answers(await done(["predict", path(model), path(name), "--top", "2"]));
        expect(found.map(({ id }) => id)).toEqual(rows.map(([id]) => id));
        expect(found[1].labels.map(({ label }) => label).sort(), name).toEqual(["mammal", "pet"]);
        const figures = JSON.parse(await done(["eval", path(model), path(name), "--json"]));
        expect(JSON.stringify(figures), name).toContain('"P@1":100');
      }
    expect(answers(await done(["predict", path("model"), path("pets.csv")]))).toEqual(first);
    expect(answers(await done(["predict", path("model")], table(",")))).toEqual(first);
    // A correction is one of a known document: the id was read too.
    const learned = await done(["learn", path("model"), path("pets.jsonl"), "--state", path("state"), "--json"]);
    expect(JSON.parse(learned)).toMatchObject({ learned: 16, corrected: 16, documents: 16 });
    const gone = await done(
      ["learn", path("model"), "-", "--state", path("state"), "--json", "--forget"],
      "Key,x\nk1,1\n",
    );
    expect(JSON.parse(gone)).toMatchObject({ forgotten: 1, documents: 15 });
    const again = await done(
      ["learn", path("model"), "-", "--state", path("state"), "--json", "--forget"],
      "id,x\nk2,1\n",
    );
    expect(JSON.parse(again)).toMatchObject({ forgotten: 1, documents: 14 });
    expect(await done(["query", path("model"), path("pets.tsv"), "--top", "2"])).toMatch(/\nk\d+,/);
    await done(["calibrate", path("model"), path("pets.csv"), "--out", path("other")]);
    await done(["audit", path("other"), path("pets.csv"), "--out", path("audit.csv")]);
  });
});

test("flags win, and a file with the usual names is read by them", async () => {
  await inFolder(async (path) => {
    writeFileSync(path("pets.csv"), table(","));
    await done(["train", path("pets.csv"), "--out", path("model"), ...FLAGS]);
    const usual = "id,text,labels\na,a cat purring,pet;mammal\nb,a shark swimming,fish;sea\n";
    writeFileSync(path("usual.csv"), usual);
    writeFileSync(path("usual.jsonl"), '{"id": "a", "text": "a cat purring", "labels": ["pet"]}\n');
    const [cat, shark] = answers(await done(["predict", path("model"), path("usual.csv"), "--top", "2"]));
    expect([cat.id, shark.id]).toEqual(["a", "b"]);
    expect(cat.labels.map(({ label }) => label).sort()).toEqual(["mammal", "pet"]);
    for (const name of ["usual.csv", "usual.jsonl"])
      expect(await done(["eval", path("model"), path(name), "--json"]), name).toContain('"P@1":100');
    // Both are there: the remembered ones, unless others are asked for.
    const both = "id,text,Key,Title,Kind\na,a shark swimming,k,a cat purring,pet\n";
    const best = async (...flags: string[]): Promise<Line> =>
      answers(await done(["predict", path("model"), "-", "--top", "1", ...flags], both))[0];
    const remembered = await best();
    expect(remembered.id).toBe("k");
    expect(["pet", "mammal"]).toContain(remembered.labels[0].label);
    const asked = await best("--text", "text", "--id", "id");
    expect(asked.id).toBe("a");
    expect(["fish", "sea"]).toContain(asked.labels[0].label);
  });
});

test("labels that are columns, beside features", async () => {
  await inFolder(async (path) => {
    const numbers = Array.from({ length: 20 }, (_, i) => `${i % 2},${(i * 7) % 5},${i % 2},${1 - (i % 2)},9`);
    writeFileSync(path("a.csv"), `x,y,is_odd,is_even,labels\n${numbers.join("\n")}\n`);
    await done(["train", path("a.csv"), "--out", path("model"), "--one-hot", "is_*"]);
    const figures = await done(["eval", path("model"), path("a.csv"), "--json"]);
    expect(figures).toContain('"P@1":100');
  });
});

test("notes: the key of their front matter", async () => {
  await inFolder(async (path) => {
    mkdirSync(path("vault"));
    const write = (name: string, front: string, text: string): void =>
      writeFileSync(path(`vault/${name}.md`), `---\n${front}\n---\n${text}\n`);
    for (let i = 0; i < 120; i++)
      write(`n${i}`, `tags: [other]\ntopics: [${i % 2 ? "cats" : "sharks"}]`, i % 2 ? "purring cat" : "swimming shark");
    await done(["train", path("vault"), "--out", path("model"), "--labels", "topics"]);
    expect(await done(["eval", path("model"), path("vault"), "--json"])).toContain('"P@1":100');
    write("new", "tags: [other]", "purring cat");
    await done(["predict", path("model"), path("vault"), "--write", "--out", path("out.jsonl")]);
    expect(readFileSync(path("vault/new.md"), "utf8")).toContain("topics: [cats]");
  });
});
