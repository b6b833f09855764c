// mlgpf compact MODEL [--out SMALL] and mlgpf inspect MODEL

import process from "node:process";
import { chooseSize, compactModel } from "../compact/index.ts";
import type { OpenCompact } from "../compact/open.ts";
import { completeCompactOptions } from "../compact/options.ts";
import { type CompactFigures, choiceName, evaluateCompact, figuresOf, otherChoices } from "../compact/report.ts";
import { checkWritable, readWhole, writeAtomically } from "../io/files.ts";
import { modelFromBytes } from "../model/file.ts";
import type { Model } from "../model/model.ts";
import { type CompactOptions, NUMBER_TYPES, VARIANCE_FORMS } from "../parts/compact.ts";
import { familyOf } from "../parts/index.ts";
import type { TrainingSummary } from "../parts/run.ts";
import { evaluatePredictor } from "../predict/evaluate.ts";
import { precisionOf } from "../predict/open.ts";
import { tableLines } from "../report/figures.ts";
import { sizeText } from "../report/numbers.ts";
import { optionsFor } from "../train/choose.ts";
import { type Command, command } from "./command.ts";
import { dataTables, readData } from "./data.ts";
import { choice, count, on, quiet, real, text, UsageError, wrapped } from "./flags.ts";
import { isCompact, openAnyModel, withPredictor } from "./models.ts";
import { figuresLine } from "./progress.ts";
import { print } from "./terminal.ts";

const compactOptions = {
  type: choice(NUMBER_TYPES, "number type of the large matrices", "int5; f32 where inducing points carry the mean"),
  variance: choice(
    VARIANCE_FORMS,
    "variance that probabilities integrate",
    "diagonal for the linear kernel, else exact",
  ),
  rank: count("rank of the low-rank variance", { default: "32" }),
  size: real("MB", "approximate size of the weights of a GP regression", {
    from: 0,
    default: "the smallest that loses next to nothing; 9.5 without training rows in the model",
  }),
  allLabels: on("keep labels without training rows (a Gaussian process regression always does)"),
} as const;

/** model.safetensors -> model.compact.safetensors */
const besides = (path: string): string =>
  `${path.replace(/\.safetensors$/, "")}.compact${/\.safetensors$/.exec(path) ?? ""}`;

function cost([original, chosen]: CompactFigures[]): string {
  if (!original || !chosen) return "; --data FILE measures what it costs";
  const change = (name: "P@1" | "P@5"): string => {
    const difference = chosen[name] - original[name];
    return `${name} ${difference < 0 ? "" : "+"}${difference.toFixed(2)}`;
  };
  const [now, before] = [chosen.ece, original.ece].map((error) => (100 * error).toFixed(2));
  return `: ${change("P@1")}, ${change("P@5")}, ECE@5 ${now} % instead of ${before} %`;
}

const figureLines = (figures: readonly CompactFigures[]): string[] =>
  tableLines({
    id: "compact",
    caption: "",
    head: ["", "size", "P@1", "P@3", "P@5", "ECE@5 %", "log loss"],
    rows: figures.map((each) => [
      each.name,
      sizeText(each.bytes),
      ...(["P@1", "P@3", "P@5"] as const).map((name) => each[name].toFixed(2)),
      (100 * each.ece).toFixed(2),
      each.logLoss.toFixed(4),
    ]),
  }).slice(1);

export const compactCommand: Command = command({
  name: "compact",
  positionals: "MODEL",
  summary: "make a small model for mlgpf/edge and mlgpf serve, and measure what it loses",
  examples: [
    "mlgpf compact model.safetensors --out tagger.safetensors",
    "mlgpf compact model.safetensors --out tagger.safetensors --data test.jsonl --report",
  ],
  options: {
    out: text("FILE", "output file", { default: "MODEL with .compact before its ending" }),
    ...compactOptions,
    data: text("FILE", "measure what it costs on data with known labels"),
    report: on("with --data: measure the other choices too"),
    json: on("print one JSON object"),
    quiet,
  },
  tables: dataTables,
  async run({ args: [path], given, of, screen }) {
    const { out = besides(path), data, report, json } = given;
    if (out === path) throw new UsageError(`--out: found ${out}, expected another file than the model`);
    if (data === undefined && report)
      throw new UsageError("--report: found no data to measure with, expected --data FILE");
    await checkWritable(out);
    const chosen: CompactOptions = of(compactOptions);
    const whole = await readWhole(path);
    const model = modelFromBytes(whole, path);
    completeCompactOptions(model, chosen);
    const trying = (size: number): void => screen.show(`Trying ${size.toPrecision(2)} MB`);
    const found = chosen.size === undefined ? await chooseSize(model, chosen, trying) : undefined;
    if (found) chosen.size = found.size;
    const bytes = await compactModel(model, chosen);
    await writeAtomically(out, bytes);
    const [size, modelBytes] = [bytes.length, whole.length];
    const figures: CompactFigures[] = [];
    if (data !== undefined) {
      const { dataset } = await readData(data, { of, screen }, { model });
      screen.show("Measuring the model");
      const original = await withPredictor(model, undefined, (predictor) =>
        evaluatePredictor(predictor, dataset, { calibration: true }),
      );
      figures.push(figuresOf("the model", modelBytes, original));
      for (const choice of [chosen, ...(report ? otherChoices(model, chosen) : [])]) {
        const name = choiceName(model, choice);
        const progress = (fraction: number): void => screen.show(`Measuring ${name}`, fraction);
        figures.push(await evaluateCompact(model, choice, dataset, progress));
      }
    }
    screen.done();
    const choice = choiceName(model, chosen);
    if (json) return console.log(JSON.stringify({ out, choice, bytes: size, modelBytes, figures }));
    if (figures.length > 0) await print(figureLines(figures));
    if (found)
      screen.say(
        `Chose ${found.size.toPrecision(2)} MB: on training rows taken as new ones log loss rises by ${found.logLoss.toFixed(1)} % and P@1 falls by ${found.precision.toFixed(2)} (--size chooses another)`,
      );
    screen.say(`${out} written: ${sizeText(size)} instead of ${sizeText(modelBytes)} (${choice})${cost(figures)}`);
    // Few rows take less room than a weight for every word and label.
    if (size > modelBytes) screen.say("It is larger, since a model of few rows is small; --size cuts it down");
  },
});

const NAMES = 5;
const WIDTH = 15;

/** A line for each name, or several where the value is long; what a summary has is said name by name. */
function linesOf({ summary, ...about }: Record<string, unknown>, columns: number): string[] {
  const { leftOut, validation, ...rest } = (summary ?? {}) as Partial<TrainingSummary>;
  const figures = { leftOut: leftOut && figuresLine(leftOut), validation: validation && figuresLine(validation) };
  return Object.entries({ ...about, ...rest, ...figures }).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const [first, ...more] = wrapped(valueText(value), Math.max(30, columns - WIDTH));
    return [`${name.padEnd(WIDTH - 1)} ${first}`, ...more.map((line) => " ".repeat(WIDTH) + line)];
  });
}

/** Names in a list with commas between them, options as `name value`. */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name} ${typeof inner === "object" ? JSON.stringify(inner) : inner}`)
    .join(", ");
}

function aboutCompact({ info, schema }: OpenCompact): Record<string, unknown> {
  const { path: _, ...rest } = info;
  return { compact: true, ...rest, labelNames: schema.labelNames.slice(0, NAMES) };
}

function aboutModel({ schema, parts, calibrator, summary }: Model): Record<string, unknown> {
  return {
    parts: parts.map((part) => familyOf(part).title),
    ...Object.fromEntries(parts.map((part) => [part.family, familyOf(part).toFile(part, schema).about])),
    calibrated: calibrator !== undefined,
    features: schema.features,
    labels: schema.labels,
    points: schema.points,
    precision: precisionOf({ parts }),
    fromText: schema.vectoriser !== undefined,
    labelNames: schema.labelNames?.slice(0, NAMES),
    summary: { ...summary, options: optionsFor(summary.options, parts) },
  };
}

export const inspectCommand: Command = command({
  name: "inspect",
  positionals: "MODEL",
  summary: "show what a model file holds and how it was trained",
  examples: ["mlgpf inspect model.safetensors"],
  options: { json: on("print one JSON object") },
  async run({ args: [path], given: { json } }) {
    const model = await openAnyModel(path);
    const about = isCompact(model) ? aboutCompact(model) : aboutModel(model);
    await print(json ? [JSON.stringify(about)] : linesOf(about, process.stdout.columns || 80));
  },
});
