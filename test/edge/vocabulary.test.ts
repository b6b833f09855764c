// Names are found where they were put, and nothing else is.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { vocabularyBytes } from "../../src/compact/names.ts";
import { Vocabulary } from "../../src/edge/vocabulary.ts";
import { words } from "./support.ts";

/** The answer of `find` as a feature number. */
function finder(names: readonly string[]): (name: string) => number {
  const { bytes, order } = vocabularyBytes(names);
  const vocabulary = new Vocabulary(bytes, names.length, "the test");
  return (name) => {
    const position = vocabulary.find(name);
    return position < 0 || !order ? position : order[position];
  };
}

const name = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "b", "é", "漢", "\u{1f98a}", "\uffee"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 6,
});

describe("a vocabulary", () => {
  test("finds each name at its place, in any order and script, and no other", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 1, maxLength: 70 }),
        fc.array(name, { maxLength: 30 }),
        (names, others) => {
          const find = finder(names);
          names.forEach((each, i) => {
            expect(find(each)).toBe(i);
          });
          for (const other of others) expect(find(other)).toBe(names.indexOf(other));
          for (const each of names) expect(find(`${each}x`)).toBe(names.indexOf(`${each}x`));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("does not take the end of a name for the whole of another", () => {
    const find = finder(["abx", "z"]);
    expect(["abz", "ab", "abx", "x", "z"].map(find)).toEqual([-1, -1, 0, -1, 1]);
  });

  test("of sorted words needs no order and about half their bytes", () => {
    const terms = words(2000, 5);
    const { bytes, order } = vocabularyBytes(terms);
    expect(order).toBe(undefined);
    expect(bytes.length).toBeLessThan(0.75 * new TextEncoder().encode(terms.join("")).length);
    const find = finder(terms);
    expect(terms.every((term, i) => find(term) === i)).toBe(true);
  });

  test("orders names by their bytes, where code units would order them otherwise", () => {
    const names = ["\u{1f98a}", "\uffee"]; // sorted by code units: D83E before FFEE
    expect(vocabularyBytes(names).order).toEqual(Int32Array.of(1, 0));
    const find = finder(names);
    expect(names.map(find)).toEqual([0, 1]);
  });

  test("refuses names that come twice, and halves of characters", () => {
    expect(() => vocabularyBytes(["a", "b", "a"])).toThrow('found "a" twice, expected each once');
    expect(() => vocabularyBytes(["\ud800"])).toThrow("expected whole Unicode characters");
  });

  const broken: [what: string, bytes: number[], size: number, message: string][] = [
    ["fewer bytes than names", [0, 1, 97], 2, "found 3 bytes in the vocabulary, expected 2 names"],
    ["names that fall", [0, 1, 98, 0, 1, 97], 2, "found names that do not rise"],
    ["a name twice", [0, 1, 97, 1, 0], 2, "found names that do not rise"],
    ["more shared than there is", [0, 1, 97, 2, 1, 98], 2, "found 2 shared bytes"],
    ["fewer shared than there are", [0, 2, 97, 97, 0, 2, 97, 98], 2, "found names that do not rise"],
    ["a first name that shares", [1, 1, 97], 1, "found 1 shared bytes"],
    ["a name beyond the end", [0, 9, 97, 98], 1, "found an entry beyond the end"],
    ["a number without end", [0, 255, 255, 255, 255, 255, 0], 1, "found a number that does not end"],
    ["bytes behind the last name", [0, 1, 97, 0], 1, "found 1 bytes after the last entry"],
  ];
  for (const [what, bytes, size, message] of broken)
    test(`refuses ${what}`, () => {
      expect(() => new Vocabulary(Uint8Array.from(bytes), size, "small.safetensors")).toThrow(message);
    });
});
