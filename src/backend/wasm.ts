// The backend that runs everywhere: the numeric core. Its tensors are matrices of the core, so that most operations are the
// core's own functions of the same names. They run at once; only the interface is asynchronous.

import { adam, RowSteps } from "../core/adam.ts";
import type { Core, Precision } from "../core/core.ts";
import * as covariances from "../core/covariance.ts";
import { type Csr, csr, sparseTimes, sparseTransposeTimes } from "../core/csr.ts";
import * as dense from "../core/dense.ts";
import { drawColumns } from "../core/draw.ts";
import { cholesky, FACTORED, inverseFromFactor, logDeterminant } from "../core/factor.ts";
import { type Integers, integers, type Matrix, matrix, scoped } from "../core/matrix.ts";
import * as patterns from "../core/pattern.ts";
import * as quadrature from "../core/quadrature.ts";
import type { Backend, FactorisationReport } from "./backend.ts";

export interface WasmBackend extends Backend<Matrix, Csr, Integers, patterns.Pattern> {
  readonly core: Core;
}

export function wasmBackend(core: Core, precision: Precision): WasmBackend {
  const tensor: WasmBackend["tensor"] = (rows, columns, values) => {
    const made = matrix(core, rows, columns, precision);
    return values === undefined ? made : made.set(values);
  };
  let report = ALL_FACTORED;
  return {
    name: "wasm",
    onCore: true,
    core,
    precision,
    ...dense,
    ...covariances,
    ...patterns,
    ...quadrature,
    inverseFromFactor,
    logDeterminant,
    adam,
    drawColumns,
    tensor,
    sparse: (x) => csr(core, x, precision),
    indices: (values) => integers(core, values),
    pattern: (columns, lists) => new patterns.Pattern(core, columns, lists),
    write: (to, values) => void to.set(values),
    writeIndices: (indices, values) => void indices.set(values),
    read: async (from) => from.toArray(),
    free(...tensors) {
      for (const each of tensors) each.free();
    },
    rowRange: (of, from, to) => of.rowRange(from, to),
    reshape: (of, rows, columns) => of.reshape(rows, columns),
    sparseTimes: (x, rows, b, out) => void sparseTimes(x, b, out, { rows }),
    sparseTransposeTimes: (x, rows, b, out) => void sparseTransposeTimes(x, b, out, { rows, accumulate: true }),
    factorise(stack, count) {
      report = factorise(stack, count, report);
    },
    async factorisationReport() {
      const made = report;
      report = ALL_FACTORED;
      return made;
    },
    probability: quadrature.predictiveProbability,
    rowSteps: (...given) => new RowSteps(...given),
    dispose() {},
  };
}

const ALL_FACTORED: FactorisationReport = { raised: 0, failed: -1 };

/** Shares of its mean that are added to a diagonal whose matrix could not be factored. */
const JITTERS = [1e-6, 1e-5, 1e-4];

/** Factors each matrix of the stack, with a raised diagonal where it must be; the report with what happened. */
function factorise(stack: Matrix, count: number, report: FactorisationReport): FactorisationReport {
  const n = stack.columns;
  let { raised, failed } = report;
  return scoped((scope) => {
    const start = dense.scale(1, stack, scope.keep(matrix(stack.core, stack.rows, n, stack.precision)));
    cholesky(stack, count).forEach((status, i) => {
      if (status === FACTORED) return;
      const rows = [i * n, (i + 1) * n] as const;
      if (factoriseWithJitter(start.rowRange(...rows), stack.rowRange(...rows))) raised++;
      else failed = i;
    });
    return { raised, failed };
  });
}

function factoriseWithJitter(start: Matrix, out: Matrix): boolean {
  const n = start.columns;
  const values = start.toArray();
  let mean = 0;
  for (let i = 0; i < n; i++) mean += values[i * (n + 1)] / n;
  return scoped((scope) => {
    const jitter = scope.keep(matrix(start.core, 1, n, start.precision));
    return JITTERS.some((share) => {
      dense.scale(1, start, out);
      dense.addDiagonal(out, dense.fill(jitter, share * mean));
      return cholesky(out)[0] === FACTORED;
    });
  });
}
