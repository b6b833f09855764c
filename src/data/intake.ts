// Where parsers put what they find: checks ids and values, builds the rows, gives up a row that is broken.

import { LabelSetsBuilder, SparseRowsBuilder } from "./builders.ts";
import { IdIndex, mapFeatures } from "./columns.ts";
import type { Dataset, SparseRows } from "./dataset.ts";
import { utf8, windows1252 } from "./encoding.ts";
import { DataError, excerpt } from "./errors.ts";
import { type Growable, growableFloats, growableIntegers } from "./growable.ts";
import { NameIndex } from "./names.ts";
import type { DataFormat, ReadOptions, SkippedRow } from "./options.ts";
import { SkipLog } from "./skiplog.ts";
import { TfidfFitter, type TfidfVectoriser } from "./tfidf.ts";

/** Bounds for ids when none are given: one stray id must not ask for gigabytes. */
export const MOST_COLUMNS: number = 2 ** 28;
export const MOST_LABELS: number = 2 ** 24;

/** Plain words and numbers as they are, anything else as an excerpt in quotes. */
export function show(token: string): string {
  return /^[\w.+-]{1,40}$/.test(token) ? token : excerpt(token);
}

export class Intake {
  readonly file: string;
  readonly options: ReadOptions;
  /** What is counted. */
  unit: "line" | "row" = "line";
  readonly notes: string[] = [];
  readonly skipped: SkipLog = new SkipLog();
  /** Told of every row that is skipped. */
  onSkip: ((row: SkippedRow) => void) | undefined;
  /** D and K once they are fixed, by a header or by the caller. */
  columns: number | undefined;
  labelCount: number | undefined;
  featureNames: NameIndex | undefined;
  labelNames: NameIndex | undefined;
  unknownFeatures = 0;
  labelEntries = 0; // over all rows, also those already taken
  rows = 0; // likewise
  emptyRows = 0;
  #labelled = 0; // rows with labels, likewise
  #firstEmpty = 0; // its line
  #foreignLines = 0; // that are not UTF-8
  #firstForeign = 0;
  #features = new SparseRowsBuilder();
  #labels = new LabelSetsBuilder();
  readonly #columnNumbers: IdIndex | undefined; // of the ids that a model has
  #lines: Growable<Int32Array> = growableIntegers();
  #known: Growable<Float32Array> = growableFloats(); // of each row what the model has
  #written: (ReadonlyMap<string, string> | undefined)[] = []; // of each row the words as written, where they were asked for
  #ids: string[] | undefined; // of the rows not yet taken, once a row has one
  #fitter: TfidfFitter | undefined;
  #text: string | undefined; // of the row being built
  #id: string | undefined; // likewise
  #keptRow: readonly string[] | undefined; // likewise
  readonly #keptSome: Set<number> = new Set(); // of what is to be kept, what any row had
  #kept: (readonly string[])[] = [];
  #hasText = false;
  #labelNamesBefore = 0;
  #featureNamesBefore = 0;
  #unknownBefore = 0;

  constructor(file: string, options: ReadOptions) {
    this.file = file;
    this.options = options;
    this.columns = options.columns;
    this.labelCount = options.labelCount;
    if (options.featureNames) this.featureNames = new NameIndex(options.featureNames);
    if (options.columnIds && !options.featureNames) this.#columnNumbers = new IdIndex(options.columnIds);
    if (options.labelNames) this.labelNames = new NameIndex(options.labelNames);
    this.#remember();
  }

  get requireLabels(): boolean {
    return this.options.requireLabels ?? true;
  }

  /** What a model demands the rows to be, if there is one. */
  kind(): "text" | "features" | undefined {
    const { vectoriser, columns, columnIds, featureNames } = this.options;
    if (vectoriser) return "text";
    return columns !== undefined || columnIds || featureNames ? "features" : undefined;
  }

  /** Refuses the row, or the file unless it is read leniently. */
  fail(line: number, reason: string, found: string, expected: string): never {
    throw new DataError({ file: this.file, line, found, expected, reason, unit: this.unit });
  }

  /** Refuses the file. */
  refuse(line: number, found: string, expected: string): never {
    throw new DataError({ file: this.file, line, found, expected, unit: this.unit });
  }

  /** Refuses the file, or with a reason the row: it has other columns or keys than `expected`, which an option names. */
  missing(
    line: number,
    what: "column" | "key",
    names: readonly string[],
    expected: string,
    option: string,
    reason?: string,
  ): never {
    const { file, unit } = this;
    throw new DataError({
      file,
      line,
      unit,
      found: names.length === 0 ? `no ${what}s` : `${what}s ${excerpt(names.join(", "), 200)}`,
      expected: `${expected} (${this.option(option)} names another ${what})`,
      names,
      option,
      ...(reason !== undefined && { reason }),
    });
  }

  /** Parses a row. Read leniently, a broken one is given up and counted. */
  attempt(line: number, parse: () => void): void {
    try {
      parse();
    } catch (error) {
      if (!(error instanceof DataError) || error.reason === undefined || !this.options.lenient) throw error;
      this.abandonRow();
      const { reason, message } = error;
      const row = { line: error.line || line, reason, message, rowsBefore: this.rows };
      this.skipped.add(row);
      this.onSkip?.(row);
    }
  }

  /** Bytes as text: Windows-1252 where they are not UTF-8, which is counted and said. */
  decode(bytes: Uint8Array, start: number, end: number, line: number): string {
    const text = utf8(bytes, start, end);
    if (text !== undefined) return text;
    if (this.#foreignLines++ === 0) this.#firstForeign = line;
    return windows1252(bytes, start, end);
  }

  /** An option as the caller knows it, for a message. */
  option(name: string): string {
    return this.options.nameOption?.(name) ?? `option ${name}`;
  }

  /** Whether the row being built, whose labels are known, is to have its features. */
  get wanted(): boolean {
    const { featuresOf: of, lenient } = this.options;
    if (of === undefined || lenient) return true;
    return this.#labels.pending > 0 && this.#labelled >= of.from && this.#labelled < of.to;
  }

  /** A label by its id as written in the file; `token` is what stands there if it is no number. */
  label(id: number, line: number, token: string | undefined, first = 0): void {
    const count = this.labelCount ?? this.labelNames?.size ?? MOST_LABELS;
    if (!(id >= first && id < count + first)) {
      const found = token === undefined ? `${id}` : show(token);
      const reason = "label id out of range";
      this.fail(line, reason, `label id ${found}`, `a number from ${first} to ${count + first - 1}`);
    }
    this.#labels.add(id - first);
  }

  knowsLabel(name: string): boolean {
    return (this.labelNames?.find(name) ?? -1) >= 0;
  }

  /** A label by its name; blanks around it do not count. */
  labelByName(written: string, line: number): void {
    const name = written.trim();
    this.labelNames ??= new NameIndex();
    if (this.options.labelNames && this.options.unknownLabels === "error" && this.labelNames.find(name) < 0) {
      this.fail(
        line,
        "unknown label",
        `label ${excerpt(name)}`,
        `one of the ${this.labelNames.size} known labels`,
      );
    }
    const id = this.labelNames.findOrAdd(name);
    if (id >= MOST_LABELS) this.refuse(line, `more than ${MOST_LABELS} different labels`, "fewer");
    this.#labels.add(id);
  }

  /** Labels that may occur, once before the first row, so that they are numbered in this order. */
  declareLabels(names: readonly string[]): void {
    this.labelNames ??= new NameIndex();
    for (const name of names) this.labelNames.findOrAdd(name.trim());
    this.#remember();
  }

  /** D or K as the file says it, which must agree with what the caller knows. */
  declareSize(what: "features" | "labels", found: number, line: number): void {
    const known = what === "features" ? this.columns : this.labelCount;
    const most = what === "features" ? MOST_COLUMNS : MOST_LABELS;
    if (known !== undefined && found !== known) this.refuse(line, `${found} ${what}`, `${known} ${what}`);
    if (found > most) this.refuse(line, `${found} ${what}`, `at most ${most}`);
    if (what === "features") this.columns = found;
    else this.labelCount = found;
  }

  /** A feature by its id as written in the file; `token` is what stands there if it is no number. */
  feature(id: number, value: number, line: number, token?: string, first = 0): void {
    const count = this.columns ?? this.featureNames?.size ?? MOST_COLUMNS;
    if (!(id >= first && id < count + first)) {
      const found = token === undefined ? `${id}` : show(token);
      const reason = "feature id out of range";
      this.fail(line, reason, `feature id ${found}`, `a number from ${first} to ${count + first - 1}`);
    }
    if (this.#columnNumbers) this.featureAt(this.#columnNumbers.find(id - first), value);
    else this.#features.add(id - first, value);
  }

  featureByName(name: string, value: number, line: number): void {
    const { featureNames, columns, columnIds } = this.options;
    // Names would be numbered as they come, whatever the numbers mean to the model.
    if (!featureNames && (columns !== undefined || columnIds))
      this.refuse(line, `a feature called ${excerpt(name)}`, "numbers: the model's features have no names");
    this.featureNames ??= new NameIndex();
    const id = featureNames ? this.featureNames.find(name) : this.featureNames.findOrAdd(name);
    if (id >= MOST_COLUMNS) this.refuse(line, `more than ${MOST_COLUMNS} different features`, "fewer");
    if (id < 0) this.unknownFeatures++;
    else this.#features.add(id, value);
  }

  /**
   * Columns that every row has, once before the first row: the number of each, or -1 where `featureNames` does not
   * have it.
   */
  columnsByName(names: readonly string[], line: number): Int32Array {
    if (names.length === 0) return new Int32Array(); // texts: their columns are the vocabulary's
    this.featureNames ??= new NameIndex();
    const known: NameIndex = this.featureNames;
    if (names.length > MOST_COLUMNS) this.refuse(line, `${names.length} features`, `at most ${MOST_COLUMNS}`);
    const find = (name: string): number =>
      this.options.featureNames ? known.find(name) : known.findOrAdd(name);
    const columns = Int32Array.from(names, find);
    this.#remember();
    return columns;
  }

  /** A value of a column by its number; -1 for a column that the model does not have. */
  featureAt(column: number, value: number): void {
    if (column < 0) this.unknownFeatures++;
    else this.#features.add(column, value);
  }

  /** A value as it can be stored, in single precision; `token` is what stands in the file. */
  value(value: number, line: number, feature: () => string, token: () => string): number {
    if (!Number.isFinite(value)) {
      this.fail(line, "not a finite number", `value ${show(token())} of ${feature()}`, "a finite number");
    }
    if (!Number.isFinite(Math.fround(value))) {
      this.fail(
        line,
        "value too large",
        `value ${show(token())} of ${feature()}`,
        "at most 3.4e38 in magnitude",
      );
    }
    return value;
  }

  text(text: string): void {
    this.#text = text;
  }

  id(id: string): void {
    this.#id = id;
  }

  /** What stands under each of the keys or columns to keep. */
  keep(values: readonly string[]): void {
    this.#keptRow = values;
    for (let i = 0; i < values.length; i++) if (values[i] !== "") this.#keptSome.add(i);
  }

  /** Ends the row that began in the given line. A row with nothing in it is a row too. */
  endRow(line: number): void {
    const entries = this.#features.pending;
    const { wanted } = this;
    const empty = wanted && (this.#text === undefined ? entries === 0 : this.#text.trim() === "");
    if (this.#text === undefined) {
      const duplicate = this.#features.endRow();
      if (duplicate >= 0) {
        const name = this.featureNames?.names[duplicate];
        const id = (this.options.columnIds?.[duplicate] ?? duplicate) + (this.options.firstFeature ?? 0);
        const found = name === undefined ? `feature id ${id}` : `feature ${excerpt(name)}`;
        this.fail(line, "duplicate feature", `${found} twice`, "each feature once in a row");
      }
      const all = entries + this.unknownFeatures - this.#unknownBefore;
      this.#known.push(all === 0 ? 0 : entries / all);
    } else {
      this.#addText(wanted ? this.#text : "");
    }
    if (this.#labels.pending > 0) this.#labelled++;
    this.labelEntries += this.#labels.pending;
    this.#labels.endRow();
    if (empty && this.emptyRows++ === 0) this.#firstEmpty = line;
    this.#endIdentity(line);
    this.#text = undefined;
    this.rows++;
    this.#remember();
  }

  /** Forgets what the row being built has brought, names it was the first to use included. */
  abandonRow(): void {
    this.#features.abandonRow();
    this.#labels.abandonRow();
    this.#text = undefined;
    this.#id = undefined;
    this.#keptRow = undefined;
    this.labelNames?.shrink(this.#labelNamesBefore);
    this.featureNames?.shrink(this.#featureNamesBefore);
    this.unknownFeatures = this.#unknownBefore;
  }

  /** Makes room for about so many times as many rows as there are now, so that they are not copied as they grow. */
  expect(times: number): void {
    for (const each of [this.#features, this.#labels, this.#lines, this.#fitter]) each?.expect(times);
  }

  /** The rows since the last call as a data set. */
  take(format: DataFormat): Dataset {
    this.#fillTexts();
    const fitted = this.#fitter?.finish();
    const vectoriser: TfidfVectoriser | undefined =
      fitted?.vectoriser ?? (this.#hasText ? this.options.vectoriser : undefined);
    const { columnIds } = this.options;
    const columns = columnIds?.length ?? this.columns ?? this.featureNames?.size ?? vectoriser?.columns;
    const features = fitted?.rows ?? this.#buildFeatures(columns, vectoriser);
    const labels = this.#labels.build(this.#knownLabels());
    const { labelNames, featureNames } = this;
    const ids = this.#ids;
    const kept = this.#kept;
    const lines = this.#lines.finish();
    const known = this.#known.finish();
    this.#features = new SparseRowsBuilder();
    this.#labels = new LabelSetsBuilder();
    this.#lines = growableIntegers();
    this.#known = growableFloats();
    const written = this.#written;
    this.#written = [];
    this.#ids = ids && [];
    this.#kept = [];
    return {
      features,
      labels,
      ...(labelNames && { labelNames: [...labelNames.names] }),
      ...(featureNames && !vectoriser && { featureNames: [...featureNames.names] }),
      ...(vectoriser && { vectoriser }),
      ...(columnIds && { columnIds }),
      ...(ids && { ids }),
      lines,
      ...(this.kind() && { known }),
      ...(written.length > 0 && { written }),
      ...(this.options.keep && { kept }),
      source: { file: this.file, format },
    };
  }

  /** Says what is known only after the last row. */
  closingNotes(): void {
    const say = (count: number, one: string, many: string, what: string, line: number): void => {
      if (count === 0) return;
      const place = count === 1 ? `${this.unit} ${line}` : `the first in ${this.unit} ${line}`;
      this.notes.push(`${this.file}: ${count === 1 ? `1 ${one}` : `${count} ${many}`} ${what} (${place})`);
    };
    const missing = this.#hasText ? "no text" : "no features";
    say(this.emptyRows, "row has", "rows have", missing, this.#firstEmpty);
    const encoding = "not UTF-8, read as Windows-1252";
    say(this.#foreignLines, "line is", "lines are", encoding, this.#firstForeign);
    this.options.keep?.forEach((name, i) => {
      if (!this.#keptSome.has(i)) this.notes.push(`${this.file}: no row has ${excerpt(name)} to keep`);
    });
  }

  /** Learning a vocabulary, which needs all rows. */
  get fitting(): boolean {
    return this.#fitter !== undefined;
  }

  /** A vocabulary has columns of its own, of which the model may not have all. */
  #buildFeatures(columns: number | undefined, vectoriser: TfidfVectoriser | undefined): SparseRows {
    const { columnIds } = this.options;
    if (!vectoriser || !columnIds) return this.#features.build(columns);
    return mapFeatures(this.#features.build(vectoriser.columns), columnIds);
  }

  /** K where it is given; names that are new come on top of it. */
  #knownLabels(): number | undefined {
    if (this.labelCount === undefined) return this.labelNames?.size;
    return Math.max(this.labelCount, this.labelNames?.size ?? 0);
  }

  #addText(text: string): void {
    this.#hasText = true;
    if (this.options.vectoriser) {
      this.#known.push(this.options.vectoriser.appendRow(text, this.#features));
      if (this.options.written) this.#written[this.#lines.length] = this.options.vectoriser.written(text);
    } else {
      this.#fitter ??= new TfidfFitter(this.options.tfidf, this.file);
      this.#fillTexts();
      this.#fitter.add(text);
    }
  }

  /** Rows that had no text (blank lines) are empty texts. */
  #fillTexts(): void {
    while (this.#fitter && this.#fitter.rows < this.rows) this.#fitter.add("");
  }

  /** Line and id of the row that ends. */
  #endIdentity(line: number): void {
    if (this.#id !== undefined) this.#ids ??= new Array<string>(this.#lines.length).fill("");
    this.#ids?.push(this.#id ?? "");
    this.#id = undefined;
    if (this.options.keep) this.#kept.push(this.#keptRow ?? this.options.keep.map(() => ""));
    this.#keptRow = undefined;
    this.#lines.push(line);
  }

  #remember(): void {
    this.#labelNamesBefore = this.labelNames?.size ?? 0;
    this.#featureNamesBefore = this.featureNames?.size ?? 0;
    this.#unknownBefore = this.unknownFeatures;
  }
}
