// The rest of argumentcases.ts: factors, clusters, whole numbers, likelihoods, random numbers, sums over points.

import * as api from "../../src/core/index.ts";
import { type Case, type Makers, that } from "./guards.ts";

const key = { seed: 1, stream: 2 };
const square = (m: Makers) => ({
  x: m.sparse(3, 4),
  out: m.matrix(4, 4, "f64"),
  from: 0,
  to: 3,
  sign: 1 as const,
});

export const moreCases: Record<string, Case> = {
  eigenSymmetric: that(
    ({ positive }) => ({ a: positive(3), wanted: 2 }),
    ({ a, wanted }) => api.eigenSymmetric(a, wanted).vectors.free(),
  ),
  cholesky: that(
    ({ positive }) => ({ a: positive(3), count: 1 }),
    ({ a, count }) => api.cholesky(a, count),
  ),
  solveTriangular: that(
    ({ positive, matrix }) => ({
      t: positive(3),
      b: matrix(3, 2),
      side: "left" as const,
      triangle: "lower" as const,
    }),
    ({ t, b, ...options }) => api.solveTriangular(t, b, options),
  ),
  solveInTurns: that(
    ({ positive, matrix }) => ({ t: positive(3), b: matrix(3, 2), triangle: "lower" as const }),
    ({ t, b, ...options }) => api.solveInTurns(t, b, options),
  ),
  inverseFromFactor: that(
    ({ positive, matrix }) => ({ factor: positive(3), out: matrix(3, 3), count: 1 }),
    ({ factor, out, count }) => api.inverseFromFactor(factor, out, count),
  ),
  logDeterminant: that(
    ({ positive, matrix }) => ({ factor: positive(3), out: matrix(1, 1), count: 1 }),
    ({ factor, out, count }) => api.logDeterminant(factor, out, count),
  ),
  factorInPlace: that(
    ({ positive }) => ({ a: positive(3) }),
    ({ a }) => api.factorInPlace(a),
  ),
  inverseInPlace: that(
    ({ positive }) => ({ a: positive(3) }),
    ({ a }) => api.inverseInPlace(a),
  ),
  growInverse: that(
    ({ positive }) => ({ a: positive(3) }),
    ({ a }) => api.growInverse(a, 1),
  ),
  shrinkInverse: that(
    ({ positive }) => ({ a: positive(3) }),
    ({ a }) => api.shrinkInverse(a, 1),
  ),
  mirrored: that(
    ({ positive }) => ({ a: positive(3) }),
    ({ a }) => api.mirrored(a),
  ),
  lowerInverseColumns: that(
    ({ positive }) => ({ l: positive(3) }),
    ({ l }) => api.lowerInverseColumns(l, () => {}),
  ),
  Postings: that(
    (m) => ({ z: m.sparse(3, 4) }),
    ({ z }) => new api.Postings(z).free(),
  ),
  sparseProducts: that(
    (m) => ({
      x: m.sparse(2, 4),
      z: m.keep(new api.Postings(m.sparse(3, 4))),
      out: m.matrix(2, 3),
      from: 0,
      to: 2,
    }),
    ({ x, z, out, ...range }) => api.sparseProducts(x, z, out, range),
  ),
  kmeans: that(
    ({ matrix }) => ({
      rows: matrix(5, 2),
      clusters: 2,
      iterations: 2,
      startRows: 5,
    }),
    async ({ rows, ...options }) => (await api.kmeans(rows, options)).centres.free(),
  ),
  integers: that(
    ({ core }) => ({ core, length: 3 }),
    ({ core, length }) => api.integers(core, length).free(),
  ),
  Integers: that(
    ({ core }) => ({ core, length: 3 }),
    ({ core, length }) => new api.Integers(core, length).free(),
  ),
  matrix: that(
    ({ core, precision }) => ({ core, rows: 2, columns: 3, precision }),
    ({ core, rows, columns, precision }) => api.matrix(core, rows, columns, precision).free(),
  ),
  matrixFrom: that(
    ({ core, precision }) => ({ core, rows: 1, columns: 2, precision }),
    ({ core, rows, columns, precision }) => api.matrixFrom(core, rows, columns, [1, 2], precision).free(),
  ),
  Pattern: that(
    ({ core }) => ({ core, columns: 3, rowStart: Int32Array.of(0, 1, 2), labelIndex: Int32Array.of(0, 2) }),
    ({ core, columns, ...lists }) => new api.Pattern(core, columns, lists).free(),
  ),
  patternTimes: that(
    (m) => ({ pattern: m.pattern(3, 4), values: m.matrix(1, 6), b: m.matrix(4, 2), out: m.matrix(3, 2) }),
    ({ pattern, values, b, out }) => api.patternTimes(pattern, values, b, out),
  ),
  patternTransposeTimes: that(
    (m) => ({ pattern: m.pattern(3, 4), values: m.matrix(1, 6), b: m.matrix(3, 2), out: m.matrix(4, 2) }),
    ({ pattern, values, b, out }) => api.patternTransposeTimes(pattern, values, b, out),
  ),
  sampledProducts: that(
    (m) => ({ pattern: m.pattern(3, 4), a: m.matrix(3, 2), b: m.matrix(4, 2), out: m.matrix(1, 6) }),
    ({ pattern, a, b, out }) => api.sampledProducts(pattern, a, b, out),
  ),
  expectedLogLikelihood: that(
    (m) => ({
      mean: m.matrix(2, 3),
      variance: m.matrix(2, 3),
      rowStart: Int32Array.of(0, 1, 2),
      labelIndex: Int32Array.of(0, 2),
      scale: 1,
      quadrature: 4,
      rowValue: m.matrix(1, 2),
      dMean: m.matrix(2, 3),
      dVariance: m.matrix(2, 3),
    }),
    ({ rowStart, labelIndex, rowValue, dMean, dVariance, ...rest }) =>
      api.expectedLogLikelihood({ ...rest, positives: { rowStart, labelIndex } }, { rowValue, dMean, dVariance }),
  ),
  predictiveProbability: that(
    (m) => ({
      mean: m.matrix(2, 3),
      variance: m.matrix(2, 3),
      out: m.matrix(2, 3),
      quadrature: 4,
    }),
    ({ mean, variance, out, quadrature }) => api.predictiveProbability(mean, variance, out, quadrature),
  ),
  fillUniform: that(
    ({ matrix }) => ({ out: matrix(2, 3), seed: 1, stream: 0 }),
    ({ out, ...own }) => api.fillUniform(out, own),
  ),
  fillNormal: that(
    ({ matrix }) => ({ out: matrix(2, 3), seed: 1, stream: 0 }),
    ({ out, ...own }) => api.fillNormal(out, own),
  ),
  uniformNumbers: that(
    ({ core }) => ({ core, count: 3 }),
    ({ core, count }) => api.uniformNumbers(core, count, key),
  ),
  permutation: that(
    ({ core }) => ({ core, n: 3 }),
    ({ core, n }) => api.permutation(core, n, key),
  ),
  choice: that(
    ({ core }) => ({ core, n: 9, k: 2, excluded: Int32Array.of(1, 3) }),
    ({ core, n, k, excluded }) => api.choice(core, n, k, key, excluded),
  ),
  RowSteps: that(
    (m) => ({
      x: m.sparse(3, 4),
      weights: m.matrix(4, 2),
      first: m.matrix(4, 2),
      second: m.matrix(4, 2),
      inverse: m.matrix(1, 1),
      rows: m.wholes([0, 2]),
      g: m.matrix(2, 2),
      step: 0,
      steps: 2,
    }),
    ({ x, weights, first, second, inverse, rows, g, step, steps }) => {
      const made = new api.RowSteps(x, weights, { first, second }, inverse, {
        steps,
        at: () => ({ rate: 0.1, pull: 0.1 }),
      });
      try {
        made.enter(rows, step);
        made.step(g, step);
        made.settle(step + 1);
      } finally {
        made.free();
      }
    },
  ),
  topK: that(
    ({ matrix }) => ({ scores: matrix(2, 3), k: 2 }),
    ({ scores, k }) => api.topK(scores, k),
  ),
  addSparseGram: that(square, ({ x, out, ...options }) => api.addSparseGram(x, out, options), {
    onePrecision: false,
  }),
  addTransposeTimes: that(
    (m) => ({
      x: m.sparse(3, 4),
      b: m.matrix(3, 2),
      out: m.matrix(4, 2, "f64"),
      from: 0,
      to: 3,
      sign: 1 as const,
    }),
    ({ x, b, out, ...options }) => api.addTransposeTimes(x, b, out, options),
    { onePrecision: false },
  ),
  addLabelSums: that(
    (m) => ({
      labels: m.pattern(3, 5),
      x: m.sparse(3, 4),
      out: m.matrix(5, 4, "f64"),
      from: 0,
      to: 3,
      sign: 1 as const,
    }),
    ({ labels, x, out, ...options }) => api.addLabelSums(labels, x, out, options),
    { onePrecision: false },
  ),
  addMatrix: that(
    (m) => ({ x: m.matrix(3, 3), out: m.matrix(3, 3, "f64"), part: "lower" as const, sign: 1 as const }),
    ({ x, out, ...options }) => api.addMatrix(x, out, options),
    { onePrecision: false },
  ),
  addColumnSums: that(
    (m) => ({ x: m.sparse(3, 4), out: m.matrix(1, 4, "f64"), from: 0, to: 3, sign: 1 as const }),
    ({ x, out, ...options }) => api.addColumnSums(x, out, options),
    { onePrecision: false },
  ),
  sparseQuadratic: that(
    (m) => ({ x: m.sparse(3, 4), c: m.matrix(4, 4), out: m.matrix(1, 3), from: 0, to: 3 }),
    ({ x, c, out, ...range }) => api.sparseQuadratic(x, c, out, range),
  ),
  truncatedSvd: that(
    (m) => ({ x: m.sparse(6, 5), rank: 2, oversample: 2, iterations: 4, tolerance: 0.01 }),
    async ({ x, ...options }) => (await api.truncatedSvd(x, options)).right.free(),
  ),
  leadingEigenvectors: that(
    (m) => ({ rank: 2, oversample: 2, iterations: 4, a: m.positive(5) }),
    async ({ a, ...options }) => {
      const { core, precision } = a;
      const apply = (q: api.Matrix, y: api.Matrix): void => void api.gemm(a, q, y);
      (await api.leadingEigenvectors({ core, precision, size: 5, trace: 50, apply }, options)).vectors.free();
    },
  ),
};
