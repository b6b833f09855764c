// Features and labels as numpy and scipy save them: `numpy.savez(file, features=X, labels=Y)`, a sparse matrix
// (`scipy.sparse.save_npz`), or one array alone (.npy) with its labels in another file.
//
// Features are a matrix [rows, columns]. Labels are a matrix [rows, labels] of zeros and ones, or one label a row, as whole
// numbers or as texts. Names and ids may stand beside them as `label_names` and `ids`.

import { DataError, excerpt } from "../errors.ts";
import type { Intake } from "../intake.ts";
import { LabelCells } from "./labelcells.ts";
import { type NpyArray, parseNpy } from "./npy.ts";
import { unzip, zipFiles } from "./zip.ts";

/** Names by which they are found; "" is the only array of its file. */
const FEATURES = ["", "features", "X", "x", "arr_0"];
const LABELS = ["labels", "Y", "y", "arr_1"];

type Arrays = ReadonlyMap<string, NpyArray>;

/** Gives the entries of a row that are not zero, columns in any order. */
type EachEntry = (row: number, entry: (column: number, value: number) => void) => void;

interface NumpyMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly each: EachEntry;
}

/** The arrays of a file: of an archive by their names, of a single array under the name "". */
export async function numpyArrays(bytes: Uint8Array, file: string): Promise<Arrays> {
  if (bytes[0] === 0x93) return new Map([["", parseNpy(bytes, file)]]);
  const arrays = new Map<string, NpyArray>();
  const refuse = (found: string, expected: string): never => {
    throw new DataError({ file, line: 0, found, expected });
  };
  for (const entry of zipFiles(bytes, file)) {
    if (entry.name.startsWith("xl/")) return refuse("an Excel workbook", "its table saved as CSV");
    if (!entry.name.endsWith(".npy")) continue;
    const name = entry.name.slice(0, -".npy".length);
    arrays.set(name, parseNpy(await unzip(bytes, entry, file), `${file}, array ${excerpt(name)}`));
  }
  if (arrays.size === 0) return refuse("a zip archive without arrays", "one that numpy made");
  return arrays;
}

/** Puts the rows of a file into the intake; the labels may be in a file of their own. */
export function readNumpy(arrays: Arrays, labelArrays: Arrays | undefined, intake: Intake): void {
  const features = findMatrix(arrays, FEATURES, intake);
  if (!features) intake.refuse(0, arraysOf(arrays), "features: a matrix called features or X");
  intake.declareSize("features", features.columns, 0);
  const addLabels = labelsOf(labelArrays ?? arrays, labelArrays !== undefined, features.rows, intake);
  const ids = arrays.get("ids");
  if (ids && ids.length !== features.rows)
    intake.refuse(0, `${ids.length} ids`, `${features.rows}, one a row`);
  for (let row = 0; row < features.rows; row++) {
    intake.attempt(row + 1, () => {
      if (ids) intake.id(ids.text(row));
      addLabels(row);
      features.each(row, (column, value) => {
        const about = (): string => `feature ${column}`;
        intake.feature(
          column,
          intake.value(value, row + 1, about, () => String(value)),
          row + 1,
        );
      });
      intake.endRow(row + 1);
    });
  }
}

/** What adds the labels of a row. */
function labelsOf(arrays: Arrays, alone: boolean, rows: number, intake: Intake): (row: number) => void {
  const list = listOfLabels(arrays, alone);
  const matrix = list ? undefined : findMatrix(arrays, alone ? [...LABELS, ...FEATURES] : LABELS, intake);
  const found = list?.length ?? matrix?.rows;
  if (found === undefined) {
    if (!intake.requireLabels) return () => {};
    const other = `or another file with them (${intake.option("labelsFrom")})`;
    intake.refuse(0, arraysOf(arrays), `labels: an array called labels or Y, ${other}`);
  }
  if (found !== rows) intake.refuse(0, `${rows} rows of features and ${found} of labels`, "as many of both");
  if (list?.kind === "text") {
    const cells = new LabelCells(intake);
    return (row) => cells.add(list.text(row), row + 1);
  }
  if (list) return (row) => intake.label(list.number(row), row + 1, list.text(row));
  const names = namesOf(arrays, matrix?.columns ?? 0, intake);
  return (row) =>
    matrix?.each(row, (label, value) => {
      if (value !== 1) {
        intake.fail(row + 1, "not a label", `${value} in the matrix of labels`, "0 or 1");
      }
      if (names) intake.labelByName(names[label] as string, row + 1);
      else intake.label(label, row + 1, undefined);
    });
}

/** One label a row. */
function listOfLabels(arrays: Arrays, alone: boolean): NpyArray | undefined {
  for (const name of alone ? [...LABELS, ...FEATURES] : LABELS) {
    const array = arrays.get(name);
    if (array?.shape.length === 1) return array;
  }
  return undefined;
}

/** Names of the columns of the matrix of labels; without them their number is declared. */
function namesOf(arrays: Arrays, labels: number, intake: Intake): string[] | undefined {
  const array = arrays.get("label_names");
  if (!array) {
    if (!intake.options.labelNames) intake.declareSize("labels", labels, 0);
    return undefined;
  }
  if (array.length !== labels) intake.refuse(0, `${array.length} label_names`, `${labels}, one a label`);
  const names = Array.from({ length: labels }, (_, i) => array.text(i));
  intake.declareLabels(names);
  return names;
}

/** The first matrix that goes by one of these names, dense or sparse. */
function findMatrix(arrays: Arrays, names: readonly string[], intake: Intake): NumpyMatrix | undefined {
  for (const name of names) {
    const dense = arrays.get(name);
    if (dense?.shape.length === 2 && dense.kind === "number") return denseMatrix(dense);
    const prefix = name === "" ? "" : `${name}_`;
    if (arrays.has(`${prefix}indptr`)) return sparseMatrix(arrays, prefix, intake);
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
function sparseMatrix(arrays: Arrays, prefix: string, intake: Intake): NumpyMatrix {
  const part = (name: string): NpyArray =>
    arrays.get(prefix + name) ?? intake.refuse(0, `no array ${excerpt(prefix + name)}`, "a sparse matrix");
  const format = arrays.get(`${prefix}format`)?.text(0) ?? "csr";
  if (format !== "csr")
    intake.refuse(0, `a sparse matrix in format ${excerpt(format)}`, "csr (matrix.tocsr())");
  const [starts, indices, data, shape] = [part("indptr"), part("indices"), part("data"), part("shape")];
  const [rows, columns] = [shape.number(0), shape.number(1)];
  const right =
    starts.length === rows + 1 &&
    indices.length === data.length &&
    starts.number(0) === 0 &&
    starts.number(rows) === data.length;
  if (!right)
    intake.refuse(0, "parts of a sparse matrix that do not fit", "indptr, indices, data and shape of one");
  const each: EachEntry = (row, entry) => {
    const [from, to] = [starts.number(row), starts.number(row + 1)];
    if (!(from >= 0 && from <= to && to <= data.length))
      intake.refuse(row + 1, `entries ${from} to ${to}`, "row starts that do not fall");
    for (let i = from; i < to; i++) if (data.number(i) !== 0) entry(indices.number(i), data.number(i));
  };
  return { rows, columns, each };
}

/** The arrays that are there, for a message. */
function arraysOf(arrays: Arrays): string {
  const about = [...arrays].map(([name, { shape }]) => `${name || "array"} (${shape.join(", ")})`);
  return excerpt(about.join(", "), 200);
}
