// Reads a data set from any source and any of the formats, streaming; broken rows are refused or, leniently,
// skipped.

import { describe, isObject } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { DatasetBuilder } from "./builder.ts";
import { type ByteSource, joined, type OpenBytes, openBytes } from "./bytes.ts";
import type { Dataset } from "./dataset.ts";
import { AnnifParser, CsvParser } from "./formats/csv.ts";
import { type BlankRun, detectFormat, type RowParser } from "./formats/detect.ts";
import { JsonListParser, JsonlParser } from "./formats/json.ts";
import { Records } from "./formats/records.ts";
import { SvmlightParser, XcParser } from "./formats/sparse.ts";
import { type LineBlock, lineBlocks } from "./lines.ts";
import { isSpace } from "./numbers.ts";
import type {
  Batch,
  Batches,
  DataFormat,
  DataRow,
  ReadOptions,
  ReadResult,
  SkippedRow,
  TextFormat,
} from "./options.ts";
import { loadStemmer } from "./stemmers.ts";
import { checkMark, type Embedder, embedded, markOf, VECTOR, widened } from "./vectors.ts";

/** Sources of a data set: bytes, or rows in memory. */
export type DataSource = ByteSource | Iterable<DataRow> | AsyncIterable<DataRow>;

const PARSERS: Readonly<Record<TextFormat, new (builder: DatasetBuilder) => RowParser>> = {
  xc: XcParser,
  svmlight: SvmlightParser,
  jsonl: JsonlParser,
  json: JsonListParser,
  csv: CsvParser,
  annif: AnnifParser,
};

/** A few bytes of gzip can hold any number of blank lines. */
const MOST_BLANK_LINES = 2 ** 20;
/** Bytes that a packed file may unpack to: so many times its own, within these bounds. */
const MOST_RATIO = 100;
const LEAST_UNPACKED = 2 ** 26;
const LEAST_LINE = 2 ** 23;
const MOST_UNPACKED = 2 ** 32;
/** Room is made for at most so many times what the first block has. */
const MOST_TIMES = 2 ** 12;
/** Rows between two moments at which reading may be stopped. */
const ROWS_AT_ONCE = 1000;

function isBlank(block: LineBlock): boolean {
  let at = block.start;
  while (at < block.end && isSpace(block.bytes[at])) at++;
  return at === block.end;
}

const isBytes = (source: DataSource): source is ByteSource =>
  typeof source === "string" || [Uint8Array, Blob, ReadableStream].some((kind) => source instanceof kind);

const isIterable = (source: unknown): boolean =>
  typeof source === "object" && source !== null && (Symbol.iterator in source || Symbol.asyncIterator in source);

class Reading {
  readonly builder: DatasetBuilder;
  format: DataFormat | undefined;
  #parser: RowParser | undefined;
  #blank = { first: 0, count: 0 }; // the blank lines just passed
  #embedder: Embedder | undefined;
  #bytes = 0; // taken from the source so far
  #total: number | undefined;
  #expecting: boolean; // room is still to be made for the rest

  /** `whole`: all rows are kept until the end. */
  constructor(options: ReadOptions, whole: boolean) {
    this.#expecting = whole;
    this.builder = new DatasetBuilder(options.file ?? "data", options);
  }

  async *blocks(source: DataSource): AsyncGenerator<void> {
    const { vectoriser, tfidf, size } = this.builder.options;
    const language = vectoriser ? vectoriser.stem : tfidf?.stem;
    if (language !== undefined) await loadStemmer(language);
    await this.#openVectors();
    if (!isBytes(source)) yield* this.#rows(source, "rows");
    else {
      this.#total = size ?? (source instanceof Uint8Array ? source.length : (source as Partial<Blob>).size);
      const opened = await this.#openBytes(source);
      if (opened.kind === "text") yield* this.#lines(opened.chunks);
      else yield* this.#parquet(opened);
    }
    this.builder.finish();
  }

  /** The vectors of a file of their own; an embedder must be the one of the model. */
  async #openVectors(): Promise<void> {
    const { builder } = this;
    const { vectorsFrom, embedder, vectoriser } = builder.options;
    this.#embedder = await embedder?.();
    if (this.#embedder && vectoriser?.embedder) await checkMark(this.#embedder, vectoriser.embedder);
    if (vectorsFrom === undefined) return;
    const { numpyMatrix } = await import("./formats/numpy.ts");
    const { kind, chunks } = await this.#openBytes(await vectorsFrom());
    if (kind !== "numpy") await chunks.return(undefined); // it may have no end
    const bytes = await this.#whole(chunks);
    builder.vectorFile = numpyMatrix(bytes, "the vectors");
    this.#bytes = 0;
  }

  /** The rows since the last call, with what an embedder makes of their texts. */
  async take(): Promise<Dataset> {
    const { builder } = this;
    const { vectoriser: known, onProgress } = builder.options;
    const embedder = this.#embedder;
    const dataset = await builder.take(this.format as DataFormat);
    const { vectoriser } = dataset;
    if (!embedder || !vectoriser) return dataset;
    const { rows } = builder;
    const shape = known?.vectors?.[0];
    if (known && !shape)
      throw new ArgumentError("embed", `found ${embedder.name}, expected none: the model has no vectors`);
    const onBatch = (done: number): void => onProgress?.({ bytes: this.#bytes, rows, embedded: done });
    const { texts = [] } = dataset.features;
    const { vectors, length } = await embedded(embedder, texts, { length: shape?.length, onBatch });
    return {
      ...dataset,
      features: widened(dataset.features, vectors, length),
      vectoriser: known ?? vectoriser.withVectors([{ name: VECTOR, length }], await markOf(embedder)),
    };
  }

  #openBytes(source: ByteSource): Promise<OpenBytes> {
    const onBytes = (read: number): void => {
      this.#bytes = read;
    };
    return openBytes(source, { file: this.builder.file, signal: this.builder.options.signal, onBytes });
  }

  /** Between two blocks: how far it is, and whether to go on. */
  #pause(): void {
    const { options, rows } = this.builder;
    const total = this.#total;
    options.onProgress?.({ bytes: this.#bytes, ...(total !== undefined && { total }), rows });
    options.signal?.throwIfAborted();
    if (total !== undefined && this.#expecting && rows > 0) {
      this.#expecting = false;
      this.builder.expect(Math.min(total / this.#bytes, MOST_TIMES));
    }
  }

  async *#lines(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<void> {
    // A line becomes many objects: a packed file has none that is much longer than itself.
    const longest = (): number => Math.max(MOST_RATIO * this.#bytes, LEAST_LINE);
    for await (const block of lineBlocks(chunks, this.builder.file, longest)) {
      while (block.next()) this.#line(block);
      this.#pause();
      yield;
    }
    const parser = this.#parser;
    if (!parser) this.builder.refuse("an empty file", "rows of data", 0);
    this.builder.attempt(0, () => parser.finish?.(this.#takeBlank()));
  }

  #line(block: LineBlock): void {
    const { builder } = this;
    if (!this.#parser?.midRecord && isBlank(block)) {
      this.#blank.first ||= block.number;
      if (++this.#blank.count > MOST_BLANK_LINES)
        builder.refuse(`more than ${MOST_BLANK_LINES} empty lines`, "rows of data", this.#blank.first);
      return;
    }
    builder.attempt(block.number, () => {
      this.#parser ??= this.#openParser(block);
      if (this.#blank.count > 0) this.#blankRows(this.#parser);
      builder.line = block.number;
      this.#parser.line(block.bytes, block.start, block.end);
    });
  }

  #openParser(block: LineBlock): RowParser {
    const start = block.bytes.slice(block.start, Math.min(block.end, block.start + 4096));
    const format = detectFormat(this.builder, new TextDecoder().decode(start));
    this.#setFormat(format);
    return new PARSERS[format](this.builder);
  }

  #setFormat(format: DataFormat): void {
    const { builder } = this;
    this.format = format;
    if (builder.kind() === "text" && ["xc", "svmlight"].includes(format))
      builder.refuse(`features (format ${format})`, "texts, as the model was trained on");
  }

  #takeBlank(): BlankRun {
    const run = this.#blank;
    this.#blank = { first: 0, count: 0 };
    return run;
  }

  /** Blank lines at the end of a file are no rows; these came before another line. */
  #blankRows({ blank }: RowParser): void {
    const { first, count } = this.#takeBlank();
    for (let line = first; blank !== undefined && line < first + count; line++) {
      this.builder.line = line;
      if (blank === "unlabelled") this.builder.noLabels();
      this.builder.endRow();
    }
  }

  async *#rows(rows: Iterable<DataRow> | AsyncIterable<DataRow>, format: DataFormat): AsyncGenerator<void> {
    const { builder } = this;
    const example = '{ text: "...", labels: ["..."] }';
    builder.unit = "row";
    if (!isIterable(rows)) builder.refuse(describe(rows), `a path, bytes, or a list of ${example}`);
    this.#setFormat(format);
    const records = new Records(builder);
    let number = 0;
    for await (const row of rows) {
      builder.attempt(++number, () => {
        if (!isObject(row)) builder.fail("not an object", describe(row), example);
        records.add(row);
      });
      if (number % ROWS_AT_ONCE > 0) continue;
      this.#pause();
      yield;
    }
  }

  async *#parquet({ kind, chunks }: OpenBytes): AsyncGenerator<void> {
    const { builder } = this;
    const { format } = builder.options;
    builder.unit = "row";
    if (kind !== "parquet" || (format !== "auto" && format !== "parquet")) {
      for await (const _ of chunks) break; // lets the source go
      if (kind === "parquet") builder.refuse("a file of format parquet", `format ${format}`);
      builder.refuse(
        "a numpy array",
        "rows with labels (a matrix of features as svmlight, vectors of texts as `vectors`)",
        0,
      );
    }
    const bytes = await this.#whole(chunks);
    this.#pause();
    const { parquetRows } = await import("./formats/parquet.ts");
    yield* this.#rows(parquetRows(bytes, this.#limit(), builder), "parquet");
  }

  /** Bytes that a packed file may unpack to: by its own bytes, unless the caller says so. */
  #limit(): number {
    const { maxUnpacked } = this.builder.options;
    return maxUnpacked ?? Math.min(Math.max(MOST_RATIO * this.#bytes, LEAST_UNPACKED), MOST_UNPACKED);
  }

  /** Binary formats are read as a whole; gzip around them unpacks to no more than its own bytes allow. */
  async #whole(chunks: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
    const bytes = await joined(chunks, () => this.#limit());
    if (bytes) return bytes;
    const builder: DatasetBuilder = this.builder;
    const expected = `at most ${this.#limit()} (${builder.option("maxUnpacked")} allows more)`;
    builder.refuse(`more than ${this.#limit()} unpacked bytes in ${this.#bytes}`, expected, 0);
  }
}

/** `readDataset` of io/dataset.ts, for bytes and rows. */
export async function readDataset(source: DataSource, options: ReadOptions = {}): Promise<ReadResult> {
  const reading = new Reading(options, true);
  for await (const _ of reading.blocks(source)) {
    // parsing happens in the generator
  }
  const format = reading.format as DataFormat;
  const dataset = await reading.take();
  const { skipped, emptyRows, unlabelled, unknownFeatures, notes } = reading.builder;
  return { dataset, format, skipped, emptyRows, unlabelled, unknownFeatures, notes };
}

/** `readBatches` of io/dataset.ts, likewise. */
export function readBatches(source: DataSource | Promise<DataSource>, options: ReadOptions = {}): Batches {
  const pending: SkippedRow[] = [];
  const reading = new Reading({ requireLabels: false, ...options }, false);
  const { builder } = reading;
  builder.onSkip = (row) => pending.push(row);
  async function* batches(): AsyncGenerator<Batch> {
    let taken = 0;
    const take = async (): Promise<Batch> => {
      if (builder.fitting) builder.refuse("texts", "features, or a vocabulary to turn texts into features", 0);
      const before = taken;
      taken = builder.rows;
      const own = pending.splice(0).map((row) => ({ ...row, rowsBefore: row.rowsBefore - before }));
      return { ...(await reading.take()), skipped: own };
    };
    for await (const _ of reading.blocks(await source)) if (builder.rows > taken) yield await take();
    if (builder.rows > taken || pending.length > 0) yield await take();
  }
  return {
    [Symbol.asyncIterator]: batches,
    skipped: builder.skipped,
    notes: builder.notes,
    get emptyRows() {
      return builder.emptyRows;
    },
    get unlabelled() {
      return builder.unlabelled;
    },
    get unknownFeatures() {
      return builder.unknownFeatures;
    },
  };
}
