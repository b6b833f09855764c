// Reads a data set from any source and any of the formats, streaming; broken rows are refused or, leniently,
// skipped.

import { type ByteSource, joined, type OpenBytes, openBytes } from "./bytes.ts";
import { AnnifParser } from "./formats/annif.ts";
import { CsvParser } from "./formats/csv.ts";
import { detectFormat } from "./formats/detect.ts";
import { JsonlParser } from "./formats/jsonl.ts";
import { JsonListParser } from "./formats/jsonlist.ts";
import { describe, isObject, Records } from "./formats/records.ts";
import type { BlankRun, RowParser } from "./formats/rowparser.ts";
import { SvmlightParser } from "./formats/svmlight.ts";
import { XcParser } from "./formats/xc.ts";
import { Intake } from "./intake.ts";
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

/** What a data set can be read from: bytes, or rows in memory. */
export type DataSource = ByteSource | Iterable<DataRow> | AsyncIterable<DataRow>;

const PARSERS: Readonly<Record<TextFormat, new (intake: Intake) => RowParser>> = {
  xc: XcParser,
  svmlight: SvmlightParser,
  jsonl: JsonlParser,
  json: JsonListParser,
  csv: CsvParser,
  annif: AnnifParser,
};

/** A few bytes of gzip can hold any number of blank lines. */
const MOST_BLANK_LINES = 2 ** 20;
/** Binary formats are read as a whole. */
const MOST_BINARY_BYTES = 2 ** 32;
/** Room is made for at most so many times what the first block has. */
const MOST_TIMES = 2 ** 12;
/** Rows between two moments at which reading may be stopped. */
const ROWS_AT_ONCE = 1000;

function isBlank(block: LineBlock): boolean {
  let at = block.start;
  while (at < block.end && isSpace(block.bytes[at])) at++;
  return at === block.end;
}

function isBytes(source: DataSource): source is ByteSource {
  if (typeof source === "string" || source instanceof Uint8Array || source instanceof Blob) return true;
  return source instanceof ReadableStream;
}

const isIterable = (source: unknown): boolean =>
  typeof source === "object" &&
  source !== null &&
  (Symbol.iterator in source || Symbol.asyncIterator in source);

/** Bytes of a source that is all there. */
function sizeOf(source: ByteSource): number | undefined {
  if (source instanceof Blob) return source.size;
  return source instanceof Uint8Array ? source.length : undefined;
}

/** One pass over a source. */
class Reading {
  readonly intake: Intake;
  format: DataFormat | undefined;
  #parser: RowParser | undefined;
  #blankLine = 0; // first of the blank lines just passed
  #blankLines = 0;
  #bytes = 0; // taken from the source so far
  #total: number | undefined;
  #expecting: boolean; // room is still to be made for the rest

  /** `whole`: all rows are kept until the end. */
  constructor(options: ReadOptions, whole: boolean) {
    this.#expecting = whole;
    this.intake = new Intake(options.file ?? "data", options);
  }

  /** Reads the source block by block, pausing after each. */
  async *blocks(source: DataSource): AsyncGenerator<void> {
    const { vectoriser, tfidf } = this.intake.options;
    const language = vectoriser ? vectoriser.stem : tfidf?.stem;
    if (language !== undefined) await loadStemmer(language);
    if (!isBytes(source)) yield* this.#rows(source, "rows");
    else {
      this.#total = this.intake.options.size ?? sizeOf(source);
      const opened = await this.#openBytes(source);
      if (opened.kind === "text") yield* this.#lines(opened.chunks);
      else yield* this.#binary(opened);
    }
    this.#finish();
  }

  #openBytes(source: ByteSource): Promise<OpenBytes> {
    const onBytes = (read: number): void => {
      this.#bytes = read;
    };
    return openBytes(source, { file: this.intake.file, signal: this.intake.options.signal, onBytes });
  }

  /** Between two blocks: how far it is, and whether to go on. */
  #pause(): void {
    const { onProgress, signal } = this.intake.options;
    const total = this.#total;
    onProgress?.({ bytes: this.#bytes, ...(total !== undefined && { total }), rows: this.intake.rows });
    signal?.throwIfAborted();
    if (total !== undefined && this.#expecting && this.intake.rows > 0) {
      this.#expecting = false;
      this.intake.expect(Math.min(total / this.#bytes, MOST_TIMES));
    }
  }

  async *#lines(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<void> {
    for await (const block of lineBlocks(chunks, this.intake.file)) {
      while (block.next()) this.#line(block);
      this.#pause();
      yield;
    }
    const parser = this.#parser;
    if (!parser) this.intake.refuse(0, "an empty file", "rows of data");
    this.intake.attempt(0, () => parser.finish(this.intake.skipped.total, this.#takeBlank()));
  }

  #line(block: LineBlock): void {
    if (!this.#parser?.midRecord && isBlank(block)) {
      this.#blankLine ||= block.number;
      if (++this.#blankLines > MOST_BLANK_LINES)
        this.intake.refuse(this.#blankLine, `more than ${MOST_BLANK_LINES} empty lines`, "rows of data");
      return;
    }
    this.intake.attempt(block.number, () => {
      this.#parser ??= this.#openParser(block);
      if (this.#blankLines > 0) this.#blankRows(this.#parser);
      this.#parser.line(block.bytes, block.start, block.end, block.number);
    });
  }

  #openParser(block: LineBlock): RowParser {
    const start = block.bytes.slice(block.start, Math.min(block.end, block.start + 4096));
    const format = detectFormat(this.intake, new TextDecoder().decode(start), block.number);
    this.#setFormat(format, block.number);
    return new PARSERS[format](this.intake);
  }

  #setFormat(format: DataFormat, line: number): void {
    this.format = format;
    if (this.intake.kind() === "text" && ["xc", "svmlight", "numpy"].includes(format))
      this.intake.refuse(line, `features (format ${format})`, "texts, as the model was trained on");
    if (this.intake.options.labelsFrom && format !== "numpy") {
      const option = this.intake.option("labelsFrom");
      this.intake.refuse(line, `labels from another file (${option}) for format ${format}`, "format numpy");
    }
  }

  #takeBlank(): BlankRun {
    const run = { first: this.#blankLine, count: this.#blankLines };
    this.#blankLine = 0;
    this.#blankLines = 0;
    return run;
  }

  /** Blank lines at the end of a file are no rows; these came before another line. */
  #blankRows(parser: RowParser): void {
    const { first, count } = this.#takeBlank();
    for (let line = first; line < first + count; line++) parser.blank?.(line);
  }

  /** Rows as objects. */
  async *#rows(rows: Iterable<DataRow> | AsyncIterable<DataRow>, format: DataFormat): AsyncGenerator<void> {
    const { intake } = this;
    intake.unit = "row";
    if (!isIterable(rows))
      intake.refuse(0, describe(rows), 'a path, bytes, or a list of { text: "...", labels: ["..."] }');
    this.#setFormat(format, 0);
    const records = new Records(intake);
    let number = 0;
    for await (const row of rows) {
      const place = ++number;
      intake.attempt(place, () => {
        if (!isObject(row))
          intake.fail(place, "not an object", describe(row), '{ text: "...", labels: ["..."] }');
        records.add(row, place);
      });
      if (number % ROWS_AT_ONCE > 0) continue;
      this.#pause();
      yield;
    }
  }

  async *#binary({ kind, chunks }: OpenBytes): AsyncGenerator<void> {
    const { intake } = this;
    const { format = "auto", labelsFrom } = intake.options;
    const found = kind === "parquet" ? "parquet" : "numpy";
    if (format !== "auto" && format !== found) {
      await chunks.return(undefined);
      intake.refuse(0, `a file of format ${found}`, `format ${format}`);
    }
    intake.unit = "row";
    this.#setFormat(found, 0);
    const bytes = await this.#whole(chunks);
    this.#pause();
    if (kind === "parquet") {
      const { parquetRows } = await import("./formats/parquet.ts");
      yield* this.#rows(parquetRows(bytes, intake), "parquet");
      return;
    }
    const { numpyArrays, readNumpy } = await import("./formats/numpy.ts");
    const labels =
      labelsFrom === undefined
        ? undefined
        : await numpyArrays(await this.#whole((await this.#openBytes(labelsFrom)).chunks), "the labels");
    readNumpy(await numpyArrays(bytes, intake.file), labels, intake);
    this.#pause();
    yield;
  }

  async #whole(chunks: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
    const bytes = await joined(chunks, MOST_BINARY_BYTES);
    return bytes ?? this.intake.refuse(0, `more than ${MOST_BINARY_BYTES} bytes`, "fewer");
  }

  #finish(): void {
    const { intake } = this;
    if (intake.rows === 0)
      intake.refuse(0, intake.skipped.total > 0 ? "no row that is right" : "no rows", "at least one");
    if (intake.requireLabels && intake.labelEntries === 0) {
      intake.refuse(0, `no label in any of its ${intake.rows} rows`, "at least one row with labels");
    }
    intake.closingNotes();
  }
}

/**
 * Reads a whole data set: bytes in any of the formats, or rows such as `{ text: "...", labels: ["..."] }`. Refuses
 * a broken file with a `DataError`, or skips and counts broken rows when `lenient`.
 */
export async function readDataset(source: DataSource, options: ReadOptions = {}): Promise<ReadResult> {
  const reading = new Reading(options, true);
  for await (const _ of reading.blocks(source)) {
    // parsing happens in the generator
  }
  const { intake } = reading;
  const format = reading.format as DataFormat;
  const dataset = intake.take(format);
  const { skipped, emptyRows, unknownFeatures, notes } = intake;
  return { dataset, format, skipped, emptyRows, unknownFeatures, notes };
}

/**
 * Reads piece by piece, for predicting on input of any length: gives the rows of each block as they come, and
 * between them the rows that a lenient reader skipped. Texts need a `vectoriser`. Labels are not required unless
 * asked for.
 */
export function readBatches(source: DataSource | Promise<DataSource>, options: ReadOptions = {}): Batches {
  const pending: SkippedRow[] = [];
  const reading = new Reading({ requireLabels: false, ...options }, false);
  const { intake } = reading;
  intake.onSkip = (row) => pending.push(row);
  async function* batches(): AsyncGenerator<Batch> {
    let taken = 0;
    const take = (): Batch => {
      if (intake.fitting) intake.refuse(0, "texts", "features, or a vocabulary to turn texts into features");
      const before = taken;
      taken = intake.rows;
      const own = pending.splice(0).map((row) => ({ ...row, rowsBefore: row.rowsBefore - before }));
      return { ...intake.take(reading.format as DataFormat), skipped: own };
    };
    for await (const _ of reading.blocks(await source)) if (intake.rows > taken) yield take();
    if (intake.rows > taken || pending.length > 0) yield take();
  }
  return {
    [Symbol.asyncIterator]: batches,
    skipped: intake.skipped,
    notes: intake.notes,
    get emptyRows() {
      return intake.emptyRows;
    },
    get unknownFeatures() {
      return intake.unknownFeatures;
    },
  };
}
