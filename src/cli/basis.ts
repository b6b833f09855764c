// --basis FILE: rows of numbers, as numpy saves them (.npy) or as text, a row a line.

import { parseNpy } from "../data/formats/npy.ts";
import { FormatError } from "../io/errors.ts";
import { readWhole } from "../io/files.ts";

/** A matrix, row by row. */
export interface Rows {
  rows: number;
  values: Float32Array;
}

export async function readRows(path: string): Promise<Rows> {
  const bytes = await readWhole(path);
  return path.toLowerCase().endsWith(".npy") ? fromNumpy(bytes, path) : fromText(bytes, path);
}

function fromNumpy(bytes: Uint8Array, path: string): Rows {
  const array = parseNpy(bytes, path);
  const [rows = 0, columns = 0] = array.shape;
  if (array.shape.length !== 2 || array.kind !== "number")
    throw new FormatError(path, `${array.shape.length} dimensions of ${array.kind}`, "a matrix of numbers");
  const position = (at: number): number =>
    array.fortran ? (at % columns) * rows + Math.floor(at / columns) : at;
  return { rows, values: Float32Array.from({ length: array.length }, (_, at) => array.number(position(at))) };
}

function fromText(bytes: Uint8Array, path: string): Rows {
  const lines = new TextDecoder()
    .decode(bytes)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
  const rows = lines.map((line, i) => {
    const numbers = line
      .trim()
      .split(/[\s,;]+/)
      .map(Number);
    const wrong = numbers.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0)
      throw new FormatError(path, `no number in row ${i + 1}, place ${wrong + 1}`, "numbers alone");
    return numbers;
  });
  const length = rows[0]?.length ?? 0;
  const other = rows.findIndex((row) => row.length !== length);
  if (other >= 0)
    throw new FormatError(
      path,
      `${rows[other]?.length} numbers in row ${other + 1}`,
      `${length} as in the first`,
    );
  return { rows: rows.length, values: Float32Array.from(rows.flat()) };
}
