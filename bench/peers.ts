// What we measure ourselves against: JavaScript peers that the bench installs for itself, and Python where it is there.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import type { Contender } from "./harness.ts";
import type { CsrProblem } from "./problems.ts";

const folder = resolve("node_modules/.cache/mlgpf/peers");

/** Loads a package, installing that version into the bench's own folder first if need be; undefined if it cannot be had. */
export async function loadPeer(
  name: string,
  version: string,
  also: Record<string, string> = {},
): Promise<Record<string, unknown> | undefined> {
  const entry = installPeer(name, version, also);
  try {
    return entry === undefined ? undefined : await import(pathToFileURL(entry).href);
  } catch (error) {
    console.error(`${name} is not compared: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** The same without loading it: the path of its module. */
export function installPeer(name: string, version: string, also: Record<string, string> = {}): string | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(`${folder}/package.json`))
      writeFileSync(`${folder}/package.json`, '{"private":true,"type":"module"}\n');
    if (!existsSync(`${folder}/node_modules/${name}`)) {
      const wanted = Object.entries({ [name]: version, ...also }).map(([pkg, at]) => `${pkg}@${at}`);
      console.error(`installing ${wanted.join(" ")} for comparison`);
      const { status, stderr } = spawnSync(
        "npm",
        ["install", "--no-audit", "--no-fund", "--prefix", folder, ...wanted],
        // onnxruntime-node would fetch CUDA.
        { encoding: "utf8", env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: "skip" } },
      );
      if (status !== 0) throw new Error(stderr.trim().split("\n").at(-1));
    }
    return entryOf(name);
  } catch (error) {
    console.error(`${name} is not compared: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** The module file that `import name` would load from the peers' folder. */
function entryOf(name: string): string {
  const require = createRequire(`${folder}/package.json`);
  const manifest = require(`${folder}/node_modules/${name}/package.json`);
  const exported = manifest.exports?.["."] ?? manifest.exports;
  const entry =
    (typeof exported === "string"
      ? exported
      : (exported?.node?.import ?? exported?.import?.default ?? exported?.import ?? exported?.default)) ??
    manifest.main;
  return `${folder}/node_modules/${name}/${entry}`;
}

export interface Python {
  versions: string;
  /** Runs the named piece of work once and returns its milliseconds (or what else it reports). */
  call(request: Record<string, unknown>): Promise<Record<string, number>>;
}

/** A piece of its work as a contender; none where there is no Python. */
export function python(peer: Python | undefined, name: string, request: Record<string, unknown>): Contender[] {
  return peer === undefined ? [] : [{ name, run: async () => (await peer.call(request)).milliseconds as number }];
}

/** Sparse rows in files that bench/peers.py reads. */
export function writeCsr(path: string, { rowStart, columnIndex, values }: CsrProblem): void {
  writeFileSync(`${path}.start`, Buffer.from(rowStart.buffer));
  writeFileSync(`${path}.column`, Buffer.from(columnIndex.buffer));
  writeFileSync(`${path}.value`, Buffer.from(values.buffer));
}

const CHECK = "import numpy, scipy, sklearn; print(numpy.__version__, scipy.__version__, sklearn.__version__)";

/** A Python with numpy, scipy and scikit-learn, on that many threads; undefined where there is none. */
export function startPython(threads: number): Python | undefined {
  for (const command of ["python3", "/usr/bin/python3"]) {
    const probe = spawnSync(command, ["-c", CHECK], { encoding: "utf8" });
    if (probe.status !== 0) continue;
    const count = String(threads);
    const child = spawn(command, ["bench/peers.py"], {
      env: { ...process.env, OPENBLAS_NUM_THREADS: count, OMP_NUM_THREADS: count },
    });
    child.stderr.pipe(process.stderr);
    const [numpy, scipy, sklearn] = probe.stdout.trim().split(" ");
    return { versions: `numpy ${numpy}, scipy ${scipy}, scikit-learn ${sklearn}`, call: caller(child) };
  }
  console.error(
    "numpy, scipy and scikit-learn are not compared: no python3 has them (Debian: python3-numpy python3-scipy python3-sklearn)",
  );
  return undefined;
}

/** One line of JSON there, one line back. */
function caller(child: ChildProcessWithoutNullStreams): Python["call"] {
  const waiting: ((line: string) => void)[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.(line));
  return (request) =>
    new Promise((resolve, reject) => {
      waiting.push((line) => {
        const answer = JSON.parse(line);
        if (answer.error) reject(new Error(answer.error));
        else resolve(answer);
      });
      child.stdin.write(`${JSON.stringify(request)}\n`);
    });
}
