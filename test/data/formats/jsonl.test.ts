import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repeatedKey } from "../../../src/base/jsonkeys.ts";
import { readDataset } from "../../../src/data/reader.ts";
import type { TfidfVectoriser } from "../../../src/data/tfidf.ts";
import {
  mutated,
  neverCrashes,
  type PlainData,
  type PlainRow,
  plain,
  plainData,
  refusal,
  wordsAlone,
} from "../support.ts";

const options = { file: "train.jsonl" } as const;

type Form = (features: PlainRow["features"]) => unknown;

const FORMS: Readonly<Record<string, Form>> = {
  pairs: (features) => features,
  object: (features) => Object.fromEntries(features),
  parallel: (features) => ({ indices: features.map(([c]) => c), values: features.map(([, v]) => v) }),
  dense: (features) => {
    const row = new Array<number>(40).fill(0);
    for (const [column, value] of features) row[column] = value;
    return row;
  },
};

function asJsonl(data: PlainData, form: Form): string {
  return data.rows.map(({ labels, features }) => JSON.stringify({ labels, features: form(features) })).join("\n");
}

function labelNamesOf(result: Awaited<ReturnType<typeof readDataset>>): string[][] {
  const names = result.dataset.labelNames ?? [];
  return plain(result).rows.map(({ labels }) => labels.map((id) => names[id]));
}

describe("JSONL with features", () => {
  test("comes back as it was written, in every form", async () => {
    await fc.assert(
      fc.asyncProperty(plainData, fc.constantFrom(...Object.values(FORMS)), async (data, form) => {
        const read = await readDataset(asJsonl(data, form), { ...options, columns: 40, labelCount: 7 });
        expect(plain(read)).toEqual(data);
      }),
    );
  });
  test("by name, with labels by name", async () => {
    const text =
      '{"features":{"red":1,"tall":2.5},"labels":["b","a"]}\n{"label":"a","features":{"tall":-1,"__proto__":3}}';
    const read = await readDataset(text, options);
    expect(read.dataset.featureNames).toEqual(["red", "tall", "__proto__"]);
    expect(plain(read).rows.map(({ features }) => features)).toEqual([
      [
        [0, 1],
        [1, 2.5],
      ],
      [
        [1, -1],
        [2, 3],
      ],
    ]);
    expect(labelNamesOf(read)).toEqual([["b", "a"], ["a"]]);
  });
  test("keys that look like numbers are column numbers, unless it is said otherwise", async () => {
    const text = '{"features":{"2020":1},"labels":[0]}\n';
    expect((await readDataset(text, options)).dataset.features.columns).toBe(2021);
    expect((await readDataset(text, { ...options, featureKeys: "names" })).dataset.featureNames).toEqual(["2020"]);
    expect(await refusal(`${text}{"features":{"red":1},"labels":[0]}`, options)).toBe(
      'train.jsonl, line 2: found feature "red", expected a column number as in the rows before (or featureKeys "names")',
    );
  });
  test("with the names of a model: unknown features are left out, unknown labels come after", async () => {
    const text = '{"features":{"c":1,"x":9,"a":2},"labels":["new","two"]}\n';
    const known = { ...options, featureNames: ["a", "b", "c"], labelNames: ["one", "two"] };
    const read = await readDataset(text, known);
    expect(plain(read)).toEqual({
      columns: 3,
      labels: 3,
      rows: [
        {
          labels: [1, 2],
          features: [
            [0, 2],
            [2, 1],
          ],
        },
      ],
    });
    expect(read.dataset.labelNames).toEqual(["one", "two", "new"]);
    expect(read.unknownFeatures).toBe(1);
  });
});

describe("JSONL with texts", () => {
  test("learns a vocabulary and can use one", async () => {
    const text = '{"text":"Red wine, red meat","labels":["food"]}\n{"text":"white wine","labels":["drink","food"]}';
    const { dataset } = await readDataset(text, { ...options, tfidf: wordsAlone });
    expect(dataset.vectoriser?.terms).toEqual(["meat", "red", "white", "wine"]);
    expect(dataset.features.columns).toBe(4);
    expect(dataset.labelNames).toEqual(["food", "drink"]);
    const again = await readDataset('{"body":"wine tasting"}', {
      ...options,
      text: "body",
      requireLabels: false,
      vectoriser: dataset.vectoriser as TfidfVectoriser,
    });
    expect(plain(again)).toEqual({ columns: 4, labels: 0, rows: [{ labels: [], features: [[3, 1]] }] });
  });
  test("vocabulary does not see rows that were skipped", async () => {
    const text = '{"text":"alpha","labels":[true]}\n{"text":"beta","labels":["x"]}\n{"labels":["y"],"text":7}';
    const { dataset, skipped } = await readDataset(text, {
      ...options,
      lenient: true,
      tfidf: wordsAlone,
    });
    expect(dataset.vectoriser?.terms).toEqual(["beta"]);
    expect(dataset.labelNames).toEqual(["x"]);
    expect(skipped.rows.map(({ line, reason }) => [line, reason])).toEqual([
      [1, "not a label"],
      [3, "not a text"],
    ]);
  });
  test("an empty name in a list is no label", async () => {
    const { dataset } = await readDataset('{"text":"a","labels":["", "x", " "]}\n{"text":"b","labels":[""]}', options);
    expect(dataset.labelNames).toEqual(["x"]);
    expect([...dataset.labels.rowStart]).toEqual([0, 1, 1]);
  });
  test("no term often enough", async () => {
    const twice = { ...options, tfidf: { ...wordsAlone, minDocuments: 2 } };
    expect(await refusal('{"text":"alpha","labels":["x"]}', twice)).toBe(
      "train.jsonl: found no term that occurs in at least 2 of 1 text, expected more texts, or another `minDocuments` (--min-df)",
    );
    const both = '{"text":"alpha","labels":["x"]}\n{"text":"alpha","labels":["y"]}';
    expect(await refusal(both, { ...options, tfidf: { ...wordsAlone, maxDocuments: 0.5 } })).toBe(
      "train.jsonl: found no term that occurs in at least 1 and at most 1 of 2 texts, expected more texts, or another `minDocuments` (--min-df) or `maxDocuments` (--max-df)",
    );
  });
});

describe("labels in one text", () => {
  const rows = (...labels: unknown[]): string => labels.map((each) => row({ labels: each })).join("\n");
  const row = (fields: object): string => JSON.stringify({ features: [1], ...fields });

  test("are split as in CSV, trimmed, and it is said", async () => {
    const read = await readDataset(rows("a|b, c", "a ", " b, c|d", ""), options);
    expect(labelNamesOf(read)).toEqual([["a", "b, c"], ["a"], ["b, c", "d"], []]);
    expect(read.notes).toEqual(['train.jsonl: labels are separated by "|" (\\| for one inside a label)']);
  });
  test("are kept whole in a list, on demand, or where the model knows them", async () => {
    const list = await readDataset(rows(["a|b", " a"], ["a"]), options);
    expect(labelNamesOf(list)).toEqual([["a|b", "a"], ["a"]]);
    expect(list.notes).toEqual([]);
    const whole = await readDataset(rows("a|b", "a"), { ...options, labelSeparator: "" });
    expect(labelNamesOf(whole)).toEqual([["a|b"], ["a"]]);
    const known = await readDataset(rows("a|b", "a|c"), { ...options, labelNames: ["a|b", "a", "c"] });
    expect(labelNamesOf(known)).toEqual([["a|b"], ["a", "c"]]);
  });
  test("of several keys are united, texts of several keys joined", async () => {
    const text = [
      row({ x: ["a"], y: "b|a", features: undefined, title: "red", body: "wine" }),
      row({ y: ["c"], features: undefined, body: "white wine", title: null }),
    ].join("\n");
    const several = { ...options, labels: ["x", "y"], text: ["title", "body"] };
    const read = await readDataset(text, { ...several, tfidf: wordsAlone });
    expect(labelNamesOf(read)).toEqual([["a", "b"], ["c"]]);
    expect(read.dataset.vectoriser?.terms).toEqual(["red", "white", "wine"]);
    expect(plain(read).rows.map(({ features }) => features.map(([column]) => column))).toEqual([
      [0, 2],
      [1, 2],
    ]);
  });
  test("are read from objects within objects by a key with a dot", async () => {
    const text = '{"meta":{"title":"red","tags":["a"]},"a.b":"x"}\n';
    const keys = { text: "meta.title", labels: "meta.tags", id: "a.b", tfidf: wordsAlone };
    const { dataset } = await readDataset(text, { ...options, ...keys });
    expect([dataset.vectoriser?.terms, dataset.labelNames, dataset.ids]).toEqual([["red"], ["a"], ["x"]]);
  });
});

describe("a broken JSONL file is refused in one sentence:", () => {
  const cases: readonly [line: string, message: string][] = [
    ["{nope", 'found "{nope", expected a JSON object on one line'],
    ['"red"', 'found "red", expected a JSON object such as'],
    ["null", "found null, expected a JSON object"],
    ['{"features":{"a":NaN},"labels":["x"]}', "found NaN, expected a finite number"],
    ['{"features":{"a":1e999},"labels":["x"]}', 'found value Infinity of feature "a", expected a finite number'],
    ['{"features":{"a":1e39},"labels":["x"]}', 'found value 1e+39 of feature "a", expected at most 3.4e38'],
    ['{"features":{"a":"1"},"labels":["x"]}', 'of feature "a", expected a finite number'],
    ['{"features":{"a":1,"a":2},"labels":["x"]}', 'found key "a" twice, expected each key once'],
    ['{"features":[[1,1],[1,2]],"labels":["x"]}', "found feature id 1 twice"],
    ['{"features":[[-1,1]],"labels":["x"]}', "found feature id -1, expected a number from 0 to"],
    ['{"features":[[1.5,1]],"labels":["x"]}', "found feature id 1.5, expected a number from 0 to"],
    [
      '{"features":[[1,2],3],"labels":["x"]}',
      "found 3 in a list of features, expected numbers alone, or pairs [column, value] alone",
    ],
    ['{"features":{"indices":[1],"values":[]},"labels":["x"]}', "found 1 indices with 0 values"],
    ['{"features":"red","labels":["x"]}', 'found features "red", expected an object with numbers, a list of numbers'],
    [
      '{"features":{"a":1},"tags":["x"]}',
      'found keys "features, tags", expected "labels" with a list of labels (option labels names another key)',
    ],
    ['{"features":{"a":1},"labels":[{}]}', "found label an object, expected a name or a number"],
    ['{"features":{"a":1},"labels":[true]}', "found label true, expected a name or a number"],
    ['{"features":{"a":1},"labels":["x",1]}', "found label 1, expected a string, as the labels before it"],
    ['{"features":{"a":1},"labels":[1.5]}', "found label id 1.5, expected a number from 0 to"],
    [
      '{"labels":["x"],"body":"a"}',
      'found keys "labels, body", expected "text" or "features" (option text names another key)',
    ],
    ['{"text":"a","features":{},"labels":["x"]}', 'found both "text" and "features", expected one of them'],
    ['{"text":7,"labels":["x"]}', "found 7 as text, expected a string"],
    ['{"features":{"a":1},"labels":[]}', "found no label in any of its 1 rows"],
  ];
  for (const [line, message] of cases) {
    test(line, async () => {
      expect(await refusal(line, options)).toContain(message);
    });
  }
  test("names of features for a model that has none", async () => {
    const text = '{"features":{"a":1},"labels":["x"]}';
    for (const known of [{ columns: 3 }, { columnIds: Int32Array.of(4, 7) }])
      expect(await refusal(text, { ...options, ...known })).toBe(
        'train.jsonl, line 1: found a feature called "a", expected numbers: the model\'s features have no names',
      );
  });
  test("texts after features", async () => {
    const text = '{"features":{"a":1},"labels":["x"]}\n{"text":"a","labels":["x"]}';
    expect(await refusal(text, options)).toContain('line 2: found "text", expected "features" as in the rows');
  });
});

describe("damaged JSONL files", () => {
  test("give a data set or one sentence", async () => {
    const source = fc
      .tuple(plainData, fc.constantFrom(...Object.values(FORMS)))
      .map(([data, form]) => asJsonl(data, form));
    await fc.assert(
      fc.asyncProperty(mutated(source), (bytes) => neverCrashes(bytes, options)),
      { numRuns: 600 },
    );
    const texts = fc.array(fc.record({ text: fc.string({ unit: "grapheme" }), labels: fc.array(fc.string()) }), {
      minLength: 1,
    });
    const lines = texts.map((rows) => rows.map((row) => JSON.stringify(row)).join("\n"));
    await fc.assert(
      fc.asyncProperty(mutated(lines), (bytes) => neverCrashes(bytes, { ...options, tfidf: { charNgrams: [2, 3] } })),
      { numRuns: 600 },
    );
  });
});

test("keys that come twice are found, whatever the JSON", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(repeatedKey(json)).toBeUndefined();
    }),
    { numRuns: 300 },
  );
  const twice = (json: string): string | undefined => repeatedKey(json);
  expect(twice('{"a":{"b":1,"c":[{"b":2}]},"b":"\\"a\\":"}')).toBeUndefined();
  expect(twice('[{"a\\\\":1 , "x":[] , "a\\u005c" : 2}]')).toBe("a\\");
  expect(twice(`${"[".repeat(50_000)}{"a":1,"a":{"__proto__":2}}${"]".repeat(50_000)}`)).toBe("a");
});
