// JSON.parse keeps the last of two equal keys without a word; this finds them.

const QUOTE = '"';
const BACKSLASH = 92;

/** Position of the quote that closes the string opened at `open`. */
function closingQuote(json: string, open: number): number {
  for (let at = json.indexOf(QUOTE, open + 1); at >= 0; at = json.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return json.length;
}

/** A key that one object of this valid JSON has twice, or undefined. */
export function duplicateKey(json: string): string | undefined {
  const open: (Set<string> | undefined)[] = []; // keys of each open object; undefined for an array
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === "{") open.push(new Set());
    else if (character === "[") open.push(undefined);
    else if (character === "}" || character === "]") open.pop();
    else if (character === QUOTE) {
      const end = closingQuote(json, at);
      let after = end + 1;
      while (" \t\r\n".includes(json[after] ?? "x")) after++;
      const keys = open.at(-1);
      if (json[after] === ":" && keys) {
        const key = JSON.parse(json.slice(at, end + 1)) as string;
        if (keys.has(key)) return key;
        keys.add(key);
      }
      at = end;
    }
  }
  return undefined;
}
