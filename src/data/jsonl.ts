// One JSON object a line: `{"text": "...", "labels": ["a", "b"]}`, or "features" in place of "text":
//   {"name": value, ...}, {"12": value, ...}, [[12, value], ...], [value of column 0, of column 1, ...],
//   {"indices": [12, ...], "values": [value, ...]}
// Labels are names, or ids when they are numbers; "labels" may be one label alone, and "label" is read as
// well.

import { DataError, excerpt } from "./errors.ts";
import type { Intake } from "./intake.ts";
import { duplicateKey } from "./jsonkeys.ts";
import { decodeLine } from "./lines.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const COLUMN_NUMBER = /^(?:0|[1-9]\d*)$/;

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value in a few words, for a message. */
function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? excerpt(value) : String(value);
}

export class JsonlParser {
  readonly #intake: Intake;
  readonly #textKey: string;
  #kind: "text" | "features" | undefined;
  #labelKind: "string" | "number" | undefined;
  #keys: "names" | "ids" | undefined;

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#textKey = intake.options.text ?? "text";
    const { featureKeys, featureNames } = intake.options;
    if (featureKeys === "names" || featureKeys === "ids") this.#keys = featureKeys;
    else if (featureNames) this.#keys = "names";
  }

  line(bytes: Uint8Array, start: number, end: number, line: number): void {
    const before = [this.#kind, this.#labelKind, this.#keys] as const;
    try {
      const row = this.#parse(decodeLine(bytes, start, end, this.#intake.file, line), line);
      this.#labels(row, line);
      this.#input(row, line);
      this.#intake.endRow(line);
    } catch (error) {
      // A row that is skipped decides nothing for the others.
      if (error instanceof DataError) [this.#kind, this.#labelKind, this.#keys] = before;
      throw error;
    }
  }

  finish(): void {}

  #parse(text: string, line: number): JsonObject {
    let row: unknown;
    try {
      row = JSON.parse(text);
    } catch {
      const special = /(?:NaN|-?Infinity)(?=\s*[,\]}])/.exec(text);
      if (special) this.#intake.fail(line, "not a finite number", special[0], "a finite number");
      this.#intake.fail(line, "not JSON", excerpt(text), "a JSON object on one line");
    }
    if (!isObject(row)) {
      this.#intake.fail(
        line,
        "not an object",
        describe(row),
        'a JSON object such as {"text": "...", "labels": ["..."]}',
      );
    }
    const twice = duplicateKey(text);
    if (twice !== undefined)
      this.#intake.fail(line, "duplicate feature", `key ${excerpt(twice)} twice`, "each key once");
    return row;
  }

  #labels(row: JsonObject, line: number): void {
    const key = this.#intake.options.labels ?? (Object.hasOwn(row, "labels") ? "labels" : "label");
    const value = Object.hasOwn(row, key) ? row[key] : undefined;
    if (value === undefined || value === null) {
      if (!this.#intake.requireLabels) return;
      const name = this.#intake.options.labels ?? "labels";
      this.#intake.fail(line, "no labels", `no ${excerpt(name)}`, `${excerpt(name)} with a list of labels`);
    }
    for (const label of Array.isArray(value) ? (value as unknown[]) : [value]) this.#label(label, line);
  }

  #label(label: unknown, line: number): void {
    const intake: Intake = this.#intake;
    if ((typeof label !== "string" && typeof label !== "number") || label === "") {
      intake.fail(line, "not a label", `label ${describe(label)}`, "a name or a number");
    }
    if (intake.options.labelNames) {
      intake.labelByName(String(label), line);
      return;
    }
    this.#labelKind ??= typeof label as "string" | "number";
    if (typeof label !== this.#labelKind) {
      intake.fail(
        line,
        "not a label",
        `label ${describe(label)}`,
        `a ${this.#labelKind}, as the labels before it`,
      );
    }
    if (typeof label === "string") intake.labelByName(label, line);
    else intake.label(Number.isInteger(label) ? label : -1, line, String(label));
  }

  #input(row: JsonObject, line: number): void {
    const intake: Intake = this.#intake;
    const hasText = Object.hasOwn(row, this.#textKey);
    const hasFeatures = Object.hasOwn(row, "features") && intake.options.text === undefined;
    const names = `${excerpt(this.#textKey)} or "features"`;
    if (!hasText && !hasFeatures) intake.fail(line, "no text or features", `no ${names}`, `one of them`);
    if (hasText && hasFeatures)
      intake.fail(line, "text and features", `both ${excerpt(this.#textKey)} and "features"`, "one of them");
    const kind = hasText ? "text" : "features";
    this.#kind ??= intake.kind() ?? kind;
    if (kind !== this.#kind) {
      intake.fail(
        line,
        "text and features",
        `"${kind}"`,
        `"${this.#kind}" as in the rows or the model before`,
      );
    }
    if (hasText) {
      const text = row[this.#textKey];
      if (typeof text !== "string") intake.fail(line, "not a text", `${describe(text)} as text`, "a string");
      intake.text(text);
    } else {
      this.#features(row.features, line);
    }
  }

  #features(features: unknown, line: number): void {
    if (Array.isArray(features)) {
      this.#list(features, line);
    } else if (!isObject(features)) {
      this.#intake.fail(line, "not features", `features ${describe(features)}`, "an object or a list");
    } else if (Array.isArray(features.indices) && Array.isArray(features.values)) {
      this.#parallel(features.indices, features.values, line);
    } else {
      this.#object(features, line);
    }
  }

  #list(list: readonly unknown[], line: number): void {
    for (const [position, item] of list.entries()) {
      if (typeof item === "number") this.#pair(position, item, line);
      else if (Array.isArray(item) && item.length === 2) this.#pair(item[0], item[1], line);
      else
        this.#intake.fail(
          line,
          "not features",
          `feature ${describe(item)}`,
          "a number or a pair [column, value]",
        );
      if (typeof item !== typeof list[0]) {
        this.#intake.fail(
          line,
          "not features",
          "numbers and pairs in one list",
          "numbers alone or pairs alone",
        );
      }
    }
  }

  #parallel(indices: readonly unknown[], values: readonly unknown[], line: number): void {
    if (indices.length !== values.length) {
      const found = `${indices.length} indices with ${values.length} values`;
      this.#intake.fail(line, "not features", found, "as many of one as of the other");
    }
    for (let i = 0; i < indices.length; i++) this.#pair(indices[i], values[i], line);
  }

  #object(features: JsonObject, line: number): void {
    const keys = Object.keys(features);
    if (keys.length === 0) return;
    this.#keys ??= keys.every((key) => COLUMN_NUMBER.test(key)) ? "ids" : "names";
    for (const key of keys) {
      if (this.#keys === "names") {
        this.#intake.featureByName(key, this.#value(key, features[key], line), line);
      } else if (COLUMN_NUMBER.test(key)) {
        this.#pair(Number(key), features[key], line);
      } else {
        const expected = 'a column number as in the rows before (or featureKeys "names")';
        this.#intake.fail(line, "feature id out of range", `feature ${excerpt(key)}`, expected);
      }
    }
  }

  #pair(column: unknown, value: unknown, line: number): void {
    const id = Number.isInteger(column) ? (column as number) : -1;
    this.#intake.feature(id, this.#value(column, value, line), line, describe(column));
  }

  #value(feature: unknown, value: unknown, line: number): number {
    const number = typeof value === "number" ? value : NaN;
    return this.#intake.value(
      number,
      line,
      () => `feature ${describe(feature)}`,
      () => describe(value),
    );
  }
}
