// Splits CSV into records by RFC 4180: fields in quotes may hold delimiters, doubled quotes and line ends.

const LONGEST_RECORD = 2 ** 24;
const ENDLESS = "a quoted field that does not end";

/**
 * Fed line by line; a record is complete when `push` returns it. Line ends inside a field come out as \n. Quotes that are broken are told
 * to `refuse`, and the record is given up.
 */
export class CsvRecords {
  #fields: string[] = [];
  #open: string | undefined; // what a quoted field holds so far

  constructor(
    private readonly delimiter: string,
    private readonly refuse: (found: string) => never,
  ) {}

  /** Inside a quoted field that goes on in the next line. */
  get midRecord(): boolean {
    return this.#open !== undefined;
  }

  push(line: string): string[] | undefined {
    if (this.#open === undefined && !line.includes('"')) return line.split(this.delimiter);
    let at = 0;
    if (this.#open !== undefined) {
      at = this.#quoted(line, 0, `${this.#open}\n`);
      if (at < 0) return undefined;
    }
    while (at <= line.length) {
      if (line[at] === '"') {
        at = this.#quoted(line, at + 1, "");
        if (at < 0) return undefined;
      } else {
        const end = line.indexOf(this.delimiter, at);
        this.#fields.push(line.slice(at, end < 0 ? line.length : end));
        at = end < 0 ? line.length + 1 : end + 1;
      }
    }
    const fields = this.#fields;
    this.#fields = [];
    return fields;
  }

  /** No line comes any more. */
  finish(): void {
    if (this.#open !== undefined) this.#broken(ENDLESS);
  }

  #broken(found: string): never {
    this.#fields = [];
    this.#open = undefined;
    this.refuse(found);
  }

  /**
   * Reads the rest of a quoted field from `at`; returns where the next field begins, or -1 at the end of the
   * line.
   */
  #quoted(line: string, at: number, before: string): number {
    let text = before;
    for (;;) {
      const quote = line.indexOf('"', at);
      if (quote < 0) {
        this.#open = text + line.slice(at);
        if (this.#open.length > LONGEST_RECORD) this.#broken(ENDLESS);
        return -1;
      }
      text += line.slice(at, quote);
      if (line[quote + 1] === '"') {
        text += '"';
        at = quote + 2;
        continue;
      }
      this.#open = undefined;
      this.#fields.push(text);
      if (quote + 1 === line.length) return line.length + 1;
      if (!line.startsWith(this.delimiter, quote + 1)) this.#broken("text after a closing quote");
      return quote + 1 + this.delimiter.length;
    }
  }
}
