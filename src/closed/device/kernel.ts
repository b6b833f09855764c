// Kernel rows on a device: the covariance of inner products and squared lengths.

import type { Backend, Tensor } from "../../backend/backend.ts";
import { termsOf } from "../../model/kernels/index.ts";
import type { Kernel } from "../kernel.ts";
import type { Points } from "../points.ts";
import { type DeviceParts, type Tensors, withTensors } from "./parts.ts";
import { RowProducts } from "./rows.ts";

/** out_ij = k(x_i, z_j) from x_i.z_j, |x_i|^2 and |z_j|^2. */
export type KernelMap = (products: Tensor, rowSquares: Tensor, columnSquares: Tensor, out: Tensor) => void;

export function kernelOn(backend: Backend, kernel: Kernel, tensors: Tensors): KernelMap {
  const terms = termsOf(kernel.choice.name);
  const hyper = tensors.keep(backend.tensor(1, 3, kernel.logs));
  return (products, rowSquares, columnSquares, out) =>
    backend.covariance({ terms, products, rowSquares, columnSquares, hyper }, out);
}

/** Rows of the kernel matrix of points with themselves. */
export class KernelRows {
  readonly #backend: Backend;
  readonly #points: Points;
  readonly #source: RowProducts;
  readonly #map: KernelMap;
  readonly #squares: Tensor;

  constructor(parts: DeviceParts, points: Points, kernel: Kernel, tensors: Tensors) {
    const { backend } = parts;
    this.#backend = backend;
    this.#points = points;
    this.#source = new RowProducts(parts, points.x, tensors);
    this.#map = kernelOn(backend, kernel, tensors);
    this.#squares = tensors.keep(backend.tensor(1, points.rows, points.squares.toArray()));
  }

  /** Rows that are made together. */
  get blockRows(): number {
    return this.#source.blockRows;
  }

  /** out [to - from, N] = rows of K, but for its diagonal, where rounding may have made a distance of what is none. */
  write(from: number, to: number, out: Tensor): void {
    withTensors(this.#backend, (tensors) => {
      const { x } = this.#points;
      const products = tensors.keep(this.#backend.tensor(to - from, x.rows));
      this.#source.write(x, from, to, products);
      const own = this.#backend.tensor(1, to - from, this.#points.squaresOf(from, to).toArray());
      this.#map(products, tensors.keep(own), this.#squares, out);
    });
  }
}
