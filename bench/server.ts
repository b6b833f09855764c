// Starts the built `mlgpf serve` as a process of its own, in any of the runtimes.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { compactModel } from "../src/compact/index.ts";
import type { Model } from "../src/model/model.ts";
import { edgeProblem } from "./edge-problem.ts";

/** How each runtime runs a program. */
export const runtimes: Record<string, string[]> = {
  Node: [process.execPath],
  Deno: [resolve("node_modules/.bin/deno"), "run", "-A"],
  Bun: [resolve("node_modules/.bin/bun")],
};

export interface RunningServer {
  child: ChildProcess;
  port: number;
  /** All that it has said on standard error. */
  said(): string;
  /** The code it ended with; undefined while it runs. */
  readonly code: number | null | undefined;
  /** Most memory that it has had, in megabytes; NaN where the system does not tell. */
  peakMegabytes(): number;
  /** Ends it and waits for that. */
  stop(): Promise<number | null>;
}

/** Starts the command and waits until it says where it listens. */
export async function startServer(
  runtime: string,
  model: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  if (!existsSync("dist/cli.js")) throw new Error("found no dist/cli.js, expected one: run npm run build");
  const [program, ...before] = runtimes[runtime] as [string, ...string[]];
  const child = spawn(program, [...before, "dist/cli.js", "serve", model, "--port", "0", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...env },
  });
  let said = "";
  let code: number | null | undefined;
  const ended = new Promise<number | null>((done) => {
    child.once("exit", (status) => {
      code = status;
      done(status);
    });
  });
  const port = await new Promise<number>((done, failed) => {
    child.once("exit", () => failed(new Error(`${runtime}: the server ended: ${said.trim()}`)));
    child.stderr?.on("data", (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (found !== undefined) done(Number(found));
    });
  });
  return {
    child,
    port,
    said: () => said,
    get code() {
      return code;
    },
    peakMegabytes: () => peakOf(child.pid as number),
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

function peakOf(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kilobytes) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** Runs `work` with a tagger of 4,000 labels in a file, changed if it is to be, and texts for it. */
export async function withTagger(
  work: (path: string, texts: readonly string[]) => Promise<void>,
  changed: (model: Model) => Model = (model) => model,
): Promise<void> {
  const folder = resolve(`node_modules/.cache/mlgpf/serve-bench-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const path = `${folder}/tagger.safetensors`;
    const { model, texts } = edgeProblem(512);
    writeFileSync(path, await compactModel(changed(model), { type: "f32", variance: "exact" }));
    await work(path, texts);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
