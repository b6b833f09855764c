// A fixed battery over all kernels. Its digest must be the same in every runtime and for any number of threads.

import {
  adam,
  addDiagonal,
  blend,
  type Core,
  choice,
  cholesky,
  columnSums,
  combine,
  convert,
  covariance,
  covarianceGradient,
  csr,
  diagonal,
  eigenSymmetric,
  expectedLogLikelihood,
  fill,
  fillNormal,
  fillUniform,
  gatherRows,
  gemm,
  gram,
  gramTimes,
  integers,
  inverseFromFactor,
  kmeans,
  logDeterminant,
  type MapName,
  type Matrix,
  map,
  matrix,
  matrixFrom,
  Pattern,
  type Precision,
  patternTransposeTimes,
  permutation,
  predictiveProbability,
  type RealArray,
  RowSteps,
  rowSquares,
  rowSums,
  sampledProducts,
  scaleRows,
  scoped,
  solveTriangular,
  sparseTimes,
  sparseTransposeTimes,
  syrk,
  topK,
  transpose,
  truncatedSvd,
  uniformNumbers,
} from "../../src/core/index.ts";
import { closedOutputs } from "./closedoutputs.ts";
import { randomNumbers, symmetricMatrix } from "./numbers.ts";
import { sumOutputs } from "./sums.ts";

type Output = RealArray | Int32Array;

function denseOutputs(core: Core, precision: Precision): Output[] {
  return scoped((scope) => {
    const outputs: Output[] = [];
    const put = (m: Matrix): Matrix => {
      outputs.push(m.toArray());
      return m;
    };
    const make = (rows: number, columns: number) => scope.keep(matrix(core, rows, columns, precision));
    const given = (rows: number, columns: number, seed: number) =>
      make(rows, columns).set(randomNumbers(rows * columns, seed));
    const a = given(150, 301, 1);
    const b = given(301, 77, 2);
    const w = given(1, 301, 3);
    put(gemm(a, b, make(150, 77), { alpha: 0.3 }));
    put(gemm(b, a, make(77, 150), { transposeA: true, transposeB: true, weights: w }));
    put(syrk(a, make(150, 150), { weights: w }));
    const spd = make(3 * 130, 130).set(
      [0, 1, 2].flatMap((seed) => [...symmetricMatrix(130, 1e3, seed).map(Math.fround)]),
    );
    outputs.push(cholesky(spd, 3));
    put(logDeterminant(spd, make(1, 3), 3));
    put(inverseFromFactor(spd, make(390, 130), 3));
    const one = spd.rowRange(0, 130);
    put(solveTriangular(one, given(130, 41, 4)));
    put(solveTriangular(one, given(41, 130, 5), { side: "right" }));
    put(combine("divide", a, given(150, 1, 6), make(150, 301)));
    put(blend(0.7, a, -1.3, a, make(150, 301)));
    put(rowSums(a, make(1, 150), a));
    put(columnSums(a, make(1, 301), given(150, 1, 7)));
    put(transpose(a, make(301, 150)));
    const square = put(gemm(a, a, make(150, 150), { transposeB: true }));
    put(addDiagonal(square, diagonal(square, make(1, 150))));
    put(gatherRows(a, scope.keep(integers(core, [3, 0, 149, 3])), make(4, 301)));
    put(convert(a, scope.keep(matrix(core, 150, 301, precision === "f32" ? "f64" : "f32"))));
    for (const op of ["exp", "log", "log1p", "softplus", "sigmoid", "sqrt", "square", "reciprocal"] as MapName[]) {
      put(map(op, fill(make(1, 301), 1).set(randomNumbers(301, 8).map((x) => (x + 1.001) * 20)), make(1, 301)));
    }
    const hyper = make(1, 3).set([0.1, -0.2, 0.3]);
    const squares = { rowSquares: given(1, 150, 9), columnSquares: given(1, 150, 10) };
    const inputs = {
      terms: { linear: true, stationary: "se" },
      products: square,
      ...squares,
      hyper,
    } as const;
    const k = put(covariance(inputs, make(150, 150)));
    const sums = make(150, 3);
    const part = make(150, 150);
    covarianceGradient(inputs, k, part, sums);
    for (const m of [k, part, sums]) put(m);
    const top = topK(a, 7);
    outputs.push(top.indices, top.values);
    const state = { first: make(150, 301), second: make(150, 301) };
    for (let step = 1; step <= 3; step++) adam(a, given(150, 301, 20 + step), state, { rate: 0.01, step });
    put(a);
    outputs.push(...rowStepOutputs(core, precision));
    put(fillUniform(make(1, 1001), { seed: 2 ** 45 + 1, stream: 5 }));
    put(fillNormal(make(1, 1001), { seed: 3, stream: 6 }));
    outputs.push(...likelihoodOutputs(core, precision));
    return outputs;
  });
}

function rowStepOutputs(core: Core, precision: Precision): Output[] {
  return scoped((scope) => {
    const make = (rows: number, seed: number) =>
      scope.keep(matrix(core, rows, 37, precision)).set(randomNumbers(rows * 37, seed));
    const rowStart = [0, 1, 2, 3, 4, 5, 6].map((row) => 5 * row);
    const columnIndex = Array.from({ length: 30 }, (_, e) => (7 * e) % 40);
    const values = randomNumbers(30, 31);
    const x = scope.keep(csr(core, { rows: 6, columns: 40, rowStart, columnIndex, values }, precision));
    const [weights, first, second, g] = [make(40, 32), make(40, 33), make(40, 34), make(3, 35)];
    map("square", second, second);
    const inverse = scope.keep(matrixFrom(core, 1, 1, [0.8], precision));
    const schedule = { steps: 4, at: (step: number) => ({ rate: 0.01 / (step + 1), pull: step }) };
    const steps = scope.keep(new RowSteps(x, weights, { first, second }, inverse, schedule));
    const rows = scope.keep(integers(core, 3));
    for (let step = 0; step < 4; step++) {
      steps.enter(rows.set([step, step + 1, step + 2]), step);
      steps.step(g, step);
    }
    steps.settle(4);
    return [weights, first, second].map((each) => each.toArray());
  });
}

function likelihoodOutputs(core: Core, precision: Precision): Output[] {
  return scoped((scope) => {
    const outputs: Output[] = [];
    const make = (rows: number, columns: number) => scope.keep(matrix(core, rows, columns, precision));
    const positives = {
      rowStart: Int32Array.from([0, 2, 2, ...Array(37).fill(3)]),
      labelIndex: Int32Array.from([1, 30, 4]),
    };
    for (const quadrature of ["closed", 20] as const) {
      const mean = make(39, 51).set(randomNumbers(39 * 51, 11).map((x) => 20 * x));
      const variance = make(39, 51).set(randomNumbers(39 * 51, 12).map((x) => 5 + 5 * x));
      const out = { rowValue: make(1, 39), dMean: make(39, 51), dVariance: make(39, 51) };
      const ofRow = make(1, 39).set(randomNumbers(39, 13).map(Math.abs));
      const ofLabel = make(1, 51).set(randomNumbers(51, 14).map((x) => 4 * Math.abs(x)));
      expectedLogLikelihood({ mean, variance, positives, scale: -1.5, quadrature }, out);
      for (const m of Object.values(out)) outputs.push(m.toArray());
      expectedLogLikelihood({ mean, variance: { ofRow, ofLabel }, positives, scale: 1, quadrature }, out);
      for (const m of Object.values(out)) outputs.push(m.toArray());
      outputs.push(predictiveProbability(mean, variance, make(39, 51), quadrature).toArray());
    }
    return outputs;
  });
}

/** A sparse matrix with rows of very different lengths. */
function sparseArrays() {
  const rows = 120;
  const columns = 83;
  const noise = randomNumbers(rows * columns, 21);
  const rowStart = [0];
  const columnIndex: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const value = noise[i * columns + j];
      if (Math.abs(value) < 0.02 * (i % 13)) {
        columnIndex.push(j);
        values.push(value + (i % 5));
      }
    }
    rowStart.push(columnIndex.length);
  }
  return { rows, columns, rowStart, columnIndex, values };
}

async function sparseOutputs(core: Core, precision: Precision): Promise<Output[]> {
  return await scoped(async (scope) => {
    const outputs: Output[] = [];
    const put = (m: Matrix): Matrix => {
      outputs.push(m.toArray());
      return m;
    };
    const make = (rows: number, columns: number) => scope.keep(matrix(core, rows, columns, precision));
    const given = (rows: number, columns: number, seed: number) =>
      make(rows, columns).set(randomNumbers(rows * columns, seed));
    const x = scope.keep(csr(core, sparseArrays(), precision));
    const some = scope.keep(integers(core, [5, 119, 5, 64]));
    put(sparseTimes(x, given(83, 70, 31), make(120, 70)));
    put(sparseTimes(x, given(83, 70, 32), make(4, 70), { rows: some }));
    put(sparseTransposeTimes(x, given(120, 70, 33), make(83, 70)));
    put(gramTimes(x, given(83, 35, 34), make(83, 35)));
    put(gram(x, make(83, 83)));
    scaleRows(x, given(1, 120, 35));
    const byColumn = given(1, 83, 36).view();
    const [columns, entries] = [x.column.view(), x.value.view()];
    for (let e = 0; e < x.nonzeros; e++) entries[e] *= byColumn[columns[e]];
    put(rowSquares(x, make(1, 120)));
    const pattern = scope.keep(
      new Pattern(core, 83, {
        rowStart: Int32Array.from([0, 3, 3, 5]),
        labelIndex: Int32Array.from([0, 7, 82, 4, 5]),
      }),
    );
    const values = put(sampledProducts(pattern, given(3, 40, 37), given(83, 40, 38), make(1, 5)));
    put(patternTransposeTimes(pattern, values, given(3, 40, 39), make(83, 40)));
    const svd = await truncatedSvd(x, { rank: 12, seed: 9 });
    outputs.push(svd.singularValues);
    put(scope.keep(svd.right));
    const found = await kmeans(x, { clusters: 9, seed: 2, iterations: 6 });
    put(scope.keep(found.centres));
    outputs.push(found.assignments);
    const onDense = await kmeans(given(200, 33, 41), { clusters: 11, seed: 3, iterations: 6 });
    put(scope.keep(onDense.centres));
    outputs.push(onDense.assignments);
    return outputs;
  });
}

function commonOutputs(core: Core): Output[] {
  return scoped((scope) => {
    const { values, vectors } = eigenSymmetric(
      scope.keep(matrixFrom(core, 140, 140, symmetricMatrix(140, 1e4, 51), "f64")),
    );
    scope.keep(vectors);
    return [
      values,
      vectors.toArray(),
      permutation(core, 1000, { seed: 5, stream: 1 }),
      choice(core, 1000, 50, { seed: 5, stream: 2 }, [3, 4, 500]),
      uniformNumbers(core, 100, { seed: 5, stream: 3 }),
    ];
  });
}

/** The outputs of every kernel. */
export async function batteryOutputs(core: Core): Promise<Output[]> {
  return [
    ...denseOutputs(core, "f32"),
    ...denseOutputs(core, "f64"),
    ...(await sparseOutputs(core, "f32")),
    ...(await sparseOutputs(core, "f64")),
    ...(await sumOutputs(core, "f32", sparseArrays())),
    ...(await sumOutputs(core, "f64", sparseArrays())),
    ...(await closedOutputs(core, "f32")),
    ...(await closedOutputs(core, "f64")),
    ...commonOutputs(core),
  ];
}

/** SHA-256 over the outputs of every kernel, in hexadecimal. */
export async function batteryDigest(core: Core): Promise<string> {
  const outputs = await batteryOutputs(core);
  const bytes = new Uint8Array(outputs.reduce((total, output) => total + output.byteLength, 0));
  let offset = 0;
  for (const output of outputs) {
    if (!output.every(Number.isFinite)) throw new Error("the battery made a number that is not finite");
    bytes.set(new Uint8Array(output.buffer, output.byteOffset, output.byteLength), offset);
    offset += output.byteLength;
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
