// The closed form against reference values computed in double precision.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ExactWay } from "../../src/closed/cost.ts";
import { fitExact, kernelMatrix } from "../../src/closed/exact.ts";
import { inducingFeatures } from "../../src/closed/inducing.ts";
import { Kernel } from "../../src/closed/kernel.ts";
import type { LeaveOneOut } from "../../src/closed/leaveoneout.ts";
import { Points, toUnitRows } from "../../src/closed/points.ts";
import { sumsOfPoints } from "../../src/closed/pointsums.ts";
import { solveRidge } from "../../src/closed/ridge.ts";
import {
  blockLeverages,
  blockScores,
  featuresOf,
  learnPoints,
  leaveOneOutOf,
} from "../../src/closed/sparse.ts";
import { fitStack } from "../../src/closed/stack.ts";
import { Statistics } from "../../src/closed/statistics.ts";
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
} from "../../src/core/index.ts";
import {
  type ClosedCase,
  difference,
  listsOf,
  type Rows,
  rowsOf,
  sparseOf,
  transposed,
} from "../support/closed.ts";
import { coreKinds, withCore } from "../support/cores.ts";

const { cases } = JSON.parse(readFileSync("test/golden/closed-form.json", "utf8")) as { cases: ClosedCase[] };
const tolerances: Record<Precision, number> = { f32: 1e-4, f64: 1e-9 };

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

async function exactErrors(
  core: Core,
  precision: Precision,
  problem: ClosedCase,
  by: ExactWay,
): Promise<Record<string, number>> {
  return await scoped(async (scope) => {
    const { training, tests, labels } = place(core, precision, problem, scope);
    const n = problem.X.length;
    const k = problem.mean.length;
    const expected = problem.exact;
    const options = { noise: problem.lam, kernel: { name: "se" }, by } as const;
    const kernel = scope.keep(new Kernel(core, precision, options.kernel));
    const index = scope.keep(new Postings(training.x));
    const lower = await kernelMatrix(training, index, kernel, scope.keep(matrix(core, n, n, precision)));
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

async function sparseErrors(
  core: Core,
  precision: Precision,
  problem: ClosedCase,
): Promise<Record<string, number>> {
  return await scoped(async (scope) => {
    const { training, tests, labels, given } = place(core, precision, problem, scope);
    const expected = problem.sparse;
    const k = problem.mean.length;
    const m = problem.Z.length;
    const inducing = scope.keep(
      await inducingFeatures(
        { basis: given(transposed(problem.V)), inputs: given(problem.Z) },
        { name: "se" },
        { jitter: problem.jitter },
      ),
    );
    const features = featuresOf({ inducing, linear: true }, training);
    const shape = { kernel: m, linear: training.x.columns, labels: k };
    const half = Math.floor(training.rows / 2);
    const halves = [
      { from: 0, to: half },
      { from: half, to: training.rows },
    ];
    const errors: Record<string, number> = {};
    const whole = scope.keep(new Statistics(core, shape));
    for (const [number, range] of halves.entries()) {
      const part = scope.keep(new Statistics(core, shape));
      await learnPoints(part, features, labels, { ranges: [range] });
      const reference = expected.parts[number] as ClosedCase["sparse"]["parts"][number];
      errors[`gram of part ${number}`] = difference(
        lower(rowsOf(part.gram.toArray(), m + shape.linear)),
        lower(reorderedSquare(reference.gram, m)),
      );
      errors[`cross of part ${number}`] = difference(
        rowsOf(part.cross.toArray(), m + shape.linear),
        transposed(reference.cross).map((row) => reordered(row, m, Math.SQRT2)),
      );
      errors[`sum of part ${number}`] = difference(
        [[...part.sums.toArray()]],
        [reordered(reference.sum, m, Math.SQRT2)],
      );
      errors[`counts of part ${number}`] = difference(
        [[...part.labelCounts, part.points]],
        [[...reference.labelCounts, reference.points]],
      );
      whole.merge(part);
    }
    const found = { phi: [] as Rows, score: [] as Rows, leverage: [] as number[] };
    await features.forBlocks("", ({ phi }) => {
      found.phi.push(...rowsOf(phi?.toArray() ?? [], m));
    });
    errors.features = difference(
      found.phi,
      expected.features.map((row) => row.slice(-m).map((value) => value * Math.SQRT2)),
    );
    const solution = scope.keep(await solveRidge(whole, { noise: problem.lam }, precision));
    errors.weights = difference(
      transposed(rowsOf(solution.weights.toArray(), k)),
      transposed(expected.weights).map((row) => reordered(row, m, Math.SQRT1_2)),
    );
    const fromPoints = scope.keep(await sumsOfPoints(training, labels, { kernel: { features, count: m } }));
    for (const inverse of [true, false]) {
      const again = scope.keep(
        await solveRidge(fromPoints, { noise: problem.lam }, precision, { working: precision, inverse }),
      );
      errors[`weights from points, inverse ${inverse}`] = difference(
        rowsOf(again.weights.toArray(), k),
        rowsOf(solution.weights.toArray(), k),
      );
    }
    const leftOut = { scores: [] as Rows, variances: [] as number[] };
    await leaveOneOutOf(solution, features, labels).forBlocks("", ({ scores, variances }) => {
      leftOut.scores.push(...rowsOf(scores.toArray(), k));
      leftOut.variances.push(...variances);
    });
    errors.loo = difference(leftOut.scores, expected.loo);
    errors.looVariance = difference([leftOut.variances], [expected.looVariance]);
    errors.leverage = difference([leftOut.variances.map((v) => 1 - 1 / v)], [expected.leverage]);
    await featuresOf({ inducing, linear: true }, tests).forBlocks("", (block) => {
      const scores = scope.keep(matrix(core, block.to - block.from, k, precision));
      found.score.push(...rowsOf(blockScores(solution, block, scores).toArray(), k));
      found.leverage.push(...blockLeverages(solution, block));
    });
    errors.testScore = difference(found.score, expected.testScore);
    Object.assign(
      errors,
      await stackErrors(leaveOneOutOf(solution, features, labels), labels, expected.stack),
    );
    errors.testVariance = difference([found.leverage.map((h) => 1 + h)], [expected.testVariance]);
    return errors;
  });
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

type Errors = (core: Core, precision: Precision, problem: ClosedCase) => Promise<Record<string, number>>;

const forms: Record<string, Errors> = {
  "exact (inverse)": (...problem) => exactErrors(...problem, "inverse"),
  "exact (factor)": (...problem) => exactErrors(...problem, "factor"),
  sparse: sparseErrors,
};

for (const kind of coreKinds) {
  for (const precision of ["f32", "f64"] as const) {
    describe(`closed form, ${precision}, ${kind.name}`, () => {
      for (const problem of cases) {
        for (const [form, errorsOf] of Object.entries(forms)) {
          test(`${form} form of "${problem.name}"`, async () => {
            await withCore(kind, async (core) => {
              const errors = await errorsOf(core, precision, problem);
              for (const [name, error] of Object.entries(errors))
                expect(error, name).toBeLessThan(tolerances[precision]);
            });
          });
        }
      }
    });
  }
}
