// Texts to sparse rows: term counts weighed by inverse document frequency. The vocabulary and the frequencies
// are the whole state; they are saved in the model, and the weights come out the same in every runtime.

import { SparseRowsBuilder } from "./builders.ts";
import { DataError } from "./errors.ts";
import type { NewWords } from "./newwords.ts";
import type { SparseRows } from "./rows.ts";
import { TermCounter } from "./termcounter.ts";
import {
  CHARACTERS,
  FIELDS,
  fieldOf,
  inverseFrequency,
  termWeights,
  unknownWeight,
  writtenWords,
} from "./terms.ts";
import { TermScanner } from "./termscanner.ts";
import { TermTable, textOf } from "./termtable.ts";
import { tokenise } from "./text.ts";
import {
  isCount,
  MOST_WITH_RUNS,
  NEW_IN_2,
  NEW_IN_3,
  SHORT_WORDS,
  settingsFor,
  settle,
  type TfidfOptions,
  type TfidfSettings,
} from "./tfidfoptions.ts";

export type { TfidfOptions } from "./tfidfoptions.ts";

/** What a vectoriser is saved as. */
export interface TfidfState {
  /** The first that knows all that the options have. */
  readonly version: 1 | 2 | 3;
  readonly options: TfidfOptions;
  readonly documents: number; // N
  readonly terms: readonly string[]; // sorted by code units; the position is the column
  readonly documentFrequency: readonly number[]; // df of each term
}

/** A value from a file for a sentence; a list or an object may be too deep to be written. */
function shown(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? "(a list or an object)" : JSON.stringify(value);
}

/** A fitted vocabulary that turns texts into rows. */
export class TfidfVectoriser {
  readonly terms: readonly string[];
  readonly documents: number;
  readonly documentFrequency: Int32Array;
  /** Counts the terms of texts that are not in the vocabulary, where it is set. */
  newWords: NewWords | undefined;
  readonly #settings: TfidfSettings;
  readonly #columns: TermTable;
  readonly #scanner: TermScanner;
  readonly #counts: Int32Array; // of each column in the text being read
  readonly #unknown: Int32Array = new Int32Array(FIELDS); // terms of the text being read
  readonly #idf: Float64Array;
  readonly #field: Uint8Array; // of each column
  readonly #unknownWeight: number;
  #weights: Float64Array = new Float64Array(256); // of the row being weighed

  constructor(
    state: Omit<TfidfState, "version" | "documentFrequency"> & { documentFrequency: ArrayLike<number> },
  ) {
    this.#settings = settle(state.options);
    this.terms = state.terms;
    this.documents = state.documents;
    this.documentFrequency = Int32Array.from(state.documentFrequency);
    this.#columns = new TermTable(state.terms);
    this.#scanner = new TermScanner(this.#settings);
    this.#counts = new Int32Array(state.terms.length);
    this.#idf = Float64Array.from(this.documentFrequency, (df) =>
      inverseFrequency(this.#settings, state.documents, df),
    );
    this.#field = Uint8Array.from(state.terms, (term) => fieldOf(this.#settings, term.charCodeAt(0)));
    this.#unknownWeight = unknownWeight(this.#settings, state.documents, this.documentFrequency);
  }

  get columns(): number {
    return this.terms.length;
  }

  /** The language whose stems the words are cut down to, if they are. */
  get stem(): string | undefined {
    return this.#settings.stem;
  }

  /** The words of a text by their stems, as the text has them first; undefined where every term is one as it stands. */
  written(text: string): ReadonlyMap<string, string> | undefined {
    const { stems } = this.#scanner;
    return stems || this.#settings.charNgrams ? writtenWords(text, stems) : undefined;
  }

  /** Learns the vocabulary of some texts and gives their rows as well. */
  static fit(
    texts: Iterable<string>,
    options: TfidfOptions = {},
  ): { vectoriser: TfidfVectoriser; rows: SparseRows } {
    const fitter = new TfidfFitter(options);
    for (const text of texts) fitter.add(text);
    return fitter.finish();
  }

  /** Whether rows have the length that they are to have: 1, less what the vocabulary does not know of a text. */
  get scaled(): boolean {
    return this.#settings.normalise && this.#settings.countUnknown === true;
  }

  transform(texts: Iterable<string>): SparseRows {
    const builder = new SparseRowsBuilder();
    for (const text of texts) this.appendRow(text, builder);
    return builder.build(this.columns);
  }

  /**
   * One text as the next row of `builder`; words outside the vocabulary are left out. Gives the part of the words that
   * are in it, 0 where there are none.
   */
  appendRow(text: string, builder: SparseRowsBuilder): number {
    const found: number[] = [];
    let words = 0;
    let known = 0;
    this.#unknown.fill(0);
    this.#scanner.scan(text, (units, from, to, hash, field, counts) => {
      const column = this.#columns.find(units, from, to, hash);
      if (counts) words++;
      if (column < 0) {
        (this.#unknown[field] as number)++;
        if (counts) this.newWords?.add(textOf(units, from, to));
        return;
      }
      if (counts) known++;
      const count = this.#counts[column] as number;
      if (count === 0) found.push(column);
      this.#counts[column] = count + 1;
    });
    const columns = Int32Array.from(found).sort();
    const weights = Float32Array.from(columns, (column) => this.#counts[column] as number);
    for (const column of columns) this.#counts[column] = 0;
    this.weigh(columns, weights, this.#unknown);
    for (let i = 0; i < columns.length; i++) builder.add(columns[i] as number, weights[i] as number);
    builder.endRow();
    this.newWords?.endText();
    return words === 0 ? 0 : known / words;
  }

  /**
   * Turns the counts of columns, which rise, into the weights of a row; `unknown` counts the terms of each field that the
   * vocabulary does not have.
   */
  weigh(columns: Int32Array, counts: Float32Array, unknown: Int32Array): void {
    const field = (i: number): number => this.#field[columns[i] as number] as number;
    const idf = (i: number): number => this.#idf[columns[i] as number] as number;
    if (this.#weights.length < counts.length) this.#weights = new Float64Array(2 * counts.length);
    const terms = { counts, field, idf, unknown, unknownWeight: this.#unknownWeight };
    const weights = termWeights(this.#settings, terms, this.#weights);
    for (let i = 0; i < columns.length; i++) counts[i] = weights[i] as number;
  }

  toJSON(): TfidfState {
    const { terms, documents } = this;
    const documentFrequency = Array.from(this.documentFrequency);
    const has = (names: readonly string[]): boolean => names.some((name) => name in this.#settings);
    const version = has(NEW_IN_3) ? 3 : has(NEW_IN_2) ? 2 : 1;
    return { version, options: { ...this.#settings }, documents, terms, documentFrequency };
  }

  /** The saved state back; `file` names where it came from if it is not one. */
  static fromJSON(state: unknown, file = "the vocabulary"): TfidfVectoriser {
    const refuse = (found: string, expected: string): never => {
      throw new DataError({ file, line: 0, found, expected });
    };
    const { version, options, documents, terms, documentFrequency } = (state ?? {}) as Partial<TfidfState>;
    if (version !== 1 && version !== 2 && version !== 3)
      return refuse(`vocabulary version ${shown(version)}`, "version 1, 2 or 3");
    if (
      !Array.isArray(terms) ||
      !terms.every((term, i) => typeof term === "string" && (i === 0 || terms[i - 1] < term))
    ) {
      return refuse(
        "a vocabulary that is not a sorted list of terms",
        "terms in the order of their code units",
      );
    }
    if (!isCount(documents, 0)) return refuse(`${shown(documents)} documents`, "a whole number");
    const right =
      Array.isArray(documentFrequency) &&
      documentFrequency.length === terms.length &&
      documentFrequency.every((df) => isCount(df, 0, documents));
    if (!right)
      return refuse("document frequencies that do not fit the vocabulary", "one count for each term");
    try {
      return new TfidfVectoriser({
        options: (options ?? {}) as TfidfOptions,
        documents: documents as number,
        terms,
        documentFrequency,
      });
    } catch (error) {
      return refuse(
        `vocabulary options that do not fit (${(error as Error).message})`,
        "the options of a vocabulary",
      );
    }
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
    settingsFor(options, 0, false);
    this.#options = options;
    this.#file = file;
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
    if (this.#counter.rows === MOST_WITH_RUNS) this.#counter.scanBy(this.#settings(MOST_WITH_RUNS + 1));
    this.#counter.add(text);
  }

  #settings(texts: number): TfidfSettings {
    return settingsFor(this.#options, texts, this.#short);
  }

  /** What has counted the first texts and goes on with the others. */
  #begun(): TermCounter {
    if (this.#counter) return this.#counter;
    const words = this.#first.map((text) => tokenise(text).length).filter((count) => count > 0);
    words.sort((a, b) => a - b);
    this.#short = (words[words.length >> 1] ?? Number.POSITIVE_INFINITY) <= SHORT_WORDS;
    this.#counter = new TermCounter(this.#settings(0));
    for (const text of this.#first) this.#counter.add(text);
    this.#first = [];
    return this.#counter;
  }

  /** The vocabulary and the rows of the texts; nothing can be added afterwards. */
  finish(): { vectoriser: TfidfVectoriser; rows: SparseRows } {
    const counter = this.#begun();
    const { rows } = counter;
    const settings = this.#settings(rows);
    const chosen = this.#chooseTerms(counter, settings);
    const columnOf = new Int32Array(counter.table.size).fill(-1); // term number to column
    for (const [column, { number }] of chosen.entries()) columnOf[number] = column;
    const vectoriser = new TfidfVectoriser({
      options: settings,
      documents: rows,
      terms: chosen.map(({ term }) => term),
      documentFrequency: chosen.map(({ number }) => counter.documentFrequency(number)),
    });
    const { rowStart, columnIndex, counts: values, unknown } = counter.rename(columnOf);
    for (let row = 0; row < rows; row++) {
      const [from, to] = [rowStart[row] as number, rowStart[row + 1] as number];
      const missing = unknown.subarray(FIELDS * row, FIELDS * (row + 1));
      vectoriser.weigh(columnIndex.subarray(from, to), values.subarray(from, to), missing);
    }
    return { vectoriser, rows: { rows, columns: chosen.length, rowStart, columnIndex, values } };
  }

  /** Terms within the limits of document frequency, sorted by code units. */
  #chooseTerms(counter: TermCounter, settings: TfidfSettings): { term: string; number: number }[] {
    const { minDocuments, maxDocuments, maxFeatures, charNgrams } = settings;
    const { table, rows: documents } = counter;
    const most = maxDocuments * documents;
    const counted = this.#settings(0);
    const dropped = (number: number): boolean =>
      charNgrams === undefined && fieldOf(counted, table.firstUnit(number)) === CHARACTERS;
    let chosen: { term: string; number: number; df: number }[] = [];
    for (let number = 0; number < table.size; number++) {
      const df = counter.documentFrequency(number);
      if (df >= minDocuments && df <= most && !dropped(number))
        chosen.push({ term: table.term(number), number, df });
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
