// Data sets from whatever a person has at hand: a path, a folder of texts, an address, bytes, or rows in memory.

import { defined } from "../base/check.ts";
import { ArgumentError, FileError } from "../base/errors.ts";
import type { ByteSource } from "../data/bytes.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Batches, ReadOptions, ReadResult } from "../data/options.ts";
import { readBatches as batchesOf, type DataSource, readDataset as datasetOf } from "../data/reader.ts";
import type { Embedder } from "../data/vectors.ts";
import { fetchStream, localPath, shownAddress, webAddress } from "./source.ts";

/**
 * Sources of a data set. A text is a path (in Node, Deno and Bun; "-" is standard input) or an address
 * (`https://...`), unless it has a line break: then it is the data. A path of a folder means the texts in it.
 */
export type ReadSource = DataSource | URL;

type Opened = { readonly source: DataSource; readonly options: ReadOptions };

const isPlace = (source: ReadSource): source is string | URL =>
  source instanceof URL || (typeof source === "string" && !/[\n\r]/.test(source));

async function open(source: ReadSource, options: ReadOptions): Promise<Opened> {
  if (!isPlace(source)) return { source, options };
  const address = webAddress(source);
  return address ? openAddress(address, options) : openPath(source, options);
}

/** The vectors and the embedder that the options name, opened when they are needed. */
function withVectors({ vectors, embed, ...rest }: ReadOptions): ReadOptions {
  if (vectors !== undefined && embed !== undefined)
    throw new ArgumentError("embed", "found vectors of a file too, expected one of the two");
  const vectorsFrom = async (): Promise<ByteSource> => (await open(vectors as string, {})).source as ByteSource;
  const embedder = embed === undefined ? undefined : () => openEmbedder(embed);
  return { ...rest, ...defined({ vectorsFrom: vectors === undefined ? undefined : vectorsFrom, embedder }) };
}

async function openAddress(address: URL, options: ReadOptions): Promise<Opened> {
  const { stream, size, file } = await fetchStream(address, options.signal);
  return { source: stream, options: { file, size, ...options } };
}

const LONGEST_MODULE = 2 ** 26;

/** The embedder of an ES module, by its path or address. */
export async function openEmbedder(place: string): Promise<Embedder> {
  const web = webAddress(place);
  const shown = web ? shownAddress(web) : place;
  const refuse = (found: string): never => {
    throw new ArgumentError("embed", `found ${found} in ${shown}, expected an ES module that exports embed(texts)`);
  };
  // A module that is a pipe or a device would be waited for, or take all memory.
  if (!web) await (await import("./files.ts")).readWhole(place, { most: LONGEST_MODULE });
  const address = web?.href ?? (await import("node:url")).pathToFileURL(place).href;
  const module = await import(/* @vite-ignore */ address).catch((error) =>
    refuse(
      String((error as Error).message)
        .split("\n", 1)[0]
        .replaceAll(address, shown),
    ),
  );
  if (typeof module.embed !== "function") refuse("no function embed");
  return { name: (web?.pathname ?? place).replace(/^.*[/\\]/, ""), embed: module.embed };
}

/** Code that needs a file system is loaded only here. */
async function openPath(place: string | URL, options: ReadOptions): Promise<Opened> {
  const path = await localPath(place, "read", "give a Blob, bytes or a stream instead of a path");
  const { openInput } = await import("./files.ts");
  try {
    const { stream, name, size } = await openInput(path);
    return { source: stream, options: { file: name, size, ...options } };
  } catch (error) {
    if (!(error instanceof FileError && error.code === "EISDIR")) throw error;
  }
  const { folderRows } = await import("./folder.ts");
  const { text: _text, labels, id: _id, keys, ...rest } = options; // of a folder only notes have keys to choose from
  const notes = typeof labels === "string" ? [labels] : (labels ?? keys?.notes);
  return { source: folderRows(path, notes), options: { file: path, ...(notes && { keys: { notes } }), ...rest } };
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
  const opened = await open(source, withVectors(options));
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
  const address = isPlace(source) ? webAddress(source) : undefined;
  const file = address ? shownAddress(address) : isPlace(source) ? String(source) : undefined;
  return batchesOf(
    opened.then(({ source: bytes }) => bytes),
    { ...(file !== undefined && { file }), ...withVectors(options) },
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
