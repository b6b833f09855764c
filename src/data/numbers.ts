// Numbers straight from the bytes of a line, without a string for each.

const ZERO = 48;
const SPACE = 32;
const TAB = 9;
const PLUS = 43;
const MINUS = 45;
const POINT = 46;

const MOST_EXACT_DIGITS = 15; // any 15 decimal digits fit into the 53 bits of a double
/** Powers of ten that are exact in double precision. */
const POWERS_OF_TEN = Float64Array.from({ length: MOST_EXACT_DIGITS + 1 }, (_, i) => Number(`1e${i}`));

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 9;
}

export class Scanner {
  bytes: Uint8Array = new Uint8Array(0);
  position = 0;
  end = 0;

  open(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  skipSpaces(): void {
    while (this.position < this.end && isSpace(this.bytes[this.position])) this.position++;
  }

  /** At the end of the line or before a blank. */
  atBreak(): boolean {
    return this.position >= this.end || isSpace(this.bytes[this.position]);
  }

  take(byte: number): boolean {
    if (this.position >= this.end || this.bytes[this.position] !== byte) return false;
    this.position++;
    return true;
  }

  /** Digits as a whole number; -1, and the cursor unmoved, when there are none or more than 15. */
  unsigned(): number {
    const { bytes, end } = this;
    let value = 0;
    let at = this.position;
    while (at < end) {
      const digit = bytes[at] - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      at++;
    }
    if (at === this.position || at - this.position > MOST_EXACT_DIGITS) return -1;
    this.position = at;
    return value;
  }

  /**
   * A decimal number, exactly as parseFloat gives it; NaN when it is none, or more follows it. Up to 15 digits are one correctly rounded
   * division of two exact doubles (Clinger, 1990).
   */
  decimal(): number {
    const { bytes, end } = this;
    const start = this.position;
    let at = start;
    const negative = bytes[at] === MINUS;
    if (negative || bytes[at] === PLUS) at++;
    let mantissa = 0;
    let digits = 0;
    let point = -1;
    for (; at < end; at++) {
      const digit = bytes[at] - ZERO;
      if (bytes[at] === POINT && point < 0) {
        point = at;
        continue;
      }
      if (digit < 0 || digit > 9) break;
      mantissa = mantissa * 10 + digit;
      digits++;
    }
    if (digits === 0) return NaN;
    const fraction = point < 0 ? 0 : at - point - 1;
    const exponentAt = at;
    if (at < end && (bytes[at] | 32) === 101) at = this.#exponentEnd(at);
    if (at < 0) return NaN;
    this.position = at;
    if (!this.atBreak()) return NaN;
    if (at !== exponentAt || digits > MOST_EXACT_DIGITS) return Number(this.slice(start, at));
    const value = mantissa / POWERS_OF_TEN[fraction];
    return negative ? -value : value;
  }

  /** Where `e-12` that begins at `at` ends, or -1. */
  #exponentEnd(at: number): number {
    const { bytes, end } = this;
    at++;
    if (at < end && (bytes[at] === PLUS || bytes[at] === MINUS)) at++;
    const first = at;
    while (at < end && isDigit(bytes[at])) at++;
    return at === first ? -1 : at;
  }

  slice(start: number, end: number): string {
    let text = "";
    for (let i = start; i < end; i++) text += String.fromCharCode(this.bytes[i]);
    return text;
  }

  /**
   * From `start` to the next blank or one of `stops`, for a message: not long, bytes that are not UTF-8
   * replaced.
   */
  token(start: number, ...stops: number[]): string {
    let at = start;
    while (at < this.end && !isSpace(this.bytes[at]) && !stops.includes(this.bytes[at])) at++;
    return new TextDecoder().decode(this.bytes.slice(start, Math.min(at, start + 200)));
  }
}
