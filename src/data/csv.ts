// CSV with a first line of column names. A text column and a labels column, or, without a text column, every
// other column a numeric feature (an empty cell is a zero). Several labels in one cell are separated by "|",
// ";" or ",".

import { CsvError, CsvRecords } from "./csvrecord.ts";
import { excerpt } from "./errors.ts";
import type { Intake } from "./intake.ts";
import { decodeLine } from "./lines.ts";

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const DELIMITERS = ["\t", ";", ","];
const LABEL_SEPARATORS = ["|", ";", ","];

/** The delimiter the first line has most of; a comma when it has none. */
export function guessDelimiter(firstLine: string): string {
  const count = (delimiter: string): number => firstLine.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best), ",");
}

interface Columns {
  readonly names: readonly string[];
  readonly text: number; // -1 without one
  readonly labels: number;
  readonly features: readonly number[];
}

export class CsvParser {
  readonly #intake: Intake;
  #records: CsvRecords | undefined;
  #columns: Columns | undefined;
  #separator: string | undefined;
  #recordLine = 0; // where the record being read begins

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#separator = intake.options.labelSeparator;
  }

  get midRecord(): boolean {
    return this.#records?.midRecord ?? false;
  }

  line(bytes: Uint8Array, start: number, end: number, line: number): void {
    if (!this.midRecord) this.#recordLine = line;
    const at = this.#recordLine;
    let fields: string[] | undefined;
    try {
      const text = decodeLine(bytes, start, end, this.#intake.file, line);
      this.#records ??= new CsvRecords(this.#intake.options.delimiter ?? guessDelimiter(text));
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

  finish(): void {
    if (this.midRecord) {
      this.#records?.reset();
      const expected = "a field in quotes, its own quotes doubled";
      this.#intake.fail(this.#recordLine, "broken quotes", "a quoted field that does not end", expected);
    }
    if (!this.#columns) this.#intake.refuse(0, "an empty file", "a first line with the names of the columns");
  }

  #header(fields: readonly string[], line: number): Columns {
    const intake: Intake = this.#intake;
    const { options } = intake;
    const names = fields.map((name) => name.trim());
    const shown = excerpt(names.join(", "));
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) intake.refuse(line, `column ${excerpt(twice)} twice`, "each column once");
    const find = (name: string): number =>
      names.findIndex((each) => each.toLowerCase() === name.toLowerCase());
    const text = find(options.text ?? "text");
    if (text < 0 && (options.text !== undefined || intake.kind() === "text")) {
      intake.refuse(line, `columns ${shown}`, `a column ${excerpt(options.text ?? "text")}`);
    }
    const labels =
      options.labels === undefined && find("labels") < 0 ? find("label") : find(options.labels ?? "labels");
    if (labels < 0 && (intake.requireLabels || options.labels !== undefined)) {
      intake.refuse(line, `columns ${shown}`, `a column ${excerpt(options.labels ?? "labels")}`);
    }
    const useText = text >= 0 && intake.kind() !== "features";
    const ignored = new Set((options.ignore ?? ["id"]).map((name) => name.toLowerCase()));
    const features = useText
      ? []
      : [...names.keys()].filter((i) => i !== labels && !ignored.has((names[i] as string).toLowerCase()));
    if (!useText && features.length === 0) {
      intake.refuse(line, `columns ${shown}`, `a column ${excerpt("text")} or columns of numbers`);
    }
    return { names, text: useText ? text : -1, labels, features };
  }

  #row(fields: readonly string[], columns: Columns, line: number): void {
    const intake: Intake = this.#intake;
    if (fields.length !== columns.names.length) {
      intake.fail(
        line,
        "wrong number of fields",
        `${fields.length} fields`,
        `${columns.names.length} fields`,
      );
    }
    if (columns.labels >= 0) this.#labels(fields[columns.labels] as string, line);
    if (columns.text >= 0) intake.text(fields[columns.text] as string);
    for (const column of columns.features) {
      const name = columns.names[column] as string;
      const cell = (fields[column] as string).trim();
      const number = NUMBER.test(cell) ? Number(cell) : NaN;
      const value =
        cell === ""
          ? 0
          : intake.value(
              number,
              line,
              () => `column ${excerpt(name)}`,
              () => cell,
            );
      intake.featureByName(name, value, line);
    }
    intake.endRow(line);
  }

  #labels(cell: string, line: number): void {
    const separator = this.#separator ?? LABEL_SEPARATORS.find((each) => cell.includes(each));
    for (const label of separator === undefined ? [cell] : cell.split(separator)) {
      const name = label.trim();
      if (name !== "") this.#intake.labelByName(name, line);
    }
    if (separator !== undefined && this.#separator === undefined) {
      this.#separator = separator;
      this.#intake.notes.push(`${this.#intake.file}: labels are separated by "${separator}"`);
    }
  }
}
