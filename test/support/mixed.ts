// Ridge regression on dense and sparse features together, [phi ; x], straight from the core's functions: more kernels than one part of
// a model uses.

import {
  addDiagonal,
  type Core,
  combine,
  convert,
  factorInPlace,
  fill,
  gemm,
  lowerInverseColumns,
  type Matrix,
  matrix,
  type Pattern,
  rowSums,
  type Scope,
  sparseTimes,
  syrk,
} from "../../src/core/index.ts";
import {
  addColumnSums,
  addLabelSums,
  addMatrix,
  addSparseGram,
  addTransposeTimes,
  sparseQuadratic,
} from "../../src/core/sums.ts";
import { Kernel } from "../../src/parts/regression/kernel.ts";
import type { LeaveOneOut } from "../../src/parts/regression/leaveoneout.ts";
import type { Points } from "../../src/parts/regression/points.ts";
import type { RidgeSolution, RidgeSums } from "../../src/parts/regression/ridge.ts";
import { leaveOut } from "../../src/parts/regression/sparse.ts";

/** phi(x) = inverse(L) k(Z, u) with u = unit(x V), for dense Z [M,R] in the span of V [D,R]. */
export async function subspaceFeatures({ x }: Points, v: Matrix, z: Matrix, scope: Scope): Promise<Matrix> {
  const { core, precision, rows } = x;
  const m = z.rows;
  const make = (a: number, b: number, of = precision): Matrix => scope.keep(matrix(core, a, b, of));
  const double = convert(z, make(m, z.columns, "f64"));
  const own = rowSums(double, make(1, m, "f64"), double);
  const inDouble = scope.keep(new Kernel(core, "f64", { name: "se" }));
  const l = make(m, m, "f64");
  inDouble.map(gemm(double, double, make(m, m, "f64"), { transposeB: true }), own, own, l);
  addDiagonal(inDouble.writeDiagonal(l, [own]), fill(make(1, m, "f64"), 1e-4));
  await factorInPlace(l);
  const whitening = make(m, m);
  await lowerInverseColumns(l, (columns, from) =>
    convert(columns, whitening.block(from, from, columns.rows, columns.columns)),
  );
  const u = sparseTimes(x, v, make(rows, z.columns));
  const lengths = rowSums(u, make(1, rows), u);
  lengths.set(Float64Array.from(lengths.view(), (square) => (square > 0 ? 1 / Math.sqrt(square) : 0)));
  combine("multiply", u, lengths.reshape(rows, 1), u);
  const products = gemm(u, z, make(rows, m), { transposeB: true });
  const kernel = scope.keep(new Kernel(core, precision, { name: "se" }));
  const k = kernel.map(products, rowSums(u, make(1, rows), u), rowSums(z, make(1, m), z), make(rows, m));
  return gemm(k, whitening, make(rows, m), { transposeB: true });
}

/** A, B' and m of [phi ; x], all in the memory of the scope. */
export function mixedSums(
  core: Core,
  phi: Matrix,
  { x }: Points,
  labels: Pattern,
  scope: Scope,
): Record<"gram" | "cross" | "sums", Matrix> & { whole: RidgeSums } {
  const [m, d, k] = [phi.columns, x.columns, labels.columns];
  const make = (a: number, b: number): Matrix => scope.keep(matrix(core, a, b, "f64"));
  const [gram, cross, sums] = [make(m + d, m + d), make(k, m + d), make(1, m + d)];
  addColumnSums(phi, sums.block(0, 0, 1, m));
  addColumnSums(x, sums.block(0, m, 1, d));
  const corner = gram.block(0, 0, m, m);
  const options = { transpose: true, part: "lower" } as const;
  if (phi.precision === "f64") syrk(phi, corner, { ...options, beta: 1 });
  else addMatrix(syrk(phi, scope.keep(matrix(core, m, m, "f32")), options), corner, { part: "lower" });
  addTransposeTimes(labels, phi, cross.block(0, 0, k, m));
  addSparseGram(x, gram.block(m, m, d, d));
  addTransposeTimes(x, phi, gram.block(m, 0, d, m));
  addLabelSums(labels, x, cross.block(0, m, k, d));
  const counts = new Float64Array(k);
  for (const label of labels.column.view()) counts[label] += 1;
  const whole: RidgeSums = {
    core,
    labels: k,
    sums,
    mean: () => counts.map((count) => count / x.rows),
    writeGram: async (out) => void convert(gram, out),
    writeCross: (first, out) => void convert(cross.rowRange(first, first + out.rows), out),
  };
  return { gram, cross, sums, whole };
}

/** Left-out scores of [phi ; x] in one block. */
export function mixedLeaveOneOut(
  solution: RidgeSolution,
  phi: Matrix,
  { x }: Points,
  labels: Pattern,
  scope: Scope,
): LeaveOneOut {
  const { core, precision, rows, columns: m } = phi;
  const d = x.columns;
  const { weights, mean } = solution;
  const c = solution.inverse as Matrix;
  const make = (a: number, b: number): Matrix => scope.keep(matrix(core, a, b, precision));
  const half = gemm(phi, c.block(0, 0, m, m), make(rows, m), { alpha: 0.5 });
  sparseTimes(x, c.block(m, 0, d, m), half, { accumulate: true });
  const first = Float64Array.from(rowSums(half, make(1, rows), phi).view(), (sum) => 2 * sum);
  const second = sparseQuadratic(x, c.block(m, m, d, d), make(1, rows)).view();
  const h = first.map((value, i) => value + second[i]);
  const room = make(rows, labels.columns);
  return {
    ranges: [{ from: 0, to: rows }],
    labels: labels.columns,
    mean,
    async forBlocks(_, work) {
      const scores = gemm(phi, weights.rowRange(0, m), room);
      sparseTimes(x, weights.rowRange(m, m + d), scores, { accumulate: true });
      leaveOut(combine("add", scores, mean, scores), h, labels, 0);
      work({ from: 0, to: rows, scores, variances: h.map((leverage) => 1 / (1 - leverage)) });
    },
  };
}
