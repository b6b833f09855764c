import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { characterNgrams, tokenise, UNSPACED } from "../../src/base/text.ts";

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
    ["日本語 text 中", ["日", "日本", "本", "本語", "語", "text", "中"]],
    ["東京2020年 カメラー", ["東", "東京", "京", "2020", "年", "カメ", "メラ", "ラー"]],
    ["食べる", ["食", "食べ", "べる"]],
    ["สวัสดี", ["สว", "สวั", "วั", "วัส", "ัส", "ัสด", "สด", "สดี", "ดี"]],
    ["한국어 문장", ["한국어", "문장"]],
    ['<p>Fish &amp; chips<br/>and <a href="x.html">more</a></p><!-- no -->', ["fish", "chips", "and", "more"]],
    ["caf&eacute; &Auml;rger&nbsp;Stra&szlig;e &#233;t&#xE9;", ["café", "ärger", "straße", "été"]],
    [
      "#include <stdio.h> List<String> a<b, c>d; AT&T R&D; &#x110000;",
      "include stdio h list string a b c d at t r d".split(" "),
    ],
    ["😀 ... \ud800 !", []],
    ["", []],
  ];
  for (const [text, tokens] of cases) {
    test(JSON.stringify(text), () => {
      expect(tokenise(text)).toEqual(tokens.map((token) => token.normalize("NFKC")));
    });
  }
  test("need no normalising in Latin and Cyrillic texts: each character is what the general rules make of it", () => {
    const general = "\u0301\u0302 "; // marks alone, which send a text through them
    for (let unit = 0; unit < 0x10000; unit++) {
      const character = String.fromCharCode(unit);
      for (const text of [`${character} É${character}ñ`, `l’${character}'s a${character}B`]) {
        const [, ...expected] = tokenise(`${general}${text}`);
        if (String(tokenise(text)) !== String(expected)) expect([unit, tokenise(text)]).toEqual([unit, expected]);
      }
    }
  });
  test("of markup cost time that grows with its length alone", () => {
    for (const part of ["<", "<a ", "<a x=", "<!--", "&", "&#1", "<p", "&eacute"])
      expect(tokenise(part.repeat(200_000 / part.length)).length).toBeLessThanOrEqual(100_000);
  });
  test("of words are the words again, in any script; those of runs without spaces are parts of them", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 30 }), (text) => {
        for (const token of tokenise(text)) {
          expect(token.length).toBeGreaterThan(0);
          expect(token).not.toMatch(/[\s#_]/);
          const again = tokenise(token);
          expect(again).toContain(token);
          if (!UNSPACED.test(token)) expect(again).toEqual([token]);
          for (const part of again) expect(token).toContain(part);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe("n-grams", () => {
  test("of characters, bounded by the word", () => {
    const terms: string[] = [];
    characterNgrams(["cat", "𝒳"], 3, 4, (term) => terms.push(term));
    expect(terms).toEqual(["#_ca", "#cat", "#at_", "#_cat", "#cat_", "#_𝒳_"]);
  });
});
