// `npm test`: build, types, lint, the tests in Node that are short and need nothing but npm, the digests in Deno and Bun.
// `npm run test:all`: everything in every runtime; `-- --install` installs what it needs first.
// Names pick some of the steps: npm test -- node, npm run test:all -- deno firefox

import { readFileSync, rmSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { browserPrograms } from "./browsers.ts";
import {
  ensure,
  lavapipe,
  lavapipePath,
  mpich,
  newestNode,
  newestNodePath,
  numpy,
  openMpi,
  slurm,
  type Wanted,
} from "./machine.ts";
import { bin, type Job, run } from "./run.ts";

interface Counts {
  passed: number;
  failed: number;
}

interface Step {
  name: string;
  /** Its name for people. */
  title: string;
  job: Job;
  /** Programs that npm does not bring. */
  needs?: Wanted[];
  /** How many tests ran, read from what the step printed or wrote. Steps without it are checks: they count as one. */
  count?: (output: string) => Counts;
}

const { chromium, firefox, webkit } = browserPrograms;
const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);

interface VitestOptions {
  project?: string;
  /** Those alone, of all that the project has. */
  files?: string[];
  /** The runtime of vitest: this Node, another, or Deno. */
  runtime?: string[];
  args?: string[];
  env?: Record<string, string>;
  needs?: Wanted[];
}

/** The tests of a project of vitest.config.ts. */
function vitest(
  name: string,
  title: string,
  { project = name, files = [], runtime = [process.execPath], args = [], env, needs }: VitestOptions = {},
): Step {
  const report = `node_modules/.cache/mlgpf/${name}.json`;
  rmSync(report, { force: true });
  const [command, ...before] = runtime as [string, ...string[]];
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${report}`];
  const all = ["node_modules/vitest/vitest.mjs", "run", "--project", project, ...reporters, ...args, ...files];
  return {
    name,
    title,
    needs,
    job: { name, command, args: [...before, ...all], env: { NO_COLOR: "1", ...env } },
    count: () => countOfReport(report, args.includes(SHORT)),
  };
}

const SHORT = "--tags-filter=!long";

interface Report {
  numFailedTestSuites: number;
  testResults: { assertionResults: { status: string; tags?: string[] }[] }[];
}

/** A test that was skipped has failed, unless it was left to the long ones. */
function countOfReport(path: string, short: boolean): Counts {
  const report: Report = JSON.parse(readFileSync(path, "utf8"));
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === "passed").length;
  const left = short ? tests.filter(({ status, tags }) => status === "skipped" && tags?.includes("long")).length : 0;
  const failed = tests.length - passed - left;
  return { passed, failed: failed === 0 && report.numFailedTestSuites > 0 ? 1 : failed };
}

/** The tests that compare what kernels and a training compute with a recorded digest. */
const digests = ["test/core/digest.test.ts", "test/train/digest.test.ts"];
/** Tests of files and commands are written for Linux; those of the library run everywhere. */
const onlyLibrary = process.platform === "linux" ? [] : ["--exclude=test/**/*.files.test.ts"];
const deno = [bin("deno"), "run", "--allow-all"];

/** Bun's own runner. */
const bun = (title: string, files: string[]): Step => ({
  name: "bun",
  title,
  job: { name: "bun", command: bin("bun"), args: ["test", "--timeout", "120000", ...files] },
  count: (output) => ({
    passed: number(output, /(\d+) pass\b/),
    failed: number(output, /(\d+) fail\b/) + number(output, /(\d+) skip\b/),
  }),
});

const script = (name: string, title: string, ...args: string[]): Step => ({
  name,
  title,
  job: { name, command: process.execPath, args: ["scripts/ts.mjs", `scripts/${name}.ts`, ...args] },
});
const build = script("build", "build of WASM and dist/");
const types: Step = {
  name: "types",
  title: "type check",
  job: { name: "types", command: bin("tsc"), args: ["-p", "."] },
};
const lint = script("lint", "lint and format");
const sizes: Step = {
  name: "sizes",
  title: "size limits (size-limit)",
  job: { name: "sizes", command: process.execPath, args: ["node_modules/size-limit/bin.js"] },
};

/**
 * Stages are run one after another, the lanes of a stage side by side, the steps of a lane one after another.
 */
type Stages = Step[][][];

const shortStages = (): Stages => [
  [[build]],
  [[types], [lint]],
  [
    [
      vitest("node", `tests in Node ${process.versions.node}`, {
        // One process for many files: a third less time. The long run isolates them.
        args: [SHORT, "--no-isolate", ...onlyLibrary],
        env: { MLGPF_GPU: "none", MLGPF_FUZZ: "600" },
      }),
    ],
  ],
  [
    [vitest("deno", "tests in Deno (digests)", { files: digests, runtime: deno })],
    [bun("tests in Bun (digests)", digests)],
  ],
];

/** The shaders on another software GPU than Chromium's: through Dawn in Node, through Naga in Deno. */
function onLavapipe(name: string, title: string, runtime?: string[]): Step {
  const files = ["dense", "factor", "likelihood", "sparse", "webgpu"].map((each) => `test/backend/${each}.test.ts`);
  const env = { VK_ICD_FILENAMES: lavapipePath() ?? "", MLGPF_GPU: "llvmpipe" };
  return vitest(name, title, {
    project: "node",
    files,
    env,
    needs: [lavapipe, chromium],
    ...(runtime && { runtime }),
  });
}

/** Chromium and Deno each keep one core busy most of the time. */
const allStages = (): Stages => [
  [[build]],
  [[types], [lint], [sizes], [script("docs", "API reference is up to date", "--check")]],
  [
    [
      vitest("node", `tests in Node ${process.versions.node}`, {
        needs: [chromium, firefox, webkit, newestNode, numpy],
      }),
    ],
  ],
  [
    [
      vitest("chromium", "tests in Chromium", { needs: [chromium] }),
      vitest("page", "tests of the page", { needs: [chromium, firefox, webkit] }),
      vitest("firefox", "tests in Firefox (digests)", { files: inBrowsers, needs: [firefox] }),
      vitest("webkit", "tests in WebKit (digests)", { files: inBrowsers, needs: [webkit] }),
      onLavapipe("dawn", "shaders on lavapipe, Node (Dawn)"),
    ],
    [
      // The long tests run in Node alone.
      vitest("deno", "tests in Deno", { args: [SHORT], runtime: deno, needs: [chromium] }),
      vitest("newest", `tests in ${newestNode.name} (digests)`, {
        project: "node",
        // Relaxed SIMD and wide kernels, which Node 20 does not have, too.
        files: [...digests, "test/edge/same.test.ts", "test/core/gemm.test.ts", "test/runtimes/wide.files.test.ts"],
        runtime: [newestNodePath],
        needs: [newestNode],
      }),
      bun("tests in Bun (digests, server)", [
        ...digests,
        ...["handler", "queue", "node.files", "fuzz.files"].map((name) => `test/serve/${name}.test.ts`),
      ]),
      vitest("mpi", "tests of trainings by ranks of MPI", { needs: [mpich, openMpi] }),
      vitest("slurm", "tests of the example for Slurm", { needs: [slurm] }),
      onLavapipe("naga", "shaders on lavapipe, Deno (Naga)", deno),
    ],
  ],
];

/** Those that need no GPU and compare with what other engines gave. */
const inBrowsers = [...digests, "test/edge/same.test.ts"];

const { values, positionals: chosen } = parseArgs({
  options: { all: { type: "boolean", default: false }, install: { type: "boolean", default: false } },
  allowPositionals: true,
});
/** The stages with what was asked for; paths of what is installed are known when it is. */
function stagesWanted(): Stages {
  const stages = values.all ? allStages() : shortStages();
  const names = stages.flat(2).map(({ name }) => name);
  const unknown = chosen.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`found no step ${unknown.join(", ")}, expected some of ${names.join(", ")}`);
    process.exit(2);
  }
  if (chosen.length === 0) return stages;
  return stages.map((lanes) => lanes.map((lane) => lane.filter(({ name }) => chosen.includes(name))));
}
ensure(
  stagesWanted()
    .flat(2)
    .flatMap(({ needs = [] }) => needs),
  values.install,
);
const stages = stagesWanted();

const total: Counts = { passed: 0, failed: 0 };
const table: string[] = [];

/** Runs a step and says how it went. */
async function take(step: Step): Promise<void> {
  const begin = performance.now();
  const { status, output } = await run(step.job);
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const counts = countOf(step, status, output);
  total.passed += counts.passed;
  total.failed += counts.failed;
  const line = `${step.title.padEnd(38)} ${String(counts.passed).padStart(5)} passed, ${counts.failed} failed (${seconds} s)`;
  table.push(line);
  console.log(line);
  if (counts.failed > 0) console.log(output);
}

for (const stage of stages) {
  await Promise.all(
    stage.map(async (lane) => {
      for (const step of lane) await take(step);
    }),
  );
  // Nothing runs without a build.
  if (stage === stages[0] && total.failed > 0) break;
}

/** A step that failed counts at least one failure, and one that ran no test has failed. */
function countOf(step: Step, status: number, output: string): Counts {
  if (step.count === undefined) return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  let counts: Counts;
  try {
    counts = step.count(output);
  } catch {
    return { passed: 0, failed: 1 };
  }
  if ((status !== 0 || counts.passed === 0) && counts.failed === 0) counts.failed = 1;
  return counts;
}

console.log(`\n${table.join("\n")}\n`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed > 0 ? 1 : 0);
