// The kernels by their definitions, with the engine's own functions, to compare with.

import { type KernelName, kernelNames } from "../../src/base/kernels.ts";

export { type KernelName, kernelNames };

/** g(r / l) of the stationary part, or undefined where there is none. */
function stationaryOf(kernel: KernelName): ((r: number) => number) | undefined {
  const [s3, s5] = [Math.sqrt(3), Math.sqrt(5)];
  switch (kernel) {
    case "linear":
      return undefined;
    case "se":
    case "linear+se":
      return (r) => Math.exp(-(r ** 2) / 2);
    case "matern32":
    case "linear+matern32":
      return (r) => (1 + s3 * r) * Math.exp(-s3 * r);
    case "matern52":
    case "linear+matern52":
      return (r) => (1 + s5 * r + (5 * r ** 2) / 3) * Math.exp(-s5 * r);
  }
}

/** Whether the kernel has a linear and a stationary term. */
export function hasTerms(kernel: KernelName): { linear: boolean; stationary: boolean } {
  return { linear: /linear/.test(kernel), stationary: stationaryOf(kernel) !== undefined };
}

/** -2 dk/dt of the stationary part at t = |x - z|^2 / l^2, with v. */
export function slopeOf(kernel: KernelName, v: number, t: number): number {
  switch (kernel) {
    case "linear":
      return 0;
    case "se":
    case "linear+se":
      return v * Math.exp(-t / 2);
    case "matern32":
    case "linear+matern32":
      return 3 * v * Math.exp(-Math.sqrt(3 * t));
    case "matern52":
    case "linear+matern52":
      return (5 / 3) * v * (1 + Math.sqrt(5 * t)) * Math.exp(-Math.sqrt(5 * t));
  }
}

/** k from x.z and |x - z|^2, with a, v, l. */
export function covarianceOf(
  kernel: KernelName,
  [a, v, l]: readonly number[],
  product: number,
  distance: number,
): number {
  const g = stationaryOf(kernel);
  const linear = hasTerms(kernel).linear ? (a as number) * product : 0;
  return linear + (g ? (v as number) * g(Math.sqrt(distance) / (l as number)) : 0);
}
