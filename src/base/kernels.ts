// Kernels by name: k(x, z) = a x.z (linear), v g(|x - z|^2 / l^2) (stationary), or the sum of both. Hyper-parameters are kept as
// log a, log v, log l. Everything that has the name of a kernel in it reads this table. Stationary kernels are in the order of the
// numbers by which assembly/stationary.ts and shaders/covarianceOf.wgsl know them, from 1.

import { deterministicExp } from "./math.ts";
import type { Fields, TensorReader } from "./tensors.ts";

export const stationaryNames = ["se", "matern32", "matern52"] as const;
export type StationaryName = (typeof stationaryNames)[number];

/** The terms of a covariance k(x, z) = a x.z + v g(|x - z|^2 / l^2). */
export interface CovarianceTerms {
  linear: boolean;
  stationary?: StationaryName | undefined;
}

/** The terms as one number: 1 for the linear one, twice its own number for the stationary one. */
export function termsCode({ linear, stationary }: CovarianceTerms): number {
  return (linear ? 1 : 0) + (stationary === undefined ? 0 : 2 * (stationaryNames.indexOf(stationary) + 1));
}

/** v g(t) with t = |x - z|^2 / l^2 and g(0) = 1. */
export interface StationaryKernel {
  /** g(t) */
  value(t: number): number;
  /** -2 g'(t): the derivative of g by log l is t times it, the one by |x - z|^2 is -1 / 2 l^2 times it. */
  slope(t: number): number;
  /** log v and log l at the start of a training. */
  readonly start: readonly [logVariance: number, logLength: number];
}

/** Squared exponential (radial basis function): g(t) = exp(-t / 2), the smoothest of all. */
const se = (t: number): number => deterministicExp(-t / 2);

/** Matérn with nu = 3/2: g = (1 + u) exp(-u), u = sqrt(3 t): functions that have one derivative. */
function matern32(t: number): number {
  const u = Math.sqrt(3 * t);
  return (1 + u) * deterministicExp(-u);
}

/** Matérn with nu = 5/2: g = (1 + u + u^2 / 3) exp(-u), u = sqrt(5 t): functions that have two derivatives. */
function matern52(t: number): number {
  const u = Math.sqrt(5 * t);
  return (1 + u + (u * u) / 3) * deterministicExp(-u);
}

/** By name, apart from the slopes, which the edge does without. */
const values: Record<StationaryName, (t: number) => number> = { se, matern32, matern52 };

/** The stationary kernels; tests compare the functions of each device with them. */
export const stationary: Record<StationaryName, StationaryKernel> = {
  // Wide, with the slope of the linear kernel: v = l^2.
  se: { value: se, slope: se, start: [2, 1] },
  // As wide as the squared exponential where it matters: rows of unit length are at most 2 apart.
  matern32: { value: matern32, slope: (t) => 3 * deterministicExp(-Math.sqrt(3 * t)), start: [2, 1] },
  matern52: {
    value: matern52,
    slope(t) {
      const u = Math.sqrt(5 * t);
      return (5 / 3) * (1 + u) * deterministicExp(-u);
    },
    start: [2, 1],
  },
};

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

/** Only the linear term is there: then the latent functions are linear, and so may be their mean. */
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
  const value = values[terms.stationary];
  return {
    covariance(product, xSquare, zSquare) {
      const distance = Math.max(0, xSquare + zSquare - 2 * product);
      return slope * product + v * value(distance / (l * l));
    },
    own: (xSquare) => slope * xSquare + v,
  };
}

/** Hyper-parameters of a file lie below it, and above its inverse: no covariance overflows. */
const LARGEST_HYPER = 1e36;

/** The kernel that the fields of a file name, with its hyper-parameters. */
export function kernelFrom(
  reader: TensorReader,
  about: Fields,
): ScalarKernel & { readonly name: KernelName; readonly linear: boolean } {
  const name = reader.word(about, "kernel", kernelNames);
  const hyper = reader.numbers(about, "hyper", 3, 1 / LARGEST_HYPER, LARGEST_HYPER);
  return { ...scalarKernel(name, hyper as [number, number, number]), name, linear: isLinear(name) };
}
