// The kernels by name: k(x, z) = a x.z (linear), v g(|x - z|^2 / l^2) (one of the stationary ones), or the sum of both.
// Hyper-parameters are kept as log a, log v, log l. Everything that has a name of a kernel in it reads this table.

import { type CovarianceTerms, type StationaryName, stationaryNames } from "../../core/stationary.ts";
import { deterministicExp } from "../../data/elementary.ts";
import { matern32 } from "./matern32.ts";
import { matern52 } from "./matern52.ts";
import { se } from "./se.ts";
import type { StationaryKernel } from "./stationary.ts";

const stationary: Record<StationaryName, StationaryKernel> = { se, matern32, matern52 };

export type KernelName = "linear" | StationaryName | `linear+${StationaryName}`;
export const kernelNames: readonly KernelName[] = [
  "linear",
  ...stationaryNames,
  ...stationaryNames.map((name): `linear+${StationaryName}` => `linear+${name}`),
];

/** The terms of a kernel. */
export function termsOf(kernel: KernelName): CovarianceTerms {
  return {
    linear: kernel.startsWith("linear"),
    stationary: stationaryNames.find((name) => kernel === name || kernel === `linear+${name}`),
  };
}

/** Whether only the linear term is there: then the latent functions are linear, and so may be their mean. */
export const isLinear = (kernel: KernelName): boolean => termsOf(kernel).stationary === undefined;

/** log a, log v, log l at the start of a training. */
export function hyperStart(kernel: KernelName): [number, number, number] {
  const name = termsOf(kernel).stationary;
  return name === undefined ? [0, 0, 0] : [0, ...stationary[name].start];
}

/** a, v, l from their logarithms. */
export function plainHyper(logarithms: ArrayLike<number>): [number, number, number] {
  return Array.from(logarithms, deterministicExp) as [number, number, number];
}

/** A kernel as a function of plain numbers. */
export interface ScalarKernel {
  /** k(x, z) from x.z, |x|^2 and |z|^2. */
  covariance(product: number, xSquare: number, zSquare: number): number;
  /** k(x, x) from |x|^2. */
  own(xSquare: number): number;
}

/** The kernel with these hyper-parameters (a, v, l), one pair at a time. */
export function scalarKernel(kernel: KernelName, [a, v, l]: readonly [number, number, number]): ScalarKernel {
  const terms = termsOf(kernel);
  const slope = terms.linear ? a : 0;
  if (terms.stationary === undefined)
    return { covariance: (product) => slope * product, own: (xSquare) => slope * xSquare };
  const { value } = stationary[terms.stationary];
  return {
    covariance(product, xSquare, zSquare) {
      const distance = Math.max(0, xSquare + zSquare - 2 * product);
      return slope * product + v * value(distance / (l * l));
    },
    own: (xSquare) => slope * xSquare + v,
  };
}
