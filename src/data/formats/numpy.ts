// Features and labels as numpy and scipy save them: `numpy.savez(file, features=X, labels=Y)`, a sparse matrix
// (`scipy.sparse.save_npz`), or one array alone (.npy) with its labels in another file.
//
// Features are a matrix [rows, columns]. Labels are a matrix [rows, labels] of zeros and ones, or one label a row, as whole
// numbers or as texts. Names and ids may stand beside them as `label_names` and `ids`. An array is a header that is a Python literal,
// then the elements: there are never more rows or elements than bytes.

import { DataError, excerpt } from "../../base/errors.ts";
import type { DatasetBuilder } from "../builder.ts";
import { LabelCells } from "./labels.ts";
import { ZipArchive } from "./zip.ts";

/** Names by which they are found; "" is the only array of its file. */
const FEATURES = ["", "features", "X", "x", "arr_0"];
const LABELS = ["labels", "Y", "y", "arr_1"];

/** The arrays of a file by their names, unpacked when they are asked for; a single array has the name "". */
export class NumpyFile {
  readonly #file: string;
  readonly #archive: ZipArchive | undefined;
  readonly #arrays = new Map<string, NpyArray | undefined>();

  /** At most `limit` bytes are unpacked; `file` is the name for messages. */
  constructor(bytes: Uint8Array, file: string, limit: number, builder: DatasetBuilder) {
    this.#file = file;
    if (bytes[0] === 0x93) {
      this.#arrays.set("", parseNpy(bytes, file));
      return;
    }
    const refuse = (found: string, expected = "a whole zip archive"): never => {
      const more = expected.startsWith("at most") ? ` (${builder.option("maxUnpacked")} allows more)` : "";
      throw new DataError({ file, line: 0, found, expected: `${expected}${more}` });
    };
    this.#archive = new ZipArchive(bytes, limit, refuse);
    const { names } = this.#archive;
    if (names.some((name) => name.startsWith("xl/"))) refuse("an Excel workbook", "its table saved as CSV");
    if (!names.some((name) => name.endsWith(".npy"))) refuse("a zip archive without arrays", "one that numpy made");
  }

  async get(name: string): Promise<NpyArray | undefined> {
    if (!this.#arrays.has(name)) {
      const bytes = await this.#archive?.read(`${name}.npy`);
      this.#arrays.set(name, bytes && parseNpy(bytes, `${this.#file}, array ${excerpt(name)}`));
    }
    return this.#arrays.get(name);
  }

  /** The arrays that are there, for a message. */
  get content(): string {
    const names = this.#archive?.names.map((name) => name.replace(/\.npy$/, "")) ?? [""];
    const shapeOf = (name: string): string => this.#arrays.get(name)?.shape.join(", ") ?? "";
    const about = names.map((name) => `${name || "array"}${shapeOf(name) && ` (${shapeOf(name)})`}`);
    return excerpt(about.join(", "), 200);
  }
}

/** Gives the entries of a row that are not zero, columns in any order. */
type EachEntry = (row: number, entry: (column: number, value: number) => void) => void;

interface NumpyMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly each: EachEntry;
}

/** Puts the rows of a file into the builder; the labels may be in a file of their own. */
export async function readNumpy(
  arrays: NumpyFile,
  labelArrays: NumpyFile | undefined,
  builder: DatasetBuilder,
): Promise<void> {
  const features = await findMatrix(arrays, FEATURES, builder);
  if (!features) builder.refuse(arrays.content, "features: a matrix called features or X");
  builder.declareSize("features", features.columns);
  const addLabels = await labelsOf(labelArrays ?? arrays, labelArrays !== undefined, features.rows, builder);
  const ids = await arrays.get("ids");
  if (ids && ids.length !== features.rows) builder.refuse(`${ids.length} ids`, `${features.rows}, one a row`);
  const addFeature = (column: number, value: number): void => {
    const name = (): string => `feature ${column}`;
    builder.feature(
      column,
      builder.value(value, name, () => String(value)),
    );
  };
  for (let row = 0; row < features.rows; row++)
    builder.attempt(row + 1, () => {
      if (ids) builder.id(ids.text(row));
      addLabels(row);
      features.each(row, addFeature);
      builder.endRow();
    });
}

/** A vector for each row of texts. */
export async function vectorsOf(
  arrays: NumpyFile,
  builder: DatasetBuilder,
): Promise<NonNullable<DatasetBuilder["vectorFile"]>> {
  const found = await findMatrix(arrays, ["vectors", ...FEATURES], builder);
  if (!found) return builder.refuse(arrays.content, "vectors: a matrix with a row for each text", 0);
  return {
    rows: found.rows,
    row(number) {
      const row = new Float32Array(found.columns);
      found.each(number, (column, value) => {
        row[column] = builder.value(
          value,
          () => "a vector",
          () => String(value),
        );
      });
      return row;
    },
  };
}

/** A function that adds the labels of a row. */
async function labelsOf(
  arrays: NumpyFile,
  alone: boolean,
  rows: number,
  builder: DatasetBuilder,
): Promise<(row: number) => void> {
  const names = alone ? [...LABELS, ...FEATURES] : LABELS;
  const list = await listOfLabels(arrays, names);
  const matrix = list ? undefined : await findMatrix(arrays, names, builder);
  const found = list?.length ?? matrix?.rows;
  if (found === undefined) {
    if (!builder.requireLabels) return () => builder.noLabels();
    const other = `or another file with them (${builder.option("labelsFrom")})`;
    builder.refuse(arrays.content, `labels: an array called labels or Y, ${other}`);
  }
  if (found !== rows) builder.refuse(`${rows} rows of features and ${found} of labels`, "as many of both");
  if (list?.kind === "text") {
    const cells = new LabelCells(builder);
    return (row) => cells.add(list.text(row));
  }
  if (list) return (row) => builder.label(list.number(row), list.text(row));
  const labelNames = await namesOf(arrays, matrix?.columns ?? 0, builder);
  return (row) =>
    matrix?.each(row, (label, value) => {
      if (value !== 1) builder.fail("not a label", `${value} in the matrix of labels`, "0 or 1");
      if (labelNames) builder.labelByName(labelNames[label]);
      else builder.label(label);
    });
}

/** One label a row. */
async function listOfLabels(arrays: NumpyFile, names: readonly string[]): Promise<NpyArray | undefined> {
  for (const name of names) {
    const array = await arrays.get(name);
    if (array?.shape.length === 1) return array;
  }
  return undefined;
}

/** Names of the columns of the matrix of labels; without them their number is declared. */
async function namesOf(arrays: NumpyFile, labels: number, builder: DatasetBuilder): Promise<string[] | undefined> {
  const array = await arrays.get("label_names");
  if (!array) {
    if (!builder.options.labelNames) builder.declareSize("labels", labels);
    return undefined;
  }
  if (array.length !== labels) builder.refuse(`${array.length} label_names`, `${labels}, one a label`);
  const names = Array.from({ length: labels }, (_, i) => array.text(i));
  builder.declareLabels(names);
  return names;
}

/** The first matrix that goes by one of these names, dense or sparse. */
async function findMatrix(
  arrays: NumpyFile,
  names: readonly string[],
  builder: DatasetBuilder,
): Promise<NumpyMatrix | undefined> {
  for (const name of names) {
    const dense = await arrays.get(name);
    if (dense?.shape.length === 2 && dense.kind === "number") return denseMatrix(dense);
    const prefix = name === "" ? "" : `${name}_`;
    if (await arrays.get(`${prefix}indptr`)) return await sparseMatrix(arrays, prefix, builder);
  }
  return undefined;
}

function denseMatrix(array: NpyArray): NumpyMatrix {
  const [rows = 0, columns = 0] = array.shape;
  const [rowStep, columnStep] = array.fortran ? [1, rows] : [columns, 1];
  const each: EachEntry = (row, entry) => {
    for (let column = 0; column < columns; column++) {
      const value = array.number(row * rowStep + column * columnStep);
      if (value !== 0) entry(column, value);
    }
  };
  return { rows, columns, each };
}

/** Compressed rows, as scipy has them. */
async function sparseMatrix(arrays: NumpyFile, prefix: string, builder: DatasetBuilder): Promise<NumpyMatrix> {
  const part = async (name: string): Promise<NpyArray> =>
    (await arrays.get(prefix + name)) ?? builder.refuse(`no array ${excerpt(prefix + name)}`, "a sparse matrix");
  const format = (await arrays.get(`${prefix}format`))?.text(0) ?? "csr";
  if (format !== "csr") builder.refuse(`a sparse matrix in format ${excerpt(format)}`, "csr (matrix.tocsr())");
  const [starts, indices, data, shape] = [
    await part("indptr"),
    await part("indices"),
    await part("data"),
    await part("shape"),
  ];
  const [rows, columns] = [shape.number(0), shape.number(1)];
  const right =
    shape.length === 2 &&
    starts.length === rows + 1 &&
    indices.length === data.length &&
    starts.number(0) === 0 &&
    starts.number(rows) === data.length;
  if (!right) builder.refuse("parts of a sparse matrix that do not fit", "indptr, indices, data and shape of one");
  const each: EachEntry = (row, entry) => {
    const [from, to] = [starts.number(row), starts.number(row + 1)];
    if (!(from >= 0 && from <= to && to <= data.length))
      builder.refuse(`entries ${from} to ${to}`, "row starts that do not fall");
    for (let i = from; i < to; i++) if (data.number(i) !== 0) entry(indices.number(i), data.number(i));
  };
  return { rows, columns, each };
}

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
  if (!(size > 0)) return refuse(`elements of type ${excerpt(type)}`, "numbers (f4, f8, integers, booleans) or texts");
  const count = shape.reduce((product, each) => product * each, 1);
  if (count === 0 && shape[0] > 0) return refuse(`an array of shape (${shape.join(", ")})`, "one with elements");
  const start = headerAt + length;
  if (count * size !== bytes.length - start)
    return refuse(`${bytes.length - start} bytes of elements`, `${count * size} for shape (${shape.join(", ")})`);
  const little = order !== ">";
  const isThere = (position: number): boolean => position >= 0 && position < count;
  return {
    shape,
    fortran,
    length: count,
    kind: number ? "number" : "text",
    number: (position) => (number && isThere(position) ? number[1](view, start + position * size, little) : Number.NaN),
    text: (position) =>
      !isThere(position)
        ? ""
        : number
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
