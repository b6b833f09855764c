// The sparse, additive form on points: a linear part through the features, a kernel part through inducing inputs, or
// one of them. With f = [phi ; x] and the solution C, W of ridge.ts,
//
//     s = f W + mu      h = f C f'      at a new point v = 1 + h
//     left out:  s_i = (s_i - h_i y_i) / (1 - h_i),   v_i = 1 / (1 - h_i)
//
// Left out, the point's own part h_i (y_i - mu) of s_i - mu is taken away and the rest scaled up; mu stays, and its
// terms cancel. v is in units of the noise.

import { sparseTimes } from "../core/csr.ts";
import { combine, gemm, rowSums } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { type Matrix, matrix, matrixFrom, type RealArray, Scope } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import { pause } from "../core/progress.ts";
import { type Sign, sparseQuadratic } from "../core/sums.ts";
import type { ClosedDevice } from "./device/closed.ts";
import type { FeatureDeviceWalk } from "./device/features.ts";
import type { InducingFeatures } from "./inducing.ts";
import { allPoints, blocksOf, type LeaveOneOut, type LeftOutBlock, type WalkOptions } from "./leaveoneout.ts";
import type { Points } from "./points.ts";
import type { RidgeSolution } from "./ridge.ts";
import type { FeatureBlock, Totals } from "./totals.ts";

/** Points whose features are made together. */
export const BLOCK_ROWS = 1024;

/** Which parts the form has. */
export interface SparseFeatures {
  readonly inducing?: InducingFeatures | undefined;
  readonly linear: boolean;
  /** What makes the features of inducing inputs, if not the core. */
  readonly device?: ClosedDevice | undefined;
}

/** Of a walk over features. */
export interface FeatureWalkOptions extends WalkOptions {
  /** Wants phi' phi of each block too, where a device can make it. */
  readonly squares?: boolean;
}

/** Gives `work` the features of the points a block at a time, and others a turn in between. */
export interface FeatureWalk {
  readonly points: number;
  forBlocks(stage: string, work: (block: FeatureBlock) => void, options?: FeatureWalkOptions): Promise<void>;
}

/** The features of points, made anew in every walk. */
export function featuresOf({ inducing, linear, device }: SparseFeatures, points: Points): FeatureWalk {
  const forBlocks: FeatureWalk["forBlocks"] = async (stage, work, options = {}) => {
    const blocks = blocksOf(options.ranges ?? allPoints(points.rows), BLOCK_ROWS);
    const scope = new Scope();
    try {
      const features = inducing && scope.keep(new BlockFeatures(inducing, points, device, options));
      for (const [number, { from, to }] of blocks.entries()) {
        await pause(options, stage, number / blocks.length);
        const made = await features?.make(from, to);
        work({ ...made, from, to, points: linear ? points : undefined });
      }
    } finally {
      scope.free();
    }
  };
  return { points: points.rows, forBlocks };
}

/** Features of inducing inputs in one walk: room for a block of them, and the device that makes them where it can. */
class BlockFeatures {
  readonly #inducing: InducingFeatures;
  readonly #points: Points;
  readonly #options: FeatureWalkOptions;
  readonly #scope = new Scope();
  readonly #device: FeatureDeviceWalk | undefined;
  readonly #room: { phi: Matrix; work: Matrix };
  /** For phi' phi. */
  readonly #square: Matrix | undefined;

  constructor(
    inducing: InducingFeatures,
    points: Points,
    device: ClosedDevice | undefined,
    options: FeatureWalkOptions,
  ) {
    this.#inducing = inducing;
    this.#points = points;
    this.#options = options;
    const { core, precision, rows } = points.x;
    const make = (count: number): Matrix => this.#scope.keep(matrix(core, count, inducing.count, precision));
    const count = Math.min(BLOCK_ROWS, rows);
    try {
      this.#device = device && this.#scope.keep(device.features.walk(inducing));
      this.#room = { phi: make(count), work: make(count) };
      this.#square = device && options.squares ? make(inducing.count) : undefined;
    } catch (error) {
      this.free();
      throw error;
    }
  }

  async make(from: number, to: number): Promise<Pick<FeatureBlock, "phi" | "square">> {
    const phi = this.#room.phi.rowRange(0, to - from);
    const onDevice = await this.#device?.features(this.#points, from, to, phi, this.#options);
    if (!onDevice) this.#inducing.block(this.#points, from, to, phi, this.#room.work.rowRange(0, to - from));
    const square = this.#square;
    if (square && (await this.#device?.square(phi, square, this.#options))) return { phi, square };
    return { phi };
  }

  free(): void {
    this.#scope.free();
  }
}

/** Features that are in memory already, one point a row. */
export function featuresIn(phi: Matrix): FeatureWalk {
  const forBlocks: FeatureWalk["forBlocks"] = async (stage, work, options = {}) => {
    const blocks = blocksOf(options.ranges ?? allPoints(phi.rows), BLOCK_ROWS);
    for (const [number, { from, to }] of blocks.entries()) {
      await pause(options, stage, number / blocks.length);
      work({ from, to, phi: phi.rowRange(from, to) });
    }
  };
  return { points: phi.rows, forBlocks };
}

/** Adds points with their labels to the sums (or to totals alone), or takes them away. */
export async function learnPoints(
  totals: Totals,
  features: FeatureWalk,
  labels: Pattern,
  options: WalkOptions & { sign?: Sign } = {},
): Promise<void> {
  const { sign = 1, ...walk } = options;
  const add = (block: FeatureBlock): void => totals.add(block, labels, sign);
  await features.forBlocks("sums", add, { ...walk, squares: true });
}

/** out = s [to - from, K] of a block. */
export function blockScores(solution: RidgeSolution, block: FeatureBlock, out: Matrix): Matrix {
  const { from, to, phi, points } = block;
  const { mean, weights } = solution;
  const kernel = phi?.columns ?? 0;
  if (phi) gemm(phi, weights.rowRange(0, kernel), out);
  if (points) {
    const linear = weights.rowRange(kernel, weights.rows);
    sparseTimes(points.x, linear, out, { from, to, accumulate: phi !== undefined });
  }
  return combine("add", out, mean, out);
}

/** h of each point of a block: phi C phi' + 2 x C phi' + x C x'. */
export function blockLeverages(solution: RidgeSolution, block: FeatureBlock): Float64Array {
  const { from, to, phi, points } = block;
  const { weights, inverse } = solution;
  if (inverse === undefined)
    throw new ArgumentError("solution", "found one without its inverse, expected it for variances");
  const { core, precision } = weights;
  const kernel = phi?.columns ?? 0;
  const linear = weights.rows - kernel;
  const leverages = new Float64Array(to - from);
  const addAll = (values: RealArray, factor: number): void => {
    for (let i = 0; i < leverages.length; i++) (leverages[i] as number) += factor * (values[i] as number);
  };
  const scope = new Scope();
  try {
    const sums = scope.keep(matrix(core, 1, to - from, precision));
    if (phi) {
      // phi C phi' / 2 + x C phi', doubled.
      const half = gemm(
        phi,
        inverse.block(0, 0, kernel, kernel),
        scope.keep(matrix(core, to - from, phi.columns, precision)),
        {
          alpha: 0.5,
        },
      );
      if (points)
        sparseTimes(points.x, inverse.block(kernel, 0, linear, kernel), half, { from, to, accumulate: true });
      addAll(rowSums(half, sums, phi).view(), 2);
    }
    if (points) {
      const c = inverse.block(kernel, kernel, linear, linear);
      addAll(sparseQuadratic(points.x, c, sums, { from, to }).view(), 1);
    }
    return leverages;
  } finally {
    scope.free();
  }
}

/** Scores of learned points become those with each point left out: (s - h y) / (1 - h). */
function leaveOut(scores: Matrix, leverages: Float64Array, labels: Pattern, from: number): void {
  const { core, precision, rows, columns } = scores;
  const inverses = leverages.map((leverage) => 1 / (1 - leverage));
  const factors = matrixFrom(core, rows, 1, inverses, precision);
  combine("multiply", scores, factors, scores);
  factors.free();
  const starts = labels.start.view();
  const ids = labels.column.view();
  const elements = scores.view();
  for (let i = 0; i < rows; i++) {
    const own = (leverages[i] as number) * (inverses[i] as number);
    for (let e = starts[from + i] as number; e < (starts[from + i + 1] as number); e++)
      (elements[i * columns + (ids[e] as number)] as number) -= own;
  }
}

/** Left-out scores of the points that solutions were learned from, for several solutions in one walk. */
export async function forLeftOutBlocks(
  solutions: readonly RidgeSolution[],
  features: FeatureWalk,
  labels: Pattern,
  stage: string,
  work: (block: LeftOutBlock, solution: number) => void,
  options: WalkOptions = {},
): Promise<void> {
  const first = solutions[0];
  if (first === undefined) return;
  const { core, precision } = first.weights;
  const room = matrix(core, Math.min(BLOCK_ROWS, features.points), labels.columns, precision);
  const eachSolution = (block: FeatureBlock): void => {
    const { from, to } = block;
    for (const [number, solution] of solutions.entries()) {
      const scores = blockScores(solution, block, room.rowRange(0, to - from));
      const leverages = blockLeverages(solution, block);
      leaveOut(scores, leverages, labels, from);
      work({ from, to, scores, variances: leverages.map((leverage) => 1 / (1 - leverage)) }, number);
    }
  };
  try {
    await features.forBlocks(stage, eachSolution, options);
  } finally {
    room.free();
  }
}

/** Left-out scores of one solution. */
export function leaveOneOutOf(solution: RidgeSolution, features: FeatureWalk, labels: Pattern): LeaveOneOut {
  return {
    ranges: allPoints(features.points),
    labels: labels.columns,
    mean: solution.mean,
    forBlocks: (stage, work, options) => forLeftOutBlocks([solution], features, labels, stage, work, options),
  };
}
