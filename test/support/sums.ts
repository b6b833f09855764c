// The share of the battery that belongs to kernel rows, sums over points and the inverse in place.

import {
  addColumnSums,
  addLabelSums,
  addMatrix,
  addSparseGram,
  addTransposeTimes,
  type Core,
  type CsrArrays,
  csr,
  inverseInPlace,
  matrix,
  Pattern,
  Postings,
  type Precision,
  type RealArray,
  scoped,
  sparseProducts,
  sparseQuadratic,
} from "../../src/core/index.ts";
import { randomNumbers, symmetricMatrix } from "./numbers.ts";

/** Outputs of the kernels over points, on the rows given. */
export async function sumOutputs(core: Core, precision: Precision, arrays: CsrArrays): Promise<RealArray[]> {
  return await scoped(async (scope) => {
    const { rows, columns } = arrays;
    const x = scope.keep(csr(core, arrays, precision));
    const make = (m: number, n: number) => scope.keep(matrix(core, m, n, precision));
    const double = (m: number, n: number) => scope.keep(matrix(core, m, n, "f64"));
    const index = scope.keep(new Postings(x));
    const products = sparseProducts(x, index, make(rows, rows));
    const lower = sparseProducts(x, index, make(rows - 20, rows), { from: 20, lower: true });
    const labels = scope.keep(
      new Pattern(core, 5, {
        rowStart: Int32Array.from({ length: rows + 1 }, (_, i) => 2 * i),
        labelIndex: Int32Array.from({ length: 2 * rows }, (_, e) => ((e >> 1) % 3) + 2 * (e & 1)),
      }),
    );
    const b = make(rows, 70).set(randomNumbers(rows * 70, 61));
    const square = make(300, 300).set(symmetricMatrix(300, 1e2, 62));
    const c = make(columns, columns).set(symmetricMatrix(columns, 1e2, 63));
    const outputs = [
      products,
      lower,
      addSparseGram(x, double(columns, columns)),
      addTransposeTimes(x, b, double(columns, 70)),
      addTransposeTimes(labels, b, double(5, 70), { sign: -1 }),
      addLabelSums(labels, x, double(5, columns)),
      addMatrix(b, double(rows, 70)),
      addColumnSums(b, double(1, 70)),
      addColumnSums(x, double(1, columns)),
      sparseQuadratic(x, c, make(1, rows)),
      await inverseInPlace(square),
    ];
    return outputs.map((output) => output.toArray());
  });
}
