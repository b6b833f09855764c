// Start values from some of the points, where there are very many.
//
// A subspace found on a sample holds more of the sample than any other does, and so on average at least the share that the best
// subspace holds of all points; of all points it holds at most that share. So the two shares that are measured have the
// best one between them: where they are close, the sample's subspace is as good as one found on all points.

import { type Csr, csr, rowSquares, sparseTimes } from "../core/csr.ts";
import { rowSums } from "../core/dense.ts";
import { type Matrix, matrix, scoped, sumOf } from "../core/matrix.ts";
import { byParts, type WorkOptions } from "../core/progress.ts";
import { choice } from "../core/random.ts";
import { truncatedSvd } from "../core/svd.ts";

/** Points of the first sample; with less than twice as many points all are taken. */
export const SAMPLE_POINTS = 100_000;
/** Most that the sample's share of squares may be above that of all points; else a sample of twice the size is tried. */
const SHARE_DIFFERENCE = 0.01;
const SAMPLE_STREAM = 103;
/** Rows that are projected together. */
const CHUNK = 2048;

/** Some rows of x in their order, yours to free; x itself where there are less than twice as many. */
export function sampleOf(x: Csr, count: number, seed: number): Csr {
  if (x.rows < 2 * count) return x;
  const rows = choice(x.core, x.rows, count, { seed, stream: SAMPLE_STREAM });
  const [start, column, value] = [x.start.view(), x.column.view(), x.value.view()];
  const rowStart = new Int32Array(count + 1);
  rows.forEach((row, i) => {
    rowStart[i + 1] = (rowStart[i] as number) + (start[row + 1] as number) - (start[row] as number);
  });
  const entries = rowStart[count] as number;
  const columnIndex = new Int32Array(entries);
  const values = x.precision === "f32" ? new Float32Array(entries) : new Float64Array(entries);
  rows.forEach((row, i) => {
    columnIndex.set(column.subarray(start[row], start[row + 1]), rowStart[i]);
    values.set(value.subarray(start[row], start[row + 1]), rowStart[i]);
  });
  return csr(x.core, { rows: count, columns: x.columns, rowStart, columnIndex, values }, x.precision);
}

/** Does something with a sample of the rows, or with all of them. */
export async function withSample<T>(
  x: Csr,
  count: number,
  seed: number,
  use: (rows: Csr) => Promise<T>,
): Promise<T> {
  const rows = sampleOf(x, count, seed);
  try {
    return await use(rows);
  } finally {
    if (rows !== x) rows.free();
  }
}

export interface SampledOptions extends WorkOptions {
  rank: number;
  seed: number;
  note: (text: string) => void;
  /** Points of the first sample. */
  sample?: number;
}

/** The leading right singular vectors [D,R], of a sample where it is as good; says so. */
export async function sampledSvd(x: Csr, options: SampledOptions): Promise<Matrix> {
  const { rank, seed, note, sample = SAMPLE_POINTS, ...work } = options;
  for (let count = Math.max(sample, rank); ; count *= 2) {
    const { right, residual } = await withSample(x, count, seed, (rows) =>
      truncatedSvd(rows, { rank, seed, ...work }),
    );
    if (x.rows < 2 * count) return right;
    const ofSample = 1 - residual * residual;
    const ofAll = await shareOfSquares(x, right, work);
    const shares = `${percent(ofSample)} of its squares and ${percent(ofAll)} of those of all ${x.rows} points`;
    if (ofSample - ofAll <= SHARE_DIFFERENCE) {
      note(
        `singular vectors from a sample of ${count} points: they hold ${shares}; the best share of all is between the two`,
      );
      return right;
    }
    note(`singular vectors from a sample of ${count} points hold ${shares}: a larger sample is needed`);
    right.free();
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** |X V|^2 / |X|^2 for orthonormal V [D,R]. */
export async function shareOfSquares(x: Csr, basis: Matrix, work: WorkOptions): Promise<number> {
  const { core, precision, rows, nonzeros } = x;
  return await scoped(async (scope) => {
    const room = scope.keep(matrix(core, CHUNK, basis.columns, precision));
    const sums = scope.keep(matrix(core, CHUNK, 1, precision));
    let held = 0;
    const operations = (2 * CHUNK * nonzeros * basis.columns) / Math.max(1, rows);
    await byParts(work, Math.ceil(rows / CHUNK), operations, (first, last) => {
      for (let chunk = first; chunk < last; chunk++) {
        const [from, to] = [chunk * CHUNK, Math.min(rows, (chunk + 1) * CHUNK)];
        const projected = sparseTimes(x, basis, room.rowRange(0, to - from), { from, to });
        held += sumOf(rowSums(projected, sums.rowRange(0, to - from), projected).view());
      }
    });
    const all = sumOf(rowSquares(x, scope.keep(matrix(core, rows, 1, precision))).view());
    return all > 0 ? held / all : 1;
  });
}
