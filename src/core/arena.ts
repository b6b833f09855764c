// The memory of a core: one linear memory, handed out in blocks that live until they are released.

import { OutOfMemoryError } from "../base/errors.ts";

const ALIGNMENT = 64;
const PAGE = 65536;
/** Memory grows by at least this much, or by an eighth of what there is. */
const GROWTH_STEP = 16 * 2 ** 20;

interface Block {
  address: number;
  bytes: number;
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;

/** Hands out blocks of a core's memory, which grows as they are asked for. */
export class Arena {
  readonly #memory: WebAssembly.Memory;
  readonly #maximumBytes: number;
  readonly #held = new Map<number, number>();
  /** Free blocks in order of their address, no two of them adjacent. */
  #free: Block[] = [];
  #end: number;
  #used = 0;
  /** Where the memory begins that was never in a block. */
  #everUsed = 0;

  constructor(memory: WebAssembly.Memory, base: number, maximumBytes: number) {
    this.#memory = memory;
    this.#maximumBytes = maximumBytes;
    this.#end = Math.ceil(base / ALIGNMENT) * ALIGNMENT;
    this.#add(memory.buffer.byteLength - this.#end);
  }

  /** Bytes in blocks that have not been released. */
  get used(): number {
    return this.#used;
  }

  /** Bytes of the whole memory now. */
  get capacity(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Address of a new block of zeros; memory that was never handed out has been zero from the start. */
  cleared(bytes: number, what: string): number {
    const used = this.#everUsed;
    const address = this.allocate(bytes, what);
    const end = Math.min(address + bytes, used);
    if (end > address) new Uint8Array(this.#memory.buffer, address, end - address).fill(0);
    return address;
  }

  /** Address of a new block; its content is whatever was there. `what` is named if there is no room. */
  allocate(bytes: number, what: string): number {
    const size = Math.max(ALIGNMENT, Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
    let block = this.#bestFit(size);
    if (block === undefined) {
      this.#grow(size, what);
      block = this.#bestFit(size) as Block;
    }
    const address = block.address;
    if (block.bytes === size) this.#free.splice(this.#free.indexOf(block), 1);
    else {
      block.address += size;
      block.bytes -= size;
    }
    this.#held.set(address, size);
    this.#used += size;
    this.#everUsed = Math.max(this.#everUsed, address + size);
    return address;
  }

  release(address: number): void {
    const bytes = this.#held.get(address);
    if (bytes === undefined) throw new Error(`no block at address ${address}: it was released before`);
    this.#held.delete(address);
    this.#used -= bytes;
    this.#giveBack({ address, bytes });
  }

  #bestFit(size: number): Block | undefined {
    let best: Block | undefined;
    for (const block of this.#free) {
      if (block.bytes >= size && (best === undefined || block.bytes < best.bytes)) best = block;
    }
    return best;
  }

  #giveBack(block: Block): void {
    let low = 0;
    let high = this.#free.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#free[middle].address < block.address) low = middle + 1;
      else high = middle;
    }
    this.#free.splice(low, 0, block);
    // Joined with the block after it and with the one before it, where they are adjacent.
    for (const at of [low, low - 1]) {
      const [left, right] = [this.#free[at], this.#free[at + 1]];
      if (left === undefined || right === undefined || left.address + left.bytes !== right.address) continue;
      left.bytes += right.bytes;
      this.#free.splice(at + 1, 1);
    }
  }

  #grow(size: number, what: string): void {
    const last = this.#free.at(-1);
    const openEnd = last !== undefined && last.address + last.bytes === this.#end ? last.bytes : 0;
    const capacity = this.capacity;
    const needed = size - openEnd;
    const room = this.#maximumBytes - capacity;
    const wanted = Math.min(room, Math.max(needed, GROWTH_STEP, Math.floor(capacity / 8)));
    for (const bytes of needed <= room ? [wanted, needed] : []) {
      try {
        this.#memory.grow(Math.ceil(bytes / PAGE));
        this.#add(this.#memory.buffer.byteLength - capacity);
        return;
      } catch {
        // The host has no more in one piece: try the least that would do, then give up.
      }
    }
    throw new OutOfMemoryError(
      size,
      `out of memory: ${what} needs ${megabytes(size)}, but ${megabytes(this.#used)} are in use ` +
        `and the memory of ${megabytes(capacity)} cannot grow enough (its limit is ${megabytes(this.#maximumBytes)})`,
    );
  }

  #add(bytes: number): void {
    if (bytes > 0) this.#giveBack({ address: this.#end, bytes });
    this.#end += Math.max(0, bytes);
  }
}
