// From a text to a row of weighted terms, shared by whoever has a vocabulary: the vectoriser and the edge's tagger. Nothing here
// holds a vocabulary itself, so that it stays small in a bundle.
//
// A row has up to three fields: the words; the lead words, the first n^(2/3) of a text's n words once more, which say what it is about
// better than the others; runs of characters. A field is scaled to its weight, then the row to length 1. Out-of-vocabulary words may
// count in that length, so that a text of which little is known makes a short row.

import { deterministicLog } from "./math.ts";
import type { Stems } from "./stem.ts";
import { CHARACTERS_MARK, characterNgrams, LEAD_MARK, tokenise } from "./text.ts";

/** How terms are made and weighed. */
export interface TermRules {
  readonly wordNgrams: number;
  readonly charNgrams?: readonly [least: number, most: number] | false;
  readonly sublinear: boolean;
  readonly idf: boolean;
  readonly normalise: boolean;
  /** Weight of the lead words; without it they are no terms. */
  readonly leadWords?: number;
  /** Weight of the runs of characters as a field of their own; without it they are in one field with the words. */
  readonly charWeight?: number;
  /** Out-of-vocabulary terms count in the length of a row. */
  readonly oovInNorm?: boolean;
  /** Language whose stems the words are cut down to; without it they stay as they are. */
  readonly stem?: string;
}

/** The fields of a row: words and runs of words, lead words, runs of characters; and how many there are. */
export const WORDS = 0;
export const LEAD = 1;
export const CHARACTERS = 2;
export const FIELDS = 3;

/** Weights that a field may have. */
export const LEAST_WEIGHT = 0.001;
export const MOST_WEIGHT = 1000;

/** The field of runs of characters: with the words, unless they have a weight of their own. */
export const characterField = ({ charWeight }: TermRules): number => (charWeight ? CHARACTERS : WORDS);

/** The field of a term, by its first code unit. */
export function fieldOf(rules: TermRules, firstUnit: number): number {
  if (firstUnit === LEAD_MARK.charCodeAt(0)) return LEAD;
  return firstUnit === CHARACTERS_MARK.charCodeAt(0) ? characterField(rules) : WORDS;
}

/** Lead words of a text of n words: n^(2/3), rounded up. 5 of 10, 59 of 450. */
export function leadLength(n: number): number {
  let words = 0;
  while (words * words * words < n * n) words++;
  return words;
}

/** The words of a text, or their stems. */
export function wordsOf(text: string, stems: Stems | undefined): string[] {
  const words = tokenise(text);
  return stems ? words.map((word) => stems.of(word)) : words;
}

/** The words of a text (by their stems, if there are any), each as it is first written. */
export function writtenWords(text: string, stems: Stems | undefined): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const word of tokenise(text)) {
    const term = stems ? stems.of(word) : word;
    if (!words.has(term)) words.set(term, word);
  }
  return words;
}

/** Numbers of the terms that a word brings wherever it stands; that of the lead word is looked for when one is met. */
interface WordTerms {
  readonly word: number;
  readonly runs: readonly number[];
  lead?: number;
}

/** So many terms of words are remembered, if the words are not longer than this; then all are forgotten. */
const MOST_REMEMBERED = 1 << 20;
const LONGEST_REMEMBERED = 64;

/** The terms of texts by numbers: those of a word are looked for once. */
export class TermScanner {
  readonly #words = new Map<string, WordTerms>();
  #remembered = 0;

  constructor(
    private readonly rules: TermRules,
    private readonly numberOf: (term: string) => number,
    private readonly stems?: Stems,
  ) {}

  /**
   * Visits the terms of a text, each with its field. `counts`: by these it is told how much of a text is known, the words or, without
   * words, the runs of characters.
   */
  scan(text: string, visit: (number: number, field: number, counts: boolean, word: string) => void): void {
    const { wordNgrams: most, leadWords } = this.rules;
    const tokens = wordsOf(text, this.stems);
    const characters = characterField(this.rules);
    const lead = leadWords ? leadLength(tokens.length) : 0;
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i];
      const terms = this.#words.get(token) ?? this.#termsOf(token);
      if (most > 0) visit(terms.word, WORDS, true, token);
      for (let n = 1, phrase = token; n < most && i + n < tokens.length; n++) {
        phrase += ` ${tokens[i + n]}`;
        visit(this.numberOf(phrase), WORDS, false, token);
      }
      for (const run of terms.runs) visit(run, characters, most === 0, token);
      if (i >= lead) continue;
      terms.lead ??= this.numberOf(`${LEAD_MARK}${token}`);
      visit(terms.lead, LEAD, false, token);
    }
  }

  #termsOf(token: string): WordTerms {
    const { wordNgrams, charNgrams } = this.rules;
    const runs: number[] = [];
    if (charNgrams) characterNgrams([token], ...charNgrams, (run) => runs.push(this.numberOf(run)));
    const terms = { word: wordNgrams > 0 ? this.numberOf(token) : -1, runs };
    if (token.length > LONGEST_REMEMBERED) return terms;
    this.#remembered += 1 + runs.length;
    if (this.#remembered > MOST_REMEMBERED) {
      this.#words.clear();
      this.#remembered = 0;
    }
    this.#words.set(token, terms);
    return terms;
  }
}

/** ln((1 + N) / (1 + df)) + 1, or 1 where the rules have no idf. */
export function inverseFrequency(rules: Pick<TermRules, "idf">, documents: number, documentFrequency: number): number {
  return rules.idf ? deterministicLog((1 + documents) / (1 + documentFrequency)) + 1 : 1;
}

/** Weight of an out-of-vocabulary term: that of the rarest one in the vocabulary. */
export function unknownWeight(rules: TermRules, documents: number, documentFrequency: ArrayLike<number>): number {
  let least = documents;
  for (let i = 0; i < documentFrequency.length; i++) if (documentFrequency[i] < least) least = documentFrequency[i];
  return inverseFrequency(rules, documents, least);
}

/** 1 + ln count of small counts, which nearly all are. */
const FREQUENCIES = Float64Array.from({ length: 64 }, (_, count) => 1 + deterministicLog(count));

/**
 * Divisors of the weights of each field; `squares` are the sums of their squares, `unknown` how many terms of each are out of
 * vocabulary, one that comes twice being two.
 */
function fieldDivisors(
  { rules, unknownWeight: each }: Weighing,
  squares: Float64Array,
  unknown: Int32Array,
): Float64Array {
  const shares = [1, rules.leadWords ?? 0, rules.charWeight ?? 0]; // 0 where there is no such field
  if (!rules.normalise) return Float64Array.from(shares, (share) => 1 / share);
  const lengths = squares.map((square, field) =>
    Math.sqrt(square + (rules.oovInNorm ? unknown[field] * each * each : 0)),
  );
  let total = 0; // fields without any term take nothing
  for (let field = 0; field < FIELDS; field++) if (lengths[field] > 0) total += shares[field] * shares[field];
  const length = Math.sqrt(total);
  return lengths.map((own, field) => (own * length) / shares[field]);
}

/** A text as a row of a vocabulary; columns rise. */
export interface TextRow {
  readonly columns: Int32Array;
  readonly values: Float32Array;
  /** Part of the words that the vocabulary has, 0 where there are none. */
  readonly coverage: number;
}

/** A vocabulary's columns as rows are weighed by. */
export interface Weighing {
  readonly rules: TermRules;
  readonly unknownWeight: number;
  idf(column: number): number;
}

/** Collects the terms of one text after another, by the columns that a vocabulary has for them, and makes their rows. */
export class TextRows {
  #found: number[] = []; // FIELDS times the column, plus the field, of each term
  readonly #unknown = new Int32Array(FIELDS);
  #words = 0;
  #known = 0;

  constructor(private readonly weighing: Weighing) {}

  /** A term of the text; its column is -1 where it is out of vocabulary. `counts` as in `TermScanner`. */
  add(column: number, field: number, counts: boolean): void {
    if (counts) this.#words++;
    if (column < 0) {
      this.#unknown[field]++;
      return;
    }
    if (counts) this.#known++;
    this.#found.push(column * FIELDS + field);
  }

  /** The row of the terms so far, (1 + ln count) idf of each, a field scaled to its weight, the row to length 1. The next one begins with nothing. */
  end(): TextRow {
    const places = new Int32Array(this.#found).sort(); // then each once
    const counts = new Float64Array(places.length);
    let distinct = 0;
    for (let i = 0; i < places.length; i++) {
      if (i === 0 || places[i] !== places[distinct - 1]) places[distinct++] = places[i];
      counts[distinct - 1]++;
    }
    const columns = places.slice(0, distinct).map((place) => Math.floor(place / FIELDS));
    const { rules, idf } = this.weighing;
    const squares = new Float64Array(FIELDS);
    const weights = counts.subarray(0, distinct).map((count, i) => {
      const frequency = rules.sublinear ? (FREQUENCIES[count] ?? 1 + deterministicLog(count)) : count;
      const weight = frequency * idf(columns[i]);
      squares[places[i] % FIELDS] += weight * weight;
      return weight;
    });
    const divisors = fieldDivisors(this.weighing, squares, this.#unknown);
    const values = new Float32Array(weights.map((weight, i) => weight / divisors[places[i] % FIELDS]));
    const coverage = this.#words === 0 ? 0 : this.#known / this.#words;
    this.#found = [];
    this.#unknown.fill(0);
    [this.#words, this.#known] = [0, 0];
    return { columns, values, coverage };
  }
}
