// Adam as ascent, on parameters that live in a core.

import { finiteNumber, wholeNumber } from "./check.ts";
import { ArgumentError } from "./errors.ts";
import type { Matrix } from "./matrix.ts";
import { alike, hasShape } from "./shapes.ts";

/** Running means of the gradient and of its square, in the shape of the parameter. */
export interface AdamState {
  first: Matrix;
  second: Matrix;
}

/** Of one step of Adam; beta1, beta2 and epsilon are those of `ADAM` if not given. */
export interface AdamOptions {
  /** Step length. */
  rate: number;
  /** Which step this is, from 1. */
  step: number;
  beta1?: number;
  beta2?: number;
  epsilon?: number;
}

/** beta^n by repeated squaring: the host's power function is not the same everywhere. */
function power(beta: number, n: number): number {
  let result = 1;
  for (let square = beta, rest = n; rest > 0; rest = Math.floor(rest / 2), square *= square) {
    if (rest % 2 === 1) result *= square;
  }
  return result;
}

/** Adam's constants. */
export const ADAM = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;

/** A step's length and epsilon with Adam's corrections for moments that began at zero. */
export function correctedStep(options: AdamOptions): { length: number; epsilon: number } {
  const { rate, step, beta1 = ADAM.beta1, beta2 = ADAM.beta2, epsilon = ADAM.epsilon } = options;
  finiteNumber("rate", rate);
  wholeNumber("step", step, 1);
  const correction = Math.sqrt(1 - power(beta2, step));
  return { length: (rate * correction) / (1 - power(beta1, step)), epsilon: epsilon * correction };
}

/** One step up the gradient. Where the gradient is not finite nothing moves. */
export function adam(parameter: Matrix, gradient: Matrix, state: AdamState, options: AdamOptions): void {
  const { beta1 = ADAM.beta1, beta2 = ADAM.beta2 } = options;
  const { length, epsilon } = correctedStep(options);
  alike({ parameter, gradient, first: state.first, second: state.second });
  for (const [name, value] of Object.entries({ parameter, gradient, ...state })) {
    hasShape(name, value, parameter.rows, parameter.columns);
    if (!value.contiguous)
      throw new ArgumentError(name, "found rows with gaps between them, expected a contiguous matrix");
  }
  parameter.core.kernels[parameter.precision].adam(
    parameter.rows * parameter.columns,
    parameter.address,
    gradient.address,
    state.first.address,
    state.second.address,
    length,
    beta1,
    beta2,
    epsilon,
  );
}
