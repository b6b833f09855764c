// mlgpf train FILE --out MODEL

import type { Dataset } from "../data/dataset.ts";
import { checkWritable } from "../io/files.ts";
import { modelToBytes } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import { type HistoryRecorder, recordHistory } from "../report/history.ts";
import { completeOptions, type TrainOptions, trainOptions } from "../train/options.ts";
import { type RunOptions, runOptions } from "../train/run.ts";
import { train } from "../train/train.ts";
import { CheckpointFile } from "./checkpoint.ts";
import type { Command } from "./command.ts";
import { dataFlags, readData, textFlags } from "./data.ts";
import { type Flags, given, type Parsed, quietFlag, UsageError } from "./flags.ts";
import { isModel, withPredictor } from "./models.ts";
import { asTyped, flagsOf, optionsGiven } from "./options.ts";
import { writeSomewhere } from "./outputs.ts";
import { closingLine, showProgress } from "./progress.ts";
import { machine, writeReport } from "./report.ts";
import { Stopped, watchSignals } from "./signals.ts";
import { type Terminal, terminal } from "./terminal.ts";

const flags: Flags = {
  out: { kind: "text", value: "MODEL", help: "where the model goes (required)" },
  valid: { kind: "text", value: "FILE", help: "measure on this file while training" },
  report: { kind: "text", value: "FILE", help: "write a report to look at (HTML, one file)" },
  ...flagsOf(trainOptions),
  ...flagsOf(runOptions),
  checkpoint: { kind: "text", value: "FILE", help: "where the state is kept", default: "MODEL.checkpoint" },
  resume: { kind: "switch", help: "go on from the checkpoint" },
  json: { kind: "switch", help: "print the training summary as JSON" },
  quiet: quietFlag,
  ...dataFlags,
  ...textFlags,
};

/** Refused before any data are read wherever it can be: no limit that the data set is known yet. */
const ANY_SIZES = { points: Infinity, features: Infinity, labels: Infinity };

function optionsOf(parsed: Parsed): TrainOptions & RunOptions {
  const options: TrainOptions & RunOptions = {
    ...optionsGiven(trainOptions, parsed),
    ...optionsGiven(runOptions, parsed),
  };
  if (options.earlyStopping && parsed.text("valid") === undefined)
    throw new UsageError("--early-stop: found no validation data, expected --valid FILE");
  completeOptions(options, ANY_SIZES);
  return options;
}

async function run(parsed: Parsed): Promise<void> {
  try {
    await trainFile(parsed);
  } catch (error) {
    throw asTyped(error, trainOptions, runOptions);
  }
}

async function trainFile(parsed: Parsed): Promise<void> {
  const [file, ...more] = parsed.positional;
  const out = parsed.text("out");
  if (file === undefined) throw new UsageError("mlgpf train takes one data file");
  if (more.length > 0)
    throw new UsageError(
      `mlgpf train takes one data file, found ${[file, ...more].join(" ")}: the model goes to --out MODEL`,
    );
  if (out === undefined) throw new UsageError("mlgpf train needs --out MODEL");
  const report = parsed.text("report");
  for (const path of [out, report]) if (path !== undefined) await checkWritable(path);
  const options = optionsOf(parsed);
  const screen = terminal(parsed.on("quiet"));
  const begin = performance.now();
  const { dataset } = await readData(file, parsed, screen).catch(async (error) => {
    throw (await isModel(file)) ? new UsageError(`${file}: found a model, expected data to train on`) : error;
  });
  const valid = parsed.text("valid");
  const validation =
    valid === undefined ? undefined : (await readData(valid, parsed, screen, sameAs(dataset))).dataset;
  const begun = performance.now();
  const watched = recordHistory(() => (performance.now() - begun) / 1000);
  const checkpoint = new CheckpointFile(parsed.text("checkpoint") ?? `${out}.checkpoint`, screen);
  const given = { ...options, ...(validation ? { validation } : {}) };
  const model = await trainWatched(dataset, given, parsed.on("resume"), checkpoint, watched, screen);
  const bytes = modelToBytes(model);
  const written = await writeSomewhere(out, bytes);
  await checkpoint.remove();
  screen.say(closingLine(model, (performance.now() - begin) / 1000, valid ?? ""));
  if (parsed.on("json")) console.log(JSON.stringify(model.summary));
  if (written.problem) throw new Error(`${written.problem.message}; the model is in ${written.path}`);
  screen.say(`${out} written`);
  if (report === undefined) return;
  const history = watched.history();
  // Of a training that was resumed only the last part was watched.
  const seconds = parsed.on("resume") ? undefined : history.seconds;
  const job = {
    model,
    bytes: bytes.length,
    title: file,
    run: { ...(seconds === undefined ? {} : { seconds }), machine: machine(), notes: watched.notes },
    history,
    ...(validation ? { validation: { data: validation, file: valid as string } } : {}),
  };
  await withPredictor(model, options.threads, (predictor) => writeReport(report, job, predictor, screen));
}

/** Trains with progress on the screen and checkpoints in a file; a signal stops it and says what is so. */
async function trainWatched(
  dataset: Dataset,
  options: TrainOptions & RunOptions,
  resume: boolean,
  checkpoint: CheckpointFile,
  watched: HistoryRecorder,
  screen: Terminal,
): Promise<TrainedModel> {
  const show = showProgress(screen);
  const stop = watchSignals();
  const { features, labels } = dataset;
  screen.say(`${features.rows} points, ${features.columns} features, ${labels.labels} labels`);
  try {
    const from = resume ? await checkpoint.read() : undefined;
    return await train(dataset, {
      ...options,
      ...(from ? { resume: from } : {}),
      signal: stop.signal,
      onProgress: (progress) => {
        watched.record(progress);
        show(progress);
      },
      onCheckpoint: (bytes) => checkpoint.write(bytes),
    });
  } catch (error) {
    throw stop.came ? new Stopped(`stopped; ${checkpoint.standing()}`, stop.came) : error;
  } finally {
    screen.done();
    stop.end();
  }
}

/** The validation file is read as the training file was: its names and vocabulary stand. */
function sameAs(dataset: Awaited<ReturnType<typeof readData>>["dataset"]): Parameters<typeof readData>[3] {
  const { features, labels, labelNames, featureNames, vectoriser } = dataset;
  return given({
    features: features.columns,
    labels: labels.labels,
    labelNames,
    featureNames,
    vectoriser: vectoriser?.toJSON(),
  }) as Parameters<typeof readData>[3];
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
