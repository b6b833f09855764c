// Options of a vocabulary, and their defaults.

/** What a term is, and how it is weighed. */
export interface TfidfOptions {
  /** Longest run of words that is a term; 0 for no words. Default 1. */
  readonly wordNgrams?: number;
  /** Shortest and longest run of characters within a word that is a term, e.g. [3, 5]. Default: none. */
  readonly charNgrams?: readonly [least: number, most: number];
  /** A term must occur in at least so many texts. Default 2. */
  readonly minDocuments?: number;
  /** A term may occur in at most this fraction of the texts. Default 1. */
  readonly maxDocuments?: number;
  /** Keep the terms that occur in most texts, ties by the term. Default: all. */
  readonly maxFeatures?: number;
  /** 1 + ln(count) instead of the count. Default true. */
  readonly sublinear?: boolean;
  /** Times ln((1 + N) / (1 + df)) + 1. Default true. */
  readonly idf?: boolean;
  /** Scale each row to length 1. Default true. */
  readonly normalise?: boolean;
}

export type TfidfSettings = Required<Omit<TfidfOptions, "charNgrams" | "maxFeatures">> &
  Pick<TfidfOptions, "charNgrams" | "maxFeatures">;

function demand(right: boolean, name: string, found: unknown, expected: string): void {
  if (!right) throw new RangeError(`found ${name} = ${JSON.stringify(found)}, expected ${expected}`);
}

export function isCount(value: unknown, least: number, most: number = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

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
  for (const name of ["sublinear", "idf", "normalise"] as const) {
    demand(typeof settings[name] === "boolean", name, settings[name], "true or false");
  }
  return settings;
}
