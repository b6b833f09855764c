// Annif's short texts: `text<TAB><uri> <uri> ...`, no header.

import type { Intake } from "../intake.ts";
import { LabelCells } from "./labelcells.ts";

/** What a first line of such a file looks like. */
export const ANNIF_LINE: RegExp =
  /^[^\t]*\t\s*(?:<[^<>\s]+>|https?:\/\/\S+)(?:\s+(?:<[^<>\s]+>|https?:\/\/\S+))*\s*$/;

export class AnnifParser {
  readonly #intake: Intake;
  readonly #cells: LabelCells;

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#cells = new LabelCells(intake);
  }

  line(bytes: Uint8Array, start: number, end: number, line: number): void {
    const written = this.#intake.decode(bytes, start, end, line);
    const tab = written.indexOf("\t");
    if (tab < 0 && this.#intake.requireLabels)
      this.#intake.fail(line, "no labels", "no tab", "a text, a tab, and URIs with blanks between them");
    this.#intake.text(tab < 0 ? written : written.slice(0, tab));
    if (tab >= 0) this.#cells.addUris(written.slice(tab + 1), line);
    this.#intake.endRow(line);
  }

  blank(line: number): void {
    this.#intake.endRow(line);
  }

  finish(): void {}
}
