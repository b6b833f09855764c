// Texts of ../shared that come in one after another, and what models make of them.

import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { hashText } from "../src/base/hash.ts";
import { withPredictor } from "../src/cli/models.ts";
import type { Dataset } from "../src/data/dataset.ts";
import type { DataRow, ReadOptions } from "../src/data/options.ts";
import { readDataset } from "../src/data/reader.ts";
import type { Model } from "../src/model/model.ts";
import { evaluatePredictor } from "../src/predict/evaluate.ts";
import { readingFor } from "../src/predict/reading.ts";

const FOLDER = "../shared/data/eurlex-text";

/** The rows of a part, or undefined where the data are not there; by a hash of their ids, or as the file has them. */
export async function readRows(part: "train" | "dev", seed?: number): Promise<DataRow[] | undefined> {
  const file = `${FOLDER}/${part}.jsonl.gz`;
  if (!existsSync(file)) {
    console.log(`skipped: ${file} is not here`);
    return undefined;
  }
  const rows: DataRow[] = [];
  for await (const line of createInterface({ input: createReadStream(file).pipe(createGunzip()) }))
    rows.push(JSON.parse(line));
  if (seed === undefined) return rows;
  const key = ({ id }: DataRow): number => hashText(String(id), seed);
  return rows.sort((a, b) => key(a) - key(b));
}

/** A data set of rows, as a model reads them where there is one. */
export const dataFor = async (rows: readonly DataRow[], model?: Model, options: ReadOptions = {}): Promise<Dataset> =>
  (await readDataset([...rows], model ? readingFor(model.schema) : options)).dataset;

/** What an earlier run has written, a line for each thing that it measured. */
export const readLines = <Line>(file: string): Line[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** P@1 and F1@5 in percent. */
export interface TextFigures {
  precision: number;
  f1: number;
}

export async function figuresOf(model: Model, rows: readonly DataRow[]): Promise<TextFigures> {
  const data = await dataFor(rows, model);
  return await withPredictor(model, undefined, async (predictor) => {
    const { metrics } = (await evaluatePredictor(predictor, data)).ranking;
    return { precision: metrics["P@1"], f1: metrics["F1@5"] };
  });
}

export const shown = (figures: TextFigures | undefined): string =>
  figures ? `${figures.precision.toFixed(1)} / ${figures.f1.toFixed(1)}` : "";
