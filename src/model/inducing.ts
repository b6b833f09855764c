// The inducing inputs Z, in the paper's two forms: combinations of a few basis vectors, or free.

import type { Backend, Tensor } from "../backend/backend.ts";
import type { Batch } from "./batch.ts";
import type { ModelShape } from "./shape.ts";

/** Z as the kernel sees it: through inner products. */
export interface InducingInputs {
  /** Lz = Z Z' [M,M],  Lx = X_b Z' [B,M] */
  innerProducts(z: Tensor, batch: Batch, lz: Tensor, lx: Tensor): void;
  /** out = d bound / d z, from the gradients by Lz (symmetric) and Lx. */
  gradient(z: Tensor, batch: Batch, dLz: Tensor, dLx: Tensor, out: Tensor): void;
  free(): void;
}

/** Z = A Xtilde: Lz = A G A' with G = Xtilde Xtilde',  Lx = (X_b Xtilde') A'. An orthonormal basis has G = I: give none. */
export function subspaceInputs(
  backend: Backend,
  shape: ModelShape,
  basisGram: Tensor | undefined,
): InducingInputs {
  const turned = basisGram && backend.tensor(shape.inducing, shape.rank);
  /** A G */
  const timesGram = (a: Tensor): Tensor => {
    if (basisGram === undefined || turned === undefined) return a;
    backend.gemm(a, basisGram, turned);
    return turned;
  };
  return {
    innerProducts(a, batch, lz, lx) {
      if (basisGram === undefined) backend.syrk(a, lz);
      else backend.gemm(timesGram(a), a, lz, { transposeB: true });
      backend.gemm(batch.projected as Tensor, a, lx, { transposeB: true });
    },
    // dA = (dLz + dLz') A G + dLx' (X_b Xtilde')
    gradient(a, batch, dLz, dLx, out) {
      backend.gemm(dLz, timesGram(a), out, { alpha: 2 });
      backend.gemm(dLx, batch.projected as Tensor, out, { transposeA: true, beta: 1 });
    },
    free() {
      if (turned !== undefined) backend.free(turned);
    },
  };
}

/** Z itself, kept as Z' [D,M]: Lz = Z Z',  Lx = X_b Z'. */
export function freeInputs(backend: Backend): InducingInputs {
  return {
    innerProducts(z, batch, lz, lx) {
      backend.syrk(z, lz, { transpose: true });
      backend.sparseTimes(batch.x, batch.rows, z, lx);
    },
    // dZ' = Z' (dLz + dLz') + X_b' dLx
    gradient(z, batch, dLz, dLx, out) {
      backend.gemm(z, dLz, out, { alpha: 2 });
      backend.sparseTransposeTimes(batch.x, batch.rows, dLx, out);
    },
    free() {},
  };
}
