// Words that a vocabulary does not have, counted while texts go through it: a model cannot learn them, and when many
// texts share such words a new training pays.

/** A word of so many texts is one that a vocabulary would take up. */
const SHARED_BY = 3;
/** Beyond so many different words only those already met are counted. */
const MOST_WORDS = 1_000_000;

export interface NewWordCounts {
  /** Different words. */
  readonly words: number;
  /** Those among them that several texts have. */
  readonly shared: number;
  /** Texts that went through, and those that have a word that several have. */
  readonly texts: number;
  readonly textsWithShared: number;
}

export class NewWords {
  readonly #numbers = new Map<string, number>();
  readonly #texts: number[] = []; // of each word
  readonly #rows: Int32Array[] = []; // numbers of the words of each text
  #row = new Set<number>();

  add(word: string): void {
    let number = this.#numbers.get(word);
    if (number === undefined) {
      if (this.#numbers.size >= MOST_WORDS) return;
      number = this.#numbers.size;
      this.#numbers.set(word, number);
      this.#texts.push(0);
    }
    this.#row.add(number);
  }

  endText(): void {
    for (const number of this.#row) this.#texts[number] = this.#texts[number] + 1;
    this.#rows.push(Int32Array.from(this.#row));
    this.#row = new Set();
  }

  counts(): NewWordCounts {
    const isShared = (number: number): boolean => this.#texts[number] >= SHARED_BY;
    return {
      words: this.#numbers.size,
      shared: this.#texts.filter((_, number) => isShared(number)).length,
      texts: this.#rows.length,
      textsWithShared: this.#rows.filter((row) => row.some(isShared)).length,
    };
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
