// The inverse of a symmetric positive definite matrix on a device, and products with it. It stays there; the matrix of the
// core is as it was, so that the core can begin anew where the device fails.

import type { Backend, Tensor } from "../../backend/backend.ts";
import type { Precision } from "../../core/core.ts";
import type { Matrix } from "../../core/matrix.ts";
import { pause, type WorkOptions } from "../../core/progress.ts";
import { type DeviceParts, Tensors } from "./parts.ts";

/** inverse(A) on a device. Each part says whether it was done; if not, it is the core's to do. */
export interface DeviceInverse {
  /** out = inverse(A) right */
  times(right: Matrix, out: Matrix, options: WorkOptions): Promise<boolean>;
  /** out = inverse(A), both triangles. */
  read(out: Matrix, options: WorkOptions): Promise<boolean>;
  free(): void;
}

/** Inverses on a device. */
export interface InverseDevice {
  /** What it computes in. */
  readonly precision: Precision;
  /** From the lower triangle of A; nothing where the core has to do it. */
  invert(a: Matrix, options: WorkOptions): Promise<DeviceInverse | undefined>;
}

const PART = "the factorisation is";

/** Whether a matrix of n x n numbers fits. */
export const takesSquare = (parts: DeviceParts, precision: Precision, n: number): boolean =>
  parts.takes(PART, precision, "a matrix", n ** 2);

/** The inverse from the lower triangle, which becomes its factor; nothing where it is not positive definite. */
export async function inverseOf(
  backend: Backend,
  square: Tensor,
  tensors: Tensors,
  options: WorkOptions,
): Promise<Tensor | undefined> {
  await pause(options, "inverse", 0);
  const inverse = tensors.keep(backend.tensor(square.rows, square.rows));
  backend.factorise(square, 1);
  backend.inverseFromFactor(square, inverse, 1);
  const { raised, failed } = await backend.factorisationReport();
  return raised > 0 || failed >= 0 ? undefined : inverse;
}

export function inverseOn(parts: DeviceParts): InverseDevice {
  const { backend } = parts;
  return {
    precision: backend.precision,
    async invert(a, options) {
      if (!takesSquare(parts, a.precision, a.rows)) return undefined;
      const own = new Tensors(backend);
      const inverse = await parts.attempt(PART, options, async (tensors) => {
        const square = tensors.keep(backend.tensor(a.rows, a.rows, a.toArray()));
        return await inverseOf(backend, square, own, options);
      });
      if (inverse) return new Inverse(parts, inverse, own);
      own.free();
      return undefined;
    },
  };
}

class Inverse implements DeviceInverse {
  readonly #parts: DeviceParts;
  readonly #inverse: Tensor;
  readonly #tensors: Tensors;

  constructor(parts: DeviceParts, inverse: Tensor, tensors: Tensors) {
    this.#parts = parts;
    this.#inverse = inverse;
    this.#tensors = tensors;
  }

  times(right: Matrix, out: Matrix, options: WorkOptions): Promise<boolean> {
    const { backend } = this.#parts;
    return this.#parts.fill("products with the inverse are", out, options, async (tensors) => {
      const product = tensors.keep(backend.tensor(out.rows, out.columns));
      const b = tensors.keep(backend.tensor(right.rows, right.columns, right.toArray()));
      backend.gemm(this.#inverse, b, product);
      return await backend.read(product);
    });
  }

  read(out: Matrix, options: WorkOptions): Promise<boolean> {
    return this.#parts.fill(PART, out, options, () => this.#parts.backend.read(this.#inverse));
  }

  free(): void {
    this.#tensors.free();
  }
}
