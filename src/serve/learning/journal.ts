// Lessons that a server took and may not lose: batches in a file, one a line, each with a checksum and a number. A batch is
// flushed to the disk before anybody is told that it was taken.
//
//   0123456789abcdef {"batch":7,"time":"2026-01-31T12:00:00.000Z","documents":[{"text":"...","labels":["..."]}]}
//
// A crash can leave half of the last line: nobody was told of that one, and it is cut off and kept in a file beside. Anything
// else that is not as it was written, a number that is missing too, is damage: the file then stays as it is.

import { open } from "node:fs/promises";
import { excerpt, FormatError } from "../../base/errors.ts";
import { checksum } from "../../base/hash.ts";
import { appendDurably, checkKeepable, fileError, writeAtomically } from "../../io/files.ts";
import type { TextInput } from "../project.ts";
import { oneByOne } from "../threads.ts";

/** A document with the labels it should have, by their names. */
export interface TaughtDocument extends TextInput {
  readonly id?: string;
  readonly labels: readonly string[];
  /** As how many documents it counts, where that is not one. */
  readonly weight?: number;
}

export interface Changes {
  readonly documents: readonly TaughtDocument[];
  readonly forget?: readonly string[];
}

export interface Batch extends Changes {
  readonly batch: number;
  readonly time: string;
}

const encoder = new TextEncoder();

function lineOf(batch: Batch): Uint8Array {
  const json = JSON.stringify(batch);
  return encoder.encode(`${checksum(encoder.encode(json))} ${json}\n`);
}

function batchOf(line: string): Batch | undefined {
  const json = line.slice(17);
  if (line[16] !== " " || checksum(encoder.encode(json)) !== line.slice(0, 16)) return undefined;
  return JSON.parse(json) as Batch;
}

/** A line as far as it goes, or a piece of the disk that was never written. */
const TORN = /^(?:[0-9a-f]{0,16}|[0-9a-f]{16} (?:\{.*)?|\0+)$/s;

export interface Journal {
  after(batch: number): readonly Batch[];
  add(changes: Changes): Promise<Batch>;
  /** Lets go of batches up to this one: they are in the state. */
  drop(batch: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens or begins it: batches up to `learned` may be gone, `check` throws if it is not ours, `say` hears of a cut. */
export async function openJournal(
  path: string,
  learned: number,
  check: () => Promise<void> = async () => {},
  say: (sentence: string) => void = () => {},
): Promise<Journal> {
  await checkKeepable(path); // a pipe would be waited for
  let handle = await open(path, "a+").catch((error) => {
    throw fileError("write", path, error);
  });
  /** Those that are in the file, and where they end. */
  let { batches, bytes }: Content = { batches: [], bytes: 0 };
  try {
    const content = await handle.readFile();
    ({ batches, bytes } = readBatches(content, path, learned));
    if (bytes < content.length) {
      await appendDurably(`${path}.cut`, content.subarray(bytes));
      say(`${path}: half a line, which nobody was told of, was moved to ${path}.cut`);
      await handle.truncate(bytes);
      await handle.sync();
    }
  } catch (error) {
    await handle.close();
    throw error instanceof FormatError ? error : fileError("write", path, error);
  }
  let last = Math.max(learned, batches.at(-1)?.batch ?? 0);
  const next = oneByOne();
  return {
    after: (batch) => batches.filter((each) => each.batch > batch),
    add: (changes) =>
      next(async () => {
        const batch = { batch: last + 1, time: new Date().toISOString(), ...changes };
        const line = lineOf(batch);
        await check();
        try {
          // An earlier line that is not whole would stand before this one.
          if ((await handle.stat()).size !== bytes) await handle.truncate(bytes);
          await handle.appendFile(line);
          await handle.datasync();
        } catch (error) {
          await handle.truncate(bytes).catch(() => {});
          throw fileError("write", path, error);
        }
        // One who took over before this moment may not have read the line; one who does later will.
        await check();
        bytes += line.length;
        last = batch.batch;
        batches.push(batch);
        return batch;
      }),
    drop: (batch) =>
      next(async () => {
        await check();
        const kept = batches.filter((each) => each.batch > batch);
        const lines = kept.map(lineOf);
        if (lines.length === 0) await handle.truncate(0);
        else {
          await writeAtomically(path, lines);
          await handle.close();
          handle = await open(path, "a");
        }
        bytes = lines.reduce((sum, { length }) => sum + length, 0);
        batches = kept;
      }),
    close: () => next(() => handle.close()),
  };
}

type Content = { batches: Batch[]; bytes: number };

function readBatches(content: Uint8Array, path: string, learned: number): Content {
  const decoder = new TextDecoder();
  const refuse = (found: string, expected: string): never => {
    throw new FormatError(path, found, `${expected} (move the file away to go on without it)`);
  };
  const batches: Batch[] = [];
  let bytes = 0;
  for (let end = content.indexOf(10); end >= 0; end = content.indexOf(10, bytes)) {
    const line = `line ${batches.length + 1}`;
    const batch = batchOf(decoder.decode(content.subarray(bytes, end)));
    if (batch === undefined) return refuse(`a damaged ${line}`, "lines as they were written");
    const expected = (batches.at(-1)?.batch ?? learned) + 1;
    const isNext = batches.length > 0 ? batch.batch === expected : batch.batch <= expected;
    if (!isNext) refuse(`batch ${batch.batch} in ${line}`, `batch ${expected}, so that none is missing`);
    batches.push(batch);
    bytes = end + 1;
  }
  const tail = decoder.decode(content.subarray(bytes));
  if (!TORN.test(tail)) refuse(excerpt(tail), "a line of a journal");
  // A whole line with something else behind it was never torn.
  if (batchOf(decoder.decode(content.subarray(bytes, -1))))
    refuse(`a damaged line ${batches.length + 1}`, "lines as they were written");
  return { batches, bytes };
}
