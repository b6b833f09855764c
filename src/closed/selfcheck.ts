// Problems with known answers for the closed form: every quantity of the exact and of the sparse form.

import {
  type Core,
  csr,
  matrix,
  matrixFrom,
  Pattern,
  Postings,
  type Precision,
  type Scope,
  scoped,
} from "../core/index.ts";
import { difference, listsOf, type Rows, rowsOf, sparseOf, transposed } from "../model/rows.ts";
import type { ExactWay } from "./cost.ts";
import type { ClosedDevice } from "./device/closed.ts";
import { fitExact, kernelMatrix } from "./exact.ts";
import { inducingFeatures } from "./inducing.ts";
import { Kernel } from "./kernel.ts";
import type { LeaveOneOut } from "./leaveoneout.ts";
import { Points, toUnitRows } from "./points.ts";
import { sumsOfPoints } from "./pointsums.ts";
import { type RidgeSolution, solveRidge } from "./ridge.ts";
import {
  blockLeverages,
  blockScores,
  type FeatureWalk,
  featuresOf,
  learnPoints,
  leaveOneOutOf,
  type SparseFeatures,
} from "./sparse.ts";
import { fitStack } from "./stack.ts";
import { Statistics } from "./statistics.ts";
import type { SumsShape } from "./totals.ts";

/** One problem: rows, test rows, labels, and what both forms give with the SE kernel. */
export interface ClosedCase {
  name: string;
  X: Rows;
  T: Rows;
  Y: Rows;
  lam: number;
  jitter: number;
  V: Rows;
  Z: Rows;
  mean: number[];
  exact: {
    K: Rows;
    dual: Rows;
    loo: Rows;
    looVariance: number[];
    testScore: Rows;
    testVariance: number[];
  };
  sparse: {
    features: Rows;
    gram: Rows;
    cross: Rows;
    weights: Rows;
    loo: Rows;
    leverage: number[];
    looVariance: number[];
    testScore: Rows;
    testVariance: number[];
    parts: { gram: Rows; cross: Rows; sum: number[]; labelCounts: number[]; points: number }[];
    stack: { vectors: Rows; g: number; weights: Rows; loo: Rows };
  };
}

/** A problem of the file in the memory of a core. */
function place(core: Core, precision: Precision, problem: ClosedCase, scope: Scope) {
  const points = (rows: Rows): Points => {
    const x = toUnitRows(scope.keep(csr(core, sparseOf(rows), precision)));
    return scope.keep(new Points(x));
  };
  const given = (rows: Rows) =>
    scope.keep(matrixFrom(core, rows.length, rows[0]?.length ?? 0, rows.flat(), precision));
  const labels = scope.keep(new Pattern(core, problem.mean.length, listsOf(problem.Y)));
  return { training: points(problem.X), tests: points(problem.T), labels, given };
}

/** Worst differences of the exact form. */
async function exactErrors(
  by: ExactWay,
  core: Core,
  precision: Precision,
  problem: ClosedCase,
  device?: ClosedDevice,
): Promise<Record<string, number>> {
  return await scoped(async (scope) => {
    const { training, tests, labels } = place(core, precision, problem, scope);
    const n = problem.X.length;
    const k = problem.mean.length;
    const expected = problem.exact;
    const options = { noise: problem.lam, kernel: { name: "se" }, by, device } as const;
    const kernel = scope.keep(new Kernel(core, precision, options.kernel));
    const index = scope.keep(new Postings(training.x));
    const square = scope.keep(matrix(core, n, n, precision));
    const lower = await kernelMatrix(training, index, kernel, square, { device });
    const form = scope.keep(await fitExact(training, labels, options));
    const found = {
      loo: [] as Rows,
      looVariance: [] as number[],
      score: [] as Rows,
      variance: [] as number[],
    };
    await form.forBlocks("", ({ scores, variances }) => {
      found.loo.push(...rowsOf(scores.toArray(), k));
      found.looVariance.push(...variances);
    });
    await form.predict(tests, ({ scores, variances }) => {
      found.score.push(...rowsOf(scores.toArray(), k));
      found.variance.push(...variances);
    });
    return {
      K: difference(
        rowsOf(lower.toArray(), n).map((row, i) => row.slice(0, i + 1)),
        expected.K.map((row, i) => row.slice(0, i + 1)),
      ),
      mean: difference([[...form.mean.toArray()]], [problem.mean]),
      dual: difference(rowsOf(form.dual.toArray(), k), expected.dual),
      loo: difference(found.loo, expected.loo),
      looVariance: difference([found.looVariance], [expected.looVariance]),
      testScore: difference(found.score, expected.testScore),
      testVariance: difference([found.variance], [expected.testVariance]),
    };
  });
}

/** The reference has [x ; phi] / sqrt 2; here it is [phi ; x]. */
const reordered = (row: number[], kernel: number, factor: number): number[] =>
  [...row.slice(row.length - kernel), ...row.slice(0, row.length - kernel)].map((value) => value * factor);
const reorderedSquare = (rows: Rows, kernel: number): Rows =>
  transposed(
    transposed(rows.map((row) => reordered(row, kernel, 2))).map((row) => reordered(row, kernel, 1)),
  );
const lower = (rows: Rows): Rows => rows.map((row, i) => row.slice(0, i + 1));

/** The sparse form of a problem: its features, and the sums over all points. */
interface SparseProblem {
  problem: ClosedCase;
  training: Points;
  tests: Points;
  labels: Pattern;
  form: SparseFeatures;
  features: FeatureWalk;
  shape: SumsShape;
  whole: Statistics;
  /** Columns of the kernel's part. */
  m: number;
}

async function sparseErrors(
  core: Core,
  precision: Precision,
  problem: ClosedCase,
  device?: ClosedDevice,
): Promise<Record<string, number>> {
  return await scoped(async (scope) => {
    const { training, tests, labels, given } = place(core, precision, problem, scope);
    const inducing = scope.keep(
      await inducingFeatures(
        { basis: given(transposed(problem.V)), inputs: given(problem.Z) },
        { name: "se" },
        { jitter: problem.jitter },
      ),
    );
    const form = { inducing, linear: true, device };
    const features = featuresOf(form, training);
    const m = problem.Z.length;
    const shape = { kernel: m, linear: training.x.columns, labels: problem.mean.length };
    const whole = scope.keep(new Statistics(core, shape));
    const sparse = { problem, training, tests, labels, form, features, shape, whole, m };
    const parts = await partErrors(core, sparse);
    const solution = scope.keep(await solveRidge(whole, { noise: problem.lam }, precision, { device }));
    const leftOut = leaveOneOutOf(solution, features, labels);
    return {
      ...parts,
      ...(await weightErrors(precision, sparse, solution)),
      ...(await leftOutErrors(leftOut, problem)),
      ...(await testErrors(core, precision, sparse, solution)),
      ...(await stackErrors(leftOut, labels, problem.sparse.stack)),
    };
  });
}

/** The sums of each half of the points, which are merged into those of all. */
async function partErrors(core: Core, sparse: SparseProblem): Promise<Record<string, number>> {
  const { problem, training, labels, features, shape, whole, m } = sparse;
  const half = Math.floor(training.rows / 2);
  const halves = [
    { from: 0, to: half },
    { from: half, to: training.rows },
  ];
  const errors: Record<string, number> = {};
  for (const [number, range] of halves.entries()) {
    const part = new Statistics(core, shape);
    await learnPoints(part, features, labels, { ranges: [range] });
    const expected = problem.sparse.parts[number] as ClosedCase["sparse"]["parts"][number];
    const columns = m + shape.linear;
    errors[`gram of part ${number}`] = difference(
      lower(rowsOf(part.gram.toArray(), columns)),
      lower(reorderedSquare(expected.gram, m)),
    );
    errors[`cross of part ${number}`] = difference(
      rowsOf(part.cross.toArray(), columns),
      transposed(expected.cross).map((row) => reordered(row, m, Math.SQRT2)),
    );
    errors[`sum of part ${number}`] = difference(
      [[...part.sums.toArray()]],
      [reordered(expected.sum, m, Math.SQRT2)],
    );
    errors[`counts of part ${number}`] = difference(
      [[...part.labelCounts, part.points]],
      [[...expected.labelCounts, expected.points]],
    );
    whole.merge(part);
    part.free();
  }
  return errors;
}

/** The features, and the weights from the sums by both ways. */
async function weightErrors(
  precision: Precision,
  { problem, training, labels, form, features, m }: SparseProblem,
  solution: RidgeSolution,
): Promise<Record<string, number>> {
  const k = problem.mean.length;
  const phis: Rows = [];
  await features.forBlocks("", ({ phi }) => void phis.push(...rowsOf(phi?.toArray() ?? [], m)));
  const errors: Record<string, number> = {
    features: difference(
      phis,
      problem.sparse.features.map((row) => row.slice(-m).map((value) => value * Math.SQRT2)),
    ),
    weights: difference(
      transposed(rowsOf(solution.weights.toArray(), k)),
      transposed(problem.sparse.weights).map((row) => reordered(row, m, Math.SQRT1_2)),
    ),
  };
  const sums = await sumsOfPoints(training, labels, { kernel: { features, count: m } });
  for (const inverse of [true, false]) {
    const way = { working: precision, inverse, device: form.device };
    const again = await solveRidge(sums, { noise: problem.lam }, precision, way);
    errors[`weights from points, inverse ${inverse}`] = difference(
      rowsOf(again.weights.toArray(), k),
      rowsOf(solution.weights.toArray(), k),
    );
    again.free();
  }
  sums.free();
  return errors;
}

async function leftOutErrors(
  leftOut: LeaveOneOut,
  { sparse: expected }: ClosedCase,
): Promise<Record<string, number>> {
  const found: Rows = [];
  const spread: number[] = [];
  await leftOut.forBlocks("", ({ scores, variances }) => {
    found.push(...rowsOf(scores.toArray(), leftOut.labels));
    spread.push(...variances);
  });
  return {
    loo: difference(found, expected.loo),
    looVariance: difference([spread], [expected.looVariance]),
    leverage: difference([spread.map((v) => 1 - 1 / v)], [expected.leverage]),
  };
}

async function testErrors(
  core: Core,
  precision: Precision,
  { problem, tests, form }: SparseProblem,
  solution: RidgeSolution,
): Promise<Record<string, number>> {
  const k = problem.mean.length;
  const found: Rows = [];
  const leverages: number[] = [];
  await featuresOf(form, tests).forBlocks("", (block) => {
    const scores = matrix(core, block.to - block.from, k, precision);
    found.push(...rowsOf(blockScores(solution, block, scores).toArray(), k));
    leverages.push(...blockLeverages(solution, block));
    scores.free();
  });
  return {
    testScore: difference(found, problem.sparse.testScore),
    testVariance: difference([leverages.map((h) => 1 + h)], [problem.sparse.testVariance]),
  };
}

/** Eigenvectors may turn their sign, and their weights with them. */
async function stackErrors(
  source: LeaveOneOut,
  labels: Pattern,
  expected: ClosedCase["sparse"]["stack"],
): Promise<Record<string, number>> {
  const rank = expected.weights.length;
  const k = source.labels;
  const stack = await fitStack(source, labels, { rank, choices: [{ noise: expected.g }] });
  const loo: Rows = [];
  await stack.leftOut.forBlocks("", ({ scores }) => void loo.push(...rowsOf(scores.toArray(), k)));
  const vectors = transposed(rowsOf(stack.vectors.toArray(), rank));
  const signs = transposed(expected.vectors).map((vector, p) =>
    Math.sign(vector.reduce((sum, value, j) => sum + value * ((vectors[p] as number[])[j] as number), 0)),
  );
  const signed = (rows: Rows): Rows => rows.map((row, p) => row.map((value) => value * (signs[p] as number)));
  const errors = {
    "stack vectors": difference(signed(vectors), transposed(expected.vectors)),
    "stack weights": difference(signed(rowsOf(stack.solution.weights.toArray(), k)), expected.weights),
    "stack loo": difference(loo, expected.loo),
  };
  stack.free();
  return errors;
}

/** Differences with everything on the core, or with parts of it on a device. */
type Errors = (
  core: Core,
  precision: Precision,
  problem: ClosedCase,
  device?: ClosedDevice,
) => Promise<Record<string, number>>;

/** Ways to compute the answers of a case. */
export const closedForms: Record<string, Errors> = {
  "exact (inverse)": (...problem) => exactErrors("inverse", ...problem),
  "exact (factor)": (...problem) => exactErrors("factor", ...problem),
  sparse: sparseErrors,
};

/** The largest difference of each quantity from its answer, over several cases. */
export async function worstClosedErrors(
  core: Core,
  precision: Precision,
  cases: readonly ClosedCase[],
  device?: ClosedDevice,
): Promise<Record<string, number>> {
  const worst: Record<string, number> = {};
  for (const problem of cases) {
    for (const [form, errorsOf] of Object.entries(closedForms)) {
      for (const [name, error] of Object.entries(await errorsOf(core, precision, problem, device)))
        worst[`${form}: ${name}`] = Math.max(worst[`${form}: ${name}`] ?? 0, error);
    }
  }
  return worst;
}
