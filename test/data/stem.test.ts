// Stems: forms of a word are one term, the same in every runtime; a model remembers the language; nothing a text holds costs
// more than its length.

import * as english from "@orama/stemmers/english";
import * as finnish from "@orama/stemmers/finnish";
import * as german from "@orama/stemmers/german";
import { describe, expect, test } from "vitest";
import { Stems } from "../../src/base/stem.ts";
import { tokenise } from "../../src/base/text.ts";
import { NewWords } from "../../src/data/newwords.ts";
import { readDataset } from "../../src/data/reader.ts";
import { loadedStemmer, STEM_LANGUAGES, useStemmer } from "../../src/data/stemmers.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { digest } from "../edge/support.ts";
import { generator } from "../support/numbers.ts";
import { wordsAlone } from "./support.ts";

for (const stemmer of [english, finnish, german]) useStemmer(stemmer);
const ENGLISH = { ...wordsAlone, stem: "english" } as const;

/** From "An algorithm for suffix stripping" (Porter, 1980); none in -ion, of which the package takes off too little or too much. */
const PORTER =
  `caresses caress, ponies poni, cats cat, feed feed, agreed agre, plastered plaster, bled bled, motoring motor,
  sing sing, conflated conflat, troubled troubl, sized size, hopping hop, falling fall, hissing hiss, failing fail, happy happi,
  sky sky, relational relat, rational ration, digitizer digit, operator oper, feudalism feudal,
  hopefulness hope, formalize formal, electrical electr, goodness good, revival reviv, allowance allow, adjustment adjust,
  effective effect, bowdlerize bowdler, probate probat, controll control, roll roll`
    .split(",")
    .map((pair) => pair.trim().split(" ") as [string, string]);

/** Words out of pieces that stemmers look at, in the letters of three languages. */
function sentences(count: number, seed: number): string[] {
  const next = generator(seed);
  const pieces =
    "ing ed s es ation li ness un ver ge lich keit en er ung ssa llä talo kirja kirjasto työ haus bücher häuser run dog's".split(
      " ",
    );
  const piece = (): string => pieces[Math.floor(next() * pieces.length)];
  const word = (): string => Array.from({ length: 1 + Math.floor(next() * 4) }, piece).join("");
  return Array.from({ length: count }, () => Array.from({ length: 12 }, word).join(" "));
}

describe("stems", () => {
  test("are those of the author of the rules", () => {
    const stems = new Stems(english);
    for (const [word, stem] of PORTER) expect(stems.of(word), word).toBe(stem);
  });

  test("make one term of the forms of a word, and what was written is known", () => {
    const { vectoriser, rows } = TfidfVectoriser.fit(["Library libraries", "the library's cats"], ENGLISH);
    expect(vectoriser.terms).toEqual(["cat", "librari", "library'", "the"]);
    expect(rows.rowStart[1]).toBe(1);
    const asked = "Libraries' cat, the library: CATS";
    expect([...(vectoriser.written(asked) ?? [])]).toEqual([
      ["librari", "libraries"],
      ["cat", "cat"],
      ["the", "the"],
    ]);
    expect(TfidfVectoriser.fit(["a b", "a c"], wordsAlone).vectoriser.written(asked)).toBeUndefined();
  });

  test("give the same rows in every runtime", async () => {
    const texts = sentences(300, 5);
    const rows = ["english", "finnish", "german"].map((stem) => {
      const { vectoriser, rows } = TfidfVectoriser.fit(texts, { stem, minDocuments: 2, charWeight: 0.5 });
      return [vectoriser.terms, Array.from(rows.columnIndex), Array.from(rows.values)];
    });
    expect(await digest(JSON.stringify(rows))).toBe("36137622bac23d9cf3bedea928d305dbf4309334dcf0e9dd2c1daf3614ca48d9");
  });

  test("of a word that is in no dictionary, a million letters long, are not looked for", () => {
    let longest = 0;
    const stems = new Stems({
      language: "english",
      stemmer: (word) => {
        longest = Math.max(longest, word.length);
        return word.slice(0, 3);
      },
    });
    for (const length of [1, 63, 64, 65, 1_000_000]) {
      const word = "x".repeat(length);
      expect(stems.of(word).length).toBe(length > 64 ? length : Math.min(length, 3));
    }
    expect(longest).toBe(64);
    const { vectoriser } = TfidfVectoriser.fit(["cats and dogs", "a cat and a dog"], ENGLISH);
    vectoriser.newWords = new NewWords();
    const row = vectoriser.transform([`cats ${"ing".repeat(350_000)}`]);
    expect(Array.from(row.columnIndex, (column) => vectoriser.terms[column])).toEqual(["cat"]);
    expect(vectoriser.newWords.counts().words).toBe(1);
  });

  test("leave nothing empty", () => {
    const stems = new Stems({ language: "english", stemmer: () => "" });
    expect(stems.of("word")).toBe("word");
  });
});

describe("a vocabulary of stems", () => {
  test("says its language in its file, and reads texts as before", () => {
    const texts = sentences(20, 3);
    const { vectoriser, rows } = TfidfVectoriser.fit(texts, { stem: "german" });
    const state = JSON.parse(JSON.stringify(vectoriser));
    expect([state.version, state.options.stem]).toEqual([1, "german"]);
    expect(TfidfVectoriser.fromJSON(state).transform(texts)).toEqual(rows);
  });

  test("refuses a language that there is not, from a file too", () => {
    expect(() => TfidfVectoriser.fit(["a"], { stem: "klingon" })).toThrow(/stem: found klingon, expected arabic, /);
    const { vectoriser } = TfidfVectoriser.fit(["a b", "a"], ENGLISH);
    for (const stem of ["../english", "", 7, null]) {
      const state = { ...vectoriser.toJSON(), options: { ...vectoriser.toJSON().options, stem } };
      expect(() => TfidfVectoriser.fromJSON(state, "model.bin")).toThrow(/model\.bin: found .*stem/);
    }
    expect(() => useStemmer({ language: "klingon", stemmer: (word) => word })).toThrow(/"klingon"/);
    expect(STEM_LANGUAGES).not.toContain("bulgarian");
  });

  test("says what is missing where its stemmer is not loaded", () => {
    expect(() => loadedStemmer("tamil")).toThrow('expected its stemmer: await loadStemmer("tamil") first');
    const fitting = (): unknown => TfidfVectoriser.fit(["a"], { ...wordsAlone, stem: "tamil" });
    expect(fitting).toThrow(/tamil/);
  });

  test("is what a reader makes of texts, and uses, with the texts beside the rows", async () => {
    const rows = [
      { text: "running dogs", labels: ["a"] },
      { text: "a dog runs", labels: ["b"] },
    ];
    const { dataset } = await readDataset(rows, { tfidf: ENGLISH });
    const { vectoriser } = dataset;
    expect(vectoriser?.terms).toEqual(["a", "dog", "run"]);
    if (!vectoriser) return;
    const { features } = (await readDataset(rows, { vectoriser })).dataset;
    expect(features).toEqual(dataset.features);
    expect(features.texts?.map((text) => vectoriser.written(text)?.get("run"))).toEqual(["running", "runs"]);
  });
});

test("without a language words stay as they are", () => {
  const text = PORTER.flat().join(" ");
  const { vectoriser } = TfidfVectoriser.fit([text], wordsAlone);
  expect(vectoriser.terms).toEqual([...new Set(tokenise(text))].sort());
});
