// node scripts/ts.mjs bench/textdefaults.ts FOLDER [--only WORD] [--test] [OPTIONS ...]: what text options are worth. FOLDER has a folder for each
// set with train.jsonl and test.jsonl (bench/textsets.py makes some); OPTIONS are JSON, {} for the defaults.
//
// A quarter of each training part is held out before its words are read. Leave-one-out alone would flatter `minDocuments` 2: a
// word of the text left out and of one other is in the vocabulary then, which it would not be for a new text. With --test, once and at the
// end, models of whole training parts are measured on the test parts instead.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hashText } from "../src/base/hash.ts";
import { withPredictor } from "../src/cli/models.ts";
import { compactModel } from "../src/compact/index.ts";
import type { DataRow } from "../src/data/options.ts";
import { readDataset } from "../src/data/reader.ts";
import { loadStemmer } from "../src/data/stemmers.ts";
import type { TfidfOptions } from "../src/data/tfidfoptions.ts";
import { modelToBytes } from "../src/model/file.ts";
import { evaluatePredictor } from "../src/predict/evaluate.ts";
import { train } from "../src/train/train.ts";
import { dataFor } from "./texts.ts";

const HELD_OUT = 0.25;

const args = process.argv.slice(2);
const folder = args[0] ?? "";
if (!existsSync(folder)) throw new Error(`found no folder ${folder}, expected one with a folder for each set`);
const only = args.includes("--only") ? new RegExp(args[args.indexOf("--only") + 1]) : /./;
const onTest = args.includes("--test");
const candidates = args.filter((each) => each.startsWith("{")).map((text) => JSON.parse(text) as TfidfOptions);

const rowsOf = (set: string, part: string): DataRow[] =>
  readFileSync(`${folder}/${set}/${part}.jsonl`, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

for (const set of readdirSync(folder).filter((name) => only.test(name))) {
  const all = rowsOf(set, "train");
  const isHeld = (row: DataRow): boolean => hashText(String(row.text), 7) < HELD_OUT * 2 ** 32;
  const [kept, held] = onTest ? [all, rowsOf(set, "test")] : [all.filter((row) => !isHeld(row)), all.filter(isHeld)];
  for (const tfidf of candidates.length > 0 ? candidates : [{}]) {
    if (tfidf.stem) await loadStemmer(tfidf.stem);
    const { dataset } = await readDataset([...kept], { tfidf });
    const model = await train(dataset, { threads: 1 });
    const unseen = await dataFor(held, model);
    const figures = await withPredictor(model, undefined, async (predictor) => {
      const { ranking, calibration } = await evaluatePredictor(predictor, unseen, { calibration: true });
      return { precision: ranking.metrics["P@1"], logLoss: calibration?.logLoss ?? Number.NaN };
    });
    const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(2);
    console.log(
      [
        set.padEnd(14),
        JSON.stringify(tfidf),
        `${kept.length} rows, ${dataset.features.columns} features, ${dataset.features.columnIndex.length} entries`,
        `left out ${model.summary.leftOut?.logLoss?.toFixed(4)}`,
        `${onTest ? "test" : "held out"}: P@1 ${figures.precision.toFixed(2)}, log loss ${figures.logLoss.toFixed(4)}`,
        `${megabytes(modelToBytes(model).byteLength)} MB, compact ${megabytes((await compactModel(model)).byteLength)}`,
      ].join("; "),
    );
  }
}
