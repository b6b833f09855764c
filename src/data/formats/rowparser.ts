// What a reader of lines asks of the parser of a format.

/** Blank lines that came one after another. */
export interface BlankRun {
  /** The line of the first. */
  readonly first: number;
  readonly count: number;
}

/** Turns lines into rows of an intake. */
export interface RowParser {
  /** True inside a record that goes on in the next line. */
  readonly midRecord?: boolean;
  line(bytes: Uint8Array, start: number, end: number, line: number): void;
  /** A blank line that comes before another line; where the parser has no such method it means nothing. */
  blank?(line: number): void;
  finish(skipped: number, blankAtEnd: BlankRun): void;
}
