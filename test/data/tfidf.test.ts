import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DataError } from "../../src/base/errors.ts";
import { TfidfFitter, TfidfVectoriser } from "../../src/data/tfidf.ts";
import { wordsAlone } from "./support.ts";

const FINGERPRINT = [104, 1641, 1789649873];
/** Words alone, as vocabularies of version 1 have them. */
const { minDocuments: _, ...plain } = wordsAlone;
const TEXTS = ["red wine red", "white wine", "dry white wine", "beer"];
const text = fc
  .array(fc.constantFrom("red", "wine", "Bär", "the", "dry", "beer", "日本"), { maxLength: 8 })
  .map((words) => words.join(" "));

describe("tf-idf", () => {
  test("by hand: (1 + ln 2)(ln(5/2) + 1) for red, ln(5/4) + 1 for wine, scaled to length 1", () => {
    const { vectoriser, rows } = TfidfVectoriser.fit(TEXTS, { ...plain, minDocuments: 1 });
    expect(vectoriser.terms).toEqual(["beer", "dry", "red", "white", "wine"]);
    expect(Array.from(vectoriser.documentFrequency)).toEqual([1, 1, 1, 2, 3]);
    expect(Array.from(rows.columnIndex)).toEqual([2, 4, 3, 4, 1, 3, 4, 0]);
    const red = (1 + Math.log(2)) * (Math.log(5 / 2) + 1);
    const wine = Math.log(5 / 4) + 1;
    const length = Math.hypot(red, wine);
    expect(rows.values[0]).toBeCloseTo(red / length, 6);
    expect(rows.values[1]).toBeCloseTo(wine / length, 6);
    expect(rows.values[7]).toBe(1);
  });
  test("plain counts when all weighing is off", () => {
    const { rows } = TfidfVectoriser.fit(TEXTS, {
      ...plain,
      minDocuments: 1,
      sublinear: false,
      idf: false,
      normalise: false,
    });
    expect(Array.from(rows.values)).toEqual([2, 1, 1, 1, 1, 1, 1, 1]);
  });
  test("limits of document frequency and number of terms; ties go to the smaller term", () => {
    const terms = (options: object): readonly string[] =>
      TfidfVectoriser.fit(TEXTS, { ...plain, ...options }).vectoriser.terms;
    expect(terms({})).toEqual(["beer", "dry", "red", "white", "wine"]);
    expect(terms({ minDocuments: 2 })).toEqual(["white", "wine"]);
    expect(terms({ minDocuments: 2, maxDocuments: 0.5 })).toEqual(["white"]);
    expect(terms({ minDocuments: 1, maxFeatures: 3 })).toEqual(["beer", "white", "wine"]);
    expect(terms({ minDocuments: 2, wordNgrams: 2 })).toEqual(["white", "white wine", "wine"]);
    const runs = ["#_whit", "#_wine", "#hite_", "#white", "#wine_"];
    expect(terms({ minDocuments: 2, wordNgrams: 0, charNgrams: [5, 5] })).toEqual(runs);
    // Beside words a run is in two texts at least, however few a word may be in.
    const beside = terms({ minDocuments: 1, charNgrams: [5, 5], charWeight: 1 });
    expect(beside).toEqual([...runs, "beer", "dry", "red", "white", "wine"]);
  });
  test("columns in the order of code units", () => {
    const { vectoriser } = TfidfVectoriser.fit(["zebra äpfel apfel Z 10 9 𝒳 ﬀ"], {
      ...plain,
      minDocuments: 1,
    });
    expect(vectoriser.terms).toEqual(["10", "9", "apfel", "ff", "x", "z", "zebra", "äpfel"]);
  });
  test("fitting and transforming agree, and the saved state does the same, bit for bit", () => {
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 10 }),
        fc.record({
          wordNgrams: fc.integer({ min: 1, max: 3 }),
          sublinear: fc.boolean(),
          idf: fc.boolean(),
          normalise: fc.boolean(),
          leadWords: fc.constantFrom(0, 0.7, 2),
          charWeight: fc.constantFrom(0, 0.5),
          oovInNorm: fc.boolean(),
          minDocuments: fc.integer({ min: 1, max: 2 }),
        }),
        fc.option(fc.constant<[number, number]>([3, 4])),
        (texts, flags, charNgrams) => {
          const fitter = new TfidfFitter({ ...flags, charNgrams: charNgrams ?? false });
          for (const each of texts) fitter.add(each);
          const words = texts.map((each) => new Set(each.split(" ").filter(Boolean)));
          const common = [...new Set(words.flatMap((own) => [...own]))].some(
            (word) => words.filter((own) => own.has(word)).length >= flags.minDocuments,
          );
          if (!common && charNgrams === null) {
            expect(() => fitter.finish()).toThrow(DataError);
            return;
          }
          fc.pre(common);
          const { vectoriser, rows } = fitter.finish();
          expect(vectoriser.transform(texts)).toEqual(rows);
          const saved: unknown = JSON.parse(JSON.stringify(vectoriser));
          const restored = TfidfVectoriser.fromJSON(saved);
          expect(restored.transform([...texts, "unknown words"])).toEqual(
            vectoriser.transform([...texts, "unknown words"]),
          );
          expect(JSON.stringify(restored)).toBe(JSON.stringify(vectoriser));
          if (flags.normalise && (!flags.oovInNorm || (flags.minDocuments === 1 && !charNgrams))) {
            for (let row = 0; row < rows.rows; row++) {
              const entries = rows.values.subarray(rows.rowStart[row], rows.rowStart[row + 1]);
              if (entries.length > 0) expect(entries.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1, 5);
            }
          }
        },
      ),
    );
  });
  test("the same bytes in every runtime", () => {
    const texts = Array.from(
      { length: 40 },
      (_, i) => `alpha w${i % 7} w${(i * i) % 11} w${i % 3} w${i % 3} beta${i % 2}`,
    );
    const { rows } = TfidfVectoriser.fit(texts, {
      ...plain,
      minDocuments: 2,
      wordNgrams: 2,
      charNgrams: [3, 5],
      charWeight: 0,
    });
    const bits = new Uint32Array(rows.values.slice().buffer);
    let hash = 0;
    for (const word of bits) hash = (Math.imul(hash, 31) + word) >>> 0;
    expect([rows.columns, rows.values.length, hash]).toEqual(FINGERPRINT);
  });
});

describe("fields", () => {
  test("by hand: words, lead words and runs of characters, each scaled to its weight, unknown words in the length", () => {
    // Eight words, of which the first four are lead words; "odd" is in no other text.
    const first = "red wine odd red dry white wine beer";
    const texts = [first, "red wine dry white beer", "red wine dry white beer"];
    const options = {
      leadWords: 0.7,
      charNgrams: [4, 4],
      charWeight: 0.5,
      idf: false,
      oovInNorm: true,
      minDocuments: 2,
    } as const;
    const { vectoriser, rows } = TfidfVectoriser.fit(texts, options);
    const frequency = (count: number): number => 1 + Math.log(count);
    const fields = {
      words: new Map<string, number>(),
      leadWords: new Map<string, number>(),
      runs: new Map<string, number>(),
    };
    const count = (map: Map<string, number>, term: string): unknown => map.set(term, (map.get(term) ?? 0) + 1);
    for (const [i, word] of first.split(" ").entries()) {
      count(fields.words, word);
      if (i < 4) count(fields.leadWords, `^${word}`);
      for (let at = 0; at + 4 <= word.length + 2; at++) count(fields.runs, `#${`_${word}_`.slice(at, at + 4)}`);
    }
    const shares = { words: 1, leadWords: 0.7, runs: 0.5 };
    const wanted = new Map<string, number>();
    for (const name of ["words", "leadWords", "runs"] as const) {
      const known = [...fields[name]].filter(([term]) => !/odd/.test(term));
      const unknown = [...fields[name]].filter(([term]) => /odd/.test(term)).length;
      const length = Math.sqrt(known.reduce((sum, [, n]) => sum + frequency(n) ** 2, 0) + unknown);
      const whole = Math.hypot(1, 0.7, 0.5);
      for (const [term, n] of known) wanted.set(term, (shares[name] * frequency(n)) / length / whole);
    }
    const found = Array.from(rows.columnIndex.subarray(0, rows.rowStart[1]), (column, i) => [
      vectoriser.terms[column],
      rows.values[i],
    ]);
    expect(found.map(([term]) => term)).toEqual([...wanted.keys()].sort());
    for (const [term, value] of found) expect(value).toBeCloseTo(wanted.get(term as string) as number, 6);
  });

  test("of short texts while they are few, of long ones, and of many", () => {
    const settings = (texts: number, words: number) => {
      const fitter = new TfidfFitter();
      for (let i = 0; i < texts; i++) fitter.add("some words of a text ".repeat(words / 5));
      const { vectoriser, rows } = fitter.finish();
      expect(rows.rows).toBe(texts);
      return {
        terms: vectoriser.terms.filter((term) => term.startsWith("#")).length,
        bigrams: vectoriser.terms.filter((term) => term.includes(" ")),
        ...vectoriser.toJSON().options,
      };
    };
    expect(settings(1500, 10)).toMatchObject({
      charNgrams: [3, 4],
      charWeight: 1,
      idf: false,
      oovInNorm: true,
      minDocuments: 1,
      wordNgrams: 1,
    });
    expect(settings(30, 20)).toMatchObject({ charNgrams: [3, 4], charWeight: 1, idf: true, minDocuments: 1 });
    expect(settings(8001, 15)).toMatchObject({ terms: 0, charNgrams: false, minDocuments: 2, wordNgrams: 1 });
    expect(settings(8001, 10)).toMatchObject({
      charNgrams: [3, 4],
      charWeight: 0.5,
      idf: false,
      oovInNorm: true,
      minDocuments: 2,
    });
    const many = settings(50_001, 5);
    expect(many).toMatchObject({ terms: 0, bigrams: ["a text", "of a", "some words", "words of"], wordNgrams: 2 });
    expect(many).toMatchObject({ idf: true, leadWords: 0.7 });
    expect(many.charNgrams || many.oovInNorm).toBe(false);
  });

  test("of few short texts are no bigrams, whatever was counted before that was known", () => {
    const words = fc.array(fc.constantFrom("a", "b", "c", "d", "e f"), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(words, { minLength: 3, maxLength: 9 }), (rows) => {
        const texts = ["a b", "a", ...rows.map((row) => row.join(" "))];
        const [found, wanted] = [{}, { wordNgrams: 1 }].map((options) =>
          TfidfVectoriser.fit(texts, { ...options, minDocuments: 2, charNgrams: false, oovInNorm: true }),
        );
        expect(found.rows).toEqual(wanted.rows);
        expect(found.vectoriser.toJSON()).toEqual(wanted.vectoriser.toJSON());
      }),
    );
  });

  test("a vocabulary's file says all of its options; those that are not there are off", () => {
    const { vectoriser, rows } = TfidfVectoriser.fit(TEXTS, { ...plain, minDocuments: 1 });
    const { version, options, ...rest } = JSON.parse(JSON.stringify(vectoriser));
    expect(version).toBe(1);
    const on = {
      wordNgrams: 1,
      minDocuments: 1,
      maxDocuments: 1,
      sublinear: true,
      idf: true,
      normalise: true,
    };
    expect(options).toEqual({ ...on, charNgrams: false, charWeight: 0, leadWords: 0, oovInNorm: false });
    expect(TfidfVectoriser.fromJSON({ version, options: on, ...rest }).transform(TEXTS)).toEqual(rows);
  });
});

describe("options and states that are wrong", () => {
  test("options", () => {
    const fitting = (options: object) => () => TfidfVectoriser.fit(["a"], options);
    expect(fitting({ minDocuments: 0 })).toThrow("minDocuments: found 0, expected a whole number of at least 1");
    expect(fitting({ maxDocuments: 0 })).toThrow("maxDocuments: found 0, expected a number above 0 and at most 1");
    expect(fitting({ wordNgrams: 0 })).toThrow("charNgrams: found false, expected runs, since there are no words");
    expect(fitting({ charNgrams: [4, 3] })).toThrow("charNgrams: found 4-3");
    expect(fitting({ maxFeatures: 1.5 })).toThrow("maxFeatures: found 1.5");
    expect(fitting({ leadWords: 0.0001 })).toThrow("leadWords: found 0.0001, expected 0, or at least 0.001");
  });
  test("states", () => {
    const good = { version: 1, options: {}, documents: 3, terms: ["a", "b"], documentFrequency: [1, 3] };
    expect(TfidfVectoriser.fromJSON(good).columns).toBe(2);
    const bad: unknown[] = [
      null,
      7,
      {},
      { ...good, version: 4 },
      { ...good, options: { leadWords: -1 } },
      { ...good, options: { charWeight: "much" } },
      { ...good, options: { oovInNorm: 1 } },
      { ...good, terms: ["b", "a"] },
      { ...good, terms: ["a", "a"] },
      { ...good, terms: ["a", 1] },
      { ...good, terms: "ab" },
      { ...good, documents: -1 },
      { ...good, documentFrequency: [1] },
      { ...good, documentFrequency: [1, 4] },
      { ...good, documentFrequency: [1, 0.5] },
      { ...good, options: { wordNgrams: 99 } },
      { ...good, options: { idf: "yes" } },
    ];
    for (const state of bad)
      expect(() => TfidfVectoriser.fromJSON(state, "m.safetensors")).toThrow(/^m\.safetensors: found .*, expected /);
  });
});
