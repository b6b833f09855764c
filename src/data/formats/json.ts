// Records as JSON, one object a line or all of them in one list; records.ts says what may be in them.

import { describe, isObject, type JsonObject } from "../../base/check.ts";
import { excerpt } from "../../base/errors.ts";
import { repeatedKey } from "../../base/jsonkeys.ts";
import type { DatasetBuilder } from "../builder.ts";
import { growableBytes } from "../builders.ts";
import { isSpace } from "../numbers.ts";
import type { RowParser } from "./detect.ts";
import { Records } from "./records.ts";

const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];
/** Bytes of a record in a list; it becomes many objects. */
const LONGEST_RECORD = 2 ** 25;
const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [34, 92, 44, 10];

/** A record from its JSON text; what is no object, or has a key twice, is a broken row. */
function parseRecord(text: string, builder: DatasetBuilder): JsonObject {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    const special = /(?:NaN|-?Infinity)(?=\s*[,\]}])/.exec(text);
    if (special) builder.fail("not a finite number", special[0], "a finite number");
    builder.fail("not JSON", excerpt(text), "a JSON object on one line");
  }
  if (!isObject(row))
    builder.fail("not an object", describe(row), 'a JSON object such as {"text": "...", "labels": ["..."]}');
  const twice = repeatedKey(text);
  if (twice !== undefined) builder.fail("duplicate feature", `key ${excerpt(twice)} twice`, "each key once");
  return row;
}

export class JsonlParser implements RowParser {
  readonly blank = "unlabelled";
  readonly #records: Records;

  constructor(private readonly builder: DatasetBuilder) {
    this.#records = new Records(builder);
  }

  line(bytes: Uint8Array, start: number, end: number): void {
    this.#records.add(parseRecord(this.builder.decode(bytes, start, end), this.builder));
  }
}

/**
 * A file that is one JSON list of records, `[{...}, {...}]`, on one line or many. Each record is cut out and parsed on its own, so
 * that the file need not fit into one string and a broken record is one broken row.
 */
export class JsonListParser implements RowParser {
  readonly #records: Records;
  #place: "before" | "within" | "after" = "before"; // the list
  readonly #record = growableBytes(); // its bytes so far
  #recordLine = 0;
  #depth = 0; // of brackets open within the record
  #inString = false;
  #escaped = false; // after a backslash within a string
  #comma = false; // one came before the record

  constructor(private readonly builder: DatasetBuilder) {
    this.#records = new Records(builder);
  }

  /** Never between two records: blank lines there mean nothing. */
  get midRecord(): boolean {
    return this.#record.length > 0;
  }

  line(bytes: Uint8Array, start: number, end: number): void {
    const { line } = this.builder;
    for (let at = start; at < end; at++) {
      const byte = bytes[at];
      if (this.#place === "within") this.#withinList(byte, line);
      else if (!isSpace(byte)) this.#outside(byte);
    }
    if (this.midRecord) this.#record.push(NEWLINE);
    if (this.#record.length > LONGEST_RECORD)
      this.builder.refuse(`a record of more than ${LONGEST_RECORD} bytes`, "shorter ones", this.#recordLine);
  }

  finish(): void {
    if (this.#place !== "after") this.builder.refuse("a list that does not end", 'a "]" at its end', 0);
  }

  #outside(byte: number): void {
    if (this.#place === "before" && byte === OPEN_LIST) this.#place = "within";
    else if (this.#place === "before") this.builder.refuse("no list", 'a "[" before the first record');
    else this.builder.refuse("something after the list", 'nothing after its "]"');
  }

  #withinList(byte: number, line: number): void {
    if (this.#inString) {
      this.#inString = byte !== QUOTE || this.#escaped;
      this.#escaped = byte === BACKSLASH && !this.#escaped;
    } else if (this.#depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) {
      this.#end(byte === CLOSE_LIST, line);
      return;
    } else if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth++;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && this.#depth > 0) this.#depth--;
    if (!this.midRecord && isSpace(byte)) return;
    if (!this.midRecord) this.#recordLine = line;
    this.#record.push(byte);
  }

  /** The record is complete, if there is one. */
  #end(last: boolean, line: number): void {
    const [builder, { data, length }, comma] = [this.builder, this.#record, this.#comma];
    this.#record.length = 0;
    this.#comma = !last;
    if (last) this.#place = "after";
    if (length === 0 && last && !comma) return; // an empty list
    builder.attempt(length === 0 ? line : this.#recordLine, () =>
      this.#records.add(parseRecord(builder.decode(data, 0, length), builder)),
    );
    builder.line = line;
  }
}
