// mlgpf train FILE --out MODEL; and training in parts: mlgpf plan, mlgpf train --plan --shard, mlgpf merge

import { defined } from "../base/check.ts";
import { safetensorsChunks } from "../base/safetensors.ts";
import type { Dataset } from "../data/dataset.ts";
import { checkKeepable, checkReadable, readWhole, targetOf, writeAtomically } from "../io/files.ts";
import { withLock } from "../io/lock.ts";
import { readNames } from "../io/names.ts";
import { finishTogether, recordOf } from "../io/together.ts";
import { modelFromTensors, modelToTensors } from "../model/file.ts";
import type { Model } from "../model/model.ts";
import type { Communicator } from "../mpi/communicator.ts";
import type { FromFile } from "../options/kinds.ts";
import { completeOptions, type TrainOptions, trainOptions } from "../parts/options.ts";
import type { TrainProgress } from "../parts/progress.ts";
import { type LearningState, stateChunks, stateFromBytes } from "../parts/regression/state.ts";
import { type RunOptions, runOptions } from "../parts/run.ts";
import { readingLike } from "../parts/schema.ts";
import { tableLines } from "../report/figures.ts";
import { TrainingHistory } from "../report/history.ts";
import { grouped, sizesLine, sizeText } from "../report/numbers.ts";
import { Auditor, audit, type Suspect } from "../train/audit.ts";
import { folds, holdOut, type Read } from "../train/holdout.ts";
import { makePlan, mergeParts, type PartOptions, planFromText, rangeOf, schemaOf, trainPart } from "../train/plan.ts";
import { train } from "../train/train.ts";
import { checkAuditName, writeAudit } from "./audit.ts";
import { type Call, type Command, command } from "./command.ts";
import { nameOf, readData, shardOf, textTables } from "./data.ts";
import { machine, writeReport } from "./eval.ts";
import { count, type Given, kebab, on, output, quiet, text, threads, UsageError } from "./flags.ts";
import { bytesOf, inItsPlace, isModel, withPredictor, writeSomewhere, writeText } from "./models.ts";
import { closingLine, figuresLine, summaryJson, watched } from "./progress.ts";
import { print, type Terminal, terminal } from "./terminal.ts";
import { CheckpointFile, openStepLog, withRanks } from "./trainfiles.ts";

const options = {
  out: output("MODEL", "output file (required unless --cross-validate)"),
  valid: text("FILE|N%", "measure on this file while training, or hold out N% of the data"),
  crossValidate: { ...count("N-fold cross-validation: print figures of N trainings first"), from: 2 },
  report: output("FILE", "write a report to look at (HTML, one file)"),
  audit: output("FILE", "write labels that may be wrong or missing (.csv or .html)"),
  state: output("FILE", "write the state that mlgpf learn needs"),
  plan: text("PLAN", "train one part of what mlgpf plan planned; MODEL is then a part"),
  shard: text("I/N", "with --plan: part I of N; auto: from Slurm, Kubernetes or AWS Batch"),
  log: output("FILE", "write the bound of every step (CSV)"),
  checkpoint: output("FILE", "checkpoint file of a training in steps", { default: "MODEL.checkpoint" }),
  resume: on("continue from the checkpoint"),
  json: on("print the training summary as JSON"),
  quiet,
} as const;

type TrainCall = Call<typeof options>;
type AllOptions = TrainOptions & RunOptions;

/** Refused before any data are read wherever it can be: no limit that the data set is known yet. */
const ANY_SIZES = { points: Infinity, features: Infinity, labels: Infinity };

/** Options with the names that a file has. */
async function withNames<O extends Pick<TrainOptions, "names">>(typed: O): Promise<O> {
  const { file } = Object(typed.names) as Partial<FromFile>;
  return file === undefined ? typed : { ...typed, names: await readNames(file) };
}

async function optionsOf({ given, of }: TrainCall, ranks: Communicator | undefined): Promise<AllOptions> {
  const typed = { ...of(trainOptions), ...of(runOptions) };
  const chosen: AllOptions = await withNames(typed);
  if (given.state !== undefined) chosen.model ??= "auto";
  completeOptions(chosen, ANY_SIZES);
  if (ranks) chosen.model ??= "svgp";
  return ranks ? { ...chosen, mpi: ranks } : chosen;
}

/** The other processes of this training, where there are some. */
let joined: Communicator | undefined;

async function run(call: TrainCall): Promise<void> {
  const { given } = call;
  const [file] = call.args;
  checkAuditName("audit", given.audit);
  const ranks = joined;
  for (const flag of ["plan", "crossValidate", "state"] as const)
    if (ranks && given[flag] !== undefined)
      throw new UsageError(`--${kebab(flag)}: found other ranks, expected one process`);
  if (given.out === undefined && given.crossValidate === undefined)
    throw new UsageError("mlgpf train needs --out MODEL");
  // An earlier checkpoint is moved, or replaced.
  if (given.out !== undefined) await checkKeepable(given.checkpoint ?? `${given.out}.checkpoint`);
  if (given.plan !== undefined && given.out !== undefined)
    return await trainPlanned(call, file, { ...given, plan: given.plan, out: given.out });
  if (given.shard !== undefined) throw new UsageError("--shard: found no --plan, expected one made by mlgpf plan");
  const chosen = await optionsOf(call, ranks);
  const wanted = given.valid === undefined ? undefined : validationOf(given.valid);
  if (wanted && "file" in wanted) await checkReadable(wanted.file);
  const screen = ranks === undefined || ranks.rank === 0 ? call.screen : terminal(true);
  if (ranks) screen.say(`${ranks.size} processes: if one ends, all do; --resume continues with any number of them`);
  const reading = { of: call.of, screen };
  const seed = chosen.seed ?? 0;
  if (file === "-" && (given.crossValidate !== undefined || (wanted && "part" in wanted)))
    throw new UsageError("found standard input, which can be read only once, expected a file to hold rows out of");
  let times = 0;
  const read: Read = async (more) => {
    const silent = times++ > 0;
    const found = await readData(file, reading, { silent, ...more }).catch(async (error) => {
      throw (await isModel(file)) ? new UsageError(`${file}: found a model, expected data to train on`) : error;
    });
    return found.dataset;
  };
  if (given.crossValidate !== undefined)
    await crossValidate(read, chosen, given.crossValidate, given.json === true, screen);
  if (given.out === undefined) return;
  const { kept, held } = await partsOf(read);
  const { out, state } = given;
  const work = (): Promise<void> => trainInto(out, kept, { file, held, given, chosen, screen });
  if (state === undefined) return await work();
  await withLock([out, state], async () => {
    // A change that was cut off must not come over the new files later.
    await finishTogether(recordOf((await targetOf(state)).path), [(await targetOf(out)).path]);
    await work();
  });

  async function partsOf(read: Read): Promise<{ kept: Dataset; held?: Dataset }> {
    if (wanted && "part" in wanted) return await holdOut(read, wanted.part, seed);
    const kept = await read({});
    if (wanted === undefined) return { kept };
    const model = { schema: readingLike(kept) };
    return { kept, held: (await readData(wanted.file, reading, { model })).dataset };
  }
}

/** --valid: the path of a file, or the part of the data that is held out. */
export function validationOf(valid: string): { file: string } | { part: number } {
  const percent = /^([\d.]+)\s*%$/.exec(valid)?.[1];
  if (percent === undefined) return { file: valid };
  const part = Number(percent) / 100;
  if (!(part > 0 && part < 1))
    throw new UsageError(`--valid: found ${valid}, expected a file, or more than 0% and less than 100%`);
  return { part };
}

type Spread = Record<string, { mean: number; spread: number }>;

/** Mean and standard deviation of each figure over the folds. */
export function spreadOf(folds: readonly Readonly<Record<string, number>>[]): Spread {
  const names = Object.keys(folds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const values = folds.map((figures) => figures[name]);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      return [name, { mean, spread: Math.sqrt(squares / Math.max(1, values.length - 1)) }];
    }),
  );
}

/** Trains on all but one part of the data, for each part, and prints what that gives on it and how much it varies. */
async function crossValidate(
  read: Read,
  chosen: AllOptions,
  count: number,
  json: boolean,
  screen: Terminal,
): Promise<void> {
  const figures: Record<string, number>[] = [];
  for await (const { kept, held } of folds(read, count, chosen.seed ?? 0)) {
    screen.say(`Fold ${figures.length + 1} of ${count}`);
    const standing = (): string => "Nothing of a cross-validation is kept.";
    const { summary } = await trainWatched(kept, { ...chosen, validation: held }, screen, standing);
    const found = summary.validation as Record<string, number>;
    screen.say(figuresLine(found));
    figures.push(found);
  }
  const spread = spreadOf(figures);
  if (json) return console.log(JSON.stringify({ folds: figures, spread }));
  const rows = Object.entries(spread).map(([name, own]) => [name, own.mean.toPrecision(4), own.spread.toPrecision(2)]);
  await print(tableLines({ id: "", caption: "", head: ["", "mean", "std dev"], rows }).slice(1));
}

async function trainWatched(
  dataset: Dataset,
  chosen: AllOptions,
  screen: Terminal,
  standing: (closed: boolean) => string,
  record?: (progress: TrainProgress) => void,
): Promise<Model> {
  const { features, labels } = dataset;
  const work = (options: object): Promise<Model> => {
    // Not before: who has read it may press Ctrl-C.
    screen.say(sizesLine(features.rows, features.columns, labels.labels));
    return train(dataset, { ...chosen, ...options });
  };
  return await watched(screen, "Training", standing, work, record);
}

interface Job {
  file: string;
  held: Dataset | undefined;
  given: Given<typeof options>;
  chosen: AllOptions;
  screen: Terminal;
}

async function trainInto(out: string, dataset: Dataset, job: Job): Promise<void> {
  const { file, held, given, chosen, screen } = job;
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const history = new TrainingHistory();
  const checkpoint = new CheckpointFile(given.checkpoint ?? `${out}.checkpoint`, screen);
  const resume = given.resume ? await checkpoint.read() : undefined;
  const states: LearningState[] = [];
  const auditor = new Auditor();
  const leads = chosen.mpi === undefined || chosen.mpi.rank === 0;
  const log = given.log === undefined || !leads ? undefined : openStepLog(given.log, resume !== undefined, screen);
  const model = await trainWatched(
    dataset,
    {
      ...chosen,
      ...defined({ validation: held, resume, onStep: log?.write }),
      ...(given.audit !== undefined && { onLeftOut: (rows) => auditor.take(rows) }),
      ...(given.state !== undefined && { onState: (state) => void states.push(state) }),
      onCheckpoint: (chunks) => (leads ? checkpoint.write(chunks) : undefined),
    },
    screen,
    (closed) => checkpoint.standing(closed),
    (progress) => history.record(progress),
  )
    .catch((error) => {
      throw checkpoint.named(error);
    })
    .finally(() => log?.close());
  if (!leads) return;
  const trained = seconds();
  const content = modelToTensors(model);
  // Nothing is said to be done that no command could open.
  modelFromTensors(content, "the trained model");
  const chunks = safetensorsChunks(content);
  const fromFile = given.valid && !given.valid.endsWith("%") ? nameOf(given.valid) : undefined;
  const written = await writeSomewhere(out, chunks);
  await checkpoint.remove();
  screen.say(closingLine(model, seconds(), held && { rows: held.features.rows, file: fromFile }));
  if (given.json) console.log(summaryJson(model));
  inItsPlace(written);
  screen.say(`${out} written`);
  if (given.state !== undefined) {
    const content = stateChunks(states[0]);
    await writeAtomically(given.state, content);
    screen.say(`${given.state} written (${sizeText(bytesOf(content))}); pass it to mlgpf learn`);
  }
  if (given.audit !== undefined) {
    // Left out already, or on the rest of the rows for each part of them.
    const { threads } = chosen;
    const work = (more: object): Promise<Suspect[]> => audit(model, dataset, { threads, ...more });
    const suspects = auditor.complete
      ? auditor.suspects()
      : await watched(screen, "Auditing", () => "The model is written.", work);
    await writeAudit(given.audit, suspects, { title: nameOf(file), schema: model.schema, data: dataset }, screen);
  }
  if (given.report === undefined) return;
  const path = given.report;
  const report = {
    model,
    bytes: bytesOf(chunks),
    title: nameOf(file),
    // A training that was resumed was watched in its last part only.
    run: { ...(resume ? {} : { seconds: trained }), machine: machine(), notes: history.notes },
    history,
    ...(held && { validation: { data: held, file: fromFile ?? "the held-out data" } }),
  };
  await withPredictor(model, chosen.threads, (predictor) => writeReport(path, report, predictor, screen));
}

export const trainCommand: Command = command({
  name: "train",
  positionals: "FILE",
  usually: "--out MODEL",
  summary: "train a model on JSONL, CSV, a folder of notes, XC or svmlight (also .gz; - is standard input)",
  examples: [
    "mlgpf train docs.jsonl --out tagger.safetensors",
    "mlgpf train docs.csv --text abstract --labels subjects --out tagger.safetensors --valid 10%",
    "mlgpf train train.txt.gz --out model.safetensors --valid test.txt.gz --report report.html",
  ],
  options,
  tables: { Model: trainOptions, Run: runOptions, ...textTables },
  common: [
    ...["out", "valid", "report", "state", "quiet"],
    ...["model", "epochs", "seed", "device", "threads", "text", "labels"],
  ],
  around: (work) =>
    withRanks((ranks) => {
      joined = ranks;
      return work();
    }),
  run,
});

/** The options that a plan takes; the others are of trainings step by step. */
const planned = { idf: trainOptions.idf, names: trainOptions.names };

const nothing = (): string => "Nothing was written.";

/** mlgpf train FILE --plan PLAN --shard I/N --out PART */
async function trainPlanned(
  { of, screen }: Pick<Call<unknown>, "of" | "screen">,
  file: string,
  given: { plan: string; out: string; shard?: string },
): Promise<void> {
  const { plan, out } = given;
  const shard = shardOf(given.shard);
  const made = planFromText(new TextDecoder().decode(await readWhole(plan)), plan);
  const model = { schema: schemaOf(made) };
  const featuresOf = rangeOf(shard, made.schema.points);
  const { dataset } = await readData(file, { of, screen }, { model, featuresOf });
  const threads = of(runOptions).threads as PartOptions["threads"];
  const part = await watched(screen, "Training", nothing, (work) =>
    trainPart(dataset, made, shard, { threads, ...work }),
  );
  const chunks = stateChunks(part);
  await writeAtomically(out, chunks);
  screen.say(
    `${out} written (${sizeText(bytesOf(chunks))}): part ${shard.index} of ${shard.count}, ${grouped(part.totals?.points ?? 0)} rows`,
  );
}

export const planCommand: Command = command({
  name: "plan",
  positionals: "FILE",
  summary: "plan a training on several machines: the vocabulary, word weights and features of all its parts",
  examples: [
    "mlgpf plan train.txt --out plan.json",
    "mlgpf train train.txt --plan plan.json --shard 1/8 --out part.1",
    "mlgpf merge part.* --out model.safetensors",
  ],
  options: { out: output("PLAN", "output file", { required: true }), quiet },
  tables: { Model: planned, ...textTables },
  async run({ args: [file], given: { out = "" }, of, screen }) {
    const { dataset } = await readData(file, { of, screen });
    const made = await makePlan(dataset, await withNames(of(planned)));
    await writeText(out, JSON.stringify(made));
    screen.say(`${out} written: ${sizesLine(made.schema.points, made.schema.features, made.schema.labels)}`);
  },
});

export const mergeCommand: Command = command({
  name: "merge",
  positionals: "PART ...",
  summary: "merge the parts that mlgpf train --plan made into one model: the same bytes for any number of parts",
  examples: ["mlgpf merge part.1 part.2 part.3 --out model.safetensors"],
  options: {
    out: output("MODEL", "output file", { required: true }),
    json: on("print the training summary as JSON"),
    threads,
    quiet,
  },
  async run({ args, given: { out = "", json, threads }, screen }) {
    const begun = performance.now();
    const parts: LearningState[] = [];
    for (const path of args) {
      screen.show(`Reading ${path}`, parts.length / args.length);
      parts.push(stateFromBytes(await readWhole(path), path));
    }
    const model = await watched(screen, "Merging", nothing, (work) =>
      mergeParts(parts, { threads, ...work, onNote: (text) => screen.say(text) }),
    );
    await writeAtomically(out, safetensorsChunks(modelToTensors(model)));
    screen.say(closingLine(model, (performance.now() - begun) / 1000));
    if (json) console.log(summaryJson(model));
    screen.say(`${out} written, merged from ${parts.length} parts`);
  },
});
