// Optimisers, each one object: what it keeps beside a parameter, and how a gradient moves the parameter. They are made of a
// backend's operations and so run on every device; one that wants a kernel of its own adds an operation, as Adam has.

import type { AdamState, RowSchedule } from "../core/adam.ts";
import type { Backend, RowSteps, SparseTensor, Tensor } from "./backend.ts";

/** Its length, and which it is, from 1. */
export interface OptimiserStep {
  rate: number;
  step: number;
}

/** Ascent on parameters one at a time; State is tensors of the parameter's shape, by name. */
export interface Optimiser<State extends Record<keyof State, Tensor>> {
  /** The state of a parameter at the start. */
  init(backend: Backend, parameter: Tensor): State;
  /** Moves the parameter one step up its gradient. */
  update(backend: Backend, parameter: Tensor, gradient: Tensor, state: State, step: OptimiserStep): void;
  /**
   * Steps that touch only the rows of a batch's features, where there are such steps: the same numbers in less time. `inverse` [1,1]
   * is 1 over the prior's variance.
   */
  rowSteps?(
    backend: Backend,
    x: SparseTensor,
    weights: Tensor,
    state: State,
    inverse: Tensor,
    schedule: RowSchedule,
  ): RowSteps | undefined;
}

export const adam: Optimiser<AdamState<Tensor>> = {
  init: (backend, { rows, columns }) => ({
    first: backend.tensor(rows, columns),
    second: backend.tensor(rows, columns),
  }),
  update: (backend, parameter, gradient, state, step) => backend.adam(parameter, gradient, state, step),
  rowSteps: (backend, ...steps) => backend.rowSteps?.(...steps),
};
