// Reads a data set from any source and any of the formats, streaming; broken rows are refused or, leniently,
// skipped.

import type { ByteSource } from "./bytes.ts";
import { CsvParser } from "./csv.ts";
import type { Dataset } from "./dataset.ts";
import { detectFormat } from "./detect.ts";
import { DataError } from "./errors.ts";
import { Intake } from "./intake.ts";
import { JsonlParser } from "./jsonl.ts";
import { type LineBlock, lineBlocks } from "./lines.ts";
import { isSpace } from "./numbers.ts";
import type { DataFormat, ReadOptions, ReadResult, SkippedRow, SkippedRows } from "./options.ts";
import { SvmlightParser } from "./svmlight.ts";
import { XcParser } from "./xc.ts";

/** Turns lines into rows of an intake. */
interface RowParser {
  /** True inside a record that goes on in the next line. */
  readonly midRecord?: boolean;
  line(bytes: Uint8Array, start: number, end: number, line: number): void;
  finish(skipped: number): void;
}

const PARSERS: Readonly<Record<DataFormat, new (intake: Intake) => RowParser>> = {
  xc: XcParser,
  svmlight: SvmlightParser,
  jsonl: JsonlParser,
  csv: CsvParser,
};

const MOST_LISTED = 100;

class SkipLog implements SkippedRows {
  total = 0;
  readonly byReason: Record<string, number> = {};
  readonly rows: SkippedRow[] = [];

  add(line: number, reason: string): void {
    this.total++;
    this.byReason[reason] = (this.byReason[reason] ?? 0) + 1;
    if (this.rows.length < MOST_LISTED) this.rows.push({ line, reason });
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
  format: DataFormat | undefined;
  #parser: RowParser | undefined;
  #blankLine = 0; // first of the blank lines just passed
  #blankLines = 0;

  constructor(options: ReadOptions) {
    this.intake = new Intake(options.file ?? "data", options);
  }

  /** Parses the source block by block, pausing after each. */
  async *blocks(source: ByteSource): AsyncGenerator<void> {
    const { options, file } = this.intake;
    let bytes = 0;
    const onBytes = (total: number): void => {
      bytes = total;
    };
    for await (const block of lineBlocks(source, { file, signal: options.signal, onBytes })) {
      while (block.next()) this.#line(block);
      options.onProgress?.({ bytes, rows: this.intake.rows });
      options.signal?.throwIfAborted();
      yield;
    }
    this.#finish();
  }

  #line(block: LineBlock): void {
    if (!this.#parser?.midRecord && isBlank(block)) {
      this.#blankLine ||= block.number;
      this.#blankLines++;
      return;
    }
    if (this.#blankLines > 0) this.#blankRows();
    this.#attempt(block.number, () => {
      this.#parser ??= this.#open(block);
      this.#parser.line(block.bytes, block.start, block.end, block.number);
    });
  }

  #open(block: LineBlock): RowParser {
    const start = block.bytes.slice(block.start, Math.min(block.end, block.start + 4096));
    this.format = detectFormat(this.intake, new TextDecoder().decode(start), block.number);
    return new PARSERS[this.format](this.intake);
  }

  /** Blank lines at the end of a file are no rows; these came before another line. */
  #blankRows(): void {
    const first = this.#blankLine;
    const count = this.#blankLines;
    this.#blankLine = 0;
    this.#blankLines = 0;
    for (let line = first; line < first + count; line++) {
      this.#attempt(line, () =>
        this.intake.fail(line, "empty row", "an empty row", "a row with features or labels"),
      );
    }
  }

  #attempt(line: number, parse: () => void): void {
    try {
      parse();
    } catch (error) {
      if (!(error instanceof DataError) || error.reason === undefined || !this.intake.options.lenient)
        throw error;
      this.intake.abandonRow();
      this.skipped.add(error.line || line, error.reason);
    }
  }

  #finish(): void {
    const intake: Intake = this.intake;
    const parser = this.#parser;
    if (!parser) intake.refuse(0, "an empty file", "rows of data");
    this.#attempt(0, () => parser.finish(this.skipped.total));
    if (intake.rows === 0)
      intake.refuse(0, this.skipped.total > 0 ? "no row that is right" : "no rows", "at least one");
    if (intake.requireLabels && intake.labelEntries === 0) {
      intake.refuse(0, `no label in any of its ${intake.rows} rows`, "at least one row with labels");
    }
  }
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
  return { dataset, format, skipped, unknownFeatures: intake.unknownFeatures, notes: intake.notes };
}

/**
 * Reads piece by piece, for predicting on input of any length: yields the rows of each block as they come.
 * Texts need a `vectoriser`. Labels are not required unless asked for.
 */
export async function* readBatches(source: ByteSource, options: ReadOptions = {}): AsyncGenerator<Dataset> {
  const reading = new Reading({ requireLabels: false, ...options });
  let taken = 0;
  for await (const _ of reading.blocks(source)) {
    if (reading.intake.rows === taken) continue;
    if (reading.intake.fitting)
      reading.intake.refuse(0, "texts", "features, or a vocabulary to turn texts into features");
    taken = reading.intake.rows;
    yield reading.intake.take(reading.format as DataFormat);
  }
}
