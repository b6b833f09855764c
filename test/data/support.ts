// Random data sets, the formats written plainly, and what every reader must do with damaged input.

import fc from "fast-check";
import { expect } from "vitest";
import { DataError } from "../../src/base/errors.ts";
import type { ReadOptions, ReadResult } from "../../src/data/options.ts";
import { readDataset } from "../../src/data/reader.ts";

/** Every word is a term, and nothing else is. */
export const wordsAlone = { minDocuments: 1, leadWords: 0, charNgrams: false, oovInNorm: false } as const;

/** A row as a person would write it down. */
export interface PlainRow {
  readonly labels: number[]; // rising
  readonly features: [column: number, value: number][]; // columns rising
}

export interface PlainData {
  readonly columns: number;
  readonly labels: number;
  readonly rows: PlainRow[];
}

const value: fc.Arbitrary<number> = fc
  .float({ noNaN: true, noDefaultInfinity: true })
  .filter((number) => number !== 0 && Number.isFinite(Math.fround(number)));

function risingSet(most: number, maxLength: number): fc.Arbitrary<number[]> {
  return fc.uniqueArray(fc.nat(most - 1), { maxLength }).map((ids) => ids.sort((a, b) => a - b));
}

const row: fc.Arbitrary<PlainRow> = fc
  .record({
    labels: risingSet(7, 4),
    columns: risingSet(40, 6),
    values: fc.array(value, { minLength: 6, maxLength: 6 }),
  })
  .map(({ labels, columns, values }) => ({
    labels,
    features: columns.map((column, i): [number, number] => [column, values[i]]),
  }));

function dataOf(each: fc.Arbitrary<PlainRow>): fc.Arbitrary<PlainData> {
  return fc
    .array(each, { minLength: 1, maxLength: 8 })
    .filter((rows) => rows.some(({ labels }) => labels.length > 0))
    .map((rows) => ({ columns: 40, labels: 7, rows }));
}

/** Data sets that every format can hold: no empty row, at least one label. */
export const plainData: fc.Arbitrary<PlainData> = dataOf(
  row.filter(({ labels, features }) => labels.length + features.length > 0),
);

/** Likewise, and some rows have neither labels nor features. */
export const dataWithEmptyRows: fc.Arbitrary<PlainData> = dataOf(
  fc.oneof(
    { weight: 2, arbitrary: row },
    { weight: 1, arbitrary: fc.constant<PlainRow>({ labels: [], features: [] }) },
  ),
);

export function sparseLine({ labels, features }: PlainRow): string {
  return [labels.join(","), ...features.map(([column, number]) => `${column}:${number}`)].join(" ");
}

export function asXc({ rows, columns, labels }: PlainData): string {
  return [`${rows.length} ${columns} ${labels}`, ...rows.map(sparseLine), ""].join("\n");
}

/** A data set back as plain rows. */
export function plain({ dataset: { features, labels } }: ReadResult): PlainData {
  const rows = Array.from({ length: features.rows }, (_, i): PlainRow => {
    const [from, to] = [features.rowStart[i], features.rowStart[i + 1]];
    const columns = Array.from(features.columnIndex.subarray(from, to));
    return {
      labels: Array.from(labels.labelIndex.subarray(labels.rowStart[i], labels.rowStart[i + 1])),
      features: columns.map((column, j): [number, number] => [column, features.values[from + j]]),
    };
  });
  return { columns: features.columns, labels: labels.labels, rows };
}

/** The message a file is refused with. */
export async function refusal(source: string | Uint8Array, options: ReadOptions = {}): Promise<string> {
  try {
    await readDataset(source, options);
  } catch (error) {
    expect(error).toBeInstanceOf(DataError);
    const { message } = error as DataError;
    expect(message).not.toMatch(/[\n\r]/);
    expect(message).toMatch(/^.+: found .+, expected .+$/);
    return message;
  }
  return "read without an error";
}

/** One or a few bytes of a text (or of bytes as characters) changed, removed, doubled or put elsewhere. */
export function mutated(source: fc.Arbitrary<string>, form: "text" | "binary" = "text"): fc.Arbitrary<Uint8Array> {
  const change = fc.record({ at: fc.nat(), kind: fc.nat(4), byte: fc.nat(255), other: fc.nat() });
  return fc.tuple(source, fc.array(change, { minLength: 1, maxLength: 4 })).map(([text, changes]) => {
    let bytes =
      form === "text"
        ? Array.from(new TextEncoder().encode(text))
        : text.split("").map((character) => character.charCodeAt(0));
    for (const { at, kind, byte, other } of changes) {
      const place = at % (bytes.length + 1);
      if (kind === 0) bytes[place] = byte;
      else if (kind === 1) bytes.splice(place, 1);
      else if (kind === 2) bytes.splice(place, 0, byte);
      else if (kind === 3) bytes = bytes.slice(0, place);
      else bytes.splice(other % (bytes.length + 1), 0, ...bytes.slice(place, place + 5));
    }
    return Uint8Array.from(bytes);
  });
}

/**
 * Whatever the bytes: a data set, or one sentence. Lenient reading never fails on more files than strict
 * reading.
 */
export async function neverCrashes(source: Uint8Array, options: ReadOptions): Promise<void> {
  const strict = await refusal(source, options);
  const lenient = await refusal(source, { ...options, lenient: true });
  if (strict === "read without an error") expect(lenient).toBe(strict);
}

export async function gzip(bytes: Uint8Array | string): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A stream that gives the bytes in pieces of the given size. */
export function inPieces(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}
