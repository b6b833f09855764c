// npm run bench -- SUITE [FILE] [--json] [--rounds N] [--only WORD] [--minutes N] [--train FILE] [--texts N]: measures, never asserts.

import { parseArgs } from "node:util";

import { accuracy } from "./accuracy.ts";
import { askBench } from "./ask.ts";
import { auditBench } from "./audit.ts";
import { closedBench } from "./closed.ts";
import { coreBench } from "./core.ts";
import { datasetsBench } from "./datasets.ts";
import { edgeBench } from "./edge.ts";
import { eurlex57kBench } from "./eurlex57k.ts";
import { formsBench } from "./forms.ts";
import { gpuBench } from "./gpu.ts";
import type { BenchOptions } from "./harness.ts";
import { honestBench } from "./honest.ts";
import { killsBench } from "./kills.ts";
import { learnBench } from "./learn.ts";
import { learningLoadBench } from "./learningload.ts";
import { phasesBench } from "./phases.ts";
import { promisesBench } from "./promises.ts";
import { serveBench } from "./serve.ts";
import { shardsBench } from "./shards.ts";
import { stepBench } from "./step.ts";
import { attackBench } from "./trust/attack.ts";
import { trustBench } from "./trust/long.ts";
import { yearBench } from "./year.ts";

const suites: Record<string, (options: BenchOptions) => Promise<void>> = {
  accuracy,
  audit: auditBench,
  core: coreBench,
  datasets: datasetsBench,
  "closed-form": closedBench,
  step: stepBench,
  edge: edgeBench,
  gpu: gpuBench,
  eurlex57k: eurlex57kBench,
  forms: formsBench,
  honest: honestBench,
  phases: phasesBench,
  promises: promisesBench,
  serve: serveBench,
  shards: shardsBench,
  attack: attackBench,
  trust: trustBench,
  kills: killsBench,
  year: yearBench,
  ask: askBench,
  learn: learnBench,
  "learning-load": learningLoadBench,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "11" },
    only: { type: "string" },
    minutes: { type: "string" },
    train: { type: "string" },
    texts: { type: "string" },
  },
});
const [name = "", ...files] = positionals;
const suite = suites[name];
if (suite === undefined) {
  console.error(`npm run bench -- ${Object.keys(suites).join("|")} [--json] [--rounds N] [--only WORD]`);
  process.exit(2);
}
const { rounds, minutes, texts, ...others } = values;
await suite({
  ...others,
  files,
  rounds: Number(rounds),
  ...(minutes !== undefined && { minutes: Number(minutes) }),
  ...(texts !== undefined && { texts: Number(texts) }),
});
process.exit(0);
