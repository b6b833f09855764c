// From a text to weighted terms, shared by whoever has a vocabulary: the vectoriser and the edge's tagger. Nothing here
// holds a vocabulary itself, so that it stays small in a bundle.

import { deterministicLog } from "./elementary.ts";
import { characterNgrams, tokenise, wordNgrams } from "./text.ts";

/** How terms are made and weighed. */
export interface TermRules {
  readonly wordNgrams: number;
  readonly charNgrams?: readonly [least: number, most: number];
  readonly sublinear: boolean;
  readonly idf: boolean;
  readonly normalise: boolean;
}

/** `counts`: by these it is told how much of a text is known, the words or, without words, the runs of characters. */
export function forEachTerm(
  text: string,
  rules: TermRules,
  emit: (term: string, counts: boolean) => void,
): void {
  const tokens = tokenise(text);
  wordNgrams(tokens, rules.wordNgrams, emit);
  if (rules.charNgrams)
    characterNgrams(tokens, ...rules.charNgrams, (term) => emit(term, rules.wordNgrams === 0));
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
export function inverseFrequency(rules: TermRules, documents: number, documentFrequency: number): number {
  return rules.idf ? deterministicLog((1 + documents) / (1 + documentFrequency)) + 1 : 1;
}

/** 1 + ln count of small counts, which nearly all are. */
const FREQUENCIES = Float64Array.from({ length: 64 }, (_, count) => 1 + deterministicLog(count));

/** (1 + ln count) idf of each term, into `weights`, and what to divide them by. */
export function termWeights(
  rules: TermRules,
  counts: ArrayLike<number>,
  idf: (i: number) => number,
  weights: Float64Array = new Float64Array(counts.length),
): { weights: Float64Array; length: number } {
  let squares = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    const frequency = rules.sublinear ? (FREQUENCIES[count] ?? 1 + deterministicLog(count)) : count;
    const weight = frequency * idf(i);
    weights[i] = weight;
    squares += weight * weight;
  }
  return { weights, length: rules.normalise ? Math.sqrt(squares) : 1 };
}
