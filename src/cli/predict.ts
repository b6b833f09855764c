// mlgpf predict MODEL [FILE|-]

import process from "node:process";
import { type CoreOptions, createCore } from "../core/core.ts";
import { readBatches } from "../data/reader.ts";
import { openInput, readSafetensorsFile } from "../io/files.ts";
import { modelFromTensors } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import type { Predictor } from "../model/predictor.ts";
import { ModelHost } from "../predict/host.ts";
import { predictRows } from "../predict/load.ts";
import type { Command } from "./command.ts";
import { dataFlags, fromModel, readOptions } from "./data.ts";
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
import { type Terminal, terminal } from "./terminal.ts";

export async function openModel(path: string): Promise<TrainedModel> {
  return modelFromTensors(await readSafetensorsFile(path), path);
}

/** Runs `work` with the model on WASM. */
export async function withPredictor<T>(
  model: TrainedModel,
  threads: CoreOptions["threads"],
  work: (predictor: Predictor) => Promise<T>,
): Promise<T> {
  return await withHost(model, "wasm", threads, undefined, (host) => host.use(work));
}

/** Runs `work` with the model on the device that was asked for, and says which it is where that is open. */
export async function withHost<T>(
  model: TrainedModel,
  choice: ReturnType<typeof deviceOf>,
  threads: CoreOptions["threads"],
  screen: Terminal | undefined,
  work: (host: ModelHost) => Promise<T>,
): Promise<T> {
  const core = await createCore(given({ threads }));
  try {
    const host = await ModelHost.open(core, model, choice);
    if (choice !== "wasm") screen?.say(`predicting on ${host.about}`);
    try {
      return await work(host);
    } finally {
      host.dispose();
    }
  } finally {
    core.dispose();
  }
}

const predictFlags: Flags = {
  top: { kind: "whole", from: 1, help: "labels for each point", default: "5" },
  threshold: { kind: "number", from: 0, to: 1, value: "P", help: "only labels at least this probable" },
  device: deviceFlag("wasm"),
  threads: threadsFlag,
  quiet: quietFlag,
  ...dataFlags,
};

async function predict(parsed: Parsed): Promise<void> {
  const [path, file = "-", ...more] = parsed.positional;
  if (path === undefined || more.length > 0)
    throw new UsageError("mlgpf predict takes a model and at most one data file");
  const top = parsed.number("top") ?? 5;
  const threshold = parsed.number("threshold") ?? 0;
  const reading = readOptions(parsed);
  const [device, threads] = [deviceOf(parsed), parsed.number("threads")];
  const model = await openModel(path);
  const { stream, name } = await openInput(file);
  const depth = Math.min(top, model.labels);
  await withHost(model, device, threads, terminal(parsed.on("quiet")), async (host) => {
    const options = { file: name, requireLabels: false, ...reading, ...fromModel(model) };
    for await (const { features } of readBatches(stream, options)) {
      const rows = await host.use((predictor) => predictRows(predictor, features, depth, threshold));
      for (const found of rows) {
        const labels = found.map(({ label, probability, utility, deviation }) => ({
          label,
          probability: round(probability),
          utility: round(utility),
          deviation: round(deviation),
        }));
        process.stdout.write(`${JSON.stringify({ labels })}\n`);
      }
    }
  });
}

const round = (value: number): number => Number(value.toPrecision(6));

export const predictCommand: Command = {
  name: "predict",
  usage: "mlgpf predict MODEL [FILE|-] [--top 5]",
  summary: "predict labels with probabilities, one JSON object a line",
  examples: [
    "mlgpf predict model.safetensors test.txt.gz --top 5",
    `echo '{"text": "a large wild cat"}' | mlgpf predict tagger.safetensors --format jsonl`,
  ],
  flags: predictFlags,
  run: predict,
};
