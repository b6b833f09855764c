// Inputs to measure with.

/** Uniform numbers in [-1, 1) from a seed. */
export function randomMatrix(rows: number, columns: number, seed: number): Float32Array {
  let state = (seed * 0x9e3779b9) >>> 0;
  return Float32Array.from({ length: rows * columns }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 2 ** 23 - 1;
  });
}

export interface CsrProblem {
  rows: number;
  columns: number;
  rowStart: Int32Array;
  columnIndex: Int32Array;
  values: Float32Array;
}

/** Rows like documents: words fall off as 1 / rank, each document leans to one of a hundred topics, unit length. */
export function textLikeCsr(rows: number, columns: number, perRow: number, seed = 0): CsrProblem {
  const draws = randomMatrix(rows, 2 * perRow + 1, 11 + seed).map((x) => (x + 1) / 2);
  const rowStart = new Int32Array(rows + 1);
  const columnIndex: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < rows; i++) {
    const topic = Math.floor(draws[i * (2 * perRow + 1)] * 100);
    const words = new Map<number, number>();
    for (let w = 0; w < perRow; w++) {
      const rank = Math.floor(columns ** draws[i * (2 * perRow + 1) + 1 + w]) - 1;
      const ofTopic = draws[i * (2 * perRow + 1) + 1 + perRow + w] < 0.5;
      const word = ofTopic ? (rank * 97 + topic * 389) % columns : rank;
      words.set(word, (words.get(word) ?? 0) + 1);
    }
    const length = Math.sqrt([...words.values()].reduce((sum, count) => sum + count * count, 0));
    for (const [word, count] of [...words].sort(([a], [b]) => a - b)) {
      columnIndex.push(word);
      values.push(count / length);
    }
    rowStart[i + 1] = columnIndex.length;
  }
  return {
    rows,
    columns,
    rowStart,
    columnIndex: Int32Array.from(columnIndex),
    values: Float32Array.from(values),
  };
}
