// mlgpf predict MODEL [FILE|-]

import process from "node:process";
import { readBatches } from "../data/reader.ts";
import { openInput } from "../io/files.ts";
import { predictRows } from "../predict/load.ts";
import type { Command } from "./command.ts";
import { dataFlags, fromModel, readOptions } from "./data.ts";
import {
  deviceFlag,
  deviceOf,
  type Flags,
  type Parsed,
  quietFlag,
  threadsFlag,
  UsageError,
} from "./flags.ts";
import { openModel, withHost } from "./models.ts";
import { terminal } from "./terminal.ts";

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
  const model = await openModel(path, file);
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
