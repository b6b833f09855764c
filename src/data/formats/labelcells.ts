// Labels written in one text: `a|b`, or Annif's `<uri> <uri>`. The first text that has a separator decides for the
// file, and it is said.

import type { Intake } from "../intake.ts";

const SEPARATORS = ["|", ";", ","];
const URIS = /^<[^<>\s]+>(?:\s+<[^<>\s]+>)*$/;

/** A URI without the brackets around it. */
export function withoutBrackets(uri: string): string {
  return uri.startsWith("<") && uri.endsWith(">") ? uri.slice(1, -1) : uri;
}

export class LabelCells {
  readonly #intake: Intake;
  #separator: string | undefined; // "": labels are never split

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#separator = intake.options.labelSeparator;
  }

  /** Adds the labels of a cell to the row being built. */
  add(cell: string, line: number): void {
    for (const label of this.#split(cell.trim())) {
      if (label.trim() !== "") this.#intake.labelByName(label, line);
    }
  }

  /** URIs with blanks between them, in brackets or not. */
  addUris(cell: string, line: number): void {
    for (const uri of cell.split(/\s+/)) if (uri !== "") this.#intake.labelByName(withoutBrackets(uri), line);
  }

  #split(cell: string): string[] {
    const intake: Intake = this.#intake;
    if (URIS.test(cell)) return cell.split(/\s+/).map(withoutBrackets);
    if (this.#separator === "" || (intake.options.labelNames && intake.knowsLabel(cell))) return [cell];
    if (this.#separator === undefined) {
      this.#separator = SEPARATORS.find((each) => cell.includes(each));
      if (this.#separator === undefined) return [cell];
      intake.notes.push(`${intake.file}: labels are separated by "${this.#separator}"`);
    }
    return cell.split(this.#separator);
  }
}
