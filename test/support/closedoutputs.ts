// The share of the battery that belongs to the closed form: all its forms on one small problem.

import { type Core, csr, matrixFrom, Pattern, type Precision, type RealArray, scoped } from "../../src/core/index.ts";
import { fitCoupling } from "../../src/parts/coupling/fit.ts";
import { fitExact } from "../../src/parts/gpr/exact.ts";
import type { LeaveOneOut } from "../../src/parts/regression/leaveoneout.ts";
import { Points, toUnitRows } from "../../src/parts/regression/points.ts";
import { solveRidge } from "../../src/parts/regression/ridge.ts";
import { randomProblem } from "./closed.ts";
import { listsOf, sparseOf, transposed } from "./lists.ts";
import { mixedLeaveOneOut, mixedSums, subspaceFeatures } from "./mixed.ts";

/** Left-out scores, sums and weights of the exact form, the sparse form and the coupling. */
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
    const phi = await subspaceFeatures(points, basis, inputs, scope);
    const { gram, cross, sums, whole } = mixedSums(core, phi, points, labels, scope);
    outputs.push(gram.toArray(), cross.toArray(), sums.toArray());
    const solution = scope.keep(await solveRidge(whole, { noise: 0.6 }, precision));
    outputs.push(solution.weights.toArray());
    const leftOut = mixedLeaveOneOut(solution, phi, points, labels, scope);
    await putAll(leftOut);
    const coupling = scope.keep(await fitCoupling(leftOut, labels, { rank: 4, noise: 30 }));
    outputs.push(coupling.vectors.toArray());
    await putAll(coupling.loo);
    return outputs;
  });
}
