// JSON.parse keeps the last of two equal keys without a word; this finds them.

const [BACKSLASH, COLON, BLANKS] = [92, 58, [32, 9, 10, 13]];

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
      const key = JSON.parse(json.slice(...text)) as string;
      if (open.at(-1)?.has(key)) return key;
      open.at(-1)?.add(key);
    }
  }
  return undefined;
}

/** The same where the JSON was parsed as `value`: texts of a data set have few such keys, and counting takes a fifth of the time. */
export const duplicateKey = (json: string, value: unknown): string | undefined =>
  keysIn(json) === keysOf(value) ? undefined : repeatedKey(json);

/** How many strings of a JSON text are keys. */
function keysIn(json: string): number {
  let keys = 0;
  for (let at = json.indexOf('"'); at >= 0; ) {
    let after = closingQuote(json, at) + 1;
    while (BLANKS.includes(json.charCodeAt(after))) after++;
    if (json.charCodeAt(after) === COLON) keys++;
    at = json.indexOf('"', after);
  }
  return keys;
}

/** How many keys a value of JSON and all within it have; it may be of any depth. */
function keysOf(value: unknown): number {
  let keys = 0;
  const open = [value];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (typeof each !== "object" || each === null) continue;
    const own: unknown[] = Object.values(each);
    if (!Array.isArray(each)) keys += own.length;
    for (const inner of own) if (typeof inner === "object") open.push(inner);
  }
  return keys;
}
