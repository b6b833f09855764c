// Flags that say how data files are read, shared by the commands that read them.

import { labelsByName } from "../data/labelnames.ts";
import { fileFormats, type ReadOptions, type ReadResult, type SkippedRow } from "../data/options.ts";
import { isStemLanguage, STEM_EXPECTED } from "../data/stemmers.ts";
import { MOST_WEIGHT } from "../data/terms.ts";
import type { TfidfOptions } from "../data/tfidf.ts";
import { readDataset } from "../io/dataset.ts";
import { openInput } from "../io/files.ts";
import { type Reading, readingFor } from "../model/reading.ts";
import { type Flags, given, type Parsed, UsageError } from "./flags.ts";
import { isCompact } from "./models.ts";
import { showReading } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

const FORMATS = ["auto", ...fileFormats] as const;

export const dataFlags: Flags = {
  format: {
    kind: "choice",
    choices: FORMATS,
    help: "what the data are written in",
    default: "auto: told by name and content",
  },
  lenient: { kind: "switch", help: "skip broken rows and count them" },
  text: {
    kind: "text",
    value: "NAME",
    repeat: true,
    help: "key or column with the text; several are joined",
    default: "text",
  },
  labels: {
    kind: "text",
    value: "NAME",
    repeat: true,
    help: "key or column with the labels; those of several are united",
    default: "labels",
  },
  "one-hot": {
    kind: "text",
    value: "NAME",
    repeat: true,
    help: "columns that are labels, with 1 or 0 in them; * stands for anything",
  },
  "labels-from": {
    kind: "text",
    value: "FILE",
    help: "the labels of FILE, where it is .npy or .npz without them",
  },
  id: { kind: "text", value: "NAME", help: "key or column with the id of a row", default: "id" },
  "label-separator": {
    kind: "text",
    value: "TEXT",
    help: 'between labels in one text; "" to keep them whole',
    default: "| ; or ,",
  },
};

export const textFlags: Flags = {
  ngrams: { kind: "whole", help: "longest run of words that is a term", default: "1" },
  "char-ngrams": {
    kind: "text",
    value: "N-M",
    help: "also runs of N to M characters within a word, e.g. 3-5, or no; with --ngrams 0 these alone",
    default: "3-4 for short texts (12 words), up to 50,000 of them, else no",
  },
  "char-weight": {
    kind: "number",
    from: 0,
    to: MOST_WEIGHT,
    help: "weight of these runs beside the words; 0: in one with them",
    default: "0.5",
  },
  opening: {
    kind: "number",
    from: 0,
    to: MOST_WEIGHT,
    help: "weight of a text's first words as terms of their own; 0 for none",
    default: "0.7",
  },
  stem: {
    kind: "text",
    value: "LANGUAGE",
    help: "cut words down to their stems, e.g. english; takes the package @orama/stemmers",
    default: "no",
  },
  "count-unknown": {
    kind: "switch",
    negatable: true,
    help: "words outside the vocabulary count in the length of a text",
    default: "yes up to 26,000 texts",
  },
  "min-df": { kind: "whole", from: 1, help: "a term occurs in at least N texts", default: "2" },
  "max-df": {
    kind: "number",
    above: 0,
    to: 1,
    value: "PART",
    help: "a term occurs in at most this part of the texts",
    default: "1",
  },
  "max-features": {
    kind: "whole",
    from: 1,
    help: "keep the N terms that occur in most texts",
    default: "all of them",
  },
};

export function readOptions(flags: Parsed): ReadOptions {
  return {
    lenient: flags.on("lenient"),
    ...given({
      format: flags.text("format") as ReadOptions["format"],
      text: someOf(flags, "text"),
      labels: someOf(flags, "labels"),
      oneHot: someOf(flags, "one-hot"),
      id: flags.text("id"),
      labelSeparator: flags.text("label-separator"),
    }),
    nameOption: (option) => `--${option.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}`,
  };
}

/** How texts become terms. */
function termOptions(flags: Parsed): TfidfOptions {
  return given({
    wordNgrams: flags.number("ngrams"),
    charNgrams: characterRange(flags.text("char-ngrams")),
    charWeight: flags.number("char-weight"),
    opening: flags.number("opening"),
    stem: stemLanguage(flags.text("stem")),
    countUnknown: flags.value("count-unknown") as boolean | undefined,
    minDocuments: flags.number("min-df"),
    maxDocuments: flags.number("max-df"),
    maxFeatures: flags.number("max-features"),
  });
}

function stemLanguage(language: string | undefined): string | undefined {
  if (language === undefined || isStemLanguage(language)) return language;
  throw new UsageError(`--stem: found ${language}, expected ${STEM_EXPECTED}`);
}

/** "3-5", "4" or "no" */
function characterRange(written: string | undefined): TfidfOptions["charNgrams"] {
  if (written === undefined) return undefined;
  if (written === "no") return false;
  const [, least, most = least] = /^([1-9])(?:-([1-9]))?$/.exec(written) ?? [];
  if (least === undefined || Number(most) < Number(least))
    throw new UsageError(
      `--char-ngrams: found ${written}, expected no, or two numbers from 1 to 9 such as 3-5`,
    );
  return [Number(least), Number(most)];
}

function someOf(flags: Parsed, name: string): string[] | undefined {
  const values = flags.all(name);
  return values.length > 0 ? values : undefined;
}

/** Reads a data file, as a model expects it if one is given, and says what a person should know. */
export async function readData(
  path: string,
  flags: Parsed,
  terminal: Terminal,
  model?: Reading,
  wanted: Pick<ReadOptions, "featuresOf"> = {},
): Promise<ReadResult> {
  const options = { ...readOptions(flags), ...wanted };
  const tfidf = termOptions(flags);
  const name = path === "-" ? "standard input" : path;
  const labels = flags.text(path === flags.text("valid") ? "valid-labels-from" : "labels-from");
  const result = await readDataset(path, {
    ...options,
    ...(labels === undefined ? {} : { labelsFrom: (await openInput(labels)).stream }),
    ...(model ? fromModel(model) : { tfidf }),
    onProgress: showReading(terminal, name),
  });
  sayNotes(name, result, terminal);
  if (model === undefined || !isCompact(model)) return result;
  return { ...result, dataset: labelsByName(result.dataset, model.labelNames) };
}

/** Says what a person should know about a file that was read, whole or by batches. */
export function sayNotes(
  name: string,
  { notes, skipped }: Pick<ReadResult, "notes" | "skipped">,
  terminal: Terminal,
): void {
  for (const note of notes) terminal.say(note);
  if (skipped.total === 0) return;
  const reasons = Object.entries(skipped.byReason).map(([reason, count]) => `${count} ${reason}`);
  const first = skipped.rows[0] as SkippedRow;
  const [rows, place] = skipped.total === 1 ? ["row", "in"] : ["rows", "the first in"];
  terminal.say(
    `${name}: ${skipped.total} ${rows} left out (${reasons.join(", ")}; ${place} line ${first.line})`,
  );
}

/** What a model fixes about the data it can be used with. */
export function fromModel(model: Reading): ReadOptions {
  const reading = readingFor(model);
  if (!isCompact(model)) return reading;
  // A compact model knows its labels by name alone, numbers too: they are found when all is read.
  const { labelCount: _, labelNames: __, ...features } = reading;
  return features;
}
