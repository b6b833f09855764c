// The built command, run as a program of its own by whatever runtime runs the test, in a folder of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { expect } from "vitest";
import type { Dataset } from "../../src/data/dataset.ts";
import { topicData } from "../support/problems.ts";

const command = resolve("dist/cli.js");
const own = "Deno" in globalThis ? "deno" : "node";
const runtimes: Record<"node" | "deno", string[]> = {
  node: [own === "node" ? process.execPath : "node", command],
  deno: [resolve("node_modules/.bin/deno"), "run", "-A", command],
};

export interface Outcome {
  code: number | null;
  out: string;
  err: string;
}

export function start(
  args: string[],
  runtime: keyof typeof runtimes = own,
  options: { cwd?: string; env?: Record<string, string>; stdio?: ("pipe" | number)[] } = {},
): ChildProcess {
  const [program, ...before] = runtimes[runtime] as [string, ...string[]];
  return spawn(program, [...before, ...args], {
    ...options,
    env: { ...process.env, NO_COLOR: "1", ...options.env },
  });
}

export function outcome(child: ChildProcess): Promise<Outcome> {
  const result: Outcome = { code: null, out: "", err: "" };
  child.stdout?.on("data", (chunk) => {
    result.out += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    result.err += chunk;
  });
  return new Promise((done) => child.on("close", (code) => done({ ...result, code })));
}

export async function mlgpf(args: string[], input = "", runtime: keyof typeof runtimes = own): Promise<Outcome> {
  const child = start(args, runtime);
  const ended = outcome(child);
  // A command that ends without reading its input closes the pipe.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  return await ended;
}

/** The command with its output, or what it says to people, on a device where nothing can be written. */
export async function onFullDisk(args: string[], stream: "output" | "error" = "output"): Promise<Outcome> {
  const full = openSync("/dev/full", "w");
  try {
    return await outcome(
      start(args, own, { stdio: stream === "output" ? ["pipe", full, "pipe"] : ["pipe", "pipe", full] }),
    );
  } finally {
    closeSync(full);
  }
}

/** Runs the body in a folder of its own; nothing temporary may be left in it. */
export async function inFolder(body: (path: (name: string) => string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-cli-"));
  try {
    await body((name) => join(folder, name));
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The XC text format. */
export function xcText({ features, labels }: Dataset, withHeader = true): string {
  const lines = Array.from({ length: features.rows }, (_, i) => {
    const own = labels.labelIndex.subarray(labels.rowStart[i], labels.rowStart[i + 1]);
    const entries: string[] = [];
    for (let e = features.rowStart[i]; e < features.rowStart[i + 1]; e++)
      entries.push(`${features.columnIndex[e]}:${features.values[e]}`);
    return `${own.join(",")} ${entries.join(" ")}`;
  });
  const header = withHeader ? `${features.rows} ${features.columns} ${labels.labels}\n` : "";
  return `${header}${lines.join("\n")}\n`;
}

export const data: Dataset = topicData({ points: 150, features: 40, labels: 12 }, 3);
export const small: string[] = [
  "--factors",
  "5",
  "--inducing-points",
  "10",
  "--rank",
  "15",
  "--batch",
  "50",
  "--epochs",
  "20",
];

/** One sentence, not a stack trace. */
export function expectSentence({ err }: Outcome): void {
  expect(err.trimEnd().split("\n").length).toBe(1);
  expect(err).toMatch(/^mlgpf: /);
  expect(err).not.toContain("    at ");
}
