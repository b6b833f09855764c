// Zip archives and arrays written plainly, so that they can be written wrongly as well.

const encoder = new TextEncoder();

/** An array as numpy saves it, with whatever its header says. */
export function npy(descr: string, shape: string, elements: Uint8Array = new Uint8Array()): Uint8Array {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }\n`;
  const bytes = new Uint8Array(10 + header.length + elements.length);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  bytes.set(encoder.encode(header), 10);
  bytes.set(elements, 10 + header.length);
  return bytes;
}

export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

export async function deflated(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A file of an archive; `at` is where its local header stands, if it is to stand in the bytes of another. */
export interface Entry {
  readonly name: string;
  readonly packed: Uint8Array;
  readonly size: number;
  readonly crc: number;
  readonly method: 0 | 8;
  readonly at?: number;
}

export const stored = (name: string, bytes: Uint8Array): Entry => ({
  ...{ name, packed: bytes, size: bytes.length, crc: crc32(bytes), method: 0 },
});

function numbers(...pairs: [size: 2 | 4, value: number][]): number[] {
  return pairs.flatMap(([size, value]) => Array.from({ length: size }, (_, i) => (value >>> (8 * i)) & 255));
}

/** An archive of these files. */
export function zip(entries: readonly Entry[]): Uint8Array {
  const bytes: number[] = [];
  const central: number[] = [];
  for (const { name, packed, size, crc, method, at } of entries) {
    const offset = at ?? bytes.length;
    const about = numbers([2, method], [4, 0], [4, crc], [4, packed.length], [4, size], [2, name.length], [2, 0]);
    if (at === undefined) {
      bytes.push(...numbers([4, 0x04034b50], [2, 20], [2, 0]), ...about, ...encoder.encode(name));
      for (const byte of packed) bytes.push(byte);
    }
    central.push(...numbers([4, 0x02014b50], [2, 20], [2, 20], [2, 0]), ...about);
    central.push(...numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), ...encoder.encode(name));
  }
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, entries.length], [2, entries.length]);
  const place = numbers([4, central.length], [4, bytes.length], [2, 0]);
  return Uint8Array.from(bytes.concat(central, end, place));
}
