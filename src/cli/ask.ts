// mlgpf ask MODEL FILE

import type { Dataset } from "../data/dataset.ts";
import { readDataset } from "../io/dataset.ts";
import { checkWritable, writeAtomically } from "../io/files.ts";
import { ask, type Question } from "../learn/ask.ts";
import { csvCell } from "../predict/lines.ts";
import type { Command } from "./command.ts";
import { dataFlags, fromModel, readOptions, sayNotes } from "./data.ts";
import { type Flags, given, type Parsed, quietFlag, threadsFlag, UsageError } from "./flags.ts";
import { openModel } from "./models.ts";
import { terminal } from "./terminal.ts";

const flags: Flags = {
  top: { kind: "whole", from: 1, help: "documents to ask about", default: "50" },
  out: { kind: "text", value: "FILE", help: "write to a file (CSV)", default: "standard output" },
  threads: threadsFlag,
  quiet: quietFlag,
  ...dataFlags,
};

/** Labels that are shown of each document. */
const SHOWN = 5;

async function run(parsed: Parsed): Promise<void> {
  const [path, file, ...more] = parsed.positional;
  if (path === undefined || file === undefined || more.length > 0)
    throw new UsageError("mlgpf ask takes a model and one data file");
  const out = parsed.text("out");
  if (out !== undefined) await checkWritable(out);
  const screen = terminal(parsed.on("quiet"));
  const model = await openModel(path, file);
  const result = await readDataset(file, {
    ...readOptions(parsed),
    ...fromModel(model),
    requireLabels: false,
  });
  sayNotes(file, result, screen);
  const options = given({ top: parsed.number("top"), threads: parsed.number("threads") });
  const questions = await ask(model, result.dataset, options);
  const text = [HEAD, ...questions.map((question) => lineOf(question, result.dataset))].join("\n");
  if (out === undefined) console.log(text);
  else {
    await writeAtomically(out, new TextEncoder().encode(`${text}\n`));
    screen.say(`${out} written: ${questions.length} of ${result.dataset.features.rows} documents`);
  }
}

const HEAD = "id,line,value,unknown,doubt,labels,probabilities";

function lineOf({ row, value, unknown, doubt, labels }: Question, { ids, lines }: Dataset): string {
  const shown = labels.slice(0, SHOWN);
  return [
    ids?.[row] ?? "",
    lines?.[row] ?? row + 1,
    ...[value, unknown, doubt].map((number) => Number(number.toPrecision(4))),
    shown.map(({ label }) => label).join("|"),
    shown.map(({ probability }) => Number(probability.toPrecision(3))).join("|"),
  ]
    .map((cell) => csvCell(cell, ","))
    .join(",");
}

export const askCommand: Command = {
  name: "ask",
  usage: "mlgpf ask MODEL FILE [--top 50] [--out FILE]",
  summary: "which documents to label next: those the model would learn most from, near-duplicates once (CSV)",
  examples: [
    "mlgpf ask tagger.safetensors unlabelled.jsonl --top 50 --out questions.csv",
    "mlgpf learn tagger.safetensors answers.jsonl --state tagger.state",
  ],
  flags,
  run,
};
