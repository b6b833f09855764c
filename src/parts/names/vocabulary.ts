// The labels that have names: those of a vocabulary, or labels whose own text is words.

import type { FullTrainOptions } from "../options.ts";
import type { NamedLabel } from "./row.ts";

/** Between the levels of a label: `use::gameplaying`, `a/b/c`, `a > b`. */
const LEVELS = /::|\/|\\|>|\|/;
/** Words, not a number or a code: two letters in a row, or a sign that is a word. */
const WORDS = /\p{L}{2}|[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u;

/** The names that a label's own text gives it: its last level, then those above; none of an address or a number. */
export function ownNames(label: string): string[] {
  if (label.includes("://")) return [];
  const levels = label.split(LEVELS).map((level) => level.trim());
  return levels.reverse().filter((level) => WORDS.test(level));
}

/** The labels that have names, in a fixed order. */
export function namedLabels(names: FullTrainOptions["names"], labelNames: readonly string[] = []): NamedLabel[] {
  if (names === "off") return [];
  const given: [string, readonly string[]][] =
    names === "labels"
      ? labelNames.map((label) => [label, ownNames(label)])
      : Object.entries(names).map(([label, own]) => [label, typeof own === "string" ? [own] : own]);
  return given.filter(([, own]) => own.length > 0).map(([label, own]): NamedLabel => [label, ...own]);
}
