// JSON.parse keeps the last of two equal keys without a word; this finds them.

const [QUOTE, COLON, BACKSLASH] = [34, 58, 92];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** Position of the quote that closes the string opened at `open`. */
function closingQuote(json: string, open: number): number {
  for (let at = json.indexOf('"', open + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0;
    while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return json.length;
}

/** A key that one object of this JSON, which can be parsed, has twice, or undefined. */
export function repeatedKey(json: string): string | undefined {
  const open: Set<string>[] = []; // keys of each open object, none of an array
  let [begin, end] = [0, 0]; // of the string before
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (character === QUOTE) {
      [begin, end] = [at, closingQuote(json, at)];
      at = end;
    } else if (character === COLON) {
      const text = json.slice(begin + 1, end);
      const key = text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
      if (open.at(-1)?.has(key)) return key;
      open.at(-1)?.add(key);
    } else if (character === OPEN_OBJECT || character === OPEN_LIST) open.push(new Set());
    else if (character === CLOSE_OBJECT || character === CLOSE_LIST) open.pop();
  }
  return undefined;
}
