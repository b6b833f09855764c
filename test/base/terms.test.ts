import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fieldOf, leadLength, type TermRules, TermScanner, TextRows, wordsOf } from "../../src/base/terms.ts";
import { CHARACTERS_MARK, LEAD_MARK } from "../../src/base/text.ts";

const rules = fc.record({
  wordNgrams: fc.integer({ min: 0, max: 4 }),
  charNgrams: fc.option(fc.constantFrom<[number, number]>([1, 1], [2, 4], [3, 5]), { nil: undefined }),
  leadWords: fc.option(fc.constant(0.7), { nil: undefined }),
  charWeight: fc.option(fc.constant(0.5), { nil: undefined }),
});

interface SomeRules {
  wordNgrams: number;
  charNgrams?: [number, number] | undefined;
  leadWords?: number | undefined;
  charWeight?: number | undefined;
}

function rulesOf({ wordNgrams, charNgrams, leadWords, charWeight }: SomeRules): TermRules {
  return {
    ...{ wordNgrams, sublinear: true, idf: true, normalise: true },
    ...(charNgrams && { charNgrams }),
    ...(leadWords && { leadWords }),
    ...(charWeight && { charWeight }),
  };
}

/** The terms by their definition, in any order. */
function expectedTerms(text: string, how: TermRules): string[] {
  const words = wordsOf(text, undefined);
  const terms = words.flatMap((_, i) =>
    Array.from({ length: Math.min(how.wordNgrams, words.length - i) }, (_, n) => words.slice(i, i + n + 1).join(" ")),
  );
  const [least, most] = how.charNgrams || [1, 0];
  for (const word of words) {
    const characters = Array.from(`_${word}_`);
    for (let n = least; n <= most; n++)
      for (let i = 0; i + n <= characters.length; i++)
        terms.push(`${CHARACTERS_MARK}${characters.slice(i, i + n).join("")}`);
  }
  const lead = how.leadWords ? leadLength(words.length) : 0;
  terms.push(...words.slice(0, lead).map((word) => `${LEAD_MARK}${word}`));
  return terms.map((term) => `${fieldOf(how, term.charCodeAt(0))} ${term}`).sort();
}

/** Numbers for terms, and a scanner that gives them. */
class Scanned {
  readonly terms: string[] = [];
  readonly scanner: TermScanner;

  constructor(rules: TermRules) {
    const numbers = new Map<string, number>();
    this.scanner = new TermScanner(rules, (term) => {
      if (!numbers.has(term)) numbers.set(term, this.terms.push(term) - 1);
      return numbers.get(term) as number;
    });
  }

  of(text: string): string[] {
    const found: string[] = [];
    this.scanner.scan(text, (number, field) => found.push(`${field} ${this.terms[number]}`));
    return found.sort();
  }
}

/** Words with what the rules are about: apostrophes, capitals, marks, sigmas, ligatures, scripts, surrogates. */
const piece = fc.constantFrom(
  ..."abzAZ019 _-.'’".split(""),
  ..."éÉßİıΣσςΟǅŉ²½µ¨ʼ".split(""),
  "e\u0301",
  "\u0301",
  "Привет",
  "ЁЖ",
  "Việt",
  "ﬀ",
  "日本",
  "ไทย",
  "한",
  "\u1112\u1161\u11ab",
  "שלום",
  "שָׁלוֹם",
  "مرحبا",
  "𝒳",
  "😀",
  "\ud800",
  "…",
  "“",
  "\u00a0",
  "\u2028",
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));

describe("the terms of a text", () => {
  test("are found again by their numbers, whatever the text, and whatever was read before", () => {
    const scanners = new Map<string, Scanned>();
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: "binary" }), fc.string()), rules, (each, some) => {
        const how = rulesOf(some);
        const key = JSON.stringify(how);
        const scanned = scanners.get(key) ?? new Scanned(how);
        scanners.set(key, scanned);
        expect(scanned.of(each)).toEqual(expectedTerms(each, how));
      }),
      { numRuns: 3000 },
    );
  });
  test("of a long text, of more words than are remembered, and of a long word", () => {
    const how = rulesOf({ wordNgrams: 2, charNgrams: [2, 4], leadWords: 0.7 });
    const words = Array.from({ length: 90_000 }, (_, i) => i.toString(36));
    const long = `${words.join(" ")} ${"x".repeat(70_000)} 0 1`;
    const scanned = new Scanned(how);
    // As text: comparing half a million numbers one by one takes seconds.
    const expected = JSON.stringify(expectedTerms(long, how));
    for (let times = 0; times < 2; times++) expect(JSON.stringify(scanned.of(long)) === expected).toBe(true);
  });
  test("that count are words, or runs of characters where there are no words", () => {
    for (const [how, expected] of [
      [rulesOf({ wordNgrams: 2, charNgrams: [2, 2], leadWords: 0.7 }), ["a", "b"]],
      [rulesOf({ wordNgrams: 0, charNgrams: [2, 2] }), ["a", "a", "b", "b"]], // _a a_ _b b_
    ] as const) {
      const counted: string[] = [];
      new Scanned(how).scanner.scan("a b", (_, __, counts, word) => counts && counted.push(word));
      expect(counted).toEqual(expected);
    }
  });
});

describe("the row of a text", () => {
  test("by hand: counts, out-of-vocabulary terms in the length, coverage", () => {
    const how = { ...rulesOf({ wordNgrams: 1 }), sublinear: false, oovInNorm: true };
    const rows = new TextRows({ rules: how, idf: (column) => column + 1, unknownWeight: 2 });
    // Column 3 twice, column 0 once, two words that are unknown.
    for (const column of [3, -1, 0, 3, -1]) rows.add(column, 0, true);
    const length = Math.sqrt(8 * 8 + 1 + 2 * 4);
    const { columns, values, coverage } = rows.end();
    expect([Array.from(columns), coverage]).toEqual([[0, 3], 3 / 5]);
    expect(values).toEqual(Float32Array.of(1 / length, 8 / length));
    expect(rows.end()).toEqual({ columns: new Int32Array(), values: new Float32Array(), coverage: 0 });
  });
});
