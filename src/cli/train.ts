// mlgpf train FILE --out MODEL

import { safetensorsChunks } from "../base/safetensors.ts";
import type { Dataset } from "../data/dataset.ts";
import { checkKeepable, checkReadable, targetOf, writeAtomically } from "../io/files.ts";
import { withLock } from "../io/lock.ts";
import { readNames } from "../io/names.ts";
import { finishTogether, recordOf } from "../io/together.ts";
import { modelFromTensors, modelToTensors } from "../model/file.ts";
import type { Model } from "../model/model.ts";
import type { Communicator } from "../mpi/communicator.ts";
import type { FromFile } from "../options/kinds.ts";
import { completeOptions, type TrainOptions, trainOptions } from "../parts/options.ts";
import type { TrainProgress } from "../parts/progress.ts";
import { type LearningState, stateChunks } from "../parts/regression/state.ts";
import { type RunOptions, runOptions } from "../parts/run.ts";
import { readingLike } from "../predict/reading.ts";
import { recordHistory } from "../report/history.ts";
import { grouped, sizeText } from "../report/numbers.ts";
import { Auditor, audit, type Suspect } from "../train/audit.ts";
import { folds, holdOut, type Read } from "../train/holdout.ts";
import { train } from "../train/train.ts";
import { checkAuditName, writeAudit } from "./audit.ts";
import { type Call, type Command, command, stoppable } from "./command.ts";
import { labelsFrom, readData, textTables } from "./data.ts";
import { machine, writeReport } from "./eval.ts";
import { count, type Given, on, output, quiet, text, UsageError } from "./flags.ts";
import { bytesOf, inItsPlace, isModel, withPredictor, writeSomewhere } from "./models.ts";
import { trainPlanned } from "./parts.ts";
import { closingLine, figuresLine, isClosedStage, showProgress, summaryJson, watched } from "./progress.ts";
import { type Terminal, terminal } from "./terminal.ts";
import { CheckpointFile, openStepLog, readRows, withRanks } from "./trainfiles.ts";

const options = {
  out: output("MODEL", "output file (required unless --cross-validate)"),
  valid: text("FILE|N%", "measure on this file while training, or hold out N% of the data"),
  crossValidate: { ...count("N-fold cross-validation: print figures of N trainings first"), from: 2 },
  report: output("FILE", "write a report to look at (HTML, one file)"),
  audit: output("FILE", "write labels that may be wrong or missing (.csv or .html)"),
  state: output("FILE", "write the state that mlgpf learn needs; --model is then auto unless it is given"),
  plan: text("PLAN", "train one part of what mlgpf plan planned; MODEL is then a part"),
  shard: text("I/N", "with --plan: which part, of how many; auto: as Slurm, Kubernetes or AWS Batch says"),
  log: output("FILE", "write the bound of every step (CSV)"),
  checkpoint: output("FILE", "checkpoint file of a training in steps", { default: "MODEL.checkpoint" }),
  resume: on("continue from the checkpoint"),
  labelsFrom,
  validLabelsFrom: text("FILE", "the same for the --valid file"),
  json: on("print the training summary as JSON"),
  quiet,
} as const;

type TrainCall = Call<typeof options>;
type AllOptions = TrainOptions & RunOptions;

/** Refused before any data are read wherever it can be: no limit that the data set is known yet. */
const ANY_SIZES = { points: Infinity, features: Infinity, labels: Infinity };

async function optionsOf({ given, of }: TrainCall, ranks: Communicator | undefined): Promise<AllOptions> {
  const typed = { ...of(trainOptions), ...of(runOptions) };
  const { file } = (typed.basis ?? {}) as Partial<FromFile>;
  const { file: names } = Object(typed.names) as Partial<FromFile>;
  const chosen: AllOptions = {
    ...typed,
    ...(file !== undefined && { basis: await readRows(file) }),
    ...(names !== undefined && { names: await readNames(names) }),
  };
  if (chosen.earlyStopping && given.valid === undefined && given.crossValidate === undefined)
    throw new UsageError("--early-stop: found no validation data, expected --valid FILE or --valid 10%");
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
      throw new UsageError(`--${flag.replace("V", "-v")}: found other ranks, expected one process`);
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
    const wantedRows = { labels: given.labelsFrom, silent, ...more };
    const found = await readData(file, reading, wantedRows).catch(async (error) => {
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
    return { kept, held: (await readData(wanted.file, reading, { model, labels: given.validLabelsFrom })).dataset };
  }
}

/** --valid: the path of a file, or the part of the data that is held out. */
export type Validation = { readonly file: string } | { readonly part: number };

export function validationOf(valid: string): Validation {
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
  const row = (name: string, mean: string, deviation: string): string =>
    `${name.padEnd(10)} ${mean.padStart(9)} ${deviation.padStart(9)}`;
  console.log(row("", "mean", "std dev"));
  for (const [name, { mean, spread: deviation }] of Object.entries(spread))
    console.log(row(name, mean.toPrecision(4), deviation.toPrecision(2)));
}

/** Trains with progress on the screen; a signal stops it and says what is so. */
async function trainWatched(
  dataset: Dataset,
  chosen: AllOptions,
  screen: Terminal,
  standing: (closed: boolean) => string,
  record: (progress: TrainProgress) => void = () => {},
): Promise<Model> {
  const show = showProgress(screen);
  const { features, labels } = dataset;
  const sizes = [features.rows, features.columns, labels.labels].map(grouped);
  let closed = false;
  const work = (signal: AbortSignal): Promise<Model> => {
    screen.say(`${sizes[0]} rows, ${sizes[1]} features, ${sizes[2]} labels`);
    const onProgress = (progress: TrainProgress): void => {
      closed = isClosedStage(progress.stage);
      record(progress);
      show(progress);
    };
    return train(dataset, { ...chosen, signal, onProgress });
  };
  return await stoppable(screen, () => standing(closed), work);
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
  const history = recordHistory(seconds);
  const checkpoint = new CheckpointFile(given.checkpoint ?? `${out}.checkpoint`, screen);
  const resume = given.resume ? await checkpoint.read() : undefined;
  let state: LearningState | undefined;
  const auditor = new Auditor();
  const leads = chosen.mpi === undefined || chosen.mpi.rank === 0;
  const log = given.log === undefined || !leads ? undefined : openStepLog(given.log, resume !== undefined, screen);
  const model = await trainWatched(
    dataset,
    {
      ...chosen,
      ...(held && { validation: held }),
      ...(resume && { resume }),
      ...(log && { onStep: log.write }),
      ...(given.audit !== undefined && { onLeftOut: (rows) => auditor.take(rows) }),
      ...(given.state !== undefined && {
        onState: (made: LearningState) => {
          state = made;
        },
      }),
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
  const course = history.history();
  const content = modelToTensors(model);
  // Nothing is said to be done that no command could open.
  modelFromTensors(content, "the trained model");
  const chunks = safetensorsChunks(content);
  const fromFile = given.valid?.endsWith("%") ? undefined : given.valid;
  const written = await writeSomewhere(out, chunks);
  await checkpoint.remove();
  screen.say(closingLine(model, seconds(), held && { rows: held.features.rows, file: fromFile }));
  if (given.json) console.log(summaryJson(model));
  inItsPlace(written);
  screen.say(`${out} written`);
  if (given.state !== undefined && state) {
    const content = stateChunks(state);
    await writeAtomically(given.state, content);
    screen.say(`${given.state} written (${sizeText(bytesOf(content))}); pass it to mlgpf learn`);
  }
  if (given.audit !== undefined) {
    // Left out already, or on the rest of the rows for each part of them.
    const { threads } = chosen;
    const work = (more: object): Promise<Suspect[]> => audit(model, dataset, { threads, ...more });
    const suspects = auditor.complete
      ? auditor.suspects()
      : await watched(screen, "Auditing", "The model is written.", work);
    await writeAudit(given.audit, suspects, { title: file, schema: model.schema, data: dataset }, screen);
  }
  if (given.report === undefined) return;
  const path = given.report;
  const report = {
    model,
    bytes: bytesOf(chunks),
    title: file,
    // A training that was resumed was watched in its last part only.
    run: { ...(resume ? {} : { seconds: course.seconds }), machine: machine(), notes: history.notes },
    history: course,
    ...(held && { validation: { data: held, file: fromFile ?? "the held-out data" } }),
  };
  await withPredictor(model, chosen.threads, (predictor) => writeReport(path, report, predictor, screen));
}

export const trainCommand: Command = command({
  name: "train",
  positionals: "FILE",
  usually: "--out MODEL",
  summary: "train a model on a data file (XC, svmlight, JSONL or CSV, also .gz; - is standard input)",
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
