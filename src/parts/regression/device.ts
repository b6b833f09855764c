// The heavy parts of a regression on a GPU: kernel rows, the inverse of a symmetric positive definite matrix and products with it,
// features of inducing inputs. What the device cannot do is left to the core, part by part: where a tensor is larger than it takes
// that part alone, where it is lost or refused some work all that follows. Each is said once.

import type { Backend, IndexTensor, SparseTensor, Tensor } from "../../backend/backend.ts";
import { type DeviceChoice, type OpenDevice, openDevice } from "../../backend/devices.ts";
import { termsOf } from "../../base/kernels.ts";
import { type WorkOptions, yieldToHost } from "../../base/progress.ts";
import type { Core, Precision } from "../../core/core.ts";
import type { Csr } from "../../core/csr.ts";
import type { Matrix, RealArray } from "../../core/matrix.ts";
import type { InducingFeatures } from "./inducing.ts";
import type { Kernel } from "./kernel.ts";
import { allPoints, blocksOf } from "./leaveoneout.ts";
import type { Points } from "./points.ts";

interface Context {
  readonly core: Core;
  readonly run: { readonly device: DeviceChoice };
  readonly work: WorkOptions;
  readonly note: (text: string) => void;
}

/** Fits with the GPU that was asked for or found, if any, and says which it was. */
export async function onDevice<Fit extends { readonly summary?: object }>(
  { core, run, work, note }: Context,
  fitOn: (work: WorkOptions & { readonly device?: ClosedDevice }) => Promise<Fit>,
): Promise<Fit> {
  if (run.device === "wasm") return await fitOn(work);
  const device = await openDevice(core, run.device, "f32");
  try {
    note(`Closed form on ${device.about}`);
    if (device.backend.onCore) return await fitOn(work);
    const fitted = await fitOn({ ...work, device: new ClosedDevice(device, note) });
    return { ...fitted, summary: { ...fitted.summary, device: device.about } };
  } finally {
    device.dispose();
  }
}

type OnDevice = Parameters<Backend["free"]>[0];

/** Tensors that are freed together. */
class Tensors {
  readonly #backend: Backend;
  readonly #items: OnDevice[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  keep<T extends OnDevice>(tensor: T): T {
    this.#items.push(tensor);
    return tensor;
  }

  tensor(rows: number, columns: number, values?: ArrayLike<number>): Tensor {
    return this.keep(this.#backend.tensor(rows, columns, values));
  }

  upload(m: Matrix): Tensor {
    return this.tensor(m.rows, m.columns, m.toArray());
  }

  free(): void {
    this.#backend.free(...this.#items.splice(0));
  }
}

/** inverse(A) on a device. Each method says whether it was done; if not, it is the core's to do. */
export interface DeviceInverse {
  /** out = inverse(A) right */
  times(right: Matrix, out: Matrix, options: WorkOptions): Promise<boolean>;
  /** out = inverse(A), both triangles. */
  read(out: Matrix, options: WorkOptions): Promise<boolean>;
  free(): void;
}

/** One walk over the features of points; the same holds for it. */
export interface DeviceFeatures {
  /** out [to - from, M] = phi of the points */
  features(points: Points, from: number, to: number, out: Matrix, options: WorkOptions): Promise<boolean>;
  /** out [M,M] = phi' phi, which the core adds up in double precision */
  square(phi: Matrix, out: Matrix, options: WorkOptions): Promise<boolean>;
  free(): void;
}

const ROWS = "kernel rows are";
const FACTOR = "the factorisation is";
const FEATURES = "kernel features are";

export class ClosedDevice {
  readonly #backend: Backend;
  readonly #device: OpenDevice;
  readonly #note: (text: string) => void;
  readonly #refused = new Set<string>();
  #gone = false;

  /** `note` is told why something is computed on the core. */
  constructor(device: OpenDevice, note: (text: string) => void) {
    this.#backend = device.backend;
    this.#device = device;
    this.#note = note;
  }

  /** The precision that it computes in. */
  get precision(): Precision {
    return this.#backend.precision;
  }

  /** A matrix of N x N numbers fits. */
  holds({ x }: Points): boolean {
    return this.#takes(FACTOR, x.precision, "a matrix", x.rows ** 2);
  }

  /** out = K, but for its diagonal, where rounding may have made a distance of what is none; whether it was done. */
  async kernelRows(points: Points, kernel: Kernel, out: Matrix, options: WorkOptions): Promise<boolean> {
    const { x, rows: n } = points;
    if (points.views.length > 1) return false;
    if (!this.#takes(ROWS, x.precision, "the rows", Math.max(KernelRows.numbers(x), n))) return false;
    const work = async (tensors: Tensors): Promise<boolean> => {
      const rows = new KernelRows(this.#device, points, kernel, tensors);
      const room = tensors.tensor(rows.blockRows, n);
      for (const { from, to } of blocksOf(allPoints(n), rows.blockRows)) {
        await yieldToHost(options, "kernel", from / n);
        const block = this.#backend.rowRange(room, 0, to - from);
        rows.write(points, from, to, block);
        out.rowRange(from, to).set(await this.#backend.read(block));
      }
      return true;
    };
    return (await this.#attempt(ROWS, options, work)) ?? false;
  }

  /** The inverse from the lower triangle of A, which stays as it is; nothing where the core has to do it. */
  async invert(a: Matrix, options: WorkOptions): Promise<DeviceInverse | undefined> {
    if (!this.#takes(FACTOR, a.precision, "a matrix", a.rows ** 2)) return undefined;
    const backend = this.#backend;
    const own = new Tensors(backend);
    const inverse = await this.#attempt(FACTOR, options, async (tensors) => {
      const square = tensors.upload(a);
      await yieldToHost(options, "inverse", 0);
      const out = own.tensor(a.rows, a.rows);
      backend.factorise(square, 1);
      backend.inverseFromFactor(square, out, 1);
      const { raised, failed } = await backend.factorisationReport();
      return raised > 0 || failed >= 0 ? undefined : out;
    });
    if (inverse === undefined) {
      own.free();
      return undefined;
    }
    return {
      times: (right, out, work) =>
        this.#fill("products with the inverse are", out, work, async (tensors) => {
          const product = tensors.tensor(out.rows, out.columns);
          backend.gemm(inverse, tensors.upload(right), product);
          return await backend.read(product);
        }),
      read: (out, work) => this.#fill(FACTOR, out, work, () => backend.read(inverse)),
      free: () => own.free(),
    };
  }

  /** phi = inverse(L) k(Z, x) and products of it. */
  features({ z, kernel, whitening, count }: InducingFeatures): DeviceFeatures {
    const backend = this.#backend;
    const own = new Tensors(backend);
    let held: { rows: KernelRows; whitening: Tensor } | undefined;
    return {
      features: async (points, from, to, out, options) => {
        if (z.views.length > 1) return false;
        const most = Math.max(KernelRows.numbers(z.x), entriesIn(points.x, from, to) + to - from + 1);
        const numbers = Math.max(most, (to - from) * count, count ** 2);
        if (!this.#takes(FEATURES, out.precision, "a tensor", numbers)) return false;
        return await this.#fill(FEATURES, out, options, async (tensors) => {
          held ??= { rows: new KernelRows(this.#device, z, kernel, own), whitening: own.upload(whitening) };
          const [phi, k] = [tensors.tensor(to - from, count), tensors.tensor(to - from, count)];
          for (const block of blocksOf([{ from, to }], held.rows.blockRows))
            held.rows.write(points, block.from, block.to, backend.rowRange(k, block.from - from, block.to - from));
          backend.gemm(k, held.whitening, phi, { transposeB: true });
          return await backend.read(phi);
        });
      },
      square: async (phi, out, options) => {
        const { rows, columns, precision } = phi;
        const part = "products of kernel features are";
        if (!this.#takes(part, precision, "a tensor", Math.max(rows * columns, columns ** 2))) return false;
        return await this.#fill(part, out, options, async (tensors) => {
          const product = tensors.tensor(columns, columns);
          backend.syrk(tensors.upload(phi), product, { transpose: true });
          return await backend.read(product);
        });
      },
      free: () => own.free(),
    };
  }

  /** It computes in the precision of the points and takes a tensor of so many numbers of four bytes. */
  #takes(part: string, precision: Precision, what: string, numbers: number): boolean {
    if (this.#gone) return false;
    const refuse = (why: string): false => {
      if (!this.#refused.has(part)) this.#note(`${part} computed on WASM: ${why}`);
      this.#refused.add(part);
      return false;
    };
    if (precision !== this.precision)
      return refuse(`the device computes in ${this.precision}, and the numbers are in ${precision}`);
    const [bytes, most] = [4 * numbers, this.#device.largestTensor];
    return bytes <= most || refuse(`${bytes} bytes of ${what} are more than the ${most} that the GPU takes`);
  }

  /** The result of `work`, or undefined where it failed: then what it has written is not to be used. */
  async #attempt<T>(
    part: string,
    options: WorkOptions,
    work: (tensors: Tensors) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#gone) return undefined;
    const tensors = new Tensors(this.#backend);
    try {
      this.#device.check();
      const found = await work(tensors);
      this.#device.check();
      return found;
    } catch (error) {
      options.signal?.throwIfAborted();
      const lost = await this.#device.whenLost();
      const why = lost === undefined ? (error as Error).message : `the GPU was lost: ${lost}`;
      this.#note(`${part} computed on WASM, as is all that follows: ${why}`);
      this.#gone = true;
      return undefined;
    } finally {
      tensors.free();
    }
  }

  /** True where `work` went well: then out has the numbers that it read; if not, out is as it was. */
  async #fill(
    part: string,
    out: Matrix,
    options: WorkOptions,
    work: (tensors: Tensors) => Promise<RealArray>,
  ): Promise<boolean> {
    const values = await this.#attempt(part, options, work);
    if (values) out.set(values);
    return values !== undefined;
  }
}

/** Rows x that are spread out together, and numbers that they may then have. */
const BLOCK_ROWS = 256;
const MOST_SPREAD = 2 ** 24;
/** A pattern has up to three numbers for an entry, and one for a row or column. */
const LISTS = 4;

const entriesIn = ({ start }: Csr, from: number, to: number): number => start.view()[to] - start.view()[from];

/** Copies of rows, outside the core. */
function entriesOf({ start, column, value }: Csr, from: number, to: number) {
  const starts = start.view().subarray(from, to + 1);
  const [first, end] = [starts[0], starts[to - from]];
  return {
    rowStart: Int32Array.from(starts, (at) => at - first),
    columnIndex: Int32Array.from(column.view().subarray(first, end)),
    values: value.view().slice(first, end),
  };
}

/**
 * Covariances with points z, which stay on the device. A block of rows x is spread out into X' [D, block], and each z is multiplied
 * with it. Both triangles of X X' are made: there are no views of columns.
 */
class KernelRows {
  readonly #backend: Backend;
  readonly #z: SparseTensor;
  readonly #all: IndexTensor;
  readonly #squares: Tensor;
  readonly #kernel: Kernel;
  readonly #hyper: Tensor;
  /** Rows x that are made together. */
  readonly blockRows: number;

  constructor({ backend, largestTensor }: OpenDevice, { x, squares }: Points, kernel: Kernel, tensors: Tensors) {
    const { rows, columns } = x;
    const { rowStart, columnIndex, values } = entriesOf(x, 0, rows);
    this.#backend = backend;
    this.#z = tensors.keep(backend.sparse({ rows, columns, rowStart, columnIndex, values }));
    this.#all = tensors.keep(backend.indices(rows));
    backend.writeIndices(this.#all, Int32Array.from(rowStart.subarray(0, rows).keys()));
    this.#squares = tensors.upload(squares);
    this.#kernel = kernel;
    this.#hyper = tensors.tensor(1, 3, kernel.logs[0]);
    const spread = Math.min(MOST_SPREAD, largestTensor / 4 / LISTS);
    this.blockRows = Math.max(1, Math.min(BLOCK_ROWS, Math.floor(spread / Math.max(columns, rows))));
  }

  /** Numbers in the largest tensor that it needs at least. */
  static numbers(z: Csr): number {
    return Math.max(entriesIn(z, 0, z.rows) + z.rows + 1, LISTS * z.columns);
  }

  /** out [to - from, M] = k(x_i, z_j) for at most `blockRows` rows x. */
  write(points: Points, from: number, to: number, out: Tensor): void {
    const backend = this.#backend;
    const count = to - from;
    const tensors = new Tensors(backend);
    try {
      const spread = spreadOut(backend, points.x, from, to, tensors);
      const transposed = tensors.tensor(this.#z.rows, count); // Z X'
      backend.sparseTimes(this.#z, this.#all, spread, transposed);
      const products = tensors.tensor(count, this.#z.rows);
      backend.transpose(transposed, products);
      const rowSquares = tensors.upload(points.squaresOf(from, to));
      const terms = termsOf(this.#kernel.choice.name);
      backend.covariance({ terms, products, rowSquares, columnSquares: this.#squares, hyper: this.#hyper }, out);
    } finally {
      tensors.free();
    }
    backend.flush?.();
  }
}

/** X' [D, to - from], dense. A pattern is listed by its columns: only those that there are cost something. */
function spreadOut(backend: Backend, x: Csr, from: number, to: number, tensors: Tensors): Tensor {
  const count = to - from;
  const { rowStart, columnIndex, values } = entriesOf(x, from, to);
  const pattern = tensors.keep(backend.pattern(x.columns, { rowStart, labelIndex: columnIndex }));
  const identity = tensors.tensor(count, count);
  backend.addDiagonal(identity, tensors.tensor(1, count, new Float32Array(count).fill(1)));
  const spread = tensors.tensor(x.columns, count);
  backend.patternTransposeTimes(pattern, tensors.tensor(1, values.length, values), identity, spread);
  return spread;
}
