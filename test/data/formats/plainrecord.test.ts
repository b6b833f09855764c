// Lines of features that are read from their bytes come out as they do by JSON.parse: numbers, names, refusals and all.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReadOptions } from "../../../src/data/options.ts";
import { readDataset } from "../../../src/data/reader.ts";

/** To keep nothing is asked for of no key: it changes nothing but the way a line is read. */
const SLOWLY = { keep: [] } as const;

async function outcomeOf(bytes: Uint8Array, options: ReadOptions): Promise<unknown> {
  try {
    const { dataset, ...rest } = await readDataset(bytes, {
      file: "train.jsonl",
      format: "jsonl",
      ...options,
    });
    const { kept: _, ...plain } = dataset;
    return JSON.stringify({ ...plain, ...rest });
  } catch (error) {
    return (error as Error).message;
  }
}

const piece = (...choices: string[]): fc.Arbitrary<string> => fc.constantFrom(...choices);
/** Mostly what is usual. */
const mostly = (usual: fc.Arbitrary<string>, odd: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd });
const blank = mostly(piece("", " "), piece("\t", "  ", "\r", "\v"));

const name = mostly(
  piece('"red"', '"tall"', '"w1"', '"w2"', '"w3"', '"w4"', '"größe"', '"a longer name"'),
  piece(
    '"re\\u0064"',
    '"\\"',
    '"\\""',
    '"12"',
    '"0"',
    '""',
    '"__proto__"',
    '"indices"',
    '"\\ud800"',
    "red",
    '"a\tb"',
  ),
);
const number = mostly(
  fc.oneof(
    piece(
      "0",
      "1",
      "-1",
      "0.5",
      "2.25",
      "1e3",
      "1.5E-3",
      "-0",
      "0.1",
      "123456789012345",
      "0.30000000000000004",
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 }).map(String),
  ),
  piece(
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "1e400",
    "3.5e38",
    "1e-400",
    "NaN",
    "null",
    '"1"',
    "[1]",
    "-",
    "9".repeat(500),
  ),
);
const label = mostly(
  piece('"a"', '"b"', '"c"', '" a "', '"b|c"', '"ü"'),
  piece('""', '" "', "3", "null", '{"label":"a"}', '"\\u0061"'),
);
const id = mostly(piece('"x"', '"y"', '"\\n"'), piece("7", "null", '""'));

/** Entries of a list or an object, with blanks around them. */
function entries(entry: fc.Arbitrary<string>, open: string, close: string): fc.Arbitrary<string> {
  return fc
    .tuple(blank, fc.array(fc.tuple(entry, blank), { maxLength: 5 }))
    .map(([first, all]) => `${open}${first}${all.map(([one, after]) => one + after).join(",")}${close}`);
}
const pair = fc
  .tuple(name, blank, number)
  .map(([key, between, value]) => `${key}${between}:${between}${value}`);
const byId = fc
  .tuple(piece('"0"', '"7"', '"31"', '"07"', '"x"'), number)
  .map(([key, value]) => `${key}:${value}`);
const numbered = piece("0", "1", "12", "-1", "1.5", '"a"', "99999999999999999");

function line(features: fc.Arbitrary<string>, labels: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const parts = fc.tuple(
    entries(features, "{", "}").map((object) => `"features":${object}`),
    entries(labels, "[", "]").map((list) => `"labels": ${list}`),
    mostly(
      piece(""),
      id.map((value) => `"id":${value}`),
    ),
    mostly(
      piece(""),
      piece('"note":"x"', '"text":"x"', '"labels":["a"]', '"label":"c"', '"features":{}', '"id":"z"'),
    ),
  );
  return fc
    .tuple(parts, blank, fc.boolean(), mostly(piece(""), piece("x", "}", ",", " ")))
    .map(([all, after, reverse, rest]) => {
      const given = all.filter((part) => part !== "");
      return `{${(reverse ? given.reverse() : given).join(`,${after}`)}}${after}${rest}`;
    });
}

const file = (one: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      fc.array(one, { minLength: 1, maxLength: 8 }),
      fc.constantFrom("\n", "\r\n"),
      fc.nat(400),
      fc.nat(255),
    )
    .map(([lines, ends, at, byte]) => {
      const bytes = new TextEncoder().encode(lines.join(ends));
      if (at < 20 && bytes.length > 0) bytes[(at * 7919) % bytes.length] = byte || 1; // one byte damaged now and then
      return bytes;
    });

const models: fc.Arbitrary<ReadOptions> = fc.constantFrom(
  {},
  {},
  { lenient: true },
  { lenient: true, featureKeys: "names" as const },
  { lenient: true, featureNames: ["red", "tall", "w9", "größe"], labelNames: ["b", "a"] },
  { lenient: true, labelNames: ["b", "a"], unknownLabels: "error" as const },
  { lenient: true, columns: 20, labelCount: 5 },
);

describe("a line of features", () => {
  for (const [what, one] of Object.entries({
    names: line(pair, label),
    "column numbers": line(byId, numbered),
  })) {
    test(`by ${what} is the same from its bytes and by JSON.parse`, async () => {
      await fc.assert(
        fc.asyncProperty(file(one), models, async (bytes, options) => {
          const slow = await outcomeOf(bytes, { ...options, ...SLOWLY });
          expect(await outcomeOf(bytes, options)).toEqual(slow);
        }),
        { numRuns: 600 },
      );
    });
  }

  test("has its names numbered anew where a broken row had brought them", async () => {
    const row = (...names: string[]): string =>
      `{"labels":["a"],"features":{${names.map((each) => `"${each}":1`).join()}}}`;
    const lines = [row("one"), row("two", "three"), `${row("four", "five")}x`, row("six", "four")];
    const broken = row("seven", "six", "six");
    const { dataset, skipped } = await readDataset([...lines, broken, row("seven", "one")].join("\n"), {
      format: "jsonl",
      lenient: true,
    });
    expect(dataset.featureNames).toEqual(["one", "two", "three", "six", "four", "seven"]);
    expect([...dataset.features.columnIndex]).toEqual([0, 1, 2, 3, 4, 0, 5]);
    expect(skipped.rows.map(({ message }) => message.split("found ")[1])).toEqual([
      expect.stringContaining("expected a JSON object on one line"),
      'key "six" twice, expected each key once',
    ]);
  });
});
