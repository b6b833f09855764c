// The usual line of features straight from its bytes, several times as fast as JSON.parse, which makes an object with a key
// for every feature:
//   {"labels": ["a", "b"], "features": {"w12": 0.5, "w7": 1.25}, "id": "x"}
// Whatever is written otherwise (another key, a value of another kind, a key twice, anything broken) is left to records.ts,
// which also has the words for it: nothing is refused here.

import { utf8 } from "../encoding.ts";
import { DataError } from "../errors.ts";
import { type Growable, growableIntegers } from "../growable.ts";
import type { Intake } from "../intake.ts";
import { exactDecimal } from "../numbers.ts";
import { EMPTY_HASH, hashUnit, hashUnits, TermTable } from "../termtable.ts";

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS, PLUS, POINT] = [34, 92, 44, 58, 45, 43, 46];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];
const [ZERO, NINE, BLANK, TAB, DELETE] = [48, 57, 32, 9, 127];
const LARGE = 3e38; // beyond it a value may not fit into single precision
const LONGEST_NUMBER = 400;

/** What the rows before have decided. */
export interface RecordKinds {
  readonly keys: "names" | "ids";
  readonly labels: "string" | "number";
}

/** Names by their code units: the text of each is made once. */
class Names {
  readonly #table = new TermTable();
  readonly texts: string[] = [];
  /** Pairs: the id that a name has in the intake, and how often that had forgotten names when it was looked for (or -1). */
  readonly ids: Growable<Int32Array> = growableIntegers();

  numberOf(units: Uint16Array, length: number, hash: number): number {
    const number = this.#table.add(units, 0, length, hash);
    if (number === this.texts.length) {
      this.texts.push(this.#table.term(number));
      this.ids.push(-1);
      this.ids.push(-1);
    }
    return number;
  }
}

/** Thrown where a line is not as plain as it looked. */
class NotPlain extends Error {}
const notPlain = new NotPlain();

export class PlainRecords {
  readonly #intake: Intake;
  readonly #features = new Names();
  readonly #labels = new Names();
  #units: Uint16Array = new Uint16Array(256); // of the name being read
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;

  constructor(intake: Intake) {
    this.#intake = intake;
  }

  /** Whether lines can be read here at all. */
  static suits({ options }: Intake): boolean {
    const { keep, oneHot, text, labels, id, vectoriser, columnIds } = options;
    return [keep, oneHot, text, labels, id, vectoriser, columnIds].every((option) => option === undefined);
  }

  /** Reads a row and ends it; false, and nothing was read, where it is not plain. */
  read(bytes: Uint8Array, start: number, end: number, line: number, kinds: RecordKinds): boolean {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    try {
      this.#record(line, kinds);
      this.#intake.endRow(line);
      return true;
    } catch (error) {
      if (error !== notPlain && !(error instanceof DataError)) throw error;
      this.#intake.abandonRow();
      return false;
    }
  }

  #record(line: number, kinds: RecordKinds): void {
    let [labels, features, id] = [false, false, false];
    this.#expect(OPEN_OBJECT);
    do {
      const key = this.#string();
      this.#expect(COLON);
      if (key === "labels" && !labels) {
        labels = true;
        this.#labelList(line, kinds.labels);
      } else if (key === "features" && !features) {
        features = true;
        this.#featureObject(line, kinds.keys);
      } else if (key === "id" && !id) {
        id = true;
        this.#intake.id(this.#string());
      } else throw notPlain;
    } while (this.#more(CLOSE_OBJECT));
    this.#blanks();
    if (!labels || !features || this.#at < this.#end) throw notPlain;
  }

  #labelList(line: number, kind: RecordKinds["labels"]): void {
    const intake: Intake = this.#intake;
    if ((kind === "string") !== (intake.labelNames !== undefined)) throw notPlain;
    this.#expect(OPEN_LIST);
    if (this.#take(CLOSE_LIST)) return;
    do {
      if (kind === "number") {
        intake.label(this.#whole(), line, undefined);
        continue;
      }
      const { texts } = this.#labels;
      const text = texts[this.#name(this.#labels)] as string;
      if (text.trim() === "") throw notPlain;
      intake.labelByName(text, line);
    } while (this.#more(CLOSE_LIST));
  }

  #featureObject(line: number, keys: RecordKinds["keys"]): void {
    const intake: Intake = this.#intake;
    this.#expect(OPEN_OBJECT);
    if (this.#take(CLOSE_OBJECT)) return;
    do {
      if (keys === "ids") {
        this.#expect(QUOTE);
        const column = this.#whole();
        if (this.#bytes[this.#at++] !== QUOTE) throw notPlain;
        this.#expect(COLON);
        intake.feature(column, this.#number(), line);
      } else {
        const name = this.#name(this.#features);
        this.#expect(COLON);
        this.#feature(name, this.#number(), line);
      }
    } while (this.#more(CLOSE_OBJECT));
  }

  /** A feature by its number here. A row that was given up may have taken names with it: then they are looked for again. */
  #feature(name: number, value: number, line: number): void {
    const intake: Intake = this.#intake;
    const { featureNames } = intake;
    if (featureNames === undefined) throw notPlain; // a row that is refused must not be the first to have any
    const ids = this.#features.ids.data;
    if (ids[2 * name + 1] === featureNames.forgotten) {
      intake.featureAt(ids[2 * name] as number, value);
      return;
    }
    const text = this.#features.texts[name] as string;
    // Objects have keys like these before all others, which numbers them otherwise.
    if (/^\d+$/.test(text)) throw notPlain;
    intake.featureByName(text, value, line);
    const id = featureNames.find(text);
    if (id < 0) throw notPlain; // one that a model does not have may be there twice
    ids[2 * name] = id;
    ids[2 * name + 1] = featureNames.forgotten;
  }

  /** A string as the number of its name. */
  #name(names: Names): number {
    this.#expect(QUOTE);
    const [bytes, end] = [this.#bytes, this.#end];
    const start = this.#at;
    let units = this.#units;
    let hash = EMPTY_HASH;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return names.numberOf(units, at - start, hash);
      }
      if (byte < BLANK || byte === BACKSLASH || byte >= DELETE) return this.#unusualName(names, start);
      if (at - start === units.length) units = this.#wider();
      units[at - start] = byte;
      hash = hashUnit(hash, byte);
    }
    throw notPlain;
  }

  /** With escapes, or beyond ASCII. */
  #unusualName(names: Names, start: number): number {
    this.#at = start - 1;
    const text = this.#string();
    while (this.#units.length < text.length) this.#wider();
    for (let i = 0; i < text.length; i++) this.#units[i] = text.charCodeAt(i);
    return names.numberOf(this.#units, text.length, hashUnits(this.#units, 0, text.length));
  }

  #wider(): Uint16Array {
    const wider = new Uint16Array(2 * this.#units.length);
    wider.set(this.#units);
    this.#units = wider;
    return wider;
  }

  #string(): string {
    this.#expect(QUOTE);
    const [bytes, end] = [this.#bytes, this.#end];
    const start = this.#at;
    let at = start;
    while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    const text = at < end ? utf8(bytes, start - 1, at + 1) : undefined;
    if (text === undefined) throw notPlain;
    this.#at = at + 1;
    try {
      return JSON.parse(text) as string;
    } catch {
      throw notPlain;
    }
  }

  /** Digits without a sign or a leading zero. */
  #whole(): number {
    this.#blanks();
    const [bytes, end] = [this.#bytes, this.#end];
    const start = this.#at;
    let value = 0;
    let at = start;
    for (; at < end && isDigit(bytes[at] as number); at++) value = 10 * value + (bytes[at] as number) - ZERO;
    const digits = at - start;
    if (digits === 0 || digits > 15 || (digits > 1 && bytes[start] === ZERO)) throw notPlain;
    this.#at = at;
    return value;
  }

  /** A number as JSON has them. */
  #number(): number {
    this.#blanks();
    const [bytes, end] = [this.#bytes, this.#end];
    const start = this.#at;
    const negative = bytes[start] === MINUS;
    let at = negative ? start + 1 : start;
    const first = at;
    let mantissa = 0;
    for (; at < end && isDigit(bytes[at] as number); at++)
      mantissa = 10 * mantissa + (bytes[at] as number) - ZERO;
    let digits = at - first;
    if (digits === 0 || (digits > 1 && bytes[first] === ZERO)) throw notPlain;
    let fraction = 0;
    if (at < end && bytes[at] === POINT) {
      const point = at++;
      for (; at < end && isDigit(bytes[at] as number); at++)
        mantissa = 10 * mantissa + (bytes[at] as number) - ZERO;
      fraction = at - point - 1;
      if (fraction === 0) throw notPlain;
      digits += fraction;
    }
    const exponent = at < end && ((bytes[at] as number) | 32) === 101;
    if (exponent) at = this.#exponentEnd(at);
    if (at - start > LONGEST_NUMBER) throw notPlain;
    this.#at = at;
    const exact = exponent ? NaN : exactDecimal(mantissa, digits, fraction);
    const value = Number.isNaN(exact) ? Math.abs(Number(this.#ascii(start, at))) : exact;
    if (!(value < LARGE)) throw notPlain;
    return negative ? -value : value;
  }

  #exponentEnd(from: number): number {
    const [bytes, end] = [this.#bytes, this.#end];
    let at = from + 1;
    if (at < end && (bytes[at] === PLUS || bytes[at] === MINUS)) at++;
    const first = at;
    while (at < end && isDigit(bytes[at] as number)) at++;
    if (at === first) throw notPlain;
    return at;
  }

  #ascii(start: number, end: number): string {
    return String.fromCharCode(...this.#bytes.subarray(start, end));
  }

  #blanks(): void {
    while (this.#at < this.#end && isBlank(this.#bytes[this.#at] as number)) this.#at++;
  }

  #take(byte: number): boolean {
    this.#blanks();
    if (this.#at >= this.#end || this.#bytes[this.#at] !== byte) return false;
    this.#at++;
    return true;
  }

  #expect(byte: number): void {
    if (!this.#take(byte)) throw notPlain;
  }

  /** Whether another entry follows, or else this end. */
  #more(close: number): boolean {
    if (this.#take(COMMA)) return true;
    this.#expect(close);
    return false;
  }
}

const isBlank = (byte: number): boolean => byte === BLANK || byte === TAB;
const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;
