// mlgpf compact MODEL [--out SMALL]

import { compactModel } from "../compact/index.ts";
import {
  type CompactOptions,
  completeCompactOptions,
  NUMBER_TYPES,
  type NumberType,
  VARIANCE_FORMS,
  type VarianceForm,
} from "../compact/options.ts";
import {
  type CompactFigures,
  choiceName,
  evaluateCompact,
  figuresOf,
  otherChoices,
} from "../compact/report.ts";
import { checkWritable, readWhole, writeAtomically } from "../io/files.ts";
import { modelFromBytes } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import { evaluate } from "../predict/evaluate.ts";
import type { Command } from "./command.ts";
import { dataFlags, readData } from "./data.ts";
import { type Flags, given, type Parsed, quietFlag, UsageError } from "./flags.ts";
import { withPredictor } from "./models.ts";
import { sizeText, type Terminal, terminal } from "./terminal.ts";

const flags: Flags = {
  out: {
    kind: "text",
    value: "FILE",
    help: "where to write it",
    default: "MODEL with .compact before its ending",
  },
  type: {
    kind: "choice",
    choices: NUMBER_TYPES,
    help: "of the large matrices",
    default: "int5; f32 where inducing points carry the mean",
  },
  variance: {
    kind: "choice",
    choices: VARIANCE_FORMS,
    help: "what probabilities integrate",
    default: "diagonal for the linear kernel, else exact",
  },
  rank: { kind: "whole", from: 1, help: "of the low-rank variance", default: "32" },
  size: {
    kind: "number",
    from: 0,
    help: "megabytes, about, that the weights of a Gaussian model are cut down to",
    default: "9.5",
  },
  "all-labels": {
    kind: "switch",
    help: "keep labels that no training point has (a Gaussian posterior always does)",
  },
  data: { kind: "text", value: "FILE", help: "measure what it costs on data with known labels" },
  report: { kind: "switch", help: "with --data: measure the other choices too" },
  json: { kind: "switch", help: "print one JSON object" },
  quiet: quietFlag,
  ...dataFlags,
};

function optionsOf(parsed: Parsed): CompactOptions {
  return given({
    type: parsed.text("type") as NumberType | undefined,
    variance: parsed.text("variance") as VarianceForm | undefined,
    rank: parsed.number("rank"),
    size: parsed.number("size"),
    allLabels: parsed.on("all-labels") || undefined,
  });
}

/** model.safetensors -> model.compact.safetensors */
function besides(path: string): string {
  return /\.safetensors$/.test(path)
    ? path.replace(/\.safetensors$/, ".compact.safetensors")
    : `${path}.compact`;
}

async function compact(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (path === undefined || more.length > 0) throw new UsageError("mlgpf compact takes one model");
  const out = parsed.text("out") ?? besides(path);
  if (out === path) throw new UsageError(`--out: found ${out}, expected another file than the model`);
  const dataPath = parsed.text("data");
  if (dataPath === undefined && parsed.on("report"))
    throw new UsageError("--report: found no data to measure with, expected --data FILE");
  const options = optionsOf(parsed);
  await checkWritable(out);
  const whole = await readWhole(path);
  const model = modelFromBytes(whole, path);
  completeCompactOptions(model, options);
  const screen = terminal(parsed.on("quiet"));
  const bytes = await compactModel(model, options);
  await writeAtomically(out, bytes);
  const figures =
    dataPath === undefined ? [] : await measure(model, whole.length, options, dataPath, parsed, screen);
  screen.done();
  const name = choiceName(model, options);
  if (parsed.on("json")) {
    console.log(
      JSON.stringify({ out, choice: name, bytes: bytes.length, modelBytes: whole.length, figures }),
    );
    return;
  }
  if (figures.length > 0) console.log(table(figures));
  screen.say(
    `${out}: ${sizeText(bytes.length)} instead of ${sizeText(whole.length)} (${name})${cost(figures)}`,
  );
  if (bytes.length > whole.length) screen.say(LARGER);
}

/** Of few points: they take less room than a weight for every word and label. */
const LARGER = "it is larger, since a model of few points is small: --size cuts it down further";

/** Figures of the model itself, of the choice, and on request of the other choices. */
async function measure(
  model: TrainedModel,
  modelBytes: number,
  options: CompactOptions,
  path: string,
  parsed: Parsed,
  screen: Terminal,
): Promise<CompactFigures[]> {
  const { dataset } = await readData(path, parsed, screen, model);
  screen.show("measuring the model");
  const original = await withPredictor(model, undefined, (predictor) =>
    evaluate(predictor, dataset, { calibration: true }),
  );
  const figures = [figuresOf("the model", modelBytes, original)];
  for (const choice of [options, ...(parsed.on("report") ? otherChoices(model, options) : [])]) {
    const name = choiceName(model, choice);
    const progress = (fraction: number): void => screen.show(`measuring ${name}`, fraction);
    figures.push(await evaluateCompact(model, choice, dataset, progress));
  }
  return figures;
}

function cost([original, chosen]: CompactFigures[]): string {
  if (!original || !chosen) return "; --data FILE measures what it costs";
  const change = (name: "P@1" | "P@5", digits: number): string => {
    const difference = chosen[name] - original[name];
    return `${difference < 0 ? "" : "+"}${difference.toFixed(digits)}`;
  };
  const [now, before] = [chosen.ece, original.ece].map((error) => (100 * error).toFixed(2));
  const ece = `calibration error of the best five ${now} % instead of ${before} %`;
  return `: P@1 ${change("P@1", 2)}, P@5 ${change("P@5", 2)}, ${ece}`;
}

function table(figures: CompactFigures[]): string {
  const width = Math.max(...figures.map(({ name }) => name.length));
  const head = `${"".padEnd(width)}  ${["size", "P@1", "P@3", "P@5", "ECE %", "log loss"].map((name) => name.padStart(9)).join(" ")}`;
  const rows = figures.map((each) => {
    const numbers = [each["P@1"], each["P@3"], each["P@5"]].map((value) => value.toFixed(2).padStart(9));
    const calibration = [(100 * each.ece).toFixed(2), each.logLoss.toFixed(4)].map((value) =>
      value.padStart(9),
    );
    return `${each.name.padEnd(width)}  ${[sizeText(each.bytes).padStart(9), ...numbers, ...calibration].join(" ")}`;
  });
  return [head, ...rows].join("\n");
}

export const compactCommand: Command = {
  name: "compact",
  usage: "mlgpf compact MODEL [--out SMALL] [--type int5] [--variance diagonal] [--data FILE]",
  summary: "make a small model for mlgpf/edge and mlgpf serve, and say what it costs",
  examples: [
    "mlgpf compact model.safetensors --out tagger.safetensors",
    "mlgpf compact model.safetensors --out tagger.safetensors --data test.jsonl --report",
  ],
  flags,
  run: compact,
};
