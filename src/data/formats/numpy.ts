// A matrix as numpy saves it (.npy): a header that is a Python literal, then the numbers. There are never more rows or numbers than
// bytes, and nothing is copied.

import { DataError, excerpt } from "../../base/errors.ts";

export interface NumpyMatrix {
  readonly rows: number;
  readonly columns: number;
  at(row: number, column: number): number;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const LONGEST_HEADER = 1 << 16;

type ReadNumber = (view: DataView, at: number, little: boolean) => number;

/** Types of numpy by their code without the order of bytes. */
const NUMBERS: Readonly<Record<string, [size: number, read: ReadNumber]>> = {
  b1: [1, (view, at) => view.getUint8(at)],
  i1: [1, (view, at) => view.getInt8(at)],
  u1: [1, (view, at) => view.getUint8(at)],
  i2: [2, (view, at, little) => view.getInt16(at, little)],
  u2: [2, (view, at, little) => view.getUint16(at, little)],
  i4: [4, (view, at, little) => view.getInt32(at, little)],
  u4: [4, (view, at, little) => view.getUint32(at, little)],
  i8: [8, (view, at, little) => Number(view.getBigInt64(at, little))],
  u8: [8, (view, at, little) => Number(view.getBigUint64(at, little))],
  f4: [4, (view, at, little) => view.getFloat32(at, little)],
  f8: [8, (view, at, little) => view.getFloat64(at, little)],
};

/** The matrix in these bytes; `file` is its name for messages. */
export function numpyMatrix(bytes: Uint8Array, file: string): NumpyMatrix {
  const refuse = (found: string, expected: string): never => {
    throw new DataError({ file, line: 0, found, expected });
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = bytes[6] ?? 0;
  const headerAt = version === 1 ? 10 : 12;
  if (bytes.length < headerAt || MAGIC.some((byte, i) => bytes[i] !== byte) || version < 1 || version > 3)
    return refuse("something else", "an array saved by numpy, version 1 to 3");
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const start = headerAt + length;
  if (length > LONGEST_HEADER || start > bytes.length) return refuse("an array that is cut short", "a whole one");
  // {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
  const header = new TextDecoder().decode(bytes.slice(headerAt, start));
  const [, order = "", type = ""] = /'descr'\s*:\s*'([<>|=])(\w+)'/.exec(header) ?? [];
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(header)?.[1] === "True";
  const shape = /'shape'\s*:\s*\(([\d,\sL]*)\)/
    .exec(header)?.[1]
    .split(",")
    .filter((each) => each.trim() !== "");
  if (!Object.hasOwn(NUMBERS, type) || shape?.length !== 2)
    return refuse(
      `an array with the header ${excerpt(header.trim())}`,
      "a matrix of numbers (f4, f8, integers, booleans)",
    );
  const [rows, columns] = shape.map((each) => Number.parseInt(each, 10));
  const [size, read] = NUMBERS[type];
  if (columns === 0 && rows > 0) return refuse(`a matrix of ${rows} rows without columns`, "one with elements");
  if (rows * columns * size !== bytes.length - start)
    return refuse(`${bytes.length - start} bytes of elements`, `${rows * columns * size} for ${rows} x ${columns}`);
  const [rowStep, columnStep] = fortran ? [1, rows] : [columns, 1];
  const little = order !== ">";
  return {
    rows,
    columns,
    at: (row, column) => read(view, start + size * (row * rowStep + column * columnStep), little),
  };
}
