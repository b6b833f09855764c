// The words of a row that speak for a label, from what each entry of the row brings to its score: the same in the library and at
// the edge.
//
// A lead word of the text, and a run of characters, speak for the word that they are of, whether the vocabulary has that
// word or not. A stem is shown as the text writes it.

import type { Reason } from "./prediction.ts";
import { CHARACTERS_MARK, LEAD_MARK } from "./text.ts";

/** Words of a row that are left out one by one, where a score is no sum over words. */
export const MOST_LEFT_OUT = 64;

/** A vector among the words of a row: its entries are one. */
export const vectorName = (name: string): string => `[${name}]`;

/** A word or feature, and the entries of the row that are of it. */
export interface Word {
  readonly name: string;
  readonly entries: number[];
}

/**
 * The words of a row in the order of its entries, which have these names; those of texts have marks. `inText` are the words of
 * the text; where nobody kept it, runs of characters are looked for in the words that the vocabulary has.
 */
export function wordsOfRow(names: readonly string[], fromText: boolean, inText?: Iterable<string>): Word[] {
  const isMarked = (name: string, mark: string): boolean => fromText && name.length > 1 && name.startsWith(mark);
  const plain = (name: string): string => (isMarked(name, LEAD_MARK) ? name.slice(LEAD_MARK.length) : name);
  const isRun = (name: string): boolean => isMarked(name, CHARACTERS_MARK);
  const runOf = (name: string): string => name.slice(CHARACTERS_MARK.length);
  const wholes = inText ?? names.filter((name) => !isRun(name)).map(plain);
  const wordOf = firstWithRun(wholes, names.filter(isRun).map(runOf));
  const words = new Map<string, Word>();
  names.forEach((name, entry) => {
    const key = isRun(name) ? (wordOf.get(runOf(name)) ?? shownRun(runOf(name))) : plain(name);
    const found = words.get(key) ?? { name: key, entries: [] };
    found.entries.push(entry);
    words.set(key, found);
  });
  return [...words.values()];
}

/** The first of the words that has a run of characters in it, its ends as marks. */
function firstWithRun(words: Iterable<string>, runs: readonly string[]): Map<string, string> {
  const [wanted, lengths] = [new Set(runs), new Set(runs.map(({ length }) => length))];
  const found = new Map<string, string>();
  for (const word of words) {
    const bounded = `_${word}_`;
    for (const length of lengths)
      for (let from = 0; from + length <= bounded.length; from++) {
        const run = bounded.slice(from, from + length);
        if (wanted.has(run) && !found.has(run)) found.set(run, word);
      }
  }
  return found;
}

/** A run of characters as a part of a word: `tio` -> "…tio…", `_st` -> "st…", which begins one. */
function shownRun(run: string): string {
  const [before, after] = [run.startsWith("_") ? "" : "…", run.endsWith("_") ? "" : "…"];
  return before + run.replaceAll("_", "") + after;
}

/** Which of the words weigh most, at most MOST_LEFT_OUT; `values` are those of the entries. */
export function weightiest(words: readonly Word[], values: ArrayLike<number>): number[] {
  const square = (entry: number): number => values[entry] * values[entry];
  return words
    .map(({ entries }, at) => ({ at, weight: entries.reduce((sum, entry) => sum + square(entry), 0) }))
    .sort((a, b) => b.weight - a.weight || a.at - b.at)
    .slice(0, MOST_LEFT_OUT)
    .map(({ at }) => at);
}

/** At most `count` words that speak for a label and as many against it, greatest share first. */
export function reasonsOf(words: readonly Word[], shares: ArrayLike<number>, count: number): Reason[] {
  const all = words
    .map(({ name: word }, at) => ({ at, reason: { word, share: shares[at] } }))
    .filter(({ reason: { share } }) => share !== 0)
    .sort((a, b) => b.reason.share - a.reason.share || a.at - b.at)
    .map(({ reason }) => reason);
  const speaking = all.filter(({ share }) => share > 0).slice(0, count);
  const against = all.filter(({ share }) => share < 0).slice(-count);
  return [...speaking, ...against];
}

/** A term of stems, or a run of them, in the words of the text. */
export function asWritten(term: string, words: ReadonlyMap<string, string>): string {
  return term
    .split(" ")
    .map((stem) => words.get(stem) ?? stem)
    .join(" ");
}

/** The reasons for a label, its name first where that stands in the text. */
export const withName = (name: Reason | undefined, words: readonly Reason[] = []): Reason[] =>
  name ? [name, ...words] : [...words];
