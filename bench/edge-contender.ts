// One contender of the edge benchmark in a process of its own: `node edge-contender.mjs NAME FOLDER`. It says how long
// it took from nothing to the first prediction, then measures what its parent asks for.

import { readFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";

/** What the parent may ask for. */
export type Errand =
  | { do: "singles"; count: number }
  | { do: "batch"; size: number }
  | { do: "memory" }
  | { do: "labels"; count: number };

interface Row {
  indices: number[];
  values: number[];
}

/** What the parent wrote for its contenders, and where the packages are. */
export interface Paths {
  edge: string;
  wasm: string;
  onnxWeb: string;
  onnxNode: string;
}

interface Runner {
  one(index: number): unknown;
  many(from: number, to: number): unknown;
  /** Best labels of an input, by number. */
  labels(index: number): Promise<number[]>;
}

const TOP = 5;
const [name = "", folder = ""] = process.argv.slice(2);
const read = (file: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(`${folder}/${file}`));
const json = (file: string): unknown => JSON.parse(readFileSync(`${folder}/${file}`, "utf8"));

const restingBytes = process.memoryUsage.rss();
const texts = json("texts.json") as string[];
const rows = json("rows.json") as Row[];
const paths = json("paths.json") as Paths;
const inputBytes = process.memoryUsage.rss() - restingBytes;

interface EdgeTagger {
  predict(input: unknown, options: object): { label: string }[];
  predictMany(inputs: unknown[], options: object): unknown;
}

async function edge(bytes: Uint8Array, asText: boolean, withWasm: boolean): Promise<Runner> {
  const { load } = (await import(pathToFileURL(paths.edge).href)) as {
    load(bytes: Uint8Array, options: object): Promise<EdgeTagger>;
  };
  const wasm = withWasm ? { wasm: new WebAssembly.Module(readFileSync(paths.wasm)) } : {};
  const tagger = await load(bytes, wasm);
  const inputs: unknown[] = asText ? texts : rows;
  return {
    one: (index) => tagger.predict(inputs[index], { topK: TOP }),
    many: (from, to) => tagger.predictMany(inputs.slice(from, to), { topK: TOP }),
    labels: async (index) =>
      tagger.predict(inputs[index], { topK: TOP }).map(({ label }) => Number(/\d+$/.exec(label)?.[0] ?? label.length)),
  };
}

interface OnnxTensor {
  data: ArrayLike<number | bigint>;
}
interface Onnx {
  Tensor: new (type: string, data: Float32Array | BigInt64Array, shape: number[]) => OnnxTensor;
  InferenceSession: {
    create(bytes: Uint8Array, options?: object): Promise<{ run(feeds: object): Promise<Record<string, OnnxTensor>> }>;
  };
}

/** An ONNX runtime; the vectors are made within the time, the texts were turned into features before. */
async function onnx(entry: string, bytes: Uint8Array, form: "dense" | "gather", features: number): Promise<Runner> {
  const module = (await import(pathToFileURL(entry).href)) as Onnx & { default?: Onnx };
  const { Tensor, InferenceSession } = module.InferenceSession ? module : (module.default as Onnx);
  const session = await InferenceSession.create(bytes);
  const dense = (from: number, to: number): object => {
    const x = new Float32Array((to - from) * features);
    for (let i = from; i < to; i++) {
      const { indices, values } = rows[i];
      for (let e = 0; e < indices.length; e++) x[(i - from) * features + indices[e]] = values[e];
    }
    return { x: new Tensor("float32", x, [to - from, features]) };
  };
  /** Shorter rows are filled up with zeros times the first word. */
  const gather = (from: number, to: number): object => {
    let length = 1;
    for (let i = from; i < to; i++) length = Math.max(length, rows[i].indices.length);
    const indices = new BigInt64Array((to - from) * length);
    const values = new Float32Array((to - from) * length);
    for (let i = from; i < to; i++) {
      const row = rows[i];
      for (let e = 0; e < row.indices.length; e++) {
        indices[(i - from) * length + e] = BigInt(row.indices[e]);
        values[(i - from) * length + e] = row.values[e];
      }
    }
    return {
      indices: new Tensor("int64", indices, [to - from, length]),
      values: new Tensor("float32", values, [to - from, 1, length]),
    };
  };
  const feeds = form === "dense" ? dense : gather;
  return {
    one: (index) => session.run(feeds(index, index + 1)),
    many: (from, to) => session.run(feeds(from, to)),
    labels: async (index) => Array.from((await session.run(feeds(index, index + 1))).label?.data ?? [], Number),
  };
}

/** How each contender begins; the model file is read before the clock starts. */
function opener(): () => Promise<Runner> {
  const [kind, form] = name.split(":") as [string, string];
  const { features } = json("sizes.json") as { features: number };
  if (kind === "edge" || kind === "plain") {
    const own = form === "deviations" || form === "shipped";
    const model = read(own ? `model-${form}.safetensors` : "model.safetensors");
    return () => edge(model, form !== "features", kind === "edge");
  }
  const model = read(`${form}.onnx`);
  const entry = kind === "onnx-web" ? paths.onnxWeb : paths.onnxNode;
  return () => onnx(entry, model, form as "dense" | "gather", features);
}

const open = opener();
const begin = performance.now();
const runner = await open();
const loaded = performance.now();
await runner.one(0);
const first = performance.now();

async function singles(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await runner.one(i % texts.length);
    times.push(performance.now() - start);
  }
  return times;
}

async function batch(size: number): Promise<number[]> {
  const start = performance.now();
  await runner.many(0, size);
  return [performance.now() - start];
}

/** What the process has grown by, without the questions that this benchmark keeps. */
function memory(): number[] {
  (globalThis as { gc?: () => void }).gc?.();
  return [process.memoryUsage.rss() - restingBytes - inputBytes];
}

async function labels(count: number): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push(...(await runner.labels(i)));
  return all;
}

process.on("message", async (errand: Errand) => {
  const numbers =
    errand.do === "singles"
      ? await singles(errand.count)
      : errand.do === "batch"
        ? await batch(errand.size)
        : errand.do === "labels"
          ? await labels(errand.count)
          : memory();
  process.send?.(numbers);
});
process.send?.([first - begin, loaded - begin]);
