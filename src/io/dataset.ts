// Data sets from whatever a person has at hand: a path, a folder of texts, an address, bytes, or rows in memory.

import type { Dataset } from "../data/dataset.ts";
import { DataError } from "../data/errors.ts";
import type { Batches, ReadOptions, ReadResult } from "../data/options.ts";
import { readBatches as batchesOf, type DataSource, readDataset as datasetOf } from "../data/reader.ts";
import { FileError } from "./errors.ts";
import { localPath, webAddress } from "./place.ts";

/**
 * What a data set can be read from. A text is a path (in Node, Deno and Bun; "-" is standard input) or an address
 * (`https://...`), unless it has a line break: then it is the data. A path of a folder means the texts in it.
 */
export type ReadSource = DataSource | URL;

interface Opened {
  readonly source: DataSource;
  readonly options: ReadOptions;
}

async function open(source: ReadSource, options: ReadOptions): Promise<Opened> {
  const isPlace = source instanceof URL || (typeof source === "string" && !/[\n\r]/.test(source));
  if (!isPlace) return { source, options };
  const address = webAddress(source);
  return address ? openAddress(address, options) : openPath(source, options);
}

async function openAddress(address: URL, options: ReadOptions): Promise<Opened> {
  const file = address.href;
  const response = await fetch(address, options.signal ? { signal: options.signal } : {});
  if (!response.ok || response.body === null)
    throw new DataError({
      file,
      line: 0,
      found: `status ${response.status}`,
      expected: "a file at this address",
    });
  const size = Number(response.headers.get("content-length"));
  return { source: response.body, options: { file, ...(size > 0 && { size }), ...options } };
}

/** What needs a file system is loaded only here. */
async function openPath(place: string | URL, options: ReadOptions): Promise<Opened> {
  const path = await localPath(place, "read", "give a Blob, bytes or a stream instead of a path");
  const { openInput } = await import("./files.ts");
  try {
    const { stream, name, size } = await openInput(path);
    return { source: stream, options: { file: name, ...(size !== undefined && { size }), ...options } };
  } catch (error) {
    if (!(error instanceof FileError && error.code === "EISDIR")) throw error;
  }
  const { folderRows } = await import("./folder.ts");
  const { text: _text, labels: _labels, id: _id, ...rest } = options; // a folder has no keys to choose from
  return { source: folderRows(path), options: { file: path, ...rest } };
}

/**
 * Reads a whole data set from a path, an address, bytes, or rows such as `{ text: "...", labels: ["..."] }`. Refuses
 * a broken file with a `DataError`, or skips and counts broken rows when `lenient`.
 *
 * @param source Where the rows are; text or bytes are told apart by what they hold.
 * @param options The format, the columns or keys of texts and labels, and what to do with broken rows.
 * @throws {DataError} A broken row, with file and line.
 * @throws {FileError} A file that cannot be read.
 * @example
 * ```ts
 * const { dataset, notes } = await readDataset("docs.csv", { text: "abstract", labels: "subjects" });
 * ```
 */
export async function readDataset(source: ReadSource, options: ReadOptions = {}): Promise<ReadResult> {
  const opened = await open(source, options);
  return await datasetOf(opened.source, opened.options);
}

/**
 * Reads piece by piece, for predicting on input of any length: gives the rows of each block as they come, and
 * between them the rows that a lenient reader skipped. Texts need a `vectoriser`. Labels are not required unless
 * asked for.
 */
export function readBatches(source: ReadSource, options: ReadOptions = {}): Batches {
  const opened = open(source, options);
  opened.catch(() => {}); // said when the first batch is asked for
  const file = typeof source === "string" && !/[\n\r]/.test(source) ? source : undefined;
  return batchesOf(
    opened.then(({ source: bytes }) => bytes),
    { ...(file !== undefined && { file }), ...options },
  );
}

/** Data as a person has them at hand: a data set, what `readDataset` gave, or whatever it reads. */
export type DatasetInput = Dataset | Pick<ReadResult, "dataset"> | ReadSource;

/** The data set that is meant; what is not one yet is read with these options. */
export async function datasetFrom(input: DatasetInput, options: ReadOptions = {}): Promise<Dataset> {
  if (typeof input === "object" && input !== null) {
    if ("dataset" in input) return input.dataset;
    if ("features" in input && "labels" in input) return input;
  }
  return (await readDataset(input, options)).dataset;
}
