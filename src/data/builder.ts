// Where parsers put what they find: checks ids and values, builds the rows, gives up a row that is broken.

import { defined } from "../base/check.ts";
import { DataError, type DataErrorParts, excerpt } from "../base/errors.ts";
import { inTurns } from "../base/progress.ts";
import { mapFeatures, placeOf, type SparseRows } from "../base/sparse.ts";
import { growableFloats, growableIntegers, LabelSetsBuilder, type RowEntries, SparseRowsBuilder } from "./builders.ts";
import { utf8, windows1252 } from "./bytes.ts";
import type { Dataset } from "./dataset.ts";
import type { NumpyMatrix } from "./formats/numpy.ts";
import {
  type CheckedOptions,
  checkedOptions,
  type DataFormat,
  type ReadOptions,
  type ReadReport,
  type SkippedRow,
  type SkippedRows,
} from "./options.ts";
import { STEM_PACKAGE } from "./stemmers.ts";
import { TfidfFitter, type TfidfVectoriser } from "./tfidf.ts";
import { VECTOR, VectorRows, widened } from "./vectors.ts";

/** Bounds for ids when none are given: one stray id must not ask for gigabytes. */
export const MOST_COLUMNS: number = 2 ** 28;
export const MOST_LABELS: number = 2 ** 24;
const MOST_LISTED = 100;
/** Characters beyond which texts are not kept beside their rows. */
const MOST_TEXT = 2 ** 28;
/** Characters of one text: its words take a hundred times as many bytes, and few bytes of gzip can hold any number. */
export const LONGEST_TEXT: number = 2 ** 24;

/** Plain words and numbers as they are, anything else as an excerpt in quotes. */
export const show = (token: string): string => (/^[\w.+-]{1,40}$/.test(token) ? token : excerpt(token));

/** Names of labels or columns, numbered in order of appearance or as a model has them. */
export class NameIndex {
  readonly names: string[];
  readonly #ids: Map<string, number>;

  constructor(names: readonly string[] = []) {
    this.names = [...names];
    this.#ids = new Map(names.map((name, id) => [name, id]));
  }

  get size(): number {
    return this.names.length;
  }

  /** -1 when the name is not known. */
  find(name: string): number {
    return this.#ids.get(name) ?? -1;
  }

  findOrAdd(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.names.push(name) - 1;
    this.#ids.set(name, id);
    return id;
  }

  shrink(size: number): void {
    for (const name of this.names.splice(size)) this.#ids.delete(name);
  }
}

/** The broken rows that a lenient reader skipped: all counted, the first hundred listed. */
class SkipLog implements SkippedRows {
  total = 0;
  readonly byReason: Record<string, number> = {};
  readonly rows: SkippedRow[] = [];

  add(row: SkippedRow): void {
    this.total++;
    this.byReason[row.reason] = (this.byReason[row.reason] ?? 0) + 1;
    if (this.rows.length < MOST_LISTED) this.rows.push(row);
  }
}

/** How many rows are of a kind, and where the first one is. */
class Tally {
  count = 0;
  first = 0;

  add(line: number): void {
    if (this.count++ === 0) this.first = line;
  }
}

interface PendingRow {
  text?: string;
  id?: string;
  kept?: readonly string[];
  unlabelled?: boolean;
  vectors?: ReadonlyMap<string, ArrayLike<number>> | undefined;
}

class OpenRows {
  readonly features = new SparseRowsBuilder();
  readonly labels = new LabelSetsBuilder();
  readonly lines = growableIntegers();
  readonly coverage = growableFloats();
  readonly kept: (readonly string[])[] = [];
  readonly unlabelled: number[] = []; // their numbers
  rowTexts: string[] | undefined = []; // by row, unless they are too much to keep and no embedder wants them
  characters = 0;

  /** `ids` are there once a row has one. */
  constructor(public ids: string[] | undefined) {}
}

export class DatasetBuilder implements ReadReport {
  readonly file: string;
  readonly options: CheckedOptions;
  /** The unit that is counted, and the number of the one that is being read. */
  unit: "line" | "row" = "line";
  line = 0;
  readonly notes: string[] = [];
  readonly skipped: SkipLog = new SkipLog();
  onSkip: ((row: SkippedRow) => void) | undefined;
  /** D and K once they are fixed, by a header or by the caller. */
  columns: number | undefined;
  labelCount: number | undefined;
  featureNames: NameIndex | undefined;
  labelNames: NameIndex | undefined;
  unknownFeatures = 0;
  labelEntries = 0; // over all rows, also those already taken
  rows = 0; // likewise
  readonly #empty = new Tally();
  readonly #foreign = new Tally(); // lines that are not UTF-8
  /** Rows that could be read, whether they were wanted or not. */
  passed = 0;
  vectorFile: NumpyMatrix | undefined;
  #record = 0; // rows that came, whatever became of them
  readonly #vectors: VectorRows;
  #place = 0; // of the next row: a row that turns out broken at its end has one too, in every pass over the file
  readonly #unlabelled = new Tally(); // rows that were left out
  #noLabels: DataError | undefined; // of the first of them
  readonly #columnIds: Int32Array | undefined; // of the ids that a model has
  #allColumns: number | undefined; // values of a row that has all columns
  #fitter: TfidfFitter | undefined;
  #hasText = false;
  #open = new OpenRows(undefined);
  #row: PendingRow = {};
  readonly #keptSome: Set<number> = new Set(); // of what is to be kept, what any row had
  #before = { labelNames: 0, featureNames: 0, unknown: 0 }; // the row being built

  constructor(file: string, options: ReadOptions) {
    this.file = file;
    this.options = checkedOptions(options);
    this.columns = options.columns;
    this.labelCount = options.labelCount;
    if (options.featureNames) this.featureNames = new NameIndex(options.featureNames);
    if (options.columnIds && !options.featureNames) this.#columnIds = options.columnIds;
    if (options.labelNames) this.labelNames = new NameIndex(options.labelNames);
    this.#vectors = new VectorRows(options.vectoriser && (options.vectoriser.vectors ?? []));
    this.#remember();
  }

  get emptyRows(): number {
    return this.#empty.count;
  }

  get unlabelled(): number {
    return this.#unlabelled.count;
  }

  /** Learning a vocabulary, which needs all rows. */
  get fitting(): boolean {
    return this.#fitter !== undefined;
  }

  /** Demands of a model on the rows, if there is one. */
  kind(): "text" | "features" | undefined {
    const { vectoriser, columns, columnIds, featureNames } = this.options;
    if (vectoriser) return "text";
    return columns !== undefined || columnIds || featureNames ? "features" : undefined;
  }

  error(parts: Omit<DataErrorParts, "file" | "line" | "unit">, line: number = this.line): DataError {
    return new DataError({ file: this.file, line, unit: this.unit, ...parts });
  }

  /** Refuses the row, or the file unless it is read leniently. */
  fail(reason: string, found: string, expected: string): never {
    throw this.error({ found, expected, reason });
  }

  /** Refuses the file: at the line that is being read, or as a whole. */
  refuse(found: string, expected: string, line: number = this.line): never {
    throw this.error({ found, expected }, line);
  }

  /** The file, or with a reason the row, has other columns or keys than `expected`, which an option names. */
  missing(
    what: "column" | "key",
    names: readonly string[],
    expected: string,
    option: string,
    reason?: string,
  ): DataError {
    return this.error({
      found: names.length === 0 ? `no ${what}s` : `${what}s ${excerpt(names.join(", "), 200)}`,
      expected: `${expected} (${this.option(option)} names another ${what})`,
      names,
      option,
      reason,
    });
  }

  /** Parses a row. Read leniently, a broken one is given up and counted. */
  attempt(line: number, parse: () => void): void {
    this.line = line;
    const record = this.#record;
    try {
      parse();
    } catch (error) {
      this.#record = Math.max(this.#record, record + 1);
      if (!(error instanceof DataError) || error.reason === undefined || !this.options.lenient) throw error;
      this.abandonRow();
      const { reason, message } = error;
      const row = { line: error.line || line, reason, message, rowsBefore: this.rows };
      this.skipped.add(row);
      this.onSkip?.(row);
    }
  }

  /** Bytes as text: Windows-1252 where they are not UTF-8, which is counted and said. */
  decode(bytes: Uint8Array, start: number, end: number): string {
    const text = utf8(bytes, start, end);
    if (text !== undefined) return text;
    this.#foreign.add(this.line);
    return windows1252(bytes, start, end);
  }

  /** An option as the caller knows it, for a message. */
  option(name: string): string {
    return this.options.nameOption?.(name) ?? `option ${name}`;
  }

  /** Keys or columns that were asked for; else those of a model's data that the file or row `has`; undefined for the usual ones. */
  keysOf(kind: "text" | "labels", has: (name: string) => boolean): readonly string[] | undefined {
    const { keys, oneHot } = this.options;
    const known = (kind === "labels" && oneHot ? undefined : keys?.[kind]?.filter(has)) ?? [];
    return this.options[kind] ?? (known.length > 0 ? known : undefined);
  }

  /** The row being built, whose labels are known, is to have its features. */
  get wanted(): boolean {
    const { featuresOf: of, lenient } = this.options;
    if (of === undefined || lenient) return true;
    return this.rows >= of.from && this.rows < of.to;
  }

  /** Refuses an id beyond those there are; `token` is what stands in the file if it is no number. */
  #checkId(what: "label" | "feature", id: number, count: number, token?: string): void {
    if (!(id >= 0 && id < count))
      this.fail(
        `${what} id out of range`,
        `${what} id ${show(token ?? String(id))}`,
        `a number from 0 to ${count - 1}`,
      );
  }

  label(id: number, token?: string): void {
    this.#checkId("label", id, this.labelCount ?? this.labelNames?.size ?? MOST_LABELS, token);
    this.#open.labels.add(id);
  }

  knowsLabel(name: string): boolean {
    return (this.labelNames?.find(name) ?? -1) >= 0;
  }

  /** A label by its name; blanks around it do not count. */
  labelByName(written: string): void {
    const name = written.trim();
    this.labelNames ??= new NameIndex();
    const id = this.labelNames.findOrAdd(name);
    if (id >= MOST_LABELS) this.refuse(`more than ${MOST_LABELS} different labels`, "fewer");
    this.#open.labels.add(id);
  }

  /** Labels that may occur, once before the first row, so that they are numbered in this order. */
  declareLabels(names: readonly string[]): void {
    this.labelNames ??= new NameIndex();
    for (const name of names) this.labelNames.findOrAdd(name.trim());
    this.#remember();
  }

  /** The row being built has no place for labels: `why` says what was looked for in vain. */
  noLabels(why?: () => DataError): void {
    this.#row.unlabelled = true;
    if (this.options.unlabelled === "skip") this.#noLabels ??= why?.();
  }

  /** D or K as the file says it, which must agree with what the caller knows. */
  declareSize(what: "features" | "labels", found: number): void {
    const known = what === "features" ? this.columns : this.labelCount;
    const most = what === "features" ? MOST_COLUMNS : MOST_LABELS;
    if (known !== undefined && found !== known) this.refuse(`${found} ${what}`, `${known} ${what}`);
    if (found > most) this.refuse(`${found} ${what}`, `at most ${most}`);
    if (what === "features") this.columns = found;
    else this.labelCount = found;
  }

  feature(id: number, value: number, token?: string): void {
    this.#checkId("feature", id, this.columns ?? this.featureNames?.size ?? MOST_COLUMNS, token);
    this.featureAt(this.#columnIds ? placeOf(id, this.#columnIds) : id, value);
  }

  featureByName(name: string, value: number): void {
    const { featureNames, columns, columnIds } = this.options;
    // Names would be numbered as they come, whatever the numbers mean to the model.
    if (!featureNames && (columns !== undefined || columnIds))
      this.refuse(`a feature called ${excerpt(name)}`, "numbers: the model's features have no names");
    this.featureNames ??= new NameIndex();
    const id = featureNames ? this.featureNames.find(name) : this.featureNames.findOrAdd(name);
    this.featureAt(id, value);
  }

  /** Columns that every row has, once before the first row: the number of each, or -1 where a model does not have it. */
  columnsByName(names: readonly string[]): Int32Array {
    if (names.length === 0) return new Int32Array(); // texts: their columns are the vocabulary's
    this.featureNames ??= new NameIndex();
    const known: NameIndex = this.featureNames;
    const columns = Int32Array.from(names, (name) =>
      this.options.featureNames ? known.find(name) : known.findOrAdd(name),
    );
    const given = new Set(names);
    const missing = (this.options.featureNames ?? []).filter((name) => !given.has(name));
    if (missing.length > 0)
      this.notes.push(
        `${this.file}: ${missing.length} of the model's ${known.size} features have no column and count as 0: ${excerpt(missing.join(", "))}`,
      );
    this.#remember();
    return columns;
  }

  /** A value of a column by its number; -1 for a column that the model does not have. */
  featureAt(column: number, value: number): void {
    if (column < 0) this.unknownFeatures++;
    else this.#open.features.add(column, value);
  }

  /** The row being built has a value for each of so many columns: as many as the model, or the first such row. */
  allColumns(count: number): void {
    const { columnIds } = this.options;
    const least = columnIds ? columnIds[columnIds.length - 1] + 1 : 0;
    const expected = columnIds ? undefined : (this.columns ?? this.featureNames?.size ?? this.#allColumns);
    if (count < least || (expected !== undefined && count !== expected))
      this.fail("not features", `${count} values`, `${expected ?? `at least ${least}`}, one for each feature`);
    this.#allColumns = count;
  }

  /** A value as it can be stored, in single precision; `token` is what stands in the file. */
  value(value: number, feature: () => string, token: () => string): number {
    if (Number.isFinite(Math.fround(value))) return value;
    const found = `value ${show(token())} of ${feature()}`;
    if (!Number.isFinite(value)) this.fail("not a finite number", found, "a finite number");
    this.fail("value too large", found, "at most 3.4e38 in magnitude");
  }

  text(text: string): void {
    this.#row.text = text;
  }

  id(id: string): void {
    this.#row.id = id;
  }

  vectors(found: PendingRow["vectors"]): void {
    this.#row.vectors = found;
  }

  /** Values under each of the keys or columns to keep. */
  keep(values: readonly string[]): void {
    this.#row.kept = values;
    for (let i = 0; i < values.length; i++) if (values[i] !== "") this.#keptSome.add(i);
  }

  /** Ends the row. A row with nothing in it is a row too. */
  endRow(): void {
    const [{ features, labels }, { text, unlabelled }] = [this.#open, this.#row];
    const record = this.#record++;
    if (unlabelled && this.options.unlabelled === "skip") {
      this.abandonRow();
      this.#unlabelled.add(this.line);
      return;
    }
    if (this.options.rows?.(this.#place++) === false) {
      this.passed++;
      this.abandonRow();
      return;
    }
    const { wanted } = this;
    if (text !== undefined || this.#hasText) this.#addVectors(record);
    const empty = wanted && (text === undefined ? features.pending === 0 : text.trim() === "" && !this.#row.vectors);
    if (text === undefined) this.#endFeatures();
    else this.#addText(wanted ? text : "");
    this.labelEntries += labels.pending;
    labels.endRow();
    if (empty) this.#empty.add(this.line);
    this.#endIdentity();
    this.rows++;
    this.passed++;
    this.#remember();
  }

  #addVectors(record: number): void {
    if (this.options.embedder) return;
    const { vectorFile } = this;
    if (vectorFile && record >= vectorFile.rows)
      this.refuse(`more rows than the ${vectorFile.rows} vectors`, "as many");
    const found = vectorFile ? new Map([[VECTOR, this.#vectorOf(vectorFile, record)]]) : this.#row.vectors;
    this.#vectors.add(found, (what, expected, reason = "not a vector") => this.fail(reason, what, expected));
  }

  #vectorOf({ columns, at }: NumpyMatrix, row: number): Float32Array {
    const what = (): string => "a vector";
    return Float32Array.from({ length: columns }, (_, column) => {
      const value = at(row, column);
      return this.value(value, what, () => String(value));
    });
  }

  #endFeatures(): void {
    if (this.vectorFile || this.options.embedder)
      this.refuse("features", "texts: vectors stand beside texts", this.line);
    const { features, coverage } = this.#open;
    const entries = features.pending;
    const { columnIds, refuseRow } = this.options;
    const check = (row: RowEntries): void => {
      const fault = refuseRow?.(row);
      if (fault) this.fail("too large for the model", fault.found, fault.expected);
    };
    const duplicate = features.endRow(refuseRow && check);
    if (duplicate >= 0) {
      const name = this.featureNames?.names[duplicate];
      const id = columnIds?.[duplicate] ?? duplicate;
      const found = name === undefined ? `feature id ${id}` : `feature ${excerpt(name)}`;
      this.fail("duplicate feature", `${found} twice`, "each feature once in a row");
    }
    const all = entries + this.unknownFeatures - this.#before.unknown;
    coverage.push(all === 0 ? 0 : entries / all);
  }

  /** Forgets what the row being built has brought, names it was the first to use included. */
  abandonRow(): void {
    this.#open.features.abandonRow();
    this.#open.labels.abandonRow();
    this.#row = {};
    this.labelNames?.shrink(this.#before.labelNames);
    this.featureNames?.shrink(this.#before.featureNames);
    this.unknownFeatures = this.#before.unknown;
  }

  /** Makes room for about so many times as many rows as there are now, so that they are not copied as they grow. */
  expect(times: number): void {
    const { features, labels, lines, coverage } = this.#open;
    for (const each of [features, labels, lines, coverage, this.#fitter]) each?.expect(times);
  }

  /** The rows since the last call as a data set. */
  async take(format: DataFormat): Promise<Dataset> {
    this.#fillTexts();
    const { shapes = [] } = this.#vectors;
    const fitted = this.#fitter && (await inTurns(this.#fitter.finishing(shapes.length > 0), this.options));
    const language = fitted?.vectoriser.unstemmedLanguage();
    if (language !== undefined) {
      const use = `${this.option("stem")} ${language} may help (npm install ${STEM_PACKAGE})`;
      this.notes.push(`${this.file}: the texts look ${language[0].toUpperCase()}${language.slice(1)}; ${use}`);
    }
    const known = fitted?.vectoriser ?? (this.#hasText ? this.options.vectoriser : undefined);
    const inline = known && shapes.length > 0 && !this.options.embedder;
    const vectoriser = inline && fitted ? known.withVectors(shapes) : known;
    const { columnIds, keep, text, labels: labelKeys, oneHot, id } = this.options;
    const keys = { ...this.options.keys, ...defined({ text, labels: labelKeys, oneHot, id }) };
    const { features, labels, lines, coverage, kept, unlabelled, ids, rowTexts: texts } = this.#open;
    this.#open = new OpenRows(ids && []);
    const { labelNames, featureNames } = this;
    const marks = new Uint8Array(lines.length);
    for (const row of unlabelled) marks[row] = 1;
    const rows = this.#withVectors(fitted?.rows ?? this.#buildFeatures(features, vectoriser), inline);
    return {
      features: this.#hasText && texts ? { ...rows, texts: Array.from(marks, (_, row) => texts[row] ?? "") } : rows,
      labels: labels.build(this.#knownLabels()),
      lines: lines.finish(),
      source: { file: this.file, format },
      ...defined({
        ...{ vectoriser, columnIds, ids },
        labelNames: labelNames && [...labelNames.names],
        featureNames: vectoriser ? undefined : featureNames && [...featureNames.names],
        coverage: this.kind() && coverage.finish(),
        kept: keep && kept,
        unlabelled: unlabelled.length > 0 ? marks : undefined,
        keys: Object.keys(keys).length > 0 ? keys : undefined,
      }),
    };
  }

  /** After the last row: refuses a source without any that is right, and says what is known only now. */
  finish(): void {
    const { rows, vectorFile } = this;
    if (rows === 0 && this.#noLabels) throw this.#noLabels;
    if (vectorFile && vectorFile.rows !== this.#record)
      this.refuse(`${this.#record} rows and ${vectorFile.rows} vectors`, "as many of one as of the other", 0);
    if (rows === 0) this.refuse(this.skipped.total > 0 ? "no row that is right" : "no rows", "at least one", 0);
    if (this.options.requireLabels && this.labelEntries === 0)
      this.refuse(`no label in any of its ${rows} rows`, "at least one row with labels", 0);
    const say = ({ count, first }: Tally, one: string, many: string, what: string): void => {
      if (count === 0) return;
      const place = count === 1 ? `${this.unit} ${first}` : `the first in ${this.unit} ${first}`;
      this.notes.push(`${this.file}: ${count === 1 ? `1 ${one}` : `${count} ${many}`} ${what} (${place})`);
    };
    say(this.#empty, "row has", "rows have", this.#hasText ? "no text" : "no features");
    say(this.#unlabelled, "row without labels was", "rows without labels were", "left out");
    say(this.#foreign, "line is", "lines are", "not UTF-8, read as Windows-1252");
    for (const [i, name] of (this.options.keep ?? []).entries())
      if (!this.#keptSome.has(i)) this.notes.push(`${this.file}: no row has ${excerpt(name)} to keep`);
  }

  #withVectors(features: SparseRows, inline: boolean | undefined): SparseRows {
    const width = (this.#vectors.shapes ?? []).reduce((sum, { length }) => sum + length, 0);
    return inline ? widened(features, this.#vectors.take(), width) : features;
  }

  /** A vocabulary has columns of its own, of which the model may not have all. */
  #buildFeatures(features: SparseRowsBuilder, vectoriser: TfidfVectoriser | undefined): SparseRows {
    const { columnIds } = this.options;
    const words = vectoriser?.terms.length;
    if (vectoriser && columnIds) return mapFeatures(features.build(words), columnIds);
    return features.build(columnIds?.length ?? this.columns ?? this.featureNames?.size ?? words);
  }

  /** K where it is given; names that are new come on top of it. */
  #knownLabels(): number | undefined {
    if (this.labelCount === undefined) return this.labelNames?.size;
    return Math.max(this.labelCount, this.labelNames?.size ?? 0);
  }

  #addText(text: string): void {
    if (text.length > LONGEST_TEXT)
      this.fail("text too long", `a text of ${text.length} characters`, `at most ${LONGEST_TEXT}`);
    this.#hasText = true;
    const open = this.#open;
    open.characters += text.length;
    if (open.characters > MOST_TEXT && !this.options.embedder) open.rowTexts = undefined;
    if (open.rowTexts) open.rowTexts[open.lines.length] = text;
    const { vectoriser, tfidf } = this.options;
    if (vectoriser) open.coverage.push(vectoriser.appendRow(text, open.features));
    else {
      this.#fitter ??= new TfidfFitter(tfidf, this.file);
      this.#fillTexts();
      this.#fitter.add(text);
    }
  }

  /** Rows that had no text (blank lines) are empty texts. */
  #fillTexts(): void {
    while (this.#fitter && this.#fitter.rows < this.rows) this.#fitter.add("");
  }

  #endIdentity(): void {
    const open = this.#open;
    const { id, kept, unlabelled } = this.#row;
    if (id !== undefined) open.ids ??= new Array<string>(open.lines.length).fill("");
    open.ids?.push(id ?? "");
    if (this.options.keep) open.kept.push(kept ?? this.options.keep.map(() => ""));
    if (unlabelled && this.options.unlabelled !== "empty") open.unlabelled.push(open.lines.length);
    open.lines.push(this.line);
    this.#row = {};
  }

  #remember(): void {
    const { labelNames, featureNames, unknownFeatures: unknown } = this;
    this.#before = { labelNames: labelNames?.size ?? 0, featureNames: featureNames?.size ?? 0, unknown };
  }
}
