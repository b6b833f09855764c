// mlgpf/edge beside onnxruntime-web and onnxruntime-node on the same collapsed model: cold start, one text, batches,
// memory. Every contender is a process of its own; they take turns, so that what disturbs the machine disturbs all.
//
// FILE ...  instead: models that are trained on these files with the defaults, as `mlgpf compact` ships them, with and without WASM. They
//           are asked for the first 35 words of texts of the file, or for 35 features of its rows

import { type ChildProcess, fork } from "node:child_process";
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { build } from "esbuild";
import { compactModel } from "../src/compact/index.ts";
import { readDataset } from "../src/io/dataset.ts";
import { train } from "../src/train/train.ts";
import type { Errand, Paths } from "./edge-contender.ts";
import { edgeProblem, taggerSizes } from "./edge-problem.ts";
import { type BenchOptions, median } from "./harness.ts";
import { onnxModel } from "./onnx.ts";
import { installPeer } from "./peers.ts";

const ONNX_VERSION = "1.30.0";
const TEXTS = 512;
const SINGLES = 200;
const BATCH = 256;
const WARM_UP_ROUNDS = 3;
const TOP = 5;
const LABELS_COMPARED = 100;

const contenders: Record<string, string> = {
  "edge:text": "mlgpf/edge, WASM, from texts",
  "edge:features": "mlgpf/edge, WASM, from features",
  "edge:deviations": "the same from texts with deviations",
  "edge:shipped": "the same as mlgpf compact ships it",
  "plain:shipped": "as mlgpf compact ships it, no WASM",
  "plain:text": "mlgpf/edge, no WASM, from texts",
  "plain:features": "mlgpf/edge, no WASM, from features",
  "onnx-web:gather": "onnxruntime-web, rows gathered",
  "onnx-web:dense": "onnxruntime-web, dense input",
  "onnx-node:gather": "onnxruntime-node, rows gathered",
  "onnx-node:dense": "onnxruntime-node, dense input",
};

/** The files that the package exports, as a user gets them. */
function packageFile(subpath: string): string {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  const entry = exports[subpath];
  const file = resolve(typeof entry === "string" ? entry : (entry?.default ?? ""));
  if (entry === undefined || !existsSync(file))
    throw new Error(`found no ${subpath} of the package, expected one: run npm run build`);
  return file;
}

/** Words, or features, that a model of a file is asked for. */
const WORDS = 35;

/** The texts of a JSONL file. */
async function textsOf(file: string): Promise<string[]> {
  const texts: string[] = [];
  const stream = createReadStream(file);
  const input = file.endsWith(".gz") ? stream.pipe(createGunzip()) : stream;
  for await (const line of createInterface({ input })) if (line !== "") texts.push(JSON.parse(line).text);
  return texts;
}

/** A model of a file, with questions for it; returns its size. */
async function prepareFile(file: string, folder: string): Promise<number> {
  const write = (name: string, content: Uint8Array | string): void => writeFileSync(`${folder}/${name}`, content);
  const data = await readDataset(file);
  const { rowStart, columnIndex, values, rows } = data.dataset.features;
  const texts = data.dataset.vectoriser && (await textsOf(file));
  const model = await compactModel(await train(data));
  write("model-shipped.safetensors", model);
  const asked = Array.from({ length: Math.min(TEXTS, rows) }, (_, i) => Math.floor((i * rows) / Math.min(TEXTS, rows)));
  const row = (i: number): unknown => {
    const text = texts?.[i];
    if (text !== undefined) return text.split(/\s+/).slice(0, WORDS).join(" ");
    const entries = rowStart[i + 1] - rowStart[i];
    const count = Math.min(WORDS, entries);
    const chosen = Array.from({ length: count }, (_, e) => rowStart[i] + Math.floor((e * entries) / count));
    return { indices: chosen.map((e) => columnIndex[e]), values: chosen.map((e) => values[e]) };
  };
  write("texts.json", JSON.stringify(asked.map(row)));
  write("rows.json", "[]");
  await prepareContender(folder, "", "");
  return model.length;
}

async function prepare(folder: string): Promise<Set<string>> {
  const { model, collapsed, texts, rows } = edgeProblem(TEXTS);
  const write = (name: string, content: Uint8Array | string): void => writeFileSync(`${folder}/${name}`, content);
  write("model.safetensors", await compactModel(model, { type: "f32", variance: "none" }));
  write("model-deviations.safetensors", await compactModel(model, { type: "f32", variance: "exact" }));
  write("model-shipped.safetensors", await compactModel(model));
  write("dense.onnx", onnxModel("dense", collapsed, TOP));
  write("gather.onnx", onnxModel("gather", collapsed, TOP));
  write("texts.json", JSON.stringify(texts));
  write("rows.json", JSON.stringify(rows));
  const onnxWeb = installPeer("onnxruntime-web", ONNX_VERSION);
  const onnxNode = installPeer("onnxruntime-node", ONNX_VERSION);
  await prepareContender(folder, onnxWeb ?? "", onnxNode ?? "");
  const missing = new Set<string>();
  for (const name of Object.keys(contenders)) {
    const entry = name.startsWith("onnx-web") ? onnxWeb : name.startsWith("onnx-node") ? onnxNode : "here";
    if (entry === undefined) missing.add(name);
  }
  return missing;
}

/** What every contender needs: the program, where the packages are, and sizes. */
async function prepareContender(folder: string, onnxWeb: string, onnxNode: string): Promise<void> {
  const paths: Paths = { edge: packageFile("./edge"), wasm: packageFile("./edge.wasm"), onnxWeb, onnxNode };
  writeFileSync(`${folder}/paths.json`, JSON.stringify(paths));
  writeFileSync(`${folder}/sizes.json`, JSON.stringify(taggerSizes));
  await build({
    entryPoints: ["bench/edge-contender.ts"],
    outfile: `${folder}/contender.mjs`,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
}

interface Contender {
  name: string;
  ask(errand: Errand): Promise<number[]>;
  end(): void;
  /** Milliseconds from the import to the first prediction, and to the model being loaded. */
  cold: number[];
}

function numbersFrom(child: ChildProcess, name: string): Promise<number[]> {
  return new Promise((done, failed) => {
    const gone = (): void => failed(new Error(`${name} ended before it answered`));
    child.once("exit", gone);
    child.once("message", (numbers) => {
      child.removeListener("exit", gone);
      done(numbers as number[]);
    });
  });
}

async function startContender(name: string, folder: string): Promise<Contender> {
  const child = fork(`${folder}/contender.mjs`, [name, folder], { execArgv: ["--expose-gc"] });
  return {
    name,
    cold: await numbersFrom(child, name),
    ask(errand) {
      const answer = numbersFrom(child, name);
      child.send(errand);
      return answer;
    },
    end: () => child.kill(),
  };
}

interface Figures {
  name: string;
  cold: number;
  loaded: number;
  p50: number;
  p99: number;
  perSecond: number;
  megabytes: number;
  agree: number;
}

const quantile = (values: number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

export async function edgeBench(options: BenchOptions): Promise<void> {
  const folder = resolve(`node_modules/.cache/mlgpf/edge-bench-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    for (const file of options.files) {
      const bytes = await prepareFile(file, folder);
      console.log(`\n${file}: ${(bytes / 1e6).toFixed(1)} MB`);
      print(await measureAll(["edge:shipped", "plain:shipped"], folder, options.rounds), options, `${WORDS} words`);
    }
    if (options.files.length > 0) return;
    const missing = await prepare(folder);
    const names = Object.keys(contenders).filter(
      (name) => !missing.has(name) && (options.only === undefined || name.includes(options.only)),
    );
    const { features, labels, factors } = taggerSizes;
    const about = `one text, K = ${labels}, P = ${factors}, D = ${features}`;
    print(await measureAll(names, folder, options.rounds), options, about);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll(names: string[], folder: string, rounds: number): Promise<Figures[]> {
  const cold = new Map<string, number[][]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const contender = await startContender(name, folder);
      cold.get(name)?.push(contender.cold);
      contender.end();
    }
  }
  const running: Contender[] = [];
  for (const name of names) running.push(await startContender(name, folder));
  try {
    const reference = await running[0]?.ask({ do: "labels", count: LABELS_COMPARED });
    const figures = running.map(() => ({ singles: [] as number[], batches: [] as number[] }));
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      for (const [i, contender] of running.entries()) {
        const singles = await contender.ask({ do: "singles", count: SINGLES });
        const batch = await contender.ask({ do: "batch", size: BATCH });
        if (round < 0) continue;
        figures[i]?.singles.push(...singles);
        figures[i]?.batches.push(...batch);
      }
    }
    const results: Figures[] = [];
    for (const [i, contender] of running.entries()) {
      const { singles, batches } = figures[i] as (typeof figures)[number];
      const [memory = 0] = await contender.ask({ do: "memory" });
      const labels = await contender.ask({ do: "labels", count: LABELS_COMPARED });
      const starts = cold.get(contender.name) as number[][];
      results.push({
        name: contender.name,
        cold: median(starts.map(([all]) => all as number)),
        loaded: median(starts.map(([, loaded]) => loaded as number)),
        p50: quantile(singles, 0.5),
        p99: quantile(singles, 0.99),
        perSecond: BATCH / (median(batches) / 1000),
        megabytes: memory / 2 ** 20,
        agree: labels.filter((label, at) => label === reference?.[at]).length / labels.length,
      });
    }
    return results;
  } finally {
    for (const contender of running) contender.end();
  }
}

function print(results: Figures[], options: BenchOptions, about: string): void {
  if (options.json) {
    for (const result of results)
      console.log(JSON.stringify({ case: "edge", contender: contenders[result.name], ...result }));
    return;
  }
  console.log(`\n${about}, best ${TOP} labels, Node ${process.versions.node}`);
  console.log(
    `  ${"".padEnd(38)} cold start ms (loaded)   p50 ms   p99 ms   texts/s in batches of ${BATCH}   MB   same labels`,
  );
  for (const { name, cold, loaded, p50, p99, perSecond, megabytes, agree } of results) {
    console.log(
      `  ${contenders[name].padEnd(38)} ${cold.toFixed(1).padStart(8)} (${loaded.toFixed(1)})`.padEnd(64) +
        `${p50.toFixed(3).padStart(9)}${p99.toFixed(3).padStart(9)}${perSecond.toFixed(0).padStart(20)}` +
        `${megabytes.toFixed(0).padStart(20)}${(100 * agree).toFixed(1).padStart(9)} %`,
    );
  }
}
