// The same predictions in workerd, Node, Deno, Bun and edge-runtime: texts of compact models of every kind, with the module and
// without, compared with what this process computes. (test/edge/same.test.ts does it in Chromium, with recorded digests.)
// @module-tag long

import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import { sameCases } from "../edge/digests.ts";
import { digest, sampleTexts, written } from "../edge/support.ts";
import { answerOfWorkerd } from "../support/workerd.ts";

/** Digests of the predictions of each model. */
type Answer = Record<string, Record<"plain" | "wasm", string>>;

/** What each runtime runs, given its own way to the files; the models lie one behind another. */
const PREDICT = `
import { load } from "../../src/edge/index.ts";
async function digest(predictions) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(predictions)));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
export async function answer(models, wasm, cases) {
  const bytes = new Uint8Array(models);
  const found = {};
  for (const { name, from, to, texts } of cases) {
    const predict = async (options) => digest((await load(bytes.slice(from, to), options)).predictMany(texts));
    found[name] = { plain: await predict({}), wasm: await predict({ wasm }) };
  }
  return found;
}
`;
/** Reads the files beside it and prints. */
const HOST = `${PREDICT}
import { readFileSync } from "node:fs";
const read = (name) => readFileSync(new URL(name, import.meta.url));
const wasm = await WebAssembly.compile(read("edge.wasm"));
console.log(JSON.stringify(await answer(read("models.bin"), wasm, JSON.parse(read("cases.json")))));
`;
const WORKER = `${PREDICT}
import wasm from "./edge.wasm";
import models from "./models.bin";
import cases from "./cases.json";
export default { fetch: async () => Response.json(await answer(models, wasm, JSON.parse(cases))) };
`;
/** edge-runtime takes a script; the module is compiled outside, as its platform does, in another realm. */
const SCRIPT = `${PREDICT}
addEventListener("fetch", (event) =>
  event.respondWith(answer(MODELS, WASM, JSON.parse(CASES)).then((found) => Response.json(found))),
);
`;
const EDGE_RUNTIME = `
import { readFileSync } from "node:fs";
import { EdgeRuntime } from "edge-runtime";
const read = (name) => readFileSync(process.argv[1] + "/" + name);
const extend = (context) =>
  Object.assign(context, { MODELS: read("models.bin"), WASM: new WebAssembly.Module(read("edge.wasm")), CASES: String(read("cases.json")) });
const runtime = new EdgeRuntime({ initialCode: String(read("script.js")), extend });
const response = await runtime.dispatchFetch("http://localhost/");
console.log(await response.text());
`;

async function bundle(contents: string, outfile: string, format: "esm" | "iife"): Promise<void> {
  await build({
    stdin: { contents, resolveDir: resolve("test/runtimes"), loader: "ts" },
    outfile,
    bundle: true,
    format,
    target: "es2022",
    external: ["node:*", "./edge.wasm", "./models.bin", "./cases.json"],
    logLevel: "error",
  });
}

/** Runs a program and reads what it prints. */
function printed(program: string, args: string[]): Promise<Answer> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    out += text;
  });
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", (code) =>
      code === 0 ? done(JSON.parse(out)) : failed(new Error(`${program} ended with code ${code}`)),
    );
  });
}

async function inWorkerd(folder: string): Promise<Answer> {
  await bundle(WORKER, join(folder, "worker.js"), "esm");
  const modules = {
    "worker.js": "esModule",
    "./edge.wasm": "wasm",
    "./models.bin": "data",
    "./cases.json": "text",
  } as const;
  return (await answerOfWorkerd(folder, modules)) as Answer;
}

const runtimes: Record<string, (folder: string) => Promise<Answer>> = {
  workerd: inWorkerd,
  node: (folder) => printed("node", [join(folder, "host.mjs")]),
  deno: (folder) =>
    printed(resolve("node_modules/.bin/deno"), ["run", `--allow-read=${folder}`, join(folder, "host.mjs")]),
  bun: (folder) => printed(resolve("node_modules/.bin/bun"), [join(folder, "host.mjs")]),
  "edge-runtime": async (folder) => {
    await bundle(SCRIPT, join(folder, "script.js"), "iife");
    return await printed("node", ["--input-type=module", "-e", EDGE_RUNTIME, folder]);
  },
};

/** Texts of each model: edge-runtime takes a hundred times as long for one as the others. */
const TEXTS = 100;

/** Writes what a runtime reads: the models, what is asked of each, and the module. Returns what it must answer. */
async function prepare(folder: string): Promise<Answer> {
  const wanted: Answer = {};
  const files: Uint8Array[] = [];
  let from = 0;
  const cases = [];
  for (const [name, { model, options }] of Object.entries(sameCases())) {
    const bytes = await compactModel(model, options);
    files.push(bytes);
    const texts = sampleTexts(model, TEXTS, 11);
    cases.push({ name, from, to: from + bytes.length, texts });
    from += bytes.length;
    const predictions = await digest(written((await load(bytes)).predictMany(texts)));
    wanted[name] = { plain: predictions, wasm: predictions };
  }
  writeFileSync(join(folder, "models.bin"), Buffer.concat(files));
  writeFileSync(join(folder, "cases.json"), JSON.stringify(cases));
  copyFileSync("build/edge.wasm", join(folder, "edge.wasm"));
  return wanted;
}

describe("mlgpf/edge gives the same predictions for texts, of models of every kind", () => {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-edge-"));
  let wanted: Answer;
  beforeAll(async () => {
    wanted = await prepare(folder);
    await bundle(HOST, join(folder, "host.mjs"), "esm");
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  for (const [name, run] of Object.entries(runtimes))
    test(name, async () => {
      expect(await run(folder)).toEqual(wanted);
    });
});
