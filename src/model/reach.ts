// How long a row may be before a number that a prediction passes through could leave single precision. A model that reaches
// no row of unit length is refused, and so is a row beyond its model's reach: between them no finite input gives a NaN.
//
// Everything grows with |x|, so that a bound at some length holds for all shorter rows. With z the longest of the points that
// carry the model, |k(x, z)| <= a |x| |z| + v, and sums are bounded by norms (Cauchy-Schwarz), whatever their order.

import { ArgumentError } from "../core/errors.ts";
import type { RealArray } from "../core/matrix.ts";
import type { SparseRows } from "../data/dataset.ts";
import { areFinite } from "../data/finite.ts";
import { plainHyper, termsOf } from "./kernels/index.ts";
import type { ClosedModel, KernelPart, LatentModel } from "./model.ts";
import type { KernelName } from "./names.ts";

/** Numbers up to it are safe: single precision ends at 3.4e38, and roundings are left some room. */
const LARGEST = 1e36;
/** Logarithms of hyper-parameters beyond it have no exponential in single precision. */
const MOST_HYPER = 80;
/** What is said of a model that reaches nothing. */
export const TOO_LARGE: Fault = {
  found: "numbers too large to compute with",
  expected: "ones that keep every score of a unit row in single precision",
};
/** Longer than a unit row by its rounding. */
const UNIT = 1.001;
/** The lengths that are tried. */
const LENGTHS = [...Array.from({ length: 18 }, (_, i) => 10 ** (18 - i)), UNIT];

/** What the scores of a closed form are made of. */
export type ClosedNumbers = Pick<ClosedModel, "closed" | "labelMean" | "stack" | "labels">;

type Hyper = readonly [a: number, v: number, l: number];

/** The largest |k(x, z)|, and the largest of what it is made from, for rows of these lengths. */
function largestCovariance(kernel: KernelName, [a, v, l]: Hyper, x: number, z: number): [number, number] {
  const { linear, stationary } = termsOf(kernel);
  const value = (linear ? a * x * z : 0) + (stationary ? v : 0);
  const square = (x + z) * (x + z);
  return [value, stationary ? Math.max(square, square / (l * l)) : square];
}

/** The longest row for which the worst of some numbers is still safe; 0 where there is none. */
function longest(worst: (length: number) => number[]): number {
  return LENGTHS.find((length) => worst(length).every((number) => number <= LARGEST)) ?? 0;
}

/** The largest column of a matrix [rows,columns]: of its magnitudes added up, or of its squares. */
function largestColumn(values: RealArray, columns: number, power: 1 | 2): number {
  const sums = new Float64Array(columns);
  for (let start = 0; start < values.length; start += columns) {
    for (let j = 0; j < columns; j++) {
      const size = Math.abs(values[start + j] as number);
      sums[j] = (sums[j] as number) + (power === 1 ? size : size * size);
    }
  }
  return largest(sums);
}

/** The same of rows. */
function largestRow(values: RealArray, columns: number, power: 1 | 2): number {
  let most = 0;
  for (let start = 0; start < values.length; start += columns) {
    let sum = 0;
    for (let i = start; i < start + columns; i++) {
      const size = Math.abs(values[i] as number);
      sum += power === 1 ? size : size * size;
    }
    most = Math.max(most, sum);
  }
  return most;
}

/** The largest magnitude; NaN where there is one. */
function largest(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i] as number));
  return most;
}

/** The longest row that the latent functions of a model can be given. */
export function latentReach(model: LatentModel): number {
  const { kernel, factors: p, inducingPoints: m, mean } = model;
  const hyper = plainHyper(model.hyper);
  const z = Math.sqrt(largestColumn(model.inducingInputs, m, 2));
  const [sigma, precision] = [largest(model.sigma), largest(Float64Array.from(model.sigma, (s) => 1 / s))];
  const [labels, squares] = [largestRow(model.phi, p, 1), Math.max(1, largestRow(model.phi, p, 2))];
  const bias = largest(model.bias);
  const weights =
    mean === "features" ? Math.sqrt(largestColumn(model.mu, p, 2)) : largestColumn(model.mu, p, 1);
  const [kz, apart] = largestCovariance(kernel, hyper, z, z);
  return longest((x) => {
    const [kx, distance] = largestCovariance(kernel, hyper, x, z);
    const [kxx] = largestCovariance(kernel, hyper, x, x);
    const latentMean = (mean === "features" ? x : kx) * weights;
    // C^-1 is at most 1 / sigma.
    const explained = m * Math.max(kx * kx, kz + sigma) * precision;
    return [distance, apart, latentMean, latentMean * labels + bias, (kxx + explained) * squares];
  });
}

/** The longest row that the closed form of a model can be given. */
export function closedReach({ closed, labelMean, stack, labels: k }: ClosedNumbers): number {
  const mean = largest(labelMean);
  const [dual, z] =
    closed.form !== "linear"
      ? [largestColumn(closed.dual, k, 1), longestRow(closed)]
      : [Math.sqrt(largestColumn(closed.weights, k, 2)), 0];
  const project = stack ? largestColumn(stack.vectors, stack.rank, 1) : 0;
  const back = stack ? largestColumn(stack.weights, k, 1) : 0;
  return longest((x) => {
    const [kx, distance] =
      closed.form !== "linear" ? largestCovariance(closed.kernel, closed.hyper, x, z) : [x, 0];
    const score = kx * dual + mean;
    const projected = (score + mean) * project;
    return [distance, kx, score, projected, projected * back + mean];
  });
}

function longestRow({ rows: { rows, rowStart, values } }: KernelPart): number {
  let most = 0;
  for (let i = 0; i < rows; i++) most = Math.max(most, squareOf(rowStart, values, i));
  return Math.sqrt(most);
}

function squareOf(rowStart: ArrayLike<number>, values: ArrayLike<number>, row: number): number {
  let sum = 0;
  for (let e = rowStart[row] as number; e < (rowStart[row + 1] as number); e++)
    sum += (values[e] as number) * (values[e] as number);
  return sum;
}

/** What is wrong with something, as an error says it. */
export interface Fault {
  found: string;
  expected: string;
}

/** What is wrong with log a, log v, log l, if anything. */
export function hyperFault(hyper: RealArray): Fault | undefined {
  if (largest(hyper) <= MOST_HYPER) return undefined;
  const expected = `logarithms from -${MOST_HYPER} to ${MOST_HYPER}`;
  return { found: `hyper-parameters ${hyper.join(", ")}`, expected };
}

/** What is wrong with the numbers of latent functions, if anything. */
export function latentFault(model: LatentModel): Fault | undefined {
  const numbers = ["inducingInputs", "mu", "sigma", "phi", "bias", "hyper"] as const;
  const wild = numbers.find((name) => !areFinite(model[name]));
  if (wild) return { found: `a number in ${wild} that is not finite`, expected: "finite numbers" };
  if (model.sigma.some((value) => !(value > 0)))
    return { found: "a sigma that is not above 0", expected: "positive numbers" };
  return hyperFault(model.hyper) ?? (latentReach(model) > 0 ? undefined : TOO_LARGE);
}

/** |x|^2 of each row; refuses numbers that are not finite and rows beyond the reach of the model. */
export function squaresWithin(
  reach: number,
  { rows, rowStart, values }: SparseRows,
  firstRow = 0,
): Float64Array {
  return Float64Array.from({ length: rows }, (_, i) => {
    const square = squareOf(rowStart, values, i);
    if (square <= reach * reach) return square;
    throw new ArgumentError(
      "features",
      `found values too large to compute with in row ${firstRow + i}, expected a row of length ${reach} at most`,
    );
  });
}
