// Rows `l1,l2 f:v f:v ...` of numbers, in two formats:
// - XC, the text format of the Extreme Classification repository: a header `N D K` (rows, features, labels), then N rows with ids
//   from 0; a row without labels begins with a blank.
// - svmlight with several labels: no header, a comment after `#`. The numbers of features and labels are the largest ids seen,
//   unless they are given.

import { excerpt } from "../../base/errors.ts";
import { type DatasetBuilder, show } from "../builder.ts";
import { Scanner } from "../numbers.ts";
import type { BlankLine, BlankRun, RowParser } from "./detect.ts";

const [HASH, COMMA, COLON] = [35, 44, 58];
const HEADER = "a header of three numbers, rows features labels (a file without one is format svmlight)";

/** Labels before the first blank; none when the row begins with a blank or with a feature. */
function scanLabels(scanner: Scanner, builder: DatasetBuilder): void {
  const rowStart = scanner.position;
  if (scanner.atBreak()) return;
  for (;;) {
    const start = scanner.position;
    const id = scanner.unsigned();
    if (start === rowStart && scanner.take(COLON)) {
      scanner.position = rowStart;
      return;
    }
    const comma = scanner.take(COMMA);
    if (id < 0 || (!comma && !scanner.atBreak())) {
      const token = scanner.token(start, COMMA);
      if (token.includes(":") && start === rowStart) {
        scanner.position = rowStart;
        return;
      }
      if (/^[-+]?\d+$/.test(token)) builder.label(-1, token);
      builder.fail("not a label", `label ${show(token)}`, "label ids as whole numbers with commas between");
    }
    builder.label(id);
    if (!comma) return;
  }
}

function scanFeature(scanner: Scanner, builder: DatasetBuilder): void {
  const start = scanner.position;
  const id = scanner.unsigned();
  if (id < 0 || !scanner.take(COLON)) {
    const token = scanner.token(start);
    const colon = token.indexOf(":");
    if (colon > 0 && /^[-+]?\d+$/.test(token.slice(0, colon))) builder.feature(-1, 0, token.slice(0, colon));
    builder.fail("not a feature", show(token), "a feature as id:value");
  }
  const valueStart = scanner.position;
  const value = scanner.decimal();
  if (!(Math.abs(value) < 3e38)) {
    const name = (): string => `feature ${id}`;
    builder.value(value, name, () => scanner.token(valueStart));
  }
  builder.feature(id, value);
}

/** Reads the row the scanner stands before, and ends it. */
function scanRow(scanner: Scanner, builder: DatasetBuilder): void {
  scanLabels(scanner, builder);
  if (!builder.wanted) scanner.position = scanner.end;
  for (;;) {
    scanner.skipSpaces();
    if (scanner.position >= scanner.end) break;
    scanFeature(scanner, builder);
  }
  builder.endRow();
}

export class SvmlightParser implements RowParser {
  readonly blank = "row";
  readonly #scanner = new Scanner();

  constructor(private readonly builder: DatasetBuilder) {}

  line(bytes: Uint8Array, start: number, end: number): void {
    const scanner = this.#scanner;
    const hash = bytes.subarray(start, end).indexOf(HASH);
    const rowEnd = hash >= 0 ? start + hash : end;
    scanner.open(bytes, start, rowEnd);
    scanner.skipSpaces();
    if (scanner.position === rowEnd && rowEnd < end) return; // a line of comment
    scanner.open(bytes, start, rowEnd);
    scanRow(scanner, this.builder);
  }
}

export class XcParser implements RowParser {
  readonly #scanner = new Scanner();
  #rows = -1; // N, once the header is read

  constructor(private readonly builder: DatasetBuilder) {}

  line(bytes: Uint8Array, start: number, end: number): void {
    this.#scanner.open(bytes, start, end);
    if (this.#rows < 0) this.#header();
    else scanRow(this.#scanner, this.builder);
  }

  /** A row with neither labels nor features. */
  get blank(): BlankLine | undefined {
    return this.#rows < 0 ? undefined : "row";
  }

  /** Blank lines at the end of the file are rows as far as the header counts them. */
  finish({ first, count }: BlankRun): void {
    const builder: DatasetBuilder = this.builder;
    const { total: skipped } = builder.skipped;
    if (this.#rows < 0) builder.refuse("an empty file", HEADER);
    const missing = Math.min(this.#rows - builder.passed - skipped, count);
    for (let i = 0; i < missing; i++) {
      builder.line = first + i;
      builder.endRow();
    }
    const found = builder.passed + skipped;
    if (found === this.#rows) return;
    if (!builder.options.lenient) builder.refuse(`${found} rows`, `the ${this.#rows} rows of its header`, 0);
    builder.notes.push(`${builder.file}: found ${found} rows, its header says ${this.#rows}`);
  }

  #header(): void {
    const scanner = this.#scanner;
    const start = scanner.position;
    const numbers: number[] = [];
    for (scanner.skipSpaces(); scanner.position < scanner.end && numbers.length < 4; scanner.skipSpaces()) {
      const number = scanner.unsigned();
      if (number < 0 || !scanner.atBreak()) break;
      numbers.push(number);
    }
    const [rows, columns, labels] = numbers;
    if (numbers.length !== 3 || scanner.position < scanner.end) {
      const text = new TextDecoder().decode(scanner.bytes.slice(start, Math.min(scanner.end, start + 200)));
      this.builder.refuse(excerpt(text), HEADER);
    }
    this.builder.declareSize("features", columns);
    this.builder.declareSize("labels", labels);
    this.#rows = rows;
  }
}
