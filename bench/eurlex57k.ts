// npm run bench -- eurlex57k TEST.jsonl [--train TRAIN.jsonl] [--texts N]: the defaults on the official test part of EURLEX57K, beside the
// figures that were published for it. The part is not in the repository; its rows are {"text", "labels"} with EuroVoc's numbers. `--texts`
// trains and measures on the first N texts, to try the command.

import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { evaluate, readDataset, train } from "../src/index.ts";
import { markdown } from "./figures.ts";
import type { BenchOptions } from "./harness.ts";

const TRAIN = "../shared/data/eurlex-text/train.jsonl.gz";
const HEAD = ["", "P@1", "P@3", "P@5", "RP@5", "nDCG@5", "micro-F1", "log loss", "ECE@5"];
/** Chalkidis et al. 2019 (BERT-base: their table 2; BERT-LWAN: P@1), LibMultiLabel's label trees. */
const PUBLISHED = [
  ["BERT-base", "", "", "68.7", "79.6", "82.3", "73.2", "", ""],
  ["BERT-LWAN", "89.98", "", "67.85", "", "", "", "", ""],
  ["linear label trees (LibMultiLabel)", "91.25", "81.31", "68.34", "", "", "", "", ""],
];

export async function eurlex57kBench({
  json,
  files: [test],
  train: training = TRAIN,
  texts,
}: BenchOptions): Promise<void> {
  if (test === undefined)
    throw new Error("eurlex57k: found no file, expected the test part of EURLEX57K as JSON lines");
  for (const path of [training, test])
    if (!existsSync(path)) throw new Error(`${path}: found no such file, expected JSON lines with text and labels`);
  const part = (path: string): string | Blob => {
    if (texts === undefined) return path;
    const bytes = readFileSync(path);
    const all = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
    return new Blob([all.split("\n", texts).join("\n")]);
  };
  const begin = performance.now();
  const { dataset } = await readDataset(part(training));
  const model = await train(dataset, {
    onProgress: (progress) => progress.stage === "note" && console.error(progress.text),
  });
  const seconds = (performance.now() - begin) / 1000;
  const { ranking, kept, calibration } = await evaluate(model, part(test), {
    calibration: true,
    threshold: "best",
  });
  if (calibration === undefined) throw new Error("found no calibration, expected it");
  const figures = [
    ...["P@1", "P@3", "P@5", "RP@5", "nDCG@5"].map((name) => ranking.metrics[name]),
    100 * kept.overall.f1,
    calibration.logLoss,
    100 * calibration.top5.ece,
  ];
  if (json)
    console.log(JSON.stringify({ seconds, ...Object.fromEntries(HEAD.slice(1).map((name, i) => [name, figures[i]])) }));
  else {
    console.log(markdown([HEAD, ["mlgpf, defaults", ...figures.map((figure) => figure.toFixed(2))], ...PUBLISHED]));
    console.log(`\nread and trained in ${seconds.toFixed(0)} s; micro-F1 at the model's own threshold`);
  }
}
