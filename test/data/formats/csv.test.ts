import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CsvRecords } from "../../../src/data/csvrecord.ts";
import { guessDelimiter } from "../../../src/data/formats/csv.ts";
import { readDataset } from "../../../src/data/reader.ts";
import { mutated, neverCrashes, type PlainData, plain, plainData, refusal, wordsAlone } from "../support.ts";

const options = { file: "train.csv" } as const;

function quote(field: string, delimiter: string): string {
  return /["\n]/.test(field) || field.includes(delimiter) ? `"${field.replaceAll('"', '""')}"` : field;
}

function asCsv(data: PlainData): string {
  const header = ["labels", ...Array.from({ length: data.columns }, (_, column) => `c${column}`)];
  const rows = data.rows.map(({ labels, features }) => {
    const cells = new Array<string>(data.columns).fill("");
    for (const [column, value] of features) cells[column] = String(value);
    return [labels.map((label) => `l${label}`).join("|"), ...cells].join(",");
  });
  return [header.join(","), ...rows].join("\r\n");
}

describe("CSV records", () => {
  test("of any fields come back", () => {
    const field = fc.string({ unit: fc.constantFrom(...'ab,;"\n\té ') });
    const table = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(table, fc.constantFrom(",", ";", "\t"), (rows, delimiter) => {
        const text = rows.map((fields) => fields.map((each) => quote(each, delimiter)).join(delimiter)).join("\n");
        const records = new CsvRecords(delimiter, (found) => {
          throw new Error(found);
        });
        const read: string[][] = [];
        for (const line of rows.length > 0 ? text.split("\n") : []) {
          const record = records.push(line);
          if (record) read.push(record);
        }
        expect(read).toEqual(rows);
        expect(records.midRecord).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
  test("the delimiter is the one there is most of", () => {
    expect(["a,b;c,d", "a;b;c", "a\tb, c\td", "text"].map(guessDelimiter)).toEqual([",", ";", "\t", ","]);
  });
});

describe("CSV", () => {
  test("texts and labels, quotes and line ends within", async () => {
    const text = 'id,Text,labels\n1,"Red, ""dry"" wine\n\nfrom here","wine;red"\n2,white wine,wine\n';
    const { dataset, format, notes } = await readDataset(text, { ...options, tfidf: wordsAlone });
    expect(format).toBe("csv");
    expect(dataset.vectoriser?.terms).toEqual(["dry", "from", "here", "red", "white", "wine"]);
    expect(dataset.labelNames).toEqual(["wine", "red"]);
    expect(Array.from(dataset.labels.labelIndex)).toEqual([0, 1, 0]);
    expect(notes).toEqual(['train.csv: labels are separated by ";" (\\; for one inside a label)']);
  });
  test("numbers as features; an empty cell is a zero", async () => {
    const read = await readDataset("x;label;y;id\n1,5;a;2;9\n", {
      ...options,
      delimiter: ";",
      lenient: true,
    }).catch(String);
    expect(read).toContain("found no row that is right");
    const { dataset } = await readDataset("x,label,y,id\n1.5,a,,7\n.25,b,-3e2,8\n", options);
    expect(dataset.featureNames).toEqual(["x", "y"]);
    expect(Array.from(dataset.features.values)).toEqual([1.5, 0.25, -300]);
    expect(Array.from(dataset.features.rowStart)).toEqual([0, 1, 3]);
  });
  test("data come back as they were written", async () => {
    await fc.assert(
      fc.asyncProperty(plainData, async (data) => {
        const read = await readDataset(asCsv(data), {
          ...options,
          labelNames: Array.from({ length: 7 }, (_, i) => `l${i}`),
        });
        expect(plain(read)).toEqual(data);
      }),
    );
  });
  test("columns and separators by option; a model's columns by name", async () => {
    const text = "tags,body\na b,one two\nb,two\n";
    const { dataset } = await readDataset(text, {
      ...options,
      text: "body",
      labels: "TAGS",
      labelSeparator: " ",
      tfidf: wordsAlone,
    });
    expect(dataset.labelNames).toEqual(["a", "b"]);
    const known = await readDataset("y,z,x\n1,2,3\n", {
      ...options,
      featureNames: ["x", "y"],
      requireLabels: false,
    });
    expect(plain(known).rows).toEqual([
      {
        labels: [],
        features: [
          [0, 3],
          [1, 1],
        ],
      },
    ]);
    expect(known.unknownFeatures).toBe(1);
  });
  test("the first cell with any separator decides", async () => {
    const { dataset } = await readDataset('text,labels\na b,x\na b,"y, z|w"\na b,"u,v"\n', options);
    expect(dataset.labelNames).toEqual(["x", "y, z", "w", "u,v"]);
  });
  test("several columns of labels are united, of texts joined", async () => {
    const text = "title,x,y,body\nred,a|b,a,wine\nwhite,,c,wine\n";
    const { dataset } = await readDataset(text, {
      ...options,
      text: ["Title", "body"],
      labels: ["x", "y"],
      tfidf: wordsAlone,
    });
    expect(dataset.labelNames).toEqual(["a", "b", "c"]);
    expect(Array.from(dataset.labels.rowStart)).toEqual([0, 2, 3]);
    expect(dataset.vectoriser?.terms).toEqual(["red", "white", "wine"]);
    expect(Array.from(dataset.features.columnIndex)).toEqual([0, 2, 1, 2]);
    const missing = { ...options, text: ["title", "abstract"], nameOption: (name: string) => `--${name}` };
    expect(await refusal(text, missing)).toBe(
      'train.csv, line 1: found columns "title, x, y, body", expected a column "abstract" (--text names another column)',
    );
  });
  test("Excel's line with the separator", async () => {
    for (const line of ["sep=|", '"sep=|"', "SEP=|"]) {
      const { dataset, format } = await readDataset(`${line}\r\ntext|labels\r\na, b|x;y\r\na b|y\r\n`);
      expect(format).toBe("csv");
      expect(dataset.labelNames).toEqual(["x", "y"]);
      expect(Array.from(dataset.lines ?? [])).toEqual([3, 4]);
    }
  });
  test("an empty text is a row, an empty line too where labels are not needed, and it is said", async () => {
    const text = "text,labels\nwine,b\n\nwine,d\n,\n";
    const { dataset, notes } = await readDataset(text, { ...options, tfidf: wordsAlone });
    expect(Array.from(dataset.features.rowStart)).toEqual([0, 1, 2, 2]);
    expect(Array.from(dataset.labels.labelIndex)).toEqual([0, 1]);
    expect(Array.from(dataset.lines ?? [])).toEqual([2, 4, 5]);
    expect(notes).toEqual([
      "train.csv: 1 row has no text (line 5)",
      "train.csv: 1 row without labels was left out (line 3)",
    ]);
    const all = await readDataset(text, { ...options, tfidf: wordsAlone, requireLabels: false });
    expect(Array.from(all.dataset.features.rowStart)).toEqual([0, 1, 1, 2, 2]);
    expect(Array.from(all.dataset.lines ?? [])).toEqual([2, 3, 4, 5]);
    expect(Array.from(all.dataset.unlabelled ?? [])).toEqual([0, 1, 0, 0]);
    expect(all.notes).toEqual(["train.csv: 2 rows have no text (the first in line 3)"]);
  });
  test("numbers beside a text are ignored, and it is said", async () => {
    const text = "text,labels,year,note,price\nred wine,a,1999,x,2.5\n";
    const { dataset, notes } = await readDataset(text, { ...options, tfidf: wordsAlone });
    expect(dataset.vectoriser?.terms).toEqual(["red", "wine"]);
    expect(notes).toEqual(['train.csv: the text alone is read, numbers are ignored: "year, price"']);
  });
  test("a separator inside a label is written with a backslash, whatever separates them", async () => {
    const text = "text,labels\nwine,Food\\; drink|red\\|rosé\nwine,red\\|rosé\nwine,a;b|c\\d\n";
    const { dataset } = await readDataset(text, { ...options, tfidf: wordsAlone });
    expect(dataset.labelNames).toEqual(["Food; drink", "red|rosé", "a;b", "c\\d"]);
    const given = await readDataset(text, { ...options, tfidf: wordsAlone, labelSeparator: ";" });
    expect(given.dataset.labelNames).toEqual(["Food; drink|red\\|rosé", "red\\|rosé", "a", "b|c\\d"]);
  });
  test("a hundred thousand columns", async () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `c${i}`);
    const rows = Array.from({ length: 5 }, (_, row) => `l${names.map((_, i) => `,${i % 7 === row ? 1 : 0}`).join("")}`);
    const { dataset } = await readDataset([`labels,${names.join(",")}`, ...rows].join("\n"), options);
    expect(dataset.features.columns).toBe(100_000);
    expect(Array.from(dataset.features.rowStart)).toEqual([0, 14286, 28572, 42858, 57144, 71430]);
  });
  test("tabs", async () => {
    const { dataset } = await readDataset("text\tlabels\na, b\tx\na, b\ty\n", {
      file: "train.tsv",
      tfidf: wordsAlone,
    });
    expect(dataset.vectoriser?.terms).toEqual(["a", "b"]);
  });
});

describe("a broken CSV file is refused in one sentence:", () => {
  const cases: readonly [name: string, text: string, message: string][] = [
    [
      "no labels column",
      "text,tags\na,b\n",
      'line 1: found columns "text, tags", expected a column "labels" (option labels names another column)',
    ],
    ["a column twice", "text,text,labels\na,b,c\n", 'line 1: found column "text" twice, expected each column once'],
    [
      "no features",
      "id,labels\n1,a\n",
      'line 1: found columns "id, labels", expected a column "text" or columns of numbers (option text names another column)',
    ],
    ["field count", "text,labels\na,b,c\n", "line 2: found 3 fields, expected 2 fields"],
    ["not a number", "x,labels\nabc,l\n", 'line 2: found value abc of column "x", expected a finite number'],
    ["NaN", "x,labels\nNaN,l\n", 'line 2: found value NaN of column "x", expected a finite number'],
    ["hexadecimal", "x,labels\n0x10,l\n", 'line 2: found value 0x10 of column "x", expected a finite number'],
    [
      "text after a quote",
      'text,labels\n"a"b,c\n',
      "line 2: found text after a closing quote, expected a field in quotes",
    ],
    ["open quote", 'text,labels\na,b\n"c\nd\n', "line 3: found a quoted field that does not end"],
    ["no labels", "text,labels\na,\nb,\n", "found no label in any of its 2 rows"],
    ["no rows", "text,labels\n", "found no rows, expected at least one"],
  ];
  for (const [name, text, message] of cases) {
    test(name, async () => {
      expect(await refusal(text, options)).toContain(message);
    });
  }
});

describe("damaged CSV files", () => {
  test("give a data set or one sentence", async () => {
    await fc.assert(
      fc.asyncProperty(mutated(plainData.map(asCsv)), (bytes) => neverCrashes(bytes, options)),
      { numRuns: 400 },
    );
    const cell = fc.string({ unit: fc.constantFrom(...'ab,;|"\n é') }).map((field) => quote(field, ","));
    const table = fc
      .array(fc.tuple(cell, cell), { minLength: 1 })
      .map((rows) => ["text,labels", ...rows.map((row) => row.join(","))].join("\n"));
    await fc.assert(
      fc.asyncProperty(mutated(table), (bytes) => neverCrashes(bytes, options)),
      { numRuns: 800 },
    );
  });
});
