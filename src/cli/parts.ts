// Training in parts: mlgpf plan, mlgpf train --plan --shard, mlgpf merge

import { type LearningState, stateChunks, stateFromTensors } from "../closed/state.ts";
import { checkWritable, readSafetensorsFile, readWhole, writeAtomically } from "../io/files.ts";
import { safetensorsChunks } from "../io/safetensors.ts";
import { modelToTensors } from "../model/file.ts";
import { trainOptions } from "../train/options.ts";
import { makePlan, mergeParts, type PartOptions, planFromText, rangeOf, trainPart } from "../train/plan.ts";
import type { Command } from "./command.ts";
import { dataFlags, readData, textFlags } from "./data.ts";
import { type Flags, given, type Parsed, quietFlag, threadsFlag, UsageError } from "./flags.ts";
import type { AnyModel } from "./models.ts";
import { flagsOf, optionsGiven } from "./options.ts";
import { closingLine } from "./progress.ts";
import { shardOf } from "./shard.ts";
import { Stopped, watchSignals } from "./signals.ts";
import { sizeText, type Terminal, terminal } from "./terminal.ts";

/** The options that a plan takes; the others are of trainings step by step. */
const planned = { idf: trainOptions.idf };

const planFlags: Flags = {
  out: { kind: "text", value: "PLAN", help: "where the plan goes (required)" },
  ...flagsOf(planned),
  quiet: quietFlag,
  ...dataFlags,
  ...textFlags,
};

const mergeFlags: Flags = {
  out: { kind: "text", value: "MODEL", help: "where the model goes (required)" },
  json: { kind: "switch", help: "print the training summary as JSON" },
  threads: threadsFlag,
  quiet: quietFlag,
};

async function outOf(parsed: Parsed, command: string, what: string): Promise<string> {
  const out = parsed.text("out");
  if (out === undefined) throw new UsageError(`mlgpf ${command} needs --out ${what}`);
  await checkWritable(out);
  return out;
}

async function plan(parsed: Parsed): Promise<void> {
  const [file, ...more] = parsed.positional;
  if (file === undefined || more.length > 0) throw new UsageError("mlgpf plan takes one data file");
  const out = await outOf(parsed, "plan", "PLAN");
  const screen = terminal(parsed.on("quiet"));
  const { dataset } = await readData(file, parsed, screen);
  const made = makePlan(dataset, optionsGiven(planned, parsed));
  await writeAtomically(out, new TextEncoder().encode(JSON.stringify(made)));
  const { points, columns, features, labels } = made;
  screen.say(`${out} written: ${points} points, ${columns.length} of ${features} features, ${labels} labels`);
}

/** mlgpf train FILE --plan PLAN --shard I/N --out PART */
export async function trainPlanned(parsed: Parsed, planFile: string, file: string): Promise<void> {
  const out = await outOf(parsed, "train", "PART");
  const shard = shardOf(parsed.text("shard") ?? "1/1");
  const screen = terminal(parsed.on("quiet"));
  const made = planFromText(new TextDecoder().decode(await readWhole(planFile)), planFile);
  const columnIds = made.columnIds && Int32Array.from(made.columnIds);
  const asPlanned = { ...made, ...given({ columnIds }) } as unknown as AnyModel;
  const featuresOf = rangeOf(shard, made.points);
  const { dataset } = await readData(file, parsed, screen, asPlanned, { featuresOf });
  const part = await watched(parsed, screen, (options) => trainPart(dataset, made, shard, options));
  const chunks = stateChunks(part);
  await writeAtomically(out, chunks);
  const size = sizeText(chunks.reduce((sum, { length }) => sum + length, 0));
  screen.say(
    `${out} written (${size}): part ${shard.index} of ${shard.count}, ${part.totals?.points} points`,
  );
}

async function merge(parsed: Parsed): Promise<void> {
  if (parsed.positional.length === 0) throw new UsageError("mlgpf merge takes all parts of a plan");
  const out = await outOf(parsed, "merge", "MODEL");
  const screen = terminal(parsed.on("quiet"));
  const begun = performance.now();
  const parts: LearningState[] = [];
  for (const path of parsed.positional) {
    screen.show(`reading ${path}`, parts.length / parsed.positional.length);
    parts.push(stateFromTensors(await readSafetensorsFile(path), path));
  }
  const model = await watched(parsed, screen, (options) => mergeParts(parts, options));
  await writeAtomically(out, safetensorsChunks(modelToTensors(model)));
  screen.say(closingLine(model, (performance.now() - begun) / 1000, ""));
  if (parsed.on("json")) console.log(JSON.stringify(model.summary));
  screen.say(`${out} written: ${model.summary.points} points in ${parts.length} parts`);
}

/** Works with progress on the screen; a signal stops it, and nothing is written. */
async function watched<T>(
  parsed: Parsed,
  screen: Terminal,
  work: (options: PartOptions) => Promise<T>,
): Promise<T> {
  const stop = watchSignals();
  try {
    return await work({
      ...given({ threads: parsed.value("threads") as PartOptions["threads"] }),
      signal: stop.signal,
      onProgress: ({ stage, fraction }) => screen.show([stage], fraction),
    });
  } catch (error) {
    throw stop.came ? new Stopped("stopped; nothing was written", stop.came) : error;
  } finally {
    screen.done();
    stop.end();
  }
}

export const planCommand: Command = {
  name: "plan",
  usage: "mlgpf plan FILE --out PLAN",
  summary:
    "what all parts of a training on several machines agree on: vocabulary, weights of words, features",
  examples: [
    "mlgpf plan train.txt --out plan.json",
    "mlgpf train train.txt --plan plan.json --shard 1/8 --out part.1",
    "mlgpf merge part.* --out model.safetensors",
  ],
  flags: planFlags,
  run: plan,
};

export const mergeCommand: Command = {
  name: "merge",
  usage: "mlgpf merge PART... --out MODEL",
  summary: "the model of all parts that mlgpf train --plan made: the same bytes for any number of them",
  examples: ["mlgpf merge part.1 part.2 part.3 --out model.safetensors"],
  flags: mergeFlags,
  run: merge,
};
