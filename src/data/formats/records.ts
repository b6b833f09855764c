// Rows as objects, whatever they come from (JSON lines, a JSON list, a list in memory):
//   {"text": "...", "labels": ["a", "b"], "id": "..."}, or "features" in place of "text":
//   {"name": value, ...}, {"12": value, ...}, [[12, value], ...], [value of column 0, of column 1, ...],
//   {"indices": [12, ...], "values": [value, ...]}
// Labels are names, or ids when they are numbers, or objects with a "uri" or a "label", as Annif has them; they may be
// one label alone, or several in one text. Other keys mean nothing.

import { DataError, excerpt } from "../errors.ts";
import type { Intake } from "../intake.ts";
import { alternatives, ID_KEYS, LABEL_KEYS, listOf, URI_KEY } from "./keys.ts";
import { LabelCells } from "./labelcells.ts";
import { OneHot } from "./onehot.ts";
import type { RecordKinds } from "./plainrecord.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

const COLUMN_NUMBER = /^(?:0|[1-9]\d*)$/;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value in a few words, for a message. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? excerpt(value) : String(value);
}

/** What stands under a key, or under `a.b` in the object within; undefined where there is nothing. */
function fieldOf(row: JsonObject, key: string): unknown {
  if (Object.hasOwn(row, key)) return row[key];
  const dot = key.indexOf(".");
  const inner = dot > 0 && Object.hasOwn(row, key.slice(0, dot)) ? row[key.slice(0, dot)] : undefined;
  return isObject(inner) ? fieldOf(inner, key.slice(dot + 1)) : undefined;
}

export class Records {
  readonly #intake: Intake;
  readonly #cells: LabelCells;
  readonly #oneHot: OneHot;
  readonly #textKeys: readonly string[];
  #kind: "text" | "features" | undefined;
  #labelKind: "string" | "number" | undefined;
  #keys: "names" | "ids" | undefined;

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#cells = new LabelCells(intake);
    this.#oneHot = new OneHot(intake);
    this.#textKeys = listOf(intake.options.text ?? "text");
    const { featureKeys, featureNames } = intake.options;
    if (featureKeys === "names" || featureKeys === "ids") this.#keys = featureKeys;
    else if (featureNames) this.#keys = "names";
  }

  /** What the rows so far have decided, once they are features with labels. */
  get kinds(): RecordKinds | undefined {
    const labels = this.#intake.options.labelNames ? "string" : this.#labelKind;
    const keys = this.#keys;
    return this.#kind === "features" && keys && labels ? { keys, labels } : undefined;
  }

  /** The next row. */
  add(row: JsonObject, line: number): void {
    const before = [this.#kind, this.#labelKind, this.#keys] as const;
    try {
      this.#id(row, line);
      this.#intake.keep((this.#intake.options.keep ?? []).map((key) => asText(fieldOf(row, key))));
      this.#labels(row, line);
      this.#input(row, line);
      this.#intake.endRow(line);
    } catch (error) {
      // A row that is skipped decides nothing for the others.
      if (error instanceof DataError) [this.#kind, this.#labelKind, this.#keys] = before;
      throw error;
    }
  }

  #id(row: JsonObject, line: number): void {
    const intake: Intake = this.#intake;
    const wanted = intake.options.id;
    const key = wanted ?? ID_KEYS.find((each) => Object.hasOwn(row, each));
    const id = key === undefined ? undefined : fieldOf(row, key);
    if (typeof id === "string" || typeof id === "number") intake.id(String(id));
    else if (wanted !== undefined) {
      const found = `${describe(id)} as ${excerpt(wanted)}`;
      intake.fail(line, "no id", found, `an id, text or number (${intake.option("id")})`);
    }
  }

  #labels(row: JsonObject, line: number): void {
    const intake: Intake = this.#intake;
    const { labels, oneHot } = intake.options;
    const usual = oneHot === undefined ? (LABEL_KEYS.find((key) => Object.hasOwn(row, key)) ?? "labels") : [];
    const wanted = listOf(labels ?? usual);
    let found = oneHot !== undefined && this.#addOneHot(row, line);
    for (const key of wanted) {
      const value = fieldOf(row, key);
      if (value === undefined) continue;
      found = true;
      if (value === null) continue;
      if (typeof value !== "string") {
        for (const label of Array.isArray(value) ? (value as unknown[]) : [value]) this.#label(label, line);
      } else if (key === URI_KEY) this.#cells.addUris(value, line);
      else this.#cell(value, line);
    }
    if (found || !intake.requireLabels) return;
    const expected = alternatives([...wanted, ...listOf(oneHot ?? [])]);
    intake.missing(line, "key", Object.keys(row), `${expected} with a list of labels`, "labels", "no labels");
  }

  /** Whether the row has any key that is a label. */
  #addOneHot(row: JsonObject, line: number): boolean {
    const { text = "text", id = "id", labels = [] } = this.#intake.options;
    const others = new Set([...listOf(text), ...listOf(labels), id, "features"]);
    const keys = Object.keys(row).filter((key) => !others.has(key) && this.#oneHot.has(key));
    for (const key of keys) this.#oneHot.add(key, row[key], line);
    return keys.length > 0;
  }

  /** Several labels in one text. */
  #cell(text: string, line: number): void {
    if (text.trim() === "") return;
    this.#expectKind("string", text, line);
    this.#cells.add(text, line);
  }

  #label(value: unknown, line: number): void {
    const intake: Intake = this.#intake;
    const label = isObject(value) ? (value.uri ?? value.label) : value;
    if ((typeof label !== "string" && typeof label !== "number") || String(label).trim() === "") {
      intake.fail(line, "not a label", `label ${describe(value)}`, "a name or a number");
    }
    if (intake.options.labelNames) {
      intake.labelByName(String(label), line);
      return;
    }
    this.#expectKind(typeof label as "string" | "number", label, line);
    if (typeof label === "string") intake.labelByName(label, line);
    else intake.label(Number.isInteger(label) ? label : -1, line, String(label));
  }

  #expectKind(kind: "string" | "number", label: unknown, line: number): void {
    if (this.#intake.options.labelNames) return;
    this.#labelKind ??= kind;
    if (kind !== this.#labelKind) {
      const expected = `a ${this.#labelKind}, as the labels before it`;
      this.#intake.fail(line, "not a label", `label ${describe(label)}`, expected);
    }
  }

  #input(row: JsonObject, line: number): void {
    const intake: Intake = this.#intake;
    const texts = this.#textKeys.map((key) => fieldOf(row, key));
    const hasText = texts.some((text) => text !== undefined);
    const hasFeatures = Object.hasOwn(row, "features") && intake.options.text === undefined;
    const keys = alternatives(this.#textKeys);
    if (!hasText && !hasFeatures) {
      const also = intake.options.text === undefined ? ' or "features"' : "";
      intake.missing(line, "key", Object.keys(row), `${keys}${also}`, "text", "no text or features");
    }
    if (hasText && hasFeatures)
      intake.fail(line, "text and features", `both ${keys} and "features"`, "one of them");
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
    if (hasText) intake.text(texts.map((text) => this.#text(text, line)).join("\n"));
    else this.#features(row.features, line);
  }

  /** Nothing and null are empty texts. */
  #text(text: unknown, line: number): string {
    const found = text ?? "";
    if (typeof found !== "string")
      this.#intake.fail(line, "not a text", `${describe(found)} as text`, "a string");
    return found;
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

/** Whatever stands under a key, to be kept. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
