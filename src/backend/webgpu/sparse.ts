// Sparse rows and patterns of labels on the GPU, and products with them. No sum is shared between invocations: what
// is added up by columns is listed by columns.

import { sameSize, wholeNumber } from "../../base/check.ts";
import { type SparseRows, transpose } from "../../base/sparse.ts";
import { disjoint, hasShape, isVector } from "../../core/shapes.ts";
import type { Operation, Recorder } from "./recorder.ts";
import { type Entries, GpuSparse } from "./tensors.ts";

function upload(gpu: Recorder, starts: Int32Array, places: Int32Array, values: Float32Array): Entries {
  return {
    places: starts.length,
    numbers: gpu.uploadLists(starts, places, `${places.length} entries of a sparse matrix`).block,
    values: gpu.upload(values, `${values.length} values of a sparse matrix`),
  };
}

export const sparse: Operation<"sparse"> = (gpu, x) => {
  const { rows, columns, rowStart, columnIndex, values } = x;
  sameSize("rowStart", "elements", rowStart.length, rows + 1);
  sameSize("rowStart", "entries at its end", rowStart[rows], columnIndex.length);
  sameSize("values", "elements", values.length, columnIndex.length);
  for (const column of columnIndex) wholeNumber("columnIndex", column, 0, columns - 1);
  const arrays = { rows, columns, rowStart, columnIndex, values: Float32Array.from(values) };
  return new GpuSparse(rows, columns, upload(gpu, rowStart, columnIndex, arrays.values), arrays);
};

function columnsOf(gpu: Recorder, x: GpuSparse): NonNullable<GpuSparse["byColumns"]> {
  if (x.byColumns) return x.byColumns;
  const { rowStart, columnIndex, values } = transpose(x.arrays as SparseRows);
  const position = gpu.allocate(x.rows, "places of rows in a batch");
  gpu.clear({ block: position, offset: 0, length: x.rows });
  x.byColumns = { ...upload(gpu, rowStart, columnIndex, values), position };
  x.arrays = undefined;
  return x.byColumns;
}

const whole = (block: Entries["numbers"]) => ({ block, offset: 0, length: block.storage.bytes / 4 });

export const sparseTimes: Operation<"sparseTimes"> = (gpu, x, rows, b, out) => {
  sameSize("b", "rows", b.rows, x.columns);
  hasShape({ out }, rows.length, b.columns);
  disjoint("out", out, { b });
  wholeNumber("rows", rows.greatest, 0, x.rows - 1);
  gpu.run(
    "sparseTimes",
    gpu.strips("sparseTimes", out.columns, out.rows),
    { entries: whole(x.byRows.numbers), values: whole(x.byRows.values), chosen: rows, b, out },
    { rows: out.rows, columns: out.columns, choose: 1, starts: 0, places: x.byRows.places },
  );
};

export const sparseTransposeTimes: Operation<"sparseTransposeTimes"> = (gpu, x, rows, b, out) => {
  sameSize("b", "rows", b.rows, rows.length);
  hasShape({ out }, x.columns, b.columns);
  disjoint("out", out, { b });
  wholeNumber("rows", rows.greatest, 0, x.rows - 1);
  const { numbers, values, places, position } = columnsOf(gpu, x);
  const following = gpu.allocate(rows.length, "repeated rows of a batch");
  const marks = { chosen: rows, position: whole(position), following: whole(following) };
  gpu.each("markRows", rows.length, marks, { rows: rows.length, erase: 0 });
  gpu.run(
    "sparseTransposeTimes",
    gpu.strips("sparseTransposeTimes", out.columns, out.rows),
    { entries: whole(numbers), values: whole(values), position: marks.position, following: marks.following, b, out },
    { rows: out.rows, columns: out.columns, starts: 0, places },
  );
  gpu.each("markRows", rows.length, marks, { rows: rows.length, erase: 1 });
  gpu.release(following);
};

export const pattern: Operation<"pattern"> = (gpu, columns, { rowStart, labelIndex }) => {
  wholeNumber("columns", columns, 0);
  const [rows, entries] = [rowStart.length - 1, labelIndex.length];
  sameSize("rowStart", "entries at its end", rowStart.at(-1) ?? 0, entries);
  for (const label of labelIndex) wholeNumber("labelIndex", label, 0, columns - 1);
  const counts = new Int32Array(columns);
  for (const label of labelIndex) counts[label]++;
  let labels = 0;
  for (const count of counts) if (count > 0) labels++;
  const places = rows + 1;
  const rowsOfEntries = places + entries;
  const labelNames = rowsOfEntries + entries;
  const labelStarts = labelNames + labels;
  const byLabel = labelStarts + labels + 1;
  const all = new Int32Array(byLabel + entries);
  all.set(rowStart);
  all.set(labelIndex, places);
  for (let i = 0; i < rows; i++) all.fill(i, rowsOfEntries + rowStart[i], rowsOfEntries + rowStart[i + 1]);
  let held = 0;
  for (let label = 0, at = 0; label < columns; label++) {
    const count = counts[label];
    if (count === 0) continue;
    all[labelNames + at] = label;
    all[labelStarts + at] = held;
    // From here on: where the label's next entry goes.
    counts[label] = held;
    held += count;
    at++;
  }
  all[labelStarts + labels] = held;
  for (let e = 0; e < entries; e++) all[byLabel + counts[labelIndex[e]]++] = e;
  const block = gpu.upload(all, `a pattern of ${entries} entries`);
  const parts = { places, rowsOfEntries, labelNames, labelStarts, byLabel };
  return { block, rows, columns, entries, labels, parts };
};

export const sampledProducts: Operation<"sampledProducts"> = (gpu, of, a, b, out) => {
  hasShape({ a }, of.rows, a.columns);
  hasShape({ b }, of.columns, a.columns);
  isVector("out", out, of.entries);
  const { places, rowsOfEntries } = of.parts;
  gpu.run(
    "sampledProducts",
    gpu.grid(of.entries, gpu.constant("sampledProducts", "ENTRIES")),
    { entries: whole(of.block), a, b, out },
    { count: of.entries, columns: a.columns, places, rowsOfEntries },
  );
};

export const patternTimes: Operation<"patternTimes"> = (gpu, of, values, b, out) => {
  isVector("values", values, of.entries);
  hasShape({ b }, of.columns, b.columns);
  hasShape({ out }, of.rows, b.columns);
  gpu.run(
    "sparseTimes",
    gpu.strips("sparseTimes", out.columns, out.rows),
    { entries: whole(of.block), values, b, out },
    { rows: out.rows, columns: out.columns, choose: 0, starts: 0, places: of.parts.places },
  );
};

export const patternTransposeTimes: Operation<"patternTransposeTimes"> = (gpu, of, values, b, out) => {
  isVector("values", values, of.entries);
  hasShape({ b }, of.rows, b.columns);
  hasShape({ out }, of.columns, b.columns);
  const { rowsOfEntries, labelNames, labelStarts, byLabel } = of.parts;
  gpu.run(
    "patternTransposeTimes",
    gpu.strips("patternTransposeTimes", out.columns, of.labels),
    { entries: whole(of.block), values, b, out },
    { labels: of.labels, columns: out.columns, rowsOfEntries, labelNames, labelStarts, byLabel },
  );
};
