// CSV with a first line of column names. A text column (or several) and a labels column (or several), or, without a
// text column, every other column a numeric feature (an empty cell is a zero). Several labels in one cell are separated
// by "|", ";" or ",". Excel may put a line `sep=;` before the names.

import { CsvError, CsvRecords } from "../csvrecord.ts";
import { excerpt } from "../errors.ts";
import type { Intake } from "../intake.ts";
import { alternatives, ID_KEYS, LABEL_KEYS, listOf, URI_KEY } from "./keys.ts";
import { LabelCells } from "./labelcells.ts";
import { OneHot } from "./onehot.ts";

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const DELIMITERS = ["\t", ";", ","];
const DELIMITER_LINE = /^"?sep=(.)"?$/i;

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
  /** Of each feature as the intake numbers it. */
  readonly featureColumns: Int32Array;
}

export class CsvParser {
  readonly #intake: Intake;
  readonly #cells: LabelCells;
  readonly #oneHot: OneHot;
  #delimiter: string | undefined;
  #records: CsvRecords | undefined;
  #columns: Columns | undefined;
  #recordLine = 0; // where the record being read begins

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#cells = new LabelCells(intake);
    this.#oneHot = new OneHot(intake);
    this.#delimiter = intake.options.delimiter;
  }

  get midRecord(): boolean {
    return this.#records?.midRecord ?? false;
  }

  line(bytes: Uint8Array, start: number, end: number, line: number): void {
    if (!this.midRecord) this.#recordLine = line;
    const at = this.#recordLine;
    let fields: string[] | undefined;
    try {
      const text = this.#intake.decode(bytes, start, end, line);
      if (this.#records === undefined && this.#isDelimiterLine(text)) return;
      this.#records ??= new CsvRecords(this.#delimiter ?? guessDelimiter(text));
      fields = this.#records.push(text);
    } catch (error) {
      this.#records?.reset();
      if (!(error instanceof CsvError)) throw error;
      this.#intake.fail(at, "broken quotes", error.message, "a field in quotes, its own quotes doubled");
    }
    if (fields === undefined) return;
    if (this.#columns) this.#row(fields, this.#columns, at);
    else this.#columns = this.#header(fields, at);
  }

  blank(line: number): void {
    if (this.#columns) this.#intake.endRow(line);
  }

  finish(): void {
    if (this.midRecord) {
      this.#records?.reset();
      const expected = "a field in quotes, its own quotes doubled";
      this.#intake.fail(this.#recordLine, "broken quotes", "a quoted field that does not end", expected);
    }
    if (!this.#columns) this.#intake.refuse(0, "an empty file", "a first line with the names of the columns");
  }

  /** Excel's line before the names. */
  #isDelimiterLine(text: string): boolean {
    const delimiter = DELIMITER_LINE.exec(text.trim())?.[1];
    if (delimiter === undefined) return false;
    this.#delimiter ??= delimiter;
    return true;
  }

  #header(fields: readonly string[], line: number): Columns {
    const intake: Intake = this.#intake;
    const { options } = intake;
    const names = fields.map((name) => name.trim());
    const positions = new Map<string, number>(); // of the first of equal names in lower case
    const seen = new Set<string>();
    for (const [i, name] of names.entries()) {
      if (seen.has(name)) intake.refuse(line, `column ${excerpt(name)} twice`, "each column once");
      seen.add(name);
      if (!positions.has(name.toLowerCase())) positions.set(name.toLowerCase(), i);
    }
    const find = (name: string): number => positions.get(name.toLowerCase()) ?? -1;
    const demand = (name: string, option: string): number => {
      const at = find(name);
      if (at < 0) this.#missing(names, [name], option, line);
      return at;
    };
    const texts =
      options.text === undefined
        ? [find("text")].filter((at) => at >= 0)
        : listOf(options.text).map((name) => demand(name, "text"));
    if (texts.length === 0 && intake.kind() === "text") this.#missing(names, ["text"], "text", line);
    const labels =
      options.labels === undefined
        ? (this.#oneHot.wanted ? [] : LABEL_KEYS.map(find)).filter((at) => at >= 0).slice(0, 1)
        : listOf(options.labels).map((name) => demand(name, "labels"));
    const id =
      options.id === undefined ? (ID_KEYS.map(find).find((at) => at >= 0) ?? -1) : demand(options.id, "id");
    const kept = (options.keep ?? []).map((name) => demand(name, "keep"));
    const isFeature = (at: number): boolean => options.featureNames?.includes(names[at] as string) ?? false;
    const taken = new Set([...texts, ...labels, id, ...kept.filter((at) => !isFeature(at))]);
    const oneHot = this.#oneHotOf(names, taken, line);
    if (labels.length + oneHot.length === 0 && intake.requireLabels)
      this.#missing(names, ["labels"], "labels", line);
    const useText = texts.length > 0 && intake.kind() !== "features";
    const features = useText ? [] : this.#featuresOf(names, new Set([...taken, ...oneHot]), line);
    const featureColumns = intake.columnsByName(
      features.map((at) => names[at] as string),
      line,
    );
    return { names, id, texts: useText ? texts : [], labels, oneHot, kept, features, featureColumns };
  }

  /** Columns that are labels. */
  #oneHotOf(names: readonly string[], taken: ReadonlySet<number>, line: number): number[] {
    if (!this.#oneHot.wanted) return [];
    const found = this.#free(names, taken).filter((i) => this.#oneHot.has(names[i] as string));
    if (found.length === 0) this.#missing(names, listOf(this.#intake.options.oneHot ?? []), "oneHot", line);
    this.#intake.declareLabels(found.map((i) => names[i] as string));
    return found;
  }

  /** Columns that are neither taken nor to be ignored. */
  #free(names: readonly string[], taken: ReadonlySet<number>): number[] {
    const ignored = new Set((this.#intake.options.ignore ?? ["id"]).map((name) => name.toLowerCase()));
    return [...names.keys()].filter((i) => !taken.has(i) && !ignored.has((names[i] as string).toLowerCase()));
  }

  #featuresOf(names: readonly string[], taken: ReadonlySet<number>, line: number): number[] {
    const features = this.#free(names, taken);
    if (features.length === 0) this.#missing(names, ["text"], "text", line, " or columns of numbers");
    return features;
  }

  #missing(
    names: readonly string[],
    wanted: readonly string[],
    option: string,
    line: number,
    or = "",
  ): never {
    this.#intake.missing(line, "column", names, `a column ${alternatives(wanted)}${or}`, option);
  }

  #row(fields: readonly string[], columns: Columns, line: number): void {
    const intake: Intake = this.#intake;
    const { names, id, texts, labels, oneHot, kept, features, featureColumns } = columns;
    if (fields.length !== names.length) {
      intake.fail(line, "wrong number of fields", `${fields.length} fields`, `${names.length} fields`);
    }
    if (id >= 0) intake.id((fields[id] as string).trim());
    intake.keep(kept.map((column) => fields[column] as string));
    for (const column of labels) {
      if (names[column]?.toLowerCase() === URI_KEY) this.#cells.addUris(fields[column] as string, line);
      else this.#cells.add(fields[column] as string, line);
    }
    for (const column of oneHot) this.#oneHot.add(names[column] as string, fields[column], line);
    if (texts.length > 0) intake.text(texts.map((column) => fields[column] as string).join("\n"));
    for (const [i, column] of features.entries()) {
      const cell = (fields[column] as string).trim();
      if (cell === "") continue;
      const number = NUMBER.test(cell) ? Number(cell) : NaN;
      const value = intake.value(
        number,
        line,
        () => `column ${excerpt(names[column] as string)}`,
        () => cell,
      );
      intake.featureAt(featureColumns[i] as number, value);
    }
    intake.endRow(line);
  }
}
