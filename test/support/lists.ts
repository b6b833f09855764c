// Small matrices as files of reference values have them: lists of rows.

export type Rows = number[][];

/** All numbers of nested lists, in order. */
export const flat = (value: unknown): number[] => (Array.isArray(value) ? value.flatMap(flat) : [value as number]);

export const transposed = (rows: Rows): Rows => (rows[0] ?? []).map((_, j) => rows.map((row) => row[j]));

/** An array of numbers as rows of that many columns. */
export const rowsOf = (values: ArrayLike<number>, columns: number): Rows =>
  Array.from({ length: columns === 0 ? 0 : values.length / columns }, (_, i) =>
    Array.from({ length: columns }, (_, j) => values[i * columns + j]),
  );

export interface SparseLists {
  rows: number;
  columns: number;
  rowStart: number[];
  columnIndex: number[];
  values: number[];
}

/** Dense rows as sparse ones. */
export function sparseOf(rows: Rows, columns: number = rows[0]?.length ?? 0): SparseLists {
  const rowStart = [0];
  const columnIndex: number[] = [];
  const values: number[] = [];
  for (const row of rows) {
    row.forEach((value, j) => {
      if (value === 0) return;
      columnIndex.push(j);
      values.push(value);
    });
    rowStart.push(columnIndex.length);
  }
  return { rows: rows.length, columns, rowStart, columnIndex, values };
}

/** Rows of 0 and 1 as lists of labels. */
export function listsOf(rows: Rows): { rowStart: Int32Array; labelIndex: Int32Array } {
  const { rowStart, columnIndex } = sparseOf(rows);
  return { rowStart: Int32Array.from(rowStart), labelIndex: Int32Array.from(columnIndex) };
}

/** Greatest difference between rows of numbers. */
export function difference(a: Rows, b: Rows): number {
  let greatest = a.length === b.length ? 0 : Infinity;
  a.forEach((row, i) => {
    const other = b[i] ?? [];
    if (row.length !== other.length) greatest = Infinity;
    row.forEach((value, j) => {
      const d = Math.abs(value - other[j]);
      greatest = Math.max(greatest, Number.isNaN(d) ? Infinity : d);
    });
  });
  return greatest;
}
