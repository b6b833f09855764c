// Files of a zip archive, as numpy.savez and scipy.sparse.save_npz write it: stored or deflated, no encryption. A file is unpacked
// when it is asked for. Archives may come from strangers: no place of one is unpacked twice, all that is unpacked stays within a
// limit, and checksums are compared.

import { joined, streamChunks } from "../bytes.ts";

const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50];
const END_LENGTH = 22;
const LONGEST_COMMENT = 65535;
const [STORED, DEFLATED] = [0, 8];
const UNSET = 0xffffffff; // the size stands in the 64-bit extension
const ZIP64 = 1;

/** A file of the archive, still packed. */
interface ZipEntry {
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  /** Where its local header stands. */
  readonly offset: number;
}

/** Says what is wrong with the archive. */
type Refuse = (found: string, expected?: string) => never;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = CRC_TABLE[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

export class ZipArchive {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #refuse: Refuse;
  readonly #entries = new Map<string, ZipEntry>();
  readonly #used: [from: number, to: number][] = []; // places that were unpacked
  #left: number; // bytes that may still be unpacked

  constructor(bytes: Uint8Array, limit: number, refuse: Refuse) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#refuse = refuse;
    this.#left = limit;
    this.#readDirectory();
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  /** A file unpacked, or undefined where there is none of this name. Never more is unpacked than the directory says. */
  async read(name: string): Promise<Uint8Array | undefined> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    const { offset, packed, size, method } = entry;
    this.#demand(offset, 30);
    if (this.#view.getUint32(offset, true) !== LOCAL) this.#refuse("a zip archive with a broken entry");
    const names = this.#view.getUint16(offset + 26, true) + this.#view.getUint16(offset + 28, true);
    const from = offset + 30 + names;
    this.#demand(from, packed);
    const to = from + packed;
    if (this.#used.some(([begin, end]) => offset < end && to > begin))
      this.#refuse("a zip archive whose entries overlap");
    this.#used.push([offset, to]);
    if (!(size <= this.#left))
      this.#refuse(`${size} bytes in a zip archive of ${this.#bytes.length}`, `at most ${this.#left} bytes`);
    this.#left -= size;
    if (method !== STORED && method !== DEFLATED) this.#refuse(`a zip archive packed by method ${method}`);
    const own = this.#bytes.subarray(from, to);
    const unpacked = method === STORED ? own : await inflate(own, size).catch(() => undefined);
    if (unpacked?.length !== size || crc32(unpacked) !== entry.crc) this.#refuse("a zip archive that is damaged");
    return unpacked;
  }

  /** Refuses places outside of the archive, so that what follows may read there. */
  #demand(offset: number, length: number): void {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.#bytes.length))
      this.#refuse("a zip archive that is damaged or cut short");
  }

  #readDirectory(): void {
    const view = this.#view;
    let end = this.#bytes.length - END_LENGTH;
    const first = Math.max(0, end - LONGEST_COMMENT);
    while (end >= first && view.getUint32(end, true) !== END) end--;
    if (end < first) this.#refuse("a zip archive without a directory");
    const count = view.getUint16(end + 10, true);
    let at = view.getUint32(end + 16, true);
    for (let i = 0; i < count; i++) {
      this.#demand(at, 46);
      if (view.getUint32(at, true) !== CENTRAL) this.#refuse("a zip archive with a broken directory");
      const nameEnd = at + 46 + view.getUint16(at + 28, true);
      const extraEnd = nameEnd + view.getUint16(at + 30, true);
      this.#demand(at + 46, extraEnd - at - 46);
      const name = new TextDecoder().decode(this.#bytes.slice(at + 46, nameEnd));
      if (this.#entries.has(name)) this.#refuse("a zip archive with two files of one name");
      this.#entries.set(name, this.#entryAt(at, nameEnd, extraEnd));
      at = extraEnd + view.getUint16(at + 32, true);
    }
  }

  #entryAt(at: number, nameEnd: number, extraEnd: number): ZipEntry {
    const view = this.#view;
    let size = view.getUint32(at + 24, true);
    let packed = view.getUint32(at + 20, true);
    for (let extra = nameEnd; extra + 4 <= extraEnd; extra += 4 + view.getUint16(extra + 2, true)) {
      if (view.getUint16(extra, true) !== ZIP64) continue;
      let field = extra + 4; // only what is unset stands here, in this order
      const next = (): number => {
        field += 8;
        return field <= extraEnd ? Number(view.getBigUint64(field - 8, true)) : Number.NaN;
      };
      if (size === UNSET) size = next();
      if (packed === UNSET) packed = next();
    }
    const [method, crc] = [view.getUint16(at + 10, true), view.getUint32(at + 16, true)];
    return { method, crc, packed, size, offset: view.getUint32(at + 42, true) };
  }
}

/** The unpacked bytes, or undefined when they are more than expected. */
async function inflate(packed: Uint8Array, size: number): Promise<Uint8Array | undefined> {
  const stream = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  return await joined(streamChunks(stream), () => size);
}
