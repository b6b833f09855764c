import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { characterNgrams, tokenise, wordNgrams } from "../../src/data/text.ts";

describe("words", () => {
  const cases: readonly [text: string, tokens: string[]][] = [
    ["The quick, brown fox!", ["the", "quick", "brown", "fox"]],
    ["Don't -- it’s 'quoted'", ["don't", "it's", "quoted"]],
    ["rock'n'roll o'clock'", ["rock'n'roll", "o'clock"]],
    ["B2B in 2024: 3.14 foo_bar", ["b2b", "in", "2024", "3", "14", "foo", "bar"]],
    ["Ärger in STRASSE, straße", ["ärger", "in", "strasse", "straße"]],
    ["ＡＢＣ ﬁne ①", ["abc", "fine", "1"]],
    ["cafe\u0301 café", ["café", "café"]],
    ["ΟΔΟΣ Привет", ["οδος".replace(/σ$/, "ς"), "привет"]],
    ["हिन्दी भाषा", ["हिन्दी", "भाषा"]],
    ["日本語 text 中", ["日本", "本語", "text", "中"]],
    ["東京2020年 カメラー", ["東京", "2020", "年", "カメ", "メラ", "ラー"]],
    ["สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]],
    ["한국어 문장", ["한국어", "문장"]],
    ["😀 ... \ud800 !", []],
    ["", []],
  ];
  for (const [text, tokens] of cases) {
    test(JSON.stringify(text), () => {
      expect(tokenise(text)).toEqual(tokens.map((token) => token.normalize("NFKC")));
    });
  }
  test("of words are the words again, in any script", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 30 }), (text) => {
        for (const token of tokenise(text)) {
          expect(token.length).toBeGreaterThan(0);
          expect(token).not.toMatch(/[\s#_]/);
          expect(tokenise(token)).toEqual([token]);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe("n-grams", () => {
  test("of words", () => {
    const terms: string[] = [];
    wordNgrams(["a", "b", "c"], 2, (term) => terms.push(term));
    expect(terms).toEqual(["a", "a b", "b", "b c", "c"]);
  });
  test("of characters, bounded by the word", () => {
    const terms: string[] = [];
    characterNgrams(["cat", "𝒳"], 3, 4, (term) => terms.push(term));
    expect(terms).toEqual(["#_ca", "#cat", "#at_", "#_cat", "#cat_", "#_𝒳_"]);
  });
});
