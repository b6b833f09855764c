// What a model does not know of documents that are yet to be labelled, and how it goes together: the posterior covariance C of their
// scores, the same for each label.

import { knownPart } from "../closed/variance.ts";
import { createCore } from "../core/core.ts";
import type { SparseRows } from "../data/dataset.ts";
import { wholeSquares } from "../data/transform.ts";
import { scalarKernel } from "../model/kernels/index.ts";
import { isClosed, type TrainedModel } from "../model/model.ts";
import type { LearnOptions } from "./learner.ts";

/** What is not known of documents, weighted and scaled, and how it goes together. */
export interface Knowledge {
  /** lam: what answering adds beside. */
  readonly noise: number;
  /** Of each with itself [n]. */
  variances(rows: SparseRows): Float64Array;
  /** Of each with each of others [n,m]. */
  covariances(rows: SparseRows, others: SparseRows): Float32Array;
  /** Of one with all of these [n], for one after another. */
  among(rows: SparseRows): (place: number) => Float64Array;
  [Symbol.dispose](): void;
}

/** By the posterior of an exact model; of others, which keep no documents, by how alike the documents are. */
export async function knowledgeOf(model: TrainedModel, options: LearnOptions): Promise<Knowledge> {
  const noise = isClosed(model) ? model.closed.noise : 1;
  const exact = isClosed(model) && model.closed.form === "exact" ? model.closed : undefined;
  const { threads, ...work } = options;
  const core = exact && (await createCore(threads === undefined ? {} : { threads }));
  const part = core && (await knownPart(core, exact, model.transform, work));
  const kernel = exact ? scalarKernel(exact.kernel, exact.hyper) : scalarKernel("linear", [1, 1, 1]);
  const squaresOf = (rows: SparseRows): Float32Array =>
    wholeSquares(rows, model.transform) ??
    Float32Array.from({ length: rows.rows }, (_, i) =>
      rows.values
        .subarray(rows.rowStart[i], rows.rowStart[i + 1])
        .reduce((sum, value) => sum + value * value, 0),
    );
  /** What the kernel says of one row with all. */
  const prior = (rows: SparseRows, squares: Float32Array, of: SparseRows, place: number): Float64Array => {
    const own = spreadOut(of, place);
    const square = (of === rows ? squares : squaresOf(of))[place] as number;
    return Float64Array.from({ length: rows.rows }, (_, i) =>
      kernel.covariance(product(rows, i, own), squares[i] as number, square),
    );
  };
  const knownOf = (rows: SparseRows): Float32Array => part?.of(rows) ?? new Float32Array(0);
  const size = part?.size ?? 0;
  const productOf = (known: Float32Array, i: number, j: number): number => {
    let sum = 0;
    for (let m = 0; m < size; m++) sum += (known[i * size + m] as number) * (known[j * size + m] as number);
    return sum;
  };
  return {
    noise,
    variances(rows) {
      const known = knownOf(rows);
      return Float64Array.from(squaresOf(rows), (square, i) =>
        Math.max(0, kernel.own(square) - productOf(known, i, i)),
      );
    },
    covariances(rows, others) {
      if (part) return part.covariances(rows, others);
      const [squares, all] = [squaresOf(rows), new Float32Array(rows.rows * others.rows)];
      for (let j = 0; j < others.rows; j++)
        prior(rows, squares, others, j).forEach((value, i) => {
          all[i * others.rows + j] = value;
        });
      return all;
    },
    among(rows) {
      const [squares, known] = [squaresOf(rows), knownOf(rows)];
      return (place) =>
        prior(rows, squares, rows, place).map((value, i) =>
          i === place
            ? Math.max(0, kernel.own(squares[i] as number) - productOf(known, i, i))
            : value - productOf(known, i, place),
        );
    },
    [Symbol.dispose]() {
      part?.free();
      core?.dispose();
    },
  };
}

/** A row in full. */
function spreadOut({ columns, rowStart, columnIndex, values }: SparseRows, row: number): Float64Array {
  const full = new Float64Array(columns);
  for (let e = rowStart[row] as number; e < (rowStart[row + 1] as number); e++)
    full[columnIndex[e] as number] = values[e] as number;
  return full;
}

function product({ rowStart, columnIndex, values }: SparseRows, row: number, full: Float64Array): number {
  let sum = 0;
  for (let e = rowStart[row] as number; e < (rowStart[row + 1] as number); e++)
    sum += (values[e] as number) * (full[columnIndex[e] as number] as number);
  return sum;
}
