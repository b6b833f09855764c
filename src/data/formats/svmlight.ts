// svmlight with several labels: `l1,l2 id:value id:value ... # comment`, no header. The numbers of features
// and labels are the largest ids seen, unless they are given.

import type { Intake } from "../intake.ts";
import { Scanner } from "../numbers.ts";
import { scanRow } from "./sparserow.ts";

const HASH = 35;

export class SvmlightParser {
  readonly #intake: Intake;
  readonly #scanner = new Scanner();

  constructor(intake: Intake) {
    this.#intake = intake;
  }

  line(bytes: Uint8Array, start: number, end: number, line: number): void {
    const scanner = this.#scanner;
    const hash = bytes.subarray(start, end).indexOf(HASH);
    const rowEnd = hash >= 0 ? start + hash : end;
    scanner.open(bytes, start, rowEnd);
    scanner.skipSpaces();
    if (scanner.position === rowEnd && rowEnd < end) return; // a line of comment
    scanner.open(bytes, start, rowEnd);
    const { firstFeature, firstLabel } = this.#intake.options;
    scanRow(scanner, this.#intake, line, firstFeature, firstLabel);
  }

  blank(line: number): void {
    this.#intake.endRow(line);
  }

  finish(): void {}
}
