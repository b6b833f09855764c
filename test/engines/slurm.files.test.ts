// The Slurm example on a real Slurm: parts as job arrays, a merger that waits for them, prediction; a part that is
// killed on its way, and a part's file that is cut short. Bytes are compared with a training in one piece.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mlgpf, xcText } from "../cli/support.ts";
import { topicData } from "../support/problems.ts";
import { Cluster, until } from "./cluster.ts";

const POINTS = 2100;
const folder = mkdtempSync(join(tmpdir(), "mlgpf-slurm-"));
const path = (name: string): string => join(folder, name);
const example = (name: string): string => resolve("examples/slurm", name);

/**
 * The command as jobs call it. In its first life the second part of the model `killed` gets its data through a pipe that
 * never ends; it has read some of them when the file `reading` comes, for they are more than a pipe holds.
 */
const MLGPF = `#!/usr/bin/env bash
[[ "\${PMI_RANK:-}" ]] && echo $$ > "${path("pid")}.$PMI_RANK"
command=("${process.execPath}" "${resolve("dist/cli.js")}")
if [[ "$*" == train*killed.part.2* && -z "\${SLURM_RESTART_COUNT:-}" ]]; then
  data=$2; shift 2
  exec "\${command[@]}" train --format xc <(cat "$data"; touch "${path("reading")}"; exec sleep 1000) "$@"
else exec "\${command[@]}" "$@"; fi
`;

let cluster: Cluster;

beforeAll(async () => {
  writeFileSync(path("mlgpf"), MLGPF);
  chmodSync(path("mlgpf"), 0o755);
  const text = xcText(topicData({ points: POINTS, features: 30, labels: 6 }, 2));
  expect(text.length).toBeGreaterThan(70_000);
  writeFileSync(path("data.txt"), text);
  writeFileSync(path("many.txt"), xcText(topicData({ points: 400, features: 60, labels: 60 }, 3)));
  for (const args of [
    ["plan", path("data.txt"), "--out", path("plan")],
    ["train", path("data.txt"), "--plan", path("plan"), "--shard", "1/1", "--out", path("part")],
    ["merge", path("part"), "--out", path("whole")],
  ])
    expect(await mlgpf(args)).toMatchObject({ code: 0 });
  mkdirSync(path("slurm"));
  cluster = await Cluster.start(path("slurm"));
});

afterAll(async () => {
  await cluster?.stop();
  rmSync(folder, { recursive: true });
});

/** Starts the example; the numbers of its jobs. */
function train(model: string, parts: number): { array: string; merger: string } {
  const said = cluster.run(example("train.sh"), [path("data.txt"), path(model), `${parts}`], {
    MLGPF: path("mlgpf"),
  });
  const [, array, merger] = /parts (\d+), merger (\d+)/.exec(said) as unknown as [string, string, string];
  return { array, merger };
}

/** Submits one of the example's jobs. */
const submit = (...args: string[]): string => cluster.run("sbatch", ["--parsable", ...args], { MLGPF: path("mlgpf") });

const completed = (count: number): string[] => new Array<string>(count).fill("COMPLETED");
const lines = (name: string): string[] => readFileSync(path(name), "utf8").trimEnd().split("\n");

test("1, 2, 4 and 8 parts give the bytes of one piece", async () => {
  const trainings = [1, 2, 4, 8].map((parts) => ({ parts, ...train(`model${parts}`, parts) }));
  for (const { parts, array, merger } of trainings) {
    expect(await cluster.ended(merger)).toEqual(completed(1));
    expect(await cluster.ended(array)).toEqual(completed(parts));
    expect(readFileSync(path(`model${parts}`))).toEqual(readFileSync(path("whole")));
    expect(existsSync(path(`model${parts}.part.1`))).toBe(false);
  }
});

test("prediction by a job array answers every row", async () => {
  const job = submit("--array=1-2", example("predict.sbatch"), path("whole"), path("data.txt"), path("labels"));
  expect(await cluster.ended(job)).toEqual(completed(2));
  const all = await mlgpf(["predict", path("whole"), path("data.txt")]);
  const parts = [lines("labels.1.jsonl"), lines("labels.2.jsonl")];
  const woven = Array.from({ length: POINTS }, (_, i) => parts[i % 2]?.[i >> 1]);
  expect(woven).toEqual(all.out.trimEnd().split("\n"));
});

test("a part that is killed on its way is made again, and the merger waits for it", async () => {
  const { array, merger } = train("killed", 2);
  await until(() => existsSync(path("reading")));
  expect(existsSync(path("killed.part.2"))).toBe(false);
  cluster.run("scontrol", ["requeue", `${array}_2`]);
  expect(await cluster.ended(merger)).toEqual(completed(1));
  expect(cluster.run("scontrol", ["show", "job", `${array}_2`])).toMatch(/Restarts=1\b/);
  expect(readFileSync(path("killed"))).toEqual(readFileSync(path("whole")));
});

test("a part's file that is cut short is refused in a sentence, and can be made again alone", async () => {
  const plan = submit(example("plan.sbatch"), path("data.txt"), path("cut"));
  const part = (tasks: string): string =>
    submit(
      `--dependency=afterok:${plan}`,
      `--array=${tasks}`,
      example("part.sbatch"),
      path("data.txt"),
      path("cut"),
      "2",
    );
  expect(await cluster.ended(part("1-2"))).toEqual(completed(2));
  truncateSync(path("cut.part.2"), 5000);
  const refused = submit(example("merge.sbatch"), path("cut"), "2");
  expect(await cluster.ended(refused)).toEqual(["FAILED"]);
  expect(cluster.printed(refused)).toMatch(/^mlgpf: .*cut\.part\.2: found .*\n$/);
  expect(existsSync(path("cut"))).toBe(false);

  expect(await cluster.ended(part("2"))).toEqual(completed(1));
  expect(await cluster.ended(submit(example("merge.sbatch"), path("cut"), "2"))).toEqual(completed(1));
  expect(readFileSync(path("cut"))).toEqual(readFileSync(path("whole")));
});

/** Options of a small training by ranks. */
const ranked = (epochs: number): string[] =>
  `--factors 8 --inducing-points 12 --rank 20 --batch 50 --epochs ${epochs}`.split(" ");
function ranks(tasks: number, model: string, options: string[], environment: Record<string, string> = {}): string {
  const script = [example("ranks.sbatch"), path("many.txt"), path(model), ...options];
  const args = ["--parsable", `--ntasks=${tasks}`, "--cpus-per-task=1", ...script];
  return cluster.run("sbatch", args, { MLGPF: path("mlgpf"), ...environment });
}

test("1 and 3 ranks of MPI give the same bytes", async () => {
  const jobs = [ranks(1, "rank1", ranked(4)), ranks(3, "rank3", ranked(4))];
  for (const job of jobs) expect([await cluster.ended(job), cluster.printed(job)]).toEqual([completed(1), ""]);
  expect(readFileSync(path("rank3"))).toEqual(readFileSync(path("rank1")));
});

test("a rank that waits for one that was killed says so and ends", async () => {
  // As on clusters where srun lets the others run on.
  const options = [...ranked(100), "--checkpoint-seconds", "0"];
  const job = ranks(3, "lost", options, { SLURM_KILL_BAD_EXIT: "0" });
  await until(() => existsSync(path("lost.checkpoint")));
  process.kill(Number(readFileSync(path("pid.1"), "utf8")), "SIGKILL");
  expect(await cluster.ended(job)).toEqual(["FAILED"]);
  const said = cluster
    .printed(job)
    .split("\n")
    .filter((line) => line.startsWith("mlgpf: "));
  expect(said).toEqual([
    "mlgpf: found that rank 1 of 3 has ended, expected it to go on to the end: --resume goes on from the last checkpoint",
  ]);
  expect(existsSync(path("lost"))).toBe(false);
});
