// Integer hashes for splits: the same rows are held out in every runtime, on every run.

/** 32 mixed bits of an integer (the finaliser of MurmurHash3), as a number from 0 to 2^32 - 1. */
export function hashInteger(value: number, seed = 0): number {
  let h = (value ^ Math.imul(seed + 1, 0x9e3779b1)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
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
