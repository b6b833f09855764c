// Names found in texts, beside a search that looks at every name and every word.

import * as german from "@orama/stemmers/german";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Stems } from "../../../src/base/stem.ts";
import { FEATURES, type NamedLabel, NameMatcher } from "../../../src/parts/names/row.ts";

const matcherOf = (labels: NamedLabel[], texts: readonly string[], stems?: Stems, language?: string): NameMatcher => {
  const matcher = new NameMatcher(labels, stems, language);
  const frequency = new Int32Array(matcher.words);
  for (const text of texts) for (const word of matcher.wordsOf(text)) frequency[word]++;
  return matcher.prepare({ frequency, documents: texts.length });
};
const foundIn = (matcher: NameMatcher, text: string): string[] =>
  matcher.find(text).map(({ entry }) => matcher.labels[entry][0]);

const WORDS = ["kor", "lam", "mit", "nop", "pel", "rux", "tov"];
const phrase = (most: number) => fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: most });

describe("names in a text", () => {
  test("are those all of whose words are there, but for words of most texts", () => {
    fc.assert(
      fc.property(
        fc.array(phrase(3), { minLength: 1, maxLength: 12 }),
        fc.array(phrase(8), { minLength: 1, maxLength: 12 }),
        (names, texts) => {
          const labels = names.map((words, i): NamedLabel => [`l${i}`, words.join(" ")]);
          const matcher = matcherOf(
            labels,
            texts.map((words) => words.join(" ")),
          );
          const share = (word: string): number => texts.filter((words) => words.includes(word)).length / texts.length;
          for (const words of texts) {
            const expected = names.flatMap((name, i) => {
              const rarest = Math.min(...name.map(share));
              const needed = name.filter((word) => share(word) <= 0.25 || share(word) === rarest);
              const first = name.find((word) => share(word) === rarest) as string;
              const rest = needed.filter((word) => share(word) <= 0.25);
              return words.includes(first) && rest.every((word) => words.includes(word)) ? [`l${i}`] : [];
            });
            expect(foundIn(matcher, words.join(" "))).toEqual(expected);
          }
        },
      ),
    );
  });

  test("count their words in a row, and where they stand first", () => {
    const matcher = matcherOf(
      [
        ["a", "solar cell"],
        ["b", "cell"],
      ],
      ["solar cell", "x", "y", "z", "v", "w", "u", "t"],
    );
    const [a, b] = matcher.find("A cell here. Solar cells, and a solar cell; solar; cell.");
    expect(a.features).toHaveLength(FEATURES);
    // "solar cells" and "solar cell", but also "solar; cell": marks are no words.
    expect(Math.exp(a.features[4]) - 1).toBeCloseTo(3, 10);
    expect(Math.exp(a.features[7]) - 1).toBeCloseTo(3, 10);
    expect(Math.exp(b.features[6]) - 1).toBeCloseTo(4, 10);
    // Not all of its places are within the longer name.
    expect([a.features[15], b.features[15]]).toEqual([0, 0]);
    expect(matcher.find("one solar cell")[1].features[15]).toBe(1);
  });

  test("may be in other forms: plurals, stems, parts of compounds, scripts without spaces", () => {
    const texts = ["x y", "z"];
    expect(foundIn(matcherOf([["a", "Library"]], texts), "two libraries")).toEqual(["a"]);
    expect(foundIn(matcherOf([["a", "Plants (Biology)"]], texts), "a plant")).toEqual(["a"]);
    const stems = new Stems(german);
    const compounds = matcherOf(
      [
        ["a", "Maschinenbau"],
        ["b", "Haus"],
      ],
      texts,
      stems,
      "german",
    );
    expect(foundIn(compounds, "Maschinenbauingenieure sind gefragt")).toEqual(["a"]);
    expect(foundIn(matcherOf([["a", "Maschinenbau"]], texts), "Maschinenbauingenieure")).toEqual([]);
    const han = matcherOf(
      [
        ["a", "机器学习"],
        ["b", "学习机器"],
      ],
      texts,
    );
    expect(foundIn(han, "我们研究机器学习的方法")).toEqual(["a"]);
    expect(han.find("我们研究机器学习的方法")[0].features[5]).toBe(1);
  });

  test("say which words of the text they are", () => {
    const matcher = matcherOf([["a", "history of libraries"]], ["of", "of", "of x", "library"]);
    const text = "The Library and its History";
    expect(matcher.written(text, matcher.find(text)[0])).toEqual(["history", "library"]);
  });
});
