// `npm test`: builds, checks, runs the tests in every runtime, and says at the end what ran where.
// Arguments pick some of the steps by name: npm test -- node deno

import { readFileSync, rmSync } from "node:fs";
import { ensureChromium } from "./chromium.ts";
import { engines, ensureProgram } from "./debian.ts";
import { newestNode } from "./newest-node.ts";
import { type Job, run } from "./run.ts";
import { vulkanEnvironment } from "./vulkan.ts";

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface Step {
  name: string;
  /** What a person reads. */
  title: string;
  job: Job;
  /** How many tests ran, read from what the step printed or wrote. Steps without it are checks: they count as one. */
  count?: (output: string) => Counts;
}

const bin = (name: string): string => `node_modules/.bin/${name}`;
const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);

/** The tests of a project of vitest.config.ts: all, or those of some files, under this Node or another. */
function vitest(
  name: string,
  title: string,
  { project = name, files = [] as string[], node = process.execPath } = {},
): Step {
  const report = `node_modules/.cache/mlgpf/${name}.json`;
  rmSync(report, { force: true });
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${report}`];
  return {
    name,
    title,
    job: {
      name,
      command: node,
      args: ["node_modules/vitest/vitest.mjs", "run", "--project", project, ...reporters, ...files],
    },
    count: () => {
      const result = JSON.parse(readFileSync(report, "utf8"));
      return {
        passed: result.numPassedTests,
        failed:
          result.numFailedTests + (result.numFailedTestSuites > 0 && result.numFailedTests === 0 ? 1 : 0),
        skipped: result.numPendingTests + result.numTodoTests,
      };
    },
  };
}

/** The tests that compare what kernels and a training compute with a recorded digest. */
const digests = ["test/core/digest.test.ts", "test/train/digest.test.ts"];

/** What Deno would only repeat: these start other programs, or read files. */
const notForDeno = [
  "test/site/browser",
  "test/package",
  "test/engines",
  "test/runtimes",
  "test/docs",
  "test/house",
  "test/report/report.files.test.ts",
];

const build: Step = {
  name: "build",
  title: "build of WASM and dist/",
  job: { name: "build", command: process.execPath, args: ["scripts/ts.mjs", "scripts/build.ts"] },
};
const checks: Step[] = [
  { name: "types", title: "type check", job: { name: "types", command: bin("tsc"), args: ["-p", "."] } },
  {
    name: "lint",
    title: "lint and format",
    job: { name: "lint", command: process.execPath, args: ["scripts/ts.mjs", "scripts/lint.ts"] },
  },
  {
    name: "docs",
    title: "API reference is up to date",
    job: { name: "docs", command: process.execPath, args: ["scripts/ts.mjs", "scripts/docs.ts", "--check"] },
  },
];

/**
 * Stages are run one after another, the lanes of a stage side by side, the steps of a lane one after another: Chromium and
 * Deno each keep one core busy most of the time.
 */
const stages: Step[][][] = [
  [[build]],
  checks.map((check) => [check]),
  [[vitest("node", `tests in Node ${process.versions.node}`)]],
  [
    [vitest("chromium", "tests in headless Chromium"), vitest("page", "tests of the page")],
    [
      {
        name: "deno",
        title: "tests in Deno",
        job: {
          name: "deno",
          command: bin("deno"),
          args: ["test", "--no-check", "--allow-all", `--ignore=${notForDeno.join()}`, "test"],
          env: { NO_COLOR: "1", ...vulkanEnvironment() },
        },
        count: (output) => ({
          passed: number(output, /(\d+) passed/),
          failed: number(output, /(\d+) failed/),
          skipped: number(output, /(\d+) ignored/),
        }),
      },
      vitest("newest", "tests in the newest Node LTS (digests)", {
        project: "node",
        // Relaxed SIMD, which Node 20 does not have, too.
        files: [...digests, "test/edge/same.test.ts", "test/core/gemm.test.ts"],
        node: newestNode,
      }),
      {
        name: "bun",
        title: "tests in Bun (digests, server)",
        job: {
          name: "bun",
          command: bin("bun"),
          args: [
            "test",
            "--timeout",
            "120000",
            "test/core/digest.test.ts",
            "test/train/digest.test.ts",
            ...["handler", "queue", "node.files", "fuzz.files"].map((name) => `test/serve/${name}.test.ts`),
          ],
        },
        count: (output) => ({
          passed: number(output, /(\d+) pass\b/),
          failed: number(output, /(\d+) fail\b/),
          skipped: number(output, /(\d+) skip\b/),
        }),
      },
      vitest("mpi", "tests of trainings by ranks of MPI"),
      vitest("slurm", "tests of the example for Slurm"),
    ],
  ],
];

const chosen = process.argv.slice(2);
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const table: string[] = [];
const needsChromium = chosen.length === 0 || chosen.some((name) => name === "chromium" || name === "page");
const chromium = needsChromium ? ensureChromium() : "";
if (chosen.length === 0 || chosen.some((name) => name === "slurm" || name === "mpi"))
  for (const program of engines) ensureProgram(program);

/** Runs a step and says how it went. */
async function take(step: Step): Promise<void> {
  const begin = performance.now();
  const { status, output } = await run({ ...step.job, env: { ...step.job.env, CHROMIUM_PATH: chromium } });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const counts = countOf(step, status, output);
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  const line = `${step.title.padEnd(38)} ${String(counts.passed).padStart(5)} passed, ${counts.failed} failed${skipped} (${seconds} s)`;
  table.push(line);
  console.log(line);
  if (counts.failed > 0) console.log(output);
}

for (const stage of stages) {
  await Promise.all(
    stage.map(async (lane) => {
      for (const step of lane) if (chosen.length === 0 || chosen.includes(step.name)) await take(step);
    }),
  );
  // Nothing runs without a build.
  if (stage === stages[0] && total.failed > 0) break;
}

/** A step that failed counts at least one failure, and one that ran no test has failed. */
function countOf(step: Step, status: number, output: string): Counts {
  if (step.count === undefined)
    return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  let counts: Counts;
  try {
    counts = step.count(output);
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  if ((status !== 0 || counts.passed === 0) && counts.failed === 0) counts.failed = 1;
  return counts;
}

console.log(`\n${table.join("\n")}\n`);
console.log(
  `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`,
);
process.exit(total.failed > 0 ? 1 : 0);
