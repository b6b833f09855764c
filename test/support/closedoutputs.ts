// The share of the battery that belongs to the closed form: all its forms on one small problem.

import { fitExact } from "../../src/closed/exact.ts";
import { inducingFeatures } from "../../src/closed/inducing.ts";
import type { LeaveOneOut } from "../../src/closed/leaveoneout.ts";
import { Points, toUnitRows } from "../../src/closed/points.ts";
import { solveRidge } from "../../src/closed/ridge.ts";
import { featuresOf, learnPoints, leaveOneOutOf } from "../../src/closed/sparse.ts";
import { fitStack } from "../../src/closed/stack.ts";
import { Statistics } from "../../src/closed/statistics.ts";
import {
  type Core,
  csr,
  matrixFrom,
  Pattern,
  type Precision,
  type RealArray,
  scoped,
} from "../../src/core/index.ts";
import { listsOf, sparseOf, transposed } from "../../src/model/rows.ts";
import { randomProblem } from "./closed.ts";

/** Left-out scores, sums and weights of the exact form, the sparse form and the stack. */
export async function closedOutputs(core: Core, precision: Precision): Promise<RealArray[]> {
  return await scoped(async (scope) => {
    const outputs: RealArray[] = [];
    const sizes = { points: 330, features: 40, labels: 7, rank: 6, inducing: 20 };
    const { X, Y, V, Z } = randomProblem(21, sizes);
    const points = scope.keep(new Points(toUnitRows(scope.keep(csr(core, sparseOf(X), precision)))));
    const labels = scope.keep(new Pattern(core, sizes.labels, listsOf(Y)));
    const putAll = async (source: LeaveOneOut): Promise<void> =>
      await source.forBlocks("", ({ scores, variances }) => void outputs.push(scores.toArray(), variances));
    const exact = scope.keep(await fitExact(points, labels, { noise: 0.2, kernel: { name: "se" } }));
    outputs.push(exact.dual.toArray());
    await putAll(exact);
    const basis = scope.keep(matrixFrom(core, sizes.features, sizes.rank, transposed(V).flat(), precision));
    const inputs = scope.keep(matrixFrom(core, sizes.inducing, sizes.rank, Z.flat(), precision));
    const inducing = scope.keep(await inducingFeatures({ basis, inputs }, { name: "se" }));
    const features = featuresOf({ inducing, linear: true }, points);
    const shape = { kernel: sizes.inducing, linear: sizes.features, labels: sizes.labels };
    const statistics = scope.keep(new Statistics(core, shape));
    await learnPoints(statistics, features, labels);
    outputs.push(statistics.gram.toArray(), statistics.cross.toArray(), statistics.sums.toArray());
    const solution = scope.keep(await solveRidge(statistics, { noise: 0.3 }, precision));
    outputs.push(solution.weights.toArray());
    const leftOut = leaveOneOutOf(solution, features, labels);
    await putAll(leftOut);
    const stack = scope.keep(await fitStack(leftOut, labels, { rank: 4 }));
    outputs.push(stack.vectors.toArray());
    await putAll(stack.leftOut);
    return outputs;
  });
}
