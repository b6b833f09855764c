// The stemmers of the package @orama/stemmers by their language, loaded when a text is to be stemmed. A vocabulary stores the
// language alone, and reads texts without waiting for anything: whoever opens one waits for `loadStemmer` first.

import type { Stemmer } from "../base/stem.ts";

const PACKAGE = "@orama/stemmers";

/** Languages of the package; that for Bulgarian is missing because it fails on some words. */
export const STEM_LANGUAGES: readonly string[] = (
  "arabic armenian danish dutch english finnish french german greek hungarian indian indonesian irish italian lithuanian " +
  "nepali norwegian portuguese romanian russian sanskrit serbian spanish swedish tamil turkish ukrainian"
).split(" ");

/** A stemmer of this language can be loaded. A file may say anything: what is no such word is never imported. */
export const isStemLanguage = (language: unknown): language is string => STEM_LANGUAGES.includes(language as string);

/** The sentence for a language that is none of these. */
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
  const module: Stemmer = await import(/* @vite-ignore */ `${PACKAGE}/${language}`).catch(() => {
    throw new Error(
      `found words stemmed by ${language}, expected the package ${PACKAGE} to do it (npm install ${PACKAGE})`,
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

/** The stemmer of a language that was loaded before. */
export function loadedStemmer(language: string): Stemmer {
  const known = loaded.get(language);
  if (!known)
    throw new Error(`found words stemmed by ${language}, expected its stemmer: await loadStemmer("${language}") first`);
  return known;
}
