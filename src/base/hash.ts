// Integer hashes for splits (the same rows are held out in every runtime, on every run) and a 64-bit checksum: two 32-bit hashes
// (MurmurHash3's mixing over words) with seeds of their own. The checksum finds damage; it is no defence against forgery.

/** 32 mixed bits of an integer (the finaliser of MurmurHash3), as a number from 0 to 2^32 - 1. */
export function hashInteger(value: number, seed = 0): number {
  return mixed(value ^ Math.imul(seed + 1, 0x9e3779b1));
}

function mixed(bits: number): number {
  let h = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** 32 bits of a text, by its UTF-16 code units (FNV-1a over their bytes, then mixed). */
export function hashText(text: string, seed = 0): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    h = Math.imul(h ^ (unit & 255), 0x01000193);
    h = Math.imul(h ^ (unit >>> 8), 0x01000193);
  }
  return hashInteger(h, seed);
}

const SEEDS = [0x9747b28c, 0x1b873593] as const;

/** Hashes over whole words and what is left behind them, one for each seed. */
function hashWords(words: Uint32Array, rest: Uint8Array, length: number): number[] {
  // Together: neither waits for the steps of the other.
  let [a, b] = [SEEDS[0] | 0, SEEDS[1] | 0];
  for (let i = 0; i < words.length; i++) {
    a = mixIn(a, words[i]);
    b = mixIn(b, words[i]);
  }
  let last = 0;
  for (let i = rest.length - 1; i >= 0; i--) last = (last << 8) | rest[i];
  return [a, b].map((h) => mixed(mixIn(h, last) ^ length));
}

function mixIn(h: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  h ^= k;
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

/** 16 hexadecimal digits for the bytes of an array (as they lie in memory, little-endian). */
export function checksum(data: ArrayBufferView): string {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2);
  const rest = aligned.subarray(words.byteLength);
  return hashWords(words, rest, bytes.length)
    .map((hash) => hash.toString(16).padStart(8, "0"))
    .join("");
}

/** A checksum of several things in their order: texts by their UTF-8 bytes, arrays by theirs. */
export function checksumOf(parts: readonly (string | ArrayBufferView)[]): string {
  const encoder = new TextEncoder();
  const each = parts.map((part) => checksum(typeof part === "string" ? encoder.encode(part) : part));
  return checksum(encoder.encode(each.join(" ")));
}
