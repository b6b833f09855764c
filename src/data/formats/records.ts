// Rows as objects, whatever they come from (JSON lines, a JSON list, Parquet, a list in memory):
//   {"text": "...", "labels": ["a", "b"], "id": "..."}, or "features" in place of "text", as base/input.ts has them.
// Labels are names, or ids when they are numbers, or objects with a "uri" or a "label", as Annif has them; they may be
// one label alone, or several in one text. Other keys mean nothing.

import { describe, isObject, type JsonObject } from "../../base/check.ts";
import { DataError, excerpt } from "../../base/errors.ts";
import { plainFeatures, plainVectors, type Refuse } from "../../base/input.ts";
import type { DatasetBuilder } from "../builder.ts";
import { alternatives, ID_KEYS, LABEL_KEYS, LabelCells, OneHot, URI_KEY } from "./labels.ts";

const COLUMN_NUMBER = /^(?:0|[1-9]\d*)$/;

/** The value under a key, or under `a.b` in the object within; undefined where there is nothing. */
function fieldOf(row: JsonObject, key: string): unknown {
  if (Object.hasOwn(row, key)) return row[key];
  const dot = key.indexOf(".");
  const inner = dot > 0 && Object.hasOwn(row, key.slice(0, dot)) ? row[key.slice(0, dot)] : undefined;
  return isObject(inner) ? fieldOf(inner, key.slice(dot + 1)) : undefined;
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export class Records {
  readonly #cells: LabelCells;
  readonly #oneHot: OneHot;
  readonly #notLabels: ReadonlySet<string>; // whatever the pattern of one-hot keys is
  #kind: "text" | "features" | undefined;
  #labelKind: "string" | "number" | undefined;
  #keys: "names" | "ids" | undefined;

  constructor(private readonly builder: DatasetBuilder) {
    this.#cells = new LabelCells(builder);
    this.#oneHot = new OneHot(builder);
    const { keys, featureKeys, featureNames } = builder.options;
    const { text = keys?.text ?? ["text"], id = keys?.id ?? "id", labels = keys?.labels ?? [] } = builder.options;
    this.#notLabels = new Set([...text, ...labels, id, "features"]);
    if (featureKeys !== "auto") this.#keys = featureKeys;
    else if (featureNames) this.#keys = "names";
  }

  add(row: JsonObject): void {
    const before = [this.#kind, this.#labelKind, this.#keys] as const;
    try {
      this.#id(row);
      this.builder.keep((this.builder.options.keep ?? []).map((key) => asText(fieldOf(row, key))));
      this.#labels(row);
      this.#input(row);
      this.builder.endRow();
    } catch (error) {
      // A row that is skipped decides nothing for the others.
      if (error instanceof DataError) [this.#kind, this.#labelKind, this.#keys] = before;
      throw error;
    }
  }

  #id(row: JsonObject): void {
    const builder: DatasetBuilder = this.builder;
    const wanted = builder.options.id;
    const key = wanted ?? [builder.options.keys?.id ?? "", ...ID_KEYS].find((each) => Object.hasOwn(row, each));
    const id = key === undefined ? undefined : fieldOf(row, key);
    if (typeof id === "string" || typeof id === "number") builder.id(String(id));
    else if (wanted !== undefined) {
      const found = `${describe(id)} as ${excerpt(wanted)}`;
      builder.fail("no id", found, `an id, text or number (${builder.option("id")})`);
    }
  }

  #labels(row: JsonObject): void {
    const builder: DatasetBuilder = this.builder;
    const { oneHot } = builder.options;
    const usual = this.#oneHot.wanted(Object.keys(row))
      ? []
      : [LABEL_KEYS.find((key) => Object.hasOwn(row, key)) ?? "labels"];
    const wanted = builder.keysOf("labels", (key) => fieldOf(row, key) !== undefined) ?? usual;
    const marked = Object.keys(row).filter((key) => this.#oneHot.has(key) && !this.#notLabels.has(key));
    for (const key of marked) this.#oneHot.add(key, row[key]);
    let found = marked.length > 0;
    for (const key of wanted) {
      const value = fieldOf(row, key);
      if (value === undefined || value === null) continue;
      found = true;
      if (typeof value !== "string") {
        for (const label of Array.isArray(value) ? (value as unknown[]) : [value]) this.#label(label);
      } else if (key === URI_KEY) this.#cells.addUris(value);
      else if (value.trim() !== "") {
        this.#expectKind("string", value);
        this.#cells.add(value);
      }
    }
    if (found) return;
    const expected = `${alternatives([...wanted, ...(oneHot ?? [])])} with a list of labels`;
    builder.noLabels(() => builder.missing("key", Object.keys(row), expected, "labels", "no labels"));
  }

  #label(value: unknown): void {
    const builder: DatasetBuilder = this.builder;
    const label = isObject(value) ? (value.uri ?? value.label) : value;
    if (typeof label === "string" && label.trim() === "") return; // as between separators: no label
    if (typeof label !== "string" && typeof label !== "number")
      builder.fail("not a label", `label ${describe(value)}`, "a name or a number");
    this.#expectKind(typeof label as "string" | "number", label);
    if (typeof label === "string" || builder.options.labelNames) builder.labelByName(String(label));
    else builder.label(Number.isInteger(label) ? label : -1, String(label));
  }

  #expectKind(kind: "string" | "number", label: unknown): void {
    if (this.builder.options.labelNames) return;
    this.#labelKind ??= kind;
    if (kind === this.#labelKind) return;
    const expected = `a ${this.#labelKind}, as the labels before it`;
    this.builder.fail("not a label", `label ${describe(label)}`, expected);
  }

  #input(row: JsonObject): void {
    const builder: DatasetBuilder = this.builder;
    const textKeys = builder.keysOf("text", (key) => fieldOf(row, key) !== undefined) ?? ["text"];
    const texts = textKeys.map((key) => fieldOf(row, key));
    const hasText = texts.some((text) => text !== undefined);
    const hasFeatures = Object.hasOwn(row, "features") && builder.options.text === undefined;
    const keys = alternatives(textKeys);
    const vectors = plainVectors(row, this.#refuse);
    // A vector alone is features of all columns; several, or one for a model of texts with vectors, stand beside an empty text.
    const alone = vectors !== undefined && !hasText && !hasFeatures;
    const isDense = alone && !isObject(row.vectors) && builder.kind() !== "text";
    if (vectors && !isDense) builder.vectors(vectors);
    if (!hasText && !hasFeatures && !alone) {
      const also = builder.options.text === undefined ? ' or "features"' : "";
      throw builder.missing("key", Object.keys(row), `${keys}${also}`, "text", "no text or features");
    }
    const mixed = "text and features";
    if (hasText && hasFeatures) builder.fail(mixed, `both ${keys} and "features"`, "one of them");
    const kind = hasText || (alone && !isDense) ? "text" : "features";
    this.#kind ??= builder.kind() ?? kind;
    if (kind !== this.#kind) builder.fail(mixed, `"${kind}"`, `"${this.#kind}" as in the rows or the model before`);
    if (kind === "text") builder.text(hasText ? texts.map((text) => this.#text(text)).join("\n") : "");
    else this.#features(isDense ? row.vector : row.features);
  }

  /** Nothing and null are empty texts. */
  #text(text: unknown): string {
    const found = text ?? "";
    if (typeof found === "string") return found;
    this.builder.fail("not a text", `${describe(found)} as text`, "a string");
  }

  readonly #refuse: Refuse = (found, expected, reason = "not features") => this.builder.fail(reason, found, expected);

  #features(features: unknown): void {
    const builder: DatasetBuilder = this.builder;
    const plain = plainFeatures(features, this.#refuse);
    const { values } = plain;
    if ("indices" in plain) {
      if (plain.dense) builder.allColumns(values.length);
      for (let i = 0; i < values.length; i++) this.#feature(plain.indices[i], values[i]);
      return;
    }
    const { names } = plain;
    if (names.length > 0) this.#keys ??= names.every((name) => COLUMN_NUMBER.test(name)) ? "ids" : "names";
    for (const [i, name] of names.entries()) {
      if (this.#keys === "names") builder.featureByName(name, values[i]);
      else if (COLUMN_NUMBER.test(name)) this.#feature(Number(name), values[i]);
      else {
        const expected = 'a column number as in the rows before (or featureKeys "names")';
        builder.fail("feature id out of range", `feature ${excerpt(name)}`, expected);
      }
    }
  }

  #feature(id: number, value: number): void {
    this.builder.feature(Number.isInteger(id) ? id : -1, value, describe(id));
  }
}
