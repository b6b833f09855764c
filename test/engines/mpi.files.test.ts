// Trainings that mpiexec starts: the same bytes for any number of ranks, in Node and in Deno; a rank that is killed, and the
// checkpoint that another number of ranks goes on from; what is refused.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mlgpf, type Outcome, outcome, xcText } from "../cli/support.ts";
import { topicData } from "../support/problems.ts";
import { until } from "./cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "mlgpf-mpi-"));
const path = (name: string): string => join(folder, name);
const node = [process.execPath, resolve("dist/cli.js")];
const deno = [resolve("node_modules/.bin/deno"), "run", "-A", resolve("dist/cli.js")];
const SMALL = "--factors 8 --inducing-points 12 --rank 20 --batch 50 --learning-rate 0.02 --threads 1".split(" ");

const MPICH = "mpiexec.mpich";
const OPEN_MPI = "mpiexec.openmpi";
/** It may be root that runs the tests, on a machine with few cores. */
const openMpiSettings = {
  OMPI_ALLOW_RUN_AS_ROOT: "1",
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1",
  OMPI_MCA_rmaps_base_oversubscribe: "1",
};

/** `mlgpf` under a launcher, by so many ranks. */
function start(ranks: number, args: string[], command: string[] = node, launcher = MPICH): ReturnType<typeof spawn> {
  return spawn(launcher, ["-n", `${ranks}`, ...command, ...args], {
    env: { ...process.env, ...openMpiSettings, NO_COLOR: "1" },
    cwd: folder,
  });
}

const training = (out: string, options: string[], epochs: number): string[] => [
  ...["train", path("data.txt"), "--out", path(out), "--epochs", `${epochs}`],
  ...SMALL,
  ...options,
];

/** Trains with these options into a file. */
const trained = (ranks: number, out: string, options: string[] = [], command: string[] = node): Promise<Outcome> =>
  outcome(start(ranks, training(out, options, 6), command));

beforeAll(() => {
  // Seven blocks of labels.
  writeFileSync(path("data.txt"), xcText(topicData({ points: 600, features: 120, labels: 100 }, 5)));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("1, 2 and 3 ranks give the same bytes, calibrated, in Node and Deno, with MPICH and Open MPI", async () => {
  expect(await trained(1, "one")).toMatchObject({ code: 0 });
  const ways = [
    [2, node, MPICH],
    [3, node, MPICH],
    [2, deno, MPICH],
    [3, node, OPEN_MPI],
    [2, deno, OPEN_MPI],
  ] as const;
  for (const [ranks, command, launcher] of ways) {
    const { code, err } = await outcome(start(ranks, training("several", [], 6), [...command], launcher));
    expect([code, err]).toEqual([0, expect.stringContaining(`${ranks} processes`)]);
    expect(readFileSync(path("several"))).toEqual(readFileSync(path("one")));
  }
  expect((await mlgpf(["inspect", path("one"), "--json"])).out).toContain('"calibrat');
});

test("validation says the same on every rank", async () => {
  const options = ["--valid", "20%", "--posterior", "perFactor"];
  expect(await trained(1, "one", options)).toMatchObject({ code: 0 });
  expect(await trained(3, "three", options)).toMatchObject({ code: 0 });
  expect(readFileSync(path("three"))).toEqual(readFileSync(path("one")));
});

test("when a rank is killed all end, and two ranks go on from the checkpoint of three", async () => {
  const epochs = 100;
  expect(await outcome(start(1, training("whole", [], epochs)))).toMatchObject({ code: 0 });
  writeFileSync(
    path("ranked"),
    `#!/bin/sh\necho $$ > "${path("pid")}.$PMI_RANK"\nexec ${node.map((word) => `"${word}"`).join(" ")} "$@"\n`,
  );
  chmodSync(path("ranked"), 0o755);
  const killed = start(3, training("model", ["--checkpoint-seconds", "0"], epochs), [path("ranked")]);
  const ended = outcome(killed);
  await until(() => existsSync(path("model.checkpoint")) || killed.exitCode !== null);
  const pid = (rank: number): number => Number(readFileSync(path(`pid.${rank}`), "utf8"));
  process.kill(pid(1), "SIGKILL");
  const { code, err } = await ended;
  expect(code).not.toBe(0);
  expect(err).toContain("3 processes: if one ends, all do; --resume continues with any number of them");
  for (const rank of [0, 2]) await until(() => !isRunning(pid(rank)));
  expect(existsSync(path("model"))).toBe(false);

  expect(await outcome(start(2, training("model", ["--resume"], epochs)))).toMatchObject({ code: 0 });
  expect(readFileSync(path("model"))).toEqual(readFileSync(path("whole")));
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("what cannot be is said once, and ends all ranks", async () => {
  const said = async (ranks: number, ...options: string[]): Promise<string[]> => {
    const { code, err } = await trained(ranks, "none", ["--quiet", ...options]);
    expect(code).not.toBe(0);
    return err.split("\n").filter((line) => line.startsWith("mlgpf: "));
  };
  expect(await said(8)).toEqual([
    "mlgpf: found 8 ranks for 100 labels, expected at most 7: each owns a block of 16 labels or more",
  ]);
  expect(await said(2, "--model", "gpr")).toEqual(["mlgpf: --model: found gpr with ranks, expected svgp"]);
  expect(await said(2, "--state", path("state"))).toEqual(["mlgpf: --state: found other ranks, expected one process"]);
  expect(existsSync(path("none"))).toBe(false);
});
