// The same predictions in workerd, Node, Deno, Bun and edge-runtime: 1,000 texts, one compact model, with the module and
// without, compared with what this process computes. (test/edge/same.test.ts does it in Chromium.)

import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import type { Prediction } from "../../src/edge/index.ts";
import { bothPaths, sampleTexts, textModel } from "../edge/support.ts";
import { answerOfWorkerd } from "../support/workerd.ts";

type Answer = Record<"plain" | "wasm", Prediction[][]>;

/** What each runtime runs, given its own way to the three files. */
const PREDICT = `
import { load } from "../../src/edge/index.ts";
export async function answer(model, wasm, texts) {
  const predict = async (options) => (await load(model, options)).predictMany(texts);
  return { plain: await predict({}), wasm: await predict({ wasm }) };
}
`;
/** Reads the files beside it and prints. */
const HOST = `${PREDICT}
import { readFileSync } from "node:fs";
const read = (name) => readFileSync(new URL(name, import.meta.url));
const wasm = await WebAssembly.compile(read("edge.wasm"));
console.log(JSON.stringify(await answer(read("model.bin"), wasm, JSON.parse(read("texts.json")))));
`;
const WORKER = `${PREDICT}
import wasm from "./edge.wasm";
import model from "./model.bin";
import texts from "./texts.json";
export default { fetch: async () => Response.json(await answer(model, wasm, JSON.parse(texts))) };
`;
/** edge-runtime takes a script; the module is compiled outside, as its platform does, in another realm. */
const SCRIPT = `${PREDICT}
addEventListener("fetch", (event) =>
  event.respondWith(answer(MODEL, WASM, JSON.parse(TEXTS)).then((found) => Response.json(found))),
);
`;
const EDGE_RUNTIME = `
import { readFileSync } from "node:fs";
import { EdgeRuntime } from "edge-runtime";
const read = (name) => readFileSync(process.argv[1] + "/" + name);
const extend = (context) =>
  Object.assign(context, { MODEL: read("model.bin"), WASM: new WebAssembly.Module(read("edge.wasm")), TEXTS: String(read("texts.json")) });
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
    external: ["node:*", "./edge.wasm", "./model.bin", "./texts.json"],
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
    "./model.bin": "data",
    "./texts.json": "text",
  } as const;
  return (await answerOfWorkerd(folder, modules)) as Answer;
}

const model = textModel();
const texts = sampleTexts(model, 1000, 11);

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

describe("mlgpf/edge gives the same top five of 1,000 texts", () => {
  for (const [name, run] of Object.entries(runtimes)) {
    test(name, async () => {
      const folder = mkdtempSync(join(tmpdir(), "mlgpf-edge-"));
      try {
        const bytes = await compactModel(model);
        writeFileSync(join(folder, "model.bin"), bytes);
        writeFileSync(join(folder, "texts.json"), JSON.stringify(texts));
        copyFileSync("build/edge.wasm", join(folder, "edge.wasm"));
        await bundle(HOST, join(folder, "host.mjs"), "esm");
        const answer = await run(folder);
        const [plain] = await bothPaths(bytes);
        const wanted = plain.predictMany(texts);
        for (const path of ["plain", "wasm"] as const) {
          const found = answer[path];
          expect(found.length).toBe(1000);
          expect(found.map((row) => row.map(({ label }) => label))).toEqual(
            wanted.map((row) => row.map(({ label }) => label)),
          );
          // JSON keeps every bit of a number.
          expect(JSON.stringify(found) === JSON.stringify(wanted)).toBe(true);
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});
