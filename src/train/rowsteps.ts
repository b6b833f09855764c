// Steps on the mean's weights mu [D,P] that touch only the features of the batch, where the backend has such steps, the mean goes
// through the features and the kernel stays as it is. What comes out is the same, bit by bit: only the time is less.

import type { Backend, IndexTensor, RowSteps, SparseTensor, Tensor } from "../backend/backend.ts";
import type { Parameters } from "../model/parameters.ts";
import type { ModelShape } from "../model/shape.ts";
import { rowOf } from "../model/views.ts";
import type { FullTrainOptions } from "./options.ts";
import { cosineDecay, warmUp } from "./schedule.ts";

/** How much the KL counts in a step. */
export function klWeightAt(step: number, steps: number, options: FullTrainOptions): number {
  const { klStart, klWeight, klWarmup } = options;
  return warmUp(step, steps, klStart, klWeight, klWarmup);
}

/** Adam's step length. */
export function rateAt(step: number, steps: number, { learningRate }: FullTrainOptions): number {
  return learningRate * cosineDecay(step, steps);
}

export function hasRowSteps(backend: Backend, shape: ModelShape, { fixedKernel }: FullTrainOptions): boolean {
  return backend.rowSteps !== undefined && shape.mean === "features" && fixedKernel;
}

export class MeanRowSteps {
  readonly #backend: Backend;
  readonly #hyper: Tensor;
  /** a, v, l [1,3] and 1 / a [1,1] */
  readonly #plain: Tensor;
  readonly #inverse: Tensor;
  readonly #rows: RowSteps;

  constructor(
    backend: Backend,
    x: SparseTensor,
    parameters: Parameters,
    moments: { first: Parameters; second: Parameters },
    options: FullTrainOptions,
    steps: number,
  ) {
    this.#backend = backend;
    this.#hyper = parameters.hyper;
    this.#plain = backend.tensor(1, 3);
    this.#inverse = backend.tensor(1, 1);
    const { first, second } = moments;
    const schedule = {
      steps,
      at: (step: number) => ({ rate: rateAt(step, steps, options), pull: klWeightAt(step, steps, options) }),
    };
    const make = backend.rowSteps as NonNullable<Backend["rowSteps"]>;
    this.#rows = make.call(
      backend,
      x,
      parameters.mu,
      { first: first.mu, second: second.mu },
      this.#inverse,
      schedule,
    );
  }

  /** Before a step is computed: brings the weights of its batch up to it. */
  enter(rows: IndexTensor, step: number): void {
    this.#backend.map("exp", this.#hyper, this.#plain);
    this.#backend.map("reciprocal", rowOf(this.#backend, this.#plain, 0), this.#inverse);
    this.#rows.enter(rows, step);
  }

  step(dMean: Tensor, step: number): void {
    this.#rows.step(dMean, step);
  }

  /** Brings all weights up to so many steps. */
  settle(steps: number): void {
    this.#rows.settle(steps);
  }

  /** The weights were set to what they are after so many steps. */
  restart(steps: number): void {
    this.#rows.restart(steps);
  }

  free(): void {
    this.#rows.free();
    this.#backend.free(this.#plain, this.#inverse);
  }
}
