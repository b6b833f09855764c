// Texts to sparse rows: term counts weighed by inverse document frequency. The vocabulary and the frequencies
// are the whole state; they are saved in the model, and the weights come out the same in every runtime.

import { isObject } from "../base/check.ts";
import { DataError, shownJson } from "../base/errors.ts";
import type { VectorShape } from "../base/input.ts";
import type { SparseRows } from "../base/sparse.ts";
import { Stems } from "../base/stem.ts";
import {
  CHARACTERS,
  FIELDS,
  fieldOf,
  inverseFrequency,
  type TermRules,
  TermScanner,
  TextRows,
  termWeights,
  unknownWeight,
  writtenWords,
} from "../base/terms.ts";
import { tokenise } from "../base/text.ts";
import { type Growable, growableFloats, growableIntegers, SparseRowsBuilder } from "./builders.ts";
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
  readonly #rows: TextRows;
  readonly #idf: Float64Array;
  readonly #field: Uint8Array; // of each column
  readonly #unknownWeight: number;
  #weights: Float64Array = new Float64Array(256); // of the row being weighed

  constructor(state: Omit<TfidfState, "version" | "documentFrequency"> & { documentFrequency: ArrayLike<number> }) {
    const { terms, documents } = state;
    const rules = settingsOf(state.options);
    this.#settings = rules;
    this.terms = terms;
    this.documents = documents;
    this.vectors = state.vectors;
    this.embedder = state.embedder;
    this.documentFrequency = Int32Array.from(state.documentFrequency);
    this.#idf = Float64Array.from(this.documentFrequency, (df) => inverseFrequency(rules, documents, df));
    this.#field = Uint8Array.from(terms, (term) => fieldOf(rules, term.charCodeAt(0)));
    this.#unknownWeight = unknownWeight(rules, documents, this.documentFrequency);
    const idf = (column: number): number => this.#idf[column];
    this.#rows = new TextRows({ rules, idf, unknownWeight: this.#unknownWeight });
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
  static fit(texts: Iterable<string>, options: TfidfOptions = {}): { vectoriser: TfidfVectoriser; rows: SparseRows } {
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
      this.#rows.add(column, field, counts);
      if (column < 0 && counts) this.newWords?.add(word);
    });
    const { columns, values, coverage } = this.#rows.end();
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

  /**
   * Turns the counts of columns, which rise, into the weights of a row; `unknown` counts the terms of each field that the
   * vocabulary does not have.
   */
  weigh(columns: Int32Array, counts: Float32Array, unknown: Int32Array): void {
    const field = (i: number): number => this.#field[columns[i]];
    const idf = (i: number): number => this.#idf[columns[i]];
    if (this.#weights.length < counts.length) this.#weights = new Float64Array(2 * counts.length);
    const terms = { counts, field, idf, unknown, unknownWeight: this.#unknownWeight };
    const weights = termWeights(this.#settings, terms, this.#weights);
    for (let i = 0; i < columns.length; i++) counts[i] = weights[i];
  }

  toJSON(): TfidfState {
    const { terms, documents, vectors, embedder } = this;
    const documentFrequency = Array.from(this.documentFrequency);
    const state: TfidfState = {
      version: 1,
      options: { ...this.#settings },
      documents,
      terms,
      documentFrequency,
      ...(vectors && { vectors }),
      ...(embedder && { embedder }),
    };
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

/** A row packs its entries into doubles to sort them: column times this, plus the count. */
const COUNT_LIMIT = 2 ** 24;

/** What stands for a column: that of a term which the vocabulary does not have, and of what is no term at all. */
const [OUT_OF_VOCABULARY, NO_TERM] = [-1, -2];

/** Rows of counts, columns rising within a row. */
interface RenamedCounts {
  readonly rowStart: Int32Array;
  readonly columnIndex: Int32Array;
  readonly counts: Float32Array;
  /** How many terms of each field were left out of each row [rows,FIELDS]. */
  readonly unknown: Int32Array;
}

/** How often each term occurs in each text, text by text, so that the texts themselves need not be kept. */
class TermCounter {
  /** Terms by their number, in order of appearance. */
  readonly terms: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #rules: TermRules;
  #scanner: TermScanner;
  readonly #rowStart: Growable<Int32Array> = growableIntegers();
  readonly #entries: Growable<Int32Array> = growableIntegers(); // the term of each, in order of appearance in its row
  readonly #counts: Growable<Float32Array> = growableFloats();
  readonly #last: Growable<Int32Array> = growableIntegers(); // entry of each term
  readonly #texts: Growable<Int32Array> = growableIntegers(); // that have each term
  #start = 0; // of the row being counted

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
    for (const each of [this.#rowStart, this.#entries, this.#counts]) each.expect(times);
  }

  /** Texts that are added from now on have terms by these rules. */
  scanBy(rules: TermRules): void {
    this.#scanner = this.#scannerBy(rules);
  }

  add(text: string): void {
    this.#scanner.scan(text, (term) => {
      const [last, texts] = [this.#last.data, this.#texts.data];
      if (texts[term] > 0 && last[term] >= this.#start) {
        this.#counts.data[last[term]]++;
        return;
      }
      last[term] = this.#entries.length;
      texts[term]++;
      this.#entries.push(term);
      this.#counts.push(1);
    });
    this.#start = this.#entries.length;
    this.#rowStart.push(this.#start);
  }

  /**
   * The rows with terms renamed to columns, those out of vocabulary left out, columns rising within a row. The arrays are those
   * that were counted in: nothing can be added afterwards.
   */
  rename(columnOf: Int32Array): RenamedCounts {
    const rowStart = this.#rowStart.finish();
    const fieldOfTerm = Uint8Array.from(columnOf, (_, term) => fieldOf(this.#rules, this.terms[term].charCodeAt(0)));
    const unknown = new Int32Array(FIELDS * (rowStart.length - 1));
    const [terms, counts] = [this.#entries.data, this.#counts.data];
    let packed = new Float64Array(1024);
    let end = 0;
    let next = 0; // where the row being renamed begins
    for (let row = 0; row + 1 < rowStart.length; row++) {
      const [from, to] = [next, rowStart[row + 1]];
      next = to;
      if (packed.length < to - from) packed = new Float64Array(2 * (to - from));
      let kept = 0;
      for (let i = from; i < to; i++) {
        const term = terms[i];
        const column = columnOf[term];
        const count = Math.min(counts[i], COUNT_LIMIT - 1);
        if (column >= 0) packed[kept++] = column * COUNT_LIMIT + count;
        else if (column === OUT_OF_VOCABULARY) unknown[FIELDS * row + fieldOfTerm[term]] += count;
      }
      packed.subarray(0, kept).sort();
      for (let i = 0; i < kept; i++, end++) {
        const pair = packed[i];
        const column = Math.floor(pair / COUNT_LIMIT);
        terms[end] = column;
        counts[end] = pair - column * COUNT_LIMIT;
      }
      rowStart[row + 1] = end;
    }
    this.#entries.length = end;
    this.#counts.length = end;
    return { rowStart, columnIndex: this.#entries.finish(), counts: this.#counts.finish(), unknown };
  }
}

/** Texts that are looked at before any is counted: whether they are short decides what a term is. */
const LOOKED_AT = 1000;

/** Learns a vocabulary text by text; but for the first the texts themselves are not kept. */
export class TfidfFitter {
  readonly #options: TfidfOptions;
  readonly #file: string;
  #first: string[] = [];
  #short = false;
  #counter: TermCounter | undefined;

  constructor(options: TfidfOptions = {}, file = "the texts") {
    this.#options = options;
    this.#file = file;
    this.#settings(UNKNOWN); // refuses options before any text is read
  }

  get rows(): number {
    return this.#counter?.rows ?? this.#first.length;
  }

  /** Makes room for about so many times as many texts as there are now. */
  expect(times: number): void {
    this.#counter?.expect(times);
  }

  add(text: string): void {
    if (this.#counter === undefined) {
      this.#first.push(text);
      if (this.#first.length === LOOKED_AT) this.#begun();
      return;
    }
    // Beyond this many texts runs of characters are no terms by default: those that were counted are left out.
    const most = mostWithRuns(this.#short);
    if (this.#counter.rows === most) this.#counter.scanBy(this.#settings(most + 1));
    this.#counter.add(text);
  }

  #settings(texts: number): TfidfSettings {
    return settingsFor(this.#options, texts, this.#short);
  }

  /** The counter, which has the first texts and goes on with the others. */
  #begun(): TermCounter {
    if (this.#counter) return this.#counter;
    const words = this.#first.map((text) => tokenise(text).length).filter((count) => count > 0);
    words.sort((a, b) => a - b);
    this.#short = (words[words.length >> 1] ?? Number.POSITIVE_INFINITY) <= SHORT_WORDS;
    this.#counter = new TermCounter(this.#settings(UNKNOWN));
    for (const text of this.#first) this.#counter.add(text);
    this.#first = [];
    return this.#counter;
  }

  /** The vocabulary and the rows of the texts; nothing can be added afterwards. `mayBeEmpty`: all texts may be without a word. */
  finish(mayBeEmpty = false): { vectoriser: TfidfVectoriser; rows: SparseRows } {
    const counter = this.#begun();
    const { rows } = counter;
    const settings = this.#settings(rows);
    const isTerm = this.#isTerm(settings);
    const chosen = mayBeEmpty && counter.terms.length === 0 ? [] : this.#chooseTerms(counter, settings, isTerm);
    const columnOf = Int32Array.from(counter.terms, (term) => (isTerm(term) ? OUT_OF_VOCABULARY : NO_TERM));
    for (const [column, { number }] of chosen.entries()) columnOf[number] = column;
    const vectoriser = new TfidfVectoriser({
      options: settings,
      documents: rows,
      terms: chosen.map(({ term }) => term),
      documentFrequency: chosen.map(({ number }) => counter.documentFrequency(number)),
    });
    const { rowStart, columnIndex, counts: values, unknown } = counter.rename(columnOf);
    for (let row = 0; row < rows; row++) {
      const [from, to] = [rowStart[row], rowStart[row + 1]];
      const missing = unknown.subarray(FIELDS * row, FIELDS * (row + 1));
      vectoriser.weigh(columnIndex.subarray(from, to), values.subarray(from, to), missing);
    }
    return { vectoriser, rows: { rows, columns: chosen.length, rowStart, columnIndex, values } };
  }

  /** What was counted, while nobody knew how many texts would come, may be no term after all. */
  #isTerm({ wordNgrams, charNgrams }: TfidfSettings): (term: string) => boolean {
    const counted = this.#settings(UNKNOWN);
    return (term) => {
      if (fieldOf(counted, term.charCodeAt(0)) === CHARACTERS) return Boolean(charNgrams);
      return wordNgrams === counted.wordNgrams || !term.includes(" ");
    };
  }

  /** Terms within the limits of document frequency, sorted by code units. */
  #chooseTerms(
    counter: TermCounter,
    settings: TfidfSettings,
    isTerm: (term: string) => boolean,
  ): { term: string; number: number }[] {
    const { minDocuments, maxDocuments, maxFeatures } = settings;
    const { terms, rows: documents } = counter;
    const most = maxDocuments * documents;
    const counted = this.#settings(UNKNOWN);
    const isRun = (number: number): boolean => fieldOf(counted, terms[number].charCodeAt(0)) === CHARACTERS;
    const leastOf = (number: number): number => (isRun(number) ? Math.max(LEAST_WITH_RUN, minDocuments) : minDocuments);
    let chosen: { term: string; number: number; df: number }[] = [];
    for (let number = 0; number < terms.length; number++) {
      const df = counter.documentFrequency(number);
      if (df >= leastOf(number) && df <= most && isTerm(terms[number]))
        chosen.push({ term: terms[number], number, df });
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
      chosen.sort((a, b) => b.df - a.df || (a.term < b.term ? -1 : 1));
      chosen = chosen.slice(0, maxFeatures);
    }
    return chosen.sort((a, b) => (a.term < b.term ? -1 : 1));
  }
}
