// mlgpf serve under load: the server is a process of its own, this one generates the load. Single texts at a steady
// 2,000 requests a second, then as fast as the connections go.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { compactModel } from "../src/compact/index.ts";
import { edgeProblem, taggerSizes } from "./edge-problem.ts";
import type { BenchOptions } from "./harness.ts";
import { type Load, type LoadFigures, runLoad } from "./load.ts";

const SECONDS = 5;
const WARM_UP_SECONDS = 3;

const loads: Record<string, Load> = {
  "2,000 a second": { connections: 32, seconds: SECONDS, rate: 2000 },
  "1 connection": { connections: 1, seconds: SECONDS },
  "16 connections": { connections: 16, seconds: SECONDS },
  "64 connections": { connections: 64, seconds: SECONDS },
};

const runtimes: Record<string, string[]> = {
  Node: [process.execPath],
  Deno: [resolve("node_modules/.bin/deno"), "run", "-A"],
  Bun: [resolve("node_modules/.bin/bun")],
};

/** Starts the command and waits until it says where it listens. */
async function startServer(runtime: string, model: string): Promise<{ child: ChildProcess; port: number }> {
  const [program, ...before] = runtimes[runtime] as [string, ...string[]];
  const child = spawn(program, [...before, "dist/cli.js", "serve", model, "--port", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const port = await new Promise<number>((done, failed) => {
    child.once("exit", () => failed(new Error(`${runtime}: the server ended: ${said.trim()}`)));
    child.stderr?.on("data", (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (found !== undefined) done(Number(found));
    });
  });
  return { child, port };
}

export async function serveBench(options: BenchOptions): Promise<void> {
  if (!existsSync("dist/cli.js")) throw new Error("found no dist/cli.js, expected one: run npm run build");
  const folder = resolve(`node_modules/.cache/mlgpf/serve-bench-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const path = `${folder}/tagger.safetensors`;
  const { model, texts } = edgeProblem(512);
  writeFileSync(path, await compactModel(model, { type: "f32", variance: "exact" }));
  const { features, labels, factors } = taggerSizes;
  if (!options.json)
    console.log(`\nmlgpf serve, single texts, K = ${labels}, P = ${factors}, D = ${features}, two processes`);
  try {
    for (const runtime of Object.keys(runtimes)) {
      if (options.only !== undefined && !runtime.includes(options.only)) continue;
      const { child, port } = await startServer(runtime, path);
      await runLoad(port, texts, { connections: 16, seconds: WARM_UP_SECONDS });
      for (const [name, load] of Object.entries(loads))
        print(runtime, name, await runLoad(port, texts, load), options);
      const ended = new Promise((done) => child.once("exit", done));
      child.kill("SIGTERM");
      const code = await ended;
      if (code !== 0) console.error(`${runtime}: found exit code ${code}, expected 0`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(runtime: string, name: string, figures: LoadFigures, options: BenchOptions): void {
  if (options.json) {
    console.log(JSON.stringify({ case: "serve", runtime, load: name, ...figures }));
    return;
  }
  const { perSecond, p50, p99, worst, refused, lost } = figures;
  console.log(
    `  ${runtime.padEnd(6)} ${name.padEnd(16)} ${perSecond.toFixed(0).padStart(7)} requests/s   ` +
      `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, worst ${worst.toFixed(1)} ms   ${refused} refused, ${lost} lost`,
  );
}
