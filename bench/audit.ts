// npm run bench -- audit [--only bibtex]: labels spoiled on purpose, and who finds them. One given label in fifty is spoiled: taken away,
// or every other time moved to another label, drawn as often as labels are given. Precision and recall of as many suspects as there are spoiled
// pairs of a row and a label, and average precision: `audit`, one-vs-rest with cross-validation ranked by self-confidence (what cleanlab
// does), and a list in random order.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LabelSets } from "../src/base/sparse.ts";
import { selectRows } from "../src/data/dataset.ts";
import { type Dataset, readDataset } from "../src/index.ts";
import { Auditor } from "../src/train/audit.ts";
import { train } from "../src/train/train.ts";
import { markdown } from "./figures.ts";
import type { BenchOptions } from "./harness.ts";
import { writeRows } from "./honest.ts";
import { generator, shuffled } from "./promises.ts";

const DATA = "../shared/data";
const SETS: Record<string, string> = {
  bibtex: "train.txt.gz",
  delicious: "train.txt.gz",
  "rcv1-subset": "train.txt.gz",
  debtags: "train.jsonl.gz",
};
/** Rows of each set, so that all have leave-one-out probabilities. */
const ROWS = 3000;
const RATE = 1 / 50;

/** The labels with some spoiled, and the pairs that are now wrong. */
export function spoiled(
  { rows, labels, rowStart, labelIndex }: LabelSets,
  seed: number,
): { sets: LabelSets; wrong: Set<string> } {
  const next = generator(seed);
  const wrong = new Set<string>();
  const starts = new Int32Array(rows + 1);
  const all: number[] = [];
  for (let row = 0; row < rows; row++) {
    const given = labelIndex.subarray(rowStart[row], rowStart[row + 1]);
    const own = new Set(given);
    for (const label of given) {
      if (next() >= RATE) continue;
      own.delete(label);
      wrong.add(`${row} ${label}`);
      if (next() < 0.5) continue;
      const other = labelIndex[Math.floor(next() * labelIndex.length)];
      if (own.has(other) || given.includes(other)) continue;
      own.add(other);
      wrong.add(`${row} ${other}`);
    }
    all.push(...[...own].sort((a, b) => a - b));
    starts[row + 1] = all.length;
  }
  return { sets: { rows, labels, rowStart: starts, labelIndex: Int32Array.from(all) }, wrong };
}

/** Precision (and recall, for the list is as long as there are mistakes) and average precision of a list, in percent. */
function figuresOf(list: readonly string[], wrong: ReadonlySet<string>): number[] {
  let [found, sum] = [0, 0];
  list.forEach((pair, i) => {
    if (!wrong.has(pair)) return;
    found++;
    sum += found / (i + 1);
  });
  const at = (count: number): number => (100 * list.slice(0, count).filter((pair) => wrong.has(pair)).length) / count;
  return [at(100), at(wrong.size), (100 * sum) / wrong.size];
}

/** As python has them; nothing where scikit-learn is not there. */
function oneVsRest(data: Dataset): string[] | undefined {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-audit-"));
  try {
    const [rows, out] = ["rows.txt", "out.txt"].map((name) => join(folder, name));
    writeRows(rows, data, data);
    const { status, stderr } = spawnSync(process.env.PYTHON ?? "/usr/bin/python3", ["bench/audit.py", rows, out], {
      encoding: "utf8",
    });
    if (status === 0)
      return readFileSync(out, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => line.split(" ", 2).join(" "));
    console.error(`not compared: ${stderr.trim().split("\n").at(-1)}`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function auditBench({ json, only = "" }: BenchOptions): Promise<void> {
  const table = [
    [
      "data",
      "rows",
      "spoiled pairs",
      "who",
      "precision of the first 100",
      "of as many as spoiled",
      "average precision",
    ],
  ];
  for (const [name, file] of Object.entries(SETS).filter(([each]) => each.includes(only))) {
    const { dataset } = await readDataset(`${DATA}/${name}/${file}`);
    const clean = selectRows(dataset, shuffled(dataset.features.rows, 1).slice(0, ROWS));
    const { sets, wrong } = spoiled(clean.labels, 1);
    const data = { ...clean, labels: sets };
    const auditor = new Auditor();
    await train(data, { model: "gpr", onLeftOut: (rows) => auditor.take(rows) });
    const { labelNames } = data;
    const numbers = new Map(labelNames?.map((label, i) => [label, i]));
    const ours = auditor.suspects(1e6).map(({ row, label }) => `${row} ${numbers.get(label) ?? label}`);
    const lists: Record<string, readonly string[] | undefined> = {
      mlgpf: ours,
      "one-vs-rest, cross-validated": oneVsRest(data),
    };
    const share = (100 * wrong.size) / (sets.rows * sets.labels);
    for (const [who, list] of Object.entries(lists)) {
      if (list === undefined) continue;
      const figures = figuresOf(list, wrong);
      if (json) console.log(JSON.stringify({ name, who, figures, spoiled: wrong.size }));
      const cells = [name, String(sets.rows), String(wrong.size), who, ...figures.map((figure) => figure.toFixed(1))];
      console.error(cells.join(" | "));
      table.push(cells);
    }
    table.push([name, String(sets.rows), String(wrong.size), "random", ...Array(3).fill(share.toFixed(2))]);
  }
  console.log(markdown(table));
}
