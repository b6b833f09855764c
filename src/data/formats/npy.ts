// One array as numpy saves it (.npy): a header that is a Python literal, then the elements.

import { DataError, excerpt } from "../errors.ts";

/** An array of numbers or of texts, by the position of its elements in memory. */
export interface NpyArray {
  readonly shape: readonly number[];
  /** Columns before rows. */
  readonly fortran: boolean;
  readonly length: number;
  readonly kind: "number" | "text";
  number(position: number): number;
  text(position: number): string;
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

interface Header {
  readonly type: string;
  readonly fortran: boolean;
  readonly shape: readonly number[];
}

/** The array in these bytes; `file` is its name for messages. Nothing is copied. */
export function parseNpy(bytes: Uint8Array, file: string): NpyArray {
  const refuse = (found: string, expected: string): never => {
    throw new DataError({ file, line: 0, found, expected });
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = bytes[6] ?? 0;
  const headerAt = version === 1 ? 10 : 12;
  if (bytes.length < headerAt || MAGIC.some((byte, i) => bytes[i] !== byte) || version < 1 || version > 3)
    return refuse("something else", "an array saved by numpy, version 1 to 3");
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > LONGEST_HEADER || headerAt + length > bytes.length)
    return refuse("an array that is cut short", "a whole one");
  const written = new TextDecoder().decode(bytes.slice(headerAt, headerAt + length));
  const { type, fortran, shape } = headerOf(written) ?? refuse(`header ${excerpt(written)}`, "numpy's");
  const [, order = "", code = "", digits = ""] = /^([<>|=])([a-zA-Z])(\d*)$/.exec(type) ?? [];
  const number = Object.hasOwn(NUMBERS, code + digits) ? NUMBERS[code + digits] : undefined;
  const size = number?.[0] ?? (code === "U" ? 4 : code === "S" ? 1 : 0) * Number(digits);
  if (size === 0 && !(code === "U" || code === "S"))
    return refuse(`elements of type ${excerpt(type)}`, "numbers (f4, f8, integers, booleans) or texts");
  const count = shape.reduce((product, each) => product * each, 1);
  const start = headerAt + length;
  if (count * size !== bytes.length - start)
    return refuse(
      `${bytes.length - start} bytes of elements`,
      `${count * size} for shape (${shape.join(", ")})`,
    );
  const little = order !== ">";
  return {
    shape,
    fortran,
    length: count,
    kind: number ? "number" : "text",
    number: (position) => number?.[1](view, start + position * size, little) ?? Number.NaN,
    text: (position) =>
      number
        ? String(number[1](view, start + position * size, little))
        : textAt(view, start + position * size, size, code === "U", little),
  };
}

/** `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }` */
function headerOf(written: string): Header | undefined {
  const type = /'descr'\s*:\s*'([^']*)'/.exec(written)?.[1];
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(written)?.[1];
  const shape = /'shape'\s*:\s*\(([\d,\sL]*)\)/.exec(written)?.[1];
  if (type === undefined || fortran === undefined || shape === undefined) return undefined;
  const sizes = shape.split(",").filter((each) => each.trim() !== "");
  return { type, fortran: fortran === "True", shape: sizes.map((each) => Number.parseInt(each, 10)) };
}

/** A text of fixed size, filled up with zeros: code points of four bytes, or bytes. */
function textAt(view: DataView, at: number, size: number, wide: boolean, little: boolean): string {
  let text = "";
  for (let i = 0; i < size; i += wide ? 4 : 1) {
    const point = wide ? view.getUint32(at + i, little) : view.getUint8(at + i);
    text += point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
  }
  return text.replace(/\0+$/, "");
}
