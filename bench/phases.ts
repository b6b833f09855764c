// Where a training's time goes: seconds of the processor by the stage that was last told, of the thread that calls and of all
// threads, on one thread and on two. Other work on the machine counts little in them. Linux alone counts threads apart.

import { readFileSync } from "node:fs";
import { readDataset } from "../src/io/dataset.ts";
import { train } from "../src/train/train.ts";
import type { BenchOptions } from "./harness.ts";

interface Spent {
  calling: number;
  all: number;
}

/** Ticks of Linux's clock a second. */
const TICKS = 100;

function spent(): Spent {
  const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number);
  const { user: allUser, system: allSystem } = process.cpuUsage();
  return { calling: (user + system) / TICKS, all: (allUser + allSystem) / 1e6 };
}

/** Seconds of each stage of one training. */
async function phasesOf(file: string, threads: number): Promise<Map<string, Spent>> {
  const phases = new Map<string, Spent>();
  let stage = "reading";
  let before = spent();
  const enter = (next: string): void => {
    const now = spent();
    const { calling, all } = phases.get(stage) ?? { calling: 0, all: 0 };
    phases.set(stage, { calling: calling + now.calling - before.calling, all: all + now.all - before.all });
    [stage, before] = [next, now];
  };
  const data = await readDataset(file);
  enter("preparing");
  await train(data, {
    threads,
    onProgress: (progress) => {
      if (progress.stage !== "note") enter(progress.stage);
    },
  });
  enter("");
  return phases;
}

export async function phasesBench({ files }: BenchOptions): Promise<void> {
  for (const file of files) {
    const [one, two] = [await phasesOf(file, 1), await phasesOf(file, 2)];
    console.log(
      `\n${file}\n\n| stage | one thread | two threads, the calling one | two threads, both |\n|---|---|---|---|`,
    );
    const row = (name: string, alone: number, { calling, all }: Spent): void =>
      console.log(`| ${name} | ${[alone, calling, all].map((seconds) => seconds.toFixed(1)).join(" | ")} |`);
    const total: Spent = { calling: 0, all: 0 };
    for (const [name, both] of two) {
      row(name, one.get(name)?.all ?? 0, both);
      total.calling += both.calling;
      total.all += both.all;
    }
    const alone = [...one.values()].reduce((sum, { all }) => sum + all, 0);
    row("all", alone, total);
    console.log(`\nAt best ${(alone / total.calling).toFixed(2)} times as fast on two threads.`);
  }
}
