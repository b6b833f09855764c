// One row `l1,l2 f:v f:v ...`, which XC text and svmlight share.

import { type Intake, show } from "../intake.ts";
import type { Scanner } from "../numbers.ts";

const COLON = 58;
const COMMA = 44;

/** Labels before the first blank; none when the row begins with a blank or with a feature. */
function scanLabels(scanner: Scanner, intake: Intake, line: number, first: number): void {
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
      if (/^[-+]?\d+$/.test(token)) intake.label(-1, line, token, first);
      intake.fail(
        line,
        "not a label",
        `label ${show(token)}`,
        "label ids as whole numbers with commas between",
      );
    }
    intake.label(id, line, undefined, first);
    if (!comma) return;
  }
}

function scanFeature(scanner: Scanner, intake: Intake, line: number, first: number): void {
  const start = scanner.position;
  const id = scanner.unsigned();
  if (id < 0 || !scanner.take(COLON)) {
    const token = scanner.token(start);
    const colon = token.indexOf(":");
    if (colon > 0 && /^[-+]?\d+$/.test(token.slice(0, colon))) {
      intake.feature(-1, 0, line, token.slice(0, colon), first);
    }
    intake.fail(line, "not a feature", show(token), "a feature as id:value");
  }
  const valueStart = scanner.position;
  const value = scanner.decimal();
  if (!(Math.abs(value) < 3e38)) {
    intake.value(
      value,
      line,
      () => `feature ${id}`,
      () => scanner.token(valueStart),
    );
  }
  intake.feature(id, value, line, undefined, first);
}

/** Reads the row the scanner stands before, and ends it. */
export function scanRow(
  scanner: Scanner,
  intake: Intake,
  line: number,
  firstFeature = 0,
  firstLabel = 0,
): void {
  scanLabels(scanner, intake, line, firstLabel);
  if (!intake.wanted) scanner.position = scanner.end;
  for (;;) {
    scanner.skipSpaces();
    if (scanner.position >= scanner.end) break;
    scanFeature(scanner, intake, line, firstFeature);
  }
  intake.endRow(line);
}
