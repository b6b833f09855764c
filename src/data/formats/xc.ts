// The text format of the Extreme Classification repository: a header `N D K` (rows, features, labels), then N
// rows `l1,l2 f:v f:v ...` with ids from 0; a row without labels begins with a blank.

import { excerpt } from "../errors.ts";
import type { Intake } from "../intake.ts";
import { Scanner } from "../numbers.ts";
import type { BlankRun } from "./rowparser.ts";
import { scanRow } from "./sparserow.ts";

const HEADER = "a header of three numbers, rows features labels (a file without one is format svmlight)";

export class XcParser {
  readonly #intake: Intake;
  readonly #scanner = new Scanner();
  #rows = -1; // N, once the header is read

  constructor(intake: Intake) {
    this.#intake = intake;
  }

  line(bytes: Uint8Array, start: number, end: number, line: number): void {
    this.#scanner.open(bytes, start, end);
    if (this.#rows < 0) this.#header(line);
    else scanRow(this.#scanner, this.#intake, line);
  }

  /** A row with neither labels nor features. */
  blank(line: number): void {
    if (this.#rows >= 0) this.#intake.endRow(line);
  }

  /** Of the blank lines at the end of the file those are rows that the header counts. */
  finish(skipped: number, { first, count }: BlankRun): void {
    const intake: Intake = this.#intake;
    if (this.#rows < 0) intake.refuse(0, "an empty file", HEADER);
    const missing = Math.min(this.#rows - intake.rows - skipped, count);
    for (let i = 0; i < missing; i++) this.blank(first + i);
    const found = intake.rows + skipped;
    if (found === this.#rows) return;
    if (!intake.options.lenient) intake.refuse(0, `${found} rows`, `the ${this.#rows} rows of its header`);
    intake.notes.push(`${intake.file}: found ${found} rows, its header says ${this.#rows}`);
  }

  #header(line: number): void {
    const scanner = this.#scanner;
    const start = scanner.position;
    const numbers: number[] = [];
    for (scanner.skipSpaces(); scanner.position < scanner.end && numbers.length < 4; scanner.skipSpaces()) {
      const number = scanner.unsigned();
      if (number < 0 || !scanner.atBreak()) break;
      numbers.push(number);
    }
    const intake: Intake = this.#intake;
    const [rows, columns, labels] = numbers;
    if (numbers.length !== 3 || scanner.position < scanner.end) {
      const text = new TextDecoder().decode(scanner.bytes.slice(start, Math.min(scanner.end, start + 200)));
      intake.refuse(line, excerpt(text), HEADER);
    }
    intake.declareSize("features", columns as number, line);
    intake.declareSize("labels", labels as number, line);
    this.#rows = rows as number;
  }
}
