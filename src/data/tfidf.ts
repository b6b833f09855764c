// Texts to sparse rows: term counts weighed by inverse document frequency. The vocabulary and the frequencies
// are the whole state; they are saved in the model, and the weights come out the same in every runtime.

import { SparseRowsBuilder } from "./builders.ts";
import { DataError } from "./errors.ts";
import { documentFrequencies, type SparseRows } from "./rows.ts";
import { addCounts, forEachTerm, inverseFrequency, termWeights } from "./terms.ts";

/** What a term is, and how it is weighed. */
export interface TfidfOptions {
  /** Longest run of words that is a term; 0 for no words. Default 1. */
  readonly wordNgrams?: number;
  /** Shortest and longest run of characters within a word that is a term, e.g. [3, 5]. Default: none. */
  readonly charNgrams?: readonly [least: number, most: number];
  /** A term must occur in at least so many texts. Default 2. */
  readonly minDocuments?: number;
  /** A term may occur in at most this fraction of the texts. Default 1. */
  readonly maxDocuments?: number;
  /** Keep the terms that occur in most texts, ties by the term. Default: all. */
  readonly maxFeatures?: number;
  /** 1 + ln(count) instead of the count. Default true. */
  readonly sublinear?: boolean;
  /** Times ln((1 + N) / (1 + df)) + 1. Default true. */
  readonly idf?: boolean;
  /** Scale each row to length 1. Default true. */
  readonly normalise?: boolean;
}

/** What a vectoriser is saved as. */
export interface TfidfState {
  readonly version: 1;
  readonly options: TfidfOptions;
  readonly documents: number; // N
  readonly terms: readonly string[]; // sorted by code units; the position is the column
  readonly documentFrequency: readonly number[]; // df of each term
}

type Settings = Required<Omit<TfidfOptions, "charNgrams" | "maxFeatures">> &
  Pick<TfidfOptions, "charNgrams" | "maxFeatures">;

/** A value from a file for a sentence; a list or an object may be too deep to be written. */
function shown(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? "(a list or an object)" : JSON.stringify(value);
}

function demand(right: boolean, name: string, found: unknown, expected: string): void {
  if (!right) throw new RangeError(`found ${name} = ${JSON.stringify(found)}, expected ${expected}`);
}

function isCount(value: unknown, least: number, most: number = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function settle(options: TfidfOptions): Settings {
  const settings: Settings = {
    wordNgrams: options.wordNgrams ?? 1,
    minDocuments: options.minDocuments ?? 2,
    maxDocuments: options.maxDocuments ?? 1,
    sublinear: options.sublinear ?? true,
    idf: options.idf ?? true,
    normalise: options.normalise ?? true,
    ...(options.charNgrams && { charNgrams: options.charNgrams }),
    ...(options.maxFeatures !== undefined && { maxFeatures: options.maxFeatures }),
  };
  const { wordNgrams: words, charNgrams, minDocuments, maxDocuments, maxFeatures } = settings;
  demand(isCount(words, 0, 9), "wordNgrams", words, "a whole number from 0 to 9");
  if (charNgrams !== undefined) {
    const right =
      Array.isArray(charNgrams) &&
      charNgrams.length === 2 &&
      isCount(charNgrams[0], 1, 9) &&
      isCount(charNgrams[1], charNgrams[0], 9);
    demand(right, "charNgrams", charNgrams, "two whole numbers from 1 to 9, the smaller first");
  }
  demand(
    words > 0 || charNgrams !== undefined,
    "wordNgrams",
    words,
    "at least 1 when there are no charNgrams",
  );
  demand(isCount(minDocuments, 1), "minDocuments", minDocuments, "a whole number from 1");
  demand(
    maxDocuments > 0 && maxDocuments <= 1,
    "maxDocuments",
    maxDocuments,
    "a fraction above 0 and up to 1",
  );
  if (maxFeatures !== undefined)
    demand(isCount(maxFeatures, 1), "maxFeatures", maxFeatures, "a whole number from 1");
  for (const name of ["sublinear", "idf", "normalise"] as const) {
    demand(typeof settings[name] === "boolean", name, settings[name], "true or false");
  }
  return settings;
}

/** A fitted vocabulary that turns texts into rows. */
export class TfidfVectoriser {
  readonly terms: readonly string[];
  readonly documents: number;
  readonly documentFrequency: Int32Array;
  readonly #settings: Settings;
  readonly #column: ReadonlyMap<string, number>;
  readonly #idf: Float64Array;

  constructor(
    state: Omit<TfidfState, "version" | "documentFrequency"> & { documentFrequency: ArrayLike<number> },
  ) {
    this.#settings = settle(state.options);
    this.terms = state.terms;
    this.documents = state.documents;
    this.documentFrequency = Int32Array.from(state.documentFrequency);
    this.#column = new Map(state.terms.map((term, column) => [term, column]));
    this.#idf = Float64Array.from(this.documentFrequency, (df) =>
      inverseFrequency(this.#settings, state.documents, df),
    );
  }

  get columns(): number {
    return this.terms.length;
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

  transform(texts: Iterable<string>): SparseRows {
    const builder = new SparseRowsBuilder();
    for (const text of texts) this.appendRow(text, builder);
    return builder.build(this.columns);
  }

  /** One text as the next row of `builder`; words outside the vocabulary are left out. */
  appendRow(text: string, builder: SparseRowsBuilder): void {
    const found: number[] = [];
    forEachTerm(text, this.#settings, (term) => {
      const column = this.#column.get(term);
      if (column !== undefined) found.push(column);
    });
    const columns: number[] = [];
    const counts: number[] = [];
    addCounts(found, (column, count) => {
      columns.push(column);
      counts.push(count);
    });
    this.appendCounts(columns, counts, builder);
  }

  /**
   * Counts of columns, in rising order of columns, as the next row: (1 + ln count) idf, scaled to length 1.
   */
  appendCounts(columns: ArrayLike<number>, counts: ArrayLike<number>, builder: SparseRowsBuilder): void {
    const idf = (i: number): number => this.#idf[columns[i] as number] as number;
    const { weights, length } = termWeights(this.#settings, counts, idf);
    for (let i = 0; i < columns.length; i++)
      builder.add(columns[i] as number, (weights[i] as number) / length);
    builder.endRow();
  }

  toJSON(): TfidfState {
    const { terms, documents } = this;
    const documentFrequency = Array.from(this.documentFrequency);
    return { version: 1, options: { ...this.#settings }, documents, terms, documentFrequency };
  }

  /** The saved state back; `file` names where it came from if it is not one. */
  static fromJSON(state: unknown, file = "the vocabulary"): TfidfVectoriser {
    const refuse = (found: string, expected: string): never => {
      throw new DataError({ file, line: 0, found, expected });
    };
    const { version, options, documents, terms, documentFrequency } = (state ?? {}) as Partial<TfidfState>;
    if (version !== 1) return refuse(`vocabulary version ${shown(version)}`, "version 1");
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

/** Counts terms text by text, so that the texts themselves need not be kept. */
export class TfidfFitter {
  readonly #settings: Settings;
  readonly #file: string;
  readonly #index = new Map<string, number>(); // term to its number in order of appearance
  readonly #counts = new SparseRowsBuilder();

  constructor(options: TfidfOptions = {}, file = "the texts") {
    this.#settings = settle(options);
    this.#file = file;
  }

  get rows(): number {
    return this.#counts.rows;
  }

  add(text: string): void {
    const found: number[] = [];
    forEachTerm(text, this.#settings, (term) => {
      let number = this.#index.get(term);
      if (number === undefined) {
        number = this.#index.size;
        this.#index.set(term, number);
      }
      found.push(number);
    });
    addCounts(found, (number, count) => this.#counts.add(number, count));
    this.#counts.endRow();
  }

  finish(): { vectoriser: TfidfVectoriser; rows: SparseRows } {
    const counts = this.#counts.build(this.#index.size);
    const frequencies = documentFrequencies(counts);
    const terms = this.#chooseTerms(frequencies, counts.rows);
    const columnOf = new Int32Array(this.#index.size).fill(-1); // term number to column
    const numbers = terms.map((term) => this.#index.get(term) as number);
    for (const [column, number] of numbers.entries()) columnOf[number] = column;
    const vectoriser = new TfidfVectoriser({
      options: this.#settings,
      documents: counts.rows,
      terms,
      documentFrequency: numbers.map((number) => frequencies[number] as number),
    });
    const renamed = renameColumns(counts, columnOf, terms.length);
    const builder = new SparseRowsBuilder();
    for (let row = 0; row < renamed.rows; row++) {
      const [from, to] = [renamed.rowStart[row] as number, renamed.rowStart[row + 1] as number];
      vectoriser.appendCounts(
        renamed.columnIndex.subarray(from, to),
        renamed.values.subarray(from, to),
        builder,
      );
    }
    return { vectoriser, rows: builder.build(vectoriser.columns) };
  }

  /** Terms within the limits of document frequency, sorted by code units. */
  #chooseTerms(frequencies: Int32Array, documents: number): string[] {
    const { minDocuments, maxDocuments, maxFeatures } = this.#settings;
    const most = maxDocuments * documents;
    let chosen: [term: string, df: number][] = [];
    for (const [term, number] of this.#index) {
      const df = frequencies[number] as number;
      if (df >= minDocuments && df <= most) chosen.push([term, df]);
    }
    if (chosen.length === 0) {
      const range = `at least ${minDocuments} and at most ${Math.floor(most)} of the ${documents} texts`;
      throw new DataError({
        file: this.#file,
        line: 0,
        found: `no term that occurs in ${range}`,
        expected: "more texts or wider limits of document frequency",
      });
    }
    if (maxFeatures !== undefined && chosen.length > maxFeatures) {
      chosen.sort(([a, dfA], [b, dfB]) => dfB - dfA || (a < b ? -1 : 1));
      chosen = chosen.slice(0, maxFeatures);
    }
    return chosen.map(([term]) => term).sort();
  }
}

/** Counts with their columns renamed, those named -1 left out, and the columns of each row rising again. */
function renameColumns(counts: SparseRows, columnOf: Int32Array, columns: number): SparseRows {
  // Two transpositions: entries in order of their column, dealt out to the rows, arrive there in that order.
  const { rows, rowStart: oldStart, columnIndex: oldColumn, values: oldValues } = counts;
  const nextInColumn = new Int32Array(columns + 1);
  const rowStart = new Int32Array(rows + 1);
  const rowOf = new Int32Array(oldColumn.length);
  for (let row = 0; row < rows; row++) {
    let kept = 0;
    for (let i = oldStart[row] as number; i < (oldStart[row + 1] as number); i++) {
      rowOf[i] = row;
      const column = columnOf[oldColumn[i] as number] as number;
      if (column < 0) continue;
      kept++;
      nextInColumn[column + 1] = (nextInColumn[column + 1] as number) + 1;
    }
    rowStart[row + 1] = (rowStart[row] as number) + kept;
  }
  for (let column = 0; column < columns; column++) {
    nextInColumn[column + 1] = (nextInColumn[column + 1] as number) + (nextInColumn[column] as number);
  }
  const entries = rowStart[rows] as number;
  const byColumn = new Int32Array(entries); // old positions
  for (let i = 0; i < oldColumn.length; i++) {
    const column = columnOf[oldColumn[i] as number] as number;
    if (column < 0) continue;
    const place = nextInColumn[column] as number;
    nextInColumn[column] = place + 1;
    byColumn[place] = i;
  }
  const nextInRow = rowStart.slice();
  const columnIndex = new Int32Array(entries);
  const values = new Float32Array(entries);
  for (const i of byColumn) {
    const row = rowOf[i] as number;
    const place = nextInRow[row] as number;
    nextInRow[row] = place + 1;
    columnIndex[place] = columnOf[oldColumn[i] as number] as number;
    values[place] = oldValues[i] as number;
  }
  return { rows, columns, rowStart, columnIndex, values };
}
