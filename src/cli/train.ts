// mlgpf train FILE --out MODEL

import { type LearningState, stateChunks } from "../closed/state.ts";
import type { Dataset } from "../data/dataset.ts";
import type { ReadResult } from "../data/options.ts";
import { checkKeepable, checkReadable, checkWritable, writeAtomically } from "../io/files.ts";
import { safetensorsChunks } from "../io/safetensors.ts";
import { modelFromTensors, modelToTensors } from "../model/file.ts";
import type { FromFile } from "../options/kinds.ts";
import { readingLike } from "../predict/reading.ts";
import type { Communicator } from "../ranks/communicator.ts";
import { recordHistory } from "../report/history.ts";
import { completeOptions, trainOptions } from "../train/options.ts";
import { runOptions } from "../train/run.ts";
import { readRows } from "./basis.ts";
import { CheckpointFile } from "./checkpoint.ts";
import type { Command } from "./command.ts";
import { crossValidate } from "./crossvalidate.ts";
import { dataFlags, readData, textFlags } from "./data.ts";
import { type Flags, given, type Parsed, quietFlag, UsageError } from "./flags.ts";
import { holdOut, type Validation, validationOf } from "./holdout.ts";
import { isModel, withPredictor } from "./models.ts";
import { asTyped, flagsOf, optionsGiven } from "./options.ts";
import { writeSomewhere } from "./outputs.ts";
import { trainPlanned } from "./parts.ts";
import { closingLine } from "./progress.ts";
import { withRanks } from "./ranks.ts";
import { machine, writeReport } from "./report.ts";
import { shardFlag } from "./shard.ts";
import { openStepLog } from "./steplog.ts";
import { sizeText, type Terminal, terminal } from "./terminal.ts";
import { type Options, trainWatched } from "./watched.ts";

const flags: Flags = {
  out: { kind: "text", value: "MODEL", help: "where the model goes (required, but with --cross-validate)" },
  valid: {
    kind: "text",
    value: "FILE|N%",
    help: "measure on this file while training, or on a part of the data that is held out",
  },
  "cross-validate": {
    kind: "whole",
    from: 2,
    help: "first train N times on all but one of N parts, and print what they give on that part",
  },
  report: { kind: "text", value: "FILE", help: "write a report to look at (HTML, one file)" },
  state: {
    kind: "text",
    value: "FILE",
    help: "write what mlgpf learn goes on from; without --likelihood it is auto",
  },
  plan: {
    kind: "text",
    value: "PLAN",
    help: "make one part of a training in closed form that mlgpf plan planned; MODEL is then a part",
  },
  shard: shardFlag("with --plan: which part, of how many; auto: as Slurm, Kubernetes or AWS Batch says"),
  log: { kind: "text", value: "FILE", help: "write the bound of every step (CSV)" },
  ...flagsOf(trainOptions),
  ...flagsOf(runOptions),
  checkpoint: { kind: "text", value: "FILE", help: "where the state is kept", default: "MODEL.checkpoint" },
  resume: { kind: "switch", help: "go on from the checkpoint" },
  json: { kind: "switch", help: "print the training summary as JSON" },
  quiet: quietFlag,
  ...dataFlags,
  "valid-labels-from": {
    kind: "text",
    value: "FILE",
    help: "the labels of the --valid file, likewise",
  },
  ...textFlags,
};

/** Refused before any data are read wherever it can be: no limit that the data set is known yet. */
const ANY_SIZES = { points: Infinity, features: Infinity, labels: Infinity };

async function optionsOf(parsed: Parsed): Promise<Options> {
  const typed = { ...optionsGiven(trainOptions, parsed), ...optionsGiven(runOptions, parsed) };
  const { file } = (typed.basis ?? {}) as Partial<FromFile>;
  const options: Options = file === undefined ? typed : { ...typed, basis: await readRows(file) };
  const measured = parsed.text("valid") ?? parsed.number("cross-validate");
  if (options.earlyStopping && measured === undefined)
    throw new UsageError("--early-stop: found no validation data, expected --valid FILE or --valid 10%");
  if (parsed.text("state") !== undefined) options.likelihood ??= "auto";
  completeOptions(options, ANY_SIZES);
  return options;
}

async function run(parsed: Parsed): Promise<void> {
  try {
    await withRanks((ranks) => trainFile(parsed, ranks));
  } catch (error) {
    throw asTyped(error, trainOptions, runOptions);
  }
}

/** What was asked for, looked at before any work is done for it. */
async function asked(parsed: Parsed): Promise<{ file: string; outputs: Record<Output, string | undefined> }> {
  const [file, ...more] = parsed.positional;
  if (file === undefined) throw new UsageError("mlgpf train takes one data file");
  if (more.length > 0) {
    const found = [file, ...more].join(" ");
    throw new UsageError(`mlgpf train takes one data file, found ${found}: the model goes to --out MODEL`);
  }
  const outputs = {
    out: parsed.text("out"),
    report: parsed.text("report"),
    log: parsed.text("log"),
    state: parsed.text("state"),
  };
  if (outputs.out === undefined && parsed.number("cross-validate") === undefined)
    throw new UsageError("mlgpf train needs --out MODEL");
  const checkpoint = parsed.text("checkpoint");
  for (const path of [...Object.values(outputs), checkpoint])
    if (path !== undefined) await checkWritable(path);
  // What stands there is moved, or replaced.
  if (outputs.out !== undefined) await checkKeepable(checkpoint ?? checkpointOf(outputs.out));
  return { file, outputs };
}

type Output = "out" | "report" | "log" | "state";

/** Where the state is kept unless --checkpoint says so. */
const checkpointOf = (out: string): string => `${out}.checkpoint`;

/** What is not computed by several processes together. */
function refuseWithRanks(parsed: Parsed): void {
  for (const flag of ["plan", "cross-validate", "state"])
    if ((parsed.text(flag) ?? parsed.number(flag)) !== undefined)
      throw new UsageError(`--${flag}: found other ranks, expected one process`);
}

async function trainFile(parsed: Parsed, ranks: Communicator | undefined): Promise<void> {
  if (ranks) refuseWithRanks(parsed);
  const leads = ranks === undefined || ranks.rank === 0;
  const { file, outputs } = await asked(parsed);
  const plan = parsed.text("plan");
  if (plan !== undefined) return await trainPlanned(parsed, plan, file);
  if (parsed.text("shard") !== undefined)
    throw new UsageError("--shard: found no --plan, expected one made by mlgpf plan");
  const options = { ...(await optionsOf(parsed)), ...given({ ranks }) };
  if (ranks) options.likelihood ??= "bernoulli";
  const valid = parsed.text("valid");
  const wanted = valid === undefined ? undefined : validationOf(valid);
  if (wanted && "file" in wanted) await checkReadable(wanted.file);
  const screen = terminal(parsed.on("quiet") || !leads);
  if (ranks)
    screen.say(`${ranks.size} ranks: if one ends, all do, and --resume goes on with any number of them`);
  const { dataset } = await readData(file, parsed, screen).catch(async (error) => {
    throw (await isModel(file)) ? new UsageError(`${file}: found a model, expected data to train on`) : error;
  });
  const count = parsed.number("cross-validate");
  if (count !== undefined) await crossValidate(dataset, options, count, parsed.on("json"), screen);
  if (outputs.out === undefined) return;
  const { kept, held } = await measuredOn(dataset, wanted, options.seed ?? 0, (path) =>
    readData(path, parsed, screen, readingLike(dataset)),
  );
  await trainInto(outputs.out, kept, { file, held, valid: valid ?? "", options, outputs, parsed, screen });
}

/** The points to train on, and those to measure on. */
async function measuredOn(
  dataset: Dataset,
  wanted: Validation | undefined,
  seed: number,
  read: (path: string) => Promise<ReadResult>,
): Promise<{ kept: Dataset; held?: Dataset }> {
  if (wanted === undefined) return { kept: dataset };
  if ("file" in wanted) return { kept: dataset, held: (await read(wanted.file)).dataset };
  return holdOut(dataset, wanted.part, seed);
}

interface Job {
  file: string;
  held: Dataset | undefined;
  /** What --valid says. */
  valid: string;
  options: Options;
  outputs: Record<Output, string | undefined>;
  parsed: Parsed;
  screen: Terminal;
}

/** Trains and writes what was asked for. */
async function trainInto(out: string, dataset: Dataset, job: Job): Promise<void> {
  const { file, held, valid, options, outputs, parsed, screen } = job;
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const watched = recordHistory(seconds);
  const checkpoint = new CheckpointFile(parsed.text("checkpoint") ?? checkpointOf(out), screen);
  const from = parsed.on("resume") ? await checkpoint.read() : undefined;
  let state: LearningState | undefined;
  const leads = options.ranks === undefined || options.ranks.rank === 0;
  const log =
    outputs.log === undefined || !leads ? undefined : openStepLog(outputs.log, from !== undefined, screen);
  const model = await trainWatched(
    dataset,
    {
      ...options,
      ...given({ validation: held, resume: from, onStep: log?.write }),
      ...(outputs.state !== undefined && {
        onState: (made: LearningState) => {
          state = made;
        },
      }),
      onCheckpoint: (chunks) => (leads ? checkpoint.write(chunks) : undefined),
    },
    (progress) => watched.record(progress),
    () => checkpoint.standing(),
    screen,
  )
    .catch((error) => {
      throw checkpoint.named(error);
    })
    .finally(() => log?.close());
  if (!leads) return;
  const content = modelToTensors(model);
  // Nothing is said to be done that no command could open.
  modelFromTensors(content, "the trained model");
  const chunks = safetensorsChunks(content);
  const written = await writeSomewhere(out, chunks);
  await checkpoint.remove();
  screen.say(closingLine(model, seconds(), valid));
  if (parsed.on("json")) console.log(JSON.stringify(model.summary));
  if (written.problem) throw new Error(`${written.problem.message}; the model is in ${written.path}`);
  screen.say(`${out} written`);
  if (outputs.state !== undefined && state) await writeState(outputs.state, state, screen);
  if (outputs.report === undefined) return;
  const history = watched.history();
  const report = {
    model,
    bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
    title: file,
    // Of a training that was resumed only the last part was watched.
    run: { ...(from ? {} : { seconds: history.seconds }), machine: machine(), notes: watched.notes },
    history,
    ...(held ? { validation: { data: held, file: valid } } : {}),
  };
  const path = outputs.report;
  await withPredictor(model, options.threads, (predictor) => writeReport(path, report, predictor, screen));
}

/** Writes what learning goes on from, and says how much that is. */
async function writeState(path: string, state: LearningState, screen: Terminal): Promise<void> {
  const chunks = stateChunks(state);
  await writeAtomically(path, chunks);
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  screen.say(`${path} written (${sizeText(bytes)}): mlgpf learn goes on from it`);
}

export const trainCommand: Command = {
  name: "train",
  usage: "mlgpf train FILE --out MODEL [--valid FILE]",
  summary: "train a model on a data file (XC, svmlight, JSONL or CSV, also .gz; - is standard input)",
  examples: [
    "mlgpf train docs.jsonl --out tagger.safetensors",
    "mlgpf train train.txt.gz --out model.safetensors --valid test.txt.gz --factors 200",
    "mlgpf train train.txt.gz --out model.safetensors --valid test.txt.gz --report report.html",
    "mlgpf train train.txt.gz --out model.safetensors --resume",
  ],
  flags,
  run,
};
