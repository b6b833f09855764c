// Words that a vocabulary does not have, counted while texts go through it: a model cannot learn them, and when many
// texts share such words a new training pays.

/** A word of so many texts is one that a vocabulary would take up. */
const SHARED_BY = 3;
/** Beyond so many different words only those already met are counted. */
const MOST_WORDS = 1_000_000;

export interface NewWordCounts {
  readonly words: number;
  /** Those among them that several texts have. */
  readonly shared: number;
  /** Texts that went through, and those that have a word that several have. */
  readonly texts: number;
  readonly textsWithShared: number;
}

export class NewWords {
  readonly #texts = new Map<string, number[]>(); // the texts that have each word, by their numbers
  #text = 0;

  add(word: string): void {
    const texts = this.#texts.get(word) ?? [];
    if (texts.at(-1) === this.#text || (texts.length === 0 && this.#texts.size >= MOST_WORDS)) return;
    texts.push(this.#text);
    this.#texts.set(word, texts);
  }

  endText(): void {
    this.#text++;
  }

  counts(): NewWordCounts {
    const shared = [...this.#texts.values()].filter(({ length }) => length >= SHARED_BY);
    const textsWithShared = new Set(shared.flat()).size;
    return { words: this.#texts.size, shared: shared.length, texts: this.#text, textsWithShared };
  }
}

/** A note on new words, in one sentence; undefined where there are none. */
export function aboutNewWords({ words, shared, texts, textsWithShared }: NewWordCounts): string | undefined {
  if (words === 0) return undefined;
  const said = `${words} words are new to the vocabulary and were left out`;
  if (shared === 0) return said;
  const part = `${said}; ${shared} of them are in several documents, ${textsWithShared} of ${texts} have such a word`;
  return textsWithShared * 5 < texts ? part : `${part}: a new training would pay`;
}
