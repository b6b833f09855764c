// npm run bench -- forms FILE|wordnet FORM...: models beside each other on rows of a training part that are held out from all of them. A form
// is parts with options, `linear+svgp` or `linear+svgp,epochs=4`. Rows are held out by a hash, equal ones together: one in five, or
// 15 % of texts, whose words are read from the others alone.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { readWordNet } from "../examples/wordnet/wordnet.ts";
import { hashInteger } from "../src/base/hash.ts";
import { firstEqualRows } from "../src/base/sparse.ts";
import { selectRows } from "../src/data/dataset.ts";
import { type Dataset, evaluate, readDataset, type TrainOptions, train } from "../src/index.ts";
import { markdown } from "./figures.ts";
import type { BenchOptions } from "./harness.ts";

const SALT = 11;
const HEAD = ["form", "P@1", "P@3", "P@5", "log loss", "ECE@5", "processor seconds"];

type Text = { text: string; labels: string[] };

interface Halves {
  kept: Dataset;
  held: Dataset | Text[];
}

const isHeld = (row: number, share: number): boolean => hashInteger(row, SALT) < share * 2 ** 32;

async function halvesOfTexts(texts: readonly Text[]): Promise<Halves> {
  const first = new Map<string, number>();
  for (const [row, { text }] of texts.entries()) if (!first.has(text)) first.set(text, row);
  const side = (held: boolean): Text[] => texts.filter(({ text }) => isHeld(first.get(text) ?? 0, 0.15) === held);
  return { kept: (await readDataset(side(false))).dataset, held: side(true) };
}

async function halvesOf(file: string): Promise<Halves> {
  if (file === "wordnet") return await halvesOfTexts(readWordNet().train);
  if (file.includes(".jsonl")) {
    const bytes = readFileSync(file);
    const lines = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString().trim().split("\n");
    return await halvesOfTexts(lines.map((line) => JSON.parse(line) as Text));
  }
  const { dataset } = await readDataset(file);
  const equal = firstEqualRows(dataset.features, Number.POSITIVE_INFINITY);
  const side = (held: boolean): Dataset => {
    const rows = Array.from({ length: dataset.features.rows }, (_, row) => row);
    return selectRows(
      dataset,
      rows.filter((row) => isHeld(equal?.[row] ?? row, 0.2) === held),
    );
  };
  return { kept: side(false), held: side(true) };
}

/** `linear+svgp,epochs=4` */
function optionsOf(form: string): TrainOptions {
  const [model, ...others] = form.split(",");
  const pairs = others.map((other) => other.split("="));
  return { model, ...Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)])) };
}

export async function formsBench({ files: [file, ...forms] }: BenchOptions): Promise<void> {
  if (file === undefined || forms.length === 0)
    throw new Error("forms: found no file or no form, expected both: forms train.txt.gz linear+svgp svgp,epochs=4");
  const { kept, held } = await halvesOf(file);
  const rows: string[][] = [];
  for (const form of forms) {
    const begin = process.cpuUsage();
    const model = await train(kept, { ...optionsOf(form), threads: 1 });
    const { user, system } = process.cpuUsage(begin);
    const { ranking, calibration } = await evaluate(model, held, { calibration: true });
    if (calibration === undefined) throw new Error("found no calibration, expected it");
    const figures = [...["P@1", "P@3", "P@5"].map((name) => ranking.metrics[name]), calibration.logLoss];
    const all = [...figures, 100 * calibration.top5.ece, (user + system) / 1e6];
    rows.push([form, ...all.map((figure) => figure.toFixed(2))]);
  }
  console.log(`${kept.features.rows} rows to train on\n\n${markdown([HEAD, ...rows])}`);
}
