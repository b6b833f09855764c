// Sparse rows and patterns of labels on the GPU, and products with them. No sum is shared between invocations: what
// is added up by columns is listed by columns.

import { sameSize, wholeNumber } from "../../core/check.ts";
import type { LabelLists } from "../backend.ts";
import type { Recorder } from "./recorder.ts";
import { apart, hasShape, isVector } from "./shapes.ts";
import {
  type Entries,
  type GpuIndices,
  GpuPattern,
  GpuSparse,
  type GpuTensor,
  patternParts,
} from "./tensors.ts";

function upload(recorder: Recorder, starts: Int32Array, places: Int32Array, values: Float32Array): Entries {
  const joined = new Int32Array(starts.length + places.length);
  joined.set(starts);
  joined.set(places, starts.length);
  return {
    places: starts.length,
    numbers: recorder.upload(joined, `${places.length} entries of a sparse matrix`),
    values: recorder.upload(values, `${values.length} values of a sparse matrix`),
  };
}

export function sparse(
  recorder: Recorder,
  rows: number,
  columns: number,
  rowStart: Int32Array,
  columnIndex: Int32Array,
  values: ArrayLike<number>,
): GpuSparse {
  sameSize("rowStart", "elements", rowStart.length, rows + 1);
  sameSize("rowStart", "entries at its end", rowStart[rows] as number, columnIndex.length);
  sameSize("values", "elements", values.length, columnIndex.length);
  for (const column of columnIndex) wholeNumber("columnIndex", column, 0, columns - 1);
  const arrays = { rowStart, columnIndex, values: Float32Array.from(values) };
  return new GpuSparse(rows, columns, upload(recorder, rowStart, columnIndex, arrays.values), arrays);
}

/** The same entries by columns, rows rising in each. */
function byColumns({ rowStart, columnIndex, values }: NonNullable<GpuSparse["arrays"]>, columns: number) {
  const starts = new Int32Array(columns + 1);
  for (const column of columnIndex) (starts[column + 1] as number)++;
  for (let j = 0; j < columns; j++) (starts[j + 1] as number) += starts[j] as number;
  const next = starts.slice();
  const places = new Int32Array(columnIndex.length);
  const transposed = new Float32Array(columnIndex.length);
  for (let i = 0; i + 1 < rowStart.length; i++) {
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++) {
      const to = (next[columnIndex[e] as number] as number)++;
      places[to] = i;
      transposed[to] = values[e] as number;
    }
  }
  return { starts, places, transposed };
}

function columnsOf(recorder: Recorder, x: GpuSparse): NonNullable<GpuSparse["byColumns"]> {
  if (x.byColumns) return x.byColumns;
  const { starts, places, transposed } = byColumns(x.arrays as NonNullable<GpuSparse["arrays"]>, x.columns);
  const position = recorder.allocate(x.rows, "places of rows in a batch");
  recorder.clear({ block: position, offset: 0, length: x.rows });
  x.byColumns = { ...upload(recorder, starts, places, transposed), position };
  x.arrays = undefined;
  return x.byColumns;
}

const whole = (block: Entries["numbers"]) => ({ block, offset: 0, length: block.storage.bytes / 4 });

/** out_i = x[rows[i]] B */
export function sparseTimes(
  recorder: Recorder,
  x: GpuSparse,
  rows: GpuIndices,
  b: GpuTensor,
  out: GpuTensor,
): void {
  sameSize("b", "rows", b.rows, x.columns);
  hasShape("out", out, rows.length, b.columns);
  apart("out", out, { b });
  wholeNumber("rows", rows.greatest, 0, x.rows - 1);
  recorder.run(
    "sparseTimes",
    recorder.strips(out.columns, recorder.constant("sparseTimes", "SIZE"), out.rows),
    { entries: whole(x.byRows.numbers), values: whole(x.byRows.values), chosen: rows, b, out },
    { rows: out.rows, columns: out.columns, choose: 1, starts: 0, places: x.byRows.places },
  );
}

/** out += sum_i x[rows[i]]' b_i */
export function sparseTransposeTimes(
  recorder: Recorder,
  x: GpuSparse,
  rows: GpuIndices,
  b: GpuTensor,
  out: GpuTensor,
): void {
  sameSize("b", "rows", b.rows, rows.length);
  hasShape("out", out, x.columns, b.columns);
  apart("out", out, { b });
  wholeNumber("rows", rows.greatest, 0, x.rows - 1);
  const { numbers, values, places, position } = columnsOf(recorder, x);
  const following = recorder.allocate(rows.length, "repeated rows of a batch");
  const marks = { chosen: rows, position: whole(position), following: whole(following) };
  const grid = recorder.grid(rows.length, recorder.constant("markRows", "SIZE"));
  recorder.run("markRows", grid, marks, { rows: rows.length, erase: 0 });
  recorder.run(
    "sparseTransposeTimes",
    recorder.strips(out.columns, recorder.constant("sparseTransposeTimes", "SIZE"), out.rows),
    {
      entries: whole(numbers),
      values: whole(values),
      position: whole(position),
      following: whole(following),
      b,
      out,
    },
    { rows: out.rows, columns: out.columns, starts: 0, places },
  );
  recorder.run("markRows", grid, marks, { rows: rows.length, erase: 1 });
  recorder.release(following);
}

/** The lists of a pattern, in the order of patternParts. */
export function pattern(
  recorder: Recorder,
  columns: number,
  { rowStart, labelIndex }: LabelLists,
): GpuPattern {
  wholeNumber("columns", columns, 0);
  const [rows, entries] = [rowStart.length - 1, labelIndex.length];
  sameSize("rowStart", "entries at its end", rowStart.at(-1) ?? 0, entries);
  for (const label of labelIndex) wholeNumber("labelIndex", label, 0, columns - 1);
  const counts = new Int32Array(columns);
  for (const label of labelIndex) (counts[label] as number)++;
  let labels = 0;
  for (const count of counts) if (count > 0) labels++;
  const { places, rowsOfEntries, labelNames, labelStarts, byLabel } = patternParts(rows, entries, labels);
  const all = new Int32Array(byLabel + entries);
  all.set(rowStart);
  all.set(labelIndex, places);
  for (let i = 0; i < rows; i++)
    all.fill(i, rowsOfEntries + (rowStart[i] as number), rowsOfEntries + (rowStart[i + 1] as number));
  let held = 0;
  for (let label = 0, at = 0; label < columns; label++) {
    const count = counts[label] as number;
    if (count === 0) continue;
    all[labelNames + at] = label;
    all[labelStarts + at] = held;
    // From here on: where the label's next entry goes.
    counts[label] = held;
    held += count;
    at++;
  }
  all[labelStarts + labels] = held;
  for (let e = 0; e < entries; e++) all[byLabel + (counts[labelIndex[e] as number] as number)++] = e;
  const block = recorder.upload(all, `a pattern of ${entries} entries`);
  return new GpuPattern(block, rows, columns, entries, labels);
}

/** out_e = a_i . b_k for each entry e = (i, k) */
export function sampledProducts(
  recorder: Recorder,
  of: GpuPattern,
  a: GpuTensor,
  b: GpuTensor,
  out: GpuTensor,
): void {
  hasShape("a", a, of.rows, a.columns);
  hasShape("b", b, of.columns, a.columns);
  isVector("out", out, of.entries);
  const { places, rowsOfEntries } = of.parts;
  recorder.run(
    "sampledProducts",
    recorder.grid(of.entries, recorder.constant("sampledProducts", "ENTRIES")),
    { entries: whole(of.block), a, b, out },
    { count: of.entries, columns: a.columns, places, rowsOfEntries },
  );
}

/** out = V B */
export function patternTimes(
  recorder: Recorder,
  of: GpuPattern,
  values: GpuTensor,
  b: GpuTensor,
  out: GpuTensor,
): void {
  isVector("values", values, of.entries);
  hasShape("b", b, of.columns, b.columns);
  hasShape("out", out, of.rows, b.columns);
  recorder.run(
    "sparseTimes",
    recorder.strips(out.columns, recorder.constant("sparseTimes", "SIZE"), out.rows),
    { entries: whole(of.block), values, b, out },
    { rows: out.rows, columns: out.columns, choose: 0, starts: 0, places: of.parts.places },
  );
}

/** out += V' B */
export function patternTransposeTimes(
  recorder: Recorder,
  of: GpuPattern,
  values: GpuTensor,
  b: GpuTensor,
  out: GpuTensor,
): void {
  isVector("values", values, of.entries);
  hasShape("b", b, of.rows, b.columns);
  hasShape("out", out, of.columns, b.columns);
  const { rowsOfEntries, labelNames, labelStarts, byLabel } = of.parts;
  recorder.run(
    "patternTransposeTimes",
    recorder.strips(out.columns, recorder.constant("patternTransposeTimes", "SIZE"), of.labels),
    { entries: whole(of.block), values, b, out },
    { labels: of.labels, columns: out.columns, rowsOfEntries, labelNames, labelStarts, byLabel },
  );
}
