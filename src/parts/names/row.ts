// Names of labels, looked for in texts. A label stands in a text where all words of one of its names do (but words that most texts
// have); features of the best such name say how likely the label is meant. Imports nothing but the ground floor: the edge uses it too.
//
// The probability of a label with logit z, seen in n training documents (class c: 0, 1-2, 3-9, 10 or more), is that of
//
//   stands in the text          a_c + b_c z + w_c . features          (b_0 = 0: labels that no document has are found by name alone)
//   has a name that does not    a'_c + b'_c z
//   has no name                 z

import { deterministicLog } from "../../base/math.ts";
import type { Stems } from "../../base/stem.ts";
import type { Fields, TensorReader } from "../../base/tensors.ts";
import { tokenise } from "../../base/text.ts";
import type { LogitMover, OpenMover } from "../row.ts";

/** A label with its names, the preferred one first. */
export type NamedLabel = readonly [label: string, ...names: string[]];

/** How often words of names are in the training texts, in the order in which the names have them first. */
export interface WordCounts {
  readonly frequency: Int32Array;
  readonly documents: number;
}

/** A label that stands in a text. */
export interface Mention {
  /** Its number among the named labels. */
  readonly entry: number;
  /** The name that was found. */
  readonly name: number;
  readonly features: Float64Array; // [FEATURES]
}

/** Classes of labels by their training documents. */
export const CLASSES = 4;
export const classOf = (count: number): number => (count === 0 ? 0 : count < 3 ? 1 : count < 10 ? 2 : 3);

/** Numbers that describe a mention. */
export const FEATURES = 16;
/** Weights of the two kinds of labels: a_c, b_c, w_c for each class; a'_c, b'_c. */
export const STANDING: number = 2 + FEATURES;
export const WEIGHTS: number = CLASSES * STANDING + CLASSES * 2;

/** A word in more than this share of the training texts need not be in a text. */
const COMMON = 0.25;
/** Words from the start of a text that count as its opening. */
const OPENING = 12;
/** So many tokens are remembered, and of so many characters: a longer one may keep the text alive that it was cut from (V8). */
const [MOST_TOKENS, LONGEST_TOKEN] = [50_000, 12];
/** Known words within a longer one are looked for from this length on, and words that may have some from this one. */
const [SHORTEST_PART, SHORTEST_COMPOUND] = [5, 9];
/** Languages that write compounds as one word. */
const COMPOUNDING = /^(german|dutch|danish|norwegian|swedish|finnish|hungarian)$/;

/** Endings of English, where no stemmer was asked for; in other languages they do little harm. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ["ies", "y"],
  ["sses", "ss"],
  ["ing", ""],
  ["ed", ""],
  ["ation", "at"],
  ["s", ""],
];

function plain(word: string): string {
  if (word.endsWith("ss")) return word;
  for (const [ending, rest] of ENDINGS)
    if (word.endsWith(ending) && word.length >= ending.length + 3) return word.slice(0, -ending.length) + rest;
  return word;
}

/** A name without a note in brackets. */
const NOTE = /\([^()]*\)|<[^<>]*>/g;

const log1p = (x: number): number => deterministicLog(1 + x);

/** The words of a text by their numbers, -1 for those that no name has. */
interface Words {
  readonly sequence: Int32Array;
  /** The last place of each word that occurs, and how often it does. */
  readonly places: Map<number, number[]>;
}

/** Finds labels by their names. */
export class NameMatcher {
  readonly labels: readonly NamedLabel[];
  readonly #stems: Stems | undefined;
  readonly #compounds: boolean;
  readonly #words = new Map<string, number>();
  /** Words of each name from start to start, the label that it is of, and whether it is another than the preferred one or has a note. */
  readonly #start: Int32Array;
  readonly #tokens: Int32Array;
  /** Tokens that came before, with their words. */
  readonly #tokensBefore = new Map<string, number>();
  readonly #entry: Int32Array;
  readonly #other: Uint8Array;
  readonly #note: Uint8Array;
  /** The place of the rarest word of each name, and the idf of its words together; names by their rarest word. */
  #anchor: Int32Array = new Int32Array(0);
  #information: Float64Array = new Float64Array(0);
  #idf: Float64Array = new Float64Array(0);
  #postings: Int32Array = new Int32Array(0);
  #postingStart: Int32Array = new Int32Array(0);
  #common: Uint8Array = new Uint8Array(0); // words that need not be in a text

  constructor(labels: readonly NamedLabel[], stems: Stems | undefined, language?: string) {
    this.labels = labels;
    this.#stems = stems;
    this.#compounds = COMPOUNDING.test(language ?? "");
    const [starts, tokens, entries, others, notes]: number[][] = [[0], [], [], [], []];
    labels.forEach(([, ...names], entry) => {
      names.forEach((name, i) => {
        const bare = name.replace(NOTE, " ");
        for (const word of tokenise(bare)) tokens.push(this.#number(this.#plain(word)));
        if (tokens.length === starts.at(-1)) return;
        starts.push(tokens.length);
        entries.push(entry);
        others.push(i > 0 ? 1 : 0);
        notes.push(bare === name ? 0 : 1);
      });
    });
    this.#start = Int32Array.from(starts);
    this.#tokens = Int32Array.from(tokens);
    this.#entry = Int32Array.from(entries);
    this.#other = Uint8Array.from(others);
    this.#note = Uint8Array.from(notes);
  }

  /** How many different words the names have. */
  get words(): number {
    return this.#words.size;
  }

  /** 1 for each label that has a name. */
  get named(): Uint8Array {
    const named = new Uint8Array(this.labels.length);
    for (const entry of this.#entry) named[entry] = 1;
    return named;
  }

  #plain(word: string): string {
    return this.#stems ? this.#stems.of(word) : plain(word);
  }

  #number(word: string): number {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    this.#words.set(word, this.#words.size);
    return this.#words.size - 1;
  }

  #read(text: string): Words {
    const tokens = tokenise(text);
    const sequence = new Int32Array(tokens.length);
    const places = new Map<number, number[]>();
    const stands = (word: number, at: number): void => {
      const own = places.get(word);
      if (own) own.push(at);
      else places.set(word, [at]);
    };
    tokens.forEach((token, at) => {
      const word = this.#wordOf(token);
      sequence[at] = word;
      if (word >= 0) stands(word, at);
    });
    return { sequence, places };
  }

  /** The word of names that a token is, -1 where it is none. */
  #wordOf(token: string): number {
    const known = this.#tokensBefore.get(token);
    if (known !== undefined) return known;
    const word = this.#words.get(this.#plain(token)) ?? (this.#compounds ? this.#longestPart(token) : -1);
    if (this.#tokensBefore.size >= MOST_TOKENS) this.#tokensBefore.clear();
    if (token.length <= LONGEST_TOKEN) this.#tokensBefore.set(token, word);
    return word;
  }

  /** The longest known word that a longer one ends with, or begins with; -1 where there is none. */
  #longestPart(token: string): number {
    if (token.length < SHORTEST_COMPOUND || token.length > 64) return -1;
    for (let length = token.length - 1; length >= SHORTEST_PART; length--)
      for (const part of [token.slice(-length), token.slice(0, length)]) {
        const word = this.#words.get(this.#plain(part));
        if (word !== undefined) return word;
      }
    return -1;
  }

  /** The words of names that are in a text. */
  wordsOf(text: string): Iterable<number> {
    return this.#read(text).places.keys();
  }

  /** Gets ready to find names; words are weighed by these counts. */
  prepare({ frequency, documents }: WordCounts): this {
    const [start, tokens] = [this.#start, this.#tokens];
    const names = this.#entry.length;
    const idf = Float64Array.from({ length: this.words }, (_, word) =>
      deterministicLog((documents + 1) / ((frequency[word] ?? 0) + 1)),
    );
    const common = Uint8Array.from(idf, (_, word) => (frequency[word] > COMMON * documents ? 1 : 0));
    this.#idf = idf;
    this.#anchor = new Int32Array(names);
    this.#information = new Float64Array(names);
    const postingStart = new Int32Array(this.words + 1);
    for (let name = 0; name < names; name++) {
      let anchor = start[name];
      for (let at = start[name]; at < start[name + 1]; at++) {
        if (idf[tokens[at]] > idf[tokens[anchor]]) anchor = at;
        if (!common[tokens[at]]) this.#information[name] += idf[tokens[at]];
      }
      this.#anchor[name] = anchor;
      postingStart[tokens[anchor] + 1]++;
    }
    for (let word = 0; word < this.words; word++) postingStart[word + 1] += postingStart[word];
    const next = postingStart.slice();
    this.#postings = new Int32Array(names);
    for (let name = 0; name < names; name++) this.#postings[next[tokens[this.#anchor[name]]]++] = name;
    this.#postingStart = postingStart;
    this.#common = common;
    return this;
  }

  /** The labels that stand in a text, in the order of their numbers. */
  find(text: string): Mention[] {
    const { sequence, places } = this.#read(text);
    const best = new Map<number, Found>();
    for (const word of places.keys())
      for (let p = this.#postingStart[word]; p < this.#postingStart[word + 1]; p++) {
        const found = this.#match(this.#postings[p], sequence, places);
        if (!found) continue;
        const entry = this.#entry[found.name];
        const before = best.get(entry);
        if (!before || isBetter(found, before)) best.set(entry, found);
      }
    const cover = new Int32Array(sequence.length); // the longest name that stands over each place
    for (const { name, runs } of best.values()) {
      const length = this.#start[name + 1] - this.#start[name];
      for (const at of runs) for (let i = at; i < at + length; i++) cover[i] = Math.max(cover[i], length);
    }
    const about = { words: sequence.length, mentions: best.size, cover };
    return [...best.keys()]
      .sort((a, b) => a - b)
      .map((entry) => {
        const found = best.get(entry) as Found;
        return { entry, name: found.name, features: this.#features(found, about) };
      });
  }

  #match(name: number, sequence: Int32Array, places: Map<number, number[]>): Found | undefined {
    const [from, to, tokens] = [this.#start[name], this.#start[name + 1], this.#tokens];
    let least = Number.POSITIVE_INFINITY;
    let first = Number.POSITIVE_INFINITY;
    for (let at = from; at < to; at++) {
      const own = places.get(tokens[at]);
      if (own === undefined) {
        if (this.#common[tokens[at]]) continue;
        return undefined;
      }
      if (this.#common[tokens[at]] && at !== this.#anchor[name]) continue;
      least = Math.min(least, own.length);
      first = Math.min(first, own[0]);
    }
    const offset = this.#anchor[name] - from;
    const runs: number[] = [];
    for (const place of places.get(tokens[this.#anchor[name]]) as number[]) {
      const begin = place - offset;
      let same = 0;
      while (same < to - from && sequence[begin + same] === tokens[from + same]) same++;
      if (same === to - from) runs.push(begin);
    }
    return { name, least, first: runs[0] ?? first, runs, information: this.#information[name] };
  }

  #features(
    { name, least, first, runs, information }: Found,
    { words, mentions, cover }: { words: number; mentions: number; cover: Int32Array },
  ): Float64Array {
    const length = this.#start[name + 1] - this.#start[name];
    const inRun = runs.length > 0 ? 1 : 0;
    const opens = first < OPENING ? 1 : 0;
    const within = inRun && runs.every((at) => cover[at] > length) ? 1 : 0;
    return Float64Array.of(
      information,
      information / length,
      this.#idf[this.#tokens[this.#anchor[name]]],
      Math.min(length, 6),
      log1p(runs.length),
      inRun,
      log1p(least),
      log1p(first),
      opens,
      this.#note[name],
      this.#other[name],
      log1p(words),
      log1p(mentions),
      inRun * opens,
      inRun * information,
      within,
    );
  }

  /** The words of a text that a mention is made of, as they are written. */
  written(text: string, { name }: Mention): string[] {
    const own = new Set(this.#tokens.subarray(this.#start[name], this.#start[name + 1]));
    const { sequence } = this.#read(text);
    const tokens = tokenise(text);
    return [...own].flatMap((word) => {
      const at = sequence.indexOf(word);
      return at < 0 || this.#common[word] ? [] : [tokens[at]];
    });
  }
}

/** A name that was found. */
interface Found {
  readonly name: number;
  /** How often its rarest word is there, where it stands first, and where it stands in a row. */
  readonly least: number;
  readonly first: number;
  readonly runs: readonly number[];
  readonly information: number;
}

/** Names that stand in a row before others, then those that say more. */
const isBetter = (a: Found, b: Found): boolean =>
  a.runs.length > 0 !== b.runs.length > 0
    ? a.runs.length > 0
    : a.information > b.information || (a.information === b.information && a.name < b.name);

/** Logit of a label that stands in a text. */
export function standingLogit(
  weights: ArrayLike<number>,
  group: number,
  logit: number,
  features: Float64Array,
): number {
  const from = group * STANDING;
  let sum = weights[from] + (group === 0 ? 0 : weights[from + 1] * logit);
  for (let i = 0; i < FEATURES; i++) sum += weights[from + 2 + i] * features[i];
  return sum;
}

/** Logit of a label whose name does not. */
export function absentLogit(weights: ArrayLike<number>, group: number, logit: number): number {
  const from = CLASSES * STANDING + 2 * group;
  return weights[from] + weights[from + 1] * logit;
}

/** Numbers of named labels among these; others are numbered behind them, in their order. */
export function numbersOf(labels: readonly NamedLabel[], names: readonly string[]): Int32Array {
  const numbers = new Map(names.map((name, number) => [name, number]));
  let next = names.length;
  return Int32Array.from(labels, ([label]) => numbers.get(label) ?? next++);
}

/** Moves logits by names; labels beyond the model's come after them, in the order of the vocabulary. */
export function nameMover(
  matcher: NameMatcher,
  weights: ArrayLike<number>,
  documents: number,
  labelNames: readonly string[],
  labelCounts: ArrayLike<number>,
): LogitMover {
  const known = labelNames.length;
  const numbers = numbersOf(matcher.labels, labelNames);
  const { named } = matcher;
  const groups = new Int8Array(known).fill(-1); // classes of labels with a name
  numbers.forEach((label, entry) => {
    if (named[entry] && label < known) groups[label] = classOf(labelCounts[label]);
  });
  const groupOf = (label: number): number => (label < known ? groups[label] : 0);
  const standing = (text: string): Map<number, Float64Array> =>
    new Map(matcher.find(text).map(({ entry, features }) => [numbers[entry], features]));
  const moved: LogitMover["moved"] = (label, logit, features) => {
    const group = groupOf(label);
    if (features) return standingLogit(weights, group, logit, features);
    return group > 0 ? absentLogit(weights, group, logit) : logit;
  };
  return {
    unseen: matcher.labels.filter((_, entry) => numbers[entry] >= known).map(([label]) => label),
    standing,
    moved,
    most: (logit) => Math.max(logit, ...[1, 2, 3].map((group) => absentLogit(weights, group, logit))),
    move(text, logits) {
      const found = standing(text);
      for (let label = 0; label < known; label++) logits[label] = moved(label, logits[label], found.get(label));
      const beyond = [...found].filter(([label]) => label >= known);
      // Single precision, as the other logits: labels of the same name are equals.
      return beyond
        .map(([label, features]) => ({ label, value: Math.fround(moved(label, 0, features)) }))
        .sort((a, b) => b.value - a.value || a.label - b.label);
    },
    reason(text, label, logit) {
      const found = matcher.find(text).find(({ entry }) => numbers[entry] === label);
      if (!found) return undefined;
      const group = groupOf(label);
      const slope = group > 0 ? weights[group * STANDING + 1] : 0;
      const before = slope > 0 ? (logit - standingLogit(weights, group, 0, found.features)) / slope : 0;
      const without = slope > 0 ? absentLogit(weights, group, before) : deterministicLog(0.5 / (documents + 1));
      return { word: matcher.written(text, found).join(" "), share: logit - without, stands: true };
    },
  };
}

/** Weights beyond it make no sense. */
const LARGEST_WEIGHT = 1e6;

/** Names in a compact file; they are ready once the stemmer of the vocabulary is known. */
export const namesRow: OpenMover = (reader, about) => {
  const { labels, weights, ...counts } = namesFrom(reader, about);
  return {
    info: { names: labels.length },
    open: (stems, language, labelNames, labelCounts) =>
      nameMover(
        new NameMatcher(labels, stems, language).prepare(counts),
        weights,
        counts.documents,
        labelNames,
        labelCounts,
      ),
  };
};

/** Names of a file, checked. */
export function namesFrom(
  reader: TensorReader,
  about: Fields,
): WordCounts & { readonly labels: readonly NamedLabel[]; readonly weights: Float64Array } {
  let found: unknown;
  try {
    found = JSON.parse(new TextDecoder().decode(reader.tensor("labels", ["U8"], [-1]).data));
  } catch {
    reader.refuse("names of labels that are not JSON", "lists of texts");
  }
  const isNamed = (each: unknown): boolean =>
    Array.isArray(each) && each.length > 1 && each.every((text) => typeof text === "string");
  if (!Array.isArray(found) || !found.every(isNamed)) reader.refuse("no right names of labels", "lists of texts");
  const labels = found as NamedLabel[];
  if (new Set(labels.map(([label]) => label)).size < labels.length) reader.refuse("a named label twice", "each once");
  const documents = reader.integer(about, "documents", 0, 2 ** 31 - 1);
  const [words] = reader.shape("frequency", 1);
  const frequency = reader.integers("frequency", words, documents + 1);
  const weights = reader.within("weights", reader.doubles("weights", [WEIGHTS]), -LARGEST_WEIGHT, LARGEST_WEIGHT);
  return { labels, documents, frequency, weights };
}
