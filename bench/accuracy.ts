// How well it ranks: the defaults and the best settings found, mean and spread over seeds.

import type { TrainOptions } from "../src/parts/options.ts";
import { type Figures, precisionText, readSplit, trainAndMeasure } from "./figures.ts";
import type { BenchOptions } from "./harness.ts";

const SEEDS = [0, 1, 2];

/** Options that rank better than the defaults, found by trying. */
const best: Record<string, TrainOptions> = {
  bibtex: { factors: 150, learningRate: 0.02, epochs: 80 },
  delicious: {},
  "eurlex-half": { factors: 500, epochs: 30, klWeight: 0.4 },
  "rcv1-subset": {},
};

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const spread = (values: number[]): number =>
  Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)) * (values.length / (values.length - 1)));

export async function accuracy(options: BenchOptions): Promise<void> {
  for (const [name, settings] of Object.entries(best)) {
    const split = await readSplit(name);
    if (split === undefined) continue;
    const kinds = [["defaults", {}] as const, ...(Object.keys(settings).length ? [["best", settings] as const] : [])];
    for (const [kind, chosen] of kinds) {
      const title = `${name}, ${kind}`;
      if (options.only && !title.includes(options.only)) continue;
      const runs: Figures[] = [];
      for (const seed of SEEDS) runs.push(await trainAndMeasure(split, { ...chosen, seed }));
      const over = (k: 0 | 1 | 2): number[] => runs.map(({ precision }) => precision[k]);
      const row = {
        data: name,
        settings: chosen,
        precision: ([0, 1, 2] as const).map((k) => mean(over(k))),
        spread: ([0, 1, 2] as const).map((k) => spread(over(k))),
        calibration: mean(runs.map(({ calibration }) => calibration)),
        seconds: mean(runs.map(({ seconds }) => seconds)),
      };
      console.log(
        options.json
          ? JSON.stringify(row)
          : `${title.padEnd(24)} ${precisionText(row.precision)} ± ${precisionText(row.spread)}  ece ${row.calibration.toFixed(5)}  ${row.seconds.toFixed(1)} s  ${JSON.stringify(chosen)}`,
      );
    }
  }
}
