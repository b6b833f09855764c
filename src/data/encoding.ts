// Bytes as text: UTF-8, Windows-1252 where a line is not UTF-8, and UTF-16 where a file begins with its mark.

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes as UTF-8, or undefined where they are not. */
export function utf8(bytes: Uint8Array, start = 0, end: number = bytes.length): string | undefined {
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** Bytes 0x80 to 0x9f; all others are the code points of their value (as the Encoding Standard has it). */
const WINDOWS_1252_UPPER = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/**
 * Bytes as Windows-1252, which any bytes are. Not by TextDecoder: some versions of Node give Latin-1 in its place.
 */
export function windows1252(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  let text = "";
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    text += byte >= 0x80 && byte < 0xa0 ? WINDOWS_1252_UPPER[byte - 0x80] : String.fromCharCode(byte);
  }
  return text;
}

/** UTF-16 in either order of bytes, its mark included, as UTF-8. */
export async function* fromUtf16(
  chunks: AsyncGenerator<Uint8Array>,
  bigEndian: boolean,
): AsyncGenerator<Uint8Array> {
  const units = new TextDecoder("utf-16le");
  const encoder = new TextEncoder();
  let half: number | undefined; // first byte of a unit whose second is in the next chunk
  for await (const chunk of chunks) {
    const whole = new Uint8Array((chunk.length + (half === undefined ? 0 : 1)) & ~1);
    let at = 0;
    if (half !== undefined) whole[at++] = half;
    whole.set(chunk.subarray(0, whole.length - at), at);
    half = whole.length - at < chunk.length ? chunk[chunk.length - 1] : undefined;
    if (bigEndian) swapPairs(whole);
    yield encoder.encode(units.decode(whole, { stream: true }));
  }
  yield encoder.encode(units.decode() + (half === undefined ? "" : "\ufffd"));
}

function swapPairs(bytes: Uint8Array): void {
  for (let i = 0; i + 1 < bytes.length; i += 2) {
    const first = bytes[i] as number;
    bytes[i] = bytes[i + 1] as number;
    bytes[i + 1] = first;
  }
}
