// Words of a text. Intl.Segmenter would be the obvious tool, but its answers come from the ICU data of each
// engine, so a saved model would see other words in another runtime. These rules are fixed instead; only
// characters added by a Unicode version newer than one of two engines can still be read differently. They are
// faster as well: million words a second for ASCII / other texts, beside Intl.Segmenter: Node 20 20 / 2.1
// (0.4 / 0.3), Deno 12 / 3.5 (1.3 / 1.2), Bun 8 / 3.5 (2.3 / 4.7).
//
// - NFKC (full-width forms, ligatures), then lower case; a typographic apostrophe is an apostrophe.
// - A word is a run of letters, marks and digits, with apostrophes inside: don't, l'homme, 2024, b2b.
// - Scripts written without spaces (Han, kana, Thai, Lao, Khmer, Burmese) give overlapping pairs of characters; Han characters are words
//   alone as well, the others but kana give triples too (bench/DEFAULTS.md).
// - HTML is markup: its tags and comments end a word, entities are what they stand for, or end a word.

const BEYOND_ASCII = /[^\p{ASCII}]/u;
const ASCII_WORD = /[a-z0-9]+(?:'[a-z0-9]+)*/g;
const WORD = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*/gu;
// Latin and Cyrillic letters that NFKC leaves alone and that have one lower case each, and marks that end a word whatever NFKC makes
// of them: texts of these alone need no normalising, which is several times faster.
const LETTERS = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u012f\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0400-\u045f";
const MARKS =
  "\u00a0-\u00a7\u00a9\u00ab-\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf\u00d7\u00f7\u2010-\u2016\u2018-\u201e\u2020-\u2026\u20ac";
const SIMPLE = new RegExp(`^[\\0-\\x7f${LETTERS}${MARKS}]*$`);
const SIMPLE_WORD = new RegExp(`[a-z0-9${LETTERS}]+(?:'[a-z0-9${LETTERS}]+)*`, "g");
const FIRST_UNSPACED = 0x0e00; // Thai: no unspaced script has a smaller code point
const UNSPACED_CLASS = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}\u30fc";
export const UNSPACED: RegExp = new RegExp(`[${UNSPACED_CLASS}]`, "u");
const PARTS = new RegExp(`[${UNSPACED_CLASS}]+|[^${UNSPACED_CLASS}]+`, "gu");

function mayBeUnspaced(word: string): boolean {
  for (let i = 0; i < word.length; i++) if (word.charCodeAt(i) >= FIRST_UNSPACED) return UNSPACED.test(word);
  return false;
}

const HAN = /\p{sc=Han}/u;
const KANA = /[\p{sc=Hira}\p{sc=Kana}\u30fc]/u;

/** The terms of a run without spaces: at each character itself, the pair and the triple that begin there, as far as its script has them. */
function addRuns(run: string, tokens: string[]): void {
  const characters = Array.from(run);
  if (characters.length === 1) tokens.push(run);
  else
    characters.forEach((character, i) => {
      const isHan = HAN.test(character);
      if (isHan) tokens.push(character);
      if (i + 1 < characters.length) tokens.push(`${character}${characters[i + 1]}`);
      if (i + 2 < characters.length && !isHan && !KANA.test(character))
        tokens.push(characters.slice(i, i + 3).join(""));
    });
}

// Elements of HTML by name: anything in angle brackets would take the words of <stdio.h> and List<String> too.
const TAG =
  /<!--[^<>]*-->|<\/?(?:a|abbr|article|aside|b|big|blockquote|body|br|button|caption|center|cite|code|dd|del|details|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6r]|head|header|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|ol|option|p|pre|q|s|samp|section|select|small|span|strike|strong|sub|summary|sup|t[dhr]|table|tbody|textarea|tfoot|thead|title|tt|u|ul|var|video)(?:\s[^<>=]*=[^<>]*)?\s*\/?>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z])(acute|grave|circ|uml|tilde|cedil|ring)|szlig|[a-z]{2,6});/gi;
const ACCENTS: Record<string, string> = {
  acute: "\u0301",
  grave: "\u0300",
  circ: "\u0302",
  uml: "\u0308",
  tilde: "\u0303",
  cedil: "\u0327",
  ring: "\u030a",
};

function entity(all: string, decimal?: string, hex?: string, letter?: string, accent?: string): string {
  if (letter && accent) return `${letter}${ACCENTS[accent.toLowerCase()]}`;
  const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : 0;
  if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code);
  return all === "&szlig;" ? "\u00df" : " ";
}

/** A text without the markup of HTML. */
const withoutMarkup = (text: string): string =>
  text.includes("<") || text.includes("&") ? text.replace(TAG, " ").replace(ENTITY, entity) : text;

/** The words of a text in order, as the rules above have them. */
export function tokenise(marked: string): string[] {
  const text = withoutMarkup(marked);
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase().match(ASCII_WORD) ?? [];
  if (SIMPLE.test(text)) return text.toLowerCase().replaceAll("\u2019", "'").match(SIMPLE_WORD) ?? [];
  const plain = text.normalize("NFKC").toLowerCase().normalize("NFKC").replaceAll("\u2019", "'");
  const words = plain.match(WORD) ?? [];
  if (!words.some(mayBeUnspaced)) return words;
  const tokens: string[] = [];
  for (const word of words) {
    if (!mayBeUnspaced(word)) {
      tokens.push(word);
      continue;
    }
    for (const part of word.match(PARTS) ?? []) {
      if (UNSPACED.test(part)) addRuns(part, tokens);
      else for (const inner of part.match(WORD) ?? []) tokens.push(inner);
    }
  }
  return tokens;
}

/** Before a run of characters, and before a lead word: in no word, so that no two such terms meet. */
export const CHARACTERS_MARK = "#";
export const LEAD_MARK = "^";

/** A term is a run of characters or a lead word. */
export const isMarked = (term: string): boolean => term.startsWith(CHARACTERS_MARK) || term.startsWith(LEAD_MARK);

/** Calls `emit` for every run of `least` to `most` characters within a word and its bounds: `#_ca`, `#cat`, `#at_`. */
export function characterNgrams(
  tokens: readonly string[],
  least: number,
  most: number,
  emit: (term: string) => void,
): void {
  for (const token of tokens) {
    const bounded = `_${token}_`;
    const starts = characterStarts(bounded);
    for (let n = least; n <= most; n++) {
      for (let i = 0; i + n < starts.length; i++) emit(`${CHARACTERS_MARK}${bounded.slice(starts[i], starts[i + n])}`);
    }
  }
}

/** Where each character of a text begins, and where the last one ends; a surrogate pair is one character. */
function characterStarts(text: string): number[] {
  const starts: number[] = [];
  for (let i = 0; i < text.length; i++) {
    starts.push(i);
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800) i++;
  }
  starts.push(text.length);
  return starts;
}
