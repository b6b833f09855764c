// Options of a vocabulary. An option is its line in the interface and its entry in the table below it: checks, defaults and the flags
// of the command line are made from the table.

import { LEAST_WEIGHT, MOST_WEIGHT } from "../base/terms.ts";
import { completeTable, none, type OptionTable, type Settled } from "../options/table.ts";
import { STEM_LANGUAGES } from "./stemmers.ts";

/** Terms and their weights. */
export interface TfidfOptions {
  /** Longest run of words that is a term; 0 for no words. Default 1. */
  readonly wordNgrams?: number;
  /**
   * Shortest and longest run of characters within a word that is a term, e.g. [3, 5]; false for none. Default: [3, 4] for up to 8,000
   * texts, and for up to 50,000 short ones (of 12 words or fewer, by the median of the first 1,000), else none.
   */
  readonly charNgrams?: readonly [least: number, most: number] | false;
  /** Weight of the runs of characters as a field of their own beside the words; 0 for one field with them. Default 1 for up to 8,000 texts, else 0.5. */
  readonly charWeight?: number;
  /** Weight of the lead words: the first n^(2/3) of a text's n words are added again as terms of their own. Default 0.7; 0: none. */
  readonly leadWords?: number;
  /**
   * Language whose stems the words are cut down to ("english"), with the package @orama/stemmers; `loadStemmer` loads it where
   * texts are turned into rows without reading a data set or loading a model. Default: none.
   */
  readonly stem?: string;
  /**
   * Out-of-vocabulary words count in the length of a text, each as the rarest word of the vocabulary: the less is known of a text
   * the shorter its row. Default: true for at most 26,000 texts, unless `maxDocuments` or `maxFeatures` leaves words out.
   */
  readonly oovInNorm?: boolean;
  /** A term must occur in at least so many texts, a run of characters in two. Default 1 for up to 8,000 texts, else 2. */
  readonly minDocuments?: number;
  /** A term may occur in at most this fraction of the texts. Default 1. */
  readonly maxDocuments?: number;
  /** Keep the terms that occur in most texts, ties by the term. Default: all. */
  readonly maxFeatures?: number;
  /** 1 + ln(count) instead of the count. Default true. */
  readonly sublinear?: boolean;
  /** Times ln((1 + N) / (1 + df)) + 1. Default true, but not for short texts with runs of characters by default. */
  readonly idf?: boolean;
  /** Scale each row to length 1. Default true. */
  readonly normalise?: boolean;
}

export type TfidfSettings = Settled<TfidfOptions, "stem" | "maxFeatures">;

/** Inputs of the defaults: how many texts there are, whether most of them have few words, and what was given. */
interface KnownTexts {
  readonly texts: number;
  readonly short: boolean;
  readonly given: TfidfOptions;
}

// bench/DEFAULTS.md has the measurements behind these defaults.
/** Texts are short up to this median of words. */
export const SHORT_WORDS = 12;
/** Up to so many texts every word counts, and runs of characters, which make rows nine times as long, cost little. */
const SMALL_DATA = 8000;
/** Up to so many texts there are such runs. */
export const mostWithRuns = (short: boolean): number => (short ? 50_000 : SMALL_DATA);
/** A run of characters is in so many texts at least: those of one text alone are a third of all, and worth next to nothing. */
export const LEAST_WITH_RUN = 2;
/** Up to so many each text may be left out to calibrate, while the vocabulary still has its words. */
const FEW_TEXTS = 26_000;

/** Runs of characters are terms though nobody asked for them. */
const runsByDefault = ({ given, wordNgrams, short, texts }: KnownTexts & TfidfSettings): boolean =>
  given.charNgrams === undefined && wordNgrams > 0 && texts <= mostWithRuns(short);

const refuseWeight = (weight: number): string | undefined =>
  weight === 0 || weight >= LEAST_WEIGHT ? undefined : `0, or at least ${LEAST_WEIGHT}`;

export const tfidfOptions: OptionTable<TfidfOptions, TfidfSettings, KnownTexts & TfidfSettings> = {
  wordNgrams: {
    kind: "whole",
    to: 9,
    default: 1,
    meaning: "longest word n-gram",
    flag: { name: "ngrams" },
  },
  charNgrams: {
    kind: "range",
    from: 1,
    to: 9,
    default: {
      words: "3-4 up to 8,000 texts, or 50,000 short ones (12 words), else no",
      of: (known) => (runsByDefault(known) ? [3, 4] : false),
    },
    refuse: (runs, { wordNgrams }) => (runs || wordNgrams > 0 ? undefined : "runs, since there are no words"),
    meaning: "also n-grams of N to M characters within a word, e.g. 3-5, or no; with --ngrams 0 these alone",
  },
  charWeight: {
    kind: "number",
    from: 0,
    to: MOST_WEIGHT,
    refuse: refuseWeight,
    default: {
      words: "1 up to 8,000 texts, else 0.5",
      of: ({ wordNgrams, charNgrams, texts }) => (wordNgrams > 0 && charNgrams ? (texts <= SMALL_DATA ? 1 : 0.5) : 0),
    },
    meaning: "weight of character n-grams beside the words; 0: scaled together with them",
  },
  leadWords: {
    kind: "number",
    from: 0,
    to: MOST_WEIGHT,
    refuse: refuseWeight,
    default: { words: "0.7", of: ({ wordNgrams }) => (wordNgrams > 0 ? 0.7 : 0) },
    meaning: "weight of a text's first words as separate lead features; 0 for none",
  },
  stem: {
    kind: "choice",
    choices: STEM_LANGUAGES,
    default: none("no"),
    flag: { value: "LANGUAGE" },
    meaning: "stem words with the package @orama/stemmers",
  },
  oovInNorm: {
    kind: "switch",
    default: {
      words: "yes up to 26,000 texts",
      of: ({ texts, maxDocuments, maxFeatures }) =>
        texts <= FEW_TEXTS && maxDocuments === 1 && maxFeatures === undefined,
    },
    meaning: "count out-of-vocabulary words in the norm of a text",
  },
  minDocuments: {
    kind: "whole",
    from: 1,
    default: { words: "1 up to 8,000 texts, else 2", of: ({ texts }) => (texts <= SMALL_DATA ? 1 : 2) },
    flag: { name: "min-df" },
    meaning: "drop terms of fewer than N texts; character n-grams need two",
  },
  maxDocuments: {
    kind: "number",
    above: 0,
    to: 1,
    default: 1,
    flag: { name: "max-df", value: "PART" },
    meaning: "drop terms of more than this part of the texts",
  },
  maxFeatures: {
    kind: "whole",
    from: 1,
    default: none("all of them"),
    meaning: "keep the N most frequent terms",
  },
  sublinear: { kind: "switch", default: true, meaning: "1 + ln(count) instead of the count", flag: false },
  idf: {
    kind: "switch",
    flag: false,
    meaning: "inverse document frequencies",
    default: {
      words: "yes, but not for short texts with runs by default",
      of: (known) => !(known.short && runsByDefault(known)),
    },
  },
  normalise: { kind: "switch", default: true, meaning: "scale each row to length 1", flag: false },
};

export const settingsFor = (given: TfidfOptions, texts: number, short: boolean): TfidfSettings =>
  completeTable(tfidfOptions, given, { texts, short, given });

/** Settings of a vocabulary that was learned: what is not there is off. */
export function settingsOf(options: TfidfOptions): TfidfSettings {
  const { charNgrams = false, charWeight = 0, leadWords = 0, oovInNorm = false } = options;
  return settingsFor({ ...options, charNgrams, charWeight, leadWords, oovInNorm }, 0, false);
}
