// The built package as others bundle and load it: no shader reaches those who do not ask for a GPU, and every entry
// works where it is meant to.

import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import type { Metafile } from "esbuild";
import { describe, expect, test } from "vitest";
import type { BrowserName } from "../../scripts/browsers.ts";
import { importsOf } from "../support/bundles.ts";
import { browsers, outcomeOfPage, POST } from "../support/pages.ts";

/** What every shader has in it. */
const SHADER = "@compute";
const node = "Deno" in globalThis ? "node" : process.execPath;

/** Files of dist/ that come with an entry: at once, or at any time. */
function filesOf(inputs: Metafile["inputs"], entry: string, kinds: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file) || inputs[file] === undefined) return;
    found.add(file);
    for (const { path, kind } of inputs[file].imports) if (kinds.includes(kind)) visit(path);
  };
  visit(entry);
  return found;
}

const withShaders = (files: Set<string>): string[] =>
  [...files].filter((file) => readFileSync(file, "utf8").includes(SHADER));

describe("a bundle of the package", () => {
  for (const name of ["index", "core", "edge", "cli"]) {
    test(`${name}: the code for a GPU is loaded only when it is asked for`, async () => {
      const entry = `dist/${name}.js`;
      const inputs = await importsOf(resolve("."), [entry]);
      const atOnce = filesOf(inputs, entry, ["import-statement"]);
      expect(atOnce.size).toBeGreaterThan(0);
      expect(withShaders(atOnce)).toEqual([]);
      const ever = filesOf(inputs, entry, ["import-statement", "dynamic-import"]);
      expect(withShaders(ever).length > 0).toBe(name === "index" || name === "cli");
    });
  }
});

/** Runs the body with the built package in a folder that has nothing else: no node_modules beside or above it. */
async function withPackage(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-bundle-"));
  try {
    cpSync("dist", join(folder, "dist"), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Trains a tiny model and says how that went, as JSON. */
const program = (device: string): string => `
import { modelToBytes, train } from "./dist/index.js";
const rows = 40;
const data = {
  features: {
    rows, columns: 8, values: new Float32Array(2 * rows).fill(1),
    rowStart: Int32Array.from({ length: rows + 1 }, (_, i) => 2 * i),
    columnIndex: Int32Array.from({ length: 2 * rows }, (_, e) => (e % 2) * 4 + ((e >> 1) * 7 + (e % 2)) % 4),
  },
  labels: {
    rows, labels: 4,
    rowStart: Int32Array.from({ length: rows + 1 }, (_, i) => i),
    labelIndex: Int32Array.from({ length: rows }, (_, i) => (i * 7) % 4),
  },
};
const notes = [];
const onProgress = (each) => each.stage === "note" && notes.push(each.text);
let outcome;
try {
  const options = { device: "${device}", threads: 1, factors: 2, inducingPoints: 4, rank: 4, batch: 20, epochs: 5 };
  const bytes = modelToBytes(await train(data, { ...options, onProgress }));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  outcome = { digest: Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""), notes };
} catch (error) {
  outcome = { error: error.message, notes };
}
`;

interface Outcome {
  digest?: string;
  error?: string;
  notes: string[];
}

/** The last line that the program prints. */
function run(folder: string, command: string, args: string[], device: string): Promise<Outcome> {
  const file = join(folder, "program.mjs");
  writeFileSync(file, `${program(device)}\nconsole.log(JSON.stringify(outcome));\n`);
  const child = spawn(command, [...args, file], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", () => done(JSON.parse(out.trimEnd().split("\n").at(-1) as string)));
  });
}

/** The same in a page. */
async function runInPage(folder: string, device: string, browser: BrowserName): Promise<Outcome> {
  const script = `${program(device)}\n${POST}\nawait post(outcome);`;
  writeFileSync(join(folder, "index.html"), `<!doctype html><script type="module">${script}</script>`);
  return await outcomeOfPage(browser, folder);
}

describe("the built package", () => {
  const bin = (name: string): string => resolve(`node_modules/.bin/${name}`);

  test("trains to the same bytes in Node, Deno, Bun, Chromium, Firefox and WebKit", {
    tags: "long",
  }, async () => {
    await withPackage(async (folder) => {
      const inNode = await run(folder, node, [], "wasm");
      expect(inNode.error).toBe(undefined);
      expect(await run(folder, bin("deno"), ["run", "-A"], "wasm")).toEqual(inNode);
      expect(await run(folder, bin("bun"), ["run"], "wasm")).toEqual(inNode);
      for (const browser of browsers) expect(await runInPage(folder, "wasm", browser)).toEqual(inNode);
    });
  });

  test("without the package webgpu: auto takes WASM and says why, webgpu says what to install", async () => {
    await withPackage(async (folder) => {
      const missing = "the package webgpu is not installed (npm install webgpu)";
      const [plain, auto] = [await run(folder, node, [], "wasm"), await run(folder, node, [], "auto")];
      expect(auto.digest).toBe(plain.digest);
      expect(auto.notes).toContain(`Training on WASM (${missing})`);
      const { error } = await run(folder, node, [], "webgpu");
      expect(error).toBe(`device: found no GPU, expected one for webgpu: ${missing}`);
    });
  });

  test("in a page without a GPU: auto takes WASM, webgpu is an error", { tags: "long" }, async () => {
    await withPackage(async (folder) => {
      const auto = await runInPage(folder, "auto", "chromium");
      expect(auto.digest).toBe((await run(folder, node, [], "wasm")).digest);
      expect(auto.notes.join("\n")).toMatch(/Training on WASM \(/);
      const { error } = await runInPage(folder, "webgpu", "chromium");
      expect(error).toMatch(/^device: found no GPU, expected one for webgpu: /);
    });
  });
});
