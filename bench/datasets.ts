// npm run bench -- datasets: reads the data sets of ../shared and says what is in them and how long reading took.

import { existsSync, readdirSync } from "node:fs";
import { rowsWithLabels } from "../src/base/sparse.ts";
import { readDataset } from "../src/data/index.ts";
import { openInput } from "../src/io/files.ts";
import type { BenchOptions } from "./harness.ts";

const DATA = "../shared/data";

export async function datasetsBench({ only = "" }: BenchOptions): Promise<void> {
  if (!existsSync(DATA)) throw new Error(`${DATA}: found no such folder, expected data sets of the XC repository`);
  const files = readdirSync(DATA, { recursive: true, encoding: "utf8" })
    .filter((name) => /(train|test)\.txt(\.gz)?$/.test(name) && name.includes(only))
    .sort();
  for (const name of files) {
    const begin = performance.now();
    const { dataset, format } = await readDataset((await openInput(`${DATA}/${name}`)).stream, {
      file: name,
    });
    const { features, labels } = dataset;
    const without = features.rows - rowsWithLabels(labels).length;
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(
      `${name}: ${format}, ${features.rows} rows (${without} without labels), ${features.columns} features, ${labels.labels} labels, ${seconds} s`,
    );
  }
}
