// Labels as they are written: several in one text (`a|b`, or Annif's `<uri> <uri>`), columns of their own with a 1 in the rows that
// have them, and the keys under which they are found.

import { excerpt } from "../../base/errors.ts";
import { listed } from "../../options/kinds.ts";
import type { DatasetBuilder } from "../builder.ts";
import { bareAddress } from "../names.ts";

/** Where labels and ids are looked for, in this order, when no key is named. */
export const LABEL_KEYS: readonly string[] = ["labels", "label", "subjects", "subject_uris"];
export const ID_KEYS: readonly string[] = ["id", "document_id"];
/** A column or key of this name holds URIs with blanks between them. */
export const URI_KEY = "subject_uris";

const SEPARATORS = ["|", ";", ","];
const URIS = /^<[^<>\s]+>(?:\s+<[^<>\s]+>)*$/;
const YES = /^(?:1|1\.0|true|yes|x)$/i;
const NO = /^(?:|0|0\.0|false|no|null)$/i;

/** Names for a sentence: `"a", "b" or "c"`. */
export const alternatives = (names: readonly string[]): string => listed(names.map((name) => excerpt(name)));

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Labels in one text. The first text that has a separator decides for the file, and it is said. */
export class LabelCells {
  #separator: string | undefined; // "": labels are never split
  readonly #escaped: RegExp;

  constructor(private readonly builder: DatasetBuilder) {
    const { labelSeparator } = builder.options;
    this.#separator = labelSeparator;
    this.#escaped = new RegExp(`\\\\(${(labelSeparator ? [labelSeparator] : SEPARATORS).map(escaped).join("|")})`, "g");
  }

  add(cell: string): void {
    for (const label of this.#split(cell.trim())) if (label.trim() !== "") this.builder.labelByName(label);
  }

  /** URIs with blanks between them, in brackets or not. */
  addUris(cell: string): void {
    for (const uri of cell.split(/\s+/)) if (uri !== "") this.builder.labelByName(bareAddress(uri));
  }

  #split(cell: string): string[] {
    const { file, notes, options } = this.builder;
    if (URIS.test(cell)) return cell.split(/\s+/).map(bareAddress);
    if (this.#separator === "" || (options.labelNames && this.builder.knowsLabel(cell))) return [cell];
    const bare = cell.replaceAll(this.#escaped, "");
    if (this.#separator === undefined) {
      const found = SEPARATORS.find((each) => bare.includes(each));
      this.#separator = found;
      if (found) notes.push(`${file}: labels are separated by "${found}" (\\${found} for one inside a label)`);
    }
    const separator = this.#separator;
    if (bare.length === cell.length) return separator === undefined ? [cell] : cell.split(separator);
    const labels = separator === undefined ? [cell] : cell.split(new RegExp(`(?<!\\\\)${escaped(separator)}`));
    return labels.map((label) => label.replaceAll(this.#escaped, "$1"));
  }
}

/** True of a name that has these pieces in their order, from its start to its end. Models bring patterns: a regular expression could take for ever. */
function fits(name: string, [first, ...others]: readonly string[]): boolean {
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at + last.length <= name.length && name.endsWith(last);
}

/** Columns that are labels, with a 1 in the rows that have them. */
export class OneHot {
  readonly #patterns: readonly (readonly string[])[];

  constructor(private readonly builder: DatasetBuilder) {
    const { labels, keys, oneHot = (labels ? undefined : keys?.oneHot) ?? [] } = builder.options;
    // `*` stands for anything.
    this.#patterns = oneHot.map((name) => name.toLowerCase().split("*"));
  }

  /** Some columns were asked for, or are among these. */
  wanted(names: readonly string[]): boolean {
    return this.builder.options.oneHot !== undefined || names.some((name) => this.has(name));
  }

  has(name: string): boolean {
    const lower = name.toLowerCase();
    return this.#patterns.some((pieces) => fits(lower, pieces));
  }

  /** Adds the label of a column to the row being built, if its value says so. */
  add(name: string, value: unknown): void {
    const written = String(value ?? "").trim();
    if (YES.test(written)) this.builder.labelByName(name);
    else if (!NO.test(written)) {
      const found = `${excerpt(written)} in column ${excerpt(name)}`;
      this.builder.fail("not a label", found, `0 or 1 (${this.builder.option("oneHot")})`);
    }
  }
}
