// Factorisations of stacks of symmetric positive definite matrices, and what is made of the factors.

import { hasShape, isStack, isVector } from "../../core/shapes.ts";
import type { FactorisationReport } from "../backend.ts";
import { product } from "./dense.ts";
import type { Block } from "./memory.ts";
import type { Operation, Recorder } from "./recorder.ts";
import { GpuTensor } from "./tensors.ts";

/** Up to here one workgroup does all of a matrix; larger ones are shared out, a dispatch a panel. */
const MIDDLE = 64;
/** As it is, and raised three times. */
const ATTEMPTS = 4;

/** Keeps count, on the device, of factorisations that did not go through at once. */
export class Factorisation {
  readonly #recorder: Recorder;
  /** Matrices raised, and number of one that failed plus 1. */
  readonly #tally: Block;

  constructor(gpu: Recorder) {
    this.#recorder = gpu;
    this.#tally = gpu.allocate(2, "the tally of factorisations");
  }

  factorise(a: GpuTensor, count: number): void {
    const gpu = this.#recorder;
    const size = isStack("a", a, count);
    if (a.length === 0) return;
    const copy = gpu.copied(a, "matrices to factorise");
    const statusBlock = gpu.allocate(count, "statuses of factorisations");
    const operands = {
      start: { block: copy, offset: 0, length: a.length },
      out: a,
      status: { block: statusBlock, offset: 0, length: count },
      tally: this.#tallied(),
    };
    const panels = Math.ceil(size / gpu.constant("cholesky", "TILE"));
    const all = { size, firstPanel: 0, endPanel: panels };
    if (size <= MIDDLE) gpu.run("cholesky", [1, 1, count], operands, { ...all, firstAttempt: 0, endAttempt: ATTEMPTS });
    else {
      for (let panel = 0; panel < panels; panel++) {
        const own = { size, firstPanel: panel, endPanel: panel + 1, firstAttempt: 0, endAttempt: 1 };
        gpu.run("cholesky", [Math.max(1, panels - panel - 1), 1, count], operands, own);
      }
      gpu.run("cholesky", [1, 1, count], operands, { ...all, firstAttempt: 1, endAttempt: ATTEMPTS });
    }
    gpu.release(copy);
    gpu.release(statusBlock);
  }

  #tallied(): { block: Block; offset: number; length: number } {
    return { block: this.#tally, offset: 0, length: 2 };
  }

  async report(): Promise<FactorisationReport> {
    const tally = this.#tallied();
    const [raised, failed] = new Uint32Array(await this.#recorder.read(tally, () => this.#recorder.clear(tally)));
    return { raised: raised as number, failed: (failed as number) - 1 };
  }
}

/** inverse(L L') = X' X with X = L^-1, for each factor of the stack. */
export const inverseFromFactor: Operation<"inverseFromFactor"> = (gpu, factor, out, count) => {
  const size = isStack("factor", factor, count);
  hasShape({ out }, factor.rows, factor.columns);
  if (factor.length === 0) return;
  const block = gpu.allocate(factor.length, "inverses of triangles");
  const x = new GpuTensor(block, factor.rows, size, 0, false);
  const blocks = Math.ceil(size / gpu.constant("solveLower", "TILE"));
  gpu.run("solveLower", [blocks, 1, count], { factor, out: x }, { size });
  const step = size * size;
  const sizes = { rows: size, columns: size, depth: size, alpha: 1, beta: 0 };
  const transposed = { aRow: 1, aColumn: size, bRow: size, bColumn: 1, symmetric: true, triangle: true };
  const stack = { count, aStack: step, bStack: step, weightsStack: 0, outStack: step, totalDepth: count * size };
  product(gpu, x, x, out, { ...sizes, ...transposed, stack });
  gpu.release(block);
};

export const logDeterminant: Operation<"logDeterminant"> = (gpu, factor, out, count) => {
  const size = isStack("factor", factor, count);
  isVector("out", out, count);
  gpu.run("logDeterminant", gpu.grid(count), { factor, out }, { count, size });
};
