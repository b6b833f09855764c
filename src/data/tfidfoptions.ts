// Options of a vocabulary, and their defaults.

import { isStemLanguage, STEM_EXPECTED } from "./stemmers.ts";
import { isFieldWeight, LEAST_WEIGHT, MOST_WEIGHT } from "./terms.ts";

/** What a term is, and how it is weighed. */
export interface TfidfOptions {
  /** Longest run of words that is a term; 0 for no words. Default 1. */
  readonly wordNgrams?: number;
  /**
   * Shortest and longest run of characters within a word that is a term, e.g. [3, 5]; false for none. Default: [3, 4] for short
   * texts (of 12 words or fewer, by the median of the first 1,000) while there are at most 50,000 of them, else none.
   */
  readonly charNgrams?: readonly [least: number, most: number] | false;
  /**
   * Weight of the runs of characters beside the words, as a part of the row that is scaled for itself; 0 for one part with
   * the words. Default 0.5.
   */
  readonly charWeight?: number;
  /**
   * Weight of the opening beside the words: the first n^(2/3) of a text's n words are terms of their own once more. 0 for
   * none. Default 0.7, none without words.
   */
  readonly opening?: number;
  /**
   * Words that the vocabulary does not have count in the length of a text, as the rarest one it has: the less is known of
   * a text the shorter its row. Default: true for at most 26,000 texts, unless `maxDocuments` or `maxFeatures` leaves
   * words out.
   */
  readonly countUnknown?: boolean;
  /**
   * Language whose stems the words are cut down to ("english"), with the package @orama/stemmers; `loadStemmer` loads it where
   * texts are turned into rows without reading a data set or loading a model. Default: none.
   */
  readonly stem?: string;
  /** A term must occur in at least so many texts. Default 2. */
  readonly minDocuments?: number;
  /** A term may occur in at most this fraction of the texts. Default 1. */
  readonly maxDocuments?: number;
  /** Keep the terms that occur in most texts, ties by the term. Default: all. */
  readonly maxFeatures?: number;
  /** 1 + ln(count) instead of the count. Default true. */
  readonly sublinear?: boolean;
  /** Times ln((1 + N) / (1 + df)) + 1. Default true, but not where runs of characters are terms by default. */
  readonly idf?: boolean;
  /** Scale each row to length 1. Default true. */
  readonly normalise?: boolean;
}

/** Options that vocabularies of version 1 do not have: without them texts are read as they were then. */
export const NEW_IN_2 = ["opening", "charWeight", "countUnknown"] as const;
/** The same of version 2. */
export const NEW_IN_3 = ["stem"] as const;

type Optional = "maxFeatures" | (typeof NEW_IN_2)[number] | (typeof NEW_IN_3)[number];

/** The same with nothing left open. */
export type TfidfSettings = Required<Omit<TfidfOptions, Optional | "charNgrams">> &
  Pick<TfidfOptions, Optional> & { readonly charNgrams?: readonly [least: number, most: number] };

// What these defaults are worth was measured: bench/DEFAULTS.md.
const OPENING_WEIGHT = 0.7;
const CHARACTERS_WEIGHT = 0.5;
const SHORT_RUNS = [3, 4] as const;
/** Texts are short up to this median of words. */
export const SHORT_WORDS = 12;
/** Up to so many texts runs of characters cost little: they make rows nine times as long. */
export const MOST_WITH_RUNS = 50_000;
/** Up to so many each text may be left out to calibrate, while the vocabulary still has its words. */
const FEW_TEXTS = 26_000;

function demand(right: boolean, name: string, found: unknown, expected: string): void {
  if (!right) throw new RangeError(`found ${name} = ${JSON.stringify(found)}, expected ${expected}`);
}

export function isCount(value: unknown, least: number, most: number = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Settings of a vocabulary that is learned now, from so many texts. */
export function settingsFor(options: TfidfOptions, texts: number, short: boolean): TfidfSettings {
  const { wordNgrams = 1, charNgrams, maxDocuments = 1, maxFeatures } = options;
  const words = wordNgrams > 0;
  const runs = words && short && texts <= MOST_WITH_RUNS && charNgrams === undefined;
  return settle({
    ...(words && { opening: OPENING_WEIGHT }),
    ...(words && (runs || charNgrams) && { charWeight: CHARACTERS_WEIGHT }),
    ...(runs && { charNgrams: SHORT_RUNS, idf: false }),
    countUnknown: texts <= FEW_TEXTS && maxDocuments === 1 && maxFeatures === undefined,
    ...options,
  });
}

/** The options of a vocabulary, checked; what is new in version 2 is off where it is not there. */
export function settle(options: TfidfOptions): TfidfSettings {
  const settings: TfidfSettings = {
    wordNgrams: options.wordNgrams ?? 1,
    minDocuments: options.minDocuments ?? 2,
    maxDocuments: options.maxDocuments ?? 1,
    sublinear: options.sublinear ?? true,
    idf: options.idf ?? true,
    normalise: options.normalise ?? true,
    ...(options.charNgrams && { charNgrams: options.charNgrams }),
    ...(options.maxFeatures !== undefined && { maxFeatures: options.maxFeatures }),
    ...(options.opening && { opening: options.opening }),
    ...(options.charWeight && { charWeight: options.charWeight }),
    ...(options.countUnknown && { countUnknown: options.countUnknown }),
    ...(options.stem !== undefined && { stem: options.stem }),
  };
  const { wordNgrams: words, charNgrams, minDocuments, maxDocuments, maxFeatures } = settings;
  demand(isCount(words, 0, 9), "wordNgrams", words, "a whole number from 0 to 9");
  if (charNgrams !== undefined) {
    const right =
      Array.isArray(charNgrams) &&
      charNgrams.length === 2 &&
      isCount(charNgrams[0], 1, 9) &&
      isCount(charNgrams[1], charNgrams[0], 9);
    demand(right, "charNgrams", charNgrams, "two whole numbers from 1 to 9, the smaller first");
  }
  demand(
    words > 0 || charNgrams !== undefined,
    "wordNgrams",
    words,
    "at least 1 when there are no charNgrams",
  );
  demand(isCount(minDocuments, 1), "minDocuments", minDocuments, "a whole number from 1");
  demand(
    maxDocuments > 0 && maxDocuments <= 1,
    "maxDocuments",
    maxDocuments,
    "a fraction above 0 and up to 1",
  );
  if (maxFeatures !== undefined)
    demand(isCount(maxFeatures, 1), "maxFeatures", maxFeatures, "a whole number from 1");
  for (const name of ["opening", "charWeight"] as const) {
    const weight = options[name] ?? 0;
    const right = weight === 0 || isFieldWeight(weight);
    demand(right, name, weight, `0 or a number from ${LEAST_WEIGHT} to ${MOST_WEIGHT}`);
  }
  if (options.stem !== undefined) demand(isStemLanguage(options.stem), "stem", options.stem, STEM_EXPECTED);
  for (const name of ["sublinear", "idf", "normalise", "countUnknown"] as const) {
    const value = settings[name] ?? false;
    demand(typeof value === "boolean", name, value, "true or false");
  }
  return settings;
}
