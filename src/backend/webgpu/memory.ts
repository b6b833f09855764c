// Buffers on the GPU. A freed one is kept for the next of its size: a step that makes and frees the same tensors as the
// one before makes no buffer at all, and its bind groups stay valid.

/** A buffer, and what must be known before it is written to or destroyed. */
export interface Storage {
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  readonly id: number;
  /** The submission that last used it. */
  lastUse: number;
  /** Bind groups that hold it, by their keys. */
  readonly bindGroups: Set<string>;
}

/** A buffer on loan. Tensors that are views share the block of the one that they look into. */
export interface Block {
  readonly storage: Storage;
  /** Nothing was ever written: all zeros. */
  readonly fresh: boolean;
  released: boolean;
}

const SMALLEST = 256;
/** From here on sizes are rounded less: a quarter too much of a large buffer is a lot. */
const LARGE = 2 ** 24;
/** Bytes of unused buffers that are kept. */
const MOST_KEPT = 2 ** 28;

/** Sizes in steps of a quarter of a power of two, so that lists of slightly different length share buffers. */
function sizeClass(bytes: number): number {
  if (bytes <= SMALLEST) return SMALLEST;
  const step = bytes > LARGE ? 2 ** 20 : Math.max(SMALLEST, 2 ** (Math.floor(Math.log2(bytes)) - 2));
  return Math.ceil(bytes / step) * step;
}

export class GpuMemory {
  readonly #device: GPUDevice;
  readonly #largest: number;
  readonly #report: (error: Error) => void;
  readonly #kept = new Map<number, Storage[]>();
  readonly #live = new Set<Storage>();
  #keptBytes = 0;
  #nextId = 0;

  /** `report` gets what the device says later: that there was no memory. */
  constructor(device: GPUDevice, report: (error: Error) => void) {
    this.#device = device;
    this.#largest = device.limits.maxBufferSize;
    this.#report = report;
  }

  /**
   * A buffer of at least so many bytes. One that is to be written at once must not be in use by the commands recorded
   * since the last submission: writing would have to wait for them. For others such a one is the best choice.
   */
  allocate(bytes: number, what: string, submission: number, toWrite: boolean): Block {
    const maxBufferSize = this.#largest;
    if (bytes > maxBufferSize)
      throw new Error(
        `GPU memory: found ${what}, ${bytes} bytes, expected at most ${maxBufferSize} bytes in a buffer of this device`,
      );
    const size = Math.min(sizeClass(bytes), maxBufferSize);
    const kept = this.#kept.get(size) ?? [];
    let choice = kept.findLastIndex(({ lastUse }) => (lastUse === submission) !== toWrite);
    if (choice < 0 && !toWrite) choice = kept.length - 1;
    const storage = choice >= 0 ? kept.splice(choice, 1)[0] : undefined;
    if (storage === undefined) return { storage: this.create(size, what, "storage"), fresh: true, released: false };
    this.#keptBytes -= size;
    return { storage, fresh: false, released: false };
  }

  /** Gives a block back; returns its storage where it is to be destroyed, once the commands that use it have started. */
  release(block: Block): Storage | undefined {
    if (block.released) return undefined;
    block.released = true;
    const { storage } = block;
    if (this.#keptBytes + storage.bytes > MOST_KEPT) return storage;
    this.#keptBytes += storage.bytes;
    const kept = this.#kept.get(storage.bytes) ?? [];
    kept.push(storage);
    this.#kept.set(storage.bytes, kept);
    return undefined;
  }

  destroy(storage: Storage): void {
    if (!this.#live.delete(storage)) return;
    storage.buffer.destroy();
  }

  dispose(): void {
    for (const storage of [...this.#live]) this.destroy(storage);
    this.#kept.clear();
    this.#keptBytes = 0;
  }

  /** A new buffer: for tensors, parameters, or what is read back. */
  create(bytes: number, what: string, usage: Usage): Storage {
    this.#device.pushErrorScope("out-of-memory");
    const buffer = this.#device.createBuffer({ size: bytes, usage: GPU_USAGE[usage] });
    this.#device.popErrorScope().then(
      (error) => {
        if (error) this.#report(new Error(`GPU memory: found none for ${what}, expected ${bytes} bytes to be free`));
      },
      // The device is lost: reading back says so.
      () => {},
    );
    const storage = { buffer, bytes, id: this.#nextId++, lastUse: -1, bindGroups: new Set<string>() };
    this.#live.add(storage);
    return storage;
  }
}

/** GPUBufferUsage by its values: the name is not there in every runtime. */
const MAP_READ = 1;
const COPY_SRC = 4;
const COPY_DST = 8;
const UNIFORM = 64;
const STORAGE = 128;
type Usage = "storage" | "parameters" | "reading";
const GPU_USAGE: Record<Usage, number> = {
  storage: STORAGE | COPY_SRC | COPY_DST,
  parameters: UNIFORM | COPY_DST,
  reading: MAP_READ | COPY_DST,
};
