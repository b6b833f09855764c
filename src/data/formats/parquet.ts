// Parquet, read by the package hyparquet where it is installed: rows of a table as objects, for records.ts. Without a text
// every column of numbers that is nothing else is a feature, as in CSV.

import { DataError } from "../errors.ts";
import type { Intake } from "../intake.ts";
import { ID_KEYS, LABEL_KEYS, listOf } from "./keys.ts";
import { OneHot } from "./onehot.ts";
import { isObject, type JsonObject } from "./records.ts";

const PACKAGE = "hyparquet";
/** Unpacks what hyparquet does not by itself (zstd, gzip, brotli). */
const COMPRESSORS = "hyparquet-compressors";

interface AsyncBuffer {
  byteLength: number;
  slice(start: number, end?: number): ArrayBuffer;
}

/** The part of hyparquet that is used. */
interface Hyparquet {
  parquetMetadataAsync(file: AsyncBuffer): Promise<{ num_rows: bigint; row_groups: { num_rows: bigint }[] }>;
  parquetReadObjects(options: {
    file: AsyncBuffer;
    rowStart: number;
    rowEnd: number;
    compressors?: unknown;
  }): Promise<Record<string, unknown>[]>;
}

/** Rows of a file, one group of rows after another. */
export async function* parquetRows(bytes: Uint8Array, intake: Intake): AsyncGenerator<JsonObject> {
  const { parquetMetadataAsync, parquetReadObjects } = await load<Hyparquet>(PACKAGE, intake);
  const { compressors } = await import(/* @vite-ignore */ COMPRESSORS).catch(() => ({
    compressors: undefined,
  }));
  const complete = featureMaker(intake);
  const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
  const buffer = whole.buffer as ArrayBuffer;
  const file = { byteLength: buffer.byteLength, slice: buffer.slice.bind(buffer) };
  try {
    const { row_groups: groups } = await parquetMetadataAsync(file);
    let rowStart = 0;
    for (const { num_rows: rows } of groups) {
      const rowEnd = rowStart + Number(rows);
      const read = { file, rowStart, rowEnd, ...(compressors && { compressors }) };
      for (const row of await parquetReadObjects(read)) yield complete(plainObject(row));
      rowStart = rowEnd;
    }
  } catch (error) {
    if (error instanceof DataError) throw error;
    const found = `a Parquet file that ${PACKAGE} cannot read (${(error as Error).message.split("\n", 1)[0]})`;
    intake.refuse(0, found, `one it can, or the package ${COMPRESSORS} for other ways of packing`);
  }
}

async function load<T>(name: string, intake: Intake): Promise<T> {
  try {
    return (await import(/* @vite-ignore */ name)) as T;
  } catch {
    intake.refuse(0, "a Parquet file", `the package ${name} to read it (npm install ${name})`);
  }
}

/** Values as JSON has them: large whole numbers, dates and typed lists are what they mean. */
function plain(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return Array.from(value as Float32Array);
  if (Array.isArray(value)) return value.map(plain);
  return isObject(value) ? plainObject(value) : value;
}

function plainObject(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, plain(value)]));
}

/** Gives a row that has neither a text nor features its numbers as features. */
function featureMaker(intake: Intake): (row: JsonObject) => JsonObject {
  const { text = "text", labels = LABEL_KEYS, id = ID_KEYS, ignore = [] } = intake.options;
  const others = new Set([...listOf(labels), ...listOf(id), ...ignore]);
  const oneHot = new OneHot(intake);
  return (row) => {
    if (Object.hasOwn(row, "features") || listOf(text).some((key) => Object.hasOwn(row, key))) return row;
    const numbers = Object.entries(row).filter(
      ([key, value]) => typeof value === "number" && !others.has(key) && !oneHot.has(key),
    );
    return numbers.length === 0 ? row : { ...row, features: Object.fromEntries(numbers) };
  };
}
