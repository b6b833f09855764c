// Problems with known answers for the closed form: every quantity of the exact and of the sparse form.

import { type ExactCase, exactAnswers } from "../../src/cli/selfcheck.ts";
import {
  type Core,
  csr,
  type Matrix,
  matrix,
  matrixFrom,
  Pattern,
  type Precision,
  type Scope,
  scoped,
} from "../../src/core/index.ts";
import { fitCoupling } from "../../src/parts/coupling/fit.ts";
import { type InducingFeatures, inducingFeatures } from "../../src/parts/regression/inducing.ts";
import type { LeaveOneOut } from "../../src/parts/regression/leaveoneout.ts";
import { Points, toUnitRows } from "../../src/parts/regression/points.ts";
import { type RidgeSolution, solveRidge } from "../../src/parts/regression/ridge.ts";
import {
  featuresIn,
  featuresOf,
  learnPoints,
  leaveOneOutOf,
  leverages,
  ridgeScores,
} from "../../src/parts/regression/sparse.ts";
import { PointSums, Statistics } from "../../src/parts/regression/totals.ts";
import { denseRows, times, unit } from "./closed.ts";
import { difference, listsOf, type Rows, rowsOf, sparseOf, transposed } from "./lists.ts";

/** One problem: rows, test rows, labels, and what both forms give with the SE kernel. */
export interface ClosedCase {
  name: string;
  X: Rows;
  Y: Rows;
  lam: number;
  mean: number[];
  T: Rows;
  jitter: number;
  V: Rows;
  Z: Rows;
  exact: { K: Rows; dual: Rows; loo: Rows; looVariance: number[]; testScore: Rows; testVariance: number[] };
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

/** The exact form as `mlgpf selfcheck` takes it. */
export function exactCase({ name, X, Y, lam, mean, exact: { K, dual, loo, looVariance } }: ClosedCase): ExactCase {
  const { rowStart, columnIndex: labelIndex } = sparseOf(Y);
  const expected = { K: lower(K).flat(), mean, dual: dual.flat(), loo: loo.flat(), looVariance };
  return { name, x: sparseOf(X), labels: { rowStart, labelIndex }, noise: lam, expected };
}

async function exactErrors(by: "inverse" | "factor", ...[core, precision, problem]: Parameters<Errors>) {
  const given = exactCase(problem);
  const found = await exactAnswers(by, core, precision, given);
  const errors = Object.entries(given.expected).map(([name, values]) => [
    name,
    difference([found[name] as number[]], [values]),
  ]);
  return Object.fromEntries(errors) as Record<string, number>;
}

/** A problem of the file in the memory of a core. */
function place(core: Core, precision: Precision, problem: ClosedCase, scope: Scope) {
  const points = (rows: Rows): Points => {
    const x = toUnitRows(scope.keep(csr(core, sparseOf(rows), precision)));
    return scope.keep(new Points(x));
  };
  const given = (rows: Rows) => scope.keep(matrixFrom(core, rows.length, rows[0]?.length ?? 0, rows.flat(), precision));
  const labels = scope.keep(new Pattern(core, problem.mean.length, listsOf(problem.Y)));
  return { training: points(problem.X), tests: points(problem.T), labels, given };
}

/** The reference has [x ; phi] / sqrt 2; here it is [phi ; x]. */
const reordered = (row: number[], kernel: number, factor: number): number[] =>
  [...row.slice(row.length - kernel), ...row.slice(0, row.length - kernel)].map((value) => value * factor);
const reorderedSquare = (rows: Rows, kernel: number): Rows =>
  transposed(transposed(rows.map((row) => reordered(row, kernel, 2))).map((row) => reordered(row, kernel, 1)));
const lower = (rows: Rows): Rows => rows.map((row, i) => row.slice(0, i + 1));

/** The sparse form of a problem: points with the features f = [phi ; x], dense, and the sums over all of them. */
interface SparseProblem {
  problem: ClosedCase;
  labels: Pattern;
  /** phi and f of training points. */
  phi: Rows;
  f: Matrix;
  whole: Statistics;
  /** Columns of phi. */
  m: number;
}

/** phi(x) = inverse(L) k(Z, unit(V x)): rows in the span of V are points of their own. */
async function phiOf(inducing: InducingFeatures, rows: Rows, place: Place): Promise<Rows> {
  const phi: Rows = [];
  const walk = featuresOf(inducing, place(rows));
  await walk.forBlocks("", ({ f }) => void phi.push(...rowsOf(f.toArray(), f.columns)));
  return phi;
}

type Place = (rows: Rows) => Points;

async function sparseErrors(core: Core, precision: Precision, problem: ClosedCase): Promise<Record<string, number>> {
  return await scoped(async (scope) => {
    const { X, T, V, Z, jitter, lam } = problem;
    const { training, tests, labels, given } = place(core, precision, problem, scope);
    const placed = (rows: Rows): Points => scope.keep(new Points(scope.keep(csr(core, sparseOf(rows), precision))));
    const inSpan = (rows: Rows): Rows => times(rows, transposed(V)).map(unit);
    const inducing = scope.keep(await inducingFeatures(placed(Z), { name: "se" }, { jitter }));
    const [phi, phiOfTests] = [await phiOf(inducing, inSpan(X), placed), await phiOf(inducing, inSpan(T), placed)];
    const withRows = (of: Rows, { x }: Points): Matrix => {
      const rows = denseRows({ x } as Points);
      return given(of.map((row, i) => [...row, ...rows[i]]));
    };
    const f = withRows(phi, training);
    const whole = scope.keep(new Statistics(core, { features: f.columns, labels: problem.mean.length }));
    const sparse = { problem, labels, phi, f, whole, m: Z.length };
    const parts = await partErrors(core, sparse);
    // Weights of a half for both kinds of features are twice the noise.
    const solution = scope.keep(await solveRidge(whole, { noise: 2 * lam }, precision));
    const leftOut = leaveOneOutOf(solution, featuresIn(f), labels);
    return {
      ...parts,
      ...(await weightErrors(core, precision, sparse, solution)),
      ...(await leftOutErrors(leftOut, problem)),
      ...testErrors(problem, withRows(phiOfTests, tests), solution),
      ...(await stackErrors(leftOut, labels, problem.sparse.stack)),
    };
  });
}

/** The sums of each half of the points, and with them those of all. */
async function partErrors(core: Core, sparse: SparseProblem): Promise<Record<string, number>> {
  const { problem, labels, f, whole, m } = sparse;
  const half = Math.floor(f.rows / 2);
  const halves = [
    { from: 0, to: half },
    { from: half, to: f.rows },
  ];
  const errors: Record<string, number> = {};
  for (const [number, range] of halves.entries()) {
    const part = new Statistics(core, { features: f.columns, labels: labels.columns });
    await learnPoints(part, featuresIn(f), labels, { ranges: [range] });
    const expected = problem.sparse.parts[number] as ClosedCase["sparse"]["parts"][number];
    errors[`gram of part ${number}`] = difference(
      lower(rowsOf(part.gram.toArray(), f.columns)),
      lower(reorderedSquare(expected.gram, m)),
    );
    errors[`cross of part ${number}`] = difference(
      rowsOf(part.cross.toArray(), f.columns),
      transposed(expected.cross).map((row) => reordered(row, m, Math.SQRT2)),
    );
    errors[`sum of part ${number}`] = difference([[...part.sums.toArray()]], [reordered(expected.sum, m, Math.SQRT2)]);
    errors[`counts of part ${number}`] = difference(
      [[...part.labelCounts, part.points]],
      [[...expected.labelCounts, expected.points]],
    );
    part.free();
    await learnPoints(whole, featuresIn(f), labels, { ranges: [range] });
  }
  return errors;
}

/** The features, and the weights from the sums by both ways. */
async function weightErrors(
  core: Core,
  precision: Precision,
  { problem, labels, phi, f, m }: SparseProblem,
  solution: RidgeSolution,
): Promise<Record<string, number>> {
  const k = problem.mean.length;
  const errors: Record<string, number> = {
    features: difference(
      phi,
      problem.sparse.features.map((row) => row.slice(-m).map((value) => value * Math.SQRT2)),
    ),
    weights: difference(
      transposed(rowsOf(solution.weights.toArray(), k)),
      transposed(problem.sparse.weights).map((row) => reordered(row, m, Math.SQRT1_2)),
    ),
  };
  const x = csr(core, sparseOf(rowsOf(f.toArray(), f.columns)), precision);
  const sums = new PointSums(x, labels);
  for (const inverse of [true, false]) {
    const way = { working: precision, inverse };
    const again = await solveRidge(sums, { noise: 2 * problem.lam }, precision, way);
    errors[`weights from points, inverse ${inverse}`] = difference(
      rowsOf(again.weights.toArray(), k),
      rowsOf(solution.weights.toArray(), k),
    );
    again.free();
  }
  sums.free();
  x.free();
  return errors;
}

async function leftOutErrors(leftOut: LeaveOneOut, { sparse: expected }: ClosedCase): Promise<Record<string, number>> {
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

function testErrors({ mean, sparse }: ClosedCase, f: Matrix, solution: RidgeSolution): Record<string, number> {
  const scores = matrix(f.core, f.rows, mean.length, f.precision);
  const found = rowsOf(ridgeScores(solution, f, scores).toArray(), mean.length);
  scores.free();
  return {
    testScore: difference(found, sparse.testScore),
    testVariance: difference([Array.from(leverages(solution, f), (h) => 1 + h)], [sparse.testVariance]),
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
  const stack = await fitCoupling(source, labels, { rank, noise: expected.g });
  const loo: Rows = [];
  await stack.loo.forBlocks("", ({ scores }) => void loo.push(...rowsOf(scores.toArray(), k)));
  const vectors = transposed(rowsOf(stack.vectors.toArray(), rank));
  const signs = transposed(expected.vectors).map((vector, p) =>
    Math.sign(vector.reduce((sum, value, j) => sum + value * vectors[p][j], 0)),
  );
  const signed = (rows: Rows): Rows => rows.map((row, p) => row.map((value) => value * signs[p]));
  const errors = {
    "stack vectors": difference(signed(vectors), transposed(expected.vectors)),
    "stack weights": difference(signed(rowsOf(stack.solution.weights.toArray(), k)), expected.weights),
    "stack loo": difference(loo, expected.loo),
  };
  stack.free();
  return errors;
}

type Errors = (core: Core, precision: Precision, problem: ClosedCase) => Promise<Record<string, number>>;

/** Ways to compute the answers of a case. */
export const closedForms: Record<string, Errors> = {
  "exact (inverse)": (...problem) => exactErrors("inverse", ...problem),
  "exact (factor)": (...problem) => exactErrors("factor", ...problem),
  sparse: sparseErrors,
};
