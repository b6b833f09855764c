// The inducing inputs Z, in the paper's two forms: combinations of a few basis vectors, or free.

import type { Backend, Tensor } from "../backend/backend.ts";
import type { Batch } from "./batch.ts";
import type { InducingName } from "./names.ts";
import type { LatentShape } from "./shape.ts";

/** Z as the kernel sees it: through inner products. `z` is what is learned of it. */
export interface InducingInputs {
  /** out = Lz = Z Z' [M,M] */
  gram(z: Tensor, out: Tensor): void;
  /** out = Lx = X_b Z' [B,M] */
  products(z: Tensor, batch: Batch, out: Tensor): void;
  /** out = d bound / d z, from the gradients by Lz (symmetric) and Lx. */
  gradient(z: Tensor, batch: Batch, dLz: Tensor, dLx: Tensor, out: Tensor): void;
  free(): void;
}

export interface InducingForm {
  /** Shape of what is learned. */
  size(shape: Pick<LatentShape, "features" | "inducingPoints" | "rank">): [rows: number, columns: number];
  create(backend: Backend, shape: LatentShape, basisGram?: Tensor): InducingInputs;
}

/** Z = A Xtilde: Lz = A G A' with G = Xtilde Xtilde',  Lx = (X_b Xtilde') A'. An orthonormal basis has G = I: give none. */
const subspace: InducingForm = {
  size: ({ inducingPoints, rank }) => [inducingPoints, rank],
  create(backend, shape, basisGram) {
    const product = basisGram && backend.tensor(shape.inducingPoints, shape.rank);
    /** A G */
    const timesGram = (a: Tensor): Tensor => {
      if (basisGram === undefined || product === undefined) return a;
      backend.gemm(a, basisGram, product);
      return product;
    };
    return {
      gram(a, out) {
        if (basisGram === undefined) backend.syrk(a, out);
        else backend.gemm(timesGram(a), a, out, { transposeB: true });
      },
      products: (a, batch, out) => backend.gemm(batch.projected as Tensor, a, out, { transposeB: true }),
      // dA = (dLz + dLz') A G + dLx' (X_b Xtilde')
      gradient(a, batch, dLz, dLx, out) {
        backend.gemm(dLz, timesGram(a), out, { alpha: 2 });
        backend.gemm(dLx, batch.projected as Tensor, out, { transposeA: true, beta: 1 });
      },
      free() {
        if (product !== undefined) backend.free(product);
      },
    };
  },
};

/** Z itself, kept as Z' [D,M]: Lz = Z Z',  Lx = X_b Z'. */
const free: InducingForm = {
  size: ({ features, inducingPoints }) => [features, inducingPoints],
  create: (backend) => ({
    gram: (z, out) => backend.syrk(z, out, { transpose: true }),
    products: (z, batch, out) => backend.sparseTimes(batch.x, batch.rows, z, out),
    // dZ' = Z' (dLz + dLz') + X_b' dLx
    gradient(z, batch, dLz, dLx, out) {
      backend.gemm(z, dLz, out, { alpha: 2 });
      backend.sparseTransposeTimes(batch.x, batch.rows, dLx, out);
    },
    free() {},
  }),
};

export const inducingForms: Record<InducingName, InducingForm> = { subspace, free };
