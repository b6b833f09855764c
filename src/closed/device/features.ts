// Features of inducing inputs on a device, phi = inverse(L) k(Z, x), and the products phi' phi of a block of points. Both
// are read back: the core adds the products up in double precision, and phi to what goes by labels.

import type { Backend, Tensor } from "../../backend/backend.ts";
import type { Matrix } from "../../core/matrix.ts";
import type { WorkOptions } from "../../core/progress.ts";
import type { InducingFeatures, InducingInputs } from "../inducing.ts";
import { blocksOf } from "../leaveoneout.ts";
import type { Points } from "../points.ts";
import { type KernelMap, kernelOn } from "./kernel.ts";
import { type DeviceParts, Tensors, withTensors } from "./parts.ts";
import { numbersOfRows, RowProducts, uploadRows } from "./rows.ts";

/** One walk over points. Each part says whether it was done; if not, it is the core's to do. */
export interface FeatureDeviceWalk {
  /** out [to - from, M] = phi of the points */
  features(points: Points, from: number, to: number, out: Matrix, options: WorkOptions): Promise<boolean>;
  /** out [M,M] = phi' phi */
  square(phi: Matrix, out: Matrix, options: WorkOptions): Promise<boolean>;
  free(): void;
}

/** Features on a device. */
export interface FeatureDevice {
  walk(inducing: InducingFeatures): FeatureDeviceWalk;
}

const FEATURES = "kernel features are";
const PRODUCTS = "products of kernel features are";

export const featuresOn = (parts: DeviceParts): FeatureDevice => ({
  walk: (inducing) => new Walk(parts, inducing),
});

/** Products of rows with Z [to - from, M], and the squared lengths of what was multiplied [1, to - from]. */
interface ProductsOn {
  write(points: Points, from: number, to: number, out: Tensor, squares: Tensor): void;
  readonly squares: Tensor; // |z|^2 [1,M]
}

/** What stays on the device during a walk. */
interface Held {
  readonly source: ProductsOn;
  readonly map: KernelMap;
  readonly whitening: Tensor;
}

class Walk implements FeatureDeviceWalk {
  readonly #parts: DeviceParts;
  readonly #inducing: InducingFeatures;
  readonly #tensors: Tensors;
  #held: Held | undefined;

  constructor(parts: DeviceParts, inducing: InducingFeatures) {
    this.#parts = parts;
    this.#inducing = inducing;
    this.#tensors = new Tensors(parts.backend);
  }

  async features(
    points: Points,
    from: number,
    to: number,
    out: Matrix,
    options: WorkOptions,
  ): Promise<boolean> {
    const { inputs, count } = this.#inducing;
    const most = Math.max(numbersOf(inputs), numbersOfRows(points.x, { from, to }), (to - from) * count);
    const { backend } = this.#parts;
    if (!this.#parts.takes(FEATURES, out.precision, "a tensor", Math.max(most, count ** 2))) return false;
    return await this.#parts.fill(FEATURES, out, options, async (tensors) => {
      const { source, map, whitening } = this.#hold();
      const make = (m: number, n: number): Tensor => tensors.keep(backend.tensor(m, n));
      const [phi, k, squares] = [make(to - from, count), make(to - from, count), make(1, to - from)];
      source.write(points, from, to, phi, squares);
      map(phi, squares, source.squares, k);
      backend.gemm(k, whitening, phi, { transposeB: true });
      return await backend.read(phi);
    });
  }

  async square(phi: Matrix, out: Matrix, options: WorkOptions): Promise<boolean> {
    const { rows, columns, precision } = phi;
    const most = Math.max(rows * columns, columns ** 2);
    const { backend } = this.#parts;
    if (!this.#parts.takes(PRODUCTS, precision, "a tensor", most)) return false;
    return await this.#parts.fill(PRODUCTS, out, options, async (tensors) => {
      const product = tensors.keep(backend.tensor(columns, columns));
      backend.syrk(tensors.keep(backend.tensor(rows, columns, phi.toArray())), product, { transpose: true });
      return await backend.read(product);
    });
  }

  #hold(): Held {
    if (this.#held) return this.#held;
    const { backend } = this.#parts;
    const { inputs, kernel, whitening } = this.#inducing;
    this.#held = {
      source: sourceOn(this.#parts, inputs, this.#tensors),
      map: kernelOn(backend, kernel, this.#tensors),
      whitening: upload(backend, whitening, this.#tensors),
    };
    return this.#held;
  }

  free(): void {
    this.#tensors.free();
  }
}

const upload = (backend: Backend, m: Matrix, tensors: Tensors): Tensor =>
  tensors.keep(backend.tensor(m.rows, m.columns, m.toArray()));

/** Numbers in the largest tensor that the inducing inputs take. */
function numbersOf(inducing: InducingInputs): number {
  if ("points" in inducing) return RowProducts.numbers(inducing.points.x);
  const { inputs, basis } = inducing;
  return Math.max(inputs.rows * inputs.columns, basis ? basis.rows * basis.columns : 0);
}

function sourceOn(parts: DeviceParts, inducing: InducingInputs, tensors: Tensors): ProductsOn {
  if ("points" in inducing) return sparseOn(parts, inducing.points, tensors);
  const { inputs, basis } = inducing;
  const z = upload(parts.backend, inputs, tensors);
  const squares = tensors.keep(parts.backend.tensor(1, inputs.rows));
  parts.backend.rowSums(z, squares, z);
  return basis
    ? subspaceOn(parts.backend, upload(parts.backend, basis, tensors), z, squares, tensors)
    : denseOn(parts.backend, z, squares, tensors);
}

/** z among the rows x themselves. */
function sparseOn(parts: DeviceParts, { x, squares }: Points, tensors: Tensors): ProductsOn {
  const { backend } = parts;
  const products = new RowProducts(parts, x, tensors);
  return {
    squares: upload(backend, squares, tensors),
    write(points, from, to, out, own) {
      for (const block of blocksOf([{ from, to }], products.blockRows))
        products.write(
          points.x,
          block.from,
          block.to,
          backend.rowRange(out, block.from - from, block.to - from),
        );
      backend.write(own, points.squaresOf(from, to).view());
    },
  };
}

/** z dense, in the space of the features. */
function denseOn(backend: Backend, z: Tensor, squares: Tensor, tensors: Tensors): ProductsOn {
  const transposed = tensors.keep(backend.tensor(z.columns, z.rows)); // Z' [D,M]
  backend.transpose(z, transposed);
  return {
    squares,
    write(points, from, to, out, own) {
      withTensors(backend, (ofBlock) => {
        const { rows, all } = uploadRows(backend, points.x, ofBlock, { from, to });
        backend.sparseTimes(rows, all, transposed, out);
      });
      backend.write(own, points.squaresOf(from, to).view());
    },
  };
}

/** Below every squared length that matters, and above zero: a row of zeros stays one. */
const TINY = 1e-30;

/** z in a subspace: u = unit(V x), then u.z. */
function subspaceOn(
  backend: Backend,
  basis: Tensor,
  z: Tensor,
  squares: Tensor,
  tensors: Tensors,
): ProductsOn {
  const tiny = tensors.keep(backend.tensor(1, 1, [TINY]));
  const half = tensors.keep(backend.tensor(1, 1, [-0.5]));
  return {
    squares,
    write({ x }, from, to, out, own) {
      withTensors(backend, (ofBlock) => {
        const { rows, all } = uploadRows(backend, x, ofBlock, { from, to });
        const u = ofBlock.keep(backend.tensor(to - from, basis.columns));
        backend.sparseTimes(rows, all, basis, u);
        // 1 / length = exp(-log(squared length) / 2)
        backend.rowSums(u, own, u);
        backend.combine("add", own, tiny, own);
        backend.map("log", own, own);
        backend.combine("multiply", own, half, own);
        backend.map("exp", own, own);
        backend.combine("multiply", u, backend.reshape(own, to - from, 1), u);
        backend.rowSums(u, own, u);
        backend.gemm(u, z, out, { transposeB: true });
      });
    },
  };
}
