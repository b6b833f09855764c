// Tables as text. CSV with a first line of column names: a text column (or several) and a labels column (or several), or, without a
// text column, every other column a numeric feature (an empty cell is a zero). Several labels in one cell are separated by "|", ";"
// or ",". Excel may put a line `sep=;` before the names. Annif's short texts are lines `text<TAB><uri> <uri> ...` without names.

import { excerpt } from "../../base/errors.ts";
import type { DatasetBuilder } from "../builder.ts";
import { CsvRecords } from "../csvrecord.ts";
import { type BlankLine, DELIMITER_LINE, type RowParser } from "./detect.ts";
import { alternatives, ID_KEYS, LABEL_KEYS, LabelCells, OneHot, URI_KEY } from "./labels.ts";

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const DELIMITERS = ["\t", ";", ","];
const QUOTED = "a field in quotes, its own quotes doubled";

/** The delimiter the first line has most of; a comma when it has none. */
export function guessDelimiter(firstLine: string): string {
  const count = (delimiter: string): number => firstLine.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best), ",");
}

interface Columns {
  readonly names: readonly string[];
  readonly id: number; // -1 without one
  readonly texts: readonly number[];
  readonly labels: readonly number[];
  readonly oneHot: readonly number[];
  readonly kept: readonly number[];
  readonly features: readonly number[];
  /** Numbers of the features in the data set. */
  readonly featureColumns: Int32Array;
  /** Columns that mean nothing. */
  readonly others: readonly number[];
}

export class CsvParser implements RowParser {
  readonly #cells: LabelCells;
  readonly #oneHot: OneHot;
  #delimiter: string | undefined;
  #records: CsvRecords | undefined;
  #columns: Columns | undefined;
  #recordLine = 0; // where the record being read begins

  constructor(private readonly builder: DatasetBuilder) {
    this.#cells = new LabelCells(builder);
    this.#oneHot = new OneHot(builder);
    this.#delimiter = builder.options.delimiter;
  }

  get midRecord(): boolean {
    return this.#records?.midRecord ?? false;
  }

  line(bytes: Uint8Array, start: number, end: number): void {
    const builder: DatasetBuilder = this.builder;
    if (!this.midRecord) this.#recordLine = builder.line;
    const text = builder.decode(bytes, start, end);
    builder.line = this.#recordLine;
    if (this.#records === undefined && this.#isDelimiterLine(text)) return;
    this.#records ??= new CsvRecords(this.#delimiter ?? guessDelimiter(text), (found) =>
      builder.fail("broken quotes", found, QUOTED),
    );
    const fields = this.#records.push(text);
    if (fields === undefined) return;
    if (this.#columns) this.#row(fields, this.#columns);
    else this.#columns = this.#header(fields);
  }

  get blank(): BlankLine | undefined {
    return this.#columns && "unlabelled";
  }

  finish(): void {
    if (this.midRecord) this.builder.line = this.#recordLine;
    this.#records?.finish();
    if (!this.#columns) this.builder.refuse("an empty file", "a first line with the names of the columns");
  }

  #isDelimiterLine(text: string): boolean {
    const delimiter = DELIMITER_LINE.exec(text.trim())?.[1];
    if (delimiter === undefined) return false;
    this.#delimiter ??= delimiter;
    return true;
  }

  #header(fields: readonly string[]): Columns {
    const builder: DatasetBuilder = this.builder;
    const { options } = builder;
    const names = fields.map((name) => name.trim());
    const positions = new Map<string, number>(); // of the first of equal names in lower case
    const seen = new Set<string>();
    for (const [i, name] of names.entries()) {
      if (seen.has(name)) builder.refuse(`column ${excerpt(name)} twice`, "each column once");
      seen.add(name);
      if (!positions.has(name.toLowerCase())) positions.set(name.toLowerCase(), i);
    }
    const missing = (wanted: readonly string[], option: string, or = ""): never => {
      throw builder.missing("column", names, `a column ${alternatives(wanted)}${or}`, option);
    };
    const find = (name: string): number => positions.get(name.toLowerCase()) ?? -1;
    const has = (name: string): boolean => find(name) >= 0;
    const findAny = (usual: readonly string[]): number[] =>
      usual
        .map(find)
        .filter((at) => at >= 0)
        .slice(0, 1);
    const demand = (option: string) => (name: string) => {
      const at = find(name);
      return at < 0 ? missing([name], option) : at;
    };
    const texts = builder.keysOf("text", has)?.map(demand("text")) ?? findAny(["text"]);
    if (texts.length === 0 && builder.kind() === "text") missing(["text"], "text");
    const labels =
      builder.keysOf("labels", has)?.map(demand("labels")) ?? (this.#oneHot.wanted(names) ? [] : findAny(LABEL_KEYS));
    const [id = -1] =
      options.id === undefined ? findAny([options.keys?.id ?? "", ...ID_KEYS]) : [demand("id")(options.id)];
    const kept = (options.keep ?? []).map(demand("keep"));
    const isFeature = (at: number): boolean => options.featureNames?.includes(names[at]) ?? false;
    const ignored = new Set(options.ignore.map((name) => name.toLowerCase()));
    const taken = new Set([...texts, ...labels, id, ...kept.filter((at) => !isFeature(at))]);
    const free = [...names.keys()].filter((i) => !taken.has(i) && !ignored.has(names[i].toLowerCase()));
    const oneHot = free.filter((i) => this.#oneHot.has(names[i]));
    if (options.oneHot && oneHot.length === 0) missing(options.oneHot, "oneHot");
    if (oneHot.length > 0) builder.declareLabels(oneHot.map((i) => names[i]));
    if (labels.length + oneHot.length === 0 && options.requireLabels) missing(["labels"], "labels");
    const useText = texts.length > 0 && builder.kind() !== "features";
    const others = free.filter((i) => !oneHot.includes(i));
    const features = useText ? [] : others;
    if (!useText && features.length === 0) missing(["text"], "text", " or columns of numbers");
    const featureColumns = builder.columnsByName(features.map((at) => names[at]));
    return {
      ...{ names, id, labels, oneHot, kept, features, featureColumns },
      texts: useText ? texts : [],
      others: useText ? others.filter((i) => !kept.includes(i)) : [],
    };
  }

  #row(fields: readonly string[], columns: Columns): void {
    const builder: DatasetBuilder = this.builder;
    const { names, id, texts, labels, oneHot, kept, features, featureColumns, others } = columns;
    if (fields.length !== names.length)
      builder.fail("wrong number of fields", `${fields.length} fields`, `${names.length} fields`);
    const numbers = builder.rows === 0 ? others.filter((column) => NUMBER.test(fields[column].trim())) : [];
    if (numbers.length > 0)
      builder.notes.push(
        `${builder.file}: the text alone is read, numbers are ignored: ${excerpt(numbers.map((i) => names[i]).join(", "), 200)}`,
      );
    if (id >= 0) builder.id(fields[id].trim());
    builder.keep(kept.map((column) => fields[column]));
    for (const column of labels) {
      if (names[column].toLowerCase() === URI_KEY) this.#cells.addUris(fields[column]);
      else this.#cells.add(fields[column]);
    }
    for (const column of oneHot) this.#oneHot.add(names[column], fields[column]);
    if (labels.length + oneHot.length === 0) builder.noLabels();
    if (texts.length > 0) builder.text(texts.map((column) => fields[column]).join("\n"));
    for (const [i, column] of features.entries()) {
      const cell = fields[column].trim();
      if (cell === "") continue;
      const name = (): string => `column ${excerpt(names[column])}`;
      const value = builder.value(NUMBER.test(cell) ? Number(cell) : NaN, name, () => cell);
      builder.featureAt(featureColumns[i], value);
    }
    builder.endRow();
  }
}

export class AnnifParser implements RowParser {
  readonly blank = "unlabelled";
  readonly #cells: LabelCells;

  constructor(private readonly builder: DatasetBuilder) {
    this.#cells = new LabelCells(builder);
  }

  line(bytes: Uint8Array, start: number, end: number): void {
    const builder: DatasetBuilder = this.builder;
    const written = builder.decode(bytes, start, end);
    const tab = written.indexOf("\t");
    builder.text(tab < 0 ? written : written.slice(0, tab));
    if (tab >= 0) this.#cells.addUris(written.slice(tab + 1));
    const expected = "a text, a tab, and URIs with blanks between them";
    if (tab < 0) builder.noLabels(() => builder.error({ found: "no tab", expected }));
    builder.endRow();
  }
}
