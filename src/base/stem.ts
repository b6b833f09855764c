// Words cut down to their stems, so that "library" and "libraries" are one term. The rules of a language are not here: whoever
// has texts of it brings its stemmer, a module of the package @orama/stemmers or anything of that shape.

/** The stemmer of a language, as the modules of @orama/stemmers are: `import * as english from "@orama/stemmers/english"`. */
export interface Stemmer {
  readonly language: string;
  stemmer(word: string): string;
}

/** No word of a language is longer (code units); a longer run of letters stays as it is, so that it costs nothing. */
const LONGEST_WORD = 64;
/** Stems that are remembered; then all are forgotten. */
const MOST_REMEMBERED = 1 << 16;

/** Stems of words, remembered: the words of texts are mostly the same ones. */
export class Stems {
  readonly #known: Map<string, string> = new Map();

  constructor(private readonly stemmer: Stemmer) {}

  /** The stem of a word; the word itself where nothing would be left of it. */
  of(word: string): string {
    if (word.length > LONGEST_WORD) return word;
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    if (this.#known.size === MOST_REMEMBERED) this.#known.clear();
    const stem = this.stemmer.stemmer(word) || word;
    this.#known.set(word, stem);
    return stem;
  }
}
