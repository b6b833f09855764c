// The exact form on a device. Where it holds matrices of N x N numbers, K is made there, becomes its factor, then
//
//     C = inverse(K + lam I)      a' = Y'C - mu (C 1)'
//
// and only what is asked for comes back: the diagonal of C, the dual weights, C itself where variances are wanted. Where
// it does not, it makes the rows of K, and the core the rest.

import type { Backend, PatternTensor, Tensor } from "../../backend/backend.ts";
import { transpose } from "../../core/dense.ts";
import { type Matrix, matrix, Scope } from "../../core/matrix.ts";
import type { Pattern } from "../../core/pattern.ts";
import { pause, type WorkOptions } from "../../core/progress.ts";
import type { Kernel } from "../kernel.ts";
import { labelsFrom } from "../labels.ts";
import { allPoints, blocksOf } from "../leaveoneout.ts";
import type { Points } from "../points.ts";
import { inverseOf, takesSquare } from "./inverse.ts";
import { KernelRows } from "./kernel.ts";
import { type DeviceParts, Tensors, withTensors } from "./parts.ts";
import { RowProducts } from "./rows.ts";

/** Points with their labels, and what the posterior is made with. */
export interface ExactProblem {
  readonly points: Points;
  readonly labels: Pattern;
  readonly kernel: Kernel;
  /** What is added to each diagonal element of K: lam, or lam / w [1,N]. */
  readonly ridge: Matrix;
  /** mu [1,K] */
  readonly mean: Matrix;
}

/** Where the answers go: C_ii [1,N], a [N,K], and C [N,N] where it is wanted. */
export interface ExactAnswers {
  readonly pivots: Matrix;
  readonly dual: Matrix;
  readonly square?: Matrix | undefined;
}

/** Parts of the exact form on a device. Each says whether it was done; if not, it is the core's to do. */
export interface ExactDevice {
  /** Whether a matrix of N x N numbers fits. */
  holds(points: Points): boolean;
  /** All of it. */
  solve(problem: ExactProblem, out: ExactAnswers, options: WorkOptions): Promise<boolean>;
  /** out = K, but for its diagonal. */
  kernelRows(points: Points, kernel: Kernel, out: Matrix, options: WorkOptions): Promise<boolean>;
}

/** Numbers of a' that are made together, and labels. */
const MOST_DUAL = 2 ** 22;
const LABELS_AT_ONCE = 256;

const ROWS = "kernel rows are";
const ALL = "the exact form is";

export function exactOn(parts: DeviceParts): ExactDevice {
  const { backend } = parts;
  const takesRows = ({ x }: Points): boolean =>
    parts.takes(ROWS, x.precision, "the rows", Math.max(RowProducts.numbers(x), x.rows));
  const holds = ({ x }: Points): boolean => takesSquare(parts, x.precision, x.rows);
  return {
    holds,
    async solve(problem, out, options) {
      if (!holds(problem.points) || !takesRows(problem.points)) return false;
      const work = (tensors: Tensors) => solveOn(parts, problem, out, tensors, options);
      return (await parts.attempt(ALL, options, work)) ?? false;
    },
    async kernelRows(points, kernel, out, options) {
      if (!takesRows(points)) return false;
      const work = async (tensors: Tensors): Promise<boolean> => {
        const rows = new KernelRows(parts, points, kernel, tensors);
        const room = tensors.keep(backend.tensor(rows.blockRows, points.rows));
        for (const { from, to } of blocksOf(allPoints(points.rows), rows.blockRows)) {
          await pause(options, "kernel", from / points.rows);
          const block = backend.rowRange(room, 0, to - from);
          rows.write(from, to, block);
          out.rowRange(from, to).set(await backend.read(block));
        }
        return true;
      };
      return (await parts.attempt(ROWS, options, work)) ?? false;
    },
  };
}

async function solveOn(
  parts: DeviceParts,
  problem: ExactProblem,
  { pivots, dual, square }: ExactAnswers,
  tensors: Tensors,
  options: WorkOptions,
): Promise<boolean> {
  const { backend } = parts;
  const k = await kernelMatrixOn(parts, problem, tensors, options);
  const inverse = await inverseOf(backend, k, tensors, options);
  if (inverse === undefined) return false;
  const onDiagonal = tensors.keep(backend.tensor(1, pivots.columns));
  backend.diagonal(inverse, onDiagonal);
  pivots.set(await backend.read(onDiagonal));
  await dualOn(parts, inverse, problem, dual, options);
  square?.set(await backend.read(inverse));
  return true;
}

/** K + ridge. */
async function kernelMatrixOn(
  parts: DeviceParts,
  { points, kernel, ridge }: ExactProblem,
  tensors: Tensors,
  options: WorkOptions,
): Promise<Tensor> {
  const { backend } = parts;
  const n = points.rows;
  const k = tensors.keep(backend.tensor(n, n));
  const rows = new KernelRows(parts, points, kernel, tensors);
  for (const { from, to } of blocksOf(allPoints(n), rows.blockRows)) {
    await pause(options, "kernel", from / n);
    rows.write(from, to, backend.rowRange(k, from, to));
  }
  const noise = ridge.view();
  const own = kernel.self(points.squares.view()).map((value, i) => value + (noise[i] as number));
  const wanted = tensors.keep(backend.tensor(1, n, own));
  const change = tensors.keep(backend.tensor(1, n));
  backend.diagonal(k, change);
  backend.blend(1, wanted, -1, change, change);
  backend.addDiagonal(k, change);
  return k;
}

/** out = a, some labels at a time: row k of Y'C is the sum of the rows of C that have label k. */
async function dualOn(
  { backend, largest }: DeviceParts,
  inverse: Tensor,
  { labels, mean }: ExactProblem,
  out: Matrix,
  options: WorkOptions,
): Promise<void> {
  const n = inverse.rows;
  const own = new Tensors(backend);
  // The lists of labels may be three times as long as what they add up to.
  const most = Math.floor(Math.min(MOST_DUAL, largest / 16) / n);
  const count = Math.max(1, Math.min(LABELS_AT_ONCE, labels.columns, most));
  const scope = new Scope();
  try {
    const totals = own.keep(backend.tensor(1, n)); // (C 1)'
    backend.rowSums(inverse, totals);
    const room = own.keep(backend.tensor(count, n));
    const back = scope.keep(matrix(out.core, count, n, out.precision));
    for (const { from, to } of blocksOf(allPoints(labels.columns), count)) {
      await pause(options, "dual weights", from / labels.columns);
      const sums = backend.rowRange(room, 0, to - from);
      withTensors(backend, (tensors) => {
        const mu = tensors.keep(backend.tensor(to - from, 1, mean.view().slice(from, to)));
        // The outer product also clears what was there.
        backend.gemm(mu, totals, sums, { alpha: -1 });
        const y = tensors.keep(labelsOn(backend, labels, from, to));
        const ones = tensors.keep(backend.tensor(1, y.entries));
        backend.fill(ones, 1);
        backend.patternTransposeTimes(y, ones, inverse, sums);
      });
      const found = back.rowRange(0, to - from).set(await backend.read(sums));
      transpose(found, out.block(0, from, n, to - from));
    }
  } finally {
    own.free();
    scope.free();
  }
}

function labelsOn(backend: Backend, labels: Pattern, from: number, to: number): PatternTensor {
  const some = labelsFrom(labels, from, to - from);
  try {
    return backend.pattern(to - from, {
      rowStart: some.start.toArray(),
      labelIndex: some.column.toArray(),
    });
  } finally {
    some.free();
  }
}
