// The words behind a label, marked in the text: a copy of the text lies behind the box that is typed in, with the same type and lines.

import { make } from "./dom.ts";

/** Pieces of a text: words that are to be marked, and everything else. */
export function pieces(text: string, words: ReadonlySet<string>): { text: string; marked: boolean }[] {
  const found: { text: string; marked: boolean }[] = [];
  let from = 0;
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    if (!words.has(word.toLowerCase())) continue;
    if (index > from) found.push({ text: text.slice(from, index), marked: false });
    found.push({ text: word, marked: true });
    from = index + word.length;
  }
  if (from < text.length) found.push({ text: text.slice(from), marked: false });
  return found;
}

export function showMarks(place: HTMLElement, text: string, reasons: Iterable<string>): void {
  // A reason may be several words.
  const words = new Set([...reasons].flatMap((reason) => reason.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u)));
  words.delete("");
  const nodes = pieces(text, words).map((piece) => (piece.marked ? make("mark", "", piece.text) : piece.text));
  // A last line that is empty has a height only with something on it.
  place.replaceChildren(...nodes, "\u200b");
}
