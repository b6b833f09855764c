// The terms of a text, as `forEachTerm` has them, but as code units in a buffer instead of strings: several times faster.
// Nearly all characters of alphabetic scripts mean the same wherever they stand, so that a table says for each code unit
// what it becomes; it is made from the rules of text.ts themselves. A text with any other character goes through those, as do
// texts whose words are stemmed.

import { Stems } from "./stem.ts";
import { loadedStemmer } from "./stemmers.ts";
import { characterField, OPENING, openingLength, type TermRules, WORDS, wordsOf } from "./terms.ts";
import { EMPTY_HASH, hashUnit, hashUnits } from "./termtable.ts";
import { CHARACTERS_MARK, OPENING_MARK, UNSPACED } from "./text.ts";

const [APOSTROPHE, BLANK, UNDERSCORE] = [39, 32, 95];
/** Classes of code units: these and the apostrophe, or the letter or digit that one becomes, all of which are above it. */
const [SEPARATOR, CONTEXT] = [0, 0xffff];
const TABLE_END = 0x2100;
const HIGH_SURROGATE = 0xd800;

const WORD_CHARACTER = /^[\p{L}\p{M}\p{N}]$/u;
const MARK = /\p{M}/u;
const SIGMA = "Σ"; // becomes another letter at the end of a word
const JAMO = [0x1100, 0x11ff] as const; // join into syllables

/** What a code unit becomes, if that does not depend on the units around it. */
function classOf(unit: number): number {
  const written = String.fromCharCode(unit);
  const composed = written.normalize("NFKC");
  const plain = composed.toLowerCase().normalize("NFKC").replaceAll("\u2019", "'");
  if (plain === "'") return APOSTROPHE;
  const inContext = composed.includes(SIGMA) || (unit >= JAMO[0] && unit <= JAMO[1]);
  if (inContext || MARK.test(plain) || UNSPACED.test(plain)) return CONTEXT;
  if (!/[\p{L}\p{N}']/u.test(plain)) return SEPARATOR;
  return plain.length === 1 && WORD_CHARACTER.test(plain) ? plain.charCodeAt(0) : CONTEXT;
}

let table: Uint16Array | undefined;

function classes(): Uint16Array {
  table ??= Uint16Array.from({ length: TABLE_END }, (_, unit) => classOf(unit));
  return table;
}

/** Called with a term as units[from..to), valid until the next, its hash, its field, and whether it counts (`forEachTerm`). */
export type VisitTerm = (
  units: Uint16Array,
  from: number,
  to: number,
  hash: number,
  field: number,
  counts: boolean,
) => void;

export class TermScanner {
  readonly #rules: TermRules;
  #stems: Stems | undefined; // where words are stemmed, from the first text on
  #units: Uint16Array = new Uint16Array(1 << 14); // the words so far, a blank after each
  #wordStart = 0; // of the word being read
  #words = 0; // so far
  #starts: number[] = []; // of the words that a run with the next word may begin with
  #bounded: Uint16Array = new Uint16Array(64); // a mark, then the characters of a run or of a word

  constructor(rules: TermRules) {
    this.#rules = rules;
  }

  /** What stems the words, if anything does. */
  get stems(): Stems | undefined {
    const { stem } = this.#rules;
    if (stem !== undefined) this.#stems ??= new Stems(loadedStemmer(stem));
    return this.#stems;
  }

  /** Visits the terms of a text: for each word as it ends the word, runs of words, runs of characters; then the opening. */
  scan(text: string, visit: VisitTerm): void {
    this.#wordStart = 0;
    this.#words = 0;
    this.#starts.length = 0;
    if (this.stems === undefined && isSimple(text)) this.#scanUnits(text, visit);
    else for (const token of wordsOf(text, this.stems)) this.#scanToken(token, visit);
    if (this.#rules.opening !== undefined) this.#opening(openingLength(this.#words), visit);
  }

  #scanUnits(text: string, visit: VisitTerm): void {
    const table = classes();
    const length = text.length;
    const units = this.#room(length + 1);
    let end = 0;
    let hash = EMPTY_HASH;
    for (let i = 0; i < length; i++) {
      let unit = table[text.charCodeAt(i)] as number;
      if (unit <= APOSTROPHE) {
        if (end === this.#wordStart) continue;
        const after = unit === APOSTROPHE && i + 1 < length ? table[text.charCodeAt(i + 1)] : SEPARATOR;
        if ((after as number) <= APOSTROPHE) {
          this.#endWord(end, hash, visit);
          end++;
          hash = EMPTY_HASH;
          continue;
        }
        unit = APOSTROPHE; // within a word
      }
      units[end++] = unit;
      hash = hashUnit(hash, unit);
    }
    if (end > this.#wordStart) this.#endWord(end, hash, visit);
  }

  #scanToken(token: string, visit: VisitTerm): void {
    const start = this.#wordStart;
    const end = start + token.length;
    const units = this.#room(end + 1);
    for (let i = 0; i < token.length; i++) units[start + i] = token.charCodeAt(i);
    this.#endWord(end, hashUnits(units, start, end), visit);
  }

  /** The buffer, with room for so many units. */
  #room(length: number): Uint16Array {
    if (this.#units.length < length) {
      const wider = new Uint16Array(2 * length);
      wider.set(this.#units.subarray(0, this.#wordStart));
      this.#units = wider;
    }
    return this.#units;
  }

  /** The word from #wordStart to `end`, which has this hash, is complete. */
  #endWord(end: number, hash: number, visit: VisitTerm): void {
    const { wordNgrams, charNgrams } = this.#rules;
    if (wordNgrams > 0) visit(this.#units, this.#wordStart, end, hash, WORDS, true);
    if (wordNgrams > 1) this.#wordRuns(end, wordNgrams, visit);
    if (charNgrams) this.#characterRuns(end, charNgrams[0], charNgrams[1], visit);
    this.#units[end] = BLANK;
    this.#wordStart = end + 1;
    this.#words++;
  }

  /** Runs of words that end with this one. */
  #wordRuns(end: number, most: number, visit: VisitTerm): void {
    const units = this.#units;
    for (const start of this.#starts) visit(units, start, end, hashUnits(units, start, end), WORDS, false);
    if (this.#starts.length === most - 1) this.#starts.shift();
    this.#starts.push(this.#wordStart);
  }

  /** `#_ca`, `#cat`, `#at_` */
  #characterRuns(end: number, least: number, most: number, visit: VisitTerm): void {
    const length = end - this.#wordStart + 3;
    if (this.#bounded.length < 2 * length) this.#bounded = new Uint16Array(4 * length);
    const [run, word] = [this.#bounded.subarray(length), this.#bounded]; // a run goes behind the word
    word[0] = UNDERSCORE;
    word.set(this.#units.subarray(this.#wordStart, end), 1);
    word[length - 2] = UNDERSCORE;
    run[0] = CHARACTERS_MARK.charCodeAt(0);
    const [field, alone] = [characterField(this.#rules), this.#rules.wordNgrams === 0];
    for (let from = 0; from < length - 1; from = nextCharacter(word, from)) {
      let to = from;
      for (let n = 1; n <= most && to < length - 1; n++) {
        to = nextCharacter(word, to);
        if (n < least) continue;
        for (let i = from; i < to; i++) run[i - from + 1] = word[i] as number;
        visit(run, 0, to - from + 1, hashUnits(run, 0, to - from + 1), field, alone);
      }
    }
  }

  /** The first words once more, marked. They lie in the buffer with a blank after each. */
  #opening(words: number, visit: VisitTerm): void {
    let start = 0;
    for (let word = 0; word < words; word++) {
      const end = this.#units.indexOf(BLANK, start);
      const length = end - start + 1;
      if (this.#bounded.length < length) this.#bounded = new Uint16Array(2 * length);
      const marked = this.#bounded;
      marked[0] = OPENING_MARK.charCodeAt(0);
      for (let i = 1; i < length; i++) marked[i] = this.#units[start + i - 1] as number;
      visit(marked, 0, length, hashUnits(marked, 0, length), OPENING, false);
      start = end + 1;
    }
  }
}

/** Where the next character begins; a surrogate pair is one character. */
function nextCharacter(units: Uint16Array, at: number): number {
  return at + (((units[at] as number) & 0xfc00) === HIGH_SURROGATE ? 2 : 1);
}

/** Whether the table says all about a text. */
function isSimple(text: string): boolean {
  const table = classes();
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= TABLE_END || table[unit] === CONTEXT) return false;
  }
  return true;
}
