// A device at work for parts of the closed form. What it cannot do is left to the core, part by part: where a tensor is
// larger than it takes that part alone, where it is lost or refused some work all that follows. Each is said once.

import type { Backend } from "../../backend/backend.ts";
import type { OpenDevice } from "../../backend/devices.ts";
import type { Precision } from "../../core/core.ts";
import type { Matrix, RealArray } from "../../core/matrix.ts";
import type { WorkOptions } from "../../core/progress.ts";

type OnDevice = Parameters<Backend["free"]>[0];

/** Tensors that are freed together. */
export class Tensors {
  readonly #backend: Backend;
  readonly #items: OnDevice[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  keep<T extends OnDevice>(tensor: T): T {
    this.#items.push(tensor);
    return tensor;
  }

  free(): void {
    this.#backend.free(...this.#items.splice(0));
  }
}

/** Runs `work`, which only enqueues, and frees the tensors that it kept. */
export function withTensors(backend: Backend, work: (tensors: Tensors) => void): void {
  const tensors = new Tensors(backend);
  try {
    work(tensors);
  } finally {
    tensors.free();
  }
}

/** The parts that a device takes over. */
export class DeviceParts {
  readonly backend: Backend;
  readonly #device: OpenDevice;
  readonly #note: (text: string) => void;
  readonly #refused = new Set<string>();
  #gone = false;

  /** `note` is told why something is computed on the core. */
  constructor(device: OpenDevice, note: (text: string) => void) {
    this.backend = device.backend;
    this.#device = device;
    this.#note = note;
  }

  /** Most bytes of one tensor. */
  get largest(): number {
    return this.#device.largestTensor;
  }

  /** Whether it computes in the precision of the points and takes a tensor of so many numbers of four bytes. */
  takes(part: string, precision: Precision, what: string, numbers: number): boolean {
    if (this.#gone) return false;
    if (precision !== this.backend.precision)
      return this.#refuse(
        part,
        `the device computes in ${this.backend.precision}, and the numbers are in ${precision}`,
      );
    const bytes = 4 * numbers;
    if (bytes > this.largest)
      return this.#refuse(
        part,
        `${bytes} bytes of ${what} are more than the ${this.largest} that the GPU takes`,
      );
    return true;
  }

  #refuse(part: string, why: string): false {
    if (!this.#refused.has(part)) this.#note(`${part} computed on WASM: ${why}`);
    this.#refused.add(part);
    return false;
  }

  /** What `work` gives, or undefined where it failed: then what it has written is not to be used. */
  async attempt<T>(
    part: string,
    options: WorkOptions,
    work: (tensors: Tensors) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#gone) return undefined;
    const tensors = new Tensors(this.backend);
    try {
      this.#device.check();
      const found = await work(tensors);
      this.#device.check();
      return found;
    } catch (error) {
      options.signal?.throwIfAborted();
      const lost = await this.#device.lostSoon();
      const why = lost === undefined ? (error as Error).message : `the GPU was lost: ${lost}`;
      this.#note(`${part} computed on WASM, as is all that follows: ${why}`);
      this.#gone = true;
      return undefined;
    } finally {
      tensors.free();
    }
  }

  /** Whether `work` went well: then out has the numbers that it read; if not, out is as it was. */
  async fill(
    part: string,
    out: Matrix,
    options: WorkOptions,
    work: (tensors: Tensors) => Promise<RealArray>,
  ): Promise<boolean> {
    const values = await this.attempt(part, options, work);
    if (values) out.set(values);
    return values !== undefined;
  }
}
