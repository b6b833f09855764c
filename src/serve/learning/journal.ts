// What a server was taught and may not lose: batches of documents in a file, one a line, each with a checksum and a
// number. A batch is flushed to the disk before anybody is told that it was taken.
//
//   0123456789abcdef {"batch":7,"time":"2026-01-31T12:00:00.000Z","documents":[{"text":"...","labels":["..."]}]}
//
// A crash can leave half of the last line: nobody was told of that one, and it is cut off. Half a line before a whole one
// is damage, and refused.

import { type FileHandle, open } from "node:fs/promises";
import { checksum } from "../../io/checksum.ts";
import { FormatError } from "../../io/errors.ts";
import { fileError, writeAtomically } from "../../io/files.ts";

/** A document with the labels it should have, by their names. */
export interface TaughtDocument {
  readonly id?: string;
  readonly text: string;
  readonly labels: readonly string[];
  /** As how many documents it counts, where that is not one. */
  readonly weight?: number;
}

/** Documents that were taken together. */
export interface TaughtBatch {
  /** Rising by one. */
  readonly batch: number;
  readonly time: string;
  readonly documents: readonly TaughtDocument[];
}

const encoder = new TextEncoder();

function lineOf(batch: TaughtBatch): Uint8Array {
  const json = JSON.stringify(batch);
  return encoder.encode(`${checksum(encoder.encode(json))} ${json}\n`);
}

/** The batch of a line, or undefined where it is none. */
function batchOf(line: string): TaughtBatch | undefined {
  const json = line.slice(17);
  if (line[16] !== " " || checksum(encoder.encode(json)) !== line.slice(0, 16)) return undefined;
  return JSON.parse(json) as TaughtBatch;
}

export class Journal {
  readonly #path: string;
  #handle: FileHandle;
  #batches: TaughtBatch[];
  #last: number;
  #work: Promise<unknown> = Promise.resolve();

  private constructor(path: string, handle: FileHandle, batches: TaughtBatch[], last: number) {
    this.#path = path;
    this.#handle = handle;
    this.#batches = batches;
    this.#last = last;
  }

  /** Opens the journal, or begins one; `learned` is the last batch that need not be in it any more. */
  static async open(path: string, learned: number): Promise<Journal> {
    const handle = await open(path, "a+").catch((error) => {
      throw fileError("write", path, error);
    });
    try {
      const { batches, bytes } = readBatches(await handle.readFile(), path);
      await handle.truncate(bytes);
      await handle.sync();
      return new Journal(path, handle, batches, Math.max(learned, batches.at(-1)?.batch ?? 0));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Batches behind this one. */
  after(batch: number): readonly TaughtBatch[] {
    return this.#batches.filter((each) => each.batch > batch);
  }

  /** Takes documents; done when they are on the disk. */
  add(documents: readonly TaughtDocument[]): Promise<TaughtBatch> {
    return this.#next(async () => {
      const batch = { batch: this.#last + 1, time: new Date().toISOString(), documents };
      const { size } = await this.#handle.stat();
      try {
        await this.#handle.appendFile(lineOf(batch));
        await this.#handle.datasync();
      } catch (error) {
        // What is not whole is taken back, or it would stand before the next one.
        await this.#handle.truncate(size).catch(() => {});
        throw fileError("write", this.#path, error);
      }
      this.#last = batch.batch;
      this.#batches.push(batch);
      return batch;
    });
  }

  /** Lets go of batches up to this one: they are in the state. */
  drop(batch: number): Promise<void> {
    return this.#next(async () => {
      const kept = this.#batches.filter((each) => each.batch > batch);
      await writeAtomically(this.#path, kept.map(lineOf));
      await this.#handle.close();
      this.#handle = await open(this.#path, "a");
      this.#batches = kept;
    });
  }

  close(): Promise<void> {
    return this.#next(() => this.#handle.close());
  }

  /** One thing after another. */
  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work, work);
    this.#work = done.catch(() => {});
    return done;
  }
}

/** The whole batches of a journal, and where they end. */
function readBatches(content: Uint8Array, path: string): { batches: TaughtBatch[]; bytes: number } {
  const decoder = new TextDecoder();
  const batches: TaughtBatch[] = [];
  let bytes = 0;
  for (let line = 1; bytes < content.length; line++) {
    const end = content.indexOf(10, bytes);
    const batch = end < 0 ? undefined : batchOf(decoder.decode(content.subarray(bytes, end)));
    if (batch === undefined) {
      if (end >= 0 && content.indexOf(10, end + 1) >= 0)
        throw new FormatError(path, `a damaged line ${line} before others`, "whole lines but for the last");
      break;
    }
    batches.push(batch);
    bytes = end + 1;
  }
  return { batches, bytes };
}
