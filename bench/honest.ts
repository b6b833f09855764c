// How well calibrated and how good the defaults are, beside the paper's model, one-vs-rest logistic regression and fastText, these two also
// with cross-fitted isotonic regression: P@k, log loss and Brier score a point, ECE@5, the bias of predictions of at
// least 5 %, processor seconds of training. With no options but the data; three seeds of ours (`--rounds 1`: one).

import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readWordNet } from "../examples/wordnet/wordnet.ts";
import { withPredictor } from "../src/cli/models.ts";
import { fitTransform, transformedRows } from "../src/data/transform.ts";
import { type Dataset, readDataset } from "../src/index.ts";
import type { TrainOptions } from "../src/parts/options.ts";
import { readingLike } from "../src/parts/schema.ts";
import { evaluatePredictor } from "../src/predict/evaluate.ts";
import { readingFor } from "../src/predict/reading.ts";
import { train } from "../src/train/train.ts";
import { markdown, type Split } from "./figures.ts";
import type { BenchOptions } from "./harness.ts";
import { dataFor, readRows } from "./texts.ts";

const SEEDS = [0, 1, 2];
const DATA = "../shared/data";
/** Which files of each set are trained on and measured on. */
const FILES: Record<string, readonly [train: string, test: string]> = {
  bibtex: ["train.txt.gz", "test.txt.gz"],
  delicious: ["train.txt.gz", "test.txt.gz"],
  "eurlex-half": ["train.txt.gz", "test.txt.gz"],
  "rcv1-subset": ["train.txt.gz", "test.txt.gz"],
  "eurlex-text": ["train.jsonl.gz", "dev.jsonl.gz"],
  debtags: ["train.jsonl.gz", "test.jsonl.gz"],
};
/** Texts of EUR-Lex, chosen by a hash of their ids: one-vs-rest takes hours with all of them. */
const [SOME_TEXTS, SOME] = ["eurlex-15000", 15_000];
const OURS: readonly (readonly [name: string, options: TrainOptions, seeds: readonly number[]])[] = [
  ["mlgpf", {}, SEEDS],
  ["the paper's model", { model: "svgp", calibration: false }, [0]],
];

/** Figures as bench/honest.py gives them: in percent, but for the two losses. */
interface HonestFigures {
  readonly P: readonly number[];
  readonly logloss: number;
  readonly brier: number;
  readonly ece5: number;
  readonly bias: number;
  /** Processor seconds of training, with choosing C and cross-fitting. */
  readonly seconds: number;
}

export async function honestBench({ json, only, rounds }: BenchOptions): Promise<void> {
  const rows = [["data", "who", "P@1 / 3 / 5", "log loss", "Brier", "ECE@5", "bias", "processor s"]];
  const report = (data: string, who: string, figures: HonestFigures): void => {
    if (json) console.log(JSON.stringify({ data, who, ...figures }));
    else console.error(`${data}, ${who}: ${cellsOf(figures).join(", ")}`);
    rows.push([data, who, ...cellsOf(figures)]);
  };
  for (const name of [...Object.keys(FILES), SOME_TEXTS, "wordnet"]) {
    if (only !== undefined && !name.includes(only)) continue;
    const split = await partsOf(name);
    if (split === undefined) continue;
    for (const [who, options, all] of OURS) {
      const seeds = all.slice(0, rounds);
      const runs: HonestFigures[] = [];
      for (const seed of seeds) runs.push(await ours(split, { ...options, seed }));
      report(name, seeds.length > 1 ? `${who}, mean of ${seeds.length} seeds` : who, meanOf(runs));
    }
    for (const { who, ...figures } of others(split)) report(name, who, figures);
  }
  if (!json) console.log(markdown(rows));
}

const cellsOf = ({ P, logloss, brier, ece5, bias, seconds }: HonestFigures): string[] => [
  P.map((value) => value.toFixed(2)).join(" / "),
  ...[logloss, brier, ece5, bias].map((value) => value.toFixed(2)),
  seconds.toFixed(0),
];

function meanOf(runs: readonly HonestFigures[]): HonestFigures {
  const mean = (of: (run: HonestFigures) => number): number =>
    runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
  return {
    P: [0, 1, 2].map((k) => mean(({ P }) => P[k])),
    logloss: mean(({ logloss }) => logloss),
    brier: mean(({ brier }) => brier),
    ece5: mean(({ ece5 }) => ece5),
    bias: mean(({ bias }) => bias),
    seconds: mean(({ seconds }) => seconds),
  };
}

async function partsOf(name: string): Promise<Split | undefined> {
  if (name === "wordnet") {
    const { train: rows, test } = readWordNet();
    const { dataset } = await readDataset(rows);
    return { train: dataset, test: (await readDataset(test, readingFor(readingLike(dataset)))).dataset };
  }
  if (name === SOME_TEXTS) return someTexts();
  const [training, testing] = (FILES[name] as [string, string]).map((file) => `${DATA}/${name}/${file}`);
  if (!existsSync(training as string)) {
    console.error(`skipped: ${training} is not here`);
    return undefined;
  }
  const { dataset } = await readDataset(training as string);
  const known = readingFor(readingLike(dataset));
  return { train: dataset, test: (await readDataset(testing as string, known)).dataset };
}

async function someTexts(): Promise<Split | undefined> {
  const [training, testing] = [await readRows("train", 1), await readRows("dev")];
  if (training === undefined || testing === undefined) return undefined;
  const train = await dataFor(training.slice(0, SOME));
  return { train, test: await dataFor(testing, undefined, readingFor(readingLike(train))) };
}

async function ours(split: Split, options: TrainOptions): Promise<HonestFigures> {
  const begin = process.cpuUsage();
  const model = await train(split.train, options);
  const { user, system } = process.cpuUsage(begin);
  const seconds = (user + system) / 1e6;
  return await withPredictor(model, undefined, async (predictor) => {
    const { ranking, calibration } = await evaluatePredictor(predictor, split.test, { calibration: true });
    if (calibration === undefined) throw new Error("found no calibration, expected it");
    const { logLoss, brier, top5, overFivePercent } = calibration;
    const P = [1, 3, 5].map((k) => ranking.metrics[`P@${k}`]);
    return { P, logloss: logLoss, brier, ece5: 100 * top5.ece, bias: 100 * overFivePercent.bias, seconds };
  });
}

/** One-vs-rest and fastText on the same rows, where Python and they are there. */
function others(split: Split): (HonestFigures & { who: string })[] {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-honest-"));
  try {
    const paths = (["train", "test"] as const).map((part) => {
      const path = join(folder, `${part}.txt`);
      writeRows(path, split[part], split.train);
      return path;
    });
    const { status, stdout, stderr } = spawnSync("/usr/bin/python3", ["bench/honest.py", ...paths], {
      encoding: "utf8",
    });
    if (status !== 0) console.error(`not compared: ${stderr.trim().split("\n").at(-1)}`);
    return stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Rows that are written at once. */
const BLOCK = 5000;

/** Weighted and scaled rows with their labels, in the form of the XC repository. */
export function writeRows(path: string, { features, labels }: Dataset, training: Dataset): void {
  const transform = fitTransform(training.features, "auto", true, training.vectoriser?.scaled);
  writeFileSync(path, `${features.rows} ${features.columns} ${training.labels.labels}\n`);
  for (let from = 0; from < features.rows; from += BLOCK) {
    const to = Math.min(from + BLOCK, features.rows);
    const { rowStart, columnIndex, values } = transformedRows(features, transform, from, to - from);
    const lines = Array.from({ length: to - from }, (_, i) => {
      const own = labels.labelIndex.subarray(labels.rowStart[from + i], labels.rowStart[from + i + 1]);
      const entries: string[] = [];
      for (let e = rowStart[i]; e < rowStart[i + 1]; e++) entries.push(`${columnIndex[e]}:${values[e].toPrecision(7)}`);
      return `${own.filter((label) => label < training.labels.labels).join(",")} ${entries.join(" ")}\n`;
    });
    appendFileSync(path, lines.join(""));
  }
}
