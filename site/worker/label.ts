// A whole file labelled to CSV, piece by piece, so that what is typed meanwhile is answered in between.

import { selectRows } from "../../src/data/dataset.ts";
import type { Batch } from "../../src/data/options.ts";
import { readBatches } from "../../src/data/reader.ts";
import { answersOf, csvFormat } from "../../src/predict/lines.ts";
import { readingFor } from "../../src/predict/reading.ts";
import type { LabelSettings } from "./messages.ts";
import type { Opened } from "./opened.ts";

/** Rows that are labelled in one go: a question that was typed waits for no more of them. */
const PIECE = 64;
/** Labels for each row, as `mlgpf predict` has it. */
const LABELS = 5;

export interface LabelRun {
  signal: AbortSignal;
  onProgress(rows: number, part: number): void;
  /** Does a piece of the work when it is its turn. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

export interface LabelledFile {
  rows: number;
  csv: Blob;
  notes: readonly string[];
}

/** CSV with id, line, text, known, labels, probabilities and error: a line for each row of the file, in its order. */
export async function labelFile(
  { model, host }: Opened,
  source: File,
  { textName = ["text"], idName, lenient }: LabelSettings,
  { signal, onProgress, inTurn }: LabelRun,
): Promise<LabelledFile> {
  const keep = model.schema.vectoriser ? textName : [];
  let part = 0;
  // Labels that the file may have already mean nothing here.
  const { labelCount: _, labelNames: __, ...features } = readingFor(model.schema);
  const batches = readBatches(source, {
    ...features,
    file: source.name,
    requireLabels: false,
    lenient,
    signal,
    ...(model.schema.vectoriser && { text: textName, keep }),
    ...(idName && { id: idName }),
    onProgress: ({ bytes }) => {
      part = source.size > 0 ? bytes / source.size : 0;
    },
  });
  const { head, line } = csvFormat(keep, {});
  const lines = [`${head}\n`];
  for await (const batch of batches)
    for (const piece of pieces(batch)) {
      const answers = await inTurn(() => answersOf(piece, host, model, { topK: LABELS }));
      signal.throwIfAborted();
      for (const answer of answers) lines.push(`${line(answer)}\n`);
      onProgress(lines.length - 1, part);
    }
  const { total } = batches.skipped;
  const notes = total > 0 ? [`${total} broken: the column error says why`, ...batches.notes] : batches.notes;
  return { rows: lines.length - 1, csv: new Blob(lines, { type: "text/csv" }), notes };
}

/** A batch in pieces of few rows, each with the broken ones before it; those after the last row go with the last. */
function* pieces(batch: Batch): Generator<Batch> {
  const { rows } = batch.features;
  for (let from = 0; from === 0 || from < rows; from += PIECE) {
    const to = Math.min(rows, from + PIECE);
    const own = batch.skipped.filter(({ rowsBefore }) => rowsBefore >= from && (rowsBefore < to || to === rows));
    const skipped = own.map((row) => ({ ...row, rowsBefore: row.rowsBefore - from }));
    yield {
      ...selectRows(
        batch,
        Array.from({ length: to - from }, (_, i) => from + i),
      ),
      skipped,
    };
  }
}
