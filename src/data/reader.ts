// Reads a data set from any source and any of the formats, streaming; broken rows are refused or, leniently,
// skipped.

import type { ByteSource } from "./bytes.ts";
import { CsvParser } from "./csv.ts";
import { detectFormat } from "./detect.ts";
import { DataError } from "./errors.ts";
import { Intake } from "./intake.ts";
import { JsonlParser } from "./jsonl.ts";
import { type LineBlock, lineBlocks } from "./lines.ts";
import { isSpace } from "./numbers.ts";
import type {
  Batch,
  Batches,
  DataFormat,
  ReadOptions,
  ReadResult,
  SkippedRow,
  SkippedRows,
} from "./options.ts";
import type { BlankRun, RowParser } from "./rowparser.ts";
import { SvmlightParser } from "./svmlight.ts";
import { XcParser } from "./xc.ts";

const PARSERS: Readonly<Record<DataFormat, new (intake: Intake) => RowParser>> = {
  xc: XcParser,
  svmlight: SvmlightParser,
  jsonl: JsonlParser,
  csv: CsvParser,
};

const MOST_LISTED = 100;
/** A few bytes of gzip can hold any number of blank lines. */
const MOST_BLANK_LINES = 2 ** 20;

class SkipLog implements SkippedRows {
  total = 0;
  readonly byReason: Record<string, number> = {};
  readonly rows: SkippedRow[] = [];

  add(row: SkippedRow): void {
    this.total++;
    this.byReason[row.reason] = (this.byReason[row.reason] ?? 0) + 1;
    if (this.rows.length < MOST_LISTED) this.rows.push(row);
  }
}

function isBlank(block: LineBlock): boolean {
  let at = block.start;
  while (at < block.end && isSpace(block.bytes[at])) at++;
  return at === block.end;
}

/** One pass over a source. */
class Reading {
  readonly intake: Intake;
  readonly skipped = new SkipLog();
  /** Skipped since the batch before, in a reading by batches. */
  readonly onSkip: ((row: SkippedRow) => void) | undefined;
  format: DataFormat | undefined;
  #parser: RowParser | undefined;
  #blankLine = 0; // first of the blank lines just passed
  #blankLines = 0;

  constructor(options: ReadOptions, onSkip?: (row: SkippedRow) => void) {
    this.intake = new Intake(options.file ?? "data", options);
    this.onSkip = onSkip;
  }

  /** Parses the source block by block, pausing after each. */
  async *blocks(source: ByteSource): AsyncGenerator<void> {
    const { options, file } = this.intake;
    const total = options.size ?? sizeOf(source);
    let bytes = 0;
    const onBytes = (read: number): void => {
      bytes = read;
    };
    for await (const block of lineBlocks(source, { file, signal: options.signal, onBytes })) {
      while (block.next()) this.#line(block);
      options.onProgress?.({ bytes, ...(total !== undefined && { total }), rows: this.intake.rows });
      options.signal?.throwIfAborted();
      yield;
    }
    this.#finish();
  }

  #line(block: LineBlock): void {
    if (!this.#parser?.midRecord && isBlank(block)) {
      this.#blankLine ||= block.number;
      if (++this.#blankLines > MOST_BLANK_LINES)
        this.intake.refuse(this.#blankLine, `more than ${MOST_BLANK_LINES} empty lines`, "rows of data");
      return;
    }
    this.#attempt(block.number, () => {
      this.#parser ??= this.#open(block);
      if (this.#blankLines > 0) this.#blankRows(this.#parser);
      this.#parser.line(block.bytes, block.start, block.end, block.number);
    });
  }

  #open(block: LineBlock): RowParser {
    const start = block.bytes.slice(block.start, Math.min(block.end, block.start + 4096));
    this.format = detectFormat(this.intake, new TextDecoder().decode(start), block.number);
    if (this.intake.kind() === "text" && (this.format === "xc" || this.format === "svmlight"))
      this.intake.refuse(
        block.number,
        `features (format ${this.format})`,
        "texts, as the model was trained on",
      );
    return new PARSERS[this.format](this.intake);
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

  #attempt(line: number, parse: () => void): void {
    try {
      parse();
    } catch (error) {
      if (!(error instanceof DataError) || error.reason === undefined || !this.intake.options.lenient)
        throw error;
      this.intake.abandonRow();
      const row = {
        line: error.line || line,
        reason: error.reason,
        message: error.message,
        rowsBefore: this.intake.rows,
      };
      this.skipped.add(row);
      this.onSkip?.(row);
    }
  }

  #finish(): void {
    const intake: Intake = this.intake;
    const parser = this.#parser;
    if (!parser) intake.refuse(0, "an empty file", "rows of data");
    this.#attempt(0, () => parser.finish(this.skipped.total, this.#takeBlank()));
    if (intake.rows === 0)
      intake.refuse(0, this.skipped.total > 0 ? "no row that is right" : "no rows", "at least one");
    if (intake.requireLabels && intake.labelEntries === 0) {
      intake.refuse(0, `no label in any of its ${intake.rows} rows`, "at least one row with labels");
    }
    intake.closingNotes();
  }
}

/** Bytes of a source that is all there. */
function sizeOf(source: ByteSource): number | undefined {
  if (source instanceof Blob) return source.size;
  return source instanceof Uint8Array ? source.length : undefined;
}

/**
 * Reads a whole data set. Refuses a broken file with a `DataError`, or skips and counts broken rows when
 * `lenient`.
 */
export async function readDataset(source: ByteSource, options: ReadOptions = {}): Promise<ReadResult> {
  const reading = new Reading(options);
  for await (const _ of reading.blocks(source)) {
    // parsing happens in the generator
  }
  const { intake, skipped } = reading;
  const format = reading.format as DataFormat;
  const dataset = intake.take(format);
  const { emptyRows, unknownFeatures, notes } = intake;
  return { dataset, format, skipped, emptyRows, unknownFeatures, notes };
}

/**
 * Reads piece by piece, for predicting on input of any length: gives the rows of each block as they come, and
 * between them the rows that a lenient reader skipped. Texts need a `vectoriser`. Labels are not required unless
 * asked for.
 */
export function readBatches(source: ByteSource, options: ReadOptions = {}): Batches {
  const pending: SkippedRow[] = [];
  const reading = new Reading({ requireLabels: false, ...options }, (row) => pending.push(row));
  const { intake, skipped } = reading;
  async function* batches(): AsyncGenerator<Batch> {
    let taken = 0;
    const take = (): Batch => {
      if (intake.fitting) intake.refuse(0, "texts", "features, or a vocabulary to turn texts into features");
      const before = taken;
      taken = intake.rows;
      const own = pending.splice(0).map((row) => ({ ...row, rowsBefore: row.rowsBefore - before }));
      return { ...intake.take(reading.format as DataFormat), skipped: own };
    };
    for await (const _ of reading.blocks(source)) if (intake.rows > taken) yield take();
    if (intake.rows > taken || pending.length > 0) yield take();
  }
  return {
    [Symbol.asyncIterator]: batches,
    skipped,
    notes: intake.notes,
    get emptyRows() {
      return intake.emptyRows;
    },
    get unknownFeatures() {
      return intake.unknownFeatures;
    },
  };
}
