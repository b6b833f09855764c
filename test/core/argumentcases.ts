// A right call of every export of mlgpf/core that touches memory, to be made wrong one argument at a time: covariances, sparse and
// dense algebra here, the others in morecases.ts.

import * as api from "../../src/core/index.ts";
import { type Case, type Makers, that } from "./guards.ts";
import { moreCases } from "./morecases.ts";

const terms = { linear: true, stationary: "se" } as const;

const covarianceOf = ({ matrix }: Makers) => ({
  products: matrix(3, 4),
  rowSquares: matrix(1, 3),
  columnSquares: matrix(1, 4),
  hyper: matrix(1, 3),
});
export const cases: Record<string, Case> = {
  adam: that(
    ({ matrix }) => ({
      parameter: matrix(2, 3),
      gradient: matrix(2, 3),
      first: matrix(2, 3),
      second: matrix(2, 3),
      rate: 0.1,
      step: 1,
    }),
    ({ parameter, gradient, first, second, rate, step }) =>
      api.adam(parameter, gradient, { first, second }, { rate, step }),
  ),
  calibrateScores: that(
    ({ matrix }) => ({ score: matrix(2, 3), out: matrix(2, 3), gates: 1, index: 0 }),
    ({ score, out, gates, index }) =>
      api.calibrateScores({
        scores: [score],
        terms: [{ score: index, shape: "linear", centre: 0, width: 0 }],
        weights: new Float64Array(4),
        gates,
        place: [0, 0, 0],
        slope: [1, 1, 1],
        shift: [0, 0, 0],
        out,
      }),
  ),
  ScorePairs: that(
    ({ core }) => ({ core, labelStart: Int32Array.of(0, 2, 4), labelGates: 1, pointGates: 1 }),
    ({ core, labelStart, labelGates, pointGates }) => {
      const four = [0, 0.1, 0.2, 0.3];
      const curves = { terms: [], labelGates, pointGates, labelPlace: four, pointPlace: four };
      const pairs = new api.ScorePairs(core, curves, { scores: [four], labelStart, signedWeight: four });
      pairs.labelOffsets(
        Float64Array.from(four),
        { mean: new Float64Array(pairs.labels), variance: 1 },
        new Float64Array(pairs.labels),
      );
      pairs.free();
    },
  ),
  covariance: that(
    (m) => ({ ...covarianceOf(m), out: m.matrix(3, 4) }),
    ({ out, ...inputs }) => api.covariance({ terms, ...inputs }, out),
  ),
  covarianceGradient: that(
    (m) => ({ ...covarianceOf(m), d: m.matrix(3, 4), part: m.matrix(3, 4), sums: m.matrix(3, 3) }),
    ({ d, part, sums, ...inputs }) => api.covarianceGradient({ terms, ...inputs }, d, part, sums),
  ),
  csr: that(
    ({ core }) => ({
      core,
      rows: 2,
      columns: 3,
      rowStart: Int32Array.of(0, 1, 2),
      columnIndex: Int32Array.of(0, 2),
      precision: "f32" as const,
    }),
    ({ core, precision, ...arrays }) => api.csr(core, { ...arrays, values: [1, 2] }, precision).free(),
  ),
  Csr: that(
    ({ core }) => ({
      core,
      rows: 2,
      columns: 3,
      rowStart: Int32Array.of(0, 1, 2),
      columnIndex: Int32Array.of(0, 2),
      precision: "f32" as const,
    }),
    ({ core, precision, ...arrays }) => new api.Csr(core, precision, { ...arrays, values: [1, 2] }).free(),
  ),
  sparseTimes: that(
    (m) => ({ x: m.sparse(3, 4), b: m.matrix(4, 2), out: m.matrix(2, 2), rows: m.wholes([0, 2]) }),
    ({ x, b, out, rows }) => api.sparseTimes(x, b, out, { rows }),
  ),
  sparseTransposeTimes: that(
    (m) => ({ x: m.sparse(3, 4), b: m.matrix(2, 2), out: m.matrix(4, 2), rows: m.wholes([0, 2]) }),
    ({ x, b, out, rows }) => api.sparseTransposeTimes(x, b, out, { rows }),
  ),
  gramTimes: that(
    (m) => ({ x: m.sparse(3, 4), b: m.matrix(4, 2), out: m.matrix(4, 2), from: 0, to: 3 }),
    ({ x, b, out, ...range }) => api.gramTimes(x, b, out, range),
  ),
  gram: that(
    (m) => ({ x: m.sparse(3, 4), out: m.matrix(4, 4), from: 0, to: 3 }),
    ({ x, out, ...range }) => api.gram(x, out, range),
  ),
  rowSquares: that(
    (m) => ({ x: m.sparse(3, 4), out: m.matrix(1, 3) }),
    ({ x, out }) => api.rowSquares(x, out),
  ),
  scaleRows: that(
    (m) => ({ x: m.sparse(3, 4), factors: m.matrix(1, 3) }),
    ({ x, factors }) => api.scaleRows(x, factors),
  ),
  gemm: that(
    ({ matrix }) => ({
      a: matrix(2, 3),
      b: matrix(3, 4),
      out: matrix(2, 4),
      weights: matrix(1, 3),
      alpha: 1,
      beta: 0,
    }),
    ({ a, b, out, ...options }) => api.gemm(a, b, out, options),
  ),
  syrk: that(
    ({ matrix }) => ({
      a: matrix(2, 3),
      out: matrix(2, 2),
      weights: matrix(1, 3),
      alpha: 1,
      part: "full" as const,
    }),
    ({ a, out, ...options }) => api.syrk(a, out, options),
  ),
  combine: that(
    ({ matrix }) => ({ op: "add" as const, x: matrix(2, 3), y: matrix(2, 3), out: matrix(2, 3) }),
    ({ op, x, y, out }) => api.combine(op, x, y, out),
  ),
  blend: that(
    ({ matrix }) => ({ alpha: 1, x: matrix(2, 3), y: matrix(2, 3), out: matrix(2, 3) }),
    ({ alpha, x, y, out }) => api.blend(alpha, x, 1, y, out),
  ),
  scale: that(
    ({ matrix }) => ({ alpha: 1, x: matrix(2, 3), out: matrix(2, 3) }),
    ({ alpha, x, out }) => api.scale(alpha, x, out),
  ),
  map: that(
    ({ matrix }) => ({ op: "exp" as const, x: matrix(2, 3), out: matrix(2, 3) }),
    ({ op, x, out }) => api.map(op, x, out),
  ),
  fill: that(
    ({ matrix }) => ({ out: matrix(2, 3), value: 1 }),
    ({ out, value }) => api.fill(out, value),
  ),
  transpose: that(
    ({ matrix }) => ({ x: matrix(2, 3), out: matrix(3, 2) }),
    ({ x, out }) => api.transpose(x, out),
  ),
  convert: that(
    ({ matrix }) => ({ x: matrix(2, 3), out: matrix(2, 3, "f32") }),
    ({ x, out }) => api.convert(x, out),
    { onePrecision: false },
  ),
  rowSums: that(
    ({ matrix }) => ({ x: matrix(2, 3), out: matrix(1, 2), y: matrix(2, 3) }),
    ({ x, out, y }) => api.rowSums(x, out, y),
  ),
  columnSums: that(
    ({ matrix }) => ({ x: matrix(2, 3), out: matrix(1, 3), y: matrix(2, 3) }),
    ({ x, out, y }) => api.columnSums(x, out, y),
  ),
  diagonal: that(
    ({ matrix }) => ({ x: matrix(3, 3), out: matrix(1, 3) }),
    ({ x, out }) => api.diagonal(x, out),
  ),
  addDiagonal: that(
    ({ matrix }) => ({ x: matrix(3, 3), values: matrix(1, 3) }),
    ({ x, values }) => api.addDiagonal(x, values),
  ),
  gatherRows: that(
    ({ matrix, wholes }) => ({ x: matrix(3, 2), rows: wholes([0, 2]), out: matrix(2, 2) }),
    ({ x, rows, out }) => api.gatherRows(x, rows, out),
  ),
  ...moreCases,
};

/** Exports that are given no memory: errors, numbers alone, what others make. */
export const withoutMemory: string[] = [
  "inverseRoot",
  "OutOfMemoryError",
  "ArgumentError",
  "NotFiniteError",
  "NotPositiveError",
  "Arena",
  "Core",
  "Matrix",
  "Scope",
  "scoped",
  "createCore",
  "hasRelaxedSimd",
  "correctedStep",
  "hermiteRule",
  "checkLikelihood",
  "broadcast",
  "inverseBytes",
  "rowRange",
];
