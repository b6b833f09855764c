// Texts to sparse rows: term counts weighed by inverse document frequency. The vocabulary and the frequencies
// are the whole state; they are saved in the model, and the weights come out the same in every runtime.

import { defined, isObject } from "../base/check.ts";
import { DataError, shownJson } from "../base/errors.ts";
import type { VectorShape } from "../base/input.ts";
import { atOnce } from "../base/progress.ts";
import type { SparseRows } from "../base/sparse.ts";
import { Stems } from "../base/stem.ts";
import {
  CHARACTERS,
  fieldOf,
  inverseFrequency,
  type TermRules,
  TermScanner,
  TextRows,
  unknownWeight,
  writtenWords,
} from "../base/terms.ts";
import { tokenise } from "../base/text.ts";
import { type Growable, growableIntegers, SparseRowsBuilder } from "./builders.ts";
import type { NewWords } from "./newwords.ts";
import { languageOf, loadedStemmer } from "./stemmers.ts";
import {
  LEAST_WITH_RUN,
  mostWithRuns,
  SHORT_WORDS,
  settingsFor,
  settingsOf,
  type TfidfOptions,
  type TfidfSettings,
  UNKNOWN,
} from "./tfidfoptions.ts";
import { areVectors, type EmbedderMark } from "./vectors.ts";

/** A vectoriser as it is saved. */
export interface TfidfState {
  readonly version: 1;
  readonly options: TfidfOptions;
  readonly documents: number; // N
  readonly terms: readonly string[]; // sorted by code units; the position is the column
  readonly documentFrequency: readonly number[]; // df of each term
  /** Vectors of each document, whose columns come behind those of the terms; and what made them, if known. */
  readonly vectors?: readonly VectorShape[] | undefined;
  readonly embedder?: EmbedderMark | undefined;
}

/** Vectorisers by what they are saved as: a model's vocabulary is checked and built once, whoever reads with it. */
const vectorisers = new WeakMap<object, TfidfVectoriser>();

const isCount = (value: unknown, most: number = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;

const stemsOf = ({ stem }: TermRules): Stems | undefined =>
  stem === undefined ? undefined : new Stems(loadedStemmer(stem));

/** A fitted vocabulary that turns texts into rows. */
export class TfidfVectoriser {
  readonly terms: readonly string[];
  readonly documents: number;
  readonly documentFrequency: Int32Array;
  readonly vectors: readonly VectorShape[] | undefined;
  readonly embedder: EmbedderMark | undefined;
  /** Counts the words of texts that are not in the vocabulary, where it is set. */
  newWords: NewWords | undefined;
  readonly #settings: TfidfSettings;
  #scanner: TermScanner | undefined; // from the first text on
  #columns: Map<string, number> | undefined; // of the terms, likewise
  /** Makes rows of terms. */
  readonly rows: TextRows;

  constructor(state: Omit<TfidfState, "version" | "documentFrequency"> & { documentFrequency: ArrayLike<number> }) {
    const { terms, documents } = state;
    const rules = settingsOf(state.options);
    this.#settings = rules;
    this.terms = terms;
    this.documents = documents;
    this.vectors = state.vectors;
    this.embedder = state.embedder;
    this.documentFrequency = Int32Array.from(state.documentFrequency);
    const idf = Float64Array.from(this.documentFrequency, (df) => inverseFrequency(rules, documents, df));
    const rarest = unknownWeight(rules, documents, this.documentFrequency);
    this.rows = new TextRows({ rules, idf: (column) => idf[column], unknownWeight: rarest });
  }

  get columns(): number {
    return this.views?.at(-1)?.to ?? this.terms.length;
  }

  /** The columns of the vectors. */
  get views(): readonly { name: string; from: number; to: number }[] | undefined {
    let from = this.terms.length;
    return this.vectors?.map(({ name, length }) => {
      from += length;
      return { name, from: from - length, to: from };
    });
  }

  /** The same vocabulary with vectors beside the words. */
  withVectors(vectors: readonly VectorShape[], embedder?: EmbedderMark): TfidfVectoriser {
    return new TfidfVectoriser({ ...this.toJSON(), vectors, embedder });
  }

  /** The language whose stems the words are cut down to, if they are. */
  get stem(): string | undefined {
    return this.#settings.stem;
  }

  /** Rows have length 1, or less where out-of-vocabulary words count in it. */
  get normalises(): boolean {
    return this.#settings.normalise;
  }

  /** Rows have the length that they are to have: 1, less what the vocabulary does not know of a text. */
  get scaled(): boolean {
    return this.#settings.normalise && this.#settings.oovInNorm;
  }

  /** The words of a text by their stems, as the text has them first; undefined where every term is one as it stands. */
  written(text: string): ReadonlyMap<string, string> | undefined {
    const stems = stemsOf(this.#settings);
    return stems || this.#settings.charNgrams ? writtenWords(text, stems) : undefined;
  }

  /** Learns the vocabulary of some texts and gives their rows as well. */
  static fit(texts: Iterable<string>, options: TfidfOptions = {}): FittedTexts {
    const fitter = new TfidfFitter(options);
    for (const text of texts) fitter.add(text);
    return fitter.finish();
  }

  transform(texts: Iterable<string>): SparseRows {
    const builder = new SparseRowsBuilder();
    for (const text of texts) this.appendRow(text, builder);
    return builder.build(this.columns);
  }

  /** One text, with its vectors where it has some, as the next row of `builder`. Gives the part of its words that the vocabulary has, 0 where there are none. */
  appendRow(text: string, builder: SparseRowsBuilder, vector: ArrayLike<number> = []): number {
    this.#scanner ??= new TermScanner(this.#settings, (term) => this.find(term), stemsOf(this.#settings));
    this.#scanner.scan(text, (column, field, counts, word) => {
      this.rows.add(column, field, counts);
      if (column < 0 && counts) this.newWords?.add(word);
    });
    const { columns, values, coverage } = this.rows.end();
    for (let i = 0; i < columns.length; i++) builder.add(columns[i], values[i]);
    for (let i = 0; i < vector.length; i++) builder.add(this.terms.length + i, vector[i]);
    builder.endRow();
    this.newWords?.endText();
    return coverage;
  }

  /** The column of a term, or -1. */
  find(term: string): number {
    this.#columns ??= new Map(this.terms.map((each, column) => [each, column]));
    return this.#columns.get(term) ?? -1;
  }

  /** The language of the texts, where its stems are not used and would help. */
  unstemmedLanguage(): string | undefined {
    const { stem, wordNgrams } = this.#settings;
    if (stem !== undefined || wordNgrams === 0) return undefined;
    return languageOf((word) => (this.documentFrequency[this.find(word)] ?? 0) / this.documents);
  }

  toJSON(): TfidfState {
    const { terms, documents, vectors, embedder } = this;
    const documentFrequency = Array.from(this.documentFrequency);
    const options = { ...this.#settings };
    const about = { options, documents, terms, documentFrequency, ...defined({ vectors, embedder }) };
    const state: TfidfState = { version: 1, ...about };
    vectorisers.set(state, this);
    return state;
  }

  /** The saved state back; `file` names where it came from if it is not one. */
  static fromJSON(state: unknown, file = "the vocabulary"): TfidfVectoriser {
    const built = isObject(state) && vectorisers.get(state);
    if (built) return built;
    const refuse = (found: string, expected: string): never => {
      throw new DataError({ file, line: 0, found, expected });
    };
    const { version, options, documents, terms, documentFrequency, vectors, embedder } = (state ??
      {}) as Partial<TfidfState>;
    if (version !== 1) return refuse(`vocabulary version ${shownJson(version)}`, "version 1");
    const sorted =
      Array.isArray(terms) && terms.every((term, i) => typeof term === "string" && (i === 0 || terms[i - 1] < term));
    if (!sorted)
      return refuse("a vocabulary that is not a sorted list of terms", "terms in the order of their code units");
    if (!isCount(documents)) return refuse(`${shownJson(documents)} documents`, "a whole number");
    const right =
      Array.isArray(documentFrequency) &&
      documentFrequency.length === terms.length &&
      documentFrequency.every((df) => isCount(df, documents));
    if (!right) return refuse("document frequencies that do not fit the vocabulary", "one count for each term");
    if (!areVectors(vectors, embedder)) return refuse("vectors that are none", "a name and a length of each");
    try {
      return new TfidfVectoriser({
        options: (options ?? {}) as TfidfOptions,
        documents: documents as number,
        terms,
        documentFrequency,
        vectors,
        embedder,
      });
    } catch (error) {
      const found = `vocabulary options that do not fit (${(error as Error).message})`;
      return refuse(found, "the options of a vocabulary");
    }
  }
}

/** The place of a column where there is none: of a term out of vocabulary, and of what was counted but is no term. */
const [OUT_OF_VOCABULARY, NO_TERM] = [-1, -2];

/** The terms of each text, text by text, so that the texts themselves need not be kept. */
class TermCounter {
  /** Terms by their number, in order of appearance. */
  readonly terms: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #rules: TermRules;
  #scanner: TermScanner;
  readonly #rowStart: Growable<Int32Array> = growableIntegers();
  readonly #found: Growable<Int32Array> = growableIntegers(); // terms, as the texts have them
  readonly #last: Growable<Int32Array> = growableIntegers(); // text of each term, from 1
  readonly #texts: Growable<Int32Array> = growableIntegers(); // that have each term

  constructor(rules: TermRules) {
    this.#rules = rules;
    this.#scanner = this.#scannerBy(rules);
    this.#rowStart.push(0);
  }

  #scannerBy(rules: TermRules): TermScanner {
    const numberOf = (term: string): number => {
      const known = this.#numbers.get(term);
      if (known !== undefined) return known;
      this.#numbers.set(term, this.terms.length);
      this.#last.push(0);
      this.#texts.push(0);
      return this.terms.push(term) - 1;
    };
    return new TermScanner(rules, numberOf, stemsOf(rules));
  }

  get rows(): number {
    return this.#rowStart.length - 1;
  }

  documentFrequency(term: number): number {
    return this.#texts.data[term];
  }

  expect(times: number): void {
    for (const each of [this.#rowStart, this.#found]) each.expect(times);
  }

  /** Texts that are added from now on have terms by these rules. */
  scanBy(rules: TermRules): void {
    this.#scanner = this.#scannerBy(rules);
  }

  add(text: string): void {
    const row = this.#rowStart.length;
    this.#scanner.scan(text, (term) => {
      this.#found.push(term);
      if (this.#last.data[term] === row) return;
      this.#last.data[term] = row;
      this.#texts.data[term]++;
    });
    this.#rowStart.push(this.#found.length);
  }

  /** The texts as rows of these terms, given by their numbers. */
  *rowsOf(
    chosen: readonly number[],
    weighed: TextRows,
    isTerm: (term: string) => boolean,
  ): Generator<void, SparseRows> {
    const { rows } = this;
    const columnOf = Int32Array.from(this.terms, (term) => (isTerm(term) ? OUT_OF_VOCABULARY : NO_TERM));
    for (const [column, term] of chosen.entries()) columnOf[term] = column;
    const fieldOfTerm = Uint8Array.from(this.terms, (term) => fieldOf(this.#rules, term.charCodeAt(0)));
    const entries = chosen.reduce((sum, term) => sum + this.documentFrequency(term), 0);
    const [columnIndex, values] = [new Int32Array(entries), new Float32Array(entries)];
    const rowStart = new Int32Array(rows + 1);
    const [starts, terms] = [this.#rowStart.data, this.#found.data];
    for (let row = 0; row < rows; row++) {
      for (const term of terms.subarray(starts[row], starts[row + 1]))
        if (columnOf[term] !== NO_TERM) weighed.add(columnOf[term], fieldOfTerm[term], false);
      const own = weighed.end();
      columnIndex.set(own.columns, rowStart[row]);
      values.set(own.values, rowStart[row]);
      rowStart[row + 1] = rowStart[row] + own.columns.length;
      yield;
    }
    return { rows, columns: chosen.length, rowStart, columnIndex, values };
  }
}

/** Texts that are looked at before any is counted: whether they are short decides what a term is. */
const LOOKED_AT = 1000;
/** Texts that are counted when one is added, while some wait: a reader can pause in between. */
const COUNTED_AT_ONCE = 4;
/** Terms that are gone through or sorted between two pauses. */
const TERMS_AT_ONCE = 8192;

/** A vocabulary, and the rows of the texts that it was learned from. */
export interface FittedTexts {
  readonly vectoriser: TfidfVectoriser;
  readonly rows: SparseRows;
}

/** Learns a vocabulary text by text; but for the first the texts themselves are not kept. */
export class TfidfFitter {
  readonly #options: TfidfOptions;
  readonly #file: string;
  /** Texts that are not counted yet, from #next on; and how many words the first of all have. */
  #waiting: string[] = [];
  #next = 0;
  readonly #lengths: number[] = [];
  #short = false;
  #counter: TermCounter | undefined;

  constructor(options: TfidfOptions = {}, file = "the texts") {
    this.#options = options;
    this.#file = file;
    this.#settings(UNKNOWN); // refuses options before any text is read
  }

  get rows(): number {
    return (this.#counter?.rows ?? 0) + this.#waiting.length - this.#next;
  }

  /** Makes room for about so many times as many texts as there are now. */
  expect(times: number): void {
    this.#counter?.expect(times);
  }

  add(text: string): void {
    this.#waiting.push(text);
    if (this.#counter === undefined) {
      this.#lengths.push(tokenise(text).length);
      if (this.#waiting.length < LOOKED_AT) return;
    }
    const counter = this.#begun();
    for (let i = 0; i < COUNTED_AT_ONCE && this.#next < this.#waiting.length; i++) this.#countNext(counter);
  }

  #countNext(counter: TermCounter): void {
    // Beyond this many texts runs of characters are no terms by default: those that were counted are left out.
    const most = mostWithRuns(this.#short);
    if (counter.rows === most) counter.scanBy(this.#settings(most + 1));
    counter.add(this.#waiting[this.#next++]);
    if (this.#next < this.#waiting.length) return;
    this.#waiting = [];
    this.#next = 0;
  }

  #settings(texts: number): TfidfSettings {
    return settingsFor(this.#options, texts, this.#short);
  }

  /** The counter, once the first texts were looked at. */
  #begun(): TermCounter {
    if (this.#counter) return this.#counter;
    const words = this.#lengths.filter((count) => count > 0).sort((a, b) => a - b);
    this.#short = (words[words.length >> 1] ?? Number.POSITIVE_INFINITY) <= SHORT_WORDS;
    this.#counter = new TermCounter(this.#settings(UNKNOWN));
    return this.#counter;
  }

  /** The vocabulary and the rows of the texts; nothing can be added afterwards. `mayBeEmpty`: all texts may be without a word. */
  finish(mayBeEmpty = false): FittedTexts {
    return atOnce(this.finishing(mayBeEmpty));
  }

  /** The same, with pauses. */
  *finishing(mayBeEmpty = false): Generator<void, FittedTexts> {
    const counter = this.#begun();
    for (; this.#next < this.#waiting.length; yield) this.#countNext(counter);
    const { rows } = counter;
    const settings = this.#settings(rows);
    const isTerm = this.#isTerm(settings);
    const none = mayBeEmpty && counter.terms.length === 0;
    const chosen = none ? [] : yield* this.#chooseTerms(counter, settings, isTerm);
    yield;
    const vectoriser = new TfidfVectoriser({
      options: settings,
      documents: rows,
      terms: chosen.map((number) => counter.terms[number]),
      documentFrequency: chosen.map((number) => counter.documentFrequency(number)),
    });
    yield;
    return { vectoriser, rows: yield* counter.rowsOf(chosen, vectoriser.rows, isTerm) };
  }

  /** Terms are counted before the number of texts is known: some kinds of them may be left out after all. */
  #isTerm({ wordNgrams, charNgrams }: TfidfSettings): (term: string) => boolean {
    const counted = this.#settings(UNKNOWN);
    return (term) => {
      if (fieldOf(counted, term.charCodeAt(0)) === CHARACTERS) return Boolean(charNgrams);
      return wordNgrams === counted.wordNgrams || !term.includes(" ");
    };
  }

  /** The numbers of terms within the limits of document frequency, sorted by code units. */
  *#chooseTerms(
    counter: TermCounter,
    settings: TfidfSettings,
    isTerm: (term: string) => boolean,
  ): Generator<void, number[]> {
    const { minDocuments, maxDocuments, maxFeatures } = settings;
    const { terms, rows: documents } = counter;
    const most = maxDocuments * documents;
    const counted = this.#settings(UNKNOWN);
    const isRun = (number: number): boolean => fieldOf(counted, terms[number].charCodeAt(0)) === CHARACTERS;
    const leastOf = (number: number): number => (isRun(number) ? Math.max(LEAST_WITH_RUN, minDocuments) : minDocuments);
    const df = (number: number): number => counter.documentFrequency(number);
    const byTerm = (a: number, b: number): number => (terms[a] < terms[b] ? -1 : 1);
    let chosen: number[] = [];
    for (let number = 0; number < terms.length; number++) {
      if (number % TERMS_AT_ONCE === 0) yield;
      if (df(number) >= leastOf(number) && df(number) <= most && isTerm(terms[number])) chosen.push(number);
    }
    if (chosen.length === 0) {
      const highest = maxDocuments < 1 ? ` and at most ${Math.floor(most)}` : "";
      const other = maxDocuments < 1 ? " or `maxDocuments` (--max-df)" : "";
      throw new DataError({
        file: this.#file,
        line: 0,
        found: `no term that occurs in at least ${minDocuments}${highest} of ${documents} ${documents === 1 ? "text" : "texts"}`,
        expected: `more texts, or another \`minDocuments\` (--min-df)${other}`,
      });
    }
    if (maxFeatures !== undefined && chosen.length > maxFeatures) {
      chosen = yield* sorted(chosen, (a, b) => df(b) - df(a) || byTerm(a, b));
      chosen = chosen.slice(0, maxFeatures);
    }
    return yield* sorted(chosen, byTerm);
  }
}

/** A list in order, no two of which are equal: halves are merged. */
function* sorted<T>(list: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  yield;
  if (list.length <= TERMS_AT_ONCE) return [...list].sort(compare);
  const half = list.length >> 1;
  const [one, other] = [yield* sorted(list.slice(0, half), compare), yield* sorted(list.slice(half), compare)];
  const all: T[] = [];
  for (let i = 0, j = 0; all.length < list.length; ) {
    const takesOne = j === other.length || (i < one.length && compare(one[i], other[j]) < 0);
    all.push(takesOne ? one[i++] : other[j++]);
    if (all.length % TERMS_AT_ONCE === 0) yield;
  }
  return all;
}
