// Flags that say how data files are read, shared by the commands that read them.

import type { ReadOptions, ReadResult } from "../data/options.ts";
import { readDataset } from "../data/reader.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { openInput } from "../io/files.ts";
import type { TrainedModel } from "../predict/model.ts";
import { type Flags, given, type Parsed, UsageError } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

export const dataFlags: Flags = {
  format: {
    kind: "text",
    value: "NAME",
    help: "xc, svmlight, jsonl or csv (default: told by name and first line)",
  },
  lenient: { kind: "switch", help: "skip broken rows and count them" },
  text: { kind: "text", value: "NAME", help: "key or column with the text (default: text)" },
  labels: { kind: "text", value: "NAME", help: "key or column with the labels (default: labels)" },
  "label-separator": {
    kind: "text",
    value: "TEXT",
    help: "between the labels of a CSV cell (default: | ; or ,)",
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
      text: flags.text("text"),
      labels: flags.text("labels"),
      labelSeparator: flags.text("label-separator"),
    }),
  };
}

/** Reads a data file, as a model expects it if one is given, and says what a person should know. */
export async function readData(
  path: string,
  flags: Parsed,
  terminal: Terminal,
  model?: TrainedModel,
): Promise<ReadResult> {
  const { stream, name, size } = await openInput(path);
  const tfidf = given({
    wordNgrams: flags.number("ngrams"),
    minDocuments: flags.number("min-df"),
    maxDocuments: flags.number("max-df"),
    maxFeatures: flags.number("max-features"),
  });
  const result = await readDataset(stream, {
    file: name,
    ...readOptions(flags),
    ...(model ? fromModel(model) : { tfidf }),
    onProgress: ({ bytes, rows }) =>
      terminal.show(`reading ${name}: ${rows} rows`, size ? bytes / size : undefined),
  });
  for (const note of result.notes) terminal.say(note);
  if (result.skipped.total > 0) {
    const reasons = Object.entries(result.skipped.byReason).map(([reason, count]) => `${count} ${reason}`);
    terminal.say(`${name}: ${result.skipped.total} rows skipped (${reasons.join(", ")})`);
  }
  return result;
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
