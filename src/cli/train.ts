// mlgpf train FILE --out MODEL

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import process from "node:process";
import { readWhole, writeAtomically } from "../io/files.ts";
import { modelToBytes } from "../io/modelfile.ts";
import type { TrainedModel } from "../predict/model.ts";
import { recordHistory } from "../report/history.ts";
import type { TrainOptions } from "../train/options.ts";
import type { TrainProgress } from "../train/progress.ts";
import { train } from "../train/train.ts";
import type { Command } from "./command.ts";
import { dataFlags, readData, textFlags } from "./data.ts";
import { deviceFlag, deviceOf, type Flags, given, type Parsed, UsageError } from "./flags.ts";
import { withPredictor } from "./predict.ts";
import { checkFolder, machine, writeReport } from "./report.ts";
import { duration, type Terminal, terminal } from "./terminal.ts";

const flags: Flags = {
  out: { kind: "text", value: "MODEL", help: "where the model goes (required)" },
  valid: { kind: "text", value: "FILE", help: "measure on this file while training" },
  report: { kind: "text", value: "FILE", help: "write a report to look at (HTML, one file)" },
  kernel: { kind: "text", value: "NAME", help: "linear, se or linear+se (default: linear)" },
  inducing: { kind: "text", value: "NAME", help: "subspace or free (default: subspace)" },
  "fixed-inducing": { kind: "switch", help: "keep inducing inputs where k-means put them" },
  "fixed-kernel": { kind: "switch", help: "keep the kernel's hyper-parameters" },
  basis: { kind: "text", value: "NAME", help: "svd or kmeans (default: svd)" },
  covariance: { kind: "text", value: "NAME", help: "shared or perFactor (default: shared)" },
  mean: {
    kind: "text",
    value: "NAME",
    help: "inducing or features (default: features for the linear kernel)",
  },
  negatives: {
    kind: "text",
    value: "N",
    help: "absent labels looked at for each point, or all (default: all)",
  },
  factors: { kind: "number", value: "P", help: "latent functions" },
  "inducing-points": { kind: "number", value: "M", help: "inducing points" },
  rank: { kind: "number", value: "R", help: "basis vectors" },
  batch: { kind: "number", value: "B", help: "points of a step" },
  epochs: { kind: "number", help: "times each point is seen" },
  "learning-rate": { kind: "number", help: "step length at the start" },
  "kl-weight": { kind: "number", help: "weight of the KL at the end; 1 is the paper's bound" },
  "kl-warmup": { kind: "number", value: "PART", help: "part of the steps over which that weight rises" },
  "kl-start": { kind: "number", help: "weight of the KL at the start" },
  idf: { kind: "text", value: "WORD", help: "yes, no or auto: inverse document frequencies (default: auto)" },
  "no-normalise": { kind: "switch", help: "keep the lengths of the rows" },
  quadrature: { kind: "text", value: "N", help: "Gauss-Hermite nodes, or closed (default: closed)" },
  precision: { kind: "text", value: "NAME", help: "f32 or f64 (default: f32)" },
  seed: { kind: "number", help: "of all random numbers (default: 0)" },
  "early-stop": {
    kind: "number",
    bare: "3",
    help: "stop after N validations without a better log-loss, and keep the best (default: 3); needs --valid",
  },
  device: deviceFlag("wasm"),
  threads: { kind: "number", help: "threads (default: one for each core)" },
  relaxed: { kind: "switch", help: "fused multiply-add where there is one; bytes may differ between CPUs" },
  "memory-budget": {
    kind: "number",
    value: "MB",
    help: "for keeping the projections of all points (default: 1024)",
  },
  checkpoint: { kind: "text", value: "FILE", help: "where the state is kept (default: MODEL.checkpoint)" },
  resume: { kind: "switch", help: "go on from the checkpoint" },
  json: { kind: "switch", help: "print the training summary as JSON" },
  quiet: { kind: "switch", help: "say nothing unless something is wrong" },
  ...dataFlags,
  ...textFlags,
};

function wordOrNumber(parsed: Parsed, name: string, word: string): number | string | undefined {
  const text = parsed.text(name);
  return text === undefined || text === word ? text : parsed.number(name);
}

function trainOptions(parsed: Parsed): TrainOptions {
  const idf = parsed.text("idf");
  if (idf !== undefined && !["yes", "no", "auto"].includes(idf))
    throw new UsageError(`--idf: found ${idf}, expected yes, no or auto`);
  const budget = parsed.number("memory-budget");
  const patience = parsed.number("early-stop");
  if (patience !== undefined && parsed.text("valid") === undefined)
    throw new UsageError("--early-stop: found no validation data, expected --valid FILE");
  return given({
    kernel: parsed.text("kernel") as TrainOptions["kernel"],
    inducing: parsed.text("inducing") as TrainOptions["inducing"],
    fixedInducing: parsed.on("fixed-inducing") || undefined,
    fixedKernel: parsed.on("fixed-kernel") || undefined,
    basis: parsed.text("basis") as "svd" | "kmeans" | undefined,
    covariance: parsed.text("covariance") as TrainOptions["covariance"],
    mean: parsed.text("mean") as TrainOptions["mean"],
    negatives: wordOrNumber(parsed, "negatives", "all") as TrainOptions["negatives"],
    factors: parsed.number("factors"),
    inducingPoints: parsed.number("inducing-points"),
    rank: parsed.number("rank"),
    batch: parsed.number("batch"),
    epochs: parsed.number("epochs"),
    learningRate: parsed.number("learning-rate"),
    klWeight: parsed.number("kl-weight"),
    klWarmup: parsed.number("kl-warmup"),
    klStart: parsed.number("kl-start"),
    idf: idf === undefined || idf === "auto" ? undefined : idf === "yes",
    normalise: parsed.on("no-normalise") ? false : undefined,
    quadrature: wordOrNumber(parsed, "quadrature", "closed") as TrainOptions["quadrature"],
    precision: parsed.text("precision") as TrainOptions["precision"],
    seed: parsed.number("seed"),
    memoryBudget: budget === undefined ? undefined : budget * 2 ** 20,
    earlyStopping: patience === undefined ? undefined : { patience },
  }) as TrainOptions;
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
  const [file, ...more] = parsed.positional;
  const out = parsed.text("out");
  if (file === undefined || more.length > 0) throw new UsageError("mlgpf train takes one data file");
  if (out === undefined) throw new UsageError("mlgpf train needs --out MODEL");
  const report = parsed.text("report");
  checkFolder(out);
  checkFolder(report);
  const options = { ...trainOptions(parsed), device: deviceOf(parsed) };
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
      ...given({ threads: parsed.number("threads"), relaxed: parsed.on("relaxed") || undefined, validation }),
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
  await withPredictor(model, parsed.number("threads"), (predictor) =>
    writeReport(report, job, predictor, screen),
  );
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
