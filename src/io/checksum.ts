// A checksum of 64 bits over bytes: two 32-bit hashes (MurmurHash3's mixing over words) with seeds of their own. It finds
// damage and mistaken files; it is no defence against forgery.

const SEEDS = [0x9747b28c, 0x1b873593] as const;

/** One hash over whole words and what is left behind them. */
function hashWords(words: Uint32Array, rest: Uint8Array, length: number, seed: number): number {
  let h = seed | 0;
  for (let i = 0; i < words.length; i++) h = mixIn(h, words[i] as number);
  let last = 0;
  for (let i = rest.length - 1; i >= 0; i--) last = (last << 8) | (rest[i] as number);
  h = mixIn(h, last) ^ length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
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
  return SEEDS.map((seed) => hashWords(words, rest, bytes.length, seed).toString(16).padStart(8, "0")).join(
    "",
  );
}

/** A checksum of several things in their order: texts by their UTF-8 bytes, arrays by theirs. */
export function checksumOf(parts: readonly (string | ArrayBufferView)[]): string {
  const encoder = new TextEncoder();
  const each = parts.map((part) => checksum(typeof part === "string" ? encoder.encode(part) : part));
  return checksum(encoder.encode(each.join(" ")));
}
