import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DataError } from "../../src/data/errors.ts";
import { TfidfFitter, TfidfVectoriser } from "../../src/data/tfidf.ts";

const FINGERPRINT = [104, 1641, 1789649873];
const TEXTS = ["red wine red", "white wine", "dry white wine", "beer"];
const text = fc
  .array(fc.constantFrom("red", "wine", "Bär", "the", "dry", "beer", "日本"), { maxLength: 8 })
  .map((words) => words.join(" "));

describe("tf-idf", () => {
  test("by hand: (1 + ln 2)(ln(5/2) + 1) for red, ln(5/4) + 1 for wine, scaled to length 1", () => {
    const { vectoriser, rows } = TfidfVectoriser.fit(TEXTS, { minDocuments: 1 });
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
      minDocuments: 1,
      sublinear: false,
      idf: false,
      normalise: false,
    });
    expect(Array.from(rows.values)).toEqual([2, 1, 1, 1, 1, 1, 1, 1]);
  });
  test("limits of document frequency and number of terms; ties go to the smaller term", () => {
    const terms = (options: object): readonly string[] =>
      TfidfVectoriser.fit(TEXTS, options).vectoriser.terms;
    expect(terms({})).toEqual(["white", "wine"]);
    expect(terms({ maxDocuments: 0.5 })).toEqual(["white"]);
    expect(terms({ minDocuments: 1, maxFeatures: 3 })).toEqual(["beer", "white", "wine"]);
    expect(terms({ wordNgrams: 2 })).toEqual(["white", "white wine", "wine"]);
    expect(terms({ wordNgrams: 0, charNgrams: [5, 5] })).toEqual([
      "#_whit",
      "#_wine",
      "#hite_",
      "#white",
      "#wine_",
    ]);
  });
  test("columns in the order of code units", () => {
    const { vectoriser } = TfidfVectoriser.fit(["zebra äpfel apfel Z 10 9 𝒳 ﬀ"], { minDocuments: 1 });
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
        }),
        fc.option(fc.constant<[number, number]>([3, 4])),
        (texts, flags, charNgrams) => {
          const fitter = new TfidfFitter({ minDocuments: 1, ...flags, ...(charNgrams && { charNgrams }) });
          for (const each of texts) fitter.add(each);
          if (texts.every((each) => each === "")) {
            expect(() => fitter.finish()).toThrow(DataError);
            return;
          }
          const { vectoriser, rows } = fitter.finish();
          expect(vectoriser.transform(texts)).toEqual(rows);
          const saved: unknown = JSON.parse(JSON.stringify(vectoriser));
          const restored = TfidfVectoriser.fromJSON(saved);
          expect(restored.transform([...texts, "unknown words"])).toEqual(
            vectoriser.transform([...texts, "unknown words"]),
          );
          expect(JSON.stringify(restored)).toBe(JSON.stringify(vectoriser));
          if (flags.normalise) {
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
    const { rows } = TfidfVectoriser.fit(texts, { wordNgrams: 2, charNgrams: [3, 5] });
    const bits = new Uint32Array(rows.values.slice().buffer);
    let hash = 0;
    for (const word of bits) hash = (Math.imul(hash, 31) + word) >>> 0;
    expect([rows.columns, rows.values.length, hash]).toEqual(FINGERPRINT);
  });
});

describe("options and states that are wrong", () => {
  test("options", () => {
    const fitting = (options: object) => () => TfidfVectoriser.fit(["a"], options);
    expect(fitting({ minDocuments: 0 })).toThrow("found minDocuments = 0, expected a whole number from 1");
    expect(fitting({ maxDocuments: 0 })).toThrow("found maxDocuments = 0");
    expect(fitting({ wordNgrams: 0 })).toThrow(
      "found wordNgrams = 0, expected at least 1 when there are no charNgrams",
    );
    expect(fitting({ charNgrams: [4, 3] })).toThrow("found charNgrams = [4,3]");
    expect(fitting({ maxFeatures: 1.5 })).toThrow("found maxFeatures = 1.5");
  });
  test("states", () => {
    const good = { version: 1, options: {}, documents: 3, terms: ["a", "b"], documentFrequency: [1, 3] };
    expect(TfidfVectoriser.fromJSON(good).columns).toBe(2);
    const bad: unknown[] = [
      null,
      7,
      {},
      { ...good, version: 2 },
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
      expect(() => TfidfVectoriser.fromJSON(state, "m.safetensors")).toThrow(
        /^m\.safetensors: found .*, expected /,
      );
  });
});
