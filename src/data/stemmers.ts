// The stemmers of the package @orama/stemmers by their language, loaded when a text is to be stemmed. A vocabulary stores the
// language alone, and reads texts without waiting for anything: whoever opens one waits for `loadStemmer` first.

import type { Stemmer } from "../base/stem.ts";

export const STEM_PACKAGE = "@orama/stemmers";

/** Languages of the package; that for Bulgarian is missing because it fails on some words. */
export const STEM_LANGUAGES: readonly string[] = (
  "arabic armenian danish dutch english finnish french german greek hungarian indian indonesian irish italian lithuanian " +
  "nepali norwegian portuguese romanian russian sanskrit serbian spanish swedish tamil turkish ukrainian"
).split(" ");

/** Stems help less in this language: it is there so that its texts are not taken for others. */
const FEW_ENDINGS = "english";
/** Frequent words of languages with many endings. */
const FREQUENT_WORDS: Readonly<Record<string, string>> = {
  [FEW_ENDINGS]: "the and of to is for",
  danish: "af ikke efter og hvad også",
  dutch: "het een van niet zijn voor",
  finnish: "ja on ei että sen oli",
  french: "les des du est dans une",
  german: "und der die das ist mit",
  greek: "και το να του την από",
  hungarian: "az és nem egy hogy meg",
  italian: "il che della gli per non",
  norwegian: "av ikke etter og hva også",
  portuguese: "os da do em não uma",
  romanian: "și în este pentru care din",
  russian: "и не на что как это",
  serbian: "и је се да на што",
  spanish: "el los las del una por",
  swedish: "och att det som är inte",
  turkish: "ve bir bu için ile olarak",
  ukrainian: "і не на що як це",
};
/** Share of the texts that have such a word, on average, from which on their language is believed; and lead over the next language. */
const LEAST_SHARE = 0.1;
const LEAST_LEAD = 1.3;

/** The language of texts whose words a stemmer would cut down, by the share of the texts that have a word; undefined: none that is sure. */
export function languageOf(share: (word: string) => number): string | undefined {
  const shares = Object.entries(FREQUENT_WORDS).map(([language, list]): [string, number] => {
    const words = list.split(" ");
    return [language, words.reduce((sum, word) => sum + share(word), 0) / words.length];
  });
  const [[language, first], [, second]] = shares.sort(([, a], [, b]) => b - a);
  return language !== FEW_ENDINGS && first >= Math.max(LEAST_SHARE, LEAST_LEAD * second) ? language : undefined;
}

/** A stemmer of this language can be loaded. A file may say anything: what is no such word is never imported. */
export const isStemLanguage = (language: unknown): language is string => STEM_LANGUAGES.includes(language as string);

export const STEM_EXPECTED: string = `one of ${STEM_LANGUAGES.join(", ")}`;

const loaded = new Map<string, Stemmer>();

/**
 * Loads the stemmer of a language, once.
 *
 * @throws {Error} A language without one, or a package that is not installed.
 */
export async function loadStemmer(language: string): Promise<Stemmer> {
  const known = loaded.get(language);
  if (known) return known;
  if (!isStemLanguage(language))
    throw new RangeError(`found stem = ${JSON.stringify(language)}, expected ${STEM_EXPECTED}`);
  const module: Stemmer = await import(/* @vite-ignore */ `${STEM_PACKAGE}/${language}`).catch(() => {
    throw new Error(
      `found words stemmed by ${language}, expected the package ${STEM_PACKAGE} to do it (npm install ${STEM_PACKAGE})`,
    );
  });
  return useStemmer(module);
}

/** Takes a stemmer that was loaded otherwise, by a bundler for instance, for all vocabularies of its language. */
export function useStemmer(stemmer: Stemmer): Stemmer {
  const { language } = stemmer;
  if (!isStemLanguage(language) || typeof stemmer.stemmer !== "function")
    throw new RangeError(`found a stemmer of ${JSON.stringify(language)}, expected ${STEM_EXPECTED}`);
  loaded.set(language, stemmer);
  return stemmer;
}

export function loadedStemmer(language: string): Stemmer {
  const known = loaded.get(language);
  if (!known)
    throw new Error(`found words stemmed by ${language}, expected its stemmer: await loadStemmer("${language}") first`);
  return known;
}
