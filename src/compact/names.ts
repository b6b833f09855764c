// Names and counts as bytes: front-coded vocabularies, lists of names, variable-length integers (src/edge reads them).

import { ArgumentError } from "../base/errors.ts";
import { type Growable, growableBytes } from "../data/builders.ts";
import { BLOCK } from "../edge/vocabulary.ts";

/** Adds a variable-length integer (LEB128). */
function addInteger(to: Growable<Uint8Array>, value: number): void {
  let rest = value;
  for (; rest > 127; rest >>>= 7) to.push((rest & 127) | 128);
  to.push(rest);
}

function addBytes(to: Growable<Uint8Array>, bytes: Uint8Array): void {
  for (const byte of bytes) to.push(byte);
}

const encoder = new TextEncoder();

function encode(name: string, what: string): Uint8Array {
  // A unit that is half of a pair has no UTF-8: it would come back as another name.
  if (/\p{Surrogate}/u.test(name))
    throw new ArgumentError(what, `found ${JSON.stringify(name)}, expected whole Unicode characters`);
  return encoder.encode(name);
}

/** Length and UTF-8 of each name. */
export function nameBytes(names: readonly string[]): Uint8Array {
  const out = growableBytes();
  for (const name of names) {
    const bytes = encode(name, "labelNames");
    addInteger(out, bytes.length);
    addBytes(out, bytes);
  }
  return out.finish();
}

/** Each count as a variable-length integer. */
export function countBytes(counts: ArrayLike<number>): Uint8Array {
  const out = growableBytes();
  for (let i = 0; i < counts.length; i++) addInteger(out, counts[i]);
  return out.finish();
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const common = commonStart(a, b);
  return (a[common] ?? -1) - (b[common] ?? -1);
}

function commonStart(a: Uint8Array, b: Uint8Array): number {
  let common = 0;
  while (common < a.length && common < b.length && a[common] === b[common]) common++;
  return common;
}

/** The names sorted and front-coded; `order` is the feature of each sorted name where it is not its position. */
export function vocabularyBytes(names: readonly string[]): { bytes: Uint8Array; order?: Int32Array } {
  const encoded = names.map((name) => encode(name, "featureNames"));
  const order = Int32Array.from(names, (_, i) => i);
  order.sort((a, b) => compareBytes(encoded[a], encoded[b]));
  const out = growableBytes();
  let previous: Uint8Array | undefined;
  order.forEach((feature, i) => {
    const name = encoded[feature];
    if (previous !== undefined && compareBytes(previous, name) === 0)
      throw new ArgumentError("featureNames", `found ${JSON.stringify(names[feature])} twice, expected each once`);
    const shared = i % BLOCK === 0 || previous === undefined ? 0 : commonStart(previous, name);
    addInteger(out, shared);
    addInteger(out, name.length - shared);
    addBytes(out, name.subarray(shared));
    previous = name;
  });
  const bytes = out.finish();
  return order.every((feature, i) => feature === i) ? { bytes } : { bytes, order };
}
