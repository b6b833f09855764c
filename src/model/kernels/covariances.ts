// The covariances that the model is made of, from inner products, and their gradients:
//
//   Kz = k(Z,Z)     Kx = k(X_b,Z)     kxx_i = k(x_i,x_i) = a |x_i|^2 + v
//
// with k(x, z) = a x.z + v g(|x - z|^2 / l^2), of the terms that the kernel has.

import type { Backend, CovarianceInputs, Tensor } from "../../backend/backend.ts";
import type { CovarianceTerms } from "../../core/stationary.ts";
import type { LatentShape } from "../shape.ts";
import { firstPart, rowOf } from "../views.ts";
import { termsOf } from "./index.ts";

/** The places of log a and log v in the hyper-parameters. */
const [SLOPE, VARIANCE] = [0, 1];

export class Covariances {
  /** Lz [M,M], Lx [B,M]: inner products, written by the inducing inputs. */
  readonly lz: Tensor;
  lx: Tensor;
  /** Kz [M,M], Kx [B,M], kxx [1,B] */
  readonly kz: Tensor;
  kx: Tensor;
  kxx: Tensor;
  /** |z_j|^2 [1,M] */
  readonly #zz: Tensor;
  /** a, v, l [1,3] */
  readonly #plain: Tensor;
  readonly #backend: Backend;
  readonly #shape: LatentShape;
  readonly #terms: CovarianceTerms;
  /** Room for a full batch. */
  readonly #room: { lx: Tensor; kx: Tensor; kxx: Tensor };
  #forGradients: ReturnType<typeof gradientRoom> | undefined;

  constructor(backend: Backend, shape: LatentShape) {
    const { inducingPoints: m, batch: b } = shape;
    this.#backend = backend;
    this.#shape = shape;
    this.#terms = termsOf(shape.kernel);
    this.lz = backend.tensor(m, m);
    this.kz = backend.tensor(m, m);
    this.#room = { lx: backend.tensor(b, m), kx: backend.tensor(b, m), kxx: backend.tensor(1, b) };
    ({ lx: this.lx, kx: this.kx, kxx: this.kxx } = this.#room);
    this.#zz = backend.tensor(1, m);
    this.#plain = backend.tensor(1, 3);
  }

  #inputs(products: Tensor, rowSquares: Tensor, hyper: Tensor): CovarianceInputs {
    return { terms: this.#terms, products, rowSquares, columnSquares: this.#zz, hyper };
  }

  /** a [1,1], once the inducing inputs' covariances are there. */
  linearVariance(): Tensor {
    return rowOf(this.#backend, this.#plain, SLOPE);
  }

  /** Kz from Lz. */
  ofInducing(hyper: Tensor): void {
    const backend = this.#backend;
    backend.diagonal(this.lz, this.#zz);
    backend.covariance(this.#inputs(this.lz, this.#zz, hyper), this.kz);
    backend.map("exp", hyper, this.#plain);
  }

  /** Makes Lx, Kx and kxx those of so many points. */
  take(points: number): void {
    const { lx, kx, kxx } = this.#room;
    const m = this.#shape.inducingPoints;
    this.lx = firstPart(this.#backend, lx, points, m);
    this.kx = firstPart(this.#backend, kx, points, m);
    this.kxx = firstPart(this.#backend, kxx, 1, points);
  }

  /** Kx from Lx. */
  ofBatch(squares: Tensor, hyper: Tensor): void {
    this.#backend.covariance(this.#inputs(this.lx, squares, hyper), this.kx);
  }

  /** kxx from |x|^2. */
  own(squares: Tensor): void {
    const backend = this.#backend;
    const { linear, stationary } = this.#terms;
    if (linear) backend.combine("multiply", squares, this.linearVariance(), this.kxx);
    else backend.fill(this.kxx, 0);
    if (stationary) backend.combine("add", this.kxx, rowOf(backend, this.#plain, VARIANCE), this.kxx);
  }

  /**
   * From gradients by Kz (symmetric), Kx and kxx to those by Lz and Lx, in place, and by hyper.
   * |z_j|^2 is Lz_jj: what comes through it goes to the diagonal.
   */
  backward(squares: Tensor, hyper: Tensor, dKz: Tensor, dKx: Tensor, dkxx: Tensor, dHyper: Tensor): void {
    const backend = this.#backend;
    this.#forGradients ??= gradientRoom(backend, this.#shape);
    const { ofZ, ofX, hyperPart } = this.#forGradients;
    backend.covarianceGradient(this.#inputs(this.lz, this.#zz, hyper), dKz, ofZ.stationaryPart, ofZ.sums);
    backend.covarianceGradient(this.#inputs(this.lx, squares, hyper), dKx, ofX.stationaryPart, ofX.sums);
    backend.columnSums(ofZ.sums, dHyper);
    backend.columnSums(ofX.sums, hyperPart);
    backend.combine("add", dHyper, hyperPart, dHyper);
    if (this.#terms.stationary) {
      // By |z_j|^2: -1/2 of row and column sums for Kz, which are equal, and -1/2 of the column sums for Kx.
      backend.rowSums(ofZ.stationaryPart, ofZ.totals);
      backend.columnSums(ofX.stationaryPart, ofX.totals);
      backend.blend(-1, ofZ.totals, -0.5, ofX.totals, ofZ.totals);
      backend.addDiagonal(dKz, ofZ.totals);
    }
    this.#throughOwnVariance(squares, dkxx, dHyper, hyperPart);
  }

  /** kxx = a |x|^2 + v: log a gains a sum dkxx |x|^2, log v gains v sum dkxx. */
  #throughOwnVariance(squares: Tensor, dkxx: Tensor, dHyper: Tensor, part: Tensor): void {
    const backend = this.#backend;
    const { linear, stationary } = this.#terms;
    backend.fill(part, 0);
    if (linear) backend.rowSums(squares, rowOf(backend, part, SLOPE), dkxx);
    if (stationary) backend.rowSums(dkxx, rowOf(backend, part, VARIANCE));
    backend.combine("multiply", part, this.#plain, part);
    backend.combine("add", dHyper, part, dHyper);
  }

  free(): void {
    const { ofZ, ofX, hyperPart } = this.#forGradients ?? {};
    this.#backend.free(
      this.lz,
      this.kz,
      this.#zz,
      this.#plain,
      ...Object.values(this.#room),
      ...Object.values(ofZ ?? {}),
      ...Object.values(ofX ?? {}),
      ...(hyperPart ? [hyperPart] : []),
    );
  }
}

/** For each of Kz and Kx the stationary term's part of a gradient, rows' shares of the one by hyper, and sums. */
function gradientRoom(backend: Backend, { inducingPoints: m, batch: b }: LatentShape) {
  const of = (rows: number) => ({
    stationaryPart: backend.tensor(rows, m),
    sums: backend.tensor(rows, 3),
    totals: backend.tensor(1, m),
  });
  return { ofZ: of(m), ofX: of(b), hyperPart: backend.tensor(1, 3) };
}
