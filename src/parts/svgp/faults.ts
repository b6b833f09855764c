// Numbers that a part must not have: those that are not finite, and those too large to compute with.

import { areFinite } from "../../base/check.ts";
import { plainHyper } from "../../base/kernels.ts";
import type { RealArray } from "../../core/matrix.ts";
import { type Bounds, largest, largestColumn, largestCovariance, largestRow, maxNorm } from "../overflow.ts";
import { partArrays, type SvgpPart } from "./shape.ts";

/** The largest numbers on the way to a utility and its variance, for rows of a length. */
export function svgpBounds(model: SvgpPart): Bounds {
  const { kernel, factors: p, inducingPoints: m, mean } = model;
  const hyper = plainHyper(model.hyper);
  const z = Math.sqrt(largestColumn(model.inducingInputs, m, 2));
  const [sigma, precision] = [largest(model.sigma), largest(Float64Array.from(model.sigma, (s) => 1 / s))];
  const [labels, squares] = [largestRow(model.phi, p, 1), Math.max(1, largestRow(model.phi, p, 2))];
  const bias = largest(model.bias);
  const weights = mean === "features" ? Math.sqrt(largestColumn(model.mu, p, 2)) : largestColumn(model.mu, p, 1);
  const [kz, apart] = largestCovariance(kernel, hyper, z, z);
  return (x) => {
    const [kx, distance] = largestCovariance(kernel, hyper, x, z);
    const [kxx] = largestCovariance(kernel, hyper, x, x);
    const latentMean = (mean === "features" ? x : kx) * weights;
    // C^-1 is at most 1 / sigma.
    const explained = m * Math.max(kx * kx, kz + sigma) * precision;
    return [distance, apart, latentMean, (kxx + explained) * squares, latentMean * labels + bias];
  };
}

/** Logarithms of hyper-parameters beyond it have no exponential in single precision. */
const MOST_HYPER = 80;

/** A fault, as an error names it. */
export interface SvgpFault {
  found: string;
  expected: string;
}

/** A fault of log a, log v, log l, if there is one. */
export function hyperFault(hyper: RealArray): SvgpFault | undefined {
  if (largest(hyper) <= MOST_HYPER) return undefined;
  const expected = `logarithms from -${MOST_HYPER} to ${MOST_HYPER}`;
  return { found: `hyper-parameters ${hyper.join(", ")}`, expected };
}

/** A fault of the numbers, if there is one. */
export function svgpFault(part: SvgpPart): SvgpFault | undefined {
  const wild = partArrays.find((name) => !areFinite(part[name]));
  if (wild) return { found: `a number in ${wild} that is not finite`, expected: "finite numbers" };
  if (part.sigma.some((value) => !(value > 0)))
    return { found: "a sigma that is not above 0", expected: "positive numbers" };
  const fault = hyperFault(part.hyper);
  if (fault || maxNorm([svgpBounds(part)]) > 0) return fault;
  return { found: "numbers too large to compute with", expected: "ones of a moderate size" };
}
