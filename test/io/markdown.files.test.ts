// Notes in Markdown: rows of their titles, bodies and tags; tags that are put into them change nothing else; and the command with a folder.

import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as yaml from "yaml";
import { type DataRow, readDataset } from "../../src/index.ts";
import { folderRows, tagNote } from "../../src/io/folder.ts";
import { loadYaml, markdownRow, withTags } from "../../src/io/markdown.ts";

const parser = await loadYaml();

describe("a note as a row", () => {
  test.each([
    ["---\ntitle: Bread\ntags: [a, b]\n---\nFlour.", "Bread\nFlour.", ["a", "b"]],
    ["---\r\ntags:\r\n  - a\r\n  - b c\r\n---\r\nFlour.", "x\nFlour.", ["a", "b c"]],
    ["---\ntags: '#a, b'\n---\nFlour.", "x\nFlour.", ["a", "b"]],
    ["---\ntag: a b\n---\nFlour.", "x\nFlour.", ["a", "b"]],
    ["---\ntags:\n---\nFlour.", "x\nFlour.", []],
    ["---\ntags: []\n---\nFlour.", "x\nFlour.", []],
    ["---\ntitle: 2024\n---\nFlour.", "2024\nFlour.", null],
    ["---\n---\nFlour.", "x\nFlour.", null],
    ["Flour.\n---\nmore", "x\nFlour.\n---\nmore", null],
    ["\ufeff---\ntags: [2024]\n---\n", "x\n", ["2024"]],
    ["---\ntitle:\n  toString: y\ntags: [{toString: z}, a, [b]]\n---\nFlour.", "\nFlour.", ["a"]],
  ])("%j", (note, text, labels) => {
    expect(markdownRow(parser, note, "some/x.md")).toEqual({ text, labels });
  });

  test("has the labels of the keys that are named, and refuses what is no YAML", () => {
    const note = "---\ntags: [a]\ncategories: [b]\nseries: c\n---\n";
    expect(markdownRow(parser, note, "x.md", ["categories", "series"]).labels).toEqual(["b", "c"]);
    expect(() => markdownRow(parser, "---\ntags: [a\n---\n", "x.md")).toThrow(/x\.md.*expected front matter in YAML/);
    expect(() => markdownRow(parser, "+++\ntags = ['a']\n+++\n", "x.md")).toThrow(/TOML/);
  });
});

const tag = fc
  .oneof(
    fc.constantFrom(
      "a",
      "b",
      "deep/er",
      "yes",
      "null",
      "2024",
      "two words",
      "#x",
      "it's",
      'say "so"',
      "a: b",
      "- c",
      "日本",
      "[d]",
    ),
    fc
      .string({ minLength: 1, maxLength: 8 })
      .filter((text) => /\w/.test(text) && text.trim() === text && !text.startsWith("#")),
  )
  .filter((text) => !text.startsWith("#") && !text.includes(","));

/** Front matter without tags, written in different ways. */
const FRONTS = [
  "",
  "title: A note\ndraft: true\n",
  "tags:\ndraft:   true # yes\n",
  "tags: []   # none yet\n",
  "draft: true\ntags: \n",
  "title: 'tags: []'\ntags: [\n]\ndraft: true\n",
  "tag: ''\nmore: [a,  b]\n",
  "tags: ~\nlist:\n- tags\n",
];

describe("tags put into a note that has none", () => {
  test("are what YAML reads; all else is as it was, byte by byte", () => {
    const some = fc.uniqueArray(tag, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        some,
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("", "\ufeff"),
        fc.constantFrom(...FRONTS),
        (tags, line, mark, written) => {
          const front = written.replaceAll("\n", line);
          const body = `Text.${line}---${line}tags: [none]${line}`;
          const note = mark + (front === "" ? body : `---${line}${front}---${line}${body}`);
          const marked = withTags(parser, note, "x.md", tags) ?? "";
          expect(marked.lastIndexOf("\ufeff")).toBe(mark.length - 1);
          const changed = marked.slice(mark.length);
          const [, found = ""] = /^---\r?\n([\s\S]*?)---\r?\n/.exec(changed) ?? [];
          const was = Object(yaml.parse(front)) as object;
          expect(yaml.parse(found)).toEqual({ ...was, ["tag" in was ? "tag" : "tags"]: tags });
          expect(changed.endsWith(`---${line}${body}`)).toBe(true);
          for (const each of front.split(line).filter((own) => !/^(tags?:|\])/.test(own)))
            expect(found.split(line)).toContain(each);
          expect(changed.includes("# none yet")).toBe(note.includes("# none yet"));
          if (line === "\r\n") expect(changed.replaceAll("\r\n", "")).not.toContain("\n");
          expect(withTags(parser, changed, "x.md", ["more"])).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });

  test("by a folder: notes below it too, hidden folders not; a copy is kept", async () => {
    const folder = mkdtempSync(join(tmpdir(), "notes-"));
    mkdirSync(join(folder, "deep/.obsidian"), { recursive: true });
    writeFileSync(join(folder, "a.md"), "---\ntags: [bread]\n---\nflour and yeast");
    writeFileSync(join(folder, "deep/b.md"), "sails and anchors");
    writeFileSync(join(folder, "deep/.obsidian/c.md"), "no note");
    const rows: DataRow[] = [];
    for await (const row of folderRows(folder)) rows.push(row);
    expect(rows.map(({ id, labels }) => [id, labels])).toEqual([
      ["a.md", ["bread"]],
      ["deep/b.md", null],
    ]);
    const { dataset } = await readDataset(folder);
    expect(dataset.features.rows).toBe(1);
    expect(await tagNote(folder, "deep/b.md", ["boats"])).toBe(true);
    expect(await tagNote(folder, "deep/b.md", ["boats"])).toBe(false);
    expect(readFileSync(join(folder, "deep/b.md"), "utf8")).toBe("---\ntags: [boats]\n---\nsails and anchors");
    expect(readFileSync(join(folder, "deep/b.md.bak"), "utf8")).toBe("sails and anchors");
    expect(await tagNote(folder, "a.md", ["boats"])).toBe(false); // it has tags
    await expect(tagNote(folder, "../other.md", ["x"])).rejects.toThrow();
  });

  test("and a copy goes through no link", async () => {
    const folder = mkdtempSync(join(tmpdir(), "notes-"));
    mkdirSync(join(folder, "vault"));
    const [note, other] = [join(folder, "vault/a.md"), join(folder, "other")];
    writeFileSync(note, "sails");
    writeFileSync(other, "precious");
    symlinkSync(other, `${note}.bak`);
    expect(await tagNote(join(folder, "vault"), "a.md", ["boats"])).toBe(true);
    expect([other, `${note}.bak`].map((each) => readFileSync(each, "utf8"))).toEqual(["precious", "sails"]);
  });
});
