// The Slurm example under a stand-in for sbatch that runs jobs at once, and array tasks one after another, with the
// variables that Slurm sets; and whether the manifests for Kubernetes agree with themselves.

import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { inFolder, mlgpf, xcText } from "../cli/support.ts";
import { topicData } from "../support/problems.ts";

/** Says a number as `sbatch --parsable` does; a job that fails ends it. */
const SBATCH = `#!/usr/bin/env bash
set -euo pipefail
array=
while [[ $1 == --* ]]; do [[ $1 == --array=* ]] && array=\${1#--array=}; shift; done
if [[ $array ]]; then
  first=\${array%-*} last=\${array#*-}
  export SLURM_ARRAY_TASK_MIN=$first SLURM_ARRAY_TASK_COUNT=$((last - first + 1))
  for ((task = first; task <= last; task++)); do SLURM_ARRAY_TASK_ID=$task bash "$@" >&2; done
else bash "$@" >&2; fi
echo 42
`;

const command = "Deno" in globalThis ? "node" : process.execPath;

test("parts, merger and prediction give what one machine gives", async () => {
  await inFolder(async (path) => {
    writeFileSync(path("sbatch"), SBATCH);
    chmodSync(path("sbatch"), 0o755);
    writeFileSync(path("data.txt"), xcText(topicData({ points: 2100, features: 30, labels: 6 }, 2)));
    const env = {
      ...process.env,
      PATH: `${path("")}:${process.env.PATH}`,
      MLGPF: `${command} ${resolve("dist/cli.js")}`,
    };
    const run = (script: string, ...args: string[]): string =>
      execFileSync(resolve("examples/slurm", script), args, { env, encoding: "utf8" });
    expect(run("train.sh", path("data.txt"), path("model"), "3")).toBe(
      `plan 42, parts 42, merger 42: ${path("model")} will be written\n`,
    );
    run("train.sh", path("data.txt"), path("whole"), "1");
    expect(readFileSync(path("model"))).toEqual(readFileSync(path("whole")));
    expect(readdirSync(path(""))).not.toContain("model.part.1");

    execFileSync(
      path("sbatch"),
      [
        "--array=1-2",
        resolve("examples/slurm/predict.sbatch"),
        path("model"),
        path("data.txt"),
        path("labels"),
      ],
      { env },
    );
    const all = await mlgpf(["predict", path("model"), path("data.txt")]);
    const lines = (name: string): string[] => readFileSync(path(name), "utf8").trimEnd().split("\n");
    const parts = [lines("labels.1.jsonl"), lines("labels.2.jsonl")];
    const woven = Array.from({ length: 2100 }, (_, i) => parts[i % 2]?.[i >> 1]);
    expect(woven).toEqual(all.out.trimEnd().split("\n"));
  });
});

test.each(["train.yaml", "predict.yaml"])("kubernetes/%s has as many parts as its command says", (name) => {
  const text = readFileSync(resolve("examples/kubernetes", name), "utf8");
  const [, completions] = /completions: (\d+)/.exec(text) ?? [];
  expect(text).toContain("completionMode: Indexed");
  expect(text).toContain(`--shard auto/${completions}`);
});
