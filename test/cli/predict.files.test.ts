// Predictions in a file: a line for each row of the data, which can be joined to it.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { CsvRecords } from "../../src/data/csvrecord.ts";
import { expectSentence, inFolder, mlgpf } from "./support.ts";

const ANIMALS: [label: string, words: string][] = [
  ["cat", "whiskers purring fur"],
  ["dog", "barking tail fur"],
  ["fish", "fins gills water"],
];
const sizes = ["--factors", "4", "--inducing-points", "6", "--rank", "6", "--batch", "20", "--epochs", "40"];

/** A tagger of animals and their colours, and a file of questions with a broken row and one without a known word. */
async function tagger(path: (name: string) => string): Promise<void> {
  const lines = Array.from({ length: 60 }, (_, i) => {
    const [label, words] = ANIMALS[i % 3] as [string, string];
    return JSON.stringify({ text: `${words} number ${i % 7}`, labels: [label, "pet", "animal", "alive"] });
  });
  writeFileSync(path("docs.jsonl"), `${lines.join("\n")}\n`);
  const trained = await mlgpf(["train", path("docs.jsonl"), "--out", path("tagger"), ...sizes]);
  expect(trained.code, trained.err).toBe(0);
  const questions = [
    '{"key": "one", "text": "fins, and \\"gills\\"\\nin water"}',
    '{"key": "two", "text": 7}',
    '{"key": "three", "text": "xyzzy"}',
    '{"key": "four", "text": "a barking tail"}',
  ];
  writeFileSync(path("new.jsonl"), `${questions.join("\n")}\n`);
}

/** The rows of a CSV file. */
function csvRows(file: string, delimiter: string): string[][] {
  const records = new CsvRecords(delimiter, (found) => {
    throw new Error(found);
  });
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const fields = records.push(line);
      return fields ? [[...fields]] : [];
    });
}

describe("predict", () => {
  test("has a line for each row, with its id and line and what to keep, as JSON and as CSV", async () => {
    await inFolder(async (path) => {
      await tagger(path);
      const predict = ["predict", path("tagger"), path("new.jsonl"), "--id", "key", "--keep", "text", "--lenient"];
      const printed = await mlgpf(predict);
      expect(printed.code, printed.err).toBe(0);
      const rows = printed.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(rows.map(({ id, line }) => [id, line])).toEqual([
        ["one", 1],
        [undefined, 2],
        ["three", 3],
        ["four", 4],
      ]);
      expect(rows[1]).toEqual({ line: 2, error: expect.stringContaining("line 2: found") });
      expect(rows.map(({ known }) => known)).toEqual([0.6, undefined, 0, 0.666667]);
      expect(rows[0].text).toBe('fins, and "gills"\nin water');
      expect(rows[0].labels.length).toBe(5);
      expect(printed.err).toContain("1 row left out (1 not a text; in line 2)");

      expect((await mlgpf([...predict, "--out", path("out.jsonl"), "--quiet"])).out).toBe("");
      expect(readFileSync(path("out.jsonl"), "utf8")).toBe(printed.out);
      for (const [name, delimiter] of [
        ["out.csv", ","],
        ["out.tsv", "\t"],
      ] as const) {
        expect((await mlgpf([...predict, "--out", path(name)])).code).toBe(0);
        const [head, ...cells] = csvRows(path(name), delimiter);
        expect(head).toEqual(["id", "line", "text", "known", "labels", "probabilities", "error"]);
        expect(cells.map(([id, line]) => [id, line])).toEqual([
          ["one", "1"],
          ["", "2"],
          ["three", "3"],
          ["four", "4"],
        ]);
        expect(cells[0]?.[2]).toBe('fins, and "gills"\nin water');
        const labels = rows[0].labels as { label: string; probability: number }[];
        expect(cells[0]?.[4]).toBe(labels.map(({ label }) => label).join("|"));
        expect(cells[0]?.[5]).toBe(labels.map(({ probability }) => probability).join("|"));
        expect(cells[1]?.[6]).toContain("line 2: found");
      }
    });
  });

  test("takes a text as an argument, from standard input and from a text file, packed or not", async () => {
    await inFolder(async (path) => {
      await tagger(path);
      const text = "fins and gills\nin the water, 7; 8\n";
      writeFileSync(path("a note.txt"), text);
      writeFileSync(path("note.txt.gz"), gzipSync(text));
      writeFileSync(path("note"), text);
      const wanted = (await mlgpf(["predict", path("tagger"), "fins and gills in the water, 7; 8"])).out;
      expect(JSON.parse(wanted)).toMatchObject({ line: 1, labels: expect.any(Array) });
      for (const name of ["a note.txt", "note.txt.gz", "note"]) {
        const read = await mlgpf(["predict", path("tagger"), path(name)]);
        expect(read.err).toBe("");
        expect(read.out).toBe(wanted);
      }
      expect((await mlgpf(["predict", path("tagger")], text)).out).toBe(wanted);
      expect((await mlgpf(["predict", path("tagger"), "-"], text)).out).toBe(wanted);
      // What has a format of its own is read in it, and the name of a file that is not there is no text.
      const two = '{"text": "fins"}\n{"text": "a tail"}\n';
      expect((await mlgpf(["predict", path("tagger")], two)).out.trimEnd().split("\n").length).toBe(2);
      const csv = "text;key\nfins;1\na tail;2\n";
      expect((await mlgpf(["predict", path("tagger")], csv)).out.trimEnd().split("\n").length).toBe(2);
      writeFileSync(path("bomb.txt.gz"), gzipSync("fins ".repeat(2 ** 22)));
      const bomb = await mlgpf(["predict", path("tagger"), path("bomb.txt.gz")]);
      expect(bomb.err).toContain("bomb.txt.gz: found more than 16777216 bytes, expected a shorter text");
      // One word, or a sentence of a language without blanks, is a text; a note in Markdown is read as in a folder.
      const fins = (await mlgpf(["predict", path("tagger")], "fins")).out;
      expect((await mlgpf(["predict", path("tagger"), "fins"])).out).toBe(fins);
      expect((await mlgpf(["predict", path("tagger"), "大船。"])).code).toBe(0);
      writeFileSync(path("fins.md"), "---\ntags: [dog]\n---\n[and] gills\n");
      const note = await mlgpf(["predict", path("tagger"), path("fins.md")]);
      expect(note.out).toBe((await mlgpf(["predict", path("tagger")], "fins and gills")).out);
      const missing = await mlgpf(["predict", path("tagger"), path("none.txt")]);
      expect(missing.err).toContain("none.txt: there is no such file");
      expect(missing.code).toBe(1);
    });
  });

  test("writes CSV as it came, and cells that no spreadsheet runs unless asked for", async () => {
    await inFolder(async (path) => {
      await tagger(path);
      const formula = '=HYPERLINK("http://example.org")';
      const texts = [formula, "+1", "-2 tails", "@fins", "fins"];
      const cell = (value: string): string => `"${value.replaceAll('"', '""')}"`;
      const rows = texts.map((text, i) => `${i};${cell(text)}`);
      writeFileSync(path("new.csv"), `\ufeffid;text\n${rows.join("\n")}\n`);
      const predict = ["predict", path("tagger"), path("new.csv"), "--keep", "text", "--out", path("out.csv")];
      expect((await mlgpf(predict)).code).toBe(0);
      expect(readFileSync(path("out.csv"), "utf8").startsWith("\ufeffid;line;text;known;")).toBe(true);
      const kept = (): (string | undefined)[] =>
        csvRows(path("out.csv"), ";")
          .slice(1)
          .map(([, , text]) => text);
      expect(kept()).toEqual([`'${formula}`, "+1", "'-2 tails", "'@fins", "fins"]);
      expect((await mlgpf([...predict, "--raw-csv"])).code).toBe(0);
      expect(kept()).toEqual(texts);
    });
  });

  test("prints no control characters of labels to a terminal", async () => {
    await inFolder(async (path) => {
      const rows = ["red", "blue"].map((word) =>
        JSON.stringify({ text: `${word} ${word}`, labels: [`${word}\u009b31m\u001b]0;x`] }),
      );
      writeFileSync(path("docs.jsonl"), `${rows.join("\n")}\n${rows.join("\n")}\n`);
      const train = ["train", path("docs.jsonl"), "--out", path("tagger"), "--epochs", "1", "--quiet"];
      expect((await mlgpf(train)).code).toBe(0);
      const line = `node dist/cli.js predict ${path("tagger")} "red red"; node dist/cli.js inspect ${path("tagger")}`;
      const seen = spawnSync("script", ["-qec", line, "/dev/null"], { encoding: "utf8" });
      expect(seen.stdout).toContain("blue");
      for (const control of ["\u009b", "\u001b"]) expect(seen.stdout.includes(control)).toBe(false);
    });
  });

  test("says why where asked, as JSON and as CSV", async () => {
    await inFolder(async (path) => {
      await tagger(path);
      const predict = ["predict", path("tagger"), "--format", "jsonl", "--top", "1", "--explain", "2"];
      const question = '{"text": "fins and gills"}\n{"text": "xyzzy"}\n';
      const printed = await mlgpf(predict, question);
      expect(printed.code, printed.err).toBe(0);
      const [fish, unknown] = printed.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).labels[0] as { label: string; reasons: { word: string }[] });
      expect(fish?.reasons.length).toBeGreaterThan(0);
      expect(unknown?.reasons).toEqual([]);
      // Words outside the vocabulary are named too, never the runs of characters that are known of them.
      const alike = await mlgpf(predict, '{"text": "purringly fishy, barked"}\n');
      const named = JSON.parse(alike.out).labels[0].reasons.map(({ word }: { word: string }) => word);
      expect(named.length).toBeGreaterThan(0);
      expect(["purringly", "fishy", "barked"]).toEqual(expect.arrayContaining(named));
      const three = await mlgpf([...predict.slice(0, -1), "3"], question);
      expect(await mlgpf(predict.slice(0, -1), question)).toEqual(three);
      expect((await mlgpf([...predict, "--out", path("why.csv")], question)).code).toBe(0);
      const [head, first] = csvRows(path("why.csv"), ",");
      const cell = first?.[head?.indexOf("reasons") ?? -1];
      expect(cell.split(", ").map((reason) => reason.split(" ")[0])).toEqual(fish?.reasons.map(({ word }) => word));
      expect(cell).toMatch(/^\S+ [+-][\d.e-]+(, \S+ [+-][\d.e-]+)*$/);
    });
  });

  test("takes a folder of texts, and says what it was to keep and did not find", async () => {
    await inFolder(async (path) => {
      await tagger(path);
      mkdirSync(path("texts"));
      writeFileSync(path("texts/b.txt"), "fins and gills");
      writeFileSync(path("texts/a.txt"), "a barking tail");
      const predict = ["predict", path("tagger"), path("texts"), "--keep", "text", "--keep", "titel"];
      const { code, out, err } = await mlgpf([...predict, "--top", "1"]);
      expect(code, err).toBe(0);
      const rows = out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(rows.map(({ id, text }) => [id, text])).toEqual([
        ["a", "a barking tail"],
        ["b", "fins and gills"],
      ]);
      expect(err).toBe(`${path("texts")}: no row has "titel" to keep\n`);
    });
  });

  test("takes compact models, and so do eval and inspect", { tags: "long" }, async () => {
    await inFolder(async (path) => {
      await tagger(path);
      const run = async (...args: string[]): Promise<string> => {
        const { code, out, err } = await mlgpf(args);
        expect(code, err).toBe(0);
        return out;
      };
      await run("compact", path("tagger"), "--out", path("small"), "--type", "f32", "--variance", "exact");
      const labels = async (model: string): Promise<unknown> =>
        (await run("predict", path(model), path("docs.jsonl"), "--top", "3", "--explain", "1"))
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line))
          .map(({ line, known, labels: found }) => [
            line,
            known,
            found.map(({ label, probability }: { label: string; probability: number }) => [
              label,
              probability.toFixed(3),
            ]),
          ]);
      expect(await labels("small")).toEqual(await labels("tagger"));
      const figures = async (model: string): Promise<number> =>
        JSON.parse(await run("eval", path(model), path("docs.jsonl"), "--json"))["P@3"];
      expect(await figures("small")).toBeCloseTo(await figures("tagger"), 6);
      const about = JSON.parse(await run("inspect", path("small"), "--json"));
      expect(about).toMatchObject({ compact: true, labels: 6, fromText: true });
      const report = ["eval", path("small"), path("docs.jsonl"), "--report", path("report.html")];
      const refused = await mlgpf(report);
      expectSentence(refused);
      expect(refused.err).toContain("--report: found the compact model");
    });
  });

  test("gives all labels above a threshold, and those that are allowed", { tags: "long" }, async () => {
    await inFolder(async (path) => {
      await tagger(path);
      writeFileSync(path("some.txt"), "cat\ndog\npet\nunheard of\n");
      const labels = async (...args: string[]): Promise<string[][]> => {
        const { code, out, err } = await mlgpf(["predict", path("tagger"), path("docs.jsonl"), ...args]);
        expect(code, err).toBe(0);
        return out
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line).labels.map(({ label }: { label: string }) => label));
      };
      expect((await labels("--threshold", "0")).map((row) => row.length)).toEqual(Array(60).fill(6));
      expect((await labels("--threshold", "0", "--top", "2")).every((row) => row.length === 2)).toBe(true);
      expect(new Set((await labels("--threshold", "0", "--allow", path("some.txt"))).flat())).toEqual(
        new Set(["cat", "dog", "pet"]),
      );
      expect(new Set((await labels("--threshold", "0", "--deny", path("some.txt"))).flat())).toEqual(
        new Set(["fish", "animal", "alive"]),
      );
      writeFileSync(path("typed.txt"), "cat\nfihs\n");
      const typed = await mlgpf(["predict", path("tagger"), path("docs.jsonl"), "--allow", path("typed.txt")]);
      expect(typed.err).toBe('--allow: no model has the label "fihs", did you mean fish?\n');
      writeFileSync(path("none.txt"), "unheard of\n");
      writeFileSync(path("spaced.txt"), "\ncat \r\n");
      const none = await mlgpf(["predict", path("tagger"), path("docs.jsonl"), "--allow", path("none.txt")]);
      expect([none.code, none.out]).toEqual([2, ""]);
      expect(none.err).toContain("found lists that leave none of the model's 6 labels, expected at least one");
      expect(new Set((await labels("--allow", path("spaced.txt"))).flat())).toEqual(new Set(["cat"]));
    });
  });

  test("refuses what cannot be written before it reads anything, and leaves nothing behind", async () => {
    await inFolder(async (path) => {
      const cases: [string[], code: number, string][] = [
        [["--out", path("labels.xlsx")], 2, "expected a name that ends with .csv, .tsv, .jsonl or .ndjson"],
        [["--keep", "labels"], 2, "--keep: found labels, which predict writes itself"],
        [["--out", path("none/labels.csv")], 1, "there is no such folder"],
      ];
      for (const [args, code, message] of cases) {
        const result = await mlgpf(["predict", path("model"), path("new.jsonl"), ...args]);
        expect(result.code, result.err).toBe(code);
        expectSentence(result);
        expect(result.err).toContain(message);
      }
      await tagger(path);
      const broken = await mlgpf(["predict", path("tagger"), path("new.jsonl"), "--out", path("out.csv")]);
      expect(broken.code).toBe(1);
      expect(broken.err).toContain("line 2: found");
      expect(readdirSync(path(".")).sort()).toEqual(["docs.jsonl", "new.jsonl", "tagger"]);
    });
  });
  test("stems words by their language, found by its name, and shows reasons as they were written", async () => {
    await inFolder(async (path) => {
      const lines = Array.from({ length: 40 }, (_, i) => {
        const [label, word] = i % 2 ? ["shelf", "library"] : ["boat", "sailing"];
        return JSON.stringify({ text: `the ${word} of number ${i % 7}`, labels: [label] });
      });
      writeFileSync(path("docs.jsonl"), `${lines.join("\n")}\n`);
      const train = ["train", path("docs.jsonl"), "--out", path("tagger"), "--stem"];
      const refused = await mlgpf([...train, "klingon"]);
      expect(refused.code).toBe(2);
      expect(refused.err).toContain("--stem: found klingon, expected arabic, armenian");
      const trained = await mlgpf([...train, "english"]);
      expect(trained.code, trained.err).toBe(0);
      writeFileSync(path("new.jsonl"), '{"text": "two Libraries"}\n{"text": "we sailed"}\n');
      const predict = ["predict", path("tagger"), path("new.jsonl"), "--top", "1", "--explain", "1"];
      const { out, err } = await mlgpf(predict);
      const rows = out.trimEnd().split("\n");
      expect(rows.length, err).toBe(2);
      for (const [i, [label, word]] of [
        ["shelf", "libraries"],
        ["boat", "sailed"],
      ].entries()) {
        const [best] = JSON.parse(rows[i]).labels;
        expect([best.label, best.reasons[0].word]).toEqual([label, word]);
      }
      const small = await mlgpf(["compact", path("tagger"), "--out", path("tagger.bin")]);
      expect(small.code, small.err).toBe(0);
      const compact = await mlgpf(["predict", path("tagger.bin"), path("new.jsonl"), "--top", "1"]);
      expect(compact.out.split("\n").map((line) => line && JSON.parse(line).labels[0].label)).toEqual([
        "shelf",
        "boat",
        "",
      ]);
    });
  });

  test("sends rows that need a person to a file of their own, and refuses what it cannot guarantee", async () => {
    await inFolder(async (path) => {
      const lines = Array.from({ length: 90 }, (_, i) => {
        const [label, words] = ANIMALS[i % 3];
        return JSON.stringify({ text: `${words} number ${i % 7} ${i}`, labels: i % 11 ? [label] : [label, "odd"] });
      });
      writeFileSync(path("docs.jsonl"), `${lines.join("\n")}\n`);
      const trained = await mlgpf(["train", path("docs.jsonl"), "--out", path("tagger")]);
      expect(trained.code, trained.err).toBe(0);
      writeFileSync(
        path("new.jsonl"),
        '{"text": "fins gills water"}\n{"text": "xyzzy"}\n{"text": "barking tail fur"}\n',
      );
      const predict = ["predict", path("tagger"), path("new.jsonl")];
      const all = await mlgpf([...predict, "--recall", "0.8"]);
      const parts = await mlgpf([
        ...predict,
        "--recall",
        "0.8",
        "--review",
        path("hard.jsonl"),
        "--review-below",
        "0.6",
      ]);
      expect(parts.err).toContain("hard.jsonl written: 1 rows need a person");
      const hard = readFileSync(path("hard.jsonl"), "utf8");
      const line = (text: string): number => JSON.parse(text).line;
      const together = [...parts.out.trimEnd().split("\n"), hard.trimEnd()].sort((a, b) => line(a) - line(b));
      expect(together).toEqual(all.out.trimEnd().split("\n"));
      const { expectedPrecision, expectedRecall } = JSON.parse(hard);
      expect(Math.min(expectedPrecision ?? 0, expectedRecall)).toBeLessThan(0.6);
      const refused = await mlgpf([...predict, "--precision", "0.99", "--confidence", "0.99"]);
      expect(refused.err).toMatch(/--precision: found 0.99 with confidence 0.99, which \d+ rows cannot guarantee/);
      expect((await mlgpf([...predict, "--review-below", "0.6"])).err).toContain("--review-below: found no --review");
    });
  });

  test("says in one sentence which package is missing where words are to be stemmed", async () => {
    await inFolder(async (path) => {
      cpSync("dist", path("dist"), { recursive: true });
      writeFileSync(path("package.json"), '{"type": "module"}');
      writeFileSync(path("docs.jsonl"), '{"text": "cats and dogs", "labels": ["a"]}\n');
      const args = ["train", path("docs.jsonl"), "--out", path("tagger"), "--stem", "english"];
      const { status, stderr } = spawnSync("node", [path("dist/cli.js"), ...args], { encoding: "utf8" });
      expect(status).toBe(1);
      expect(stderr.trimEnd().split("\n").at(-1)).toBe(
        "mlgpf: found words stemmed by english, expected the package @orama/stemmers to do it (npm install @orama/stemmers)",
      );
    });
  });
});
