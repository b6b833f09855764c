// mlgpf train FILE --out MODEL

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import process from "node:process";
import { readWhole, writeAtomically } from "../io/files.ts";
import { modelToBytes } from "../io/modelfile.ts";
import type { TrainedModel } from "../predict/model.ts";
import { recordHistory } from "../report/history.ts";
import { completeOptions, type TrainOptions, trainOptions } from "../train/options.ts";
import type { TrainProgress } from "../train/progress.ts";
import { type RunOptions, runOptions } from "../train/run.ts";
import { train } from "../train/train.ts";
import type { Command } from "./command.ts";
import { dataFlags, readData, textFlags } from "./data.ts";
import { type Flags, given, type Parsed, quietFlag, UsageError } from "./flags.ts";
import { asTyped, flagsOf, optionsGiven } from "./options.ts";
import { withPredictor } from "./predict.ts";
import { checkFolder, machine, writeReport } from "./report.ts";
import { duration, type Terminal, terminal } from "./terminal.ts";

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

/** Progress of a training as a line. */
export function showProgress(terminal: Terminal): (progress: TrainProgress) => void {
  return (progress) => {
    if (progress.stage === "note") terminal.say(progress.text);
    else if (progress.stage !== "training") terminal.show(progress.stage, progress.fraction);
    else {
      const { step, steps, epoch, bound, divergence, pointsPerSecond, secondsLeft, validation } = progress;
      const parts = [
        `step ${step}/${steps}`,
        `epoch ${epoch.toFixed(1)}`,
        `bound ${bound.toPrecision(6)}`,
        `KL ${divergence.toPrecision(4)}`,
        `${Math.round(pointsPerSecond)} points/s`,
        `${duration(secondsLeft)} left`,
      ];
      if (validation)
        parts.push(
          `P@1 ${validation["P@1"]?.toFixed(1)} P@3 ${validation["P@3"]?.toFixed(1)} P@5 ${validation["P@5"]?.toFixed(1)}`,
        );
      terminal.show(parts.join("  "), step / steps);
    }
  };
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
  if (file === undefined || more.length > 0) throw new UsageError("mlgpf train takes one data file");
  if (out === undefined) throw new UsageError("mlgpf train needs --out MODEL");
  const report = parsed.text("report");
  checkFolder(out);
  checkFolder(report);
  const options = optionsOf(parsed);
  const screen = terminal(parsed.on("quiet"));
  const checkpoint = parsed.text("checkpoint") ?? `${out}.checkpoint`;
  const begin = performance.now();
  const { dataset } = await readData(file, parsed, screen);
  const valid = parsed.text("valid");
  const validation =
    valid === undefined ? undefined : (await readData(valid, parsed, screen, sameAs(dataset))).dataset;
  const { features, labels } = dataset;
  screen.say(`${features.rows} points, ${features.columns} features, ${labels.labels} labels`);

  const begun = performance.now();
  const watched = recordHistory(() => (performance.now() - begun) / 1000);
  const show = showProgress(screen);
  let model: TrainedModel;
  let bytes: Uint8Array;
  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  try {
    model = await train(dataset, {
      ...options,
      ...given({ validation }),
      ...(parsed.on("resume") ? { resume: await readWhole(checkpoint) } : {}),
      signal: abort.signal,
      onProgress: (progress) => {
        watched.record(progress);
        show(progress);
      },
      onCheckpoint: (bytes) => writeAtomically(checkpoint, bytes),
    });
    screen.done();
    bytes = modelToBytes(model);
    await writeAtomically(out, bytes);
    await rm(checkpoint, { force: true });
    screen.say(`${out} written after ${duration((performance.now() - begin) / 1000)}`);
    if (parsed.on("json")) console.log(JSON.stringify(model.summary));
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    const kept = existsSync(checkpoint)
      ? `go on with --resume (the state is in ${checkpoint})`
      : "nothing was to be kept yet";
    throw new Error(`stopped; ${kept}`);
  } finally {
    screen.done();
    process.removeListener("SIGINT", interrupt);
    process.removeListener("SIGTERM", interrupt);
  }
  if (report === undefined) return;
  const history = watched.history();
  // Of a training that was resumed only the last part was watched.
  const seconds = parsed.on("resume") ? undefined : history.seconds;
  const job = {
    model,
    bytes: bytes.length,
    title: file,
    run: { ...given({ seconds }), machine: machine(), notes: watched.notes },
    history,
    ...(validation ? { validation: { data: validation, file: valid as string } } : {}),
  };
  await withPredictor(model, options.threads, (predictor) => writeReport(report, job, predictor, screen));
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
