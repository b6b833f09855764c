// mlgpf eval MODEL FILE and mlgpf calibrate MODEL FILE: how good a model is, and how it is calibrated on new data.

import { stat } from "node:fs/promises";
import { basename } from "node:path";
import process from "node:process";
import { withLock } from "../io/lock.ts";
import { readNames } from "../io/names.ts";
import { type Evaluation, everyFigure } from "../metrics/evaluation.ts";
import type { LabelFigures } from "../metrics/perlabel.ts";
import { modelToBytes } from "../model/file.ts";
import type { Switch } from "../options/kinds.ts";
import { type Predictor, rankNames } from "../parts/predictor.ts";
import { evaluatePredictor } from "../predict/evaluate.ts";
import { csvCell, rounded } from "../predict/lines.ts";
import type { ReportData, ReportSource } from "../report/collect.ts";
import { evaluationAsJson, evaluationLines, expectationLines, promiseLines } from "../report/figures.ts";
import { type RecalibrateOptions, recalibrate } from "../train/recalibrate.ts";
import { type Call, type Command, command } from "./command.ts";
import { cutOf, cutOptions, dataTables, nameOf as inputName, readData } from "./data.ts";
import { type CommandOption, choice, count, device, on, output, quiet, real, threads, UsageError } from "./flags.ts";
import {
  inItsPlace,
  isCompact,
  openAnyModel,
  openModel,
  withHost,
  withPredictor,
  writeSomewhere,
  writeText,
} from "./models.ts";
import { showProgress } from "./progress.ts";
import { print, type Terminal } from "./terminal.ts";

export function machine(): string {
  const { bun, deno, node } = process.versions;
  const [name, version] = deno ? ["Deno", deno] : bun ? ["Bun", bun] : ["Node", node];
  return `${name} ${version} on ${process.platform} ${process.arch}`;
}

/** A report is passed on: it names files, not the folders of this machine. */
const nameOf = (file: string): string => basename(inputName(file));

/** --report FILE: measures, where there are data with known labels, and writes a report. What makes reports is loaded only here. */
export async function writeReport(
  path: string,
  { validation, ...source }: Omit<ReportSource, "measure" | "onProgress"> & { validation?: ReportData },
  predictor: Predictor,
  screen: Terminal,
): Promise<void> {
  const { makeReport } = await import("../report/page.ts");
  const text = await makeReport({
    ...source,
    title: nameOf(source.title),
    ...(validation && { measure: { predictor, ...validation, file: nameOf(validation.file) } }),
    onProgress: (fraction) => screen.show("Measuring for the report", fraction),
  });
  screen.done();
  await writeText(path, text);
  screen.say(`${path} written; open it in a browser`);
}

export interface NamedLabelFigures extends LabelFigures {
  readonly name: string;
  readonly trainingPoints: number;
}

/** Column of the CSV and key of the JSON; a figure that is not defined is an empty cell, and null. */
const COLUMNS: readonly (readonly [column: string, key: keyof NamedLabelFigures])[] = [
  ["label", "label"],
  ["name", "name"],
  ["training_rows", "trainingPoints"],
  ["rows", "positives"],
  ["kept", "kept"],
  ["right", "right"],
  ["precision", "precision"],
  ["recall", "recall"],
  ["f1", "f1"],
  ["average_precision", "averagePrecision"],
  ["found_in_top_5", "found"],
  ["expected_rows", "expected"],
  ["predictions_over_5_percent", "overFivePercent"],
  ["mean_confidence", "confidence"],
  ["accuracy", "accuracy"],
];

/** The figures of every label as a file to sort and filter: CSV for a spreadsheet, JSON for a program. */
export function labelFile(figures: readonly NamedLabelFigures[], json: boolean, raw = false): string {
  const value = (each: NamedLabelFigures, key: keyof NamedLabelFigures): string | number | undefined => {
    const found = each[key];
    if (typeof found === "string" || Number.isInteger(found)) return found;
    return Number.isNaN(found) ? undefined : rounded(found);
  };
  if (json) {
    const objects = figures.map((each) =>
      JSON.stringify(Object.fromEntries(COLUMNS.map(([, key]) => [key, value(each, key) ?? null]))),
    );
    return `[\n${objects.join(",\n")}\n]\n`;
  }
  const lines = figures.map((each) => COLUMNS.map(([, key]) => csvCell(value(each, key), ",", raw)).join(","));
  return `${[COLUMNS.map(([column]) => column).join(","), ...lines].join("\n")}\n`;
}

export const rawCsv: CommandOption<Switch> = on(
  "write CSV cells that begin with = + - @ as they are (a spreadsheet may run them)",
);

export const evalCommand: Command = command({
  name: "eval",
  positionals: "MODEL FILE",
  summary: "measure a model on data with known labels: rankings, F1, calibration",
  examples: [
    "mlgpf eval model.safetensors test.txt.gz",
    "mlgpf eval model.safetensors test.txt.gz --json --calibration",
    "mlgpf eval model.safetensors test.jsonl --thresholds --per-label labels.csv",
  ],
  options: {
    calibration: on("also measure calibration: log loss, Brier score, ECE@k, ECE by label, coverage error"),
    limit: count("keep at most N labels a row", { default: "5, with --threshold any" }),
    ...cutOptions,
    thresholds: on("precision, recall and F1 by threshold, and the best"),
    perLabel: output("FILE", "write the figures of every label (.csv or .json)"),
    rawCsv,
    rank: choice(rankNames, "what labels are ranked by; the paper's is utility", "probability"),
    tail: real("T", "rare labels first: rank by p (1/propensity)^T", { from: 0, to: 1, default: "0" }),
    json: on("print one JSON object"),
    report: output("FILE", "write a report to look at (HTML, one file)"),
    device: device("wasm"),
    threads,
    quiet,
  },
  tables: dataTables,
  async run({ args: [path, file], given, of, screen }) {
    const { report, perLabel, limit, rank, tail, calibration, thresholds } = given;
    const model = await openAnyModel(path, file);
    if (report !== undefined && isCompact(model))
      throw new UsageError(`--report: found the compact model ${path}, expected the one it was made from`);
    const { dataset } = await readData(file, { of, screen }, { model });
    const asked = {
      ...(calibration && { calibration, labelCalibration: true, coverage: true }),
      ...((thresholds ?? given.recall ?? given.precision) !== undefined && { guarantees: true }),
      ...(thresholds && { thresholds }),
      ...(perLabel !== undefined && { perLabel: true }),
    };
    const { device, threads } = given;
    const evaluation = await withHost(model, { device, threads, screen }, (host) =>
      host.use(async (predictor) => {
        const figures = await evaluatePredictor(predictor, dataset, {
          ...cutOf(given),
          limit,
          rank,
          tail,
          ...(report === undefined ? asked : everyFigure),
          onProgress: (fraction) => screen.show("Measuring", fraction),
        });
        if (report !== undefined && !isCompact(model)) {
          const { size: bytes } = await stat(path);
          const run = { machine: machine(), notes: [] };
          const validation = { data: dataset, file, evaluation: figures };
          await writeReport(report, { model, bytes, title: path, run, validation }, predictor, screen);
        }
        return figures;
      }),
    );
    screen.done();
    for (const line of promiseLines(given, model.thresholds, evaluation.guarantees)) screen.say(line);
    if (perLabel !== undefined) {
      const { labelNames, labelCounts } = model.schema;
      const named = (evaluation.perLabel ?? []).map((figures) => ({
        ...figures,
        name: labelNames?.[figures.label] ?? String(figures.label),
        trainingPoints: labelCounts[figures.label],
      }));
      const json = perLabel.toLowerCase().endsWith(".json");
      await writeText(perLabel, labelFile(named, json, given.rawCsv));
      screen.say(`${perLabel} written: ${named.length} labels`);
    }
    // Figures for a report alone are not printed.
    const printed = Object.fromEntries(
      Object.entries(evaluation).filter(([name]) => name in asked || !(name in everyFigure)),
    ) as unknown as Evaluation;
    await print(given.json ? [JSON.stringify(evaluationAsJson(printed))] : evaluationLines(printed));
  },
});

/** Calibrates a model anew on data with known labels, with names of labels where there are some, and says what that changes. */
async function calibrateInto(
  [path, file, out]: readonly [path: string, file: string, out: string],
  { of, screen }: Pick<Call<object>, "of" | "screen">,
  options: RecalibrateOptions,
): Promise<void> {
  // From the reading on: nobody may write a newer one meanwhile.
  await withLock([out], async (check) => {
    const model = await openModel(path, file);
    const { dataset } = await readData(file, { of, screen }, { model });
    const say = async (title: string, measured: typeof model): Promise<void> => {
      const { expectation, calibration } = await withPredictor(measured, options.threads, (predictor) =>
        evaluatePredictor(predictor, dataset, {
          calibration: true,
          onProgress: (fraction) => screen.show("Measuring", fraction),
        }),
      );
      screen.done();
      screen.say(`${title}: log loss ${calibration?.logLoss.toFixed(4)} a row`);
      for (const line of expectationLines(expectation)) screen.say(`  ${line}`);
    };
    await say("Before", model);
    const calibrated = await recalibrate(model, dataset, {
      ...options,
      onNote: (text) => screen.say(text),
      onProgress: showProgress(screen, "Calibrating") as (progress: object) => void,
    });
    screen.done();
    await say("After, on the same rows", calibrated);
    await check();
    inItsPlace(await writeSomewhere(out, modelToBytes(calibrated)));
    screen.say(`${out} written`);
  });
}

const calibrateOptions = {
  out: output("MODEL", "output file", { default: "MODEL itself" }),
  threads,
  quiet,
};

export const calibrateCommand: Command = command({
  name: "calibrate",
  positionals: "MODEL FILE",
  summary: "recalibrate the probabilities and thresholds of a model on new data with known labels",
  examples: [
    "mlgpf calibrate tagger.safetensors new.jsonl",
    "mlgpf calibrate tagger.safetensors new.jsonl --out newer.safetensors",
  ],
  options: calibrateOptions,
  tables: dataTables,
  run: ({ args: [path, file], given: { out = path, threads }, of, screen }) =>
    calibrateInto([path, file, out], { of, screen }, { threads }),
});

export const namesCommand: Command = command({
  name: "names",
  positionals: "MODEL NAMES FILE",
  summary: "add names of labels to a trained model, and fit the calibrator again to new data with known labels",
  examples: ["mlgpf names tagger.safetensors vocabulary.tsv new.jsonl --out named.safetensors"],
  options: calibrateOptions,
  tables: dataTables,
  async run({ args: [path, names, file], given: { out = path, threads }, of, screen }) {
    await calibrateInto([path, file, out], { of, screen }, { threads, names: await readNames(names) });
  },
});
