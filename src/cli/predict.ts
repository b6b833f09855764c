// mlgpf predict MODEL [FILE|-]

import process from "node:process";
import type { Batch } from "../data/options.ts";
import { readBatches } from "../io/dataset.ts";
import { checkWritable, writeAtomically } from "../io/files.ts";
import { chosenThreshold } from "../metrics/cut.ts";
import { type AnswerOptions, answersOf } from "../predict/answers.ts";
import type { ModelHost } from "../predict/host.ts";
import type { Answer, PredictionFormat } from "../predict/lines.ts";
import { labelsOf } from "../predict/load.ts";
import type { Command } from "./command.ts";
import { cutFlags, cutOf } from "./cut.ts";
import { dataFlags, fromModel, readOptions, sayNotes } from "./data.ts";
import {
  deviceFlag,
  deviceOf,
  type Flags,
  given,
  type Parsed,
  quietFlag,
  threadsFlag,
  UsageError,
} from "./flags.ts";
import { allowedBy, listFlags, readLists } from "./lists.ts";
import { type AnyModel, openAnyModel, withAnyHost } from "./models.ts";
import { formatOf } from "./predictions.ts";
import { shardFlag, shardOf } from "./shard.ts";
import { shardedRows } from "./shardedrows.ts";
import { terminal } from "./terminal.ts";

const predictFlags: Flags = {
  out: { kind: "text", value: "FILE", help: "write to a file: CSV (.csv, .tsv) or JSON lines (.jsonl)" },
  top: { kind: "whole", from: 1, help: "labels for each point", default: "5, with --threshold any" },
  ...cutFlags("only"),
  ...listFlags,
  keep: {
    kind: "text",
    value: "NAME",
    repeat: true,
    help: "key or column of the data that is written with the labels; may be given more than once",
  },
  explain: {
    kind: "whole",
    from: 1,
    bare: "3",
    help: "say why: the N words that speak most for each label, and the N that speak most against it",
    default: "none; 3 without a number",
  },
  shard: shardFlag("every N-th row only, from the I-th on; auto: as Slurm, Kubernetes or AWS Batch says"),
  device: deviceFlag("wasm"),
  threads: threadsFlag,
  quiet: quietFlag,
  ...dataFlags,
};

async function predict(parsed: Parsed): Promise<void> {
  const [path, file = "-", ...more] = parsed.positional;
  if (path === undefined || more.length > 0)
    throw new UsageError("mlgpf predict takes a model and at most one data file");
  const out = parsed.text("out");
  const keep = parsed.all("keep");
  const format = formatOf(out, keep, parsed.number("explain") !== undefined);
  if (out !== undefined) await checkWritable(out);
  const shard = shardOf(parsed.text("shard") ?? "1/1");
  const lists = await readLists(parsed);
  const model = await openAnyModel(path, file);
  const choice = {
    ...given({ topK: parsed.number("top"), threshold: chosenThreshold(cutOf(parsed), model.thresholds) }),
    allowed: allowedBy(labelsOf(model), lists),
    explain: parsed.number("explain"),
  };
  const screen = terminal(parsed.on("quiet"));
  await withAnyHost(model, deviceOf(parsed), parsed.number("threads"), screen, async (host) => {
    const name = file === "-" ? "standard input" : file;
    const asked = { written: choice.explain !== undefined, ...(keep.length > 0 && { keep }) };
    const options = { ...readOptions(parsed), ...fromModel(model), ...asked };
    const batches = readBatches(file, { file: name, requireLabels: false, ...options });
    const lines = written(format, answers(shardedRows(batches, shard), host, model, choice));
    if (out === undefined) await print(lines);
    else await writeAtomically(out, encoded(lines));
    sayNotes(name, batches, screen);
    if (out !== undefined) screen.say(`${out} written`);
  });
}

/** Of every piece, in the order of the file. */
async function* answers(
  batches: AsyncIterable<Batch>,
  host: Pick<ModelHost, "use">,
  model: AnyModel,
  options: AnswerOptions,
): AsyncGenerator<Answer> {
  for await (const batch of batches) yield* await answersOf(batch, host, model, options);
}

async function* written(
  { head, line }: PredictionFormat,
  answers: AsyncIterable<Answer>,
): AsyncGenerator<string> {
  if (head !== undefined) yield head;
  for await (const answer of answers) yield line(answer);
}

const encoder = new TextEncoder();

async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield encoder.encode(`${line}\n`);
}

/** To standard output, no faster than it is read. */
async function print(lines: AsyncIterable<string>): Promise<void> {
  const { stdout } = process;
  for await (const line of lines)
    if (!stdout.write(`${line}\n`)) await new Promise<void>((done) => stdout.once("drain", done));
}

export const predictCommand: Command = {
  name: "predict",
  usage: "mlgpf predict MODEL [FILE|-] [--top 5] [--out FILE]",
  summary: "predict labels with probabilities: a line for each row, with its id and its line",
  examples: [
    "mlgpf predict model.safetensors test.txt.gz --top 5",
    "mlgpf predict tagger.safetensors new.csv --threshold 0.3 --keep text --out labels.csv",
    `echo '{"text": "a large wild cat"}' | mlgpf predict tagger.safetensors --format jsonl`,
  ],
  flags: predictFlags,
  run: predict,
};
