// mlgpf predict MODEL [FILE|TEXT]

import { existsSync } from "node:fs";
import { constants, gunzipSync } from "node:zlib";
import { DataError } from "../base/errors.ts";
import { chosenThreshold } from "../base/prediction.ts";
import { LONGEST_TEXT } from "../data/builder.ts";
import { joined, openBytes, peek, pulled, streamChunks } from "../data/bytes.ts";
import { selectRows } from "../data/dataset.ts";
import { guessDelimiter } from "../data/formats/csv.ts";
import { DELIMITER_LINE, formatOfLine } from "../data/formats/detect.ts";
import type { Batch, Batches, ReadOptions, SkippedRow } from "../data/options.ts";
import { type ReadSource, readBatches } from "../io/dataset.ts";
import { openInput, writeAtomically } from "../io/files.ts";
import { tagNote } from "../io/folder.ts";
import { isMarkdown, loadYaml, markdownRow } from "../io/markdown.ts";
import { webAddress } from "../io/source.ts";
import { type Answer, answersOf, type CsvStyle, csvFormat, type PredictionFormat, rounded } from "../predict/lines.ts";
import { labelsOf } from "../predict/load.ts";
import { promiseLines } from "../report/figures.ts";
import { grouped } from "../report/numbers.ts";
import type { Shard } from "../train/plan.ts";
import { type Command, command } from "./command.ts";
import {
  allowedBy,
  cutOptions,
  dataTables,
  fromModel,
  listOptions,
  nameOf,
  readChoices,
  readLists,
  sayNotes,
  sayUnknown,
  shardOf,
} from "./data.ts";
import { rawCsv } from "./eval.ts";
import { count, device, names, on, output, quiet, real, text, threads, UsageError } from "./flags.ts";
import { type AnyModel, openAnyModel, withHost } from "./models.ts";
import { print } from "./terminal.ts";

type Input = { source: ReadSource; name: string; size?: number | undefined; csv: CsvStyle };

const HEAD_BYTES = 4096;
/** A word with a slash or an ending is the name of a file; Chinese has no blanks between words. */
const PATH = /[/\\]|\.\w+$/;
const BOM = [0xef, 0xbb, 0xbf];

/**
 * A text that was typed, a plain text file, a note in Markdown or what else there is. Plain text is one text, from its first to its last line; what is
 * not told by its name to be something else, and has not the first line of something else, is plain text.
 */
async function inputOf(typed: string, { format, text }: ReadOptions, model: AnyModel): Promise<Input> {
  const fromText = model.schema.vectoriser !== undefined;
  if (fromText && typed !== "-" && (/\s/.test(typed) || !PATH.test(typed)) && !existsSync(typed))
    return { source: [{ text: typed }], name: "the text", csv: {} };
  if (webAddress(typed)) return { source: typed, name: typed, csv: {} };
  const opened = await openInput(typed).catch((error) => {
    if (error.code === "EISDIR") return undefined;
    throw error;
  });
  if (opened === undefined) return { source: typed, name: typed, csv: {} };
  const { first, whole } = await peek(streamChunks(opened.stream), HEAD_BYTES);
  const stream = pulled(
    async () => (await whole.next()).value,
    () => whole.return(undefined),
  );
  const bytes = first.subarray(0, HEAD_BYTES);
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const start = packed ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes;
  const [line = ""] = new TextDecoder().decode(start).trimStart().split(/\r?\n/);
  const told = formatOfLine(line, model.schema.keys);
  const named = /\.(?!txt\b|gz$)\w+(\.gz)?$/i.test(typed);
  const isNote = fromText && isMarkdown(typed);
  const isPlain =
    isNote ||
    (fromText &&
      !named &&
      (format ?? "auto") === "auto" &&
      text === undefined &&
      start.every((byte) => byte !== 0) &&
      told === undefined);
  const { name, size } = opened;
  const isCsv = format === "csv" || /\.csv(\.gz)?$/i.test(typed) || told === "csv";
  if (!isPlain) return { source: stream, name, size, csv: isCsv ? csvStyle(start, line) : {} };
  const { chunks } = await openBytes(stream, { file: name });
  const all = await joined(chunks, () => LONGEST_TEXT);
  if (!all)
    throw new DataError({ file: name, line: 0, found: `more than ${LONGEST_TEXT} bytes`, expected: "a shorter text" });
  const written = new TextDecoder().decode(all);
  return { source: [isNote ? markdownRow(await loadYaml(), written, typed) : { text: written }], name, csv: {} };
}

/** CSV goes out as it came in: its byte-order mark, and the delimiter that its first line has most of. */
function csvStyle(start: Uint8Array, line: string): CsvStyle {
  const delimiter = DELIMITER_LINE.exec(line)?.[1] ?? guessDelimiter(line);
  return { delimiter: delimiter === ";" ? ";" : ",", bom: BOM.every((byte, i) => start[i] === byte) };
}

/** The rows of a shard, every N-th, beginning with the I-th; those that were left out are counted among all. */
async function* shardedRows(batches: AsyncIterable<Batch>, { index, count }: Shard): AsyncGenerator<Batch> {
  let place = 0;
  const own = (): boolean => place++ % count === index - 1;
  for await (const batch of batches) {
    const rows: number[] = [];
    const skipped: SkippedRow[] = [];
    const left = [...batch.skipped];
    for (let row = 0; row <= batch.features.rows; row++) {
      for (; left[0]?.rowsBefore === row; left.shift())
        if (own()) skipped.push({ ...left[0], rowsBefore: rows.length });
      if (row < batch.features.rows && own()) rows.push(row);
    }
    yield { ...selectRows(batch, rows), skipped };
  }
}

/** Keys of our own, which a column to keep would hide. */
const OWN = ["id", "line", "known", "labels", "probabilities", "reasons", "unseen", "error"];

/** The ending of the output; standard output is JSON. */
function endingOf(out: string | undefined, keep: readonly string[]): string {
  const hidden = keep.find((name) => OWN.includes(name));
  if (hidden !== undefined)
    throw new UsageError(`--keep: found ${hidden}, which predict writes itself, expected another key or column`);
  const ending = /\.(csv|tsv|jsonl|ndjson)$/i.exec(out ?? ".jsonl")?.[1];
  if (ending !== undefined) return ending.toLowerCase();
  throw new UsageError(`--out or --review: found ${out}, expected a name that ends with .csv, .tsv, .jsonl or .ndjson`);
}

function jsonLine(answer: Answer, keep: readonly string[]): string {
  const { id, line, kept, known, labels, unseen, expectedPrecision, expectedRecall, noneFits, error } = answer;
  const found = labels?.map(({ label, probability, sd, score, reasons }) => ({
    label,
    probability: rounded(probability),
    sd: rounded(sd),
    score: rounded(score),
    reasons: reasons?.map(({ share, ...reason }) => ({ ...reason, share: rounded(share) })),
  }));
  const own = Object.fromEntries(keep.map((name, i) => [name, kept?.[i]]));
  return JSON.stringify({
    id,
    line,
    ...own,
    known: rounded(known),
    labels: found,
    unseen: unseen?.map(({ label, probability }) => ({ label, probability: rounded(probability) })),
    expectedPrecision: rounded(expectedPrecision),
    expectedRecall: rounded(expectedRecall),
    noneFits,
    error,
  });
}

/** Least precision of the tags that are written into notes, where nothing else is said. */
const SURE = { precision: 0.9 };

/** Its labels are expected to be too often wrong or too incomplete; or there are none. */
const needsPerson = ({ error, expectedPrecision = 0, expectedRecall = 0 }: Answer, below: number): boolean =>
  error === undefined && Math.min(expectedPrecision, expectedRecall) < below;

async function writeLines(path: string, lines: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const encoder = new TextEncoder();
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const line of lines) yield encoder.encode(`${line}\n`);
  }
  await writeAtomically(path, bytes());
}

export const predictCommand: Command = command({
  name: "predict",
  positionals: "MODEL [FILE|TEXT]",
  summary: "predict labels with probabilities for a text or for each row of a file; without one, for standard input",
  examples: [
    'mlgpf predict tagger.safetensors "a large wild cat"',
    'echo "a large wild cat" | mlgpf predict tagger.safetensors',
    "mlgpf predict model.safetensors test.txt.gz --top 5",
    "mlgpf predict notes.safetensors vault/ --write",
    "mlgpf predict tagger.safetensors new.csv --threshold 0.3 --keep text --out labels.csv",
  ],
  options: {
    out: output("FILE", "write to a file: CSV (.csv, .tsv) or JSON lines (.jsonl)"),
    top: count("labels for each row", { default: "5, with --threshold any" }),
    ...cutOptions,
    ...listOptions,
    review: output("FILE", "write rows that need a person to this file instead; see --review-below"),
    reviewBelow: real("P", "with --review: rows whose expected precision or recall is below this", {
      above: 0,
      to: 1,
      default: "0.8",
    }),
    unseen: count("also list the N best labels that no training row has (with --names)"),
    write: on(
      "put the labels into the tags of a folder of Markdown; only with guaranteed precision, a copy is kept (.bak)",
    ),
    keep: names("NAME", "key or column of the data that is written with the labels; may be repeated"),
    explain: count("explain each label by the N words most for it and the N most against it", {
      bare: "3",
      default: "no; 3 without a number",
    }),
    rawCsv,
    shard: text("I/N", "every N-th row, starting at the I-th; auto: from Slurm, Kubernetes or AWS Batch"),
    device: device("wasm"),
    threads,
    quiet,
  },
  tables: dataTables,
  async run({ args: [path, typed = "-"], given, of, screen }) {
    const { out, keep = [], explain, top, device, threads, review, reviewBelow = 0.8 } = given;
    const endings = [out, review].map((path) => endingOf(path, keep));
    if (given.reviewBelow !== undefined && review === undefined)
      throw new UsageError("--review-below: found no --review, expected the file that these rows go to");
    const shard = shardOf(given.shard);
    const lists = await readLists(given);
    const model = await openAnyModel(path, typed);
    sayUnknown(lists, Array.from(labelsOf(model.schema), String), screen);
    const choices = readChoices({ of });
    const keys = choices.labels === undefined ? model.schema.keys?.notes : [choices.labels].flat();
    let tagged = 0;
    const tag = async ({ id, labels = [] }: Answer): Promise<void> => {
      if (id === undefined || !isMarkdown(id))
        throw new UsageError("--write: found other texts, expected a folder of Markdown");
      const tags = labels.map(({ label }) => label);
      if (await tagNote(typed, id, tags, keys)) tagged++;
    };
    if (given.write && (given.threshold ?? given.recall) !== undefined)
      throw new UsageError("--write: found another threshold, expected --precision or none");
    const cut = given.write ? { ...SURE, ...given } : given;
    const choice = {
      topK: top,
      threshold: chosenThreshold(cut, model.thresholds),
      allowed: allowedBy(labelsOf(model.schema), lists),
      explain,
      unseen: given.unseen,
    };
    for (const line of promiseLines(cut, model.thresholds)) screen.say(line);
    const { source, name, size, csv } = await inputOf(typed, choices, model);
    const columns = {
      reasons: explain !== undefined,
      expected: review !== undefined,
      unseen: given.unseen !== undefined,
    };
    const [format, reviewFormat] = endings.map((ending): PredictionFormat => {
      if (ending === "jsonl" || ending === "ndjson") return { line: (answer) => jsonLine(answer, keep) };
      return csvFormat(keep, columns, { ...csv, ...(ending === "tsv" && { delimiter: "\t" }), raw: given.rawCsv });
    });
    const reviewed: Answer[] = [];
    if (review !== undefined && !model.thresholds)
      throw new UsageError("--review: found a model that is not calibrated, expected one that says what it expects");
    await withHost(model, { device, threads, screen }, async (host) => {
      const batches: Batches = readBatches(source, {
        file: nameOf(name),
        size,
        ...choices,
        ...fromModel(model),
        ...(keep.length > 0 && { keep }),
      });
      const lines = async function* (): AsyncGenerator<string> {
        if (format.head !== undefined) yield format.head;
        for await (const batch of shardedRows(batches, shard))
          for (const answer of await answersOf(batch, host, model, choice)) {
            if (given.write) await tag(answer);
            if (review !== undefined && needsPerson(answer, reviewBelow)) reviewed.push(answer);
            else yield format.line(answer);
          }
      };
      await (out === undefined ? print(lines()) : writeLines(out, lines()));
      sayNotes(nameOf(name), batches, screen);
      if (out !== undefined) screen.say(`${out} written`);
      if (given.write) screen.say(`${grouped(tagged)} notes have new tags; their copies end with .bak`);
      if (review !== undefined) {
        const { head, line } = reviewFormat;
        await writeLines(review, [...(head === undefined ? [] : [head]), ...reviewed.map(line)]);
        screen.say(`${review} written: ${grouped(reviewed.length)} rows need a person`);
      }
    });
  },
});
