// npm run bench -- SUITE [--json] [--rounds N] [--only WORD] [--minutes N]: measures, never asserts.

import { accuracy } from "./accuracy.ts";
import { askBench } from "./ask.ts";
import { closedBench } from "./closed.ts";
import { coreBench } from "./core.ts";
import { edgeBench } from "./edge.ts";
import { gpuBench } from "./gpu.ts";
import type { BenchOptions } from "./harness.ts";
import { honestBench } from "./honest.ts";
import { killsBench } from "./kills.ts";
import { learningLoadBench } from "./learningload.ts";
import { serveBench } from "./serve.ts";
import { shardsBench } from "./shards.ts";
import { stepBench } from "./step.ts";
import { attackBench } from "./trust/attack.ts";
import { trustBench } from "./trust/long.ts";
import { yearBench } from "./year.ts";

const suites: Record<string, (options: BenchOptions) => Promise<void>> = {
  accuracy,
  core: coreBench,
  "closed-form": closedBench,
  step: stepBench,
  edge: edgeBench,
  gpu: gpuBench,
  honest: honestBench,
  serve: serveBench,
  shards: shardsBench,
  attack: attackBench,
  trust: trustBench,
  kills: killsBench,
  year: yearBench,
  ask: askBench,
  "learning-load": learningLoadBench,
};

const args = process.argv.slice(2);
const value = (flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
const suite = suites[args[0] ?? ""];
if (suite === undefined) {
  console.error(`npm run bench -- ${Object.keys(suites).join("|")} [--json] [--rounds N] [--only WORD]`);
  process.exit(2);
}
const only = value("--only");
const minutes = value("--minutes");
await suite({
  ...(minutes === undefined ? {} : { minutes: Number(minutes) }),
  json: args.includes("--json"),
  rounds: Number(value("--rounds") ?? 11),
  ...(only === undefined ? {} : { only }),
});
process.exit(0);
