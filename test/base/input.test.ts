// One definition of an input: every form that a person may give, and what becomes of it.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listOfInputs, type PlainFeatures, plainFeatures, plainInput, rowMaker } from "../../src/base/input.ts";
import { readDataset } from "../../src/data/reader.ts";
import { plain as plainData } from "../data/support.ts";

const refuse = (found: string, expected: string): never => {
  throw new Error(`found ${found}, expected ${expected}`);
};

/** Features as [column or name, value]. */
function pairs(features: string | PlainFeatures): unknown {
  if (typeof features === "string") return features;
  const keys = "names" in features ? features.names : Array.from(features.indices);
  return keys.map((key, i) => [key, features.values[i]]);
}

describe("one input", () => {
  const row = [
    [0, 0.5],
    [2, 1.5],
  ];
  const forms: [name: string, input: unknown, expected: unknown][] = [
    ["a text", "red wine", "red wine"],
    ["{ text }", { text: "red wine", labels: ["a"] }, "red wine"],
    ["pairs", row, row],
    ["{ features: pairs }", { features: row }, row],
    ["{ indices, values }", { indices: [0, 2], values: [0.5, 1.5] }, row],
    ["typed { indices, values }", { indices: Int32Array.of(0, 2), values: Float32Array.of(0.5, 1.5) }, row],
    ["{ features: { indices, values } }", { features: { indices: [0, 2], values: [0.5, 1.5] } }, row],
    [
      "a list of numbers",
      [0.5, 0, 1.5],
      [
        [0, 0.5],
        [1, 0],
        [2, 1.5],
      ],
    ],
    [
      "a Float32Array",
      Float32Array.of(0.5, 0),
      [
        [0, 0.5],
        [1, 0],
      ],
    ],
    ["{ features: Float64Array }", { features: Float64Array.of(0.5) }, [[0, 0.5]]],
    [
      "by name",
      { red: 1, wine: 2 },
      [
        ["red", 1],
        ["wine", 2],
      ],
    ],
    ["{ features: by name }", { features: { red: 1 } }, [["red", 1]]],
    [
      "features called text and features",
      { text: 1, features: 2 },
      [
        ["text", 1],
        ["features", 2],
      ],
    ],
    ["no features", { features: [] }, []],
    ["no features by name", {}, []],
  ];
  for (const [name, input, expected] of forms)
    test(`${name} is one row, in a list too`, () => {
      expect(pairs(plainInput(input, refuse))).toEqual(expected);
      expect(listOfInputs(input)).toBeUndefined();
      const list = [input, "another"];
      expect(listOfInputs(list)).toBe(list);
    });
  test("lists are several: of texts, of rows, of none", () => {
    for (const list of [
      [],
      ["a", "b"],
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      [row, row],
      [{ text: "a" }],
      [Float32Array.of(1)],
    ])
      expect(listOfInputs(list)).toBe(list);
    // Two numbers in each of two lists are pairs, wherever they stand.
    expect(
      listOfInputs([
        [0, 1],
        [1, 2],
      ]),
    ).toBeUndefined();
  });
  const wrong: [input: unknown, message: string][] = [
    [null, "found null, expected a text, { text }, { features } or features"],
    [7, "found 7, expected a text"],
    [undefined, "found nothing, expected a text"],
    [{ text: null }, "found null as text, expected a string"],
    [{ text: "a", features: [1] }, "found both text and features, expected one of them"],
    [{ features: { a: "1" } }, 'found value "1" of feature "a", expected a finite number'],
    [{ a: Number.NaN }, 'found value NaN of feature "a", expected a finite number'],
    [[1, Number.POSITIVE_INFINITY], "found value Infinity of feature 1, expected a finite number"],
    [[1, 1e39], "found value 1e+39 of feature 1, expected at most 3.4e38 in magnitude"],
    [[[1, 2], 3], "found 3 in a list of features, expected numbers alone, or pairs"],
    [
      { features: [[1, 2, 3]] },
      "found a list in a list of features, expected numbers alone, or pairs [column, value] alone",
    ],
    [{ indices: [1, 2], values: [1] }, "found 2 indices with 1 values, expected as many of one as of the other"],
  ];
  for (const [input, message] of wrong)
    test(`is refused: ${message}`, () => expect(() => plainInput(input, refuse)).toThrow(message));
});

describe("the row of a model's columns", () => {
  const named = rowMaker({ columns: 3, find: (name) => ["a", "b", "7"].indexOf(name) });
  const numbered = rowMaker({ columns: 3 });
  const scattered = rowMaker({ columns: 2, ids: Int32Array.of(5, 900) });
  const of = (make: typeof named, input: unknown): [number[], number[], number] => {
    const { columns, values, coverage } = make(plainFeatures(input, refuse), refuse);
    return [Array.from(columns), Array.from(values), coverage];
  };

  test("has its features by name, by number and by the ids of the training data, sorted and without zeros", () => {
    expect(of(named, { b: 1, a: 2, z: 3, 2: 0 })).toEqual([[0, 1], [2, 1], 3 / 4]);
    expect(of(named, { 7: 5, 0: 1 })).toEqual([[0, 2], [1, 5], 1]); // a name before a number
    expect(
      of(numbered, [
        [2, 1],
        [0, 3],
      ]),
    ).toEqual([[0, 2], [3, 1], 1]);
    expect(
      of(scattered, [
        [900, 1],
        [6, 1],
        [5, 2],
      ]),
    ).toEqual([[0, 1], [2, 1], 2 / 3]);
    expect(of(numbered, [])).toEqual([[], [], 0]);
  });
  test("of all columns has as many as the model", () => {
    expect(of(numbered, [0, 1, 2])).toEqual([[1, 2], [1, 2], 1]);
    expect(of(named, Float32Array.of(1, 0, 0))[0]).toEqual([0]);
    expect(() => of(numbered, [1, 2])).toThrow("found 2 values, expected 3, one for each feature of the model");
    expect(() => of(numbered, [1, 2, 3, 4])).toThrow("found 4 values, expected 3");
    expect(() => of(scattered, new Array(900).fill(0))).toThrow("found 900 values, expected at least 901");
    expect(of(scattered, [...new Array(900).fill(0), 7])).toEqual([[1], [7], 2 / 901]);
  });
  test("is refused where a feature is none, or comes twice", () => {
    for (const index of [-1, 3, 0.5, Number.NaN])
      expect(() => of(numbered, { indices: [index], values: [1] })).toThrow("expected a whole number from 0 to 2");
    expect(() => of(numbered, { red: 1 })).toThrow('found feature "red", expected a number: this model\'s features');
    expect(() =>
      of(numbered, [
        [1, 1],
        [1, 2],
      ]),
    ).toThrow("found feature 1 twice, expected each feature once");
  });
  test("is that of a data set, whatever form it is given in", async () => {
    const value = fc.constantFrom(0, 1, -2.5, 0.125);
    const rows = fc.array(fc.array(value, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(rows, async (all) => {
        const make = rowMaker({ columns: 4 });
        const asPairs = all.map((row) => row.map((each, column) => [column, each]).reverse());
        const forms = [
          all,
          all.map((row) => Float32Array.from(row)),
          asPairs,
          asPairs.map((row) => Object.fromEntries(row)),
          asPairs.map((row) => ({ indices: row.map(([at]) => at), values: row.map(([, each]) => each) })),
        ];
        const [expected, ...others] = await Promise.all(
          forms.map(async (list) => {
            const data = (list as unknown[]).map((features) => ({ features, labels: [0] }));
            return plainData(await readDataset(data as never)).rows.map(({ features }) => features);
          }),
        );
        for (const found of others) expect(found).toEqual(expected);
        for (const list of forms)
          (list as unknown[]).forEach((features, i) => {
            const [columns, values] = of(make, features);
            expect(columns.map((column, at) => [column, values[at]])).toEqual(expected[i]);
          });
      }),
      { numRuns: 30 },
    );
  });
});
