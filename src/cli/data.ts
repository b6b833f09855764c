// Flags that say how data files are read, shared by the commands that read them.

import type { ReadOptions, ReadResult, SkippedRow } from "../data/options.ts";
import { readDataset } from "../data/reader.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { openInput } from "../io/files.ts";
import type { TrainedModel } from "../model/model.ts";
import { type Flags, given, type Parsed, UsageError } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

export const dataFlags: Flags = {
  format: {
    kind: "text",
    value: "NAME",
    help: "xc, svmlight, jsonl or csv (default: told by name and first line)",
  },
  lenient: { kind: "switch", help: "skip broken rows and count them" },
  text: {
    kind: "text",
    value: "NAME",
    repeat: true,
    help: "key or column with the text (default: text); several are joined",
  },
  labels: {
    kind: "text",
    value: "NAME",
    repeat: true,
    help: "key or column with the labels (default: labels); those of several are united",
  },
  id: { kind: "text", value: "NAME", help: "key or column with the id of a row (default: id)" },
  "label-separator": {
    kind: "text",
    value: "TEXT",
    help: 'between labels in one text (default: | ; or ,); "" to keep them whole',
  },
};

export const textFlags: Flags = {
  ngrams: { kind: "number", help: "longest run of words that is a term (default: 1)" },
  "min-df": { kind: "number", help: "a term occurs in at least N texts (default: 2)" },
  "max-df": {
    kind: "number",
    value: "PART",
    help: "a term occurs in at most this part of the texts (default: 1)",
  },
  "max-features": { kind: "number", help: "keep the N terms that occur in most texts" },
};

export function readOptions(flags: Parsed): ReadOptions {
  const format = flags.text("format");
  if (format !== undefined && !["xc", "svmlight", "jsonl", "csv", "auto"].includes(format)) {
    throw new UsageError(`--format: found ${format}, expected xc, svmlight, jsonl or csv`);
  }
  return {
    lenient: flags.on("lenient"),
    ...given({
      format: format as ReadOptions["format"],
      text: someOf(flags, "text"),
      labels: someOf(flags, "labels"),
      id: flags.text("id"),
      labelSeparator: flags.text("label-separator"),
    }),
    nameOption: (option) => `--${option.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}`,
  };
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
  model?: TrainedModel,
): Promise<ReadResult> {
  const options = readOptions(flags);
  const tfidf = given({
    wordNgrams: flags.number("ngrams"),
    minDocuments: flags.number("min-df"),
    maxDocuments: flags.number("max-df"),
    maxFeatures: flags.number("max-features"),
  });
  const { stream, name, size } = await openInput(path);
  const result = await readDataset(stream, {
    file: name,
    ...given({ size }),
    ...options,
    ...(model ? fromModel(model) : { tfidf }),
    onProgress: ({ bytes, total, rows }) =>
      terminal.show(`reading ${name}: ${rows} rows`, total ? bytes / total : undefined),
  });
  sayNotes(name, result, terminal);
  return result;
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
  terminal.say(
    `${name}: ${skipped.total} rows left out (${reasons.join(", ")}; the first in line ${first.line})`,
  );
}

/** What a model fixes about the data it can be used with. */
export function fromModel(model: TrainedModel): ReadOptions {
  return given({
    columns: model.vectoriser || model.featureNames ? undefined : model.features,
    labelCount: model.labelNames ? undefined : model.labels,
    labelNames: model.labelNames,
    featureNames: model.featureNames,
    vectoriser: model.vectoriser ? TfidfVectoriser.fromJSON(model.vectoriser) : undefined,
  });
}
