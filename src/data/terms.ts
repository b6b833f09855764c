// From a text to weighted terms, shared by whoever has a vocabulary: the vectoriser and the edge's tagger. Nothing here
// holds a vocabulary itself, so that it stays small in a bundle.
//
// A row has up to three fields: the words; the words of the text's opening once more, which say what it is about better
// than the others; runs of characters. A field is scaled to its weight, then the row to length 1. Words that the vocabulary
// does not have count in that length, so that a text of which little is known makes a short row.

import { deterministicLog } from "./elementary.ts";
import type { Stems } from "./stem.ts";
import { CHARACTERS_MARK, characterNgrams, OPENING_MARK, tokenise, wordNgrams } from "./text.ts";

/** How terms are made and weighed. */
export interface TermRules {
  readonly wordNgrams: number;
  readonly charNgrams?: readonly [least: number, most: number];
  readonly sublinear: boolean;
  readonly idf: boolean;
  readonly normalise: boolean;
  /** Weight of the opening's words; without it they are no terms. */
  readonly opening?: number;
  /** Weight of the runs of characters as a field of their own; without it they are in one field with the words. */
  readonly charWeight?: number;
  /** Terms outside the vocabulary count in the length of a row. */
  readonly countUnknown?: boolean;
  /** Language whose stems the words are cut down to; without it they stay as they are. */
  readonly stem?: string;
}

/** The fields of a row: words and runs of words, the opening once more, runs of characters. */
export const WORDS = 0;
export const OPENING = 1;
export const CHARACTERS = 2;
/** How many there are. */
export const FIELDS = 3;

/** Weights that a field may have. */
export const LEAST_WEIGHT = 0.001;
export const MOST_WEIGHT = 1000;

/** Whether a number can be the weight of a field. */
export function isFieldWeight(value: unknown): boolean {
  return typeof value === "number" && value >= LEAST_WEIGHT && value <= MOST_WEIGHT;
}

/** The field of runs of characters: with the words, unless they have a weight of their own. */
export const characterField = ({ charWeight }: TermRules): number =>
  charWeight === undefined ? WORDS : CHARACTERS;

/** The field of a term, by its first code unit. */
export function fieldOf(rules: TermRules, firstUnit: number): number {
  if (firstUnit === OPENING_MARK.charCodeAt(0)) return OPENING;
  return firstUnit === CHARACTERS_MARK.charCodeAt(0) ? characterField(rules) : WORDS;
}

/** Words in the opening of a text of n words: n^(2/3), rounded up. 5 of 10, 59 of 450. */
export function openingLength(n: number): number {
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

/**
 * Calls `emit` for every term of a text, with its field. `counts`: by these it is told how much of a text is known, the words
 * or, without words, the runs of characters.
 */
export function forEachTerm(
  text: string,
  rules: TermRules,
  emit: (term: string, field: number, counts: boolean) => void,
  stems?: Stems,
): void {
  const tokens = wordsOf(text, stems);
  wordNgrams(tokens, rules.wordNgrams, (term, counts) => emit(term, WORDS, counts));
  const [characters, alone] = [characterField(rules), rules.wordNgrams === 0];
  if (rules.charNgrams) characterNgrams(tokens, ...rules.charNgrams, (term) => emit(term, characters, alone));
  if (rules.opening === undefined) return;
  const end = openingLength(tokens.length);
  for (let i = 0; i < end; i++) emit(`${OPENING_MARK}${tokens[i]}`, OPENING, false);
}

/** Adds (column, how often) for each different column of an unordered list, columns rising. */
export function addCounts(columns: number[], add: (column: number, count: number) => void): void {
  const sorted = Int32Array.from(columns).sort();
  for (let i = 0; i < sorted.length; ) {
    const first = i;
    while (i < sorted.length && sorted[i] === sorted[first]) i++;
    add(sorted[first] as number, i - first);
  }
}

/** ln((1 + N) / (1 + df)) + 1, or 1 where the rules have no idf. */
export function inverseFrequency(
  rules: Pick<TermRules, "idf">,
  documents: number,
  documentFrequency: number,
): number {
  return rules.idf ? deterministicLog((1 + documents) / (1 + documentFrequency)) + 1 : 1;
}

/** What a term outside the vocabulary weighs: as much as the rarest one in it. */
export function unknownWeight(
  rules: TermRules,
  documents: number,
  documentFrequency: ArrayLike<number>,
): number {
  let least = documents;
  for (let i = 0; i < documentFrequency.length; i++) {
    const frequency = documentFrequency[i] as number;
    if (frequency < least) least = frequency;
  }
  return inverseFrequency(rules, documents, least);
}

/** The terms of a text that a vocabulary has, columns rising, and what it does not have. */
export interface CountedTerms {
  readonly counts: ArrayLike<number>;
  /** Field of the term at a place. */
  field(i: number): number;
  idf(i: number): number;
  /** How many terms of each field are unknown [FIELDS]; one that comes twice counts twice. */
  readonly unknown: ArrayLike<number>;
  readonly unknownWeight: number;
}

/** 1 + ln count of small counts, which nearly all are. */
const FREQUENCIES = Float64Array.from({ length: 64 }, (_, count) => 1 + deterministicLog(count));

/** The weights of a row, into `weights`: (1 + ln count) idf, each field scaled to its weight, the row to length 1. */
export function termWeights(
  rules: TermRules,
  terms: CountedTerms,
  weights: Float64Array = new Float64Array(terms.counts.length),
): Float64Array {
  const { counts } = terms;
  const squares = new Float64Array(FIELDS);
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    const frequency = rules.sublinear ? (FREQUENCIES[count] ?? 1 + deterministicLog(count)) : count;
    const weight = frequency * terms.idf(i);
    weights[i] = weight;
    const field = terms.field(i);
    squares[field] = (squares[field] as number) + weight * weight;
  }
  const divisors = fieldDivisors(rules, squares, terms);
  for (let i = 0; i < counts.length; i++)
    weights[i] = (weights[i] as number) / (divisors[terms.field(i)] as number);
  return weights;
}

/** What the weights of each field are divided by; `squares` are the sums of their squares. */
function fieldDivisors(
  rules: TermRules,
  squares: Float64Array,
  { unknown, unknownWeight: each }: CountedTerms,
): Float64Array {
  const shares = [1, rules.opening ?? 0, rules.charWeight ?? 0]; // 0 where there is no such field
  if (!rules.normalise) return Float64Array.from(shares, (share) => 1 / share);
  const lengths = squares.map((square, field) =>
    Math.sqrt(square + (rules.countUnknown ? (unknown[field] as number) * each * each : 0)),
  );
  let total = 0; // fields without any term take nothing
  for (let field = 0; field < FIELDS; field++)
    if ((lengths[field] as number) > 0) total += (shares[field] as number) * (shares[field] as number);
  const length = Math.sqrt(total);
  return lengths.map((own, field) => (own * length) / (shares[field] as number));
}
