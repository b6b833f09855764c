// npm run bench -- promises [--rounds N] [--only bibtex]: are guarantees kept? Random splits of bibtex and delicious with small models
// (200 unless said), and one training with the defaults on every other set: share of the splits in which the promised precision held,
// mean recall beside its target, mean size of the label sets, beside the plain threshold for that precision and beside the top five.

import { existsSync } from "node:fs";
import { chosenThreshold, type Thresholds } from "../src/base/prediction.ts";
import type { LabelSets } from "../src/base/sparse.ts";
import { withPredictor } from "../src/cli/models.ts";
import { selectRows } from "../src/data/dataset.ts";
import { type Dataset, readDataset } from "../src/index.ts";
import type { TrainOptions } from "../src/parts/options.ts";
import { readingLike } from "../src/parts/schema.ts";
import { readingFor } from "../src/predict/reading.ts";
import { train } from "../src/train/train.ts";
import { markdown } from "./figures.ts";
import type { BenchOptions } from "./harness.ts";

const DATA = "../shared/data";
const SPLITS = 200;
/** Rows to train on and to measure on, in each split. */
const [TRAINED, MEASURED] = [1000, 3000];
const SPLIT_SETS = ["bibtex", "delicious"];
const SINGLE_SETS: Record<string, readonly [train: string, test: string]> = {
  bibtex: ["train.txt.gz", "test.txt.gz"],
  delicious: ["train.txt.gz", "test.txt.gz"],
  "eurlex-half": ["train.txt.gz", "test.txt.gz"],
  "rcv1-subset": ["train.txt.gz", "test.txt.gz"],
  debtags: ["train.jsonl.gz", "test.jsonl.gz"],
  library: ["en-train.jsonl.gz", "en-dev.jsonl.gz"],
};

/** Ways to keep labels: promises, then what they are beside. */
const ASKED = [
  { name: "recall 0.8", recall: 0.8 },
  { name: "recall 0.9", recall: 0.9 },
  { name: "precision 0.8, confidence 0.95", precision: 0.8, confidence: 0.95 },
  { name: "precision 0.9, confidence 0.95", precision: 0.9, confidence: 0.95 },
  { name: "precision 0.8, confidence 0.8", precision: 0.8, confidence: 0.8 },
  { name: "top 5", topK: 5 },
] as const;

interface Kept {
  readonly precision: number;
  readonly recall: number;
  /** Labels a row. */
  readonly size: number;
}

/** Figures of what a way keeps; undefined where the model refuses it. */
type Outcome = Record<string, Kept | undefined>;

/** mulberry32 */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled(count: number, seed: number): number[] {
  const next = generator(seed);
  const rows = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [rows[i], rows[j]] = [rows[j], rows[i]];
  }
  return rows;
}

/** Trains, and measures every way on rows that the model has not seen. */
async function outcomeOf(
  training: Dataset,
  test: Dataset,
  options: TrainOptions,
): Promise<{ outcome: Outcome; own: Thresholds }> {
  const model = await train(training, { ...options, threads: 1 });
  const own = model.thresholds as Thresholds;
  const cuts = ASKED.map((asked) => {
    if ("topK" in asked) return undefined;
    const { name: _, ...choice } = asked;
    try {
      return chosenThreshold(choice, own) as number;
    } catch {
      return Number.NaN;
    }
  });
  const meters = ASKED.map(() => ({ kept: 0, right: 0, recalls: 0, labelled: 0 }));
  const { rows } = test.features;
  await withPredictor(model, 1, async (predictor) => {
    for await (const { firstRow, rows: count, probability = [] } of predictor.score(test.features, {
      probability: true,
    }))
      for (let i = 0; i < count; i++) count1(probability, i, firstRow + i, predictor.schema.labels, test.labels);
  });
  function count1(probability: ArrayLike<number>, i: number, row: number, labels: number, truth: LabelSets): void {
    const own = new Set(truth.labelIndex.subarray(truth.rowStart[row], truth.rowStart[row + 1]));
    const all = Array.from({ length: labels }, (_, k) => probability[i * labels + k]);
    const fifth = [...all].sort((a, b) => b - a)[Math.min(4, labels - 1)];
    meters.forEach((meter, m) => {
      const cut = cuts[m] ?? fifth;
      let [kept, right] = [0, 0];
      all.forEach((p, k) => {
        if (!(p >= cut)) return;
        kept++;
        if (own.has(k)) right++;
      });
      meter.kept += kept;
      meter.right += right;
      if (own.size > 0) {
        meter.labelled++;
        meter.recalls += right / own.size;
      }
    });
  }
  const figures = meters.map(
    ({ kept, right, recalls, labelled }): Kept => ({
      precision: kept > 0 ? right / kept : 1,
      recall: recalls / labelled,
      size: kept / rows,
    }),
  );
  return {
    outcome: Object.fromEntries(ASKED.map(({ name }, m) => [name, Number.isNaN(cuts[m]) ? undefined : figures[m]])),
    own,
  };
}

const percent = (value: number): string => (100 * value).toFixed(1);

/** A row of the table for each way, over all splits. */
function summary(data: string, outcomes: readonly Outcome[]): string[][] {
  return ASKED.map((asked) => {
    const { name } = asked;
    const found = outcomes.flatMap((outcome) => outcome[name] ?? []);
    if (found.length === 0) return [data, name, "refused", "", "", "", ""];
    const mean = (of: (kept: Kept) => number): number => found.reduce((sum, kept) => sum + of(kept), 0) / found.length;
    const target = "precision" in asked ? asked.precision : undefined;
    const held = target === undefined ? "" : percent(mean(({ precision }) => Number(precision >= target)));
    const refused = outcomes.length - found.length;
    return [
      data,
      name,
      held,
      percent(mean(({ precision }) => precision)),
      percent(mean(({ recall }) => recall)),
      mean(({ size }) => size).toFixed(2),
      refused > 0 ? `${refused} of ${outcomes.length}` : "",
    ];
  });
}

export async function promisesBench({ json, only = "", rounds }: BenchOptions): Promise<void> {
  if (!existsSync(DATA)) throw new Error(`${DATA}: found no such folder, expected data sets of the XC repository`);
  const table = [["data", "keeps", "held, % of splits", "precision", "recall", "labels a row", "refused"]];
  const add = (data: string, outcomes: readonly Outcome[]): void => {
    for (const cells of summary(data, outcomes)) {
      table.push(cells);
      console.error(cells.join(" | "));
    }
  };
  const splits = rounds === 11 ? SPLITS : rounds;
  for (const name of SPLIT_SETS.filter((each) => `${each}-splits`.includes(only))) {
    const { dataset } = await readDataset(`${DATA}/${name}/train.txt.gz`);
    const outcomes: Outcome[] = [];
    for (let split = 0; split < splits; split++) {
      const order = shuffled(dataset.features.rows, split + 1);
      const training = selectRows(dataset, order.slice(0, TRAINED));
      const test = selectRows(dataset, order.slice(TRAINED, TRAINED + MEASURED));
      const { outcome } = await outcomeOf(training, test, { model: "gpr", seed: split });
      if (json) console.log(JSON.stringify({ data: name, split, outcome }));
      outcomes.push(outcome);
    }
    add(`${name}, ${splits} splits of ${TRAINED} rows`, outcomes);
  }
  for (const [name, files] of Object.entries(SINGLE_SETS).filter(([each]) => each.includes(only))) {
    const [training, testing] = files.map((file) => `${DATA}/${name}/${file}`);
    const { dataset } = await readDataset(training);
    const { dataset: test } = await readDataset(testing, readingFor(readingLike(dataset)));
    const { outcome, own } = await outcomeOf(dataset, test, {});
    add(`${name}, ${own.guarantees.evidence}`, [outcome]);
  }
  console.log(markdown(table));
}
