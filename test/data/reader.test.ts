import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { selectRows } from "../../src/data/dataset.ts";
import type { ReadOptions, ReadProgress } from "../../src/data/options.ts";
import { readBatches, readDataset } from "../../src/data/reader.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { gzip, inPieces, refusal, wordsAlone } from "./support.ts";

const XC = "2 3 2\n0 1:1\n1 2:1\n";

async function formatOf(text: string, options: ReadOptions = {}): Promise<string> {
  return (await readDataset(text, { tfidf: wordsAlone, ...options })).format;
}

describe("the format", () => {
  test("by name", async () => {
    expect(await formatOf("0 1:1\n", { file: "a.svm" })).toBe("svmlight");
    expect(await formatOf("0 1:1\n", { file: "a.libsvm.gz" })).toBe("svmlight");
    expect(await formatOf(XC, { file: "a.svm" })).toBe("xc");
    expect(await formatOf("title,labels\n1,a\n", { file: "A.CSV" })).toBe("csv");
  });
  test("by the first line", async () => {
    expect(await formatOf(XC)).toBe("xc");
    expect(await formatOf('{"text":"a","labels":["b"]}', { file: "data.txt" })).toBe("jsonl");
    expect(await formatOf('"text","labels"\na,b', { file: "data" })).toBe("csv");
    expect(await formatOf("body;topic\na;b", { text: "body", labels: "topic" })).toBe("csv");
  });
  test("on demand", async () => {
    expect(await formatOf("0 1:1\n", { format: "svmlight", file: "a.txt" })).toBe("svmlight");
  });
  test("that a model cannot use", async () => {
    const { vectoriser } = TfidfVectoriser.fit(["alpha beta"], { minDocuments: 1 });
    expect(await refusal(XC, { file: "a", vectoriser })).toBe(
      "a, line 1: found features (format xc), expected texts, as the model was trained on",
    );
  });
  test("that is none of them", async () => {
    expect(await refusal("once upon a time\n", { file: "story.txt" })).toBe(
      'story.txt, line 1: found "once upon a time", expected an XC header "rows features labels", a JSON object or the column names of a CSV file',
    );
    expect(await refusal("0 1:1\n", { file: "a" })).toContain("(a file without one is format svmlight)");
    expect(await refusal("\n\n", { file: "a" })).toBe("a: found an empty file, expected rows of data");
    expect(await formatOf("\n1 1 1\n0 0:1", { file: "a" })).toBe("xc");
  });
});

describe("reading leniently", () => {
  test("counts by reason, and keeps the names of good rows alone", async () => {
    const text =
      '{"features":{"a":1},"labels":["x"]}\n{"features":{"b":1e999},"labels":["y"]}\n\n\nnope\n{"features":{"c":1},"labels":["z"]}\n';
    const { dataset, skipped, notes } = await readDataset(text, { file: "f.jsonl", lenient: true });
    expect(skipped).toEqual({
      total: 2,
      byReason: { "not a finite number": 1, "not JSON": 1 },
      rows: [
        {
          line: 2,
          reason: "not a finite number",
          message: 'f.jsonl, line 2: found value Infinity of feature "b", expected a finite number',
          rowsBefore: 1,
        },
        {
          line: 5,
          reason: "not JSON",
          message: 'f.jsonl, line 5: found "nope", expected a JSON object on one line',
          rowsBefore: 1,
        },
      ],
    });
    expect(Array.from(dataset.lines ?? [])).toEqual([1, 6]);
    expect(notes).toEqual(["f.jsonl: 2 rows without labels were left out (the first in line 3)"]);
    expect(dataset.labelNames).toEqual(["x", "z"]);
    expect(dataset.featureNames).toEqual(["a", "c"]);
  });
  test("lists the first hundred and counts all", async () => {
    const text = `301 3 2\n0 1:1\n${"0 9:1\n".repeat(300)}`;
    const { skipped, notes } = await readDataset(text, { file: "f.txt", lenient: true });
    expect([skipped.total, skipped.rows.length, notes.length]).toEqual([300, 100, 0]);
  });
  test("notes a wrong count of rows", async () => {
    const { notes } = await readDataset("3 3 2\n0 1:1\n", { file: "f.txt", lenient: true });
    expect(notes).toEqual(["f.txt: found 1 rows, its header says 3"]);
  });
  test("still refuses what skipping cannot mend", async () => {
    const lenient = { file: "f.txt", lenient: true } as const;
    expect(await refusal("0 1:1\n", lenient)).toContain("expected a header");
    expect(await refusal("1 1 1\n0 \0", lenient)).toContain("binary data");
    expect(await refusal("1 1 1\n 5:1", lenient)).toBe("f.txt: found no row that is right, expected at least one");
    expect(await refusal((await gzip(XC)).subarray(0, 15), lenient)).toContain("cut short");
  });
});

describe("where a row comes from", () => {
  const row = fc.record({
    id: fc.option(fc.string(), { nil: undefined }),
    blank: fc.boolean(),
    good: fc.boolean(),
  });
  const rows = fc.array(row, { minLength: 1, maxLength: 20 });
  const text = (each: { id?: string | undefined; blank: boolean; good: boolean }[]): string =>
    each
      .map(({ id, blank, good }) => (blank ? "" : good ? JSON.stringify({ id, features: [1] }) : "{"))
      .concat('{"features":[1],"id":7}')
      .join("\n");

  test("its line and its id, through a choice of rows", async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (each) => {
        const { dataset } = await readDataset(text(each), { lenient: true, requireLabels: false });
        const kept = [...each.entries()].filter(([, { blank, good }]) => blank || good);
        expect(Array.from(dataset.lines ?? [])).toEqual([...kept.map(([i]) => i + 1), each.length + 1]);
        expect(dataset.ids).toEqual([...kept.map(([, { id, blank }]) => (blank ? "" : (id ?? ""))), "7"]);
        const last = kept.length;
        const chosen = selectRows(dataset, [last, 0]);
        expect(chosen.ids).toEqual([dataset.ids?.[last], dataset.ids?.[0]]);
        expect(Array.from(chosen.lines ?? [])).toEqual([dataset.lines?.[last], dataset.lines?.[0]]);
      }),
    );
  });
  test("a named column or key of ids, and none where there are none", async () => {
    const csv = { file: "f.csv", requireLabels: false };
    const named = await readDataset("doi,x,id\n10/1 ,1,2\n10/2,3,4\n", { ...csv, id: "DOI" });
    expect(named.dataset.ids).toEqual(["10/1", "10/2"]);
    expect(named.dataset.featureNames).toEqual(["x"]);
    expect((await readDataset("x,y\n1,2\n", csv)).dataset.ids).toBeUndefined();
    expect(await refusal('{"features":[1]}\n', { id: "doi", requireLabels: false })).toBe(
      'data, line 1: found nothing as "doi", expected an id, text or number (option id)',
    );
  });
  test("batches say what was left out, in its place: one outcome for each row of the file", async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 5, max: 60 }), async (each, size) => {
        const stream = inPieces(new TextEncoder().encode(text(each)), size);
        const batches = readBatches(stream, { lenient: true, columns: 1 });
        const lines: number[] = [];
        for await (const { features, lines: own = [], skipped } of batches) {
          for (let i = 0; i <= features.rows; i++) {
            for (const { line, rowsBefore } of skipped) if (rowsBefore === i) lines.push(line);
            if (i < features.rows) lines.push(own[i]);
          }
        }
        expect(lines).toEqual(Array.from({ length: each.length + 1 }, (_, i) => i + 1));
        const broken = each.filter(({ blank, good }) => !blank && !good).length;
        const empty = each.filter(({ blank }) => blank).length;
        expect([batches.skipped.total, batches.emptyRows]).toEqual([broken, empty]);
        expect(batches.notes.length).toBe(empty > 0 ? 1 : 0);
      }),
    );
  });
});

describe("nothing but empty lines", () => {
  test("is refused before the end, wherever they are", async () => {
    const blank = "\n".repeat(2 ** 20 + 1);
    const refused = (line: number): string =>
      `a, line ${line}: found more than 1048576 empty lines, expected rows of data`;
    expect(await refusal(await gzip(blank.repeat(3)), { file: "a" })).toBe(refused(1));
    expect(await refusal(`2 2 2\n0 1:1\n${blank}0 1:1\n`, { file: "a" })).toBe(refused(3));
    expect(await refusal(`1 2 2\n0 1:1\n${blank}`, { file: "a", lenient: true })).toBe(refused(3));
  });
});

describe("progress and cancelling", () => {
  test("bytes and rows", async () => {
    const bytes = new TextEncoder().encode(`2000 3 2\n${"0 1:1\n".repeat(2000)}`);
    const seen: ReadProgress[] = [];
    await readDataset(inPieces(bytes, 1000), {
      file: "f.txt",
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.at(-1)).toEqual({ bytes: bytes.length, rows: 2000 });
    expect(seen.every(({ bytes: read }, i) => i === 0 || read > seen[i - 1].bytes)).toBe(true);
  });
  test("stops when told to", async () => {
    const controller = new AbortController();
    const bytes = new TextEncoder().encode(`2000 3 2\n${"0 1:1\n".repeat(2000)}`);
    let rows = 0;
    let error: unknown;
    try {
      await readDataset(inPieces(bytes, 500), {
        signal: controller.signal,
        onProgress: (progress) => {
          rows = progress.rows;
          if (rows > 100) controller.abort();
        },
      });
    } catch (reason) {
      error = reason;
    }
    expect((error as DOMException).name).toBe("AbortError");
    expect(rows).toBeLessThan(300);
  });
});

describe("rows in memory", () => {
  const rows = [
    { text: "Red wine", labels: ["food", "drink"], id: 7 },
    { text: "white wine", labels: "drink", price: 3 },
    { text: null, labels: [] },
  ];

  test("are read as lines of JSON are", async () => {
    const options = { tfidf: wordsAlone };
    const lines = rows.map((row) => JSON.stringify(row)).join("\n");
    const written = await readDataset(lines, options);
    async function* later(): AsyncGenerator<(typeof rows)[number]> {
      yield* rows;
    }
    for (const source of [rows, new Set(rows), later()]) {
      const read = await readDataset(source, options);
      expect(read.format).toBe("rows");
      expect(read.dataset.features).toEqual(written.dataset.features);
      expect(read.dataset.labels).toEqual(written.dataset.labels);
      expect(read.dataset.ids).toEqual(["7", "", ""]);
      expect(Array.from(read.dataset.lines ?? [])).toEqual([1, 2, 3]);
      expect(read.notes).toEqual(["data: 1 row has no text (row 3)"]);
    }
  });
  test("that are broken are named by their place", async () => {
    const broken = [...rows, { text: "a", labels: [true] as never }];
    await expect(readDataset(broken, { file: "my rows" })).rejects.toThrow(
      "my rows, row 4: found label true, expected a name or a number",
    );
    await expect(readDataset(["a text" as never])).rejects.toThrow('data, row 1: found "a text", expected {');
    const { skipped } = await readDataset(broken, { lenient: true });
    expect(skipped.total).toBe(1);
  });
});

describe("another encoding", () => {
  test("of lines is said", async () => {
    const bytes = Uint8Array.from("text,labels\nun caf\xe9,a\ncaf\xe9,b\n", (each) => each.charCodeAt(0));
    const { dataset, notes } = await readDataset(bytes, {
      file: "f.csv",
      tfidf: { ...wordsAlone, minDocuments: 2 },
    });
    expect(dataset.vectoriser?.terms).toEqual(["café"]);
    expect(notes).toEqual(["f.csv: 2 lines are not UTF-8, read as Windows-1252 (the first in line 2)"]);
  });
});

describe("batches", () => {
  test("hold all rows in order, without labels too", async () => {
    const { vectoriser } = TfidfVectoriser.fit(["alpha beta", "beta gamma"], wordsAlone);
    const lines = Array.from({ length: 500 }, (_, i) => JSON.stringify({ text: i % 2 ? "alpha" : "gamma gamma" }));
    let rows = 0;
    let batches = 0;
    const stream = inPieces(new TextEncoder().encode(lines.join("\n")), 700);
    for await (const { features, labels } of readBatches(stream, { vectoriser, labelNames: ["x"] })) {
      batches++;
      expect(features.columns).toBe(3);
      expect(labels.rows).toBe(features.rows);
      for (const column of features.columnIndex) expect(column).toBe(rows++ % 2 ? 0 : 2);
    }
    expect(rows).toBe(500);
    expect(batches).toBeGreaterThan(10);
  });
  test("of texts have the vocabulary's columns in every format", async () => {
    const { vectoriser } = TfidfVectoriser.fit(["alpha beta", "beta gamma"], wordsAlone);
    const texts = ["beta", "", "gamma alpha unknown"];
    const files = {
      jsonl: texts.map((text) => JSON.stringify({ text })).join("\n"),
      json: JSON.stringify(texts.map((text) => ({ text }))),
      csv: ["nr,text", ...texts.map((text, i) => `${i},${text}`)].join("\n"),
    };
    for (const [format, file] of Object.entries(files)) {
      const columns: number[] = [];
      for await (const { features } of readBatches(file, {
        vectoriser,
        format: format as keyof typeof files,
      })) {
        expect(features.columns, format).toBe(3);
        columns.push(...features.columnIndex);
      }
      expect(columns, format).toEqual([1, 0, 2]);
    }
  });
  test("of texts need a vocabulary", async () => {
    let message = "";
    try {
      for await (const _ of readBatches('{"text":"a"}\n{"text":"b"}\n')) message = "read";
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toBe("data: found texts, expected features, or a vocabulary to turn texts into features");
  });
});

test("labels that are new come after those that are given", async () => {
  const known = { labelNames: ["a", "b"], labelCount: 2 };
  const { dataset } = await readDataset('{"features":[1],"labels":["c","a"]}', known);
  expect([dataset.labels.labels, Array.from(dataset.labels.labelIndex)]).toEqual([3, [0, 2]]);
});

test("columns or keys that were not found leave a choice of those there are", async () => {
  const csv = readDataset("title,topic\na,b\n", { file: "f.csv", labels: "topic", text: "body" });
  await expect(csv).rejects.toMatchObject({ option: "text", names: ["title", "topic"] });
  const json = readDataset('{"body":"a","topic":"b"}\n', { text: "body" });
  await expect(json).rejects.toMatchObject({ option: "labels", names: ["body", "topic"] });
});

test("a line of a packed file is not much longer than the file", async () => {
  const row = (characters: number): string => `{"text":"${"a".repeat(characters)}","labels":["x"]}`;
  const refused = await refusal(await gzip(row(2 ** 24 - 1)), { file: "f" });
  expect(refused).toBe("f, line 1: found a line of more than 8388608 bytes, expected shorter lines");
  expect((await readDataset(row(2 ** 24 - 1))).dataset.features.rows).toBe(1);
  expect((await readDataset(await gzip(`${row(2 ** 22)}\n`))).dataset.features.rows).toBe(1);
});

test("a record of many lines has an end too", async () => {
  const lines = "a\n".repeat(2 ** 23 + 1);
  expect(await refusal(await gzip(`text,labels\n"${lines}`), { file: "f" })).toMatch(
    /^f, line 2: found a quoted field that does not end/,
  );
  const list = `[{"text":"a",\n"labels":["b"${`${" ".repeat(1000)}\n`.repeat(33_600)}]}]`;
  const refused = await refusal(await gzip(list), { file: "f" });
  expect(refused).toBe("f, line 1: found a record of more than 33554432 bytes, expected shorter ones");
});

test("one text of many millions of characters is one row's fault: its words would take a hundred times as many bytes", async () => {
  const rows = [
    { text: "a b", labels: ["x"] },
    { text: "a ".repeat(2 ** 23 + 1), labels: ["x"] },
    { text: "b c", labels: ["y"] },
  ];
  await expect(readDataset(rows)).rejects.toThrow(
    "row 2: found a text of 16777218 characters, expected at most 16777216",
  );
  const { dataset, skipped } = await readDataset(rows, { lenient: true });
  expect([dataset.features.rows, skipped.total]).toEqual([2, 1]);
});
