// Training on a data set of ../shared and measuring on its test part.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { withPredictor } from "../src/cli/models.ts";
import { type Dataset, readDataset } from "../src/data/index.ts";
import { openInput } from "../src/io/files.ts";
import type { TrainOptions } from "../src/parts/options.ts";
import { evaluatePredictor } from "../src/predict/evaluate.ts";
import { train } from "../src/train/train.ts";

export interface Split {
  train: Dataset;
  test: Dataset;
}

export interface Figures {
  /** P@1, P@3, P@5 in percent. */
  precision: [number, number, number];
  /** Expected calibration error of the best five labels of each point. */
  calibration: number;
  /** Of training, the data being read already. */
  seconds: number;
  bound: number;
  epochs: number;
}

/** Both parts of a data set, or undefined where it is not there. */
export async function readSplit(name: string): Promise<Split | undefined> {
  const folder = `../shared/data/${name}`;
  if (!existsSync(folder)) {
    console.log(`skipped: ${folder} is not here`);
    return undefined;
  }
  return await readFolder(folder);
}

/** A folder with a file `train` and a file `test`, whatever their endings are. */
export async function readFolder(folder: string): Promise<Split> {
  const names = readdirSync(folder).sort();
  const read = async (part: string): Promise<Dataset> => {
    const name = names.find((each) => each.startsWith(`${part}.`));
    if (name === undefined)
      throw new Error(`${folder}: found ${names.join(", ") || "no file"}, expected ${part}.txt or ${part}.txt.gz`);
    return (await readDataset((await openInput(join(folder, name))).stream, { file: name })).dataset;
  };
  return { train: await read("train"), test: await read("test") };
}

export async function trainAndMeasure(split: Split, options: TrainOptions): Promise<Figures> {
  const begin = performance.now();
  const model = await train(split.train, { calibration: false, ...options, model: "svgp" });
  const seconds = (performance.now() - begin) / 1000;
  const { dataTerm = 0, divergence = 0, epochs = 0 } = model.summary;
  return await withPredictor(model, undefined, async (predictor) => {
    const { ranking, calibration } = await evaluatePredictor(predictor, split.test, { calibration: true });
    const at = (k: number): number => ranking.metrics[`P@${k}`];
    return {
      precision: [at(1), at(3), at(5)],
      calibration: calibration?.top5.ece as number,
      seconds,
      bound: dataTerm - divergence,
      epochs,
    };
  });
}

/** Three figures in the way of the tables: 59.31 / 36.73 / 27.40 */
export const precisionText = (values: readonly number[]): string => values.map((value) => value.toFixed(2)).join(" / ");

/** Rows of cells as a Markdown table. */
export const markdown = (rows: string[][]): string => {
  const [head, ...body] = rows as [string[], ...string[][]];
  return [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
};
