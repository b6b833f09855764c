// Texts in a language with many endings: a note says which stemmer may help.

import { expect, test } from "vitest";
import { readDataset } from "../../src/data/reader.ts";

const texts: Record<string, string[]> = {
  russian: [
    "Она не знает, что это такое",
    "Это дом на горе и река",
    "Как и что он сказал на ужин",
    "Не всё то золото, и это так",
  ],
  ukrainian: [
    "Вона не знає, що це таке",
    "Це дім на горі і річка",
    "Як і що він сказав на обід",
    "Не все те золото, і це так",
  ],
  german: [
    "Das ist der Hund und die Katze",
    "Mit der Zeit und das ist gut",
    "Die Frau mit der Tasche ist da",
    "Und das Brot",
  ],
  swedish: [
    "Det är inte som det var",
    "Att vara och att inte vara",
    "Huset som är rött och stort",
    "Det som inte syns",
  ],
  english: ["The dog and the cat are in it", "That is not what it was", "To be or not to be", "A house on the hill"],
  // Of Finnish words these have "on".
  "english theses": [
    "On the influence of rain on the growth of oaks",
    "The state of the art on bridges: a study based on cases",
    "Effects of heat on steel and on glass",
    "Essays on trade",
  ],
  chinese: ["这是一只猫", "我不知道", "他在山上", "今天很好"],
};
const notesOf = async (list: readonly string[], tfidf = {}): Promise<readonly string[]> => {
  const rows = Array.from({ length: 20 }, (_, i) => ({ text: list[i % list.length], labels: [i % 2 ? "a" : "b"] }));
  return (await readDataset(rows, { file: "texts", tfidf })).notes;
};

test("the language is named where its stems may help, and only there", async () => {
  for (const language of ["russian", "ukrainian", "german", "swedish"]) {
    const name = language[0].toUpperCase() + language.slice(1);
    const note = `texts: the texts look ${name}; option stem ${language} may help (npm install @orama/stemmers)`;
    expect(await notesOf(texts[language]), language).toEqual([note]);
    expect(await notesOf(texts[language], { stem: language }), language).toEqual([]);
  }
  for (const language of ["english", "english theses", "chinese"])
    expect(await notesOf(texts[language]), language).toEqual([]);
});
