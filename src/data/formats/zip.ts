// The files of a zip archive, as numpy.savez and scipy.sparse.save_npz write it: stored or deflated, no encryption.

import { joined, streamChunks } from "../bytes.ts";
import { DataError } from "../errors.ts";

const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50];
const END_LENGTH = 22;
const LONGEST_COMMENT = 65535;
const [STORED, DEFLATED] = [0, 8];
const UNSET = 0xffffffff; // the size stands in the 64-bit extension
const ZIP64 = 1;

/** A file of the archive, still packed. */
export interface ZipFile {
  readonly name: string;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  /** Where its local header stands. */
  readonly offset: number;
}

class Archive {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly file: string;

  constructor(bytes: Uint8Array, file: string) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.file = file;
  }

  refuse(found: string): never {
    throw new DataError({ file: this.file, line: 0, found, expected: "a whole zip archive" });
  }

  /** Refuses places outside of the archive, so that what follows may read there. */
  demand(offset: number, length: number): void {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.bytes.length))
      this.refuse("a zip archive that is damaged or cut short");
  }
}

/** The directory of an archive. */
export function zipFiles(bytes: Uint8Array, file: string): ZipFile[] {
  const archive = new Archive(bytes, file);
  const { view } = archive;
  let end = bytes.length - END_LENGTH;
  const first = Math.max(0, end - LONGEST_COMMENT);
  while (end >= first && view.getUint32(end, true) !== END) end--;
  if (end < first) archive.refuse("a zip archive without a directory");
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  const files: ZipFile[] = [];
  for (let i = 0; i < count; i++) {
    archive.demand(at, 46);
    if (view.getUint32(at, true) !== CENTRAL) archive.refuse("a zip archive with a broken directory");
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    archive.demand(at + 46, nameLength + extraLength);
    files.push(entryAt(archive, at, nameLength, extraLength));
    at += 46 + nameLength + extraLength + view.getUint16(at + 32, true);
  }
  return files;
}

function entryAt({ bytes, view }: Archive, at: number, nameLength: number, extraLength: number): ZipFile {
  const name = new TextDecoder().decode(bytes.slice(at + 46, at + 46 + nameLength));
  let size = view.getUint32(at + 24, true);
  let packed = view.getUint32(at + 20, true);
  const extraEnd = at + 46 + nameLength + extraLength;
  for (
    let extra = at + 46 + nameLength;
    extra + 4 <= extraEnd;
    extra += 4 + view.getUint16(extra + 2, true)
  ) {
    if (view.getUint16(extra, true) !== ZIP64) continue;
    let field = extra + 4; // only what is unset stands here, in this order
    const next = (): number => {
      field += 8;
      return field <= extraEnd ? Number(view.getBigUint64(field - 8, true)) : Number.NaN;
    };
    if (size === UNSET) size = next();
    if (packed === UNSET) packed = next();
  }
  return { name, method: view.getUint16(at + 10, true), packed, size, offset: view.getUint32(at + 42, true) };
}

/** A file unpacked. Never more is unpacked than the directory says. */
export async function unzip(bytes: Uint8Array, entry: ZipFile, file: string): Promise<Uint8Array> {
  const archive = new Archive(bytes, file);
  archive.demand(entry.offset, 30);
  if (archive.view.getUint32(entry.offset, true) !== LOCAL)
    archive.refuse("a zip archive with a broken entry");
  const names =
    archive.view.getUint16(entry.offset + 26, true) + archive.view.getUint16(entry.offset + 28, true);
  const from = entry.offset + 30 + names;
  archive.demand(from, entry.packed);
  const packed = bytes.subarray(from, from + entry.packed);
  if (entry.method === STORED) {
    if (entry.packed !== entry.size) archive.refuse("a zip archive with a broken entry");
    return packed;
  }
  if (entry.method !== DEFLATED) archive.refuse(`a zip archive packed by method ${entry.method}`);
  const unpacked = await inflate(packed, entry.size).catch(() => undefined);
  return unpacked ?? archive.refuse("a zip archive that is damaged");
}

/** The unpacked bytes, or undefined when they are not as many as expected. */
async function inflate(packed: Uint8Array, size: number): Promise<Uint8Array | undefined> {
  const stream = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  const unpacked = await joined(streamChunks(stream), size);
  return unpacked?.length === size ? unpacked : undefined;
}
