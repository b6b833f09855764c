// A file that is one JSON list of records, `[{...}, {...}]`, on one line or many. Each record is cut out and parsed on its
// own, so that the file need not fit into one string and a broken record is one broken row.

import { Growable } from "../growable.ts";
import type { Intake } from "../intake.ts";
import { isSpace } from "../numbers.ts";
import { parseRecord } from "./jsonl.ts";
import { Records } from "./records.ts";

const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];
const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [34, 92, 44, 10];

type Place = "before" | "within" | "after"; // the list

export class JsonListParser {
  readonly #intake: Intake;
  readonly #records: Records;
  #place: Place = "before";
  #depth = 0; // of brackets open within the record
  #inString = false;
  #escaped = false; // after a backslash within a string
  #from = -1; // where the record begins in this line, -1 before it
  #recordLine = 0;
  #comma = false; // one came before the record
  readonly #earlier = new Growable((length) => new Uint8Array(length)); // of the record, from the lines before

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#records = new Records(intake);
  }

  /** Never between two records: blank lines there mean nothing. */
  get midRecord(): boolean {
    return this.#from >= 0;
  }

  line(bytes: Uint8Array, start: number, end: number, line: number): void {
    if (this.#from >= 0) this.#from = start;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      if (this.#inString) this.#withinString(byte);
      else if (this.#place === "within") this.#withinList(bytes, at, byte, line);
      else if (!isSpace(byte)) this.#outside(byte, line);
    }
    if (this.#from < 0) return;
    this.#keep(bytes, this.#from, end);
    this.#earlier.push(NEWLINE);
    this.#from = end;
  }

  finish(): void {
    if (this.#place !== "after") this.#intake.refuse(0, "a list that does not end", 'a "]" at its end');
  }

  #withinString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }

  #outside(byte: number, line: number): void {
    if (this.#place === "before" && byte === OPEN_LIST) this.#place = "within";
    else if (this.#place === "before") this.#intake.refuse(line, "no list", 'a "[" before the first record');
    else this.#intake.refuse(line, "something after the list", 'nothing after its "]"');
  }

  #withinList(bytes: Uint8Array, at: number, byte: number, line: number): void {
    if (this.#depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) {
      this.#end(bytes, at, byte === CLOSE_LIST, line);
      return;
    }
    if (this.#from < 0 && !isSpace(byte)) {
      this.#from = at;
      this.#recordLine = line;
    }
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth++;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && this.#depth > 0) this.#depth--;
  }

  /** The record ends before `at`. */
  #end(bytes: Uint8Array, at: number, last: boolean, line: number): void {
    const [from, comma] = [this.#from, this.#comma];
    this.#from = -1;
    this.#comma = !last;
    if (last) this.#place = "after";
    if (from < 0 && last && !comma) return; // an empty list
    const recordLine = from < 0 ? line : this.#recordLine;
    this.#intake.attempt(recordLine, () => {
      const text = this.#text(bytes, from < 0 ? at : from, at, recordLine);
      this.#earlier.length = 0;
      this.#records.add(parseRecord(text, this.#intake, recordLine), recordLine);
    });
    this.#earlier.length = 0;
  }

  #text(bytes: Uint8Array, from: number, to: number, line: number): string {
    if (this.#earlier.length === 0) return this.#intake.decode(bytes, from, to, line);
    this.#keep(bytes, from, to);
    return this.#intake.decode(this.#earlier.data, 0, this.#earlier.length, line);
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    for (let i = from; i < to; i++) this.#earlier.push(bytes[i] as number);
  }
}
