// Lines of a source, block by block: each block is a run of whole lines in one buffer that is used again for
// the next, so that a file of any size is read in little memory and without a promise for every line.

import { DataError } from "../base/errors.ts";

const NEWLINE = 10;
const RETURN = 13;
const LONGEST_LINE = 2 ** 28;

/** Steps through the lines of one block: `while (block.next()) use(block.bytes, block.start, block.end)`. */
export class LineBlock {
  readonly bytes: Uint8Array;
  /** Number of the current line, from 1. */
  number: number;
  /** The current line is bytes[start..end), without its line end. */
  start = 0;
  end = 0;
  #next = 0;

  constructor(bytes: Uint8Array, firstLine: number) {
    this.bytes = bytes;
    this.number = firstLine - 1;
  }

  next(): boolean {
    const { bytes } = this;
    if (this.#next >= bytes.length) return false;
    const newline = bytes.indexOf(NEWLINE, this.#next);
    const end = newline < 0 ? bytes.length : newline;
    this.start = this.#next;
    this.end = end > this.start && bytes[end - 1] === RETURN ? end - 1 : end;
    this.#next = end + 1;
    this.number++;
    return true;
  }
}

function countNewlines(bytes: Uint8Array, end: number): number {
  let count = 0;
  for (let i = 0; i < end; i++) if (bytes[i] === NEWLINE) count++;
  return count;
}

/** Whole lines of UTF-8 text, none longer than `longest` allows. A block is valid until the next one is asked for. */
export async function* lineBlocks(
  chunks: AsyncGenerator<Uint8Array>,
  file: string,
  longest: () => number = () => LONGEST_LINE,
): AsyncGenerator<LineBlock> {
  let buffer = new Uint8Array(1 << 16);
  let filled = 0;
  let line = 1;
  let atStart = true;
  /** Refuses the line that begins so many bytes into these. */
  const refuse = (bytes: Uint8Array, at: number, found: string, expected: string): never => {
    throw new DataError({ file, line: line + countNewlines(bytes, at), found, expected });
  };
  const blockOf = (end: number): LineBlock => {
    const hasMark = atStart && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf && end >= 3;
    atStart = false;
    const bytes = buffer.subarray(hasMark ? 3 : 0, end);
    const nul = bytes.indexOf(0);
    if (nul >= 0) refuse(bytes, nul, "binary data (a zero byte)", "UTF-8 text");
    return new LineBlock(bytes, line);
  };
  for await (const chunk of chunks) {
    if (filled + chunk.length > buffer.length) {
      const wider = new Uint8Array(2 * (filled + chunk.length));
      wider.set(buffer.subarray(0, filled));
      buffer = wider;
    }
    buffer.set(chunk, filled);
    const lastNewline = chunk.lastIndexOf(NEWLINE);
    const end = lastNewline < 0 ? 0 : filled + lastNewline + 1;
    filled += chunk.length;
    const most = Math.min(LONGEST_LINE, longest());
    if (filled - end > most) refuse(buffer, end, `a line of more than ${most} bytes`, "shorter lines");
    if (end === 0) continue;
    const block = blockOf(end);
    yield block;
    line = block.number + 1;
    buffer.copyWithin(0, end, filled);
    filled -= end;
  }
  if (filled > 0) yield blockOf(filled);
}
