// One JSON object a line: `{"text": "...", "labels": ["a", "b"]}`; records.ts says what may be in it.

import { excerpt } from "../errors.ts";
import type { Intake } from "../intake.ts";
import { duplicateKey } from "../jsonkeys.ts";
import { PlainRecords } from "./plainrecord.ts";
import { describe, isObject, type JsonObject, Records } from "./records.ts";

/** A record from its JSON text; what is no object, or has a key twice, is a broken row. */
export function parseRecord(text: string, intake: Intake, line: number): JsonObject {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    const special = /(?:NaN|-?Infinity)(?=\s*[,\]}])/.exec(text);
    if (special) intake.fail(line, "not a finite number", special[0], "a finite number");
    intake.fail(line, "not JSON", excerpt(text), "a JSON object on one line");
  }
  if (!isObject(row)) {
    const example = 'a JSON object such as {"text": "...", "labels": ["..."]}';
    intake.fail(line, "not an object", describe(row), example);
  }
  const twice = duplicateKey(text);
  if (twice !== undefined)
    intake.fail(line, "duplicate feature", `key ${excerpt(twice)} twice`, "each key once");
  return row;
}

export class JsonlParser {
  readonly #intake: Intake;
  readonly #records: Records;
  readonly #plain: PlainRecords | undefined;

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#records = new Records(intake);
    if (PlainRecords.suits(intake)) this.#plain = new PlainRecords(intake);
  }

  line(bytes: Uint8Array, start: number, end: number, line: number): void {
    const kinds = this.#plain && this.#records.kinds;
    if (kinds && this.#plain?.read(bytes, start, end, line, kinds)) return;
    const text = this.#intake.decode(bytes, start, end, line);
    this.#records.add(parseRecord(text, this.#intake, line), line);
  }

  blank(line: number): void {
    this.#intake.endRow(line);
  }

  finish(): void {}
}
