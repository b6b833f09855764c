// JSON.parse keeps the last of two equal keys without a word; this finds them.

const BACKSLASH = 92;

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
  let text = [0, 0]; // where the string before begins and ends
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === "{" || character === "[") open.push(new Set());
    else if (character === "}" || character === "]") open.pop();
    else if (character === '"') {
      text = [at, closingQuote(json, at) + 1];
      at = text[1] - 1;
    } else if (character === ":") {
      const written = json.slice(...text);
      const key = written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
      if (open.at(-1)?.has(key)) return key;
      open.at(-1)?.add(key);
    }
  }
  return undefined;
}
