// mlgpf eval MODEL FILE

import { stat } from "node:fs/promises";
import { checkWritable, writeAtomically } from "../io/files.ts";
import { type Evaluation, everyFigure } from "../metrics/evaluation.ts";
import { labelsAsCsv, labelsAsJson } from "../metrics/labelfile.ts";
import { type RankName, rankNames } from "../model/predictor.ts";
import { type EvaluateOptions, evaluate } from "../predict/evaluate.ts";
import type { Command } from "./command.ts";
import { cutFlags, cutOf } from "./cut.ts";
import { dataFlags, readData } from "./data.ts";
import { evaluationAsJson, evaluationLines } from "./figures.ts";
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
import { type AnyModel, isCompact, openAnyModel, withAnyHost } from "./models.ts";
import { machine, writeReport } from "./report.ts";
import { type Terminal, terminal } from "./terminal.ts";

const evalFlags: Flags = {
  calibration: { kind: "switch", help: "also measure how honest the probabilities are" },
  limit: {
    kind: "whole",
    from: 1,
    help: "keep at most N labels a point",
    default: "5, with --threshold any",
  },
  ...cutFlags("keep only"),
  thresholds: { kind: "switch", help: "precision, recall and F1 by threshold, and the best" },
  "per-label": { kind: "text", value: "FILE", help: "write the figures of every label (.csv or .json)" },
  rank: {
    kind: "choice",
    choices: rankNames,
    help: "what labels are ranked by; the paper's is utility",
    default: "probability",
  },
  tail: {
    kind: "number",
    from: 0,
    to: 1,
    value: "T",
    help: "rare labels first: rank by p (1/propensity)^T",
    default: "0",
  },
  json: { kind: "switch", help: "print one JSON object" },
  report: { kind: "text", value: "FILE", help: "write a report to look at (HTML, one file)" },
  device: deviceFlag("wasm"),
  threads: threadsFlag,
  quiet: quietFlag,
  ...dataFlags,
};

function optionsOf(parsed: Parsed): EvaluateOptions {
  return {
    ...given({
      limit: parsed.number("limit"),
      ...cutOf(parsed),
      rank: parsed.text("rank") as RankName | undefined,
      tail: parsed.number("tail"),
    }),
    calibration: parsed.on("calibration"),
    thresholds: parsed.on("thresholds"),
    perLabel: parsed.text("per-label") !== undefined,
  };
}

async function evaluateCommand(parsed: Parsed): Promise<void> {
  const [path, file, ...more] = parsed.positional;
  if (path === undefined || file === undefined || more.length > 0)
    throw new UsageError("mlgpf eval takes a model and a data file");
  const options = optionsOf(parsed);
  const [device, threads] = [deviceOf(parsed), parsed.number("threads")];
  const [report, perLabel] = [parsed.text("report"), parsed.text("per-label")];
  for (const output of [report, perLabel]) if (output !== undefined) await checkWritable(output);
  const screen = terminal(parsed.on("quiet"));
  const model = await openAnyModel(path, file);
  if (report !== undefined && isCompact(model))
    throw new UsageError(`--report: found the compact model ${path}, expected the one it was made from`);
  const { dataset } = await readData(file, parsed, screen, model);
  const evaluation = await withAnyHost(model, device, threads, screen, (host) =>
    host.use(async (predictor) => {
      const figures = await evaluate(predictor, dataset, {
        ...options,
        ...(report !== undefined && everyFigure),
        onProgress: (fraction) => screen.show("measuring", fraction),
      });
      if (report !== undefined && !isCompact(model)) {
        const { size: bytes } = await stat(path);
        const run = { machine: machine(), notes: [] };
        const validation = { data: dataset, file, evaluation: figures };
        await writeReport(report, { model, bytes, title: path, run, validation }, predictor, screen);
      }
      return onlyAsked(figures, options);
    }),
  );
  screen.done();
  if (perLabel !== undefined) await writeLabels(perLabel, evaluation, model, screen);
  const lines = parsed.on("json")
    ? [JSON.stringify(evaluationAsJson(evaluation))]
    : evaluationLines(evaluation);
  console.log(lines.join("\n"));
}

/** What was measured for a report alone is not printed. */
function onlyAsked(
  { calibration, thresholds, perLabel, ...rest }: Evaluation,
  options: EvaluateOptions,
): Evaluation {
  return {
    ...rest,
    ...(options.calibration && given({ calibration })),
    ...(options.thresholds && given({ thresholds })),
    ...(options.perLabel && given({ perLabel })),
  };
}

async function writeLabels(
  path: string,
  { perLabel = [] }: Evaluation,
  { labelNames, labelCounts }: AnyModel,
  screen: Terminal,
): Promise<void> {
  const named = perLabel.map((figures) => ({
    ...figures,
    name: labelNames?.[figures.label] ?? String(figures.label),
    trainingPoints: labelCounts[figures.label] as number,
  }));
  const text = path.toLowerCase().endsWith(".json") ? labelsAsJson(named) : labelsAsCsv(named);
  await writeAtomically(path, new TextEncoder().encode(text));
  screen.say(`${path} written: ${named.length} labels`);
}

export const evalCommand: Command = {
  name: "eval",
  usage: "mlgpf eval MODEL FILE [--calibration] [--thresholds] [--per-label FILE] [--json]",
  summary: "measure a model on data with known labels: rankings, what to keep, how honest it is",
  examples: [
    "mlgpf eval model.safetensors test.txt.gz",
    "mlgpf eval model.safetensors test.txt.gz --json --calibration",
    "mlgpf eval model.safetensors test.jsonl --thresholds --per-label labels.csv",
  ],
  flags: evalFlags,
  run: evaluateCommand,
};
