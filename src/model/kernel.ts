// Covariances from inner products, k(x, z) = a x.z + v exp(-|x - z|^2 / 2 l^2), and their gradients.

import type { Backend, CovarianceInputs, Tensor } from "../backend/backend.ts";
import type { ModelShape } from "./shape.ts";

export class Kernel {
  /** Lz [M,M], Lx [B,M]: inner products, written by the inducing inputs. */
  readonly lz: Tensor;
  readonly lx: Tensor;
  /** Kz [M,M], Kx [B,M], kxx [1,B] */
  readonly kz: Tensor;
  readonly kx: Tensor;
  readonly kxx: Tensor;
  /** |z_j|^2 [1,M] */
  readonly #zz: Tensor;
  readonly #ofZ: { squaredPart: Tensor; sums: Tensor; rowTotals: Tensor };
  readonly #ofX: { squaredPart: Tensor; sums: Tensor; columnTotals: Tensor };
  readonly #scale: Tensor;
  readonly #one: Tensor;
  readonly #backend: Backend;
  readonly #shape: ModelShape;

  constructor(backend: Backend, shape: ModelShape) {
    const { inducing: m, batch: b } = shape;
    this.#backend = backend;
    this.#shape = shape;
    this.lz = backend.tensor(m, m);
    this.lx = backend.tensor(b, m);
    this.kz = backend.tensor(m, m);
    this.kx = backend.tensor(b, m);
    this.kxx = backend.tensor(1, b);
    this.#zz = backend.tensor(1, m);
    this.#ofZ = {
      squaredPart: backend.tensor(m, m),
      sums: backend.tensor(m, 3),
      rowTotals: backend.tensor(1, m),
    };
    this.#ofX = {
      squaredPart: backend.tensor(b, m),
      sums: backend.tensor(b, 3),
      columnTotals: backend.tensor(1, m),
    };
    this.#scale = backend.tensor(1, 3);
    this.#one = backend.tensor(1, 3);
  }

  #inputs(products: Tensor, rowSquares: Tensor, hyper: Tensor): CovarianceInputs {
    return { kernel: this.#shape.kernel, products, rowSquares, columnSquares: this.#zz, hyper };
  }

  /** a [1,1], after forward. */
  linearVariance(): Tensor {
    return this.#backend.rowRange(this.#backend.reshape(this.#scale, 3, 1), 0, 1);
  }

  /** Kz, Kx and kxx from Lz, Lx and |x|^2. */
  forward(squares: Tensor, hyper: Tensor): void {
    const backend = this.#backend;
    backend.diagonal(this.lz, this.#zz);
    backend.covariance(this.#inputs(this.lz, this.#zz, hyper), this.kz);
    backend.covariance(this.#inputs(this.lx, squares, hyper), this.kx);
    // kxx = a |x|^2 + v, of the terms that there are
    backend.map("exp", hyper, this.#scale);
    const scale = (i: number): Tensor => backend.rowRange(backend.reshape(this.#scale, 3, 1), i, i + 1);
    if (this.#shape.kernel === "se") backend.fill(this.kxx, 0);
    else backend.combine("multiply", squares, scale(0), this.kxx);
    if (this.#shape.kernel !== "linear") backend.combine("add", this.kxx, scale(1), this.kxx);
  }

  /**
   * From gradients by Kz (symmetric), Kx and kxx to those by Lz and Lx, in place, and by hyper.
   * |z_j|^2 is Lz_jj: what comes through it goes to the diagonal.
   */
  backward(squares: Tensor, hyper: Tensor, dKz: Tensor, dKx: Tensor, dkxx: Tensor, dHyper: Tensor): void {
    const backend = this.#backend;
    backend.covarianceGradient(
      this.#inputs(this.lz, this.#zz, hyper),
      dKz,
      this.#ofZ.squaredPart,
      this.#ofZ.sums,
    );
    backend.covarianceGradient(
      this.#inputs(this.lx, squares, hyper),
      dKx,
      this.#ofX.squaredPart,
      this.#ofX.sums,
    );
    backend.columnSums(this.#ofZ.sums, dHyper);
    backend.columnSums(this.#ofX.sums, this.#one);
    backend.combine("add", dHyper, this.#one, dHyper);
    if (this.#shape.kernel !== "linear") {
      // By |z_j|^2: -1/2 of row and column sums for Kz, which are equal, and -1/2 of the column sums for Kx.
      backend.rowSums(this.#ofZ.squaredPart, this.#ofZ.rowTotals);
      backend.columnSums(this.#ofX.squaredPart, this.#ofX.columnTotals);
      backend.blend(-1, this.#ofZ.rowTotals, -0.5, this.#ofX.columnTotals, this.#ofZ.rowTotals);
      backend.addDiagonal(dKz, this.#ofZ.rowTotals);
    }
    this.#throughOwnVariance(squares, dkxx, dHyper);
  }

  /** kxx = a |x|^2 + v: log a gains a sum dkxx |x|^2, log v gains v sum dkxx. */
  #throughOwnVariance(squares: Tensor, dkxx: Tensor, dHyper: Tensor): void {
    const backend = this.#backend;
    const part = backend.reshape(this.#one, 3, 1);
    backend.fill(this.#one, 0);
    if (this.#shape.kernel !== "se") backend.rowSums(squares, backend.rowRange(part, 0, 1), dkxx);
    if (this.#shape.kernel !== "linear") backend.rowSums(dkxx, backend.rowRange(part, 1, 2));
    backend.combine("multiply", this.#one, this.#scale, this.#one);
    backend.combine("add", dHyper, this.#one, dHyper);
  }

  free(): void {
    this.#backend.free(
      this.lz,
      this.lx,
      this.kz,
      this.kx,
      this.kxx,
      this.#zz,
      this.#scale,
      this.#one,
      ...Object.values(this.#ofZ),
      ...Object.values(this.#ofX),
    );
  }
}
