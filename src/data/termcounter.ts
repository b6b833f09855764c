// How often each term occurs in each text, text by text, so that the texts themselves need not be kept.

import { type Growable, growableFloats, growableIntegers } from "./growable.ts";
import { FIELDS, fieldOf, type TermRules } from "./terms.ts";
import { TermScanner, type VisitTerm } from "./termscanner.ts";
import { TermTable } from "./termtable.ts";

/** A row packs its entries into doubles to sort them: column times this, plus the count. */
const COUNT_LIMIT = 2 ** 24;

/** Rows of counts, columns rising within a row. */
export interface RenamedCounts {
  readonly rowStart: Int32Array;
  readonly columnIndex: Int32Array;
  readonly counts: Float32Array;
  /** How many terms of each field were left out of each row [rows,FIELDS]. */
  readonly unknown: Int32Array;
}

export class TermCounter {
  /** Terms by their number, in order of appearance. */
  readonly table: TermTable = new TermTable();
  readonly #rules: TermRules;
  #scanner: TermScanner;
  readonly #rowStart: Growable<Int32Array> = growableIntegers();
  readonly #terms: Growable<Int32Array> = growableIntegers(); // of each entry, in order of appearance in its row
  readonly #counts: Growable<Float32Array> = growableFloats();
  /** Of each term its last entry, and how many texts have it: together, because they are looked up together. */
  #perTerm: Int32Array = new Int32Array(1 << 11);
  readonly #visit: VisitTerm;
  #start = 0; // of the row being counted

  constructor(rules: TermRules) {
    this.#rules = rules;
    this.#scanner = new TermScanner(rules);
    this.#rowStart.push(0);
    this.#visit = (units, from, to, hash) => this.#count(this.table.add(units, from, to, hash));
  }

  get rows(): number {
    return this.#rowStart.length - 1;
  }

  /** Number of texts that have a term. */
  documentFrequency(term: number): number {
    return this.#perTerm[2 * term + 1] as number;
  }

  /** Makes room for about so many times as many texts as there are now. */
  expect(times: number): void {
    for (const each of [this.#rowStart, this.#terms, this.#counts]) each.expect(times);
  }

  /** Texts that are added from now on have terms by these rules. */
  scanBy(rules: TermRules): void {
    this.#scanner = new TermScanner(rules);
  }

  add(text: string): void {
    this.#scanner.scan(text, this.#visit);
    this.#start = this.#terms.length;
    this.#rowStart.push(this.#start);
  }

  #count(term: number): void {
    if (2 * term >= this.#perTerm.length) this.#widen();
    const perTerm = this.#perTerm;
    const entry = perTerm[2 * term] as number;
    const texts = perTerm[2 * term + 1] as number;
    if (texts > 0 && entry >= this.#start) {
      const counts = this.#counts.data;
      counts[entry] = (counts[entry] as number) + 1;
      return;
    }
    perTerm[2 * term] = this.#terms.length;
    perTerm[2 * term + 1] = texts + 1;
    this.#terms.push(term);
    this.#counts.push(1);
  }

  #widen(): void {
    const wider = new Int32Array(2 * this.#perTerm.length);
    wider.set(this.#perTerm);
    this.#perTerm = wider;
  }

  /**
   * The rows with terms renamed to columns, those named -1 left out, columns rising within a row. The arrays are those
   * that were counted in: nothing can be added afterwards.
   */
  rename(columnOf: Int32Array): RenamedCounts {
    const rowStart = this.#rowStart.finish();
    const fieldOfTerm = Uint8Array.from(columnOf, (_, term) =>
      fieldOf(this.#rules, this.table.firstUnit(term)),
    );
    const unknown = new Int32Array(FIELDS * (rowStart.length - 1));
    const [terms, counts] = [this.#terms.data, this.#counts.data];
    let packed = new Float64Array(1024);
    let end = 0;
    let next = 0; // where the row being renamed begins
    for (let row = 0; row + 1 < rowStart.length; row++) {
      const [from, to] = [next, rowStart[row + 1] as number];
      next = to;
      if (packed.length < to - from) packed = new Float64Array(2 * (to - from));
      let kept = 0;
      for (let i = from; i < to; i++) {
        const term = terms[i] as number;
        const column = columnOf[term] as number;
        const count = Math.min(counts[i] as number, COUNT_LIMIT - 1);
        if (column >= 0) packed[kept++] = column * COUNT_LIMIT + count;
        else (unknown[FIELDS * row + (fieldOfTerm[term] as number)] as number) += count;
      }
      packed.subarray(0, kept).sort();
      for (let i = 0; i < kept; i++, end++) {
        const pair = packed[i] as number;
        const column = Math.floor(pair / COUNT_LIMIT);
        terms[end] = column;
        counts[end] = pair - column * COUNT_LIMIT;
      }
      rowStart[row + 1] = end;
    }
    this.#terms.length = end;
    this.#counts.length = end;
    return { rowStart, columnIndex: this.#terms.finish(), counts: this.#counts.finish(), unknown };
  }
}
