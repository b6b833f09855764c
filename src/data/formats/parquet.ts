// Parquet, read by the package hyparquet where it is installed: rows of a table as objects, for records.ts. Without a text
// every column of numbers that is nothing else is a feature, as in CSV.
//
// A few bytes can claim any number of rows, and one changed byte can make hyparquet loop for ever. So the sizes that the file states
// are checked first, and where there are threads (Node, Deno, Bun) it is read in one that ends with its limits of time and memory.

import { isObject, type JsonObject } from "../../base/check.ts";
import { clean } from "../../base/errors.ts";
import type { DatasetBuilder } from "../builder.ts";
import { ID_KEYS, LABEL_KEYS, OneHot } from "./labels.ts";

const PACKAGE = "hyparquet";
/** Unpacks what hyparquet does not by itself (zstd, gzip, brotli). */
const COMPRESSORS = "hyparquet-compressors";
/** Milliseconds of processor time for a file, and more for each of its bytes: all groups of rows together, and few bytes can claim many. */
const [PATIENCE, PATIENCE_PER_BYTE] = [4_000, 0.002];
/** Rows are objects: they take so many times what they unpack to. */
const MEMORY_RATIO = 4;
const [CHECK_MS, MEGABYTE] = [50, 2 ** 20];
/** Begins the message of an error about a limit. */
const LIMIT = "limit: ";

type Row = Record<string, unknown>;
type Load = (name: string) => Promise<unknown>;

interface AsyncBuffer {
  byteLength: number;
  slice(start: number, end?: number): ArrayBuffer;
}

interface Hyparquet {
  parquetMetadataAsync(file: AsyncBuffer): Promise<{
    row_groups: { num_rows: bigint; columns: { meta_data?: { total_uncompressed_size: bigint } }[] }[];
  }>;
  parquetReadObjects(options: {
    file: AsyncBuffer;
    rowStart: number;
    rowEnd: number;
    compressors?: unknown;
  }): Promise<Row[]>;
}

interface Job {
  readonly bytes: Uint8Array;
  readonly limit: number;
  readonly hyparquet: string;
  readonly compressors: string;
}

/** The rows of a file, one group after another. In a thread its text runs alone: it uses nothing but its arguments. */
async function* rowGroups({ bytes, limit, hyparquet, compressors: more }: Job, load: Load): AsyncGenerator<Row[]> {
  const { parquetMetadataAsync, parquetReadObjects } = (await load(hyparquet)) as Hyparquet;
  const { compressors } = (await load(more).catch(() => ({}))) as { compressors?: unknown };
  const buffer = bytes.slice().buffer;
  const file = { byteLength: buffer.byteLength, slice: buffer.slice.bind(buffer) };
  const { row_groups: groups } = await parquetMetadataAsync(file);
  let unpacked = 0;
  for (const { num_rows: rows, columns } of groups)
    for (const { meta_data: about } of columns)
      unpacked += Number(about?.total_uncompressed_size ?? 0) + 8 * Number(rows);
  if (!(unpacked <= limit)) throw new Error(`limit: unpacks to ${unpacked} bytes`);
  let rowStart = 0;
  for (const { num_rows: rows } of groups) {
    const rowEnd = rowStart + Number(rows);
    yield await parquetReadObjects({ file, rowStart, rowEnd, compressors });
    rowStart = rowEnd;
  }
}

const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const groups = (${rowGroups})(workerData, (name) => import(name));
parentPort.on("message", () => groups.next().then(
  ({ value }) => parentPort.postMessage({ rows: value }),
  (error) => parentPort.postMessage({ problem: String(error?.message ?? error) }),
));`;

/** The same in a thread of its own; what it takes too much of is the message of an error. */
async function* rowGroupsInThread(job: Job, signal: AbortSignal | undefined): AsyncGenerator<Row[]> {
  const { Worker } = await import("node:worker_threads");
  const { cpuUsage, memoryUsage } = (await import("node:process")).default;
  const spent = (): number => (cpuUsage().user + cpuUsage().system) / 1000; // on a full machine the clock runs on
  const patience = PATIENCE + PATIENCE_PER_BYTE * job.bytes.length;
  const memory = MEMORY_RATIO * job.limit;
  const resourceLimits = { maxOldGenerationSizeMb: Math.ceil(memory / MEGABYTE) };
  const worker = new Worker(THREAD, { eval: true, workerData: job, resourceLimits });
  const late = `takes more than ${Math.round(patience / 1000)} s to read`;
  let left = patience;
  const large = `takes more than ${Math.round(memory / MEGABYTE)} MB of memory`;
  const next = async (): Promise<Row[] | undefined> => {
    let [stop, watch]: (() => void)[] = [() => {}, () => {}];
    const before = memoryUsage().rss;
    const started = spent();
    const answer = new Promise<Row[] | undefined>((resolve, reject) => {
      const fail = (problem: string): void => reject(new Error(problem));
      stop = () => reject(signal?.reason);
      watch = () => {
        if (spent() - started > left) fail(`${LIMIT}${late}`);
        if (memoryUsage().rss - before > memory) fail(`${LIMIT}${large}`);
      };
      worker.removeAllListeners();
      worker.once("message", ({ rows, problem }) => (problem === undefined ? resolve(rows) : fail(problem)));
      worker.once("error", ({ code, message }: Error & { code?: string }) =>
        fail(code === "ERR_WORKER_OUT_OF_MEMORY" ? `${LIMIT}${large}` : message),
      );
    });
    const timer = setInterval(watch, CHECK_MS);
    signal?.addEventListener("abort", stop);
    worker.postMessage("next");
    return await answer.finally(() => {
      left -= spent() - started;
      clearInterval(timer);
      signal?.removeEventListener("abort", stop);
    });
  };
  try {
    for (let rows = await next(); rows; rows = await next()) yield rows;
  } finally {
    await worker.terminate();
  }
}

export async function* parquetRows(
  bytes: Uint8Array,
  limit: number,
  builder: DatasetBuilder,
): AsyncGenerator<JsonObject> {
  const load: Load = (name) => import(/* @vite-ignore */ name);
  await load(PACKAGE).catch(() =>
    builder.refuse("a Parquet file", `the package ${PACKAGE} to read it (npm install ${PACKAGE})`, 0),
  );
  const { process } = globalThis as { process?: { versions?: { node?: string } } }; // Deno and Bun have one too
  const threads = process?.versions?.node !== undefined;
  const place = (name: string): string => {
    try {
      return threads ? import.meta.resolve(name) : name;
    } catch {
      return name; // it is not there
    }
  };
  const job = { bytes, limit, hyparquet: place(PACKAGE), compressors: place(COMPRESSORS) };
  const groups = threads ? rowGroupsInThread(job, builder.options.signal) : rowGroups(job, load);
  const complete = featureMaker(builder);
  try {
    for (;;) {
      const { value: rows } = await groups.next().catch((error: Error) => refused(error, limit, builder));
      if (!rows) return;
      for (const row of rows) yield complete(plainObject(row));
    }
  } finally {
    await groups.return(undefined); // a thread that is left behind would keep the process from ending
  }
}

function refused(error: Error, limit: number, builder: DatasetBuilder): never {
  builder.options.signal?.throwIfAborted();
  const message = clean(error.message.split("\n", 1)[0]);
  if (message.startsWith(LIMIT)) {
    const expected = `at most ${limit} unpacked bytes (${builder.option("maxUnpacked")} allows more)`;
    builder.refuse(`a Parquet file that ${message.slice(LIMIT.length)}`, expected, 0);
  }
  const found = `a Parquet file that ${PACKAGE} cannot read (${message})`;
  builder.refuse(found, `one it can, or the package ${COMPRESSORS} for other ways of packing`, 0);
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
function featureMaker(builder: DatasetBuilder): (row: JsonObject) => JsonObject {
  const { keys, text = ["text", ...(keys?.text ?? [])], id, ignore } = builder.options;
  const { labels = [...LABEL_KEYS, ...(keys?.labels ?? [])] } = builder.options;
  const others = new Set([...labels, ...(id === undefined ? [...ID_KEYS, keys?.id ?? ""] : [id]), ...ignore]);
  const oneHot = new OneHot(builder);
  return (row) => {
    if (Object.hasOwn(row, "features") || text.some((key) => Object.hasOwn(row, key))) return row;
    const numbers = Object.entries(row).filter(
      ([key, value]) => typeof value === "number" && !others.has(key) && !oneHot.has(key),
    );
    return numbers.length === 0 ? row : { ...row, features: Object.fromEntries(numbers) };
  };
}
